"""tf.image: colors, brightness, contrast, and conversion of dtypes.

Integers are converted to floats from 0 to 1, changed, and converted back.
"""

from typing import Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import DTypeLike, TensorLike
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.tensor import Tensor
from framework.functions.image_layout import axes_of, converted, images_of, in_floats
from framework.ops import colors as _colors
from framework.ops.casting import like, widened
from framework.ops.elementwise import divide, identity, maximum, power, sqrt, square
from framework.ops.movement import broadcast_to
from framework.ops.reduction import reduce_mean

# ---- dtypes --------------------------------------------------------------------------------------


@operation
def convert_image_dtype(
    image: TensorLike, dtype: DTypeLike, saturate: bool = False, name: str | None = None
) -> Tensor:
    """Convert images between integers and floats from 0 to 1.

    Args:
        image: a tensor; integers are from 0 to the maximum of their dtype, floats from 0 to 1.
        dtype: an integer or floating dtype.
        saturate: True to clip values to the range of `dtype`.

    Raises:
        AttributeError: a dtype is neither an integer nor a floating dtype.

    >>> import framework as tf
    >>> tf.image.convert_image_dtype([0.0, 0.5, 1.0], tf.uint8).numpy()
    array([  0, 127, 255], dtype=uint8)
    """
    x, dtype = tensor(image), dtypes.as_dtype(dtype)
    for found in (x.dtype, dtype):
        if not found.is_floating and not found.is_integer:
            raise AttributeError(
                f"convert_image_dtype: expected an integer or floating dtype, got {found}."
            )
    return identity(x) if x.dtype == dtype else converted(x, dtype, saturate)


# ---- brightness and contrast ---------------------------------------------------------------------


@operation
def adjust_brightness(image: TensorLike, delta: Any) -> Tensor:
    """Add `delta`, from -1 to 1, to the values of images.

    >>> import framework as tf
    >>> tf.image.adjust_brightness(tf.constant([[[100]]], tf.uint8), 0.5).numpy().ravel()
    array([227], dtype=uint8)
    """
    return in_floats(tensor(image), lambda x: x + _number(delta, x))


def _number(value, x):
    """Convert `value`, a number or tensor, to a tensor with the dtype of `x`."""
    return cast(tensor(value), dtype=x.dtype.np)


@operation
def adjust_contrast(images: TensorLike, contrast_factor: Any) -> Tensor:
    """Scale the difference of each value from the mean of its channel by a factor.

    Args:
        images: (height, width, channels), or with more leading axes.
        contrast_factor: a number.
    """
    x = tensor(images)
    if x.ndim < 3:
        raise ShapeError(
            f"adjust_contrast: `images` must have rank 3 or more, got shape {tuple(x.shape)}."
        )

    def changed(x):
        wide = widened(x)
        mean = reduce_mean(wide, axis=(x.ndim - 3, x.ndim - 2), keepdims=True)
        return like((wide - mean) * _number(contrast_factor, wide) + mean, x)

    return in_floats(x, changed)


@operation
def adjust_gamma(image: TensorLike, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """Return gain * image ** gamma.

    Raises:
        ValueError: `gamma` is negative.
    """
    if isinstance(gamma, (int, float)) and gamma < 0:
        raise InvalidArgumentError(f"adjust_gamma: `gamma` must not be negative, got {gamma!r}.")
    return in_floats(tensor(image), lambda x: _number(gain, x) * power(x, _number(gamma, x)))


@operation
def per_image_standardization(image: TensorLike) -> Tensor:
    """Scale each image to mean 0 and standard deviation 1.

    The deviation counts as at least 1 / sqrt(number of values), so that an image of one color
    gives zeros.

    Args:
        image: (height, width, channels), or a batch; integers are not scaled.

    Returns:
        float32.

    >>> import framework as tf
    >>> tf.image.per_image_standardization([[[1], [3]]]).numpy().ravel()
    array([-1.,  1.], dtype=float32)
    """
    x = cast(images_of(image, "per_image_standardization"), dtype=np.dtype(np.float32))
    axes = (*axes_of(x), x.ndim - 1)
    x = x - reduce_mean(x, axis=axes, keepdims=True)
    variance = reduce_mean(square(x), axis=axes, keepdims=True)
    least = np.float32(1 / np.prod([x.shape[a] for a in axes]))
    return divide(x, sqrt(maximum(variance, least)))


# ---- hue and saturation --------------------------------------------------------------------------


def _three(x, what):
    if x.ndim < 1 or x.shape[-1] != 3:
        raise ShapeError(f"{what}: expected 3 channels, got shape {tuple(x.shape)}.")
    return x


@operation
def adjust_hue(image: TensorLike, delta: Any, name: str | None = None) -> Tensor:
    """Rotate the hue of RGB images by `delta` turns.

    Args:
        image: (..., 3).
        delta: from -1 to 1.

    Raises:
        ValueError: `delta` is out of range, or there are not 3 channels.
    """
    if isinstance(delta, (int, float)) and not -1 <= delta <= 1:
        raise InvalidArgumentError(f"adjust_hue: `delta` must be from -1 to 1, got {delta!r}.")
    x = _three(tensor(image), "adjust_hue")
    return in_floats(
        x, lambda x: like(_colors.turned(widened(x), _number(delta, widened(x))), x), False
    )


@operation
def adjust_saturation(image: TensorLike, saturation_factor: Any, name: str | None = None) -> Tensor:
    """Multiply the saturation of RGB images by a factor, and clip it to at most 1.

    Args:
        image: (..., 3).
        saturation_factor: a number.
    """
    x = _three(tensor(image), "adjust_saturation")

    def changed(x):
        wide = widened(x)
        return like(_colors.saturated(wide, _number(saturation_factor, wide)), x)

    return in_floats(x, changed, False)


def _floats(images, what):
    x = _three(tensor(images), what)
    if not x.dtype.is_floating:
        raise DTypeError(
            f"{what}: expected floating images, got {x.dtype}. Use tf.image.convert_image_dtype."
        )
    return x


@operation
def rgb_to_hsv(images: TensorLike, name: str | None = None) -> Tensor:
    """Convert red, green and blue (..., 3), from 0 to 1, to hue, saturation and value.

    >>> import framework as tf
    >>> tf.image.rgb_to_hsv([[[0.0, 0.5, 0.5]]]).numpy().ravel()
    array([0.5, 1. , 0.5], dtype=float32)
    """
    return _colors.rgb_to_hsv(_floats(images, "rgb_to_hsv"))


@operation
def hsv_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """Convert hue, saturation and value (..., 3), from 0 to 1, to red, green and blue."""
    return _colors.hsv_to_rgb(_floats(images, "hsv_to_rgb"))


# ---- YIQ, YUV and gray ---------------------------------------------------------------------------


@operation
def rgb_to_yiq(images: TensorLike) -> Tensor:
    """Convert red, green and blue (..., 3) to luma and the chroma components I and Q."""
    return _colors.mixed(_floats(images, "rgb_to_yiq"), _colors.YIQ)


@operation
def yiq_to_rgb(images: TensorLike) -> Tensor:
    """Convert luma and the chroma components I and Q (..., 3) to red, green and blue."""
    return _colors.mixed(_floats(images, "yiq_to_rgb"), _colors.RGB_OF_YIQ)


@operation
def rgb_to_yuv(images: TensorLike) -> Tensor:
    """Convert red, green and blue (..., 3) to luma and the chroma components U and V."""
    return _colors.mixed(_floats(images, "rgb_to_yuv"), _colors.YUV)


@operation
def yuv_to_rgb(images: TensorLike) -> Tensor:
    """Convert luma and the chroma components U and V (..., 3) to red, green and blue."""
    return _colors.mixed(_floats(images, "yuv_to_rgb"), _colors.RGB_OF_YUV)


@operation
def rgb_to_grayscale(images: TensorLike, name: str | None = None) -> Tensor:
    """Return the brightness 0.2989 red + 0.587 green + 0.114 blue as the only channel.

    >>> import framework as tf
    >>> tf.image.rgb_to_grayscale(tf.constant([[[255, 0, 0]]], tf.uint8)).numpy().ravel()
    array([76], dtype=uint8)
    """
    x = _three(tensor(images), "rgb_to_grayscale")
    floats = converted(x, dtypes.float32)
    return converted(_colors.mixed(floats, np.array(_colors.LUMA)[:, None]), x.dtype)


@operation
def grayscale_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """Repeat the only channel of images (..., 1) three times."""
    x = tensor(images)
    if x.ndim < 2 or x.shape[-1] != 1:
        raise ShapeError(f"grayscale_to_rgb: expected one channel, got shape {tuple(x.shape)}.")
    return broadcast_to(x, shape=(*x.shape[:-1], 3))
