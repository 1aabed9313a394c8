"""Batch normalisation: statistics over all axes but one, and what they normalise.

Arrays are seen as (outer, channels, inner), whatever their rank. Sums go by blocks, whose means
and squared deviations are joined as Chan, Golub & LeVeque (1983) do: as accurate as two passes over
the data, in one pass over memory.
"""

import itertools
import math

import numpy as np

from framework.core.quiet import quiet
from framework.kernels import threads, tier
from framework.kernels.choose import zeros
from framework.kernels.windows import wide_enough

_BLOCK = 1 << 17  # elements: a block stays in the cache between its mean and its deviations
_WIDE = 256  # numbers of a row that BLAS adds up: NumPy's own sum over rows takes 3 times longer
_VECTOR = 16  # numbers; rows of so many, or of a multiple, are gone over as they are,
_LONG = 256  # others are joined up to this length
_FAST = 2048  # elements from which on Numba's form is the faster one
_SHARED = 1 << 20  # elements from which on two threads are faster than one,
_PART = 1 << 18  # and of the parts that they take then


def as_channels(x, axis):
    """`x` as (outer, channels, inner)."""
    shape = x.shape
    return x.reshape(math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :]))


def _blocks(x):
    outer, channels, inner = x.shape
    step = max(_BLOCK // max(channels * inner, 1), 1)
    return [x[i : i + step] for i in range(0, outer, step)]


def _over(x):
    """The sum of (outer, channels, inner) per channel."""
    if x.shape[2] > 1:
        return np.add.reduce(np.add.reduce(x, axis=2), axis=0)
    rows = x[:, :, 0]
    if rows.size < _WIDE:
        return np.add.reduce(rows, axis=0)
    fold = max(_WIDE // rows.shape[1], 1)  # so many rows as one: BLAS likes them long
    whole = len(rows) // fold * fold
    wide = rows[:whole].reshape(-1, fold * rows.shape[1])
    total = np.add.reduce((np.ones(len(wide), x.dtype) @ wide).reshape(fold, -1), axis=0)
    return total + np.add.reduce(rows[whole:], axis=0) if whole < len(rows) else total


def _spread(vector):
    return vector[:, None]


def _fast(x):
    """Numba's form, where `x`, as (outer, channels, inner), is for it."""
    if x.dtype == np.float32 and x.shape[2] == 1 and x.size >= _FAST:
        return tier.library("norm")
    return None


def _fold(x):
    """How many rows count as one in Numba's forms: 3 channels take a quarter of the time so."""
    fold, (rows, channels, _) = 1, x.shape
    if channels % _VECTOR:
        while rows % (2 * fold) == 0 and 2 * fold * channels <= _LONG:
            fold *= 2
    return fold


def _repeated(vector, fold):
    return np.ascontiguousarray(vector) if fold == 1 else np.concatenate([vector] * fold)


def _parts(x, fold):
    """Ranges of `fold` rows, for threads to share: by the size alone, as then the bits are."""
    n = len(x) // fold
    count = min(-(-x.size // _PART), n) if x.size >= _SHARED else 1
    edges = [n * i // count for i in range(count + 1)]
    return list(itertools.pairwise(edges))


def moments(x):
    """The mean and the variance of each channel of (outer, channels, inner)."""
    fast = _fast(x)
    if fast is not None:
        return _fast_moments(fast, x)
    blocks = _blocks(x)
    if len(blocks) == 1:
        n, mean, deviations = _of_block(x)
        return mean, deviations / x.dtype.type(n)
    count = 0
    mean, deviations = np.zeros(x.shape[1]), np.zeros(x.shape[1])
    for block in blocks:
        n, own_mean, own = _of_block(block)
        moved = own_mean - mean
        mean += moved * (n / (count + n))
        deviations += own + moved * moved * (count * n / (count + n))
        count += n
    return _rounded(mean, deviations, count, x.dtype)


def _of_block(x):
    """How many numbers a channel has, their mean, and the sum of their squared deviations."""
    n = x.shape[0] * x.shape[2]
    mean = _over(x) / x.dtype.type(n)
    centred = x - _spread(mean)
    missed = _over(centred) / x.dtype.type(n)  # of a large mean's last digits
    centred *= centred
    return n, mean + missed, _over(centred) - missed * missed * x.dtype.type(n)


def _rounded(mean, deviations, count, dtype):
    """Mean and variance; NaN of nothing."""
    variance = deviations / count if count else mean * np.nan
    return (mean if count else variance).astype(dtype), variance.astype(dtype)


def _fast_moments(fast, x):
    fold, channels = _fold(x), x.shape[1]
    parts, flat = _parts(x, fold), x.reshape(-1)
    found = np.empty((len(parts), 2, fold * channels))

    def work(i):
        fast.moments(flat, *parts[i], fold * channels, found[i, 0], found[i, 1])

    threads.run(work, range(len(parts)))
    if found.shape[0] == fold == 1:
        return _rounded(*found[0], len(x), x.dtype)
    counts = np.repeat([last - first for first, last in parts], fold).astype(float)
    means, deviations = (found[:, i].reshape(-1, channels) for i in (0, 1))
    mean = counts @ means / len(x)
    deviations = deviations.sum(0) + counts @ np.square(means - mean)
    return _rounded(mean, deviations, len(x), x.dtype)


def scaled(x, mean, factor, offset, relu=False, out=None):
    """(x - mean) * factor + offset, per channel; cut at 0 with `relu`."""
    y = np.empty_like(x) if out is None else out
    fast = _fast(x)
    if fast is not None:
        fold, flat, out = _fold(x), x.reshape(-1), y.reshape(-1)
        vectors = len(mean) * fold, *(_repeated(v, fold) for v in (mean, factor, offset))
        least = np.float32(0 if relu else -np.inf)
        parts = _parts(x, fold)[::-1]  # what was read last is still in the cache
        threads.run(lambda part: fast.scaled(flat, *part, *vectors, least, out), parts)
        return y
    for block, out in zip(_blocks(x), _blocks(y), strict=True):
        _normal(block, mean, factor, offset, out)
        if relu:
            np.maximum(out, zeros[x.dtype], out=out)
    return y


def _normal(x, mean, factor, offset, out=None):
    out = np.subtract(x, _spread(mean), out=out)
    np.multiply(out, _spread(factor), out=out)
    return np.add(out, _spread(offset), out=out)


@quiet
def batch_norm(x, gamma, beta, *, axis, epsilon, relu=False, out=None):
    """(y, mean, variance), and for the backward mean and 1 / sqrt(variance + epsilon).

    Args:
        relu: whether y is cut at 0.
        out: a contiguous array for y.
    """
    dtype = wide_enough(x.dtype)
    if dtype != x.dtype:
        wide = (a.astype(dtype) for a in (x, gamma, beta))
        wide, saved = batch_norm(*wide, axis=axis, epsilon=epsilon, relu=relu)
        return _narrowed(wide, x.dtype, out), saved
    x = np.ascontiguousarray(x)
    y = np.empty_like(x) if out is None else out
    x, flat = as_channels(x, axis), as_channels(y, axis)
    mean, variance = moments(x)
    rstd = 1 / np.sqrt(variance + np.asarray(epsilon, dtype))
    scaled(x, mean, gamma * rstd, np.ascontiguousarray(beta), relu, flat)
    # the backward's mean is its own: whoever gets the output may compute in its place
    return (y, mean.copy(), variance), (mean, rstd)


def _narrowed(arrays, dtype, out):
    """The arrays in `dtype`, the first of them in `out` where that is given."""
    first, *others = arrays
    if out is None:
        first = first.astype(dtype)
    else:
        out[...] = first
        first = out
    return (first, *(v.astype(dtype) for v in others))


@quiet
def batch_norm_back(
    g, g_mean, g_variance, x, gamma, mean, rstd, beta=None, *, axis, needed, out=None
):
    """The cotangents of x, gamma and beta, those in `needed`.

    Given `beta`, of a y that was cut at 0: where it was is computed again, which takes less time
    than to read it.

    Args:
        out: a contiguous array for x's cotangent, which may be g.
    """
    dtype = wide_enough(x.dtype)
    if dtype != x.dtype:
        args = (g, g_mean, g_variance, x, gamma, mean, rstd, beta)
        args = (a if a is None else a.astype(dtype) for a in args)
        return _narrowed(batch_norm_back(*args, axis=axis, needed=needed), x.dtype, out)
    d = np.empty(x.shape, dtype) if out is None and needed[0] else out
    x, g = (as_channels(np.ascontiguousarray(a), axis) for a in (x, g))
    mean, factor = np.ascontiguousarray(mean), gamma * rstd
    line = (mean, factor, None if beta is None else np.ascontiguousarray(beta))
    total, product = _sums(g, x, line)
    d_gamma = product * rstd
    if needed[0]:
        n = max(x.shape[0] * x.shape[2], 1)
        slope = (2 * g_variance - factor * d_gamma * rstd) / n
        level = (g_mean - factor * total) / n
        _input_cotangent(g, x, line, slope, level, as_channels(d, axis))
    return tuple(v for v, n in zip((d, d_gamma, total), needed, strict=True) if n)


def _fast_line(line, fold):
    """How long rows are, the vectors of `line`, and whether y was cut: what Numba's forms take."""
    mean, factor, beta = line
    vectors = (mean, factor, mean if beta is None else beta)
    return len(mean) * fold, *(_repeated(v, fold) for v in vectors), beta is not None


def _passed(g, x, line):
    """`g` where (x - mean) * factor + beta is positive; all of it where there is no beta."""
    return g if line[2] is None else g * np.greater(_normal(x, *line), zeros[x.dtype])


def _sums(g, x, line):
    """Per channel the sums of g and of g * (x - mean)."""
    fast, mean = _fast(x), line[0]
    if fast is not None:
        fold, arrays = _fold(x), (g.reshape(-1), x.reshape(-1))
        parts, line = _parts(x, fold), _fast_line(line, fold)
        found = np.empty((len(parts), 2, fold * len(mean)), np.float32)

        def work(i):
            fast.sums(*arrays, *parts[i], *line, found[i, 0], found[i, 1])

        threads.run(work, range(len(parts)))
        return tuple(found.reshape(len(parts), 2, fold, -1).sum(axis=(0, 2)))
    total, product = np.zeros_like(mean), np.zeros_like(mean)
    for block, other in zip(_blocks(g), _blocks(x), strict=True):
        passed = _passed(block, other, line)
        total += _over(passed)
        centred = other - _spread(mean)
        centred *= passed
        product += _over(centred)
    return total, product


def _input_cotangent(g, x, line, slope, level, d):
    """g * factor + (x - mean) * slope + level into d, which may be g."""
    fast, (mean, factor, _) = _fast(x), line
    if fast is not None:
        fold, flat, out = _fold(x), x.reshape(-1), d.reshape(-1)
        vectors = *_fast_line(line, fold), *(_repeated(v, fold) for v in (slope, level))
        parts = _parts(x, fold)[::-1]
        if np.may_share_memory(g, d):
            threads.run(lambda part: fast.change_cotangent(out, flat, *part, *vectors), parts)
        else:
            g = g.reshape(-1)
            threads.run(lambda part: fast.input_cotangent(g, flat, *part, *vectors, out), parts)
        return
    for block, other, out in zip(_blocks(g), _blocks(x), _blocks(d), strict=True):
        weighted = _passed(block, other, line) * _spread(factor)
        np.subtract(other, _spread(mean), out=out)
        np.multiply(out, _spread(slope), out=out)
        np.add(out, _spread(level), out=out)
        np.add(out, weighted, out=out)
