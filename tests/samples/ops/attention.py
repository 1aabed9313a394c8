"""Samples and references of attention, computed row by row."""

import numpy as np
from scipy import special

from tests.samples.ops.arguments import booleans, call, real


def _weights(q, k, bias, mask, scale, causal):
    """The probabilities (batch, heads, rows, keys), and where the scores are as computed."""
    scores = np.einsum("bthd,bshd->bhts", q, k) * scale
    scores = scores if bias is None else scores + bias
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    if causal:
        seen = seen & np.tri(*scores.shape[2:], dtype=bool)
    p = special.softmax(np.where(seen, scores, -1e300), axis=-1)
    return p, seen


def _attention(q, k, v, bias, mask, scale, causal):
    p, _ = _weights(q, k, bias, mask, scale, causal)
    return np.einsum("bhts,bshd->bthd", p, v)


def _attention_back(g, q, k, v, bias, mask, out, high, total, scale, causal, needed):
    p, seen = _weights(q, k, bias, mask, scale, causal)
    d_p = np.einsum("bthd,bshd->bhts", g, v)
    d = p * (d_p - (p * d_p).sum(-1, keepdims=True)) * seen
    found = [
        np.einsum("bhts,bshd->bthd", d, k) * scale,
        np.einsum("bhts,bthd->bshd", d, q) * scale,
        np.einsum("bhts,bthd->bshd", p, g),
    ]
    if bias is not None:
        axes = tuple(i for i, n in enumerate(bias.shape) if n == 1)
        found.append(d.sum(axes, keepdims=True))
    return tuple(v for v, n in zip(found, needed) if n)


def _inputs(batch, rows, keys, heads=2, width=3, out=4):
    return [real(batch, n, heads, w) for n, w in ((rows, width), (keys, width), (keys, out))]


def _some(*shape):
    """Booleans with a row of nothing but False, where there are rows."""
    mask = booleans(*shape)
    mask[:1, ..., :1, :] = False
    return mask


def _back(batch, rows, keys, bias, mask, causal, needed):
    q, k, v = _inputs(batch, rows, keys)
    scale = 0.6
    out = _attention(q, k, v, bias, mask, scale, causal)
    scores = np.einsum("bthd,bshd->bhts", q, k) * scale
    scores = scores if bias is None else scores + bias
    low = -0.7 * np.finfo(float).max
    scores = scores if mask is None else np.where(mask, scores, low)
    scores = np.where(np.tri(rows, keys, dtype=bool), scores, low) if causal else scores
    high = scores.max(-1)
    total = np.exp(scores - high[..., None]).sum(-1)
    g = real(*out.shape)
    return call(g, q, k, v, bias, mask, out, high, total, scale=scale, causal=causal, needed=needed,
               any_batch=False, other_floats="float32" if mask is None else "")  # fmt: skip


_BATCHED = (0, 1, 2)

SAMPLES = {
    "attention": [
        call(*_inputs(2, 3, 5), None, None, scale=0.6, causal=False, any_batch=_BATCHED),
        call(*_inputs(2, 4, 4), None, None, scale=0.6, causal=True, any_batch=_BATCHED),
        call(*_inputs(2, 3, 5), real(1, 2, 3, 5), None, scale=0.6, causal=False,
            any_batch=_BATCHED),
        call(*_inputs(2, 3, 5), real(2, 1, 1, 5), _some(2, 1, 3, 5), scale=0.6, causal=False,
            any_batch=(0, 1, 2, 3, 4)),
        call(*_inputs(2, 5, 3), None, _some(2, 2, 5, 3), scale=0.6, causal=True,
            any_batch=(0, 1, 2, 4)),
        call(*_inputs(0, 3, 5), None, None, scale=0.6, causal=False, any_batch=_BATCHED),
    ],
    "attention_back": [
        _back(2, 3, 5, None, None, False, (True, True, True, False)),
        _back(2, 4, 4, None, None, True, (True, False, True, False)),
        _back(2, 3, 5, real(1, 2, 1, 5), _some(2, 1, 3, 5), False, (True,) * 4),
        _back(2, 3, 5, real(2, 1, 3, 1), None, False, (False, True, False, True)),
        _back(2, 5, 3, None, _some(1, 2, 5, 3), True, (True, True, True, False)),
        _back(0, 3, 5, None, None, False, (False, False, True, False)),
    ],
}  # fmt: skip

REFERENCES = {"attention": _attention, "attention_back": _attention_back}
