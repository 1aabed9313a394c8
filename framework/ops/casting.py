"""The saturating cast, and casts of 16-bit floats to float32 for computations."""

import numpy as np

from framework.core.cast import cast
from framework.ops.complex import is_complex, real
from framework.ops.elementwise import clip, greater, is_nan, less, select
from framework.ops.reduction import np_dtype


def is_narrow(x):
    """Return whether an array or tensor has a 16-bit floating dtype."""
    dtype = np_dtype(x)
    return dtype.itemsize == 2 and dtype.kind not in "iu"


def widened(x):
    """Return 16-bit floats as float32, whose range also holds their squares."""
    return cast(x, dtype=np.dtype(np.float32)) if is_narrow(x) else x


def like(y, x):
    """Return `y` cast to the dtype of `x`."""
    return y if np_dtype(y) == np_dtype(x) else cast(y, dtype=np_dtype(x))


def saturate_cast(x, dtype):
    """Return `x` cast to the DType `dtype`; values outside its range become its nearest limit.

    If `dtype` is an integer dtype, the limit is exact and NaN becomes 0. If `x` is complex and
    `dtype` is not, the real part is cast.
    """
    if dtype.is_complex:
        return cast(x if is_complex(x) else saturate_cast(x, dtype.real_dtype), dtype=dtype.np)
    x = real(x) if is_complex(x) else x
    source = x.dtype
    if source.is_floating and dtype.is_integer:
        x = select(is_nan(x), np.zeros((), source.np), x)
    limits = [_number(end) for end in dtype.limits]
    low, high = (_inside(end, own) for end, own in zip(limits, map(_number, source.limits)))
    low, high = (np.asarray(end).astype(source.np) for end in (low, high))
    low, high = _towards_zero(low, limits[0]), _towards_zero(high, limits[1])
    y = cast(clip(x, low, high), dtype=dtype.np)
    if not (source.is_floating and dtype.is_integer):
        return y
    for beyond, bound, limit in ((less, low, limits[0]), (greater, high, limits[1])):
        # If `bound` and `limit` differ, the source dtype cannot represent the limit of `dtype`
        # exactly.
        if _number(bound) != limit:
            y = select(beyond(x, bound), np.asarray(limit).astype(dtype.np), y)
    return y


def _number(value):
    """Return a NumPy scalar as a Python number; Python compares integers and floats exactly."""
    return int(value) if np.asarray(value).dtype.kind in "iub" else float(value)


def _inside(end, own):
    """Return the limit nearer to 0: `end` (the new dtype's) or `own` (the source dtype's)."""
    return min(end, own) if end > 0 else max(end, own)


def _towards_zero(bound, limit):
    """Return `bound`, or its neighbor towards 0 if rounding put `bound` beyond `limit`."""
    beyond = abs(_number(bound)) > abs(limit)
    return np.nextafter(bound, np.zeros_like(bound)) if beyond else bound
