"""Batch normalisation: statistics over all axes but one, and what they normalise.

Arrays are seen as (outer, channels, inner), whatever their rank. Sums go by blocks, whose means
and squared deviations are joined as Chan, Golub & LeVeque (1983) do: as accurate as two passes over
the data, in one pass over memory.
"""

import math

import numpy as np

from framework.core.quiet import quiet
from framework.kernels.windows import wide_enough

_BLOCK = 1 << 15  # elements: a block stays in the cache between its mean and its deviations


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
    rows = x[:, :, 0]  # NumPy adds rows one after another: in groups the errors stay small
    group = math.isqrt(len(rows))
    if group < 4:
        return np.add.reduce(rows, axis=0)
    whole = len(rows) // group * group
    parts = np.add.reduce(rows[:whole].reshape(-1, group, rows.shape[1]), axis=1)
    return np.add.reduce(parts, axis=0) + np.add.reduce(rows[whole:], axis=0)


def _spread(vector):
    return vector[:, None]


def moments(x):
    """The mean and the variance of each channel of (outer, channels, inner)."""
    count = 0
    mean = np.zeros(x.shape[1], x.dtype)
    deviations = np.zeros(x.shape[1], x.dtype)
    for block in _blocks(x):
        n = block.shape[0] * block.shape[2]
        block_mean = _over(block) / n
        centred = block - _spread(block_mean)
        missed = _over(centred) / n  # of a large mean's last digits
        centred *= centred
        moved = (block_mean - mean) + missed
        mean += moved * (n / (count + n))
        deviations += (
            _over(centred) - missed * missed * n + moved * moved * (count * n / (count + n))
        )
        count += n
    if not count:
        return mean * np.nan, mean * np.nan
    return mean, deviations / count


def scaled(x, factor, offset):
    """x * factor + offset, per channel."""
    y = np.empty_like(x)
    for block, out in zip(_blocks(x), _blocks(y), strict=True):
        np.multiply(block, _spread(factor), out=out)
        np.add(out, _spread(offset), out=out)
    return y


@quiet
def batch_norm(x, gamma, beta, *, axis, epsilon):
    """(y, mean, variance), and for the backward mean and 1 / sqrt(variance + epsilon)."""
    dtype = wide_enough(x.dtype)
    if dtype != x.dtype:
        wide = batch_norm(*(a.astype(dtype) for a in (x, gamma, beta)), axis=axis, epsilon=epsilon)
        return tuple(v.astype(x.dtype) for v in wide[0]), wide[1]
    shape = x.shape
    x = as_channels(np.ascontiguousarray(x), axis)
    mean, variance = moments(x)
    rstd = 1 / np.sqrt(variance + np.asarray(epsilon, dtype))
    factor = gamma * rstd
    y = scaled(x, factor, beta - mean * factor)
    return (y.reshape(shape), mean, variance), (mean, rstd)


@quiet
def batch_norm_back(g, g_mean, g_variance, x, gamma, mean, rstd, *, axis, needed):
    """The cotangents of x, gamma and beta, those in `needed`."""
    dtype = wide_enough(x.dtype)
    if dtype != x.dtype:
        args = (a.astype(dtype) for a in (g, g_mean, g_variance, x, gamma, mean, rstd))
        found = batch_norm_back(*args, axis=axis, needed=needed)
        return tuple(v.astype(x.dtype) for v in found)
    shape = x.shape
    x, g = (as_channels(np.ascontiguousarray(a), axis) for a in (x, g))
    total, product = _sums(g, x, mean)
    d_gamma = product * rstd
    made = ()
    if needed[0]:
        n = max(x.shape[0] * x.shape[2], 1)
        factor = gamma * rstd
        slope = (2 * g_variance - factor * d_gamma * rstd) / n
        offset = (g_mean - factor * total) / n
        made = (_input_cotangent(g, x, mean, factor, slope, offset).reshape(shape),)
    return (*made, *(v for v, n in zip((d_gamma, total), needed[1:], strict=True) if n))


def _sums(g, x, mean):
    """Per channel the sums of g and of g * (x - mean)."""
    total, product = np.zeros_like(mean), np.zeros_like(mean)
    for block, other in zip(_blocks(g), _blocks(x), strict=True):
        total += _over(block)
        centred = other - _spread(mean)
        centred *= block
        product += _over(centred)
    return total, product


def _input_cotangent(g, x, mean, factor, slope, offset):
    """g * factor + (x - mean) * slope + offset."""
    d = np.empty_like(x)
    for block, other, out in zip(_blocks(g), _blocks(x), _blocks(d), strict=True):
        np.subtract(other, _spread(mean), out=out)
        np.multiply(out, _spread(slope), out=out)
        np.add(out, _spread(offset), out=out)
        np.add(out, block * _spread(factor), out=out)
    return d
