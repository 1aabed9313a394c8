"""keras.ops for convolutions, over one, two or three spatial axes."""

from typing import Any

from framework.core.argument_types import TensorLike
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.program_settings import data_format_of
from framework.core.promotion import promote
from framework.core.tensor import Tensor
from framework.functions.windows import check_room, last, restored
from framework.keras.ops.argument_conversion import ints
from framework.kernels.windows import output_sizes, transposed
from framework.ops import conv as ops


@operation
def conv(
    inputs: TensorLike, kernel: TensorLike, strides: Any = 1, padding: Any = "valid",
    data_format: Any = None, dilation_rate: Any = 1,
) -> Tensor:  # fmt: skip
    """Convolve the inputs with a kernel over all spatial axes.

    Args:
        inputs: (batch, *spatial, channels), or with "channels_first" (batch, channels, *spatial).
        kernel: (*size, channels, filters). If its channels are a divisor of the
            inputs' channels, the convolution is grouped.
        strides, dilation_rate: an int, or one for each spatial axis.
        padding: "valid", or "same" for outputs of size `ceil(size / stride)`.
        data_format: "channels_last" or "channels_first".

    >>> from framework import keras
    >>> keras.ops.conv(keras.ops.ones((1, 4, 4, 3)), keras.ops.ones((3, 3, 3, 8))).shape
    TensorShape([1, 2, 2, 8])
    """
    x, w = _operands(inputs, kernel, "conv")
    first = _channels_first(data_format, "conv")
    window = _window(strides, padding, dilation_rate, w, "conv")
    return restored(_convolved(last(x, first), w, window, "conv"), first)


@operation
def depthwise_conv(
    inputs: TensorLike, kernel: TensorLike, strides: Any = 1, padding: Any = "valid",
    data_format: Any = None, dilation_rate: Any = 1,
) -> Tensor:  # fmt: skip
    """Convolve each channel with its own filters: kernel (*size, channels, multiplier)."""
    x, w = _operands(inputs, kernel, "depthwise_conv")
    first = _channels_first(data_format, "depthwise_conv")
    window = _window(strides, padding, dilation_rate, w, "depthwise_conv")
    return restored(_depthwise(last(x, first), w, window, "depthwise_conv"), first)


@operation
def separable_conv(
    inputs: TensorLike, depthwise_kernel: Any, pointwise_kernel: Any, strides: Any = 1,
    padding: Any = "valid", data_format: Any = None, dilation_rate: Any = 1,
) -> Tensor:  # fmt: skip
    """Apply `depthwise_conv`, then `conv` with a pointwise kernel (*ones, channels, filters)."""
    what = "separable_conv"
    x, each = _operands(inputs, depthwise_kernel, what)
    x, across = _operands(x, pointwise_kernel, what)
    first = _channels_first(data_format, what)
    window = _window(strides, padding, dilation_rate, each, what)
    between = _depthwise(last(x, first), each, window, what)
    return restored(_convolved(between, across, _window(1, "valid", 1, across, what), what), first)


@operation
def conv_transpose(
    inputs: TensorLike, kernel: TensorLike, strides: Any = 1, padding: Any = "valid",
    output_padding: Any = None, data_format: Any = None, dilation_rate: Any = 1,
) -> Tensor:  # fmt: skip
    """Apply the transpose (adjoint) of `conv`, with a kernel (*size, filters, channels).

    Args:
        inputs, strides, padding, data_format, dilation_rate: as in `conv`.
        output_padding: an int below the stride, or one for each axis, added to the smallest
            possible size. With None, n becomes n * stride for "same", and
            (n - 1) * stride + max(size, stride) for "valid".

    Raises:
        ValueError: `output_padding` is not below the stride.
    """
    what = "conv_transpose"
    x, w = _operands(inputs, kernel, what)
    first = _channels_first(data_format, what)
    x = last(x, first)
    if w.shape[-1] != x.shape[-1]:
        raise ShapeError(
            f"{what}: a kernel of shape {w.shape} (*size, filters, channels) expects "
            f"{w.shape[-1]} channels, but the inputs have {x.shape[-1]}."
        )
    window = _window(strides, padding, dilation_rate, w, what)
    extra = None
    if output_padding is not None:
        extra = _per_axis(output_padding, w.ndim - 2, "output_padding", what, least=0)
    how = w.shape[:-2], window["strides"], window["padding"] == "SAME", extra, window["dilations"]
    sizes, amounts = transposed(x.shape[1:-1], *how)
    window["padding"] = amounts
    # the check of output_padding does not depend on sizes, so it uses size 1
    ones = (1,) * len(sizes)
    if output_sizes(transposed(ones, *how)[0], w.shape[:-2], **window) != ones:
        raise InvalidArgumentError(
            f"{what}: output_padding must be less than strides, got output_padding="
            f"{output_padding} and strides={strides}."
        )
    return restored(ops.conv_input(x, w, sizes=sizes, groups=1, **window), first)


def _operands(inputs, kernel, what):
    x, w = promote(inputs, kernel)
    if not 3 <= w.ndim <= 5 or x.ndim != w.ndim:
        raise ShapeError(
            f"{what}: inputs (batch, spatial axes, channels) and kernel must have the same number "
            f"of axes, 3 to 5, got shapes {tuple(x.shape)} and {tuple(w.shape)}."
        )
    return x, w


def _channels_first(data_format, what):
    return data_format_of(data_format, f"{what}: ") == "channels_first"


def _window(strides, padding, dilation_rate, w, what):
    n = w.ndim - 2
    amounts = {"same": "SAME", "valid": ((0, 0),) * n}.get(str(padding).lower())
    if amounts is None:
        raise InvalidArgumentError(f"{what}: padding must be 'valid' or 'same', got {padding!r}.")
    return {
        "strides": _per_axis(strides, n, "strides", what),
        "padding": amounts,
        "dilations": _per_axis(dilation_rate, n, "dilation_rate", what),
    }


def _per_axis(value, n, name, what, least=1):
    found = ints(value)
    found = found * n if len(found) == 1 else found
    if len(found) != n or min(found) < least:
        raise InvalidArgumentError(
            f"{what}: {name} must be an int of {least} or more, or {n} of them, got {value!r}."
        )
    return found


def _convolved(x, w, window, what):
    inner, filters = w.shape[-2:]
    groups = x.shape[-1] // inner if inner else 0
    if not groups or x.shape[-1] % inner or filters % groups:
        raise ShapeError(
            f"{what}: the number of input channels must be evenly divisible by the kernel's, and "
            f"the number of filters by their quotient; got {x.shape[-1]} channels and a kernel "
            f"of shape {w.shape}."
        )
    check_room(x.shape[1:-1], w.shape[:-2], **window, what=what)
    return ops.conv(x, w, groups=groups, **window)


def _depthwise(x, w, window, what):
    if w.shape[-2] != x.shape[-1]:
        raise ShapeError(
            f"{what}: a kernel of shape {w.shape} is for {w.shape[-2]} channels, but the inputs "
            f"have {x.shape[-1]}."
        )
    check_room(x.shape[1:-1], w.shape[:-2], **window, what=what)
    return ops.depthwise(x, w, **window)
