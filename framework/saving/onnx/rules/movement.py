"""Translation rules for ops that copy, move or select elements."""

import numpy as np

from framework.saving.onnx.rules import rule
from framework.saving.onnx.rules.operands import promoted
from framework.saving.onnx.sizes import Size, at_all, known, product
from framework.saving.onnx.traces import Varying

_BOOL = np.dtype(bool)
END = 2**63 - 1  # a slice that ends here includes every element of an axis


# ---- shape ---------------------------------------------------------------------------------------


@rule("reshape")
def reshape(b, x, *, shape):
    return b.reshape(x, b.call.outputs[0].shape)


@rule("transpose")
def transpose(b, x, *, perm):
    return b.transpose(x, perm)


@rule("broadcast_to")
def broadcast_to(b, x, *, shape):
    x = x if hasattr(x, "dtype") else b.constant(x, b.call.outputs[0].dtype)
    return b.expand(x, b.call.outputs[0].shape)


@rule("sum_to")
def sum_to(b, x, *, shape):
    lead = x.rank - len(shape)
    thin = [i + lead for i, n in enumerate(shape) if n == 1 and x.shape[i + lead] != 1]
    axes = np.array([*range(lead), *thin], np.int64)
    total = b("ReduceSum", x, b.constant(axes), keepdims=1) if len(axes) else x
    return b.reshape(total, b.call.outputs[0].shape)


@rule("flip")
def flip(b, x, *, axis):
    axes = [axis] if isinstance(axis, int) else list(axis)
    return b.slice(x, [-1] * len(axes), [-END] * len(axes), axes, [-1] * len(axes))


@rule("roll")
def roll(b, x, *, shift, axis):
    for by, along in zip(_several(shift), _several(axis), strict=True):
        n = x.shape[along]
        if type(by) is Size or type(n) is Size:
            if type(by) is not Size and abs(by) > 1:
                b.refuse("an axis of unknown size can only be rolled by one element")
            cut = -by if by in (0, 1, -1) else n - by if min(at_all(by)) > 0 else -by
        else:
            cut = -by % max(n, 1)
        if cut != 0:
            tail, head = b.slice(x, [cut], [END], [along]), b.slice(x, [0], [cut], [along])
            x = b("Concat", tail, head, axis=along, shape=x.shape)
    return x


def _several(value):
    return list(value) if isinstance(value, (tuple, list)) else [value]


# ---- joining and splitting -----------------------------------------------------------------------


@rule("stack")
def stack(b, *xs, axis):
    return b("Concat", *(b.unsqueeze(x, axis) for x in promoted(b, *xs)), axis=axis)


@rule("unstack")
def unstack(b, x, *, axis):
    count = len(b.call.outputs)
    if count == 1:
        return [b.squeeze(x, axis)]
    parts = b("Split", x, b.constant(np.ones(count, np.int64)), axis=axis, outputs=count)
    return [b.squeeze(part, axis) for part in parts]


@rule("concat")
def concat(b, *xs, axis):
    xs = promoted(b, *xs)
    return xs[0] if len(xs) == 1 else b("Concat", *xs, axis=axis)


@rule("split")
def split(b, x, *, sizes, axis):
    found = b("Split", x, b.ints(sizes), axis=axis, outputs=len(sizes))
    return found if isinstance(found, list) else [found]


# ---- indexing ------------------------------------------------------------------------------------


def _items(index, rank):
    """Return the items of an index with `...` replaced by full slices."""
    index = index if isinstance(index, tuple) else (index,)
    taken = sum(
        np.ndim(i) if getattr(i, "dtype", None) == _BOOL else 1
        for i in index if i is not None and i is not Ellipsis
    )  # fmt: skip
    at = next((k for k, i in enumerate(index) if i is Ellipsis), len(index))
    return [*index[:at], *[slice(None)] * (rank - taken), *index[at + 1 :]]


@rule("getitem")
def getitem(b, x, *, index):
    items = _items(index, x.rank)
    arrays = _places_of_arrays(items)
    if arrays:
        return _advanced(b, x, items, arrays)
    starts, ends, axes, steps, dropped, added = [], [], [], [], [], []
    axis = place = 0
    for item in items:
        if item is None:
            added.append(place)
            place += 1
            continue
        if isinstance(item, slice):
            cut = _cut(item, x.shape[axis])
            place += 1
        else:
            last = item == -1 and type(item) is not Size
            cut, _ = (item, END if last else item + 1, 1), dropped.append(axis)
        if cut is not None:
            starts, ends = [*starts, cut[0]], [*ends, cut[1]]
            axes, steps = [*axes, axis], [*steps, cut[2]]
        axis += 1
    if axes:
        x = b.slice(x, starts, ends, axes, None if all(s == 1 for s in steps) else steps)
    x = b.squeeze(x, *dropped) if dropped else x
    return b.unsqueeze(x, *added) if added else x


def _places_of_arrays(items):
    return [k for k, i in enumerate(items) if isinstance(i, (np.ndarray, list, Varying))]


def _cut(item, n):
    """Return (start, end, step) of a slice for ONNX; None if it takes the whole axis."""
    step = 1 if item.step is None else item.step
    if step > 0:
        start = 0 if item.start is None else item.start
        end = END if item.stop is None else item.stop
        if start == 0 and step == 1 and end in (END, n):
            return None
    else:
        start = END if item.start is None else item.start
        end = -END if item.stop is None else item.stop
    return start, end, step


def _advanced(b, x, items, arrays):
    """Index with integer arrays: one axis by Gather, several by GatherND."""
    if any(i is None for i in items) or any(
        isinstance(items[k], (int, np.integer)) for k in range(len(items))
    ):
        items, x = _without_ints(b, x, items)
        arrays = _places_of_arrays(items)
    index = [i if type(i) is Varying else np.asarray(i) for i in (items[k] for k in arrays)]
    if len(index) == 1 and getattr(index[0], "dtype", None) == _BOOL:
        index = list(np.nonzero(index[0]))
        items[arrays[0] : arrays[0] + 1] = index
        arrays = list(range(arrays[0], arrays[0] + len(index)))
    first = arrays[0]
    rest = [slice(None) if k in arrays else i for k, i in enumerate(items)]
    x = _part(b, x, rest)
    if len(index) == 1:
        return b("Gather", x, _index(b, index[0]), axis=first)
    if arrays != list(range(first, first + len(arrays))):
        b.refuse("index arrays that are not adjacent are not supported")
    places, lead = _tuples(b, x, index, first)
    rank, count = x.rank, len(arrays)
    order = [*arrays, *(i for i in range(rank) if i not in arrays)]
    # GatherND indexes the leading axes, so the indexed axes come first
    y = b("GatherND", b.transpose(x, order), places)
    kept = [lead + i for i in range(rank - count)]
    return b.transpose(y, [*kept[:first], *range(lead), *kept[first:]])


def _index(b, index):
    """Return the Reference of an index array, which may differ between traces."""
    if type(index) is Varying:
        return b.varying([np.asarray(a, np.int64) for a in index.arrays])
    return b.constant(index, np.int64)


def _tuples(b, x, index, first):
    """Return (the Reference of a tensor of index tuples, the rank of the index arrays)."""
    sizes = x.shape[first : first + len(index)]
    if any(type(i) is Varying for i in index):
        parts = [_index(b, i) for i in index]
        if len({p.shape for p in parts}) > 1:
            b.refuse("index arrays of different shapes are not supported")
        lead = len(parts[0].shape)
        return b("Concat", *(b.unsqueeze(p, lead) for p in parts), axis=lead), lead
    places = np.stack(np.broadcast_arrays(*index), -1).astype(np.int64)
    if not known(sizes) and (places < 0).any():
        b.refuse("negative indices of axes of unknown size cannot be computed")
    if known(sizes):
        places = np.where(places < 0, places + np.array(sizes), places)
    return b.constant(places), places.ndim - 1


def _part(b, x, items):
    shape = list(x.shape)
    y = x
    for axis, item in enumerate(items):
        cut = _cut(item, x.shape[axis])
        if cut is not None:
            y = b.slice(y, [cut[0]], [cut[1]], [axis], [cut[2]])
            if type(shape[axis]) is not Size:
                shape[axis] = len(range(*item.indices(shape[axis])))
    y.shape = tuple(shape)
    return y


def _without_ints(b, x, items):
    """Replace ints by 0-d arrays, which is how NumPy treats them beside index arrays."""
    if any(i is None for i in items):
        b.refuse("an index with both arrays and new axes is not supported")
    return [np.array(i) if isinstance(i, (int, np.integer)) else i for i in items], x


@rule("put")
def put(b, g, *, shape, index):
    """Return zeros with `g` added at an index: by padding, or by adding at flat positions."""
    shape = b.call.outputs[0].shape
    items = _items(index, len(shape))
    if all(isinstance(i, (int, np.integer, slice)) for i in items):
        padded = _put_slices(b, g, shape, items)
        if padded is not None:
            return padded
    whole = [isinstance(i, slice) and i == slice(None) for i in items]
    lead = whole.index(False) if False in whole else len(whole)
    rest = shape[lead:]
    if not known(rest) or any(type(i) is Varying for i in items):
        b.refuse("flat positions in a tensor of unknown shape cannot be computed")
    total, count = int(np.prod(rest)), product(shape[:lead])
    places = np.arange(total).reshape(rest)[tuple(items[lead:])]
    g = b.reshape(b.expand(g, (*shape[:lead], *places.shape)), (count, places.size))
    places = b.expand(b.constant(places.reshape(1, -1)), (count, places.size))
    start = b.fill(0, (count, total), g.dtype)
    return b.reshape(b("ScatterElements", start, places, g, axis=1, reduction="add"), shape)


def _put_slices(b, g, shape, items):
    """Pad `g` if the index has only slices of step 1 and non-negative ints; None otherwise."""
    befores, afters, dropped, axis = [], [], [], 0
    for place, (item, n) in enumerate(zip(items, shape, strict=True)):
        if isinstance(item, slice):
            start, step, size = item.start or 0, item.step or 1, g.shape[axis]
            axis += 1
        else:
            start, step, size = item, 1, 1
            dropped.append(place)
        after = n - start - size
        if step != 1 or min(at_all(start)) < 0 or min(at_all(after)) < 0:
            return None
        befores, afters = [*befores, start], [*afters, after]
    g = b.unsqueeze(g, *dropped) if dropped else g
    return b("Pad", g, b.ints([*befores, *afters]), mode="constant")


@rule("gather")
def gather(b, x, indices, *, axis):
    indices = indices if hasattr(indices, "dtype") else b.constant(indices, np.int64)
    return b("Gather", x, _positions(b, indices), axis=axis)


@rule("gather_rows")
def gather_rows(b, x, indices):
    return gather(b, x, indices, axis=0)


def _positions(b, indices):
    """Return indices in a dtype that ONNX accepts for indices."""
    return indices if indices.dtype in (np.int32, np.int64) else b.cast(indices, np.int64)


@rule("take_along_axis")
def take_along_axis(b, x, indices, *, axis):
    x, indices = _aligned(b, x, indices, axis)
    return b("GatherElements", x, _positions(b, indices), axis=axis)


def _aligned(b, x, indices, axis):
    """Broadcast two tensors along all axes except `axis`, as in NumPy."""
    for ref, other in ((0, 1), (1, 0)):
        pair = [x, indices]
        shape = [
            pair[other].shape[i] if i != axis and n == 1 else n
            for i, n in enumerate(pair[ref].shape)
        ]
        if tuple(shape) != tuple(pair[ref].shape):
            pair[ref] = b.expand(pair[ref], tuple(shape))
        x, indices = pair
    return x, indices


# ---- padding, one-hot, sorting -------------------------------------------------------------------


@rule("pad")
def pad(b, x, *, widths):
    return _padded(b, x, widths, "constant")


@rule("reflect")
def reflect(b, x, *, width):
    return _padded(b, x, [(0, 0)] * (x.rank - 1) + [(width, width)], "reflect")


def _padded(b, x, widths, mode):
    if not any(map(any, widths)):
        return x
    amounts = b.ints([before for before, _ in widths] + [after for _, after in widths])
    narrow = x.dtype.name in ("bool", "int8", "int16", "uint8", "uint16")
    y = b("Pad", b.cast(x, np.int32) if narrow else x, amounts, mode=mode)
    return b.cast(y, x.dtype)


@rule("one_hot")
def one_hot(b, indices, *, depth, dtype):
    places = b.arange(depth, indices.dtype)
    return b.cast(b("Equal", b.unsqueeze(indices, -1), places, dtype=_BOOL), dtype)


@rule("argsort")
def argsort(b, x, *, axis, descending=False):
    """Sort by TopK, which is stable: equal elements keep their order."""
    x = x if x.dtype.itemsize >= 4 or x.dtype.kind == "f" else b.cast(x, np.int32)
    _, order = b(
        "TopK", x, b.size(b.call.outputs[0].shape[axis]), axis=axis, largest=int(descending),
        sorted=1, outputs=2,
    )  # fmt: skip
    order.dtype = np.dtype(np.int64)
    return order


@rule("frame")
def frame(b, x, *, length, step, count=None):
    count = b.call.outputs[0].shape[-2]
    starts = b("Mul", b.arange(count), b.constant(np.int64(step)))
    places = b("Add", b.unsqueeze(starts, 1), b.constant(np.arange(length)[None]))
    return b("Gather", x, places, axis=x.rank - 1)


@rule("overlap_add")
def overlap_add(b, x, *, step, size=None):
    """Add the elements of all frames at their positions along the last axis."""
    count, length = x.shape[-2:]
    total = b.call.outputs[0].shape[-1]
    if not known((count, length, total)):
        b.refuse("the number or the length of frames is unknown")
    places = (np.arange(count)[:, None] * step + np.arange(length)).reshape(-1)
    flat = b.reshape(x, (*x.shape[:-2], count * length))
    places = b.expand(b.constant(places), flat.shape)
    start = b.fill(0, (*x.shape[:-2], total), x.dtype)
    return b("ScatterElements", start, places, flat, axis=x.rank - 2, reduction="add")
