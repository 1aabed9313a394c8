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


def _parts(x):
    """Ranges of rows, for threads to share: by the size alone, as then the bits are."""
    n = len(x)
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
    parts = _parts(x)
    found = np.empty((len(parts), 2, x.shape[1]))
    flat, channels = x.reshape(-1), x.shape[1]

    def work(i):
        fast.moments(flat, *parts[i], channels, found[i, 0], found[i, 1])

    threads.run(work, range(len(parts)))
    if len(parts) == 1:
        return _rounded(*found[0], len(x), x.dtype)
    counts = np.array([last - first for first, last in parts], float)
    means, deviations = found[:, 0], found[:, 1]
    mean = counts @ means / len(x)
    deviations = deviations.sum(0) + counts @ np.square(means - mean)
    return _rounded(mean, deviations, len(x), x.dtype)


def scaled(x, mean, factor, offset, relu=False):
    """(x - mean) * factor + offset, per channel; cut at 0 with `relu`."""
    y = np.empty_like(x)
    fast = _fast(x)
    if fast is not None:
        flat, out, vectors = x.reshape(-1), y.reshape(-1), (mean, factor, offset)
        least = np.float32(0 if relu else -np.inf)
        # what was read last is still in the cache
        parts, channels = _parts(x)[::-1], len(mean)
        threads.run(lambda part: fast.scaled(flat, *part, channels, *vectors, least, out), parts)
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
def batch_norm(x, gamma, beta, *, axis, epsilon, relu=False):
    """(y, mean, variance), and for the backward mean and 1 / sqrt(variance + epsilon).

    With `relu`, y is cut at 0.
    """
    dtype = wide_enough(x.dtype)
    if dtype != x.dtype:
        wide = (a.astype(dtype) for a in (x, gamma, beta))
        wide = batch_norm(*wide, axis=axis, epsilon=epsilon, relu=relu)
        return tuple(v.astype(x.dtype) for v in wide[0]), wide[1]
    shape = x.shape
    x = as_channels(np.ascontiguousarray(x), axis)
    mean, variance = moments(x)
    rstd = 1 / np.sqrt(variance + np.asarray(epsilon, dtype))
    y = scaled(x, mean, gamma * rstd, np.ascontiguousarray(beta), relu)
    # the backward's mean is its own: whoever gets the output may compute in its place
    return (y.reshape(shape), mean.copy(), variance), (mean, rstd)


@quiet
def batch_norm_back(g, g_mean, g_variance, x, gamma, mean, rstd, beta=None, *, axis, needed):
    """The cotangents of x, gamma and beta, those in `needed`.

    Given `beta`, of a y that was cut at 0: where it was is computed again, which takes less time
    than to read it.
    """
    dtype = wide_enough(x.dtype)
    if dtype != x.dtype:
        args = (g, g_mean, g_variance, x, gamma, mean, rstd, beta)
        args = (a if a is None else a.astype(dtype) for a in args)
        found = batch_norm_back(*args, axis=axis, needed=needed)
        return tuple(v.astype(x.dtype) for v in found)
    shape = x.shape
    x, g = (as_channels(np.ascontiguousarray(a), axis) for a in (x, g))
    mean, factor = np.ascontiguousarray(mean), gamma * rstd
    line = (mean, factor, None if beta is None else np.ascontiguousarray(beta))
    total, product = _sums(g, x, line)
    d_gamma = product * rstd
    made = ()
    if needed[0]:
        n = max(x.shape[0] * x.shape[2], 1)
        slope = (2 * g_variance - factor * d_gamma * rstd) / n
        level = (g_mean - factor * total) / n
        made = (_input_cotangent(g, x, line, slope, level).reshape(shape),)
    return (*made, *(v for v, n in zip((d_gamma, total), needed[1:], strict=True) if n))


def _fast_line(line):
    """The vectors of `line`, and whether y was cut, as Numba's forms take them."""
    mean, factor, beta = line
    return mean, factor, mean if beta is None else beta, beta is not None


def _passed(g, x, line):
    """`g` where (x - mean) * factor + beta is positive; all of it where there is no beta."""
    return g if line[2] is None else g * np.greater(_normal(x, *line), zeros[x.dtype])


def _sums(g, x, line):
    """Per channel the sums of g and of g * (x - mean)."""
    fast, mean = _fast(x), line[0]
    if fast is not None:
        parts, channels = _parts(x), len(mean)
        found = np.empty((len(parts), 2, channels), np.float32)
        arrays, line = (g.reshape(-1), x.reshape(-1)), _fast_line(line)

        def work(i):
            fast.sums(*arrays, *parts[i], channels, *line, found[i, 0], found[i, 1])

        threads.run(work, range(len(parts)))
        return tuple(found.sum(axis=0))
    total, product = np.zeros_like(mean), np.zeros_like(mean)
    for block, other in zip(_blocks(g), _blocks(x), strict=True):
        passed = _passed(block, other, line)
        total += _over(passed)
        centred = other - _spread(mean)
        centred *= passed
        product += _over(centred)
    return total, product


def _input_cotangent(g, x, line, slope, level):
    """g * factor + (x - mean) * slope + level."""
    d = np.empty_like(x)
    fast, (mean, factor, _) = _fast(x), line
    if fast is not None:
        arrays, out, parts = (g.reshape(-1), x.reshape(-1)), d.reshape(-1), _parts(x)[::-1]
        vectors = len(mean), *_fast_line(line), slope, level
        threads.run(lambda part: fast.input_cotangent(*arrays, *part, *vectors, out), parts)
        return d
    for block, other, out in zip(_blocks(g), _blocks(x), _blocks(d), strict=True):
        passed = _passed(block, other, line)
        np.subtract(other, _spread(mean), out=out)
        np.multiply(out, _spread(slope), out=out)
        np.add(out, _spread(level), out=out)
        np.add(out, passed * _spread(factor), out=out)
    return d
