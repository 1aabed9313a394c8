"""Functions that create a layer of a network and call it on a tensor.

`name` is the layer's name.
"""

from typing import Any

from framework import layers
from framework.core.program_settings import image_data_format


def channel_axis():
    """Return the axis of the channels: 3, or 1 if images are "channels_first"."""
    return 3 if image_data_format() == "channels_last" else 1


def conv(x, filters, size, name=None, *, strides=1, padding="valid", use_bias=False, **settings):
    """Return a convolution of `x` with a window of `size` (an int or a pair)."""
    return layers.Conv2D(
        filters, size, strides=strides, padding=padding, use_bias=use_bias, name=name, **settings
    )(x)


def depthwise(x, size, name, *, strides=1, padding="same", **settings):
    """Return a depthwise convolution of `x`, without bias."""
    return layers.DepthwiseConv2D(
        size, strides=strides, padding=padding, use_bias=False, name=name, **settings
    )(x)


def norm(x, name=None, **settings):
    """Return `x` with batch normalization of the channels."""
    return layers.BatchNormalization(axis=channel_axis(), name=name, **settings)(x)


def activation(x, function, name=None):
    """Return the result of an activation function for `x`."""
    return layers.Activation(function, name=name)(x)


def pad(x, padding, name=None):
    """Return the images `x` with zeros around them."""
    return layers.ZeroPadding2D(padding, name=name)(x)


def max_pool(x, size, strides, name=None, padding="valid"):
    """Return the images `x` after max pooling."""
    return layers.MaxPooling2D(size, strides=strides, padding=padding, name=name)(x)


def average_pool(x, size, strides, name=None, padding="valid"):
    """Return the images `x` after average pooling."""
    return layers.AveragePooling2D(size, strides=strides, padding=padding, name=name)(x)


def concat(parts, name=None):
    """Return the tensors `parts`, concatenated along the channel axis."""
    return layers.Concatenate(axis=channel_axis(), name=name)(parts)


def add(parts, name=None):
    """Return the sum of the tensors `parts`."""
    return layers.Add(name=name)(parts)


def pad_for_stride(x: Any, size: int, name: str):
    """Return the images with TensorFlow's padding for a "same" convolution of stride 2.

    An even size gets one more row of zeros at its end than at its start. The published weights
    were trained with this padding.
    """
    half = size // 2
    axes = (1, 2) if image_data_format() == "channels_last" else (2, 3)
    odd = [(x.shape[a] or 0) % 2 for a in axes]
    return pad(x, tuple((half - 1 + is_odd, half) for is_odd in odd), name)


def divisible(count, divisor=8):
    """Return the multiple of `divisor` nearest to `count`, at most 10 % below it."""
    rounded = max(divisor, int(count + divisor / 2) // divisor * divisor)
    return rounded + divisor if rounded < 0.9 * count else rounded
