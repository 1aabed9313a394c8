"""Max pooling and window sums over any number of spatial axes, and their gradients.

Arrays are channels-last, (batch, *spatial, channels), see `windows`. The Numba kernels
(`fast/pool.py`) support float32 and up to three spatial axes, and their results are bitwise equal
to NumPy's, except that they may choose other pixels in windows with NaN. With NumPy, threads divide
the batch into blocks of images that fit in the cache.
"""

import itertools
import math

import numpy as np

from framework.kernels import choose, threads, tier, windows
from framework.kernels.contiguous import flattened
from framework.kernels.share import blocks, share

_FAST = 4096  # The Numba kernels are used for at least this many elements.
_SHARED = 1 << 20  # Threads share the Numba kernels' work from this many elements on.
# A block of images has about this many elements; with smaller blocks, threads would often wait for
# the GIL.
_BLOCK = 1 << 20
# Indices within a window are uint8 for up to _CELLS pixels, and int16 for up to _MORE_CELLS.
_CELLS, _MORE_CELLS = 1 << 8, 1 << 15


def _lowest(dtype):
    if dtype.kind == "b":
        return np.False_
    return np.iinfo(dtype).min if dtype.kind in "iu" else np.array(-np.inf, dtype)


def _places(x, size, strides, padding, dilations):
    """Return the number of window positions per axis, and the padding in pixels."""
    spatial = x.shape[1:-1]
    places = windows.output_sizes(spatial, size, strides, padding, dilations)
    return places, windows.amounts(padding, spatial, size, strides, dilations)


def _fast(x, size, elements):
    """Return the module of Numba kernels if they support `x` and the window, else None."""
    if elements < _FAST or x.dtype != np.float32 or not 3 <= x.ndim <= 5:
        return None
    return tier.library("pool") if math.prod(size) <= _CELLS else None


def _parts(batch, elements):
    """Return ranges (first, last) of examples, at most one per thread."""
    count = threads.count() if elements >= _SHARED else 1
    edges = [batch * i // count for i in range(count + 1)]
    return [part for part in itertools.pairwise(edges) if part[0] < part[1]]


def _window(sizes, places, size, strides, padding, dilations):
    """Return the arguments as int64 (6, 3) for the Numba kernels, with leading axes of size 1."""
    before = tuple(p[0] for p in padding)
    wide = [(1,) * (3 - len(sizes))] * 4 + [(0,) * (3 - len(sizes))] + [(1,) * (3 - len(sizes))]
    columns = sizes, places, size, strides, before, dilations
    return np.array([a + tuple(b) for a, b in zip(wide, columns)], np.int64)


def _by_pairs(size, strides, padding, dilations, sizes):
    """Return (height, width) if windows are adjacent, 2 × 2 and without padding, else None."""
    twos = size == strides and set(size) == {2} and not any(map(any, padding))
    return tuple(sizes) if twos and len(sizes) == 2 and set(dilations) == {1} else None


def max_pool(x, *, size, strides, padding, dilations):
    """Return (y, saved): the maximum of each window, ignoring padding.

    `saved`, for the backward pass, is the index of the maximum within its window (the first one of
    equal pixels) from the Numba kernels and for adjacent 2 × 2 windows, else empty.
    """
    places, padding = _places(x, size, strides, padding, dilations)
    fast = _fast(x, size, x.size)
    if fast is not None:
        return _fast_max_pool(fast, x, places, size, strides, padding, dilations)
    y = np.empty((len(x), *places, x.shape[-1]), x.dtype)
    if _by_pairs(size, strides, padding, dilations, x.shape[1:-1]):
        chosen = np.empty(y.shape, np.uint8)
        _by_images(lambda some: _larger_of_pairs(x[some], chosen[some], y[some]), x)
        return y, (chosen,)

    def work(some):
        wide, out = windows.padded(x[some], padding, _lowest(x.dtype)), y[some]
        for number, (_, index) in enumerate(windows.cells(size, strides, dilations, places)):
            if number:
                np.maximum(out, wide[index], out=out)
            else:
                np.copyto(out, wide[index])

    _by_images(work, x)
    return y, ()


def _by_images(function, larger):
    """Call `function(slice)` for blocks of images, on all threads.

    Args:
        larger: the largest array of the computation, whose size estimates the work.
    """
    batch, elements = len(larger), larger.size
    step = max(_BLOCK * batch // max(elements, 1), 1)

    def work(first, last):
        for some in blocks(first, last, step):
            function(some)

    share(work, batch, 4 * elements)


def _fast_max_pool(fast, x, places, size, strides, padding, dilations):
    batch, *sizes, channels = x.shape
    y = np.empty((batch, *places, channels), np.float32)
    chosen = np.empty(y.shape, np.uint8)
    flat, outputs = flattened(x), (y.reshape(-1), chosen.reshape(-1))
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
    """Return the dtype for indices of the pixels of a window."""
    cells = math.prod(size)
    if cells <= _CELLS:
        return np.dtype(np.uint8)
    return np.dtype(np.int16 if cells <= _MORE_CELLS else np.int32)


def max_cell(x, *, size, strides, padding, dilations):
    """Return the index of the largest pixel (the first of equal ones) of each window."""
    places, padding = _places(x, size, strides, padding, dilations)
    chosen = np.empty((len(x), *places, x.shape[-1]), cell_dtype(size))
    if _by_pairs(size, strides, padding, dilations, x.shape[1:-1]):
        _by_images(lambda some: _larger_of_pairs(x[some], chosen[some]), x)
        return chosen
    inside = windows.padded(np.ones((1, *x.shape[1:-1], 1), np.bool_), padding)

    def work(some):
        wide = windows.padded(x[some], padding, _lowest(x.dtype))
        _largest(wide, inside, windows.cells(size, strides, dilations, places), chosen[some])

    _by_images(work, x)
    return chosen


def _largest(wide, inside, cells, chosen):
    """Write `max_cell` to `chosen`; `inside` is False on padding."""
    best, seen = None, None
    for number, (_, index) in enumerate(cells):
        here, there = wide[index], inside[index]
        if best is None:
            best, seen = here.copy(), there
            chosen[...] = 0
            continue
        better = here > best
        # Choose a pixel instead of padding, even if the pixel has the lowest value of its dtype.
        if not seen.all():
            better |= there & ~seen
            seen = seen | there
        np.maximum(best, here, out=best)
        np.multiply(chosen, ~better, out=chosen)
        chosen += np.multiply(better, chosen.dtype.type(number), dtype=chosen.dtype)


def _pairs_of(x, places):
    """Return the four pixels of adjacent 2 × 2 windows, as views."""
    return [x[index] for _, index in windows.cells((2, 2), (2, 2), (1, 1), places)]


def _larger_of_pairs(x, chosen, y=None):
    """Write `max_cell` of adjacent 2 × 2 windows: compare the pixels of each row, then the rows."""
    a, b, c, d = _pairs_of(x, chosen.shape[1:-1])
    upper, lower = np.maximum(a, b), np.maximum(c, d)
    below = (lower > upper).view(np.uint8)
    if y is not None:
        np.maximum(upper, lower, out=y)
    np.negative(below, out=below)  # Negation turns a byte 1 into -1, all of whose bits are set.
    upper = np.greater(b, a).view(np.uint8)
    np.greater(d, c, out=chosen.view(np.bool_))
    chosen += np.uint8(2)
    chosen ^= upper
    chosen &= below
    chosen ^= upper


def max_index(x, **window):
    """Return flat spatial indices of windows' first maxima, (batch, positions, channels)."""
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
    """Return from each window the pixel whose index within the window is in `chosen`."""
    places, padding = _places(x, size, strides, padding, dilations)
    wide = windows.padded(x, padding)
    y = np.zeros(chosen.shape, x.dtype)
    for number, (_, index) in enumerate(windows.cells(size, strides, dilations, places)):
        np.copyto(y, wide[index], where=chosen == number)
    return y


def cell_put(g, chosen, *, sizes, size, strides, padding, dilations, out=None):
    """Return zeros of spatial `sizes`, with each element of `g` added to its window's chosen pixel.

    `out` is a contiguous array for the result.
    """
    padding = windows.amounts(padding, sizes, size, strides, dilations)
    if chosen.dtype == np.uint8 and chosen.shape == g.shape:
        fast = _fast(g, size, g.size)
        if fast is not None:
            return _fast_put(fast, g, chosen, sizes, size, strides, padding, dilations, out)
    if _by_pairs(size, strides, padding, dilations, sizes) and g.dtype.kind == "f":
        return _put_pairs(g, chosen, sizes, out)
    d = np.zeros((len(g), *windows.widened(sizes, padding), g.shape[-1]), g.dtype)

    def work(some):
        wide, given, places = d[some], g[some], g.shape[1:-1]
        for number, (_, index) in enumerate(windows.cells(size, strides, dilations, places)):
            wide[index] += choose.masked(given, chosen[some] == number)

    _by_images(work, d)
    return windows.into(windows.unpadded(d, sizes, padding), out)


def _put_pairs(g, chosen, sizes, out):
    """Compute `cell_put` for adjacent 2 × 2 windows, by bit masks: integers -1 and 0."""
    d = _cleared(g, sizes, out)
    bits = choose.BITS[g.dtype.itemsize]
    g, whole = np.ascontiguousarray(g).view(bits), d.view(bits)

    def work(some):
        given, numbers = g[some], chosen[some]
        right = np.negative((numbers & np.uint8(1)).view(np.int8), dtype=bits)
        lower = np.negative((numbers >> np.uint8(1)).view(np.int8), dtype=bits)
        lower &= given
        upper = given ^ lower
        a, b, c, d = _pairs_of(whole[some], given.shape[1:-1])
        np.bitwise_xor(upper, np.bitwise_and(upper, right, out=b), out=a)
        np.bitwise_xor(lower, np.bitwise_and(lower, right, out=d), out=c)

    _by_images(work, d)
    return d


def _cleared(g, sizes, out):
    """Return `out` or a new array with 0 in an odd last row or column, which no window covers."""
    d = np.empty((len(g), *sizes, g.shape[-1]), g.dtype) if out is None else out
    for axis, n in enumerate(sizes, 1):
        if n % 2:
            d[(slice(None),) * axis + (-1,)] = 0
    return d


def _fast_put(fast, g, chosen, sizes, size, strides, padding, dilations, out):
    _, *places, channels = g.shape
    d = _cleared(g, sizes, out)
    flat = [flattened(a) for a in (g, chosen)]
    pairs = _by_pairs(size, strides, padding, dilations, sizes)
    if pairs:
        function, window = fast.put_pairs, pairs
    else:
        d.fill(0)
        window = (_window(sizes, places, size, strides, padding, dilations),)
        function = fast.put
    out = d.reshape(-1)
    threads.run(lambda part: function(*flat, *part, *window, channels, out), _parts(len(g), d.size))
    return d


def window_sum(x, *, size, strides, padding, dilations):
    """Return the sum of each window."""
    dtype = windows.wide_enough(x.dtype)
    places, padding = _places(x, size, strides, padding, dilations)
    fast = _fast(x, size, x.size)
    if fast is not None:
        batch, *sizes, channels = x.shape
        y = np.empty((batch, *places, channels), dtype)
        window = _window(sizes, places, size, strides, padding, dilations)
        flat, out = flattened(x), y.reshape(-1)
        threads.run(
            lambda part: fast.window_sum(flat, *part, window, channels, out), _parts(batch, x.size)
        )
        return y
    y = np.zeros((x.shape[0], *places, x.shape[-1]), dtype)

    def work(some):
        wide, out = windows.padded(x[some].astype(dtype, copy=False), padding), y[some]
        for _, index in windows.cells(size, strides, dilations, places):
            out += wide[index]

    _by_images(work, x)
    return y.astype(x.dtype, copy=False)


def window_spread(g, *, sizes, size, strides, padding, dilations):
    """Return zeros of spatial `sizes`, with elements of `g` added to all pixels of their
    windows."""
    dtype = windows.wide_enough(g.dtype)
    padding = windows.amounts(padding, sizes, size, strides, dilations)
    fast = _fast(g, size, g.size)
    if fast is not None:
        batch, *places, channels = g.shape
        d = np.zeros((batch, *sizes, channels), dtype)
        window = _window(sizes, places, size, strides, padding, dilations)
        flat, out = flattened(g), d.reshape(-1)
        threads.run(
            lambda part: fast.window_spread(flat, *part, window, channels, out),
            _parts(batch, d.size),
        )
        return d
    shape = (g.shape[0], *windows.widened(sizes, padding), g.shape[-1])
    d = np.zeros(shape, dtype)

    def work(some):
        wide, given = d[some], g[some]
        for _, index in windows.cells(size, strides, dilations, g.shape[1:-1]):
            wide[index] += given

    _by_images(work, d)
    return windows.unpadded(d, sizes, padding).astype(g.dtype, copy=False)


def window_count(x, *, size, strides, padding, dilations):
    """Return how many pixels of each window lie on the input and not on padding."""
    ones = np.ones((1, *x.shape[1:-1], 1), np.float32)
    counts = window_sum(ones, size=size, strides=strides, padding=padding, dilations=dilations)
    return counts.astype(x.dtype)
