"""Convolutions over one, two and three spatial axes."""

from typing import Any

from framework.activations import Activation as ActivationField
from framework.activations import linear, relu
from framework.core.argument_types import ShapeLike, TensorLike
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.promotion import promote
from framework.core.tensor import Tensor
from framework.layers.arguments import DataFormat
from framework.layers.convolution_base import (
    CausalPadding,
    Padding,
    Windowed,
    _output_sizes,
    add_bias,
    finished,
    last,
    refuse_strides_with_dilation,
    restored,
    set_input_spec,
    window_of,
    with_spatial,
)
from framework.layers.core import PositiveInt
from framework.layers.lora import AdaptableKernel, enable_as_asked, with_lora
from framework.layers.weights import KernelAndBias, weight
from framework.ops.conv import conv, conv_bias

__all__ = ["Conv1D", "Conv2D", "Conv3D"]


class _Convolution(
    KernelAndBias, AdaptableKernel, Windowed, last=("lora_rank", "lora_alpha")
):  # fmt: skip
    filters: PositiveInt
    kernel_size: object
    strides: object = 1
    padding: Padding = "valid"
    data_format: DataFormat = None
    dilation_rate: object = 1
    groups: PositiveInt = 1
    activation: ActivationField = None
    use_bias: bool = True
    lora_rank: int | None = None
    lora_alpha: float | None = None

    def __post_init__(self):
        super().__post_init__()
        self.lora_alpha = self.lora_rank if self.lora_alpha is None else self.lora_alpha
        if self.filters % self.groups:
            raise InvalidArgumentError(
                "The number of filters must be evenly divisible by the number of groups. Received: "
                f"groups={self.groups}, filters={self.filters} (layer {self.name!r})."
            )
        refuse_strides_with_dilation(self)

    def build(self, input_shape: ShapeLike) -> None:
        count = set_input_spec(self, input_shape)
        if count % self.groups:
            raise ShapeError(
                "The number of input channels must be evenly divisible by the number of groups. "
                f"Received groups={self.groups}, but the input has {count} channels (full input "
                f"shape is {tuple(input_shape)}, layer {self.name!r})."
            )
        _output_sizes(self, input_shape)
        shape = (*self.kernel_size, count // self.groups, self.filters)
        self._kernel = weight(self, "kernel", shape)
        add_bias(self, self.filters)
        enable_as_asked(self)

    def convolution_op(self, inputs: TensorLike, kernel: TensorLike):
        """Return the convolution without bias, for subclasses that change the kernel first."""
        if type(inputs) is not Tensor or inputs.array.dtype != kernel.dtype:
            inputs, kernel = promote(inputs, kernel)
        _output_sizes(self, inputs.shape)
        x = last(inputs, self.data_format)
        return restored(conv(x, kernel, groups=self.groups, **window_of(self)), self.data_format)

    def call(self, inputs: TensorLike) -> Any:
        kernel = self._kernel._as_operand()
        if self.lora_enabled:
            kernel = with_lora(self, kernel)
        overridden = type(self).convolution_op is not _Convolution.convolution_op
        if self.bias is None or overridden or self.data_format == "channels_first":
            return finished(self, self.convolution_op(inputs, kernel))
        bias = self.bias._as_operand()
        if type(inputs) is not Tensor or inputs.array.dtype != kernel.array.dtype:
            inputs, kernel, bias = promote(inputs, kernel, bias)
        _output_sizes(self, inputs.shape)
        activation = self.activation
        fuses_relu = activation is relu
        y = conv_bias(inputs, kernel, bias, groups=self.groups, relu=fuses_relu, **window_of(self))
        return y if fuses_relu or activation is linear or activation is None else activation(y)

    def compute_output_shape(self, input_shape: ShapeLike) -> Any:
        sizes = _output_sizes(self, input_shape)
        return with_spatial(input_shape, sizes, self.data_format, self.filters)


class Conv1D(_Convolution, rank=1):
    """A convolution over one axis: `activation(conv(inputs, kernel) + bias)`.

    Args:
        filters: the number of output channels.
        kernel_size: the size of the window.
        strides: the step of the window.
        padding: "valid" for none; "same" for `ceil(steps / strides)` outputs; "causal" for the
            same number, none of which depends on a later step.
        data_format: "channels_last", (batch, steps, channels), or "channels_first".
        dilation_rate: the distance between the window's elements.
        groups: the number of groups of channels and filters, which are convolved separately.

    Shapes: `(batch, steps, channels)` gives `(batch, new_steps, filters)`.

    >>> import numpy as np
    >>> Conv1D(32, 3, padding="causal", activation="relu")(np.ones((4, 10, 16))).shape
    TensorShape([4, 10, 32])
    """

    padding: CausalPadding = "valid"


class Conv2D(_Convolution, rank=2):
    """A convolution over images: `activation(conv(inputs, kernel) + bias)`.

    Args:
        filters: the number of output channels.
        kernel_size: the size of the window, an int or (height, width).
        strides: the step of the window.
        padding: "valid" for none; "same" for `ceil(size / strides)` outputs.
        data_format: "channels_last", (batch, height, width, channels), or "channels_first".
        dilation_rate: the distance between the window's elements.
        groups: the number of groups of channels and filters, which are convolved separately.

    Shapes: `(batch, height, width, channels)` gives `(batch, new_height, new_width, filters)`.

    >>> import numpy as np
    >>> Conv2D(8, 3, strides=2, padding="same")(np.ones((2, 9, 8, 3))).shape
    TensorShape([2, 5, 4, 8])
    """

    strides: object = (1, 1)
    dilation_rate: object = (1, 1)


class Conv3D(_Convolution, rank=3):
    """A convolution over volumes; see `Conv2D`.

    Shapes: `(batch, a, b, c, channels)` gives `(batch, new_a, new_b, new_c, filters)`.
    """

    strides: object = (1, 1, 1)
    dilation_rate: object = (1, 1, 1)
