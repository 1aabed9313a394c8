"""keras.ops.image: conversion of images between RGB, HSV and gray.

>>> from framework import keras
>>> keras.ops.image.rgb_to_hsv(np.array([[[0.0, 0.5, 0.0]]])).numpy().ravel().round(3)
array([0.333, 1.   , 0.5  ])
"""

from typing import Any

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.cast import cast
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.tensor import Tensor
from framework.keras.ops.argument_conversion import floating
from framework.keras.ops.image_layout import ImageLayout, images_of, is_first
from framework.ops import colors as _colors
from framework.ops.casting import like, widened


def _colored(images, data_format, what, allowed=(3,)):
    """Return the images as a tensor, and their ImageLayout."""
    x = images_of(images, what)
    layout = ImageLayout(x, is_first(data_format, what))
    count = x.shape[-3 if layout.first else -1]
    if count is not None and count not in allowed:
        raise ShapeError(
            f"{what}: expected {' or '.join(map(str, allowed))} channels, got {count}, shape "
            f"{tuple(x.shape)}. For (channels, height, width) pass data_format='channels_first'."
        )
    return x, layout


def _converted(function, images, data_format, what):
    x, layout = _colored(images, data_format, what)
    if not x.dtype.is_floating:
        raise InvalidArgumentError(
            f"{what}: expected floating images from 0 to 1, got {x.dtype}. Divide them by 255."
        )
    y = function(widened(layout.batch(x)))
    return layout.restored(like(y, x))


@operation
def rgb_to_hsv(images: TensorLike, data_format: Any = None) -> Tensor:
    """Convert red, green and blue to hue, saturation and value, all from 0 to 1.

    Args:
        images: floats from 0 to 1 of shape (batch, height, width, 3), or one image of rank 3.
        data_format: "channels_last" or "channels_first".

    Returns:
        The same shape. Hue is 0 for red, 1/3 for green, 2/3 for blue, and 0 for gray.

    Raises:
        ValueError: the images are integers, or the shape is wrong.
    """
    return _converted(_colors.rgb_to_hsv, images, data_format, "rgb_to_hsv")


@operation
def hsv_to_rgb(images: TensorLike, data_format: Any = None) -> Tensor:
    """Convert hue, saturation and value to red, green and blue, all from 0 to 1.

    Args:
        images: floats from 0 to 1 of shape (batch, height, width, 3), or one image of rank 3.
        data_format: "channels_last" or "channels_first".

    Raises:
        ValueError: the images are integers, or the shape is wrong.
    """
    return _converted(_colors.hsv_to_rgb, images, data_format, "hsv_to_rgb")


@operation
def rgb_to_grayscale(images: TensorLike, data_format: Any = None) -> Tensor:
    """Return the brightness 0.2989 red + 0.587 green + 0.114 blue as the only channel.

    Args:
        images: (batch, height, width, 3), or one image of rank 3; images with one channel stay.
        data_format: "channels_last" or "channels_first".

    Returns:
        The dtype of `images`; integers are truncated.

    Raises:
        ValueError: the shape is wrong.

    Example:
        >>> from framework import keras
        >>> keras.ops.image.rgb_to_grayscale(np.uint8([[[255, 0, 0]]])).numpy().ravel()
        array([76], dtype=uint8)
    """
    x, layout = _colored(images, data_format, "rgb_to_grayscale", (1, 3))
    if x.shape[-3 if layout.first else -1] == 1:
        return x
    y = _colors.mixed(floating(layout.batch(x)), np.array(_colors.LUMA)[:, None])
    return layout.restored(cast(y, dtype=x.dtype.np))
