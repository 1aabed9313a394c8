"""Dot-product attention: softmax(scale * q k^T + bias, masked) v, and its gradients.

Queries are (batch, length, heads, width); keys and values have the same layout and their own
length. Scores are computed for a block of rows at a time, and recomputed in the backward pass. Only
the maximum and the sum of each row are saved, so memory grows with the length and not with its
square (Rabe & Staats 2021, arXiv:2112.05682; Dao et al. 2022, arXiv:2205.14135).

A masked position has the score `lowest`, as in Keras, so a row in which all positions are masked
gives the mean of all values.
"""

import functools
import math

import numpy as np

from framework.kernels import blas, threads, tier
from framework.kernels.kernel_task import KernelTask, bits

_FAST = 1 << 13  # The Numba kernel is used if q k^T takes at least this many multiplications.
# estimated times, in seconds: per score, and per multiplication of q k^T
_OF_SCORE, _OF_PRODUCT = 2e-9, 1e-11
_SHARED = 1 << 22  # NumPy uses several threads if q k^T takes at least this many multiplications.
_BLOCK = 1 << 17  # A block has this many scores: 512 KB of float32, which stay in the cache.
# Causal attention skips the scores of later keys block by block, so blocks have at most this many
# rows.
_CAUSAL_ROWS = 64
# If all scores are at most this large, exp cannot overflow without subtracting the row's maximum.
_SMALL = 20.0
_FLOAT = np.dtype(np.float32)
NO_BIAS, NO_MASK = np.empty(0, np.float32), np.empty(0, np.bool_)


def lowest(dtype):
    """Return the score of a masked position, finite so that no difference of scores is NaN."""
    return -0.7 * np.finfo(dtype).max


def forward(q, k, v, bias, mask, *, scale, causal):
    """Return the result (batch, length, heads, width of v), and each row's maximum and sum."""
    if is_fast(q, k, v, bias):
        return _forward_by_units(q, k, v, bias, mask, scale, causal)
    dtype = q.dtype
    q, k, v, bias = (_wide(x) for x in (q, k, v, bias))
    batch, length, heads, _ = q.shape
    out = np.empty((batch, length, heads, v.shape[-1]), q.dtype)
    high = np.zeros((batch, heads, length), q.dtype)
    total = np.ones_like(high)
    if not k.shape[1]:
        out[...] = 0
        return out.astype(dtype, copy=False), (high, total)
    q, k, v, o = (x.swapaxes(1, 2) for x in (q, k, v, out))
    ones = np.ones(k.shape[2], q.dtype)

    def work(parts):
        for part, keys in parts:
            scores = functools.partial(_scores, q, k, bias, mask, part, keys, scale, causal)
            e = _small_exponentials(scores(), ones[:keys], total[part])
            if e is None:
                e = scores()
                high[part] = np.maximum.reduce(e, axis=-1)
                e -= high[part][..., None]
                np.exp(e, out=e)
                # A product with ones by np.matmul, for the row sums, is 7 times as fast as np.sum.
                total[part] = np.matmul(e, ones[:keys])
            np.divide(e @ v[(*part[:2], slice(keys))], total[part][..., None], out=o[part])

    _share(
        work, _parts(batch, heads, length, k.shape[2], causal and mask is None), q.size * k.shape[2]
    )
    return out.astype(dtype, copy=False), (high, total)


def _small_exponentials(scores, ones, total):
    """Compute exp of scores in place, and row sums in `total`; return None if exp may overflow.

    Finding the row maxima, to subtract them first, would take longer than exp.
    """
    # `not <=` is also true if there is a NaN, `>` would not be.
    if not np.maximum.reduce(scores, axis=None) <= _SMALL:
        return None
    np.exp(scores, out=scores)
    np.matmul(scores, ones, out=total)
    if not np.minimum.reduce(total, axis=None) >= math.exp(-_SMALL):
        return None
    return scores


def backward(g, q, k, v, bias, mask, out, high, total, *, scale, causal, needed):
    """Return the gradients of q, k, v and bias that are needed, in order."""
    if any(needed) and not needed[3] and is_fast(q, k, v, bias):
        gradients = _backward_by_units(g, q, k, v, bias, mask, out, high, total, scale, causal)
        return tuple(x for x, n in zip(gradients, needed) if n)
    dtype = q.dtype
    g, q, k, v, bias, out = (_wide(x) for x in (g, q, k, v, bias, out))
    batch, length, heads, _ = q.shape
    skips = causal and mask is None
    # If no block skips keys, the first block of rows covers all keys and overwrites the gradients,
    # so they need not be zeroed first.
    once = not skips and length > 0
    empty = np.empty_like if once else np.zeros_like
    d_q, d_k, d_v = np.empty_like(q, order="C"), empty(k, order="C"), empty(v, order="C")
    d_bias = np.zeros_like(bias) if needed[3] else None
    g, q, k, v, out, to_q, to_k, to_v = (x.swapaxes(1, 2) for x in (g, q, k, v, out, d_q, d_k, d_v))

    def work(parts):
        for part, keys in parts:
            upto, first = (*part[:2], slice(keys)), once and part[2].start == 0
            e = _scores(q, k, bias, mask, part, keys, scale, causal)
            if high[part].any():
                e -= high[part][..., None]
            np.exp(e, out=e)
            scaled = g[part] / total[part][..., None]
            if needed[2]:
                _put(to_v[upto], e, scaled, first)
            if not (needed[0] or needed[1] or needed[3]):
                continue
            d = _products(scaled, v[upto])
            d -= np.vecdot(scaled, out[part])[..., None]
            d *= e
            _stop(d, high[part], mask)
            if needed[3]:
                _add_to(d_bias, d, part, keys)
            d *= scale
            if needed[0]:
                to_q[part] = d @ k[upto]
            if needed[1]:
                _put(to_k[upto], d, q[part], first)

    groups = _parts(batch, heads, length, k.shape[2], skips)
    # Blocks may add to the same elements of the bias gradient, so one thread computes all blocks.
    if needed[3]:
        groups = [[part for parts in groups for part in parts]]
    _share(work, groups, q.size * k.shape[2])
    gradients = (d_q, d_k, d_v, d_bias)
    return tuple(x.astype(dtype, copy=False) for x, n in zip(gradients, needed) if n)


def _put(to, a, b, first):
    """Write the matrix product a^T b to `to` if `first`, else add it to `to`."""
    if first:
        np.matmul(a.swapaxes(-1, -2), b, out=to)
    else:
        to += a.swapaxes(-1, -2) @ b


def _share(work, groups, products):
    """Call `work(blocks)` for each list of blocks in `groups`, on threads if that is faster."""
    if len(groups) == 1 or products < _SHARED:
        for parts in groups:
            work(parts)
        return
    with blas.limited(1):
        threads.run(work, groups)


def _wide(x):
    """Return 16-bit floats as float32, so that only the final result is rounded to 16 bits."""
    return x.astype(np.float32) if x is not None and x.dtype.itemsize == 2 else x


def _parts(batch, heads, length, keys, skips_later):
    """Return lists of blocks: (index into the axes batch, heads, length; number of keys needed).

    Different lists have different heads or examples, so threads can run the lists in parallel. The
    blocks depend on the sizes alone.
    """
    rows = max(1, min(length, _BLOCK // max(keys, 1)))
    together = max(1, min(heads, _BLOCK // (rows * max(keys, 1))))
    many = max(1, _BLOCK // (heads * rows * max(keys, 1))) if together == heads else 1
    if skips_later:
        rows = min(rows, _CAUSAL_ROWS)
    some = [slice(row, min(row + rows, length)) for row in range(0, length, rows)]
    needs = [min(keys, part.stop) if skips_later else keys for part in some]
    return [
        [
            ((slice(i, i + many), slice(j, j + together), part), need)
            for part, need in zip(some, needs, strict=True)
        ]
        for i in range(0, batch, many)
        for j in range(0, heads, together)
    ]


def _scores(q, k, bias, mask, part, keys, scale, causal):
    """Return the scores of one block, (batch, heads, rows, keys), `lowest` where masked."""
    s = _products(q[part] * q.dtype.type(scale), k[(*part[:2], slice(keys))])
    if bias is not None:
        s += _cut(bias, part, keys)
    if mask is not None:
        np.copyto(s, lowest(s.dtype), where=~_cut(mask, part, keys))
    if causal:
        rows = part[2]
        later = np.arange(keys) > np.arange(rows.start, rows.stop)[:, None]
        np.copyto(s, lowest(s.dtype), where=later)
    return s


def _products(rows, columns):
    """Return rows @ columns^T in column-major order, in which row maxima are twice as fast."""
    return (columns @ rows.swapaxes(-1, -2)).swapaxes(-1, -2)


def _cut(x, part, keys):
    """Return the slice of a bias or mask `x` that applies to the scores of one block."""
    return x[_index(x, part, keys)]


def _index(x, part, keys):
    wanted = (*part, slice(keys))
    return tuple(i if n > 1 else slice(None) for i, n in zip(wanted, x.shape, strict=True))


def _stop(d, high, mask):
    """Set the gradient `d` of the scores to 0 in rows whose positions are all masked."""
    if mask is not None:
        closed = high <= lowest(high.dtype)
        if closed.any():
            d[closed] = 0


def _add_to(d_bias, d, part, keys):
    index = _index(d_bias, part, keys)
    axes = tuple(i for i, n in enumerate(d_bias.shape) if n == 1)
    d_bias[index] += np.add.reduce(d, axis=axes, keepdims=True)


# ---- Numba kernels -------------------------------------------------------------------------------


def is_fast(q, k, v, bias):
    """Return whether the Numba kernel is used, for arrays or objects with shape, size and dtype."""
    if q.size * k.shape[1] < _FAST or not v.size or not q.dtype == k.dtype == v.dtype == _FLOAT:
        return False
    if bias is not None and bias.dtype != _FLOAT:
        return False
    return tier.library("attention") is not None


def task(name, q, k, v, bias, mask, scale, causal):
    """Return the KernelTask "forward" or "backward" for arrays of these sizes."""
    batch, length, heads, width = q.shape
    keys, wide = k.shape[1], v.shape[3]
    spread = [0 if x is None else x.size for x in (bias, mask)]
    strides = *_strides(bias), *_strides(mask)
    numbers = heads, length, keys, width, wide, *spread, *strides, bits(scale), int(causal)
    scores = batch * heads * length * keys
    products = {"forward": width + wide, "backward": 3 * width + 2 * wide}[name]
    work = scores * (_OF_SCORE + products * _OF_PRODUCT)
    return KernelTask("attention", name, numbers, batch * heads, 1, work)


def _strides(x):
    """Return the strides in elements with which contiguous `x` broadcasts to the scores."""
    if x is None:
        return (0, 0, 0, 0)
    return [0 if n == 1 else math.prod(x.shape[i + 1 :]) for i, n in enumerate(x.shape)]


def spread(bias, mask):
    """Return bias and mask as a task expects them: contiguous, with an empty array for None."""
    bias = NO_BIAS if bias is None else np.ascontiguousarray(bias)
    mask = NO_MASK if mask is None else np.ascontiguousarray(mask, np.bool_)
    return bias, mask


def _forward_by_units(q, k, v, bias, mask, scale, causal):
    batch, length, heads, _ = q.shape
    out = np.empty((batch, length, heads, v.shape[-1]), np.float32)
    high = np.empty((batch, heads, length), np.float32)
    total = np.empty_like(high)
    work = task("forward", q, k, v, bias, mask, scale, causal)
    work(*map(np.ascontiguousarray, (q, k, v)), *spread(bias, mask), out, high, total)
    return out, (high, total)


def _backward_by_units(g, q, k, v, bias, mask, out, high, total, scale, causal):
    gradients = [np.empty(x.shape, np.float32) for x in (q, k, v)]
    work = task("backward", q, k, v, bias, mask, scale, causal)
    given = map(np.ascontiguousarray, (g, q, k, v))
    work(*given, *spread(bias, mask), *map(np.ascontiguousarray, (out, high, total)), *gradients)
    return gradients
