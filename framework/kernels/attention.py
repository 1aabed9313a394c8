"""Dot-product attention: softmax(scale * q k^T + bias, masked) v, and its gradients.

Queries are (batch, length, heads, width), keys and values alike with a length of their own. The
scores are made for some rows at a time and made again in the backward pass: what is kept of them
is each row's maximum and sum, so that memory grows with the length and not with its square
(Rabe & Staats 2021, arXiv:2112.05682; Dao et al. 2022, arXiv:2205.14135).

A position that a mask forbids has the score `lowest`, as in Keras: a row without any allowed
position is the mean over all.
"""

import numpy as np

_BLOCK = 2**18  # scores at a time: 1 MB of float32, so that they stay in the cache
_CAUSAL_ROWS = 64  # rows at a time where later keys need no scores


def lowest(dtype):
    """The score of a forbidden position: finite, so that no difference of two is NaN."""
    return -0.7 * np.finfo(dtype).max


def forward(q, k, v, bias, mask, *, scale, causal):
    """The output (batch, length, heads, width of v), and each row's maximum and sum."""
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
    for part, keys in _parts(batch, heads, length, k.shape[2], causal and mask is None):
        e = _scores(q, k, bias, mask, part, keys, scale, causal)
        high[part] = np.maximum.reduce(e, axis=-1)
        e -= high[part][..., None]
        np.exp(e, out=e)
        total[part] = np.add.reduce(e, axis=-1)
        o[part] = e @ v[part[0], :, :keys]
        o[part] /= total[part][..., None]
    return out.astype(dtype, copy=False), (high, total)


def backward(g, q, k, v, bias, mask, out, high, total, *, scale, causal, needed):
    """The gradients of those of q, k, v and bias that are needed, in order."""
    dtype = q.dtype
    g, q, k, v, bias, out = (_wide(x) for x in (g, q, k, v, bias, out))
    d_q, d_k, d_v = (np.zeros_like(x, order="C") for x in (q, k, v))
    d_bias = np.zeros_like(bias) if needed[3] else None
    g, q, k, v, out, to_q, to_k, to_v = (x.swapaxes(1, 2) for x in (g, q, k, v, out, d_q, d_k, d_v))
    batch, heads, length, _ = q.shape
    for part, keys in _parts(batch, heads, length, k.shape[2], causal and mask is None):
        upto = part[0], slice(None), slice(keys)
        e = _scores(q, k, bias, mask, part, keys, scale, causal)
        e -= high[part][..., None]
        np.exp(e, out=e)
        scaled = g[part] / total[part][..., None]
        if needed[2]:
            to_v[upto] += e.swapaxes(-1, -2) @ scaled
        if not (needed[0] or needed[1] or needed[3]):
            continue
        d = scaled @ v[upto].swapaxes(-1, -2)
        d -= np.add.reduce(scaled * out[part], axis=-1, keepdims=True)
        d *= e
        _stop(d, high[part], mask)
        if needed[3]:
            _add_to(d_bias, d, part, keys)
        d *= scale
        if needed[0]:
            to_q[part] = d @ k[upto]
        if needed[1]:
            to_k[upto] += d.swapaxes(-1, -2) @ q[part]
    made = (d_q, d_k, d_v, d_bias)
    return tuple(x.astype(dtype, copy=False) for x, n in zip(made, needed) if n)


def _wide(x):
    """16-bit floats are computed with as float32 and rounded once."""
    return x.astype(np.float32) if x is not None and x.dtype.itemsize == 2 else x


def _parts(batch, heads, length, keys, skips_later):
    """Indices of rows in (batch, heads, length), and how many keys their scores need."""
    rows = max(1, min(length, _BLOCK // max(heads * keys, 1)))
    if skips_later:
        rows = min(rows, _CAUSAL_ROWS)
    many = max(1, _BLOCK // max(heads * rows * keys, 1)) if rows >= length else 1
    for first in range(0, batch, many):
        for row in range(0, length, rows):
            end = min(row + rows, length)
            part = slice(first, first + many), slice(None), slice(row, end)
            yield part, min(keys, end) if skips_later else keys


def _scores(q, k, bias, mask, part, keys, scale, causal):
    """The masked scores of some rows: (batch, heads, rows, keys)."""
    s = (q[part] * q.dtype.type(scale)) @ k[part[0], :, :keys].swapaxes(-1, -2)
    if bias is not None:
        s += _cut(bias, part, keys)
    if mask is not None:
        np.copyto(s, lowest(s.dtype), where=~_cut(mask, part, keys))
    if causal:
        rows = part[2]
        later = np.arange(keys) > np.arange(rows.start, rows.stop)[:, None]
        np.copyto(s, lowest(s.dtype), where=later)
    return s


def _cut(x, part, keys):
    """Of an array that broadcasts to the scores the piece that does to those of `part`."""
    return x[_index(x, part, keys)]


def _index(x, part, keys):
    wanted = (*part, slice(keys))
    return tuple(i if n > 1 else slice(None) for i, n in zip(wanted, x.shape, strict=True))


def _stop(d, high, mask):
    """No gradient reaches the scores of rows that are forbidden altogether."""
    if mask is not None:
        closed = high <= lowest(high.dtype)
        if closed.any():
            d[closed] = 0


def _add_to(d_bias, d, part, keys):
    index = _index(d_bias, part, keys)
    axes = tuple(i for i, n in enumerate(d_bias.shape) if n == 1)
    d_bias[index] += np.add.reduce(d, axis=axes, keepdims=True)
