"""Flips and shifts of images by copies of slices, for calls that no recorder needs as ops.

Augmentation in a data pipeline runs eagerly on batches. To read a shifted image pixel by pixel, as
`warping` does for any transform, takes ten times as long as to copy the visible part. The bits are
the same.
"""

import numpy as np

from framework.core.recorders import thread
from framework.core.tensor import Tensor


def flipped_where(x, flips, axes):
    """Return images, those selected by `flips` reversed along `axes`; None if ops are needed.

    Args:
        x: a tensor (batch, ...).
        flips: a tensor of `batch` booleans, of any shape.
        axes: positive ints, the axes of `x` that are reversed.
    """
    if thread.stack or type(x) is not Tensor or type(flips) is not Tensor:
        return None
    if flips.array.size != len(x.array):
        return None
    array, chosen = x.array, np.flatnonzero(flips.array).tolist()
    (axis, *others), result = axes, array.copy()
    order = np.arange(array.shape[axis] - 1, -1, -1)
    for i in chosen:
        source = np.flip(array[i], [a - 1 for a in others]) if others else array[i]
        # The mode "raise" of `take` would allocate a buffer; "clip" does not.
        source.take(order, axis - 1, result[i], "clip")
    return Tensor(result)


def shifted(x, transforms, size, fill):
    """Return images moved by whole pixels, rounded as `warping.projected` rounds coordinates.

    Args:
        x: a float32 tensor (batch, height, width, channels).
        transforms: a float32 tensor (batch, 8), of which columns 0, 2, 4 and 5 are used.
        size: the (height, width) of the result.
        fill: the value beyond the image.

    Returns:
        A tensor; None if the transforms do more than move images, or if ops must compute it.
    """
    if thread.stack or type(x) is not Tensor or type(transforms) is not Tensor:
        return None
    array, table = x.array, transforms.array
    if array.dtype != np.float32 or len(table) != len(array) or not np.isfinite(table).all():
        return None
    spans = [
        _spans(scale, offset, old, new)
        for scale, offset, old, new in zip(
            (table[:, 4], table[:, 0]), (table[:, 5], table[:, 2]), array.shape[1:3], size
        )
    ]
    if None in spans:
        return None
    result = np.full((len(array), *size, array.shape[3]), fill, array.dtype)
    for y, image, (top, bottom, down), (left, right, across) in zip(result, array, *spans):
        rows, columns = slice(top + down, bottom + down), slice(left + across, right + across)
        y[top:bottom, left:right] = image[rows, columns]
    return Tensor(result)


def _spans(scale, offset, old, new):
    """Return (start, stop, distance) of each image's visible part along an axis; None if not moved.

    A position in the image is the position in the result plus `distance`.
    """
    if not (scale == 1).all():
        return None
    places = np.arange(new, dtype=np.float32)
    at = scale[:, None] * places + offset[:, None]
    at = np.where(at < 0, np.ceil(at - np.float32(0.5)), np.floor(at + np.float32(0.5)))
    inside = (at >= 0) & (at <= old - 1)
    start, count = inside.argmax(1), inside.sum(1)
    distance = at - places
    first = distance[np.arange(len(at)), start]
    # Halfway between two pixels, rounding may move neighbors by different distances.
    if not ((distance == first[:, None]) | ~inside).all():
        return None
    first[count == 0] = 0
    return list(zip(start.tolist(), (start + count).tolist(), first.astype(np.int64).tolist()))
