"""Layer, RMS, group and unit normalization."""

import warnings
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import ShapeLike, TensorLike
from framework.core.axes import all_axes, one_axis
from framework.core.cast import cast
from framework.core.configurable import Resolved
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.layers.base import Layer
from framework.layers.input_spec import InputSpec
from framework.layers.weights import ScaleInitializers, ScalePenalties, weight
from framework.ops import norm
from framework.ops.elementwise import rsqrt, square
from framework.ops.movement import reshape
from framework.ops.reduction import reduce_mean

__all__ = ["GroupNormalization", "LayerNormalization", "RMSNormalization", "UnitNormalization"]


def _one_or_several(value):
    if isinstance(value, (list, tuple)):
        return [int(a) for a in value]
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError("expected an int or a list of ints")
    return int(value)


Axes = Annotated[int | Sequence[int], Resolved("an int or a list of ints", _one_or_several)]


def wide(x):
    """Cast `x` to the dtype of the computation: half precision and integers become float32."""
    if x.dtype.np.itemsize >= 4 and x.dtype.is_floating:
        return x
    return cast(x, dtype=np.dtype(np.float32))


def _to(x, dtype):
    return x if x.dtype == dtype else cast(x, dtype=dtype.np)


def _int_if_one(axes):
    """Return a single axis as an int instead of a tuple, because ops check an int faster."""
    return axes[0] if len(axes) == 1 else axes


class _Normalization(Layer):
    """The base class of normalization layers with the weights gamma and beta."""

    supports_masking = True


class LayerNormalization(ScaleInitializers, ScalePenalties, _Normalization, last=("rms_scaling",)):
    """Normalize each sample to mean 0 and variance 1, then `* gamma + beta` (Ba et al. 2016).

    Args:
        axis: the axis or axes to normalize over.
        epsilon: added to the variance.
        center, scale: whether to add a trained beta, and to multiply by a trained gamma.
        rms_scaling: deprecated, use RMSNormalization: do not subtract the mean, add no beta.

    >>> import numpy as np
    >>> LayerNormalization()(np.array([[1.0, 3.0]])).numpy().round(2)
    array([[-1.,  1.]], dtype=float32)
    """

    axis: Axes = -1
    epsilon: float = 1e-3
    center: bool = True
    scale: bool = True
    rms_scaling: bool = False

    def __post_init__(self):
        self.gamma = self.beta = None
        self.autocast = False
        if self.rms_scaling:
            warnings.warn(
                "LayerNormalization(rms_scaling=True) is deprecated: it divides by the standard "
                "deviation, not by the root mean square. Use RMSNormalization.",
                stacklevel=4,
            )

    def build(self, input_shape: ShapeLike) -> None:
        if isinstance(self.axis, list):
            self.axis = sorted(self.axis)
        shape = _size(self, input_shape)
        self.axis = self.axis if isinstance(self.axis, list) else [self.axis]
        if self.rms_scaling:
            self.gamma = weight(self, "gamma", shape, autocast=False)
        else:
            add_scale_and_center(self, shape)

    def call(self, inputs: TensorLike) -> Any:
        x = wide(inputs)
        axes = all_axes(_int_if_one(self.axis), x.ndim, "LayerNormalization")
        sizes = tuple(x.shape[a] for a in axes)
        gamma, beta = scale_and_center(self, x, sizes)
        if axes == tuple(range(x.ndim - len(axes), x.ndim)) and not self.rms_scaling:
            y = norm.layer_norm(x, gamma, beta, epsilon=self.epsilon)
        else:
            y = _general(self, x, axes, gamma, beta)
        return _to(y, self.compute_dtype)


class RMSNormalization(Layer):
    """Divide each sample by its root mean square, then `* scale` (Zhang & Sennrich 2019).

    Args:
        axis: the axis or axes to normalize over.
        epsilon: added to the mean square.

    >>> import numpy as np
    >>> RMSNormalization()(np.array([[1.0, -1.0]])).numpy().round(3)
    array([[ 1., -1.]], dtype=float32)
    """

    axis: Axes = -1
    epsilon: float = 1e-6

    def build(self, input_shape: ShapeLike) -> None:
        self.axis = sorted(self.axis) if isinstance(self.axis, list) else self.axis
        shape = _size(self, input_shape)
        self.axis = self.axis if isinstance(self.axis, list) else [self.axis]
        self.scale = self.add_weight(shape, "ones", name="scale")

    def call(self, x: TensorLike) -> Any:
        x = wide(x)
        axes = all_axes(_int_if_one(self.axis), x.ndim, "RMSNormalization")
        scale = _to(self.scale._as_operand(), x.dtype)
        if axes == tuple(range(x.ndim - len(axes), x.ndim)):
            y = norm.rms_norm(x, scale, epsilon=self.epsilon)
        else:
            shape = tuple(n if i in axes else 1 for i, n in enumerate(x.shape))
            mean = reduce_mean(square(x), axis=axes, keepdims=True)
            y = x * (rsqrt(mean + self.epsilon) * reshape(scale, shape=shape))
        return _to(y, self.compute_dtype)


def _groups(value):
    if isinstance(value, bool) or not hasattr(value, "__index__") or (value < 1 and value != -1):
        raise InvalidArgumentError("expected a positive integer, or -1 for one group per channel")
    return int(value)


class GroupNormalization(ScaleInitializers, ScalePenalties, _Normalization):
    """Normalize groups of channels of each sample to mean 0 and variance 1 (Wu & He 2018).

    Args:
        groups: the number of groups; -1 for one per channel (instance normalization).
        axis: the axis of the channels.
        epsilon: added to the variance.
        center, scale: whether to add a beta, and to multiply by a gamma, trained per channel.
    """

    groups: Annotated[int, Resolved("a positive integer or -1", _groups)] = 32
    axis: int = -1
    epsilon: float = 1e-3
    center: bool = True
    scale: bool = True

    def __post_init__(self):
        self.gamma = self.beta = None
        self.autocast = False

    def build(self, input_shape: ShapeLike) -> None:
        (size,) = _size(self, input_shape)
        if self.groups == -1:
            self.groups = size
        if size % self.groups:
            raise InvalidArgumentError(
                f"GroupNormalization layer {self.name!r}: groups={self.groups} must divide the "
                f"number of channels, {size} (axis={self.axis} of inputs of shape "
                f"{tuple(input_shape)})."
            )
        self.input_spec = InputSpec(ndim=len(input_shape), axes={self.axis: size})
        add_scale_and_center(self, (size,))

    def call(self, inputs: TensorLike) -> Any:
        x = wide(inputs)
        shape = tuple(-1 if n is None else n for n in x.shape)
        axis = one_axis(self.axis, x.ndim, "GroupNormalization")
        size = shape[axis]
        grouped = (*shape[:axis], self.groups, size // self.groups, *shape[axis + 1 :])
        parts = reshape(x, shape=grouped)
        axes = tuple(i for i in range(1, len(grouped)) if i != axis)
        mean = reduce_mean(parts, axis=axes, keepdims=True)
        centred = parts - mean
        variance = reduce_mean(square(centred), axis=axes, keepdims=True)
        vector = tuple(n if i in (axis, axis + 1) else 1 for i, n in enumerate(grouped))
        gamma, beta = scale_and_center(self, x, (size,))
        factor = rsqrt(variance + self.epsilon) * reshape(gamma, shape=vector)
        y = centred * factor + reshape(beta, shape=vector)
        return _to(reshape(y, shape=shape), self.compute_dtype)


class UnitNormalization(Layer, builds_at_init=True):
    """Divide each vector by its L2 norm.

    Args:
        axis: the axis or axes of a vector.

    >>> import numpy as np
    >>> UnitNormalization()(np.array([[3.0, 4.0]])).numpy()
    array([[0.6, 0.8]], dtype=float32)
    """

    axis: Axes = -1
    supports_masking = True

    def call(self, inputs: TensorLike) -> Any:
        x = inputs if inputs.dtype.is_floating else cast(inputs, dtype=dtypes.floatx().np)
        axes = all_axes(self.axis, x.ndim, "UnitNormalization")
        return norm.unit(x, axes, 1e-24)


def _general(layer, x, axes, gamma, beta):
    shape = tuple(n if i in axes else 1 for i, n in enumerate(x.shape))
    gamma, beta = reshape(gamma, shape=shape), reshape(beta, shape=shape)
    centred = x - reduce_mean(x, axis=axes, keepdims=True)
    variance = reduce_mean(square(centred), axis=axes, keepdims=True)
    factor = rsqrt(variance + layer.epsilon) * gamma
    return x * factor if layer.rms_scaling else centred * factor + beta


def _size(layer, input_shape):
    """Return the sizes of the axes to normalize over."""
    axes = layer.axis if isinstance(layer.axis, list) else [layer.axis]
    rank = len(input_shape)
    for axis in axes:
        if not -rank <= axis < rank:
            raise InvalidArgumentError(
                f"{type(layer).__name__} layer {layer.name!r}: axis={layer.axis} is out of bounds "
                f"for inputs of shape {tuple(input_shape)}."
            )
    sizes = tuple(input_shape[axis] for axis in axes)
    if None in sizes:
        raise ShapeError(
            f"{type(layer).__name__} layer {layer.name!r}: the size of axis={layer.axis} must be "
            f"known, got inputs of shape {tuple(input_shape)}."
        )
    return sizes


def add_scale_and_center(layer, shape):
    layer.gamma = layer.beta = None
    if layer.scale:
        layer.gamma = weight(layer, "gamma", shape, autocast=False)
    if layer.center:
        layer.beta = weight(layer, "beta", shape, autocast=False)


def scale_and_center(layer, x, shape):
    """Return gamma and beta in the dtype of `x`; ones and zeros if the layer has none."""
    if layer.gamma is None:
        gamma = np.ones(shape, x.dtype.np)
    else:
        gamma = _to(layer.gamma._as_operand(), x.dtype)
    if layer.beta is None:
        return gamma, np.zeros(shape, x.dtype.np)
    return gamma, _to(layer.beta._as_operand(), x.dtype)
