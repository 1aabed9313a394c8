"""Extraction of image patches, whose pixels become channels, by data-movement ops."""

import itertools
import math

from framework.kernels.windows import amounts, output_sizes
from framework.ops.movement import concat, getitem, pad, reshape, transpose


def patches(x, *, size, strides, dilations, padding):
    """Return an image with one pixel per patch: its channels are the patch's pixels, in order.

    Args:
        x: (batch, *spatial, channels).
        size, strides, dilations: one int for each spatial axis.
        padding: "SAME" or "VALID".
    """
    window = {"size": size, "strides": strides, "dilations": dilations}
    spatial = x.shape[1:-1]
    padding = amounts("SAME", spatial, **window) if padding == "SAME" else ((0, 0),) * len(size)
    if any(map(any, padding)):
        x = pad(x, widths=((0, 0), *padding, (0, 0)))
    places = output_sizes(spatial, padding=padding, **window)
    if size == strides and set(dilations) == {1}:
        return _tiles(x, size, places)
    parts = []
    for start in itertools.product(*map(range, size)):
        starts = [s * d for s, d in zip(start, dilations)]
        index = [slice(s, s + (n - 1) * k + 1, k) for s, n, k in zip(starts, places, strides)]
        parts.append(getitem(x, index=(slice(None), *index, slice(None))))
    return concat(*parts, axis=len(x.shape) - 1)


def _tiles(x, size, places):
    """Return patches that are adjacent without overlap, by reshape and transpose."""
    index = [slice(0, n * k) for n, k in zip(places, size)]
    x = getitem(x, index=(slice(None), *index, slice(None)))
    batch, channels, axes = x.shape[0], x.shape[-1], len(size)
    split = [n for pair in zip(places, size) for n in pair]
    x = reshape(x, shape=(batch, *split, channels))
    x = transpose(x, perm=(0, *range(1, 2 * axes, 2), *range(2, 2 * axes + 1, 2), 2 * axes + 1))
    return reshape(x, shape=(batch, *places, math.prod(size) * channels))
