"""Batch normalization: statistics over all axes but one, the normalization, and its gradients.

Arrays of any rank are reshaped to (outer, channels, inner). Means and squared deviations of blocks
are combined as in Chan, Golub & LeVeque (1983), which reads memory once and is as accurate as two
passes over the data.
"""

import itertools
import math

import numpy as np

from framework.core.numpy_warnings import no_warnings
from framework.kernels import blas, blocks, threads, tier
from framework.kernels.choose import sixes, zeros
from framework.kernels.contiguous import contiguous
from framework.kernels.windows import wide_enough

_UFUNCS = 10  # Batch normalization costs about as much as this many ufuncs.
# Short rows are joined into rows of at most this many elements, because NumPy is slow with short
# inner loops.
_LONG_ROW = 2048
_FEW = 8  # BLAS sums at least this many rows faster than NumPy.
# The Numba kernels read rows one by one if their length is a multiple of _VECTOR. Otherwise they
# treat several short rows as one row of at most _LONG elements, which is faster.
_VECTOR = 16
_LONG = 256
_FAST = 2048  # The Numba kernels are used for at least this many elements.
_SHARED = 1 << 20  # Threads share the Numba kernels' work from this many elements on.
_PART = 1 << 18  # Each thread gets about this many elements.


def as_channels(x, axis):
    """Return `x` reshaped to (outer, channels, inner), where `axis` has the channels."""
    shape = x.shape
    return x.reshape(math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :]))


def _folded(x):
    """Join groups of rows, for longer inner loops in NumPy; return the array and the group size."""
    fold, (rows, channels, inner) = 1, x.shape
    while inner == 1 and x.size and rows % (2 * fold) == 0 and 2 * fold * channels <= _LONG_ROW:
        fold *= 2
    return x.reshape(rows // fold, fold * channels, inner), fold


def _by_blocks(work, x):
    """Return [work(slice), ...] for blocks of rows, which depend on the size of `x` alone."""
    step = max(blocks.size(x.size, _UFUNCS) // max(x.shape[1] * x.shape[2], 1), 1)
    parts = [slice(i, i + step) for i in range(0, len(x), step)]
    results = [None] * len(parts)

    def keep(i):
        results[i] = work(parts[i])

    # Limit BLAS to one thread, because its threads would compete with the package's threads.
    with blas.limited(1):
        if x.size * _UFUNCS < blocks.LEAST:
            for i in range(len(parts)):
                keep(i)
        else:
            threads.run(keep, range(len(parts)))
    return results


def _over(x):
    """Return the sum of `x` (outer, channels, inner) per channel."""
    if x.shape[2] > 1:
        return np.add.reduce(np.add.reduce(x, axis=2), axis=0)
    rows = x[:, :, 0]
    return np.add.reduce(rows, axis=0) if len(rows) < _FEW else np.ones(len(rows), x.dtype) @ rows


def _spread(vector):
    return vector[:, None]


def _fast(x):
    """Return the module of Numba kernels if they support (outer, channels, inner), else None."""
    if x.dtype == np.float32 and x.shape[2] == 1 and x.size >= _FAST:
        return tier.library("norm")
    return None


def _fold(x):
    """Return how many rows to pass to the Numba kernels as one; 4 times as fast for 3 channels."""
    fold, (rows, channels, _) = 1, x.shape
    if channels % _VECTOR:
        while rows % (2 * fold) == 0 and 2 * fold * channels <= _LONG:
            fold *= 2
    return fold


def _repeated(vector, fold):
    return np.ascontiguousarray(vector) if fold == 1 else np.concatenate([vector] * fold)


def _parts(x, fold):
    """Return ranges of the rows of `x`, where `fold` rows are joined into one.

    The ranges depend on the size of `x` only, so that equal inputs give bitwise equal sums.
    """
    n = len(x) // fold
    count = min(-(-x.size // _PART), n) if x.size >= _SHARED else 1
    edges = [n * i // count for i in range(count + 1)]
    return list(itertools.pairwise(edges))


def moments(x):
    """Return the mean and the variance of each channel of (outer, channels, inner)."""
    fast = _fast(x)
    if fast is not None:
        return _fast_moments(fast, x)
    wide, fold = _folded(x)
    of_blocks = _by_blocks(lambda at: _of_block(wide[at]), wide)
    counts = np.repeat([float(n) for n, *_ in of_blocks], fold)
    shape = len(counts), x.shape[1]
    vectors = [np.float64([f[i] for f in of_blocks]).reshape(shape) for i in (1, 2)]
    return _joined(counts, *vectors, x.dtype)


def _joined(counts, means, deviations, dtype):
    """Combine the statistics of parts into mean and variance; NaN without elements.

    Args:
        counts: the number of elements of each part.
        means, deviations: (part, channel): means, and sums of squared deviations.
    """
    count = counts.sum()
    mean = counts @ means / max(count, 1)
    return _rounded(mean, deviations.sum(0) + counts @ np.square(means - mean), count, dtype)


def _of_block(x):
    """Return each channel's number of elements, mean, and sum of squared deviations."""
    n = x.shape[0] * x.shape[2]
    mean = _over(x) / x.dtype.type(n)
    centred = x - _spread(mean)
    missed = _over(centred) / x.dtype.type(n)  # `missed` is the rounding error of the mean.
    centred *= centred
    return n, mean + missed, _over(centred) - missed * missed * x.dtype.type(n)


def _rounded(mean, deviations, count, dtype):
    """Return mean and variance in `dtype`; NaN without elements."""
    variance = deviations / count if count else mean * np.nan
    return (mean if count else variance).astype(dtype), variance.astype(dtype)


def _fast_moments(fast, x):
    fold, channels = _fold(x), x.shape[1]
    parts, flat = _parts(x, fold), x.reshape(-1)
    partial = np.empty((len(parts), 2, fold * channels))

    def work(i):
        fast.moments(flat, *parts[i], fold * channels, partial[i, 0], partial[i, 1])

    threads.run(work, range(len(parts)))
    if partial.shape[0] == fold == 1:
        return _rounded(*partial[0], len(x), x.dtype)
    counts = np.repeat([last - first for first, last in parts], fold).astype(float)
    means, deviations = (partial[:, i].reshape(-1, channels) for i in (0, 1))
    return _joined(counts, means, deviations, x.dtype)


def scaled(x, mean, factor, offset, relu=False, out=None):
    """Return (x - mean) * factor + offset, per channel; `relu` is True for ReLU, 6 for ReLU6."""
    y = np.empty_like(x) if out is None else out
    fast = _fast(x)
    if fast is not None:
        fold, flat, out = _fold(x), x.reshape(-1), y.reshape(-1)
        vectors = len(mean) * fold, *(_repeated(v, fold) for v in (mean, factor, offset))
        limits = np.float32(0 if relu else -np.inf), np.float32(6 if relu == 6 else np.inf)
        # Blocks run in reverse order, because the elements that `moments` has read last are still
        # in the cache.
        parts = _parts(x, fold)[::-1]
        threads.run(lambda part: fast.scaled(flat, *part, *vectors, *limits, out), parts)
        return y
    wide, fold = _folded(x)
    to, vectors = y.reshape(wide.shape), _wide_line((mean, factor, offset), fold)

    def work(at):
        out = to[at]
        _normal(wide[at], *vectors, out)
        # np.maximum(out, 0) takes 5 times as long.
        if relu:
            np.maximum(out, _shaped(zeros[x.dtype], out), out=out)
        if relu == 6:
            np.minimum(out, _shaped(sixes[x.dtype], out), out=out)

    _by_blocks(work, wide)
    return y


def _shaped(number, like):
    """Return an array of the shape of `like`, filled with a number (a 0-d array)."""
    scratch = blocks.full(number)
    if like.size > scratch.size:  # `like` may be longer than `scratch`, the cached array.
        return np.full(like.shape, number)
    return scratch[: like.size].reshape(like.shape)


def _normal(x, mean, factor, offset, out):
    np.subtract(x, mean, out=out)
    np.multiply(out, factor, out=out)
    np.add(out, offset, out=out)


@no_warnings
def batch_norm(x, gamma, beta, *, axis, epsilon, relu=False, out=None):
    """Return ((y, mean, variance), saved): the normalization, and what the backward pass needs.

    `saved` is the mean and 1 / sqrt(variance + epsilon).

    Args:
        relu: whether to apply ReLU to y; 6 for ReLU6.
        out: a contiguous array for y.
    """
    dtype = wide_enough(x.dtype)
    if dtype != x.dtype:
        wide = (a.astype(dtype) for a in (x, gamma, beta))
        wide, saved = batch_norm(*wide, axis=axis, epsilon=epsilon, relu=relu)
        return _narrowed(wide, x.dtype, out), saved
    x = contiguous(x)
    y = np.empty_like(x) if out is None else out
    x, flat = as_channels(x, axis), as_channels(y, axis)
    mean, variance = moments(x)
    rstd = 1 / np.sqrt(variance + np.asarray(epsilon, dtype))
    scaled(x, mean, gamma * rstd, np.ascontiguousarray(beta), relu, flat)
    # The mean is both saved and returned. Return a copy, because the caller may overwrite it.
    return (y, mean.copy(), variance), (mean, rstd)


def _narrowed(arrays, dtype, out):
    """Return the arrays converted to `dtype`; the first one in `out` unless `out` is None."""
    first, *others = arrays
    if out is None:
        first = first.astype(dtype)
    else:
        out[...] = first
        first = out
    return (first, *(v.astype(dtype) for v in others))


@no_warnings
def batch_norm_back(
    g, g_mean, g_variance, x, gamma, mean, rstd, beta=None, *, axis, needed, most=np.inf, out=None
):
    """Return the cotangents of x, gamma and beta that are needed.

    Args:
        beta: None without ReLU. With ReLU, y's sign is recomputed from it, which is faster than
            reading y.
        most: 6 for ReLU6.
        out: a contiguous array for x's cotangent, which may be g.
    """
    dtype = wide_enough(x.dtype)
    if dtype != x.dtype:
        args = (g, g_mean, g_variance, x, gamma, mean, rstd, beta)
        args = (a if a is None else a.astype(dtype) for a in args)
        return _narrowed(batch_norm_back(*args, axis=axis, needed=needed, most=most), x.dtype, out)
    d = np.empty(x.shape, dtype) if out is None and needed[0] else out
    x, g = (as_channels(contiguous(a), axis) for a in (x, g))
    mean, factor = np.ascontiguousarray(mean), gamma * rstd
    line = (mean, factor, None if beta is None else np.ascontiguousarray(beta), most)
    total, product = _sums(g, x, line)
    d_gamma = product * rstd
    if needed[0]:
        n = max(x.shape[0] * x.shape[2], 1)
        slope = (2 * g_variance - factor * d_gamma * rstd) / n
        level = (g_mean - factor * total) / n
        _input_cotangent(g, x, line, slope, level, as_channels(d, axis))
    return tuple(v for v, n in zip((d, d_gamma, total), needed, strict=True) if n)


def _fast_line(line, fold):
    """Return (row length, mean, factor, beta, whether ReLU applies, most) for the Numba kernels.

    Args:
        line: (mean, factor, beta, most), beta None without ReLU.
        fold: the number of rows that are joined into one.
    """
    mean, factor, beta, most = line
    vectors = (mean, factor, mean if beta is None else beta)
    return (
        len(mean) * fold,
        *(_repeated(v, fold) for v in vectors),
        beta is not None,
        np.float32(most),
    )


def _passed(g, centred, factor, beta, most):
    """Return `g` where 0 < centred * factor + beta < most, else 0; without beta, `g` itself."""
    if beta is None:
        return g
    normal = centred * factor
    np.add(normal, beta, out=normal)
    inside = np.greater(normal, zeros[g.dtype])
    if most < np.inf:
        np.logical_and(inside, np.less(normal, g.dtype.type(most)), out=inside)
    return np.multiply(g, inside, out=normal)


def _wide_line(line, fold):
    return [_spread(_repeated(v, fold)) if isinstance(v, np.ndarray) else v for v in line]


def _sums(g, x, line):
    """Return the sums of g and of g * (x - mean) per channel, for g after ReLU's backward pass."""
    fast, mean = _fast(x), line[0]
    if fast is not None:
        fold, arrays = _fold(x), (g.reshape(-1), x.reshape(-1))
        parts, line = _parts(x, fold), _fast_line(line, fold)
        partial = np.empty((len(parts), 2, fold * len(mean)), np.float32)

        def work(i):
            fast.sums(*arrays, *parts[i], *line, partial[i, 0], partial[i, 1])

        threads.run(work, range(len(parts)))
        return tuple(partial.reshape(len(parts), 2, fold, -1).sum(axis=(0, 2)))
    return _sums_by_blocks(g, x, line)


def _sums_by_blocks(g, x, line):
    wide, fold = _folded(x)
    g, (mean, *rest) = g.reshape(wide.shape), _wide_line(line, fold)

    def work(at):
        centred = wide[at] - mean
        passed = _passed(g[at], centred, *rest)
        total = _over(passed)
        centred *= passed
        return total, _over(centred)

    partial = _by_blocks(work, wide)
    sums = np.array(partial, x.dtype).reshape(len(partial), 2, fold, x.shape[1])
    return tuple(sums.sum(axis=(0, 2)))


def _input_cotangent(g, x, line, slope, level, d):
    """Write g * factor + (x - mean) * slope + level to d, which may be g itself."""
    fast, (mean, factor, *_) = _fast(x), line
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
    wide, fold = _folded(x)
    g, d = g.reshape(wide.shape), d.reshape(wide.shape)
    mean, factor, *limits = _wide_line(line, fold)
    slope, level = (_spread(_repeated(v, fold)) for v in (slope, level))

    def work(at):
        centred = wide[at] - mean
        passed = _passed(g[at], centred, factor, *limits)
        np.multiply(passed, factor, out=d[at])
        centred *= slope
        centred += level
        np.add(d[at], centred, out=d[at])

    _by_blocks(work, wide)
