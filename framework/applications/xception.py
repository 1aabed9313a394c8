"""Xception: depthwise separable convolutions with residual connections."""

from typing import Any

from framework import layers
from framework.applications.blocks import activation, add, conv, max_pool, norm
from framework.applications.model import NetworkArguments, build, network
from framework.models.model import Model

_MIDDLE = 728  # the number of channels of the eight blocks in the middle flow


@network("Xception", "Xception: separable convolutions", "Chollet 2016, arXiv:1610.02357")
def Xception(  # noqa: N802 (Keras's name)
    include_top: bool = True, weights: Any = "imagenet", input_tensor: Any = None,
    input_shape: Any = None, pooling: str | None = None, classes: int = 1000,
    classifier_activation: Any = "softmax", name: str | None = "xception",
) -> Model:  # fmt: skip
    return build(
        NetworkArguments(
            include_top,
            weights,
            input_tensor,
            input_shape,
            pooling,
            classes,
            classifier_activation,
            name,
        ),
        _body,
        size=299,
        least=71,
    )


def _body(x):
    for i, (filters, strides) in enumerate(((32, 2), (64, 1)), 1):
        name = f"block1_conv{i}"
        x = norm(conv(x, filters, 3, name, strides=strides), f"{name}_bn")
        x = activation(x, "relu", f"{name}_act")
    for block, filters in ((2, 128), (3, 256), (4, _MIDDLE)):
        x = _halving(x, f"block{block}", (filters, filters), starts_with_relu=block > 2)
    for block in range(5, 13):
        y = x
        for i in (1, 2, 3):
            y = _relu_separable(y, _MIDDLE, f"block{block}_sepconv{i}")
        x = add([y, x])
    x = _halving(x, "block13", (_MIDDLE, 1024), starts_with_relu=True)
    for i, filters in ((1, 1536), (2, 2048)):
        name = f"block14_sepconv{i}"
        x = activation(_separable(x, filters, name), "relu", f"{name}_act")
    return x


def _separable(x, filters, name):
    x = layers.SeparableConv2D(filters, 3, padding="same", use_bias=False, name=name)(x)
    return norm(x, f"{name}_bn")


def _relu_separable(x, filters, name):
    return _separable(activation(x, "relu", f"{name}_act"), filters, name)


def _halving(x, name, filters, starts_with_relu):
    """Add two convolutions and a pooling; the residual connection is a convolution of stride 2."""
    shortcut = norm(conv(x, filters[-1], 1, strides=2, padding="same"))
    first = _relu_separable if starts_with_relu else _separable
    y = first(x, filters[0], f"{name}_sepconv1")
    y = _relu_separable(y, filters[1], f"{name}_sepconv2")
    return add([max_pool(y, 3, 2, f"{name}_pool", padding="same"), shortcut])
