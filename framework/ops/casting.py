"""Casts with a purpose: that which saturates, and those around sums of squares of 16-bit floats."""

import numpy as np

from framework.core.cast import cast
from framework.ops.complex import is_complex, real
from framework.ops.elementwise import clip, greater, is_nan, less, select
from framework.ops.reduction import np_dtype


def is_narrow(x):
    """Whether an array or tensor holds floats of 16 bits."""
    dtype = np_dtype(x)
    return dtype.itemsize == 2 and dtype.kind not in "iu"


def widened(x):
    """`x` in float32 where its floats have 16 bits: squares then neither overflow nor vanish."""
    return cast(x, dtype=np.dtype(np.float32)) if is_narrow(x) else x


def like(y, x):
    """`y` in the dtype of `x`."""
    return y if np_dtype(y) == np_dtype(x) else cast(y, dtype=np_dtype(x))


def saturate_cast(x, dtype):
    """`x` in the DType `dtype`; what lies outside its range becomes the nearest end.

    Where `dtype` holds integers that is exactly the end, and NaN becomes 0. Of complex numbers the
    real part is taken, unless `dtype` is complex too.
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
        if _number(bound) != limit:  # the end is no number of `source`
            y = select(beyond(x, bound), np.asarray(limit).astype(dtype.np), y)
    return y


def _number(value):
    """A NumPy number as Python's, which compares integers and floats exactly."""
    return int(value) if np.asarray(value).dtype.kind in "iub" else float(value)


def _inside(end, own):
    """The end of a range, or of the source's own range where that is narrower."""
    return min(end, own) if end > 0 else max(end, own)


def _towards_zero(bound, limit):
    """A bound that rounding has put beyond its limit, moved to the number before."""
    beyond = abs(_number(bound)) > abs(limit)
    return np.nextafter(bound, np.zeros_like(bound)) if beyond else bound
