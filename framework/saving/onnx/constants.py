"""Constants that Python computed from unknown sizes, expressed as nodes.

NumPy arrays such as `np.arange(n)`, `np.tri(n)` or `[batch, 1]` differ between traces with
different sizes. Their pattern is recognized, so that the graph computes them from sizes.
"""

import numpy as np

from framework.core.errors import ExportError
from framework.saving.onnx.sizes import Size, size_from

_INVERSES = {
    (): lambda y: y, ("Reciprocal",): lambda y: 1 / y, ("Sqrt",): np.square,
    ("Sqrt", "Reciprocal"): lambda y: 1 / np.square(y),
}  # fmt: skip
"""Operations that Python may have applied to a size, each with the inverse."""


def computed(b, arrays):
    """Return the Reference of nodes that compute `arrays`: a constant's array in each trace.

    Raises:
        ExportError: no pattern fits.
    """
    ref = computed_or_none(b, arrays)
    if ref is None:
        shapes = ", ".join(str(a.shape) for a in arrays)
        raise ExportError(
            f"Python computes an array of {arrays[0].dtype} from an unknown size (its shapes were "
            f"{shapes}). Give fixed sizes in input_signature, or compute it by ops on tensors."
        )
    return ref


def is_known(b, ref):
    """Return whether a constant is equal in all traces or has a pattern that nodes can compute."""
    if ref.name is None and ref.array is None:
        found = computed_or_none(b, ref.arrays)
        ref.name = None if found is None else b.name_of(found)
        return found is not None
    return True


def computed_or_none(b, arrays):
    """Return the Reference that `computed` returns, or None if no pattern fits."""
    shape = tuple(size_from(sizes) for sizes in zip(*(a.shape for a in arrays)))
    firsts = [a.reshape(-1)[0] if a.size else a.dtype.type(0) for a in arrays]
    if all((a == firsts[0]).all() for a in arrays):
        return b.fill(firsts[0], shape, arrays[0].dtype)
    if not shape:
        return _number(b, arrays)
    if (
        len({a.shape for a in arrays}) == 1
        and arrays[0].dtype.kind in "iu"
        and arrays[0].size <= 64
    ):
        return _numbers(b, arrays, shape)
    for pattern in (_affine, _repeated, _with_ends, _uniform_middle, _box, _triangle):
        found = pattern(b, arrays, shape)
        if found is not None:
            return found
    return None


def _number(b, arrays):
    """Recognize a number computed from a size: the size itself, its reciprocal or root."""
    dtype = arrays[0].dtype
    values = np.array([float(a) for a in arrays])
    if dtype.kind not in "iuf" or not (values > 0).all():
        return None
    for op_types, inverse in _INVERSES.items():
        sizes = np.rint(inverse(values))
        size = Size(int(n) for n in sizes)
        if np.allclose(sizes, inverse(values), rtol=1e-6, atol=0) and b.can_compute(size):
            number = b.cast(b.squeeze(b.size(size), 0), dtype)
            for op_type in op_types:
                number = b(op_type, number)
            return number
    return None


def _numbers(b, arrays, shape):
    """Recognize a few integers, each constant or computed from a size."""
    rows = zip(*(a.reshape(-1).tolist() for a in arrays))
    return b.cast(b.reshape(b.ints([size_from(row) for row in rows]), shape), arrays[0].dtype)


def _affine(b, arrays, shape):
    """Recognize numbers that grow by a constant step along each axis: a sum of ranges."""
    dtype = arrays[0].dtype
    if dtype.kind not in "iuf":
        return None
    steps = [_step(arrays, axis) for axis in range(len(shape))]
    start = arrays[0].reshape(-1)[0]
    for a in arrays:
        index = np.indices(a.shape, sparse=True)
        if not np.array_equal(a, start + sum(s * i for s, i in zip(steps, index))):
            return None
    total = b.constant(np.full((1,) * len(shape), start, dtype))
    for axis, (n, step) in enumerate(zip(shape, steps)):
        if step != 0:
            numbers = b("Mul", b.arange(n, dtype), b.constant(step, dtype))
            numbers = b.reshape(numbers, tuple(n if i == axis else 1 for i in range(len(shape))))
            total = b("Add", total, numbers)
    total.shape = tuple(n if s != 0 else 1 for n, s in zip(shape, steps))
    return b.expand(total, shape)


def _step(arrays, axis):
    """Return the difference of the first two elements along an axis; 0 for one element."""
    longest = max(arrays, key=lambda a: a.shape[axis])
    pair = np.moveaxis(longest, axis, 0)[:2].reshape(-1)
    return pair[len(pair) // 2] - pair[0] if longest.shape[axis] > 1 else pair[0] - pair[0]


def _repeated(b, arrays, shape):
    """Recognize indices 0, 0, 1, 1, ..., which `repeat` reads."""
    if len(shape) != 1 or arrays[0].dtype.kind not in "iu":
        return None
    times = int(np.count_nonzero(arrays[0] == arrays[0][0]))
    if not all(np.array_equal(a, np.arange(len(a)) // times) for a in arrays):
        return None
    return b.cast(b("Div", b.arange(shape[0]), b.constant(np.int64(times))), arrays[0].dtype)


_ENDS = 3  # `_with_ends` accepts at most this number of irregular elements at each end


def _with_ends(b, arrays, shape):
    """Recognize indices along an axis that are irregular at its ends, as for reflection padding."""
    if len(shape) != 1 or arrays[0].dtype.kind not in "iu":
        return None
    for first in range(_ENDS + 1):
        for last in range(_ENDS + 1):
            heads = {tuple(a[:first].tolist()) for a in arrays}
            middles = [a[first : len(a) - last] for a in arrays]
            tails = [tuple((a[len(a) - last :] - len(a)).tolist()) for a in arrays]
            counted = all(
                len(m) > 1 and np.array_equal(m, middles[0][0] + np.arange(len(m))) for m in middles
            )
            if counted and len(heads) == 1 == len(set(tails)):
                middle = b.arange(shape[0] - first - last)
                middle = b("Add", middle, b.constant(np.int64(middles[0][0])))
                tail = b("Add", b.constant(np.array(tails[0], np.int64)), b.size(shape[0]))
                head = b.constant(np.array(heads.pop(), np.int64))
                return b.cast(b("Concat", head, middle, tail, axis=0), arrays[0].dtype)
    return None


def _uniform_middle(b, arrays, shape):
    """Recognize equal slices along the one axis of unknown size, except at its ends."""
    axes = [i for i, n in enumerate(shape) if type(n) is Size]
    if len(axes) != 1:
        return None
    (axis,) = axes
    rows = [np.moveaxis(a, axis, 0) for a in arrays]
    longest = max(rows, key=len)
    row = longest[len(longest) // 2]
    equal = (longest == row).reshape(len(longest), -1).all(1)
    first, last = int(equal.argmax()), int(equal[::-1].argmax())
    for r in rows:
        middle, tail = r[first : len(r) - last], r[len(r) - last :]
        fits = len(r) >= first + last and (middle == row).all()
        if not (fits and np.array_equal(r[:first], longest[:first])):
            return None
        if not np.array_equal(tail, longest[len(longest) - last :]):
            return None
    wide = tuple(shape[axis] - first - last if i == axis else n for i, n in enumerate(shape))
    middle = b.expand(b.constant(np.expand_dims(row, axis)), wide)
    ends = longest[:first], longest[len(longest) - last :]
    head, tail = (b.constant(np.moveaxis(end, 0, axis)) for end in ends)
    return b("Concat", head, middle, tail, axis=axis, shape=shape)


def _box(b, arrays, shape):
    """Recognize booleans that are True in a box: one condition per axis, combined by `and`."""
    if arrays[0].dtype.kind != "b" or sum(n != 1 for n in shape) < 2:
        return None
    sides = []
    for axis in range(len(shape)):
        others = tuple(i for i in range(len(shape)) if i != axis)
        sides.append([a.any(others, keepdims=True) for a in arrays])
    for a, *parts in zip(arrays, *sides, strict=True):
        if not np.array_equal(a, np.logical_and.reduce(np.broadcast_arrays(*parts))):
            return None
    found = [computed_or_none(b, side) for side in sides]
    if any(side is None for side in found):
        return None
    total = found[0]
    for side in found[1:]:
        total = b("And", total, side)
    total.shape = shape
    return total


def _triangle(b, arrays, shape):
    """Recognize booleans (..., rows, columns) that are True below a diagonal, or the complement."""
    if arrays[0].dtype.kind != "b" or len(shape) < 2:
        return None
    for offset in range(-2, 3):
        for turned in (False, True):
            if not all(
                (a == (np.tri(*a.shape[-2:], offset, dtype=bool) ^ turned)).all() for a in arrays
            ):
                continue
            rows = b.unsqueeze(b.arange(shape[-2]), 1)
            columns = b.unsqueeze(b.arange(shape[-1]), 0)
            rows = b("Add", rows, b.constant(np.int64(offset))) if offset else rows
            mask = b("Less" if turned else "GreaterOrEqual", rows, columns, dtype=bool)
            mask.shape = tuple(shape[-2:])
            return b.expand(mask, shape)
    return None
