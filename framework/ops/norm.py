"""Normalization as single ops: one pass over memory forward, one backward, instead of 6 to 15.

Each op saves arrays for its joint rule, one backward function for all inputs. For higher
derivatives, an outer tape records the op's composite instead.
"""

import numpy as np

from framework.core.op import Op, elementwise, first_order_only
from framework.core.shape_checks import expect
from framework.kernels import norm, rows
from framework.ops.casting import like, widened
from framework.ops.complex import squared_size
from framework.ops.elementwise import maximum, rsqrt, square
from framework.ops.elementwise import relu as cut
from framework.ops.elementwise import relu6 as cut_both
from framework.ops.movement import reshape
from framework.ops.reduction import np_dtype, reduce_mean, reduce_sum


def along(vector, axis, rank):
    """Reshape a vector to broadcast along `axis` of a tensor of `rank` axes."""
    if axis == rank - 1:
        return vector
    return reshape(vector, shape=(*(1,) * axis, -1, *(1,) * (rank - axis - 1)))


# `moving_average` updates the exponential moving average a with the new value b.
moving_average = elementwise(
    "moving_average", lambda a, b, *, momentum: a * momentum + b * (1 - momentum),
    lambda g, momentum: g * momentum, lambda g, momentum: g * (1 - momentum),
)  # fmt: skip

# At 0 the derivative of `unit` is 1 / sqrt(_LEAST_HALF), which must be finite in float16.
_LEAST_HALF = 2.0**-31


def unit(x, axes, least):
    """Divide `x` by its Euclidean norm along the sorted tuple of axes.

    The squared norm is at least `least`, so that the value and the derivative at 0 are finite.
    16-bit floats are squared and summed in float32.
    """
    if type(least) in (int, float) and np_dtype(x) == np.float16:
        least = max(least, _LEAST_HALF)
    wide = widened(x)
    total = reduce_sum(squared_size(wide), axis=axes, keepdims=True)
    return like(wide * like(rsqrt(maximum(total, least)), wide), x)


# ---- batch normalization in training -------------------------------------------------------------


def _batch_norm_infer(x, _gamma, _beta, *, axis, epsilon, relu=False):
    vector = (x.shape[axis],), x.dtype
    return [(tuple(x.shape), x.dtype), vector, vector]


batch_norm_back = Op(
    "batch_norm_back", norm.batch_norm_back, backward=first_order_only, outputs=None, fresh=True
)


def _batch_norm_rule(g, x, gamma, beta, saved, axis, relu, needed):
    beyond, most = (beta,) if relu else (), {"most": 6.0} if relu == 6 else {}
    found = iter(
        batch_norm_back(*g, x, gamma, *saved, *beyond, axis=axis, needed=tuple(needed), **most)
    )
    return [next(found) if n else None for n in needed]


def _batch_norm_composite(x, gamma, beta, *, axis, epsilon, relu=False):
    rank = len(x.shape)
    others = tuple(i for i in range(rank) if i != axis)
    mean = reduce_mean(x, axis=others, keepdims=True)
    centred = x - mean
    variance = reduce_mean(square(centred), axis=others, keepdims=True)
    y = centred * (rsqrt(variance + epsilon) * along(gamma, axis, rank)) + along(beta, axis, rank)
    size = (x.shape[axis],)
    if relu:
        y = cut_both(y) if relu == 6 else cut(y)
    return y, reshape(mean, shape=size), reshape(variance, shape=size)


# `batch_norm` returns (y, mean, variance). It applies ReLU to y if `relu` is True, and ReLU6 if
# `relu` is 6. The statistics are over all axes but `axis`; gamma and beta are vectors.
batch_norm = Op(
    "batch_norm", norm.batch_norm, backward=_batch_norm_rule, outputs=3, saves=True,
    composite=_batch_norm_composite, infer=_batch_norm_infer, fresh=True,
)  # fmt: skip


def scaled(x, mean, variance, gamma, beta, *, axis, epsilon):
    """Normalize `x` by a mean and a variance along `axis`; gamma and beta are vectors or None."""
    factor = rsqrt(variance + epsilon)
    if gamma is not None:
        factor = factor * gamma
    offset = mean * factor
    rank = len(x.shape)
    y = x * along(factor, axis, rank)
    if beta is None:
        return y - along(offset, axis, rank)
    return y + along(beta - offset, axis, rank)


# ---- normalization of rows -----------------------------------------------------------------------


def _like_input(x, *_, **__):
    return tuple(x.shape), x.dtype


def _last_axes(x, vector):
    rank = len(x.shape)
    return tuple(range(rank - len(vector.shape), rank))


def _check_rows(op, name, x, vector):
    sizes = x.shape[max(len(x.shape) - len(vector.shape), 0) :]
    expect(op, name, vector.shape, sizes, "the sizes of the axes that are normalized")


layer_norm_back = Op(
    "layer_norm_back", rows.layer_norm_back, backward=first_order_only, outputs=None, fresh=True
)


def _layer_norm_rule(g, x, gamma, saved, needed):
    found = iter(layer_norm_back(g, x, gamma, *saved, needed=tuple(needed)))
    return [next(found) if n else None for n in needed]


def _layer_norm_composite(x, gamma, beta, *, epsilon):
    axes = _last_axes(x, gamma)
    centred = x - reduce_mean(x, axis=axes, keepdims=True)
    variance = reduce_mean(square(centred), axis=axes, keepdims=True)
    return centred * rsqrt(variance + epsilon) * gamma + beta


def _check_layer_norm(x, gamma, beta):
    sizes = gamma.shape
    if x.shape[-len(sizes) :] != sizes or beta.shape != sizes:
        _check_rows("layer_norm", "gamma", x, gamma)
        expect("layer_norm", "beta", beta.shape, sizes, "that of gamma")


# `layer_norm` normalizes over as many trailing axes as gamma and beta have.
layer_norm = Op(
    "layer_norm", rows.layer_norm, backward=_layer_norm_rule, saves=True,
    composite=_layer_norm_composite, infer=_like_input, fresh=True, check=_check_layer_norm,
)  # fmt: skip


rms_norm_back = Op(
    "rms_norm_back", rows.rms_norm_back, backward=first_order_only, outputs=None, fresh=True
)


def _rms_norm_rule(g, x, scale, saved, needed):
    found = iter(rms_norm_back(g, x, scale, *saved, needed=tuple(needed)))
    return [next(found) if n else None for n in needed]


def _rms_norm_composite(x, scale, *, epsilon):
    mean = reduce_mean(square(x), axis=_last_axes(x, scale), keepdims=True)
    return x * rsqrt(mean + epsilon) * scale


# `rms_norm` normalizes over as many trailing axes as `scale` has.
rms_norm = Op(
    "rms_norm", rows.rms_norm, backward=_rms_norm_rule, saves=True,
    composite=_rms_norm_composite, infer=_like_input, fresh=True,
    check=lambda x, scale: _check_rows("rms_norm", "scale", x, scale),
)  # fmt: skip
