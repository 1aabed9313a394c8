"""Convolutions over one, two or three spatial axes, and transposed convolutions."""

from typing import Any

from framework.core.argument_types import ShapeLike, TensorLike
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.promotion import strict
from framework.core.tensor import Tensor
from framework.functions import windows
from framework.functions.creation import sizes
from framework.kernels.windows import output_sizes
from framework.ops import conv as ops
from framework.ops import movement


@operation
def convolution(
    input: TensorLike, filters: TensorLike, strides: Any = None, padding: Any = "VALID",
    data_format: Any = None, dilations: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Convolve over one, two or three spatial axes: as many as `filters` has.

    Args:
        input: of shape (batch, *spatial, channels); several leading batch axes are allowed.
        filters: of shape (*size, channels, filters). If `channels` is a fraction of the input's
            channels, such as a half, the convolution is grouped.
        strides: an int, or one for each spatial axis.
        padding: "VALID"; "SAME", for outputs of size ceil(input / stride); or a pair (before,
            after) for each axis of the input, (0, 0) for batch and channels.
        data_format: "NWC", "NHWC", "NDHWC", or channels first: "NCW", "NCHW", "NCDHW".
        dilations: the spacing of the filter's elements: an int, or one for each spatial axis.

    Returns:
        A tensor of shape (batch, *output_spatial, filters).

    >>> import framework as tf
    >>> tf.nn.convolution([[[1.0], [2.0], [4.0]]], [[[1.0]], [[-1.0]]]).numpy().ravel()
    array([-1., -2.], dtype=float32)
    """
    x, w = strict(tensor(input), tensor(filters))
    n = w.ndim - 2
    if not 1 <= n <= 3:
        raise ShapeError(
            "convolution: `filters` must have shape (*size, channels, filters) with one to three "
            f"sizes, got {w.shape}."
        )
    return _convolved(x, w, strides, padding, data_format, dilations, n, "convolution")


@operation
def conv1d(
    input: TensorLike, filters: TensorLike, stride: Any, padding: Any, data_format: Any = "NWC",
    dilations: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Convolve over one axis of input (batch, width, channels); see `convolution`."""
    return _over(1, input, filters, stride, padding, data_format, dilations, "conv1d")


@operation
def conv2d(
    input: TensorLike, filters: TensorLike, strides: Any, padding: Any, data_format: Any = "NHWC",
    dilations: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Convolve over two axes: height and width.

    Args:
        input: of shape (batch, height, width, channels).
        filters: of shape (height, width, channels, out).
        strides, padding, data_format, dilations: as in `convolution`.

    >>> import framework as tf
    >>> tf.nn.conv2d(tf.ones([1, 4, 4, 3]), tf.ones([3, 3, 3, 8]), 1, "SAME").shape
    TensorShape([1, 4, 4, 8])
    """
    return _over(2, input, filters, strides, padding, data_format, dilations, "conv2d")


@operation
def atrous_conv2d(
    value: TensorLike, filters: TensorLike, rate: Any, padding: Any, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Apply `conv2d` with stride 1 and the spacing `rate` between the filter's elements.

    Args:
        value: of shape (batch, height, width, channels).
        filters: of shape (height, width, channels, out).
        rate: an int.
        padding: "SAME" or "VALID".
    """
    what = "atrous_conv2d"
    return _over(2, value, filters, 1, padding, "NHWC", int(rate), what)


@operation
def conv3d(
    input: TensorLike, filters: TensorLike, strides: Any, padding: Any, data_format: Any = "NDHWC",
    dilations: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Convolve over three axes (see `convolution`): depth, height and width."""
    return _over(3, input, filters, strides, padding, data_format, dilations, "conv3d")


def _over(n, input, filters, strides, padding, data_format, dilations, what):
    x, w = strict(tensor(input), tensor(filters))
    _check_filters(w, n, what)
    return _convolved(x, w, strides, padding, data_format, dilations, n, what)


def _check_filters(w, n, what):
    if w.ndim != n + 2:
        raise ShapeError(
            f"{what}: `filters` must have {n + 2} axes (*size, channels, filters), got {w.shape}."
        )


def _convolved(x, w, strides, padding, data_format, dilations, n, what):
    first, window = _window(strides, padding, data_format, dilations, n, what)
    x, batch = windows.one_batch_axis(x, n, what)
    x = windows.last(x, first)
    groups = _groups(x.shape[-1], w, what)
    windows.check_room(x.shape[1:-1], tuple(w.shape[:-2]), **window, what=what)
    y = windows.restored(ops.conv(x, w, **window, groups=groups), first)
    return windows.several_batch_axes(y, batch)


def _window(strides, padding, data_format, dilations, n, what):
    first = windows.channels_first(data_format, n, what)
    return first, {
        "strides": windows.per_axis(1 if strides is None else strides, n, first, what, "strides"),
        "padding": windows.amounts(padding, n, first, what),
        "dilations": windows.per_axis(
            1 if dilations is None else dilations, n, first, what, "dilations"
        ),
    }


def _groups(channels, w, what):
    inner, filters = w.shape[-2:]
    groups = channels // inner if inner else 0
    if not groups or channels % inner or filters % groups:
        raise ShapeError(
            f"{what}: filters of shape {w.shape} expect {inner} input channels, or {inner} in "
            f"each of k groups where k divides {filters}; the input has {channels} channels."
        )
    return groups


# ---- one filter for each channel -----------------------------------------------------------------


@operation
def depthwise_conv2d(
    input: TensorLike, filter: Any, strides: Any, padding: Any, data_format: Any = None,
    dilations: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Convolve each channel with its own filters.

    Args:
        input: of shape (batch, height, width, channels).
        filter: of shape (height, width, channels, multiplier).
        strides, padding, data_format, dilations: as in `convolution`.

    Returns:
        A tensor of shape (batch, *output_spatial, channels * multiplier), grouped by channel.
    """
    x, w = strict(tensor(input), tensor(filter))
    return _depthwise(x, w, strides, padding, data_format, dilations, "depthwise_conv2d")


def _depthwise(x, w, strides, padding, data_format, dilations, what):
    _check_filters(w, 2, what)
    first = windows.channels_first(data_format, 2, what)
    height, width, channels, multiplier = w.shape
    found = x.shape[-3 if first else -1] if x.ndim >= 4 else channels
    if found != channels:
        raise ShapeError(
            f"{what}: filters of shape {w.shape} are for {channels} channels, but the input of "
            f"shape {x.shape} has {found}."
        )
    each = movement.reshape(w, shape=(height, width, 1, channels * multiplier))
    return _convolved(x, each, strides, padding, data_format, dilations, 2, what)


@operation
def separable_conv2d(
    input: TensorLike, depthwise_filter: Any, pointwise_filter: Any, strides: Any, padding: Any,
    data_format: Any = None, dilations: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Apply `depthwise_conv2d`, then a 1 x 1 convolution.

    Args:
        input: of shape (batch, height, width, channels).
        depthwise_filter: of shape (height, width, channels, multiplier).
        pointwise_filter: of shape (1, 1, channels * multiplier, out).
        strides, padding, data_format, dilations: of the depthwise step, as in `convolution`.
    """
    what = "separable_conv2d"
    x, depthwise = strict(tensor(input), tensor(depthwise_filter))
    _, pointwise = strict(x, tensor(pointwise_filter))
    _check_filters(pointwise, 2, what)
    if tuple(pointwise.shape[:2]) != (1, 1):
        raise ShapeError(
            f"{what}: `pointwise_filter` must have shape (1, 1, channels, out), got "
            f"{pointwise.shape}."
        )
    between = _depthwise(x, depthwise, strides, padding, data_format, dilations, what)
    return _convolved(between, pointwise, 1, "VALID", data_format, None, 2, what)


# ---- transposed ----------------------------------------------------------------------------------


@operation
def conv1d_transpose(
    input: TensorLike, filters: TensorLike, output_shape: ShapeLike, strides: Any,
    padding: Any = "SAME", data_format: Any = "NWC", dilations: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Apply the transpose of `conv1d` (its gradient w.r.t. the input); see `conv2d_transpose`."""
    what = "conv1d_transpose"
    return _transposed(
        1, input, filters, output_shape, strides, padding, data_format, dilations, what
    )


@operation
def conv2d_transpose(
    input: TensorLike, filters: TensorLike, output_shape: ShapeLike, strides: Any,
    padding: Any = "SAME", data_format: Any = "NHWC", dilations: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Apply the transpose of `conv2d`, which is its gradient with respect to the input.

    A stride of s makes the result s times as large as the input.

    Args:
        input: of shape (batch, height, width, channels).
        filters: of shape (height, width, out, channels), as for the forward `conv2d`.
        output_shape: the shape of the result, or its spatial sizes only.
        strides, padding, data_format, dilations: of the forward `conv2d`.

    Raises:
        ShapeError: the forward `conv2d` does not map `output_shape` to the input's shape.

    >>> import framework as tf
    >>> small, filters = tf.ones([1, 2, 2, 3]), tf.ones([3, 3, 8, 3])
    >>> tf.nn.conv2d_transpose(small, filters, [1, 4, 4, 8], strides=2).shape
    TensorShape([1, 4, 4, 8])
    """
    what = "conv2d_transpose"
    return _transposed(
        2, input, filters, output_shape, strides, padding, data_format, dilations, what
    )


@operation
def conv3d_transpose(
    input: TensorLike, filters: TensorLike, output_shape: ShapeLike, strides: Any,
    padding: Any = "SAME", data_format: Any = "NDHWC", dilations: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Apply the transpose of `conv3d` (its gradient w.r.t. the input); see `conv2d_transpose`."""
    what = "conv3d_transpose"
    return _transposed(
        3, input, filters, output_shape, strides, padding, data_format, dilations, what
    )


@operation
def conv_transpose(
    input: TensorLike, filters: TensorLike, output_shape: ShapeLike, strides: Any,
    padding: Any = "SAME", data_format: Any = None, dilations: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Apply `conv1d_transpose`, `conv2d_transpose` or `conv3d_transpose`, by the rank of `input`.

    >>> import framework as tf
    >>> small, filters = tf.ones([1, 2, 2, 3]), tf.ones([3, 3, 8, 3])
    >>> tf.nn.conv_transpose(small, filters, [1, 4, 4, 8], strides=2).shape
    TensorShape([1, 4, 4, 8])
    """
    what, n = "conv_transpose", tensor(filters).ndim - 2
    if not 1 <= n <= 3:
        raise ShapeError(
            f"{what}: `filters` must have shape (*size, out, channels) with one to three sizes, "
            f"got {tensor(filters).shape}."
        )
    return _transposed(
        n, input, filters, output_shape, strides, padding, data_format, dilations, what
    )


@operation
def atrous_conv2d_transpose(
    value: TensorLike, filters: TensorLike, output_shape: ShapeLike, rate: Any, padding: Any,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Apply `conv2d_transpose` with stride 1 and the spacing `rate` between filter elements.

    Args:
        value: of shape (batch, height, width, channels).
        filters: of shape (height, width, out, channels).
        output_shape: the shape of the result.
        rate: an int.
        padding: "SAME" or "VALID".
    """
    what = "atrous_conv2d_transpose"
    return _transposed(2, value, filters, output_shape, 1, padding, "NHWC", int(rate), what)


def _transposed(n, input, filters, output_shape, strides, padding, data_format, dilations, what):
    x, w = strict(tensor(input), tensor(filters))
    _check_filters(w, n, what)
    first, window = _window(strides, padding, data_format, dilations, n, what)
    x, batch = windows.one_batch_axis(x, n, what)
    x = windows.last(x, first)
    if w.shape[-1] != x.shape[-1]:
        raise ShapeError(
            f"{what}: filters of shape {w.shape} (*size, out, channels) expect {w.shape[-1]} "
            f"channels, but the input has {x.shape[-1]}."
        )
    wanted = _spatial_of(output_shape, n, first, w.shape[-2], what)
    places = output_sizes(wanted, tuple(w.shape[:-2]), **window)
    if any(m not in (None, p) for m, p in zip(x.shape[1:-1], places)):
        raise ShapeError(
            f"{what}: the forward convolution maps output_shape={tuple(output_shape)} to spatial "
            f"sizes {places}, but the input has {tuple(x.shape[1:-1])}."
        )
    y = windows.restored(ops.conv_input(x, w, sizes=wanted, **window, groups=1), first)
    return windows.several_batch_axes(y, batch)


def _spatial_of(output_shape, n, first, channels, what):
    shape = sizes(output_shape, what)
    if len(shape) == n:
        return shape
    if len(shape) < n + 2 or shape[-1 - n if first else -1] != channels:
        raise InvalidArgumentError(
            f"{what}: `output_shape` must be {n} spatial sizes, or all {n + 2} with the {channels} "
            f"output channels of `filters`; got {shape}."
        )
    return shape[-n:] if first else shape[-1 - n : -1]
