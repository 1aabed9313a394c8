"""Many rows at once: tensors with one more leading axis that ops do not see.

To an op a `Batched` is a tensor of one row's shape. The op is applied to all rows in one call where
its rule here says how: by its name in `RULES`, else by its kind. Any other op goes row by row.

What is inside may be an array, a tensor (so that recorders are told of the one call) or a `Batched`
of a lower level: where two maps are nested, the inner one's rows are of the higher level.
"""

import itertools
import math

import numpy as np

from framework.core import dtypes
from framework.core.doors import strict
from framework.core.dtypes import Shape
from framework.core.errors import BatchedValueError
from framework.core.operand import Operand
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable
from framework.ops.movement import (
    broadcast_to,
    getitem,
    reshape,
    stack,
    transpose,
)  # fmt: skip
from framework.ops.operators import hang

levels = itertools.count(1)
"""`next(levels)` is the level of a map that begins now: higher than all that are open."""


class Batched(Operand):
    """A tensor in each of several rows: internal, and never returned to users.

    Args:
        value: an array or tensor whose leading axis counts the rows.
        level: of the map that it belongs to.
    """

    __slots__ = ("level", "value")
    __hash__ = None

    def __init__(self, value, level):
        self.value, self.level = value, level

    @property
    def shape(self):
        return Shape(shape_of(self.value)[1:])

    @property
    def dtype(self):
        value = self.value
        return dtypes.of_array(value) if type(value) is np.ndarray else value.dtype

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return math.prod(self.shape)

    def get_shape(self):
        return self.shape

    def _op_call(self, op, args, attrs):
        return call(op, args, attrs)

    def _refuse(self, *_args, **_kwargs):
        raise BatchedValueError(
            "Python needed the value of a tensor (if, int(), NumPy, printing, ...) that stands for "
            "many rows at once. Use ops on it instead."
        )

    __bool__ = __int__ = __float__ = __index__ = __array__ = __complex__ = _refuse
    __getattr__ = _refuse  # what else a tensor has

    def __len__(self):
        if not self.shape:
            raise TypeError("A 0-d tensor has no len().")
        return self.shape[0]

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __repr__(self):
        return f"<Batched: level={self.level}, shape={self.shape}, dtype={self.dtype}>"


def _door(a, b):
    """Operands of one dtype as they are: rules bring no others; `strict` for the rest."""
    if _np_dtype(a) is _np_dtype(b):
        return a, b
    if type(b) is float and _np_dtype(a).kind == "f":
        return a, b
    return strict(a, b)


def _np_dtype(x):
    while type(x) is Batched:
        x = x.value
    array = getattr(x, "array", x)
    return array.dtype if isinstance(array, np.ndarray) else None


hang(Batched, _door)


def shape_of(x):
    """The shape of an operand as a plain tuple: of a `Batched` one row's."""
    if type(x) is np.ndarray:
        return x.shape
    if type(x) is Tensor:
        return x.array.shape
    if type(x) is Batched:
        return shape_of(x.value)[1:]
    return np.shape(x)


def rows_of(x, level, count):
    """`x` with its leading axis of `count` rows; what is no `Batched` of this level is repeated."""
    if type(x) is Batched and x.level == level:
        return x.value
    return broadcast_to(_array(x), shape=(count, *shape_of(x)))


def _array(x):
    return x if isinstance(x, (Tensor, Batched)) else np.asarray(x)


def call(op, args, attrs):
    """`op(*args, **attrs)` in every row; at least one of the arguments is `Batched`."""
    args = [a.read() if isinstance(a, CoreVariable) else a for a in args]
    level = max([a.level for a in args if type(a) is Batched])
    batched = [type(a) is Batched and a.level == level for a in args]
    xs = [a.value if b else a for a, b in zip(args, batched)]
    found = rule_of(op)(op, xs, batched, attrs)
    if type(found) is tuple:
        return tuple([Batched(each, level) for each in found])
    return Batched(found, level)


def rule_of(op):
    """How the op is applied to many rows.

    A rule takes the op, its operands `xs` with the leading axis where `batched` says so, and its
    attributes; it gives the output, or the tuple of outputs, with the leading axis.
    """
    rule = RULES.get(op.name)
    if rule is None:
        if op.broadcasts or op.kind == "elementwise":
            return _broadcasting
        rule = _along_axis if op.kind == "reduction" and len(op.inputs) == 1 else row_by_row
    return rule


# ---- rules by kind -------------------------------------------------------------------------------


def _broadcasting(op, xs, batched, attrs):
    """Operands broadcast by leading axes: sizes of 1 go between the rows and a smaller rank."""
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
    """The attribute `axis`, an int or a tuple, names axes, which stand one further back."""
    if "axis" not in attrs:
        return row_by_row(op, xs, batched, attrs)
    axis = attrs["axis"]
    moved = tuple([i + 1 for i in axis]) if isinstance(axis, tuple) else axis + 1
    return op(*repeated(xs, batched), **{**attrs, "axis": moved})


def _leading(op, xs, batched, attrs):
    """All leading axes are a batch already."""
    return op(*repeated(xs, batched), **attrs)


def repeated(xs, batched):
    """All of `xs` with the leading axis."""
    if all(batched):
        return xs
    count = count_of(xs, batched)
    return [
        x if b else broadcast_to(_array(x), shape=(count, *shape_of(x)))
        for x, b in zip(xs, batched)
    ]


def count_of(xs, batched):
    """The number of rows."""
    return shape_of(xs[batched.index(True)])[0]


def row_by_row(op, xs, batched, attrs):
    """One call for each row, the results stacked."""
    count = count_of(xs, batched)
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
    """One row of ones tells the shapes."""
    xs = [
        broadcast_to(np.ones((), _np_dtype(x)), shape=shape_of(x)[1:]) if b else x
        for x, b in zip(xs, batched)
    ]
    found = op(*xs, **attrs)
    several = found if type(found) is tuple else (found,)
    made = tuple([np.zeros((0, *shape_of(y)), _np_dtype(y)) for y in several])
    return made if type(found) is tuple else made[0]


# ---- rules of single ops -------------------------------------------------------------------------


def _matmul(op, xs, batched, attrs):
    """Rows and an operand that all of them share become one matrix product where they can.

    A product for each row would come to BLAS with small matrices.
    """
    (a, b), (a_batched, b_batched) = xs, batched
    shape_a, shape_b = shape_of(a), shape_of(b)
    transpose_a, transpose_b = attrs.get("transpose_a"), attrs.get("transpose_b")
    if not b_batched and len(shape_b) == 2 and not transpose_a:
        flat = reshape(a, shape=(math.prod(shape_a[:-1]), shape_a[-1]))
        return reshape(op(flat, b, **attrs), shape=(*shape_a[:-1], shape_b[not transpose_b]))
    if not a_batched and len(shape_a) == 2 and len(shape_b) == 3:
        return _shared_left(op, a, b, transpose_a, transpose_b)
    return _broadcasting(op, xs, batched, attrs)


def _shared_left(op, a, b, transpose_a, transpose_b):
    """a b = (b' a')': the rows of all b' stand under each other."""
    flat = b if transpose_b else transpose(b, perm=(0, 2, 1))
    rows, columns, inner = shape_of(flat)
    flat = reshape(flat, shape=(rows * columns, inner))
    product = op(flat, a, transpose_b=not transpose_a)
    m = shape_of(product)[-1]
    return transpose(reshape(product, shape=(rows, columns, m)), perm=(0, 2, 1))


def _with_attrs(change):
    """A rule of an op of one input: `change(shape, attrs)` gives the attributes for all rows.

    `shape` has the leading axis.
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
    ones = (1,) * (len(row) - len(attrs["shape"]))
    kept = (count, *ones, *attrs["shape"])
    return reshape(op(x, shape=kept), shape=(count, *attrs["shape"]))


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
    """How many axes NumPy puts in front of all others, for arrays parted by slices."""
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
    """The permutation that brings `axis` to the front."""
    return (axis, *(i for i in range(rank) if i != axis))


def _from_front(axis, rank):
    """The permutation that brings the first axis to the place `axis`."""
    return (*range(1, axis + 1), 0, *range(axis + 1, rank))


def _gather(op, xs, batched, attrs):
    (x, indices), axis = xs, attrs["axis"]
    if not batched[1]:
        return op(x, indices, axis=axis + 1)
    if not batched[0]:
        found = op(x, indices, axis=axis)
        return transpose(found, perm=_to_front(axis, len(shape_of(found))))
    return row_by_row(op, xs, batched, attrs)


def _scatter_add(op, xs, batched, attrs):
    if batched[1]:
        return row_by_row(op, xs, batched, attrs)
    g, indices = xs
    shape = (shape_of(g)[0], *attrs["shape"])
    return op(g, indices, shape=shape, axis=attrs["axis"] + 1)


def _take_along_axis(op, xs, batched, attrs):
    """The other axes broadcast, and so do the rows."""
    x, indices = (x if b else reshape(_array(x), shape=(1, *shape_of(x)))
                  for x, b in zip(xs, batched))  # fmt: skip
    return op(x, indices, axis=attrs["axis"] + 1)


def _put_along_axis(op, xs, batched, attrs):
    g, indices = repeated(xs, batched)
    shape = (count_of(xs, batched), *attrs["shape"])
    return op(g, indices, shape=shape, axis=attrs["axis"] + 1)


RULES = {
    "matmul": _matmul,
    "reshape": _with_attrs(_reshaped),
    "transpose": _with_attrs(lambda _, attrs: {"perm": (0, *(i + 1 for i in attrs["perm"]))}),
    "pad": _with_attrs(lambda _, attrs: {"widths": ((0, 0), *attrs["widths"])}),
    "broadcast_to": _broadcast_to, "sum_to": _sum_to, "getitem": _getitem, "put": _put,
    "gather": _gather, "scatter_add": _scatter_add,
    "take_along_axis": _take_along_axis, "put_along_axis": _put_along_axis,
    **dict.fromkeys(
        ("flip", "roll", "concat", "split", "stack", "unstack", "argsort", "softmax", "log_softmax",
         "sparsemax", "linear_scan"), _along_axis,
    ),
    **dict.fromkeys(
        ("one_hot", "qr", "softmax_cross_entropy", "cross_entropy_back",
         "sparse_softmax_cross_entropy", "sparse_cross_entropy_back"), _leading,
    ),
}  # fmt: skip
"""By the op's name; what is not here follows from the kind, or goes row by row."""
