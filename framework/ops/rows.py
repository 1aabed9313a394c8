"""Ops along rows: softmax and the cross-entropies. `axis` is one non-negative axis."""

import numpy as np

from framework.core.op import Op, no_derivative
from framework.ops.elementwise import exp
from framework.ops.movement import expand_axes, one_hot
from framework.ops.reduction import np_dtype, reduce_sum


def _shifted(x, axis):
    return x - np.maximum.reduce(x, axis=axis, keepdims=True)


def _softmax(x, *, axis):
    with np.errstate(all="ignore"):
        e = np.exp(_shifted(x, axis))
        return e / np.add.reduce(e, axis=axis, keepdims=True)


def _softmax_vjp(g, y, axis):
    return y * (g - reduce_sum(g * y, axis=(axis,), keepdims=True))


softmax = Op("softmax", _softmax, _softmax_vjp)


def _log_softmax(x, *, axis):
    with np.errstate(all="ignore"):
        shifted = _shifted(x, axis)
        return shifted - np.log(np.add.reduce(np.exp(shifted), axis=axis, keepdims=True))


def _log_softmax_vjp(g, y, axis):
    return g - exp(y) * reduce_sum(g, axis=(axis,), keepdims=True)


log_softmax = Op("log_softmax", _log_softmax, _log_softmax_vjp)


def _softmax_cross_entropy(logits, labels):
    return -np.add.reduce(labels * _log_softmax(logits, axis=logits.ndim - 1), axis=-1)


def _cross_entropy_vjp_logits(g, logits, labels):
    last = len(logits.shape) - 1
    total = reduce_sum(labels, axis=(last,), keepdims=True)
    return expand_axes(g, (last,)) * (softmax(logits, axis=last) * total - labels)


def _cross_entropy_vjp_labels(g, logits):
    last = len(logits.shape) - 1
    return -expand_axes(g, (last,)) * log_softmax(logits, axis=last)


# From logits over the last axis; labels are probabilities of the same shape.
softmax_cross_entropy = Op(
    "softmax_cross_entropy", _softmax_cross_entropy,
    _cross_entropy_vjp_logits, _cross_entropy_vjp_labels,
)  # fmt: skip


def _sparse_cross_entropy(logits, labels):
    logp = _log_softmax(logits, axis=logits.ndim - 1)
    return -np.take_along_axis(logp, labels[..., None], -1)[..., 0]


def _sparse_cross_entropy_vjp(g, logits, labels):
    last = len(logits.shape) - 1
    hot = one_hot(labels, depth=logits.shape[-1], dtype=np_dtype(logits))
    return expand_axes(g, (last,)) * (softmax(logits, axis=last) - hot)


# From logits over the last axis; labels are the integer classes.
sparse_softmax_cross_entropy = Op(
    "sparse_softmax_cross_entropy", _sparse_cross_entropy, _sparse_cross_entropy_vjp, no_derivative
)
