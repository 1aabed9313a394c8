"""Transposed convolutions: from the output shape of a convolution to its input shape."""

from typing import Any

from framework.activations import Activation as ActivationField
from framework.core.argument_types import ShapeLike, TensorLike
from framework.core.errors import InvalidArgumentError
from framework.core.promotion import promote
from framework.core.tensor import Tensor
from framework.kernels.windows import transposed
from framework.layers.arguments import DataFormat
from framework.layers.convolution_base import (
    Padding,
    Windowed,
    add_bias,
    finished,
    ints,
    last,
    refuse_strides_with_dilation,
    restored,
    set_input_spec,
    spatial,
    with_spatial,
)
from framework.layers.core import PositiveInt
from framework.layers.weights import KernelAndBias, weight
from framework.ops.conv import conv_input

__all__ = ["Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"]


class _Transposed(KernelAndBias, Windowed):
    filters: PositiveInt
    kernel_size: object
    strides: object = 1
    padding: Padding = "valid"
    output_padding: object = None
    data_format: DataFormat = None
    dilation_rate: object = 1
    activation: ActivationField = None
    use_bias: bool = True

    def __post_init__(self):
        super().__post_init__()
        extra = self.output_padding
        if extra is not None:
            self.output_padding = extra = ints(
                extra, type(self)._framework.rank, "output_padding", least=0
            )
            if any(e >= s for e, s in zip(extra, self.strides, strict=True)):
                raise InvalidArgumentError(
                    "`output_padding` must be strictly less than `strides` for all dimensions. "
                    f"Received: output_padding={extra}, strides={self.strides} "
                    f"(layer {self.name!r})."
                )
        refuse_strides_with_dilation(self)

    def build(self, input_shape: ShapeLike) -> None:
        count = set_input_spec(self, input_shape)
        shape = (*self.kernel_size, self.filters, count)
        self.kernel = weight(self, "kernel", shape)
        add_bias(self, self.filters)

    def call(self, inputs: TensorLike) -> Any:
        kernel = self.kernel._as_operand()
        if type(inputs) is not Tensor or inputs.array.dtype != kernel.array.dtype:
            inputs, kernel = promote(inputs, kernel)
        sizes, padding = _target(self, inputs.shape)
        y = conv_input(
            last(inputs, self.data_format), kernel, sizes=sizes, strides=self.strides,
            padding=padding, dilations=self.dilation_rate, groups=1,
        )  # fmt: skip
        return finished(self, restored(y, self.data_format))

    def compute_output_shape(self, input_shape: ShapeLike) -> Any:
        sizes, _ = _target(self, input_shape)
        return with_spatial(input_shape, sizes, self.data_format, self.filters)


class Conv1DTranspose(_Transposed, rank=1):
    """A transposed `Conv1D`: with stride s, the output is s times as long as the input.

    Args:
        filters: the number of output channels.
        kernel_size: the size of the window.
        strides: the step of the window in the output.
        padding: "valid" for `(steps - 1) * strides + kernel_size` outputs, if `kernel_size >=
            strides`; "same" for `steps * strides`.
        output_padding: the number of additional outputs; None for those that `padding` gives.
        data_format: "channels_last", (batch, steps, channels), or "channels_first".
        dilation_rate: the distance between the window's elements.

    Shapes: `(batch, steps, channels)` gives `(batch, new_steps, filters)`.

    >>> import numpy as np
    >>> Conv1DTranspose(32, 3, 2)(np.ones((4, 10, 128))).shape
    TensorShape([4, 21, 32])
    """


class Conv2DTranspose(_Transposed, rank=2):
    """A transposed `Conv2D`: with stride s, the images become s times as large.

    The arguments are those of `Conv1DTranspose`; values may be pairs.

    Shapes: `(batch, height, width, channels)` gives `(batch, new_height, new_width, filters)`.

    >>> import numpy as np
    >>> Conv2DTranspose(8, 4, strides=2, padding="same")(np.ones((2, 7, 7, 3))).shape
    TensorShape([2, 14, 14, 8])
    """

    strides: object = (1, 1)
    dilation_rate: object = (1, 1)


class Conv3DTranspose(_Transposed, rank=3):
    """A transposed `Conv3D`; see `Conv1DTranspose`.

    Shapes: `(batch, a, b, c, channels)` gives `(batch, new_a, new_b, new_c, filters)`.
    """

    strides: object = (1, 1, 1)
    dilation_rate: object = (1, 1, 1)


def _target(layer, input_shape):
    """Return the output's spatial sizes, and the padding of the convolution that is transposed."""
    return transposed(
        spatial(input_shape, layer.data_format), layer.kernel_size, layer.strides,
        layer.padding == "same", layer.output_padding, layer.dilation_rate,
    )  # fmt: skip
