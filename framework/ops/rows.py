"""Ops along rows: softmax and the cross-entropies. `axis` is one non-negative axis.

The cross-entropies hand what the forward has computed to a joint backward; where an outer tape
listens, their composites stand in.
"""

import numpy as np

from framework.core.op import Op, first_order_only
from framework.core.quiet import quiet
from framework.ops.elementwise import exp, negative
from framework.ops.movement import expand_axes, getitem, take_along_axis
from framework.ops.reduction import reduce_sum


def _like_input(x, **_):
    return x.shape, x.dtype


def _exponentials(x, axis):
    """exp(x - max(x)) and x - max(x)."""
    shifted = x - np.maximum.reduce(x, axis=axis, keepdims=True)
    return np.exp(shifted), shifted


def _is_half(x):
    return x.dtype.itemsize == 2 and x.dtype.kind in "fV"


@quiet
def _softmax(x, *, axis):
    if _is_half(x):  # in float32, rounded once
        return _softmax(x.astype(np.float32), axis=axis).astype(x.dtype)
    e, _ = _exponentials(x, axis)
    e /= np.add.reduce(e, axis=axis, keepdims=True)
    return e


def _softmax_vjp(g, y, axis):
    return y * (g - reduce_sum(g * y, axis=(axis,), keepdims=True))


softmax = Op("softmax", _softmax, _softmax_vjp, infer=_like_input)


@quiet
def _log_softmax(x, *, axis):
    if _is_half(x):
        return _log_softmax(x.astype(np.float32), axis=axis).astype(x.dtype)
    e, shifted = _exponentials(x, axis)
    shifted -= np.log(np.add.reduce(e, axis=axis, keepdims=True))
    return shifted


def _log_softmax_vjp(g, y, axis):
    return g - exp(y) * reduce_sum(g, axis=(axis,), keepdims=True)


log_softmax = Op("log_softmax", _log_softmax, _log_softmax_vjp, infer=_like_input)

# ---- cross-entropies of logits over the last axis ------------------------------------------------


def _losses_infer(logits, _labels):
    return tuple(logits.shape[:-1]), logits.dtype


@quiet
def _cross_entropy(logits, labels):
    e, shifted = _exponentials(logits, -1)
    total = np.add.reduce(e, axis=-1, keepdims=True)
    shifted -= np.log(total)
    return -np.vecdot(labels, shifted).astype(e.dtype, copy=False), (e, total)


@quiet
def _cross_entropy_back(g, labels, e, total):
    d = e * (np.add.reduce(labels, axis=-1, keepdims=True) / total)
    d -= labels
    d *= g[..., None]
    return d


cross_entropy_back = Op("cross_entropy_back", _cross_entropy_back, backward=first_order_only)


def _cross_entropy_rule(g, logits, labels, saved, needed):
    last = len(logits.shape) - 1
    return (
        cross_entropy_back(g, labels, *saved) if needed[0] else None,
        negative(expand_axes(g, (last,)) * log_softmax(logits, axis=last)) if needed[1] else None,
    )


def _cross_entropy_composite(logits, labels):
    last = len(logits.shape) - 1
    logp = log_softmax(logits, axis=last)
    return negative(reduce_sum(labels * logp, axis=(last,), keepdims=False))


# Labels are probabilities in the shape of the logits.
softmax_cross_entropy = Op(
    "softmax_cross_entropy", _cross_entropy, backward=_cross_entropy_rule, saves=True,
    composite=_cross_entropy_composite, infer=_losses_infer,
)  # fmt: skip


def _at_label(x, labels):
    """In each row the element at its label."""
    if x.ndim == 2:
        return x[np.arange(len(x)), labels]
    return np.take_along_axis(x, labels[..., None], -1)[..., 0]


@quiet
def _sparse_cross_entropy(logits, labels):
    e, shifted = _exponentials(logits, -1)
    total = np.add.reduce(e, axis=-1)
    return np.log(total) - _at_label(shifted, labels), (e, total)


@quiet
def _sparse_cross_entropy_back(g, labels, e, total):
    d = e * np.true_divide(g, total)[..., None]
    if d.ndim == 2:
        d[np.arange(len(d)), labels] -= g
    else:
        d = np.ascontiguousarray(d)  # e may have another layout, and then `rows` were a copy
        rows = d.reshape(-1, d.shape[-1])
        rows[np.arange(len(rows)), labels.reshape(-1)] -= g.reshape(-1)
    return d


sparse_cross_entropy_back = Op(
    "sparse_cross_entropy_back", _sparse_cross_entropy_back, backward=first_order_only
)


def _sparse_cross_entropy_composite(logits, labels):
    last = len(logits.shape) - 1
    index = expand_axes(labels, (last,))
    picked = take_along_axis(log_softmax(logits, axis=last), index, axis=last)
    return negative(getitem(picked, index=(Ellipsis, 0)))


# Labels are the integer classes, from 0 on: whoever calls has checked them.
sparse_softmax_cross_entropy = Op(
    "sparse_softmax_cross_entropy", _sparse_cross_entropy, saves=True,
    backward=lambda g, labels, saved: (sparse_cross_entropy_back(g, labels, *saved), None),
    composite=_sparse_cross_entropy_composite, infer=_losses_infer,
)  # fmt: skip
