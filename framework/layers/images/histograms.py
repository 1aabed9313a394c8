"""Histogram equalization, of whole images or of tiles."""

import itertools

import numpy as np

from framework.core.cast import cast
from framework.layers.convolution_base import DataFormat, ints, last, restored
from framework.layers.images.base import BaseImagePreprocessingLayer, as_dtype, axes_of
from framework.layers.images.colors import rescaled
from framework.layers.images.fields import Range, SortedRange
from framework.ops.counting import bincount
from framework.ops.elementwise import clip, divide, equal, greater, less_equal, round_, select
from framework.ops.movement import concat, gather, getitem, reshape, transpose
from framework.ops.reduction import cumsum, reduce_min, reduce_sum

__all__ = ["ContrastLimitedAdaptiveHistogramEqualization", "Equalization"]

_BYTES = (0, 255)
_INT = np.dtype(np.int64)


class Equalization(BaseImagePreprocessingLayer, draws=False):
    """Equalize the histogram of each channel, over all images of the batch, in training.

    Args:
        value_range: the lowest and highest value of pixels.
        bins: the number of bins of the histogram.
        data_format: "channels_last" or "channels_first".

    >>> import numpy as np
    >>> Equalization()(np.array([[[[5.0], [6.0], [7.0]]]]), training=True).numpy().ravel()
    array([  0., 128., 255.], dtype=float32)
    """

    value_range: SortedRange = (0, 255)
    bins: int = 256
    data_format: DataFormat = None

    def _transform_images(self, images, transformation, interpolation):
        axis = axes_of(self)[2] + 4
        channels = [
            getitem(images, index=(*(slice(None),) * axis, slice(i, i + 1)))
            for i in range(images.shape[axis])
        ]
        return concat(*(_equalized(self, channel) for channel in channels), axis=axis)


def _equalized(layer, channel):
    """Return one channel of all images with its histogram equalized."""
    top = layer.bins - 1
    values = rescaled(channel, layer.value_range, _BYTES)
    wide = as_dtype(values, "float32")
    place = clip(cast(divide(wide * float(top), 255.0), dtype=_INT), 0, top)
    counts = bincount(
        reshape(place, shape=(-1,)), None, size=layer.bins, per_row=False, binary=False,
        dtype=_INT,
    )  # fmt: skip
    below = cast(cumsum(counts, axis=0, reverse=False), dtype=np.dtype(np.float64))
    total = float(np.prod(channel.shape))
    first = reduce_min(select(greater(below, 0), below, total), axis=(0,), keepdims=True)
    rest = total - first
    rest = select(equal(rest, 0.0), rest * 0 + 1, rest)
    table = clip(round_(divide((below - first) * 255.0, rest)), 0.0, 255.0)
    place = cast(clip(divide(values, 255.0) * float(top), 0.0, float(top)), dtype=_INT)
    even = as_dtype(gather(as_dtype(table, values.dtype), place, axis=0), values.dtype)
    used = reduce_sum(cast(greater(counts, 0), dtype=_INT), axis=(0,), keepdims=True)
    values = select(less_equal(used, 1), values, even)
    return as_dtype(rescaled(values, _BYTES, layer.value_range), layer.compute_dtype)


class ContrastLimitedAdaptiveHistogramEqualization(
    BaseImagePreprocessingLayer, in_inference=True, draws=False, keeps_integers=True
):
    """Equalize each tile of each image; the curves of neighboring tiles are interpolated.

    Zuiderveld 1994.

    Args:
        value_range: the lowest and highest value of pixels.
        clip_limit: the largest bin of a histogram, in multiples of the mean; 0 for no limit.
        tile_grid_size: the numbers of tiles along height and width.
        data_format: "channels_last" or "channels_first".
    """

    value_range: Range = (0, 255)
    clip_limit: object = 4.0
    tile_grid_size: object = (8, 8)
    data_format: DataFormat = None

    def __post_init__(self):
        self.tile_grid_size = ints(self.tile_grid_size, 2, "tile_grid_size")

    def _transform_images(self, images, transformation, interpolation):
        wide = rescaled(as_dtype(images, "float32"), self.value_range, _BYTES)
        even = _equalized_tiles(last(wide, self.data_format), self.tile_grid_size, self.clip_limit)
        even = restored(even, self.data_format)
        return as_dtype(rescaled(even, _BYTES, self.value_range), images.dtype)


def _equalized_tiles(images, grid, limit):
    """Return images (batch, height, width, channels), float32 from 0 to 255, equalized by tiles."""
    batch, height, width, channels = images.shape
    tile = tuple(-(-n // tiles) for n, tiles in zip((height, width), grid))
    padded = images
    for axis in (1, 2):
        padded = _mirrored(padded, axis, tile[axis - 1] * grid[axis - 1])
    curves = _curves(padded, grid, tile, limit)
    pixels = cast(clip(padded, 0.0, 255.0), dtype=_INT)
    flat = reshape(curves, shape=(-1,))
    first = np.arange(batch).reshape(-1, 1, 1, 1) * ((grid[0] + 2) * (grid[1] + 2) * channels)
    rows, columns = (_between(*pair) for pair in zip(grid, tile))
    result = 0.0
    for (row, down), (column, across) in itertools.product(rows, columns):
        row, down = (x.reshape(1, -1, 1, 1) for x in (row, down))  # noqa: PLW2901
        column, across = (x.reshape(1, 1, -1, 1) for x in (column, across))  # noqa: PLW2901
        curve = first + (row * (grid[1] + 2) + column) * channels + np.arange(channels)
        result = result + gather(flat, curve * 256 + pixels, axis=0) * (down * across)
    return getitem(result, index=(slice(None), slice(height), slice(width)))


def _mirrored(x, axis, size):
    """Return `x` padded to `size` along an axis by reflection at its edge."""
    n = x.shape[axis]
    if n == size:
        return x
    places = np.arange(size) % (2 * n)
    return gather(x, np.minimum(places, 2 * n - 1 - places), axis=axis)


def _curves(images, grid, tile, limit):
    """Return each tile's map from old to new values: (batch, rows + 2, columns + 2, channels, 256).

    The first and last rows and columns are repeated, so that tiles at the edge have neighbors.
    """
    batch, _, _, channels = images.shape
    tiles = reshape(images, shape=(batch, grid[0], tile[0], grid[1], tile[1], channels))
    tiles = transpose(tiles, perm=(0, 1, 3, 5, 2, 4))
    area = tile[0] * tile[1]
    pixels = clip(cast(reshape(tiles, shape=(-1, area)), dtype=_INT), 0, 255)
    counts = bincount(
        pixels, None, size=256, per_row=True, binary=False, dtype=np.dtype(np.float32)
    )
    if limit > 0:
        cut = clip(counts, 0.0, float(limit * area / 256.0))
        excess = reduce_sum(counts - cut, axis=(1,), keepdims=True)
        counts = cut + excess / 256.0
    below = cumsum(counts, axis=1, reverse=False)
    lowest = reduce_min(below, axis=(1,), keepdims=True)
    rest = float(area) - lowest
    rest = select(equal(rest, 0.0), rest * 0 + 1, rest)
    curves = clip(divide((below - lowest) * 255.0, rest), 0.0, 255.0)
    curves = reshape(curves, shape=(batch, *grid, channels, 256))
    for axis, n in ((1, grid[0]), (2, grid[1])):
        curves = gather(curves, np.clip(np.arange(-1, n + 1), 0, n - 1), axis=axis)
    return curves


def _between(tiles, size):
    """Return (tile, weight) of the tile before each pixel along an axis, and of the one after.

    Index 0 is the repeated first tile.
    """
    place = (np.arange(tiles * size, dtype=np.float32) - size / 2.0) / size + 1.0
    before = np.floor(place)
    share = (place - before).astype(np.float32)
    before = before.astype(np.int64)
    return [
        (np.clip(tile, 0, tiles + 1), weight)
        for tile, weight in ((before, 1 - share), (before + 1, share))
    ]
