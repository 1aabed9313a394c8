"""BatchNormalization, with batch statistics in training and moving averages in inference."""

import math
from typing import Any

import numpy as np

from framework.core.argument_types import ShapeLike, TensorLike
from framework.core.axes import one_axis
from framework.core.cast import cast
from framework.core.configurable import Configurable
from framework.core.dtypes import epsilon
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.initializers import InitializerField
from framework.layers.input_spec import InputSpec
from framework.layers.normalization import (
    _Normalization,
    _size,
    _to,
    add_scale_and_center,
    scale_and_center,
    wide,
)
from framework.layers.weights import ScaleInitializers, ScalePenalties
from framework.ops import norm
from framework.ops.elementwise import (
    clip,
    maximum,
    minimum,
    relu,
    select,
    sqrt,
    square,
    stop_gradient,
)
from framework.ops.movement import expand_axes, reshape
from framework.ops.reduction import reduce_sum

__all__ = ["BatchNormalization"]

_CLIPPING = ("rmax", "rmin", "dmax")


class _StatisticInitializers(Configurable, kw_only=True, group=True):
    moving_mean_initializer: InitializerField = "zeros"
    moving_variance_initializer: InitializerField = "ones"


class BatchNormalization(
    ScaleInitializers, _StatisticInitializers, ScalePenalties, _Normalization,
    last=("renorm", "renorm_clipping", "renorm_momentum", "synchronized"),
):  # fmt: skip
    """Normalize channels to mean 0 and variance 1, then `* gamma + beta` (Ioffe & Szegedy 2015).

    Training uses the statistics of the batch and updates the moving averages `moving_mean` and
    `moving_variance`. Inference, and a frozen layer (`trainable = False`), use the moving averages.
    Half-precision inputs are normalized in float32.

    Args:
        axis: the axis of the channels; statistics are over all other axes, without masked steps.
        momentum: the weight of the old value in a moving average.
        epsilon: added to the variance.
        center, scale: whether to add a trained beta, and to multiply by a trained gamma.
        renorm: whether to use batch renormalization (Ioffe 2017, arXiv:1702.03275).
        renorm_clipping: a dict with the limits "rmax", "rmin" and "dmax" of the correction.
        renorm_momentum: the `momentum` of the averages that renormalization uses.
        synchronized: ignored: one process has the whole batch.

    >>> import numpy as np
    >>> layer = BatchNormalization()
    >>> layer(np.array([[1.0], [3.0]]), training=True).numpy().round(2).ravel()
    array([-1.,  1.], dtype=float32)
    >>> layer.moving_mean.numpy()
    array([0.02], dtype=float32)
    """

    axis: int = -1
    momentum: float = 0.99
    epsilon: float = 1e-3
    center: bool = True
    scale: bool = True
    renorm: bool = False
    renorm_clipping: object = None
    renorm_momentum: float = 0.99
    synchronized: bool = False

    def __post_init__(self):
        self.gamma = self.beta = self.moving_mean = self.moving_variance = None
        if self.renorm:
            self.renorm_clipping = _checked_clipping(self.renorm_clipping)

    def build(self, input_shape: ShapeLike):
        shape = _size(self, input_shape)
        add_scale_and_center(self, shape)
        self.moving_mean = _statistic(self, "moving_mean", shape, self.moving_mean_initializer)
        self.moving_variance = _statistic(
            self, "moving_variance", shape, self.moving_variance_initializer
        )
        if self.renorm:

            def deviation(shape, dtype=None):
                return sqrt(self.moving_variance_initializer(shape, dtype=dtype))

            self.moving_stddev = _statistic(self, "moving_stddev", shape, deviation)
            self.renorm_mean = _statistic(self, "renorm_mean", shape, self.moving_mean_initializer)
            self.renorm_stddev = _statistic(self, "renorm_stddev", shape, deviation)
        self.input_spec = InputSpec(ndim=len(input_shape), axes={self.axis: shape[0]})

    def call(self, inputs: TensorLike, training: Any = None, mask: TensorLike = None) -> Any:
        if mask is not None and mask.ndim != inputs.ndim - 1:
            raise ShapeError(
                f"BatchNormalization layer {self.name!r}: expected a mask with one axis less "
                f"than the inputs, got a mask of shape {mask.shape} for inputs of shape "
                f"{inputs.shape}."
            )
        x = wide(inputs)
        axis = one_axis(self.axis, x.ndim, "BatchNormalization")
        if training and self.trainable:
            y = _by_batch(self, x, axis, mask)
        else:
            mean, variance = self.moving_mean.read(), self.moving_variance.read()
            y = _by_statistics(self, x, axis, _to(mean, x.dtype), _to(variance, x.dtype))
        return _to(y, self.compute_dtype)

    def _moments(self, x, axis, mask):
        if mask is not None:
            return _masked_moments(x, axis, mask)
        vector = (x.shape[axis],)
        ones, zeros = np.ones(vector, x.dtype.np), np.zeros(vector, x.dtype.np)
        return norm.batch_norm(x, ones, zeros, axis=axis, epsilon=self.epsilon)[1:]


def _masked_moments(x, axis, mask):
    """Return mean and variance of the unmasked steps.

    The mask has all axes of `x` but the last one. Each axis of the mask has the size of that axis
    of `x`, or size 1.
    """
    if mask.dtype != "bool":
        mask = cast(mask, dtype=np.dtype(bool))
    mask = expand_axes(mask, (x.ndim - 1,))
    others = tuple(i for i in range(x.ndim) if i != axis)
    ones = cast(mask, dtype=x.dtype.np)
    counted = ones * np.ones((1,) * (x.ndim - 1) + (x.shape[-1],), x.dtype.np)
    spread = [x.shape[i] or 1 for i in others if mask.shape[i] == 1 and i != x.ndim - 1]
    count = reduce_sum(counted, axis=others, keepdims=True) * math.prod(spread) + epsilon()
    mean = reduce_sum(select(mask, x, 0.0), axis=others, keepdims=True) / count
    squares = square(select(mask, x - mean, 0.0))
    variance = reduce_sum(squares, axis=others, keepdims=True) / count
    size = (x.shape[axis],)
    return reshape(mean, shape=size), reshape(variance, shape=size)


def _checked_clipping(limits):
    limits = dict(limits or {})
    unknown = set(limits) - set(_CLIPPING)
    if unknown:
        raise InvalidArgumentError(
            f"BatchNormalization: renorm_clipping: expected keys among {list(_CLIPPING)}, got "
            f"{sorted(unknown)}."
        )
    low, high, most = limits.get("rmin"), limits.get("rmax"), limits.get("dmax")
    if low is not None and high is not None and high < low:
        raise InvalidArgumentError(
            f"BatchNormalization: renorm_clipping: rmax should be greater than rmin, got {limits}."
        )
    if most is not None and most < 0:
        raise InvalidArgumentError(
            f"BatchNormalization: renorm_clipping: dmax should be non-negative, got {limits}."
        )
    return limits


def _statistic(layer, name, shape, initializer):
    return layer.add_weight(shape, initializer, name=name, trainable=False, autocast=False)


def _by_statistics(layer, x, axis, mean, variance):
    gamma = None if layer.gamma is None else _to(layer.gamma._as_operand(), x.dtype)
    beta = None if layer.beta is None else _to(layer.beta._as_operand(), x.dtype)
    return norm.scaled(x, mean, variance, gamma, beta, axis=axis, epsilon=layer.epsilon)


def _by_batch(layer, x, axis, mask):
    if layer.renorm:
        return _renormalized(layer, x, axis, mask)
    if mask is None:
        gamma, beta = scale_and_center(layer, x, (x.shape[axis],))
        y, mean, variance = norm.batch_norm(x, gamma, beta, axis=axis, epsilon=layer.epsilon)
    else:
        mean, variance = _masked_moments(x, axis, mask)
        y = _by_statistics(layer, x, axis, mean, variance)
    _update_average(layer, layer.moving_mean, mean, layer.momentum)
    _update_average(layer, layer.moving_variance, variance, layer.momentum)
    return y


def _renormalized(layer, x, axis, mask):
    mean, variance = layer._moments(x, axis, mask)
    stddev = sqrt(variance + layer.epsilon)
    least = float(np.sqrt(layer.epsilon))
    reference = maximum(_to(layer.renorm_stddev.read(), x.dtype), least)
    r = stddev / reference
    d = (mean - _to(layer.renorm_mean.read(), x.dtype)) / reference
    limits = layer.renorm_clipping
    if limits.get("rmin") is not None:
        r = maximum(r, float(limits["rmin"]))
    if limits.get("rmax") is not None:
        r = minimum(r, float(limits["rmax"]))
    if limits.get("dmax") is not None:
        d = clip(d, -float(limits["dmax"]), float(limits["dmax"]))
    gamma, beta = scale_and_center(layer, x, (x.shape[axis],))
    gamma, beta = stop_gradient(r) * gamma, stop_gradient(d) * gamma + beta
    _update_average(layer, layer.renorm_mean, mean, layer.renorm_momentum)
    _update_average(layer, layer.renorm_stddev, stddev, layer.renorm_momentum)
    _update_average(layer, layer.moving_mean, mean, layer.momentum)
    _update_average(layer, layer.moving_stddev, stddev, layer.momentum)
    moving = layer.moving_stddev.read()
    layer.moving_variance.assign(relu(square(moving) - layer.epsilon))
    return norm.scaled(x, mean, variance, gamma, beta, axis=axis, epsilon=layer.epsilon)


def _update_average(layer, statistic, value, momentum):
    """Update a moving average; cast the old value only if its dtype differs."""
    old = _to(statistic.read(), value.dtype)
    statistic.assign(norm.moving_average(old, value, momentum=momentum))
