"""Pooling over windows of any number of spatial axes: largest cells, sums of cells.

Arrays are channels-last, (batch, *spatial, channels), see `windows`.
"""

import math

import numpy as np

from framework.kernels import choose, windows


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


def max_cell(x, *, size, strides, padding, dilations):
    """The number of the largest cell of the window at each place; of equals the first."""
    places, padding = _places(x, size, strides, padding, dilations)
    wide = windows.padded(x, padding, _lowest(x.dtype))
    inside = windows.padded(np.ones((1, *x.shape[1:-1], 1), np.bool_), padding)
    best, chosen, found = None, None, None
    for number, (_, index) in enumerate(windows.cells(size, strides, dilations, places)):
        here, there = wide[index], inside[index]
        if best is None:
            best, chosen = here.copy(), np.zeros(here.shape, np.int16)
            found = there
            continue
        better = here > best
        if not found.all():  # the lowest number, on the input, is larger than padding
            better |= there & ~found
            found = found | there
        np.maximum(best, here, out=best)
        np.multiply(chosen, ~better, out=chosen)
        chosen += np.multiply(better, number, dtype=np.int16)
    return chosen


def max_index(x, **window):
    """Where in the flat spatial axes the largest cell is, of equals the first; places flat too."""
    chosen = max_cell(x, **window)
    places, padding = _places(x, **window)
    spatial = x.shape[1:-1]
    flat = np.zeros((), np.int64)
    offsets = np.unravel_index(chosen, window["size"])
    for axis, n in enumerate(spatial):
        starts = np.arange(places[axis]) * window["strides"][axis] - padding[axis][0]
        starts = starts.reshape(-1, *(1,) * (len(spatial) - axis))
        flat = flat * n + (starts + offsets[axis] * window["dilations"][axis])
    return flat.reshape(x.shape[0], math.prod(places), x.shape[-1])


def cell_take(x, chosen, *, size, strides, padding, dilations):
    """At each place the cell of the window that is numbered in `chosen`."""
    places, padding = _places(x, size, strides, padding, dilations)
    wide = windows.padded(x, padding)
    y = np.zeros(chosen.shape, x.dtype)
    for number, (_, index) in enumerate(windows.cells(size, strides, dilations, places)):
        np.copyto(y, wide[index], where=chosen == number)
    return y


def cell_put(g, chosen, *, sizes, size, strides, padding, dilations):
    """Zeros of spatial `sizes` with each place's number added to its chosen cell."""
    padding = windows.amounts(padding, sizes, size, strides, dilations)
    shape = (g.shape[0], *windows.widened(sizes, padding), g.shape[-1])
    wide = np.zeros(shape, g.dtype)
    for number, (_, index) in enumerate(windows.cells(size, strides, dilations, g.shape[1:-1])):
        wide[index] += choose.masked(g, chosen == number)
    return windows.unpadded(wide, sizes, padding)


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
