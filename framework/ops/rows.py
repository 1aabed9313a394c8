"""Softmax, gelu and the cross-entropies. `axis` is one non-negative axis.

The cross-entropies save arrays of the forward pass for a joint rule, one backward function for all
inputs. For higher derivatives, an outer tape records their composites instead.
"""

import math

import numpy as np

from framework.core.numpy_warnings import no_warnings
from framework.core.op import Op, elementwise, first_order_only
from framework.kernels import cross_entropy
from framework.kernels import gelu as gelu_kernels
from framework.kernels import rows as kernels
from framework.kernels.rows import exponentials
from framework.kernels.sums import added
from framework.ops.elementwise import exp, negative, sigmoid, square
from framework.ops.movement import expand_axes, getitem, take_along_axis
from framework.ops.reduction import reduce_sum


def _like_first(x, *_, **__):
    return x.shape, x.dtype


# `softmax_back` computes p * (g - sum(g * p)), where p is the softmax. It is linear in g, and is
# its own adjoint.
softmax_back = Op(
    "softmax_back", kernels.softmax_back,
    lambda h, p, axis: softmax_back(h, p, axis=axis),
    lambda h, g, p, axis: (
        h * (g - reduce_sum(g * p, axis=(axis,), keepdims=True))
        - g * reduce_sum(h * p, axis=(axis,), keepdims=True)
    ),
    infer=_like_first, fresh=True,
)  # fmt: skip
softmax = Op(
    "softmax",
    kernels.softmax,
    lambda g, y, axis: softmax_back(g, y, axis=axis),
    infer=_like_first,
    fresh=True,
)

# `log_softmax_back` computes g - exp(p) * sum(g), where p is the result of log_softmax.
log_softmax_back = Op(
    "log_softmax_back", kernels.log_softmax_back,
    lambda h, p, axis: h - reduce_sum(h * exp(p), axis=(axis,), keepdims=True),
    lambda h, g, p, axis: negative(h * exp(p) * reduce_sum(g, axis=(axis,), keepdims=True)),
    infer=_like_first, fresh=True,
)  # fmt: skip
log_softmax = Op(
    "log_softmax", kernels.log_softmax, lambda g, y, axis: log_softmax_back(g, y, axis=axis),
    infer=_like_first, fresh=True,
)  # fmt: skip


# ---- gelu: separate ops make 6 passes over memory forward and 15 backward ------------------------


def _gelu_slope_change(x, approximate):
    """Return the second derivative of gelu at `x`."""
    if not approximate:
        return (2 - square(x)) * exp(square(x) * -0.5) * (1 / math.sqrt(2 * math.pi))
    inner, cubic = math.sqrt(2 / math.pi), 0.044715
    s = sigmoid((x + x * x * x * cubic) * (2 * inner))
    slope = (square(x) * (3 * cubic) + 1) * inner
    change = slope * 2 + x * (x * (6 * cubic * inner)) - x * (s * 2 - 1) * square(slope) * 2
    return change * s * (1 - s) * 2


gelu_slope = elementwise(
    "gelu_slope", gelu_kernels.slope,
    lambda g, x, approximate: g * _gelu_slope_change(x, approximate), fresh=True,
)  # fmt: skip
# `gelu_back` computes g times the derivative of gelu at x.
gelu_back = elementwise(
    "gelu_back", gelu_kernels.gelu_back,
    lambda h, x, approximate: gelu_back(h, x, approximate=approximate),
    lambda h, g, x, approximate: h * g * _gelu_slope_change(x, approximate), fresh=True,
)  # fmt: skip
gelu = elementwise(
    "gelu",
    gelu_kernels.gelu,
    lambda g, x, approximate: gelu_back(g, x, approximate=approximate),
    fresh=True,
)

# ---- cross-entropies of logits over the last axis ------------------------------------------------


def _losses_infer(logits, _labels):
    return tuple(logits.shape[:-1]), logits.dtype


@no_warnings
def _cross_entropy(logits, labels):
    e, shifted = exponentials(logits, -1)
    total = added(e, (e.ndim - 1,), keepdims=True)
    shifted -= np.log(total)
    return -np.vecdot(labels, shifted).astype(e.dtype, copy=False), (e, total)


@no_warnings
def _cross_entropy_back(g, labels, e, total):
    d = e * (added(labels, (labels.ndim - 1,), keepdims=True) / total)
    d -= labels
    d *= g[..., None]
    return d


cross_entropy_back = Op(
    "cross_entropy_back", _cross_entropy_back, backward=first_order_only, fresh=True
)


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


# `softmax_cross_entropy` expects probabilities of the same shape as the logits as labels.
softmax_cross_entropy = Op(
    "softmax_cross_entropy", _cross_entropy, backward=_cross_entropy_rule, saves=True,
    composite=_cross_entropy_composite, infer=_losses_infer, fresh=True,
)  # fmt: skip

sparse_cross_entropy_back = Op(
    "sparse_cross_entropy_back", cross_entropy.sparse_back, backward=first_order_only, fresh=True,
    raises=True,
)  # fmt: skip


def _sparse_cross_entropy_composite(logits, labels):
    last = len(logits.shape) - 1
    index = expand_axes(labels, (last,))
    picked = take_along_axis(log_softmax(logits, axis=last), index, axis=last)
    return negative(getitem(picked, index=(Ellipsis, 0)))


# `sparse_softmax_cross_entropy` expects integer classes, counted from 0, which the caller checks.
sparse_softmax_cross_entropy = Op(
    "sparse_softmax_cross_entropy", cross_entropy.sparse, saves=True,
    backward=lambda g, labels, saved: (sparse_cross_entropy_back(g, labels, *saved), None),
    composite=_sparse_cross_entropy_composite, infer=_losses_infer, fresh=True, raises=True,
)  # fmt: skip
