"""Resize images to a size of another aspect ratio, by stretching, cropping or padding."""

import numpy as np

from framework.core.cast import cast
from framework.ops.casting import like, saturate_cast, widened
from framework.ops.elementwise import round_, select
from framework.ops.movement import getitem, pad
from framework.ops.reduction import np_dtype
from framework.ops.resampling import resized


def fitted(x, size, method="bilinear", antialias=False, fit=None, fill=0.0):
    """Return images in the new size and their own dtype; integers are rounded.

    Args:
        x: a tensor, (batch, height, width, channels).
        size: the new (height, width).
        method, antialias: as in `resampling.Sampling`.
        fit: "crop" first cuts out the center in the aspect ratio of `size`; "pad" first pads the
            images to this aspect ratio.
        fill: the value of the padding.
    """
    y = _cut(x, size) if fit == "crop" else _framed(x, size, fill) if fit == "pad" else x
    if method != "nearest":
        kind = np_dtype(y).kind
        y = cast(y, dtype=np.dtype(np.float32)) if kind in "iub" else widened(y)
    y = resized(y, size, (1, 2), method, antialias)
    if x.dtype.is_integer and method != "nearest":
        y = saturate_cast(round_(y), x.dtype)
    return like(y, x)


def _in_proportion(x, size):
    """Return the height that fits the width of `x` at the aspect ratio of `size`, and the width
    that fits its height.
    """
    height, width = x.shape[1:3]
    return (
        int(np.float32(width * size[0]) / np.float32(size[1])),
        int(np.float32(height * size[1]) / np.float32(size[0])),
    )


def _cut(x, size):
    index = [slice(None)]
    for old, fitting in zip(x.shape[1:3], _in_proportion(x, size)):
        n = max(min(old, fitting), 1)
        start = (old - n) // 2
        index.append(slice(start, start + n))
    return getitem(x, index=tuple(index))


def _framed(x, size, fill):
    """Pad opposite sides by the same number of pixels; an odd number is rounded down."""
    margins = [(fitting - n) // 2 for n, fitting in zip(x.shape[1:3], _in_proportion(x, size))]
    widths = ((0, 0), *((max(m, 0),) * 2 for m in margins), (0, 0))
    if not any(map(any, widths)):
        return x
    inner = np.pad(np.ones((1, *x.shape[1:3], 1), bool), widths)
    return select(inner, pad(x, widths=widths), np.asarray(fill).astype(np_dtype(x)))
