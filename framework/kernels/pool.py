"""Pooling over windows of any number of spatial axes: largest cells, sums of cells.

Arrays are channels-last, (batch, *spatial, channels), see `windows`. Numba's form
(`fast/pool.py`) takes float32 and up to three spatial axes, and gives the same bits.
"""

import itertools
import math

import numpy as np

from framework.kernels import choose, threads, tier, windows

_FAST = 4096  # elements from which on Numba's form is used
_SHARED = 1 << 20  # elements from which on two threads are faster than one
_CELLS = 256  # whose numbers fit 8 bits


def _lowest(dtype):
    return np.iinfo(dtype).min if dtype.kind in "iu" else np.array(-np.inf, dtype)


def _places(x, size, strides, padding, dilations):
    """How often the window fits, and the padding in numbers."""
    spatial = x.shape[1:-1]
    places = windows.output_sizes(spatial, size, strides, padding, dilations)
    return places, windows.amounts(padding, spatial, size, strides, dilations)


def _fast(x, size, elements):
    """Numba's form, where it is for `x` and the window; `elements` of work."""
    if elements < _FAST or x.dtype != np.float32 or not 3 <= x.ndim <= 5:
        return None
    return tier.library("pool") if math.prod(size) <= _CELLS else None


def _parts(batch, elements):
    """Ranges of examples, one for each thread that is to work."""
    count = threads.count() if elements >= _SHARED else 1
    edges = [batch * i // count for i in range(count + 1)]
    return [part for part in itertools.pairwise(edges) if part[0] < part[1]]


def _window(sizes, places, size, strides, padding, dilations):
    """The numbers that Numba's forms take, for three spatial axes: those in front are of size 1."""
    before = tuple(p[0] for p in padding)
    wide = [(1,) * (3 - len(sizes))] * 4 + [(0,) * (3 - len(sizes))] + [(1,) * (3 - len(sizes))]
    columns = sizes, places, size, strides, before, dilations
    return np.array([a + tuple(b) for a, b in zip(wide, columns)], np.int64)


def _by_pairs(size, strides, padding, dilations, sizes):
    """Whether windows are of 2 by 2 cells, side by side; as (height, width), else None."""
    twos = size == strides and set(size) == {2} and not any(map(any, padding))
    return tuple(sizes) if twos and len(sizes) == 2 and set(dilations) == {1} else None


def max_pool(x, *, size, strides, padding, dilations):
    """The largest cell of the window at each place; padding never counts.

    Saved, by Numba's form alone: the number of that cell, of equals the first.
    """
    places, padding = _places(x, size, strides, padding, dilations)
    fast = _fast(x, size, x.size)
    if fast is not None:
        return _fast_max_pool(fast, x, places, size, strides, padding, dilations)
    wide = windows.padded(x, padding, _lowest(x.dtype))
    y = None
    for _, index in windows.cells(size, strides, dilations, places):
        y = wide[index].copy() if y is None else np.maximum(y, wide[index], out=y)
    return y, ()


def _fast_max_pool(fast, x, places, size, strides, padding, dilations):
    batch, *sizes, channels = x.shape
    y = np.empty((batch, *places, channels), np.float32)
    chosen = np.empty(y.shape, np.uint8)
    flat, outputs = np.ascontiguousarray(x).reshape(-1), (y.reshape(-1), chosen.reshape(-1))
    pairs = _by_pairs(size, strides, padding, dilations, sizes)
    if pairs:
        function, window = fast.max_pool_pairs, pairs
    else:
        window = (_window(sizes, places, size, strides, padding, dilations),)
        function = fast.max_pool
    threads.run(
        lambda part: function(flat, *part, *window, channels, *outputs), _parts(batch, x.size)
    )
    return y, (chosen,)


def cell_dtype(size):
    """Of the numbers of a window's cells."""
    return np.dtype(np.uint8 if math.prod(size) <= _CELLS else np.int16)


def max_cell(x, *, size, strides, padding, dilations):
    """The number of the largest cell of the window at each place; of equals the first."""
    places, padding = _places(x, size, strides, padding, dilations)
    if _by_pairs(size, strides, padding, dilations, x.shape[1:-1]):
        return _larger_of_pairs(x, places)
    wide = windows.padded(x, padding, _lowest(x.dtype))
    inside = windows.padded(np.ones((1, *x.shape[1:-1], 1), np.bool_), padding)
    dtype = cell_dtype(size)
    best, chosen, found = None, None, None
    for number, (_, index) in enumerate(windows.cells(size, strides, dilations, places)):
        here, there = wide[index], inside[index]
        if best is None:
            best, chosen = here.copy(), np.zeros(here.shape, dtype)
            found = there
            continue
        better = here > best
        if not found.all():  # the lowest number, on the input, is larger than padding
            better |= there & ~found
            found = found | there
        np.maximum(best, here, out=best)
        np.multiply(chosen, ~better, out=chosen)
        chosen += np.multiply(better, dtype.type(number), dtype=dtype)
    return chosen


def _larger_of_pairs(x, places):
    """`max_cell` of 2 by 2 cells side by side: the larger of each row, then of the two."""
    a, b, c, d = (x[index] for _, index in windows.cells((2, 2), (2, 2), (1, 1), places))
    upper, lower = (b > a).view(np.uint8), (d > c).view(np.uint8)
    below = np.negative((np.maximum(c, d) > np.maximum(a, b)).view(np.uint8))  # all bits, or none
    lower += np.uint8(2)
    lower ^= upper
    lower &= below
    lower ^= upper
    return lower


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


def cell_put(g, chosen, *, sizes, size, strides, padding, dilations, out=None):
    """Zeros of spatial `sizes` with each place's number added to its chosen cell.

    `out` is a contiguous array for them.
    """
    padding = windows.amounts(padding, sizes, size, strides, dilations)
    if chosen.dtype == np.uint8 and chosen.shape == g.shape:
        fast = _fast(g, size, g.size)
        if fast is not None:
            return _fast_put(fast, g, chosen, sizes, size, strides, padding, dilations, out)
    apart = _by_pairs(size, strides, padding, dilations, sizes)  # no cell is in two windows
    shape = (g.shape[0], *windows.widened(sizes, padding), g.shape[-1])
    wide = np.zeros(shape, g.dtype)
    for number, (_, index) in enumerate(windows.cells(size, strides, dilations, g.shape[1:-1])):
        here = choose.masked(g, chosen == number)
        if apart:
            wide[index] = here
        else:
            wide[index] += here
    d = windows.unpadded(wide, sizes, padding)
    if out is None:
        return d
    out[...] = d
    return out


def _fast_put(fast, g, chosen, sizes, size, strides, padding, dilations, out):
    batch, *places, channels = g.shape
    d = np.empty((batch, *sizes, channels), np.float32) if out is None else out
    flat = [np.ascontiguousarray(a).reshape(-1) for a in (g, chosen)]
    pairs = _by_pairs(size, strides, padding, dilations, sizes)
    if pairs:
        for axis, n in enumerate(sizes, 1):
            if n % 2:  # an odd edge, which no window reaches
                d[(slice(None),) * axis + (-1,)] = 0
        function, window = fast.put_pairs, pairs
    else:
        d.fill(0)
        window = (_window(sizes, places, size, strides, padding, dilations),)
        function = fast.put
    out = d.reshape(-1)
    threads.run(lambda part: function(*flat, *part, *window, channels, out), _parts(batch, d.size))
    return d


def window_sum(x, *, size, strides, padding, dilations):
    """The sum of the window's cells at each place."""
    dtype = windows.wide_enough(x.dtype)
    places, padding = _places(x, size, strides, padding, dilations)
    fast = _fast(x, size, x.size)
    if fast is not None:
        batch, *sizes, channels = x.shape
        y = np.empty((batch, *places, channels), dtype)
        window = _window(sizes, places, size, strides, padding, dilations)
        flat, out = np.ascontiguousarray(x).reshape(-1), y.reshape(-1)
        threads.run(
            lambda part: fast.window_sum(flat, *part, window, channels, out), _parts(batch, x.size)
        )
        return y
    wide = windows.padded(x.astype(dtype, copy=False), padding)
    y = np.zeros((x.shape[0], *places, x.shape[-1]), dtype)
    for _, index in windows.cells(size, strides, dilations, places):
        y += wide[index]
    return y.astype(x.dtype, copy=False)


def window_spread(g, *, sizes, size, strides, padding, dilations):
    """Zeros of spatial `sizes` with each place's number added to all cells of its window."""
    dtype = windows.wide_enough(g.dtype)
    padding = windows.amounts(padding, sizes, size, strides, dilations)
    fast = _fast(g, size, g.size)
    if fast is not None:
        batch, *places, channels = g.shape
        d = np.zeros((batch, *sizes, channels), dtype)
        window = _window(sizes, places, size, strides, padding, dilations)
        flat, out = np.ascontiguousarray(g).reshape(-1), d.reshape(-1)
        threads.run(
            lambda part: fast.window_spread(flat, *part, window, channels, out),
            _parts(batch, d.size),
        )
        return d
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
