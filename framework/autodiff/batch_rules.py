"""Batching rules: each computes an op on all rows of `Batched` operands in one call.

A rule receives the op, its operands `xs`, `batched` (for each operand, whether it has the leading
axis of rows), and the attributes. The rule returns the outputs with the leading axis. An op without
a rule in `RULES` uses the rule of its kind.
"""

import functools
import math

import numpy as np

from framework.autodiff.diagonal import Diagonal
from framework.core.op import table
from framework.core.operand import Operand
from framework.core.symbolic import KerasTensor, infer
from framework.core.tensor import Tensor
from framework.ops.contraction import matmul
from framework.ops.conv import conv_input, conv_kernel
from framework.ops.elementwise import gated, greater, multiply
from framework.ops.movement import broadcast_to, gather, getitem, reshape, stack, transpose
from framework.ops.reduction import reduce_sum


def shape_of(x):
    """Return the shape of an operand as a plain tuple."""
    kind = type(x)
    if kind is np.ndarray:
        return x.shape
    if kind is Tensor:
        return x.array.shape
    return tuple(x.shape) if isinstance(x, Operand) else np.shape(getattr(x, "array", x))


def np_dtype_of(x):
    """Return the NumPy dtype of an operand; None for a Python number."""
    return getattr(getattr(x, "array", x), "dtype", None)


def repeated(x, count):
    """Return `x` repeated `count` times along a new leading axis, without copying."""
    x = x if isinstance(x, (Tensor, Operand)) else np.asarray(x)
    return broadcast_to(x, shape=(count, *shape_of(x)))


def rule_of(op):
    """Return the batching rule of an op: its own, the rule of its kind, or `row_by_row`."""
    rule = RULES.get(op.name) if table.get(op.name) is op else getattr(op, "batch", None)
    if rule is None:
        if op.broadcasts or op.kind == "elementwise":
            return _broadcasting
        rule = _along_axis if op.kind == "reduction" and len(op.inputs) == 1 else row_by_row
    return rule


# ---- rules for kinds of ops ----------------------------------------------------------------------


def _broadcasting(op, xs, batched, attrs):
    """Apply an elementwise op; insert axes of size 1 after the rows of lower-rank operands."""
    if len(xs) > 1:
        ranks = [len(shape_of(x)) - b for x, b in zip(xs, batched)]
        rank = max(ranks)
        xs = [
            reshape(x, shape=_padded(shape_of(x), rank - r)) if b and r < rank else x
            for x, b, r in zip(xs, batched, ranks)
        ]
    return op(*xs, **attrs)


def _padded(shape, ones):
    return (shape[0], *(1,) * ones, *shape[1:])


def _along_axis(op, xs, batched, attrs):
    """Add one to the attribute `axis`, an int or a tuple, because axis 0 now counts the rows."""
    if "axis" not in attrs:
        return row_by_row(op, xs, batched, attrs)
    axis = attrs["axis"]
    moved = tuple([i + 1 for i in axis]) if isinstance(axis, tuple) else axis + 1
    return op(*_all_rows(xs, batched), **{**attrs, "axis": moved})


def _leading(op, xs, batched, attrs):
    """Call the op unchanged, because it treats all leading axes as a batch."""
    return op(*_all_rows(xs, batched), **attrs)


def _all_rows(xs, batched):
    """Return the operands, each with a leading batch axis; those without one are repeated."""
    if all(batched):
        return xs
    count = _count(xs, batched)
    return [x if b else repeated(x, count) for x, b in zip(xs, batched)]


def _count(xs, batched):
    """Return the number of rows, the size of the leading axis of a batched operand."""
    return shape_of(xs[batched.index(True)])[0]


def row_by_row(op, xs, batched, attrs):
    """Call the op once per row and stack the results."""
    count = _count(xs, batched)
    if not count:
        return _of_no_rows(op, xs, batched, attrs)
    found = [
        op(*[_row(x, k) if b else x for x, b in zip(xs, batched)], **attrs) for k in range(count)
    ]
    if type(found[0]) is tuple:
        return tuple([stack(*column, axis=0) for column in zip(*found)])
    return stack(*found, axis=0)


def _row(x, k):
    return getitem(x, index=(k, Ellipsis))


def _of_no_rows(op, xs, batched, attrs):
    """Return outputs with zero rows, in the shapes that a symbolic call on one row infers."""
    rows = [KerasTensor(shape_of(x)[1:], x.dtype) if b else x for x, b in zip(xs, batched)]
    specs = infer(op, rows, attrs)
    single = isinstance(specs, tuple)
    empty = [np.zeros((0, *shape), dtype) for shape, dtype in ([specs] if single else specs)]
    return empty[0] if single else tuple(empty)


# ---- rules of single ops -------------------------------------------------------------------------


def _matmul(op, xs, batched, attrs):
    """Multiply matrices; merge products that share an operand, because BLAS is faster then."""
    (a, b), (a_batched, b_batched) = xs, batched
    shape_a, shape_b = shape_of(a), shape_of(b)
    transpose_a, transpose_b = attrs.get("transpose_a"), attrs.get("transpose_b")
    if not b_batched and len(shape_b) == 2 and not transpose_a:
        if type(a) is Diagonal:
            return a.product(b, transpose_b)
        found = op(_stack(a, math.prod(shape_b)), b, **attrs)
        return reshape(found, shape=(*shape_a[:-1], shape_b[not transpose_b]))
    columns = shape_b[-2 if transpose_b else -1]
    if not a_batched and len(shape_a) == 2 and len(shape_b) == 3 and columns == 1:
        # Each matrix in b is one column, so use these columns as the rows of a single matrix.
        count = shape_b[0]
        flat = reshape(b, shape=(count, math.prod(shape_b[1:])))
        found = op(flat, a, transpose_b=not transpose_a)
        return reshape(found, shape=(count, shape_of(found)[1], 1))
    return _broadcasting(op, xs, batched, attrs)


# Limits of merged products. BLAS splits a larger product among threads, which is several times
# slower on a busy machine. With fewer rows per product, the overhead of the calls dominates.
_MOST_PRODUCTS, _FEWEST_ROWS = 1 << 18, 16


def _stack(a, size):
    """Return `a` as a stack of matrices for products with a matrix of `size` elements."""
    *lead, inner = shape_of(a)
    rows = math.prod(lead)
    each = _largest_divisor(rows, max(_MOST_PRODUCTS // max(size, 1), 1))
    if each == rows or each < _FEWEST_ROWS:
        return reshape(a, shape=(rows, inner))
    return reshape(a, shape=(rows // each, each, inner))


@functools.lru_cache(maxsize=1024)
def _largest_divisor(n, most):
    return n if n <= most else next(d for d in range(most, 0, -1) if n % d == 0)


def _tanh_back(op, xs, batched, attrs):
    """Compute the derivative of tanh; compute its factor 1 - y² once if all rows share `y`."""
    (g, y), (_, y_batched) = xs, batched
    if y_batched:
        return _broadcasting(op, xs, batched, attrs)
    return _broadcasting(multiply, (g, 1 - y * y), batched, attrs)


def _with_attrs(change):
    """Return a rule for an op of one input; `change(shape, attrs)` returns the new attributes.

    `shape` includes the leading axis of rows.
    """

    def rule(op, xs, batched, attrs):
        (x,) = xs
        return op(x, **{**attrs, **change(shape_of(x), attrs)})

    return rule


def _reshaped(shape, attrs):
    count, *row = shape
    wanted = list(attrs["shape"])
    if -1 in wanted:
        at = wanted.index(-1)
        wanted[at] = math.prod(row) // max(math.prod(wanted[:at] + wanted[at + 1 :]), 1)
    return {"shape": (count, *wanted)}


def _broadcast_to(op, xs, batched, attrs):
    (x,) = xs
    shape = shape_of(x)
    if len(shape) <= len(attrs["shape"]):
        x = reshape(x, shape=_padded(shape, len(attrs["shape"]) + 1 - len(shape)))
    return op(x, shape=(shape[0], *attrs["shape"]))


def _sum_to(op, xs, batched, attrs):
    (x,) = xs
    count, *row = shape_of(x)
    shape = attrs["shape"]
    lead = len(row) - len(shape)
    if lead and shape and tuple(row[lead:]) == tuple(shape) and np_dtype_of(x) in _BLAS:
        return _summed(x, count, math.prod(row[:lead]), shape)
    found = op(x, shape=(count, *(1,) * lead, *shape))
    return reshape(found, shape=(count, *shape))


_BLAS = (np.dtype(np.float32), np.dtype(np.float64))


def _summed(x, count, n, shape):
    """Sum each row over its first `n` sub-arrays by a matrix product with ones, 6 times faster."""
    stack = reshape(x, shape=(count, n, math.prod(shape)))
    return reshape(matmul(np.ones((1, n), np_dtype_of(x)), stack), shape=(count, *shape))


def _getitem(op, xs, batched, attrs):
    (x,) = xs
    index = attrs["index"]
    found = op(x, index=(slice(None), *index))
    in_front = _axes_in_front(index)
    if in_front:
        found = transpose(found, perm=_to_front(in_front, len(shape_of(found))))
    return found


def _put(op, xs, batched, attrs):
    (g,) = xs
    count, index = shape_of(g)[0], attrs["index"]
    in_front = _axes_in_front(index)
    if in_front:
        g = transpose(g, perm=_from_front(in_front, len(shape_of(g))))
    return op(g, shape=(count, *attrs["shape"]), index=(slice(None), *index))


def _axes_in_front(index):
    """Return how many axes NumPy moves to the front of the result of indexing."""
    arrays = [i for i, item in enumerate(index) if isinstance(item, (np.ndarray, list))]
    if not arrays:
        return 0
    advanced = [
        i for i, item in enumerate(index)
        if item is not None and item is not Ellipsis and not isinstance(item, slice)
    ]  # fmt: skip
    if advanced[-1] - advanced[0] + 1 == len(advanced):
        return 0
    picked = [np.asarray(index[i]) for i in advanced]
    return max(1 if p.dtype == np.bool_ else p.ndim for p in picked)


def _to_front(axis, rank):
    """Return the permutation that moves `axis` to the front."""
    return (axis, *(i for i in range(rank) if i != axis))


def _from_front(axis, rank):
    """Return the permutation that moves the first axis to position `axis`."""
    return (*range(1, axis + 1), 0, *range(axis + 1, rank))


def _gather(op, xs, batched, attrs):
    (x, indices), axis = xs, attrs["axis"]
    if not batched[1]:
        return op(x, indices, axis=axis + 1)
    if not batched[0]:
        found = op(x, indices, axis=axis)
        return transpose(found, perm=_to_front(axis, len(shape_of(found))))
    return row_by_row(op, xs, batched, attrs)


def _gather_rows(op, xs, batched, attrs):
    (x, indices) = xs
    if all(batched):
        return row_by_row(op, xs, batched, attrs)
    return op(x, indices) if batched[1] else gather(x, indices, axis=1)


def _scatter_add(op, xs, batched, attrs):
    if batched[1]:
        return row_by_row(op, xs, batched, attrs)
    g, indices = xs
    shape = (shape_of(g)[0], *attrs["shape"])
    return op(g, indices, shape=shape, axis=attrs["axis"] + 1)


def _take_along_axis(op, xs, batched, attrs):
    """Give both operands a row axis, of size 1 if unbatched, because the op broadcasts it."""
    x, indices = (x if b else repeated(x, 1) for x, b in zip(xs, batched))
    return op(x, indices, axis=attrs["axis"] + 1)


def _put_along_axis(op, xs, batched, attrs):
    g, indices = _all_rows(xs, batched)
    shape = (_count(xs, batched), *attrs["shape"])
    return op(g, indices, shape=shape, axis=attrs["axis"] + 1)


def _examples(op, xs, batched, attrs):
    """Merge the axis of rows into the batch axis of the first input, if only it has rows."""
    if not batched[0] or any(batched[1:]):
        return row_by_row(op, xs, batched, attrs)
    x, *others = xs
    count, batch, *rest = shape_of(x)
    found = op(reshape(x, shape=(count * batch, *rest)), *others, **attrs)
    return reshape(found, shape=(count, batch, *shape_of(found)[1:]))


def _examples_of_all(op, xs, batched, attrs):
    """Merge the row axis into the batch axes, for ops whose inputs all have a batch axis."""
    xs = _all_rows(xs, batched)
    count, batch = shape_of(xs[0])[:2]
    joined = [reshape(x, shape=(count * batch, *shape_of(x)[2:])) for x in xs]
    found = op(*joined, **attrs)
    return reshape(found, shape=(count, batch, *shape_of(found)[1:]))


def _segments(op, xs, batched, attrs):
    """Call the op with the axis of rows behind the axes of the segment ids; then move it back."""
    x, ids = xs
    if batched[1]:
        return row_by_row(op, xs, batched, attrs)
    before, after = len(shape_of(ids)), 1
    if op.name == "segment_take":
        before, after = after, before
    moved = transpose(x, perm=_from_front(before, len(shape_of(x))))
    found = op(moved, ids, **attrs)
    return transpose(found, perm=_to_front(after, len(shape_of(found))))


def _conv_kernel(op, xs, batched, attrs):
    """Treat the filters of all rows of the cotangent as filters of one convolution."""
    x, g = xs
    if batched[0] or attrs["groups"] > 1:
        return row_by_row(op, xs, batched, attrs)
    count, *others, filters = shape_of(g)
    last = len(others) + 1
    wide = transpose(g, perm=(*range(1, last), 0, last))
    found = op(x, reshape(wide, shape=(*others, count * filters)), **attrs)
    found = reshape(found, shape=(*shape_of(found)[:-1], count, filters))
    return transpose(found, perm=_to_front(len(shape_of(found)) - 2, len(shape_of(found))))


def _conv_bias_back(op, xs, batched, attrs):
    """Apply the gradient of the ReLU, then compute the gradients of `conv`."""
    if not batched[0] or any(batched[1:]):
        return row_by_row(op, xs, batched, attrs)
    (g, x, w, y), (to_x, to_w, to_b) = xs, attrs["needed"]
    window = {k: v for k, v in attrs.items() if k not in ("relu", "needed")}
    if attrs["relu"]:
        g = gated(g, greater(y, 0))
    found = []
    if to_x:
        sizes = shape_of(x)[1:-1]
        found.append(_examples(conv_input, (g, w), (True, False), {**window, "sizes": sizes}))
    if to_w:
        size = shape_of(w)[:-2]
        found.append(_conv_kernel(conv_kernel, (x, g), (False, True), {**window, "size": size}))
    if to_b:
        axes = tuple(range(1, len(shape_of(g)) - 1))
        found.append(reduce_sum(g, axis=axes, keepdims=False))
    return tuple(found)


_AXIS = """flip roll concat split stack unstack argsort softmax softmax_back log_softmax
    log_softmax_back sparsemax linear_scan"""
_LEADING = """
    one_hot softmax_cross_entropy cross_entropy_back sparse_softmax_cross_entropy
    sparse_cross_entropy_back cholesky det eig eigh eigvals eigvalsh expm inverse matrix_rank pinv
    qr singular_values slogdet sqrtm svd"""
_EXAMPLES = "conv conv_bias conv_input max_cell max_index max_pool window_spread window_sum"
_SEGMENTS = "segment_max segment_min segment_prod segment_sum segment_take"

RULES = {
    "matmul": _matmul, "tanh_back": _tanh_back,
    "reshape": _with_attrs(_reshaped),
    "transpose": _with_attrs(lambda _, attrs: {"perm": (0, *(i + 1 for i in attrs["perm"]))}),
    "pad": _with_attrs(lambda _, attrs: {"widths": ((0, 0), *attrs["widths"])}),
    "broadcast_to": _broadcast_to, "sum_to": _sum_to, "getitem": _getitem, "put": _put,
    "gather": _gather, "gather_rows": _gather_rows, "scatter_add": _scatter_add,
    "take_along_axis": _take_along_axis, "put_along_axis": _put_along_axis,
    "conv_bias_back": _conv_bias_back, "conv_kernel": _conv_kernel,
    "cell_put": _examples_of_all, "cell_take": _examples_of_all,
    **dict.fromkeys(_AXIS.split(), _along_axis),
    **dict.fromkeys(_LEADING.split(), _leading),
    **dict.fromkeys(_EXAMPLES.split(), _examples),
    **dict.fromkeys(_SEGMENTS.split(), _segments),
}  # fmt: skip
"""The batching rules of ops, by op name; other ops use the rule of their kind or `row_by_row`."""
