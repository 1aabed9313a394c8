"""Constants that Python computed from unknown sizes: what they were in the traces, as nodes.

NumPy arrays such as `np.arange(n)`, `np.tri(n)` or `[batch, 1]` differ between traces with
different sizes. Their pattern is recognized and computed by the graph from the sizes.
"""

import numpy as np

from framework.core.errors import ExportError
from framework.saving.onnx.sizes import Size, size_from

_FLOATS = {
    "Cast": lambda n: n, "Reciprocal": lambda n: 1 / n, "Sqrt": np.sqrt,
    "Rsqrt": lambda n: 1 / np.sqrt(n),
}  # fmt: skip


def computed(b, arrays):
    """Return the Reference of nodes that compute a constant with one array for each trace.

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
    """Return whether a constant is equal in all traces, or of a pattern that nodes can compute."""
    if ref.name is None and ref.array is None:
        found = computed_or_none(b, ref.arrays)
        ref.name = None if found is None else b.name_of(found)
        return found is not None
    return True


def computed_or_none(b, arrays):
    """Return the Reference of `computed`, or None."""
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
    return _along_one_axis(b, arrays, shape) or _triangle(b, arrays, shape)


def _number(b, arrays):
    """A number computed from one size: the size itself, its reciprocal or root."""
    dtype = arrays[0].dtype
    if dtype.kind in "iu":
        return b.cast(b.squeeze(b.size(Size(int(a) for a in arrays)), 0), dtype)
    for values in b.known_sizes():
        for way, function in _FLOATS.items():
            expected = [function(float(n)) for n in values]
            if np.allclose([float(a) for a in arrays], expected, rtol=1e-6, atol=0):
                number = b.cast(b.squeeze(b.size(Size(values)), 0), dtype)
                for op_type in {"Cast": (), "Rsqrt": ("Sqrt", "Reciprocal")}.get(way, (way,)):
                    number = b(op_type, number)
                return number
    return None


def _numbers(b, arrays, shape):
    """A few integers, each of which may follow from a size."""
    rows = zip(*(a.reshape(-1).tolist() for a in arrays))
    return b.cast(b.reshape(b.ints([size_from(row) for row in rows]), shape), arrays[0].dtype)


def _along_one_axis(b, arrays, shape):
    """An arithmetic sequence along one axis, equal along the others."""
    for axis, n in enumerate(shape):
        lines = [np.moveaxis(a, axis, 0) for a in arrays]
        if not all(
            (line == line[(slice(None), *(slice(1),) * (line.ndim - 1))]).all() for line in lines
        ):
            continue
        lines = [line.reshape(len(line), -1)[:, 0] for line in lines]
        start = lines[0][0]
        step = lines[0][1] - start if len(lines[0]) > 1 else lines[-1][1] - start
        dtype = arrays[0].dtype
        if not all(
            np.array_equal(line, start + step * np.arange(len(line), dtype=dtype)) for line in lines
        ):
            return None
        numbers = b.arange(n, dtype)
        if step != 1:
            numbers = b("Mul", numbers, b.constant(step, dtype))
        if start != 0:
            numbers = b("Add", numbers, b.constant(start, dtype))
        numbers = b.reshape(numbers, tuple(n if i == axis else 1 for i in range(len(shape))))
        return b.expand(numbers, shape)
    return None


def _triangle(b, arrays, shape):
    """Booleans (..., rows, columns) below a diagonal, or their complement."""
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
