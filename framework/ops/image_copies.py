"""Flips and shifts of images by copying slices, for eager calls that no tape or trace records.

Augmentation in a data pipeline runs eagerly on batches. Reading a shifted image pixel by pixel, as
`warping` does for any transform, takes ten times as long as copying the visible part. The results
are bitwise equal.
"""

import numpy as np

from framework.core.recorders import thread
from framework.core.tensor import Tensor
from framework.kernels import pixel_copies


def flipped_where(x, flips, axes):
    """Return images, reversed along `axes` if selected by `flips`; None if ops must compute this.

    Args:
        x: a tensor (batch, ...).
        flips: a tensor of `batch` booleans, of any shape.
        axes: positive ints, the axes of `x` that are reversed.
    """
    if thread.stack or type(x) is not Tensor or type(flips) is not Tensor:
        return None
    if flips.array.size != len(x.array):
        return None
    array, chosen = x.array, flips.array.reshape(-1) != 0
    if len(axes) == 1:
        return Tensor(pixel_copies.flipped(array, chosen, axes[0]))
    result, there = array.copy(), [axis - 1 for axis in axes]
    for i in np.flatnonzero(chosen).tolist():
        result[i] = np.flip(array[i], there)
    return Tensor(result)


def shifted(x, transforms, size, fill):
    """Return images moved by whole pixels; distances are rounded as by `warping.projected`.

    Args:
        x: a float32 tensor (batch, height, width, channels).
        transforms: a float32 tensor (batch, 8), of which columns 0, 2, 4 and 5 are used.
        size: the (height, width) of the result.
        fill: the value beyond the image.

    Returns:
        A tensor; None if a transform does not shift all pixels alike, or if ops must compute this.
    """
    if thread.stack or type(x) is not Tensor or type(transforms) is not Tensor:
        return None
    array, table = x.array, transforms.array
    if array.dtype != np.float32 or not len(table) == len(array) > 0:
        return None
    if not np.isfinite(table).all():
        return None
    spans = [
        _spans(scale, offset, old, new)
        for scale, offset, old, new in zip(
            (table[:, 4], table[:, 0]), (table[:, 5], table[:, 2]), array.shape[1:3], size
        )
    ]
    if any(span is None for span in spans):
        return None
    return Tensor(pixel_copies.shifted(array, *spans, size, fill))


def _spans(scale, offset, old, new):
    """Return ints (batch, 3): the start, stop and distance of each image's visible part on an axis.

    The result is None if a transform does not shift all pixels alike. A position in the image is
    the position in the result plus `distance`.
    """
    if not (scale == 1).all():
        return None
    distance = _distances(offset, new)
    if distance is not None:
        start = np.clip(-distance, 0, new)
        return np.stack([start, np.clip(old - distance, start, new), distance], axis=1)
    places = np.arange(new, dtype=np.float32)
    at = scale[:, None] * places + offset[:, None]
    at = np.where(at < 0, np.ceil(at - np.float32(0.5)), np.floor(at + np.float32(0.5)))
    inside = (at >= 0) & (at <= old - 1)
    start, count = inside.argmax(1), inside.sum(1)
    distance = at - places
    first = distance[np.arange(len(at)), start]
    # For offsets halfway between two pixels, rounding may move neighboring pixels by different
    # distances.
    if not ((distance == first[:, None]) | ~inside).all():
        return None
    first[count == 0] = 0
    return np.stack([start, start + count, first.astype(np.int64)], axis=1)


def _distances(offset, new):
    """Return the rounded offsets, ints (batch,); None if one is nearly halfway between two pixels.

    If none is, adding an offset to any position from 0 to `new` and rounding shifts all pixels
    alike.
    """
    most = new + np.abs(offset).max()
    if most > _SMALL:
        return None
    below = np.floor(offset)
    part = offset - below
    # the rounding error of a sum, and of its difference to 0.5, is at most half a step of float32
    if np.abs(part - np.float32(0.5)).min() <= 2 * np.spacing(most):
        return None
    return below.astype(np.int64) + (part > 0.5)


_SMALL = 2**20  # larger offsets leave too few bits for fractions of a pixel
