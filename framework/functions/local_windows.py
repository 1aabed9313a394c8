"""Functions of the neighborhood of each pixel: dilation, erosion, response normalization."""

from typing import Any

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.promotion import floating, strict
from framework.core.tensor import Tensor
from framework.functions import windows
from framework.functions.contraction import matmul
from framework.functions.wrappers import number
from framework.kernels.windows import amounts, cells, padded
from framework.ops import elementwise, movement, reduction
from framework.ops.patches import patches


def _window(w, strides, padding, dilations, what):
    padding = str(padding).upper()
    if padding not in ("SAME", "VALID"):
        raise InvalidArgumentError(f"{what}: `padding` must be 'SAME' or 'VALID', got {padding!r}.")
    return {
        "size": tuple(w.shape[:2]),
        "strides": windows.per_axis(strides, 2, False, what, "strides"),
        "padding": "SAME" if padding == "SAME" else ((0, 0),) * 2,
        "dilations": windows.per_axis(dilations, 2, False, what, "dilations"),
    }


def _dilated(x, w, strides, padding, data_format, dilations, what):
    """Return the maximum of pixel + filter in each window; the first maximum gets the gradient."""
    if data_format != "NHWC":
        raise InvalidArgumentError(f"{what}: `data_format` must be 'NHWC', got {data_format!r}.")
    if x.ndim != 4 or w.ndim != 3 or x.shape[-1] != w.shape[-1]:
        raise ShapeError(
            f"{what}: expected images (batch, height, width, channels) and filters (height, width, "
            f"channels), got shapes {x.shape} and {w.shape}."
        )
    window = _window(w, strides, padding, dilations, what)
    places = windows.check_room(tuple(x.shape[1:-1]), **window, what=what)
    window["padding"] = amounts(window["padding"], tuple(x.shape[1:-1]), **_sizes(window))
    inside = padded(np.ones((1, *x.shape[1:-1], 1), bool), window["padding"], False)
    wide = movement.pad(x, widths=((0, 0), *window["padding"], (0, 0)))
    lowest = _lowest(x.dtype.np)
    shifted = []
    steps = window["size"], window["strides"], window["dilations"], places
    for (row, column), index in cells(*steps):
        moved = movement.getitem(wide, index=index) + movement.getitem(w, index=(row, column))
        shifted.append(elementwise.select(inside[index], moved, lowest))
    every = movement.stack(*shifted, axis=4)
    first = reduction.argmax(every, axis=4, dtype=np.dtype(np.int64))
    chosen = movement.take_along_axis(every, movement.expand_axes(first, (4,)), axis=4)
    return movement.getitem(chosen, index=(Ellipsis, 0))


def _sizes(window):
    return {name: window[name] for name in ("size", "strides", "dilations")}


def _lowest(dtype):
    return np.array(np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf, dtype)


@operation
def dilation2d(
    input: TensorLike, filters: TensorLike, strides: Any, padding: Any, data_format: Any,
    dilations: Any, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the maximum over each window of the pixels plus the filter, for each channel.

    Args:
        input: (batch, height, width, channels).
        filters: (height, width, channels).
        strides, dilations: [1, rows, columns, 1].
        padding: "SAME" or "VALID"; positions outside the image are ignored.
        data_format: "NHWC".

    >>> import framework as tf
    >>> image, ones = tf.reshape(tf.range(9.0), [1, 3, 3, 1]), [1, 1, 1, 1]
    >>> y = tf.nn.dilation2d(image, tf.zeros([2, 2, 1]), ones, "VALID", "NHWC", ones)
    >>> y.numpy().ravel()
    array([4., 5., 7., 8.], dtype=float32)
    """
    x, w = strict(number(input, "dilation2d"), tensor(filters))
    return _dilated(x, w, strides, padding, data_format, dilations, "dilation2d")


@operation
def erosion2d(
    value: TensorLike, filters: TensorLike, strides: Any, padding: Any, data_format: Any,
    dilations: Any, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the minimum over each window of the pixels minus the filter turned by 180°.

    The arguments are those of `dilation2d`.
    """
    x, w = strict(number(value, "erosion2d"), tensor(filters))
    turned, minus = movement.flip(w, axis=(0, 1)), elementwise.negative(x)
    y = _dilated(minus, turned, strides, padding, data_format, dilations, "erosion2d")
    return elementwise.negative(y)


@operation
def local_response_normalization(
    input: TensorLike, depth_radius: Any = 5, bias: Any = 1, alpha: Any = 1, beta: Any = 0.5,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return input / (bias + alpha * s)^beta; s is the sum of squares over neighboring channels.

    Krizhevsky et al. 2012, section 3.3.

    Args:
        input: (batch, height, width, channels).
        depth_radius: the number of neighboring channels on each side.
        bias, alpha, beta: numbers.

    >>> import framework as tf
    >>> tf.nn.lrn(tf.ones([1, 1, 1, 3]), depth_radius=1).numpy().ravel().round(4)
    array([0.5774, 0.5   , 0.5774], dtype=float32)
    """
    x = floating(input, "local_response_normalization")
    if x.ndim != 4:
        raise ShapeError(
            "local_response_normalization: expected (batch, height, width, channels), got shape "
            f"{x.shape}. The input must be 4-dimensional."
        )
    channels = np.arange(x.shape[-1])
    near = np.abs(channels[:, None] - channels) <= int(depth_radius)
    total = matmul(elementwise.square(x), Tensor(near.astype(x.dtype.np)))
    return elementwise.divide(x, elementwise.power(total * float(alpha) + float(bias), float(beta)))


lrn = local_response_normalization


@operation
def extract_volume_patches(
    input: TensorLike, ksizes: Any, strides: Any, padding: Any, name: str | None = None
) -> Tensor:
    """Return the patches of volumes, each flattened to the channels of one output position.

    Args:
        input: (batch, planes, rows, columns, channels).
        ksizes: the size of a patch: [1, planes, rows, columns, 1].
        strides: the distance between patches, in the same form.
        padding: "SAME" or "VALID".

    >>> import framework as tf
    >>> window = [1, 2, 2, 2, 1]
    >>> tf.extract_volume_patches(tf.zeros([1, 4, 4, 6, 3]), window, window, "VALID").shape
    TensorShape([1, 2, 2, 3, 24])
    """
    what, x = "extract_volume_patches", tensor(input)
    if x.ndim != 5 or str(padding).upper() not in ("SAME", "VALID"):
        raise InvalidArgumentError(
            f"{what}: expected an input of rank 5 and `padding` 'SAME' or 'VALID', got shape "
            f"{x.shape} and {padding!r}."
        )
    size, steps = (
        windows.per_axis(values, 3, False, what, name)
        for name, values in (("ksizes", ksizes), ("strides", strides))
    )
    window = {"size": size, "strides": steps, "dilations": (1, 1, 1)}
    return patches(x, **window, padding=str(padding).upper())
