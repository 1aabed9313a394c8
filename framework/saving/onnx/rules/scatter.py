"""Translation rules for ops that add or replace rows at computed positions, count, and search."""

import numpy as np

from framework.saving.onnx.rules import rule
from framework.saving.onnx.rules.operands import number
from framework.saving.onnx.sizes import Size, known, product

_BOOL = np.dtype(bool)


def _into(b, x, ids, updates, reduction):
    """Return `x`; its rows `ids` are replaced by or combined with `updates` (`reduction`)."""
    places = b.unsqueeze(b.cast(ids, np.int64), -1)
    return b("ScatterND", x, places, updates, reduction=reduction)


# ---- segments; rows with negative ids are left out -----------------------------------------------


def _segment(reduction, first):
    def translate(b, x, ids, *, count):
        shape = b.call.outputs[0].shape
        narrow = x.dtype.name in ("int8", "int16", "uint8", "uint16", "bool")
        wide = b.cast(x, np.int32) if narrow else x
        # an extra row receives the elements whose index is out of range, and is removed at the end
        start = b.fill(first(x.dtype), (count + 1, *shape[1:]), wide.dtype)
        outside = b("Less", ids, number(b, 0, ids), dtype=_BOOL)
        beyond = b.cast(b.squeeze(b.size(count), 0), ids.dtype)
        ids = b("Where", outside, beyond, ids, dtype=ids.dtype)
        y = b.slice(_into(b, start, ids, wide, reduction), [0], [count], [0])
        return b.cast(y, x.dtype)

    return translate


def _lowest(dtype):
    return np.finfo(dtype).min if dtype.kind == "f" else np.iinfo(dtype).min


def _highest(dtype):
    return np.finfo(dtype).max if dtype.kind == "f" else np.iinfo(dtype).max


rule("segment_sum")(_segment("add", lambda dtype: 0))
rule("segment_max")(_segment("max", _lowest))
rule("segment_min")(_segment("min", _highest))
rule("segment_prod")(_segment("mul", lambda dtype: 1))


@rule("segment_take")
def segment_take(b, x, ids):
    outside = b("Less", ids, number(b, 0, ids), dtype=_BOOL)
    ids = b("Where", outside, number(b, 0, ids), ids, dtype=ids.dtype, shape=ids.shape)
    y = b("Gather", x, b.cast(ids, np.int64), axis=0)
    lead = len(ids.shape)
    wide = b.unsqueeze(outside, *range(lead, lead + x.rank - 1)) if x.rank > 1 else outside
    return b("Where", wide, number(b, 0, x), y, dtype=x.dtype)


@rule("scatter_add")
def scatter_add(b, g, indices, *, shape, axis):
    """Add rows by ScatterND, which indexes the first axis: `axis` is moved there and back."""
    shape, many = b.call.outputs[0].shape, len(indices.shape)
    moved = [*range(axis, axis + many), *range(axis), *range(axis + many, g.rank)]
    start = b.fill(0, (shape[axis], *shape[:axis], *shape[axis + 1 :]), g.dtype)
    y = _into(b, start, indices, b.transpose(g, moved), "add")
    return b.transpose(y, [*range(1, axis + 1), 0, *range(axis + 1, len(shape))])


@rule("put_along_axis")
def put_along_axis(b, g, indices, *, shape, axis):
    start = b.fill(0, b.call.outputs[0].shape, g.dtype)
    indices = b.cast(indices, np.int64)
    return b("ScatterElements", start, indices, g, axis=axis, reduction="add")


@rule("row_update")
def row_update(b, x, ids, updates):
    return _into(b, x, ids, updates, "none")


@rule("row_max")
def row_max(b, x, ids, updates):
    return _into(b, x, ids, updates, "max")


@rule("row_min")
def row_min(b, x, ids, updates):
    return _into(b, x, ids, updates, "min")


@rule("places")
def places(b, indices, *, shape, what, ignore=False):
    """Convert index tuples to flat positions; with `ignore`, tuples out of range become -1."""
    indices = b.cast(indices, np.int64)
    last = b.constant(np.array([-1]))
    strides = [product(shape[i + 1 :]) for i in range(len(shape))]
    each = b("Mul", indices, b.ints(strides))
    flat = b("ReduceSum", each, last, keepdims=0)
    if not ignore:
        return flat
    low = b("Less", indices, b.constant(np.int64(0)), dtype=_BOOL)
    high = b("GreaterOrEqual", indices, b.ints(shape), dtype=_BOOL)
    wrong = b("ReduceMax", b.cast(b("Or", low, high), np.int32), last, keepdims=0)
    return b("Where", b.cast(wrong, _BOOL), b.constant(np.int64(-1)), flat, dtype=np.int64)


# ---- counting and searching ----------------------------------------------------------------------


@rule("bincount")
def bincount(b, x, weights, *, size, per_row, binary, dtype):
    """Compare each number with each bin and add up the matches."""
    if type(size) is Size:
        b.refuse("the number of bins depends on an unknown size")
    x = b.cast(x, np.int64)
    if not per_row and x.rank != 1:
        x = b("Reshape", x, b.constant(np.array([-1])))
        weights = weights and b("Reshape", weights, b.constant(np.array([-1])))
    hits = b("Equal", b.unsqueeze(x, -1), b.constant(np.arange(size)), dtype=_BOOL)
    total = b.cast(hits, dtype if weights is None else weights.dtype)
    if weights is not None:
        total = b("Mul", total, b.unsqueeze(weights, -1))
    if binary:
        total = b.cast(hits, np.int32)
        return b.cast(b("ReduceMax", total, b.constant(np.array([-2])), keepdims=0), dtype)
    total = b.cast(total, np.int32) if total.dtype.itemsize < 4 else total
    return b.cast(b("ReduceSum", total, b.constant(np.array([-2])), keepdims=0), dtype)


@rule("searchsorted")
def searchsorted(b, x, values, *, side, dtype):
    """Count the sorted numbers that come before each value."""
    op_type = "Less" if side == "left" else "LessOrEqual"
    before = b(op_type, b.unsqueeze(x, -2), b.unsqueeze(values, -1), dtype=_BOOL)
    count = b("ReduceSum", b.cast(before, np.int64), b.constant(np.array([-1])), keepdims=0)
    return b.cast(count, dtype)


@rule("invert_permutation")
def invert_permutation(b, x):
    start = b.fill(0, x.shape, x.dtype)
    return b("ScatterElements", start, x, b.arange(x.shape[0], x.dtype), axis=0)


@rule("unravel_index")
def unravel_index(b, x, *, dims):
    if not known(dims):
        b.refuse("flat positions in a tensor of unknown shape cannot be computed")
    rows = []
    for i, n in enumerate(dims):
        place = b("Div", x, b.constant(int(np.prod(dims[i + 1 :])), x.dtype))
        rows.append(b.unsqueeze(b("Mod", place, b.constant(int(n), x.dtype)), 0))
    return b("Concat", *rows, axis=0)
