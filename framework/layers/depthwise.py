"""Depthwise convolutions, and separable ones, which add a pointwise convolution."""

from typing import Any

from framework.activations import Activation as ActivationField
from framework.constraints import ConstraintField
from framework.core.argument_types import ShapeLike, TensorLike
from framework.core.promotion import promote
from framework.core.tensor import Tensor
from framework.initializers import InitializerField
from framework.layers.arguments import DataFormat
from framework.layers.convolution_base import (
    Padding,
    Windowed,
    _output_sizes,
    add_bias,
    channels,
    finished,
    last,
    restored,
    set_input_spec,
    window_of,
    with_spatial,
)
from framework.layers.core import PositiveInt
from framework.layers.weights import weight
from framework.ops.conv import conv, depthwise
from framework.regularizers import RegularizerField

__all__ = ["DepthwiseConv1D", "DepthwiseConv2D", "SeparableConv1D", "SeparableConv2D"]


class _Depthwise(Windowed):
    kernel_size: object
    strides: object = 1
    padding: Padding = "valid"
    depth_multiplier: PositiveInt = 1
    data_format: DataFormat = None
    dilation_rate: object = 1
    activation: ActivationField = None
    use_bias: bool = True
    depthwise_initializer: InitializerField = "glorot_uniform"
    bias_initializer: InitializerField = "zeros"
    depthwise_regularizer: RegularizerField = None
    bias_regularizer: RegularizerField = None
    activity_regularizer: RegularizerField = None
    depthwise_constraint: ConstraintField = None
    bias_constraint: ConstraintField = None

    def build(self, input_shape: ShapeLike) -> None:
        count = set_input_spec(self, input_shape)
        _output_sizes(self, input_shape)
        shape = (*self.kernel_size, count, self.depth_multiplier)
        self.kernel = weight(self, "kernel", shape, "depthwise")
        add_bias(self, count * self.depth_multiplier)

    def call(self, inputs: TensorLike) -> Any:
        kernel = self.kernel._as_operand()
        if type(inputs) is not Tensor or inputs.array.dtype != kernel.array.dtype:
            inputs, kernel = promote(inputs, kernel)
        _output_sizes(self, inputs.shape)
        y = depthwise(last(inputs, self.data_format), kernel, **window_of(self))
        return finished(self, restored(y, self.data_format))

    def compute_output_shape(self, input_shape: ShapeLike) -> Any:
        count = channels(input_shape, self.data_format) * self.depth_multiplier
        sizes = _output_sizes(self, input_shape)
        return with_spatial(input_shape, sizes, self.data_format, count)


class DepthwiseConv1D(_Depthwise, rank=1):
    """A convolution over one axis that filters each channel separately.

    Args:
        kernel_size: the size of the window.
        strides: the step of the window.
        padding: "valid" for none; "same" for `ceil(steps / strides)` outputs.
        depth_multiplier: the number of filters, and of output channels, per input channel.
        data_format: "channels_last", (batch, steps, channels), or "channels_first".
        dilation_rate: the distance between the window's elements.

    Shapes: `(batch, steps, channels)` gives `(batch, new_steps, channels * depth_multiplier)`.

    >>> import numpy as np
    >>> DepthwiseConv1D(3, depth_multiplier=2)(np.ones((4, 10, 12))).shape
    TensorShape([4, 8, 24])
    """


class DepthwiseConv2D(_Depthwise, rank=2):
    """A convolution over images that filters each channel separately; see `DepthwiseConv1D`.

    Shapes: `(batch, height, width, channels)` gives
    `(batch, new_height, new_width, channels * depth_multiplier)`.
    """

    strides: object = (1, 1)
    dilation_rate: object = (1, 1)


class _Separable(Windowed):
    filters: PositiveInt
    kernel_size: object
    strides: object = 1
    padding: Padding = "valid"
    data_format: DataFormat = None
    dilation_rate: object = 1
    depth_multiplier: PositiveInt = 1
    activation: ActivationField = None
    use_bias: bool = True
    depthwise_initializer: InitializerField = "glorot_uniform"
    pointwise_initializer: InitializerField = "glorot_uniform"
    bias_initializer: InitializerField = "zeros"
    depthwise_regularizer: RegularizerField = None
    pointwise_regularizer: RegularizerField = None
    bias_regularizer: RegularizerField = None
    activity_regularizer: RegularizerField = None
    depthwise_constraint: ConstraintField = None
    pointwise_constraint: ConstraintField = None
    bias_constraint: ConstraintField = None

    def build(self, input_shape: ShapeLike) -> None:
        count = set_input_spec(self, input_shape)
        _output_sizes(self, input_shape)
        depthwise_shape = (*self.kernel_size, count, self.depth_multiplier)
        ones = (1,) * type(self)._framework.rank
        pointwise_shape = (*ones, count * self.depth_multiplier, self.filters)
        self.depthwise_kernel = weight(self, "depthwise_kernel", depthwise_shape, "depthwise")
        self.pointwise_kernel = weight(self, "pointwise_kernel", pointwise_shape, "pointwise")
        add_bias(self, self.filters)

    def call(self, inputs: TensorLike) -> Any:
        kernel, pointwise = self.depthwise_kernel._as_operand(), self.pointwise_kernel._as_operand()
        if type(inputs) is not Tensor or inputs.array.dtype != kernel.array.dtype:
            inputs, kernel, pointwise = promote(inputs, kernel, pointwise)
        _output_sizes(self, inputs.shape)
        filtered = depthwise(last(inputs, self.data_format), kernel, **window_of(self))
        ones = (1,) * type(self)._framework.rank
        y = conv(
            filtered,
            pointwise,
            strides=ones,
            padding=((0, 0),) * type(self)._framework.rank,
            dilations=ones,
            groups=1,
        )
        return finished(self, restored(y, self.data_format))

    def compute_output_shape(self, input_shape: ShapeLike) -> Any:
        sizes = _output_sizes(self, input_shape)
        return with_spatial(input_shape, sizes, self.data_format, self.filters)


class SeparableConv1D(_Separable, rank=1):
    """`DepthwiseConv1D`, then a pointwise convolution, which mixes the channels of each step.

    Args:
        filters: the number of output channels.
        kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier: as in
            `DepthwiseConv1D`.

    Shapes: `(batch, steps, channels)` gives `(batch, new_steps, filters)`.

    >>> import numpy as np
    >>> SeparableConv1D(3, 4, 3)(np.ones((4, 10, 12))).shape
    TensorShape([4, 3, 3])
    """


class SeparableConv2D(_Separable, rank=2):
    """`DepthwiseConv2D`, then a pointwise convolution; see `SeparableConv1D`.

    Shapes: `(batch, height, width, channels)` gives `(batch, new_height, new_width, filters)`.
    """

    strides: object = (1, 1)
    dilation_rate: object = (1, 1)
