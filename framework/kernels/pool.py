"""Pooling over windows of any number of spatial axes: largest cells, sums of cells.

Arrays are channels-last, (batch, *spatial, channels), see `windows`.
"""

import math

import numpy as np

from framework.kernels import windows


def _lowest(dtype):
    return np.iinfo(dtype).min if dtype.kind in "iu" else np.array(-np.inf, dtype)


def _places(x, size, strides, padding, dilations):
    """How often the window fits, and the padding in numbers."""
    spatial = x.shape[1:-1]
    places = windows.output_sizes(spatial, size, strides, padding, dilations)
    return places, windows.amounts(padding, spatial, size, strides, dilations)


def max_pool(x, *, size, strides, padding, dilations):
    """The largest cell of the window at each place; padding never counts."""
    places, padding = _places(x, size, strides, padding, dilations)
    wide = windows.padded(x, padding, _lowest(x.dtype))
    y = None
    for _, index in windows.cells(size, strides, dilations, places):
        y = wide[index].copy() if y is None else np.maximum(y, wide[index], out=y)
    return y


def max_index(x, *, size, strides, padding, dilations):
    """Where in the flat spatial axes the largest cell is, of equals the first; places flat too."""
    places, padding = _places(x, size, strides, padding, dilations)
    spatial = x.shape[1:-1]
    wide = windows.padded(x, padding, _lowest(x.dtype))
    at = windows.padded(np.arange(math.prod(spatial)).reshape(1, *spatial, 1), padding, -1)
    best, where = None, None
    for _, index in windows.cells(size, strides, dilations, places):
        here, there = wide[index], np.broadcast_to(at[index], wide[index].shape)
        if best is None:
            best, where = here.copy(), there.copy()
            continue
        better = (here > best) | ((where < 0) & (there >= 0))
        np.copyto(best, here, where=better)
        np.copyto(where, there, where=better)
    return where.reshape(x.shape[0], math.prod(places), x.shape[-1])


def window_sum(x, *, size, strides, padding, dilations):
    """The sum of the window's cells at each place."""
    dtype = windows.wide_enough(x.dtype)
    places, padding = _places(x, size, strides, padding, dilations)
    wide = windows.padded(x.astype(dtype, copy=False), padding)
    y = np.zeros((x.shape[0], *places, x.shape[-1]), dtype)
    for _, index in windows.cells(size, strides, dilations, places):
        y += wide[index]
    return y.astype(x.dtype, copy=False)


def window_spread(g, *, sizes, size, strides, padding, dilations):
    """Zeros of spatial `sizes` with each place's number added to all cells of its window."""
    dtype = windows.wide_enough(g.dtype)
    padding = windows.amounts(padding, sizes, size, strides, dilations)
    shape = (g.shape[0], *windows.widened(sizes, padding), g.shape[-1])
    wide = np.zeros(shape, dtype)
    for _, index in windows.cells(size, strides, dilations, g.shape[1:-1]):
        wide[index] += g
    return windows.unpadded(wide, sizes, padding).astype(g.dtype, copy=False)


def window_count(x, *, size, strides, padding, dilations):
    """How many cells of the window lie on the input, and not on padding, at each place."""
    ones = np.ones((1, *x.shape[1:-1], 1), np.float32)
    found = window_sum(ones, size=size, strides=strides, padding=padding, dilations=dilations)
    return found.astype(x.dtype)
