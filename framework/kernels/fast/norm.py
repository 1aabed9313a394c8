"""Batch normalization of float32 rows, channels last: flat arrays of rows of `channels` elements.

Each function computes the rows from `first` to `last`, so that threads can divide the rows. Sums
run over blocks that stay in the cache, four rows at a time.
"""

import numpy as np

from framework.kernels.fast.elementwise import load, store
from framework.kernels.fast.jit import kernel
from framework.kernels.fast.routine import routine

_BLOCK = 65536  # A block of rows has about this many elements.
_SOME = 16  # The first estimate of the mean uses this many rows.
_f = np.float32


@kernel(forceinline=True)
def _rows(channels):
    """Return the number of rows of a block: at most 128, because longer sums are less accurate."""
    return min(max(_BLOCK // channels, 4), 128)


@routine
def _add_block(x, first, last, channels, shift, total, squares):
    """Add each channel's sum of x - shift to `total`, and its sum of squares to `squares`."""
    row = first
    while row + 4 <= last:
        at = row * channels
        for c in range(channels):
            k = load(shift, c, 1)
            v0 = load(x, at + c, 0) - k
            v1 = load(x, at + channels + c, 0) - k
            v2 = load(x, at + 2 * channels + c, 0) - k
            v3 = load(x, at + 3 * channels + c, 0) - k
            store(total, c, load(total, c, 2) + ((v0 + v1) + (v2 + v3)), 2)
            square = (v0 * v0 + v1 * v1) + (v2 * v2 + v3 * v3)
            store(squares, c, load(squares, c, 3) + square, 3)
        row += 4
    while row < last:
        at = row * channels
        for c in range(channels):
            v = load(x, at + c, 0) - load(shift, c, 1)
            store(total, c, load(total, c, 2) + v, 2)
            store(squares, c, load(squares, c, 3) + v * v, 3)
        row += 1


@kernel
def moments(x, first, last, channels, mean, deviations):
    """Write the mean and the sum of squared deviations of each channel, in float64.

    Each block is shifted by the mean so far; blocks are combined as in Chan et al. (1983).
    """
    step = _rows(channels)
    total, squares = np.zeros(channels, _f), np.zeros(channels, _f)
    shift = np.zeros(channels, _f)
    some = min(_SOME, last - first)
    _add_block(x, first, first + some, channels, shift, total, squares)
    # a first estimate of the mean, which the first block corrects
    for c in range(channels):
        shift[c] = total[c] / _f(some)
        mean[c] = shift[c]
        deviations[c] = 0.0
    count = 0
    for row in range(first, last, step):
        end = min(row + step, last)
        total[:] = _f(0)
        squares[:] = _f(0)
        _add_block(x, row, end, channels, shift, total, squares)
        n = end - row
        share = n / (count + n)
        for c in range(channels):
            moved = np.float64(total[c]) / n
            own = squares[c] - moved * total[c]
            moved += np.float64(shift[c]) - mean[c]
            mean[c] += moved * share
            deviations[c] += own + moved * moved * (share * count)
            shift[c] = mean[c]
        count += n


@kernel(fastmath=False, forceinline=True)
def _normal(x, mean, factor, offset):
    """Return (x - mean) * factor + offset, rounded after each operation, so that forward and
    backward pass compute the same sign."""
    return (x - mean) * factor + offset


@kernel(fastmath=False, forceinline=True)
def _passed(g, x, mean, factor, offset, most):
    """Return g where 0 < ReLU's input < most, else 0, as a product, so that NaN in g stays NaN."""
    v = _normal(x, mean, factor, offset)
    inside = _f(1) if v < most else _f(0)
    return g * (inside if v > _f(0) else _f(0))


@kernel
def scaled(x, first, last, channels, mean, factor, offset, least, most, y):
    """Write min(max((x - mean) * factor + offset, least), most), per channel."""
    for row in range(first, last):
        at = row * channels
        for c in range(channels):
            k, f, o = load(mean, c, 1), load(factor, c, 2), load(offset, c, 3)
            v = _normal(load(x, at + c, 0), k, f, o)
            v = least if least > v else v
            store(y, at + c, most if most < v else v, 4)


@routine
def _add_products(g, x, first, last, channels, mean, part, both):
    """Add each channel's sum of g to `part`, and its sum of g * (x - mean) to `both`."""
    row = first
    while row + 2 <= last:
        at = row * channels
        for c in range(channels):
            k = load(mean, c, 2)
            g0, g1 = load(g, at + c, 0), load(g, at + channels + c, 0)
            v0, v1 = load(x, at + c, 1) - k, load(x, at + channels + c, 1) - k
            store(part, c, load(part, c, 3) + (g0 + g1), 3)
            store(both, c, load(both, c, 4) + (g0 * v0 + g1 * v1), 4)
        row += 2
    while row < last:
        at = row * channels
        for c in range(channels):
            d = load(g, at + c, 0)
            store(part, c, load(part, c, 3) + d, 3)
            moved = load(x, at + c, 1) - load(mean, c, 2)
            store(both, c, load(both, c, 4) + d * moved, 4)
        row += 1


@routine
def _add_passed(g, x, first, last, channels, mean, factor, offset, most, part, both):
    """Do `_add_products` with g after ReLU's backward pass (see `_passed`)."""
    row = first
    while row + 2 <= last:
        at = row * channels
        for c in range(channels):
            k, f, o = load(mean, c, 2), load(factor, c, 5), load(offset, c, 6)
            x0, x1 = load(x, at + c, 1), load(x, at + channels + c, 1)
            g0 = _passed(load(g, at + c, 0), x0, k, f, o, most)
            g1 = _passed(load(g, at + channels + c, 0), x1, k, f, o, most)
            store(part, c, load(part, c, 3) + (g0 + g1), 3)
            store(both, c, load(both, c, 4) + (g0 * (x0 - k) + g1 * (x1 - k)), 4)
        row += 2
    while row < last:
        at = row * channels
        for c in range(channels):
            k, v = load(mean, c, 2), load(x, at + c, 1)
            d = _passed(load(g, at + c, 0), v, k, load(factor, c, 5), load(offset, c, 6), most)
            store(part, c, load(part, c, 3) + d, 3)
            store(both, c, load(both, c, 4) + d * (v - k), 4)
        row += 1


@kernel
def sums(g, x, first, last, channels, mean, factor, offset, cut, most, total, product):
    """Write the sums of g and of g * (x - mean), per channel.

    With `cut`, g counts as 0 unless 0 < (x - mean) * factor + offset < most.
    """
    step = _rows(channels)
    part, both = np.empty(channels, _f), np.empty(channels, _f)
    total[:] = _f(0)
    product[:] = _f(0)
    for row in range(first, last, step):
        end = min(row + step, last)
        part[:] = _f(0)
        both[:] = _f(0)
        if cut:
            _add_passed(g, x, row, end, channels, mean, factor, offset, most, part, both)
        else:
            _add_products(g, x, row, end, channels, mean, part, both)
        for c in range(channels):
            total[c] += part[c]
            product[c] += both[c]


@kernel(forceinline=True)
def _cotangent(g, x, mean, factor, slope, level):
    return g * factor + (x - mean) * slope + level


@kernel
def input_cotangent(
    g, x, first, last, channels, mean, factor, offset, cut, most, slope, level, d
):  # fmt: skip
    """Write x's cotangent to d: g * factor + (x - mean) * slope + level, per channel.

    With `cut`, g is 0 outside 0 < (x - mean) * factor + offset < most.
    """
    for row in range(first, last):
        at = row * channels
        for c in range(channels):
            v, k, f = load(x, at + c, 1), load(mean, c, 2), load(factor, c, 3)
            passed = load(g, at + c, 0)
            if cut:
                passed = _passed(passed, v, k, f, load(offset, c, 4), most)
            store(d, at + c, _cotangent(passed, v, k, f, load(slope, c, 5), load(level, c, 6)), 7)


@kernel
def change_cotangent(g, x, first, last, channels, mean, factor, offset, cut, most, slope, level):
    """Compute `input_cotangent` in place: the result overwrites g."""
    for row in range(first, last):
        at = row * channels
        for c in range(channels):
            v, k, f = load(x, at + c, 1), load(mean, c, 2), load(factor, c, 3)
            passed = load(g, at + c, 0)
            if cut:
                passed = _passed(passed, v, k, f, load(offset, c, 4), most)
            store(g, at + c, _cotangent(passed, v, k, f, load(slope, c, 5), load(level, c, 6)), 0)


def warm():
    """Compile all kernels of this module ahead of time, by calls on tiny inputs."""
    x, v = np.ones(12, _f), [np.ones(2, _f) for _ in range(5)]
    moments(x, 0, 6, 2, np.ones(2), np.ones(2))
    most = _f(np.inf)
    scaled(x, 0, 6, 2, *v[:3], -most, most, np.empty(12, _f))
    sums(x, x, 0, 6, 2, *v[:3], True, most, *v[3:])
    input_cotangent(x, x, 0, 6, 2, *v[:3], True, most, *v[3:], np.empty(12, _f))
    change_cotangent(np.ones(12, _f), x, 0, 6, 2, *v[:3], True, most, *v[3:])
