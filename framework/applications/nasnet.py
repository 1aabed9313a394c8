"""NASNet: normal and reduction cells from architecture search; a cell reads two earlier cells."""

from typing import Any

from framework import layers
from framework.applications.blocks import (
    activation,
    add,
    average_pool,
    channel_axis,
    concat,
    conv,
    max_pool,
    norm,
    pad,
    pad_for_stride,
)
from framework.applications.model import NetworkArguments, build, network, predictions
from framework.models.model import Model


def _nasnet(name, model_name, size, stem, last, repeats, skips):
    """Return a function that builds a network.

    Args:
        stem: the channels of the first convolution.
        last: the channels of the features; the first normal cells have 1/24 of this number.
        repeats: the number of normal cells in a row.
        skips: whether the cell after a reduction cell ignores the cell before the reduction cell.
    """
    filters = last // 24

    def body(x):
        x = conv(x, stem, 3, "stem_conv1", strides=2, kernel_initializer="he_normal")
        x, before = _norm(x, "stem_bn1"), None
        for i in (1, 2):
            x, before = _reduction(x, before, filters // (4 // i), f"stem_{i}"), x
        for stage in range(3):
            number = stage * repeats
            if stage:
                reduced = _reduction(x, before, filters * 2**stage, f"reduce_{number}")
                x, before = reduced, before if skips else x
                number += 1
            for i in range(number, number + repeats):
                x, before = _normal(x, before, filters * 2**stage, i), x
        return activation(x, "relu")

    def head(x, options):
        return predictions(layers.GlobalAveragePooling2D()(x), options)

    @network(name, f"{name}: cells found by search", "Zoph et al. 2017, arXiv:1707.07012")
    def build_nasnet(
        input_shape: Any = None, include_top: bool = True, weights: Any = "imagenet",
        input_tensor: Any = None, pooling: str | None = None, classes: int = 1000,
        classifier_activation: Any = "softmax", name: str | None = model_name,
    ) -> Model:  # fmt: skip
        options = NetworkArguments(
            include_top, weights, input_tensor, input_shape, pooling, classes,
            classifier_activation, name,
        )  # fmt: skip
        return build(options, body, head, size=size)

    return build_nasnet


def _norm(x, name):
    return norm(x, name, momentum=0.9997, epsilon=1e-3)


def _narrow(x, filters, conv_name, norm_name):
    """Add ReLU and a 1 x 1 convolution with batch normalization."""
    x = conv(activation(x, "relu"), filters, 1, conv_name, padding="same",
             kernel_initializer="he_normal")  # fmt: skip
    return _norm(x, norm_name)


def _separable(x, filters, size, name, strides=1):
    """Add two separable convolutions; the first one has the given strides."""
    padding, x = "same", activation(x, "relu")
    if strides == 2:
        x, padding = pad_for_stride(x, size, f"separable_conv_1_pad_{name}"), "valid"
    x = layers.SeparableConv2D(
        filters, size, strides=strides, padding=padding, use_bias=False,
        name=f"separable_conv_1_{name}",
    )(x)  # fmt: skip
    x = activation(_norm(x, f"separable_conv_1_bn_{name}"), "relu")
    x = layers.SeparableConv2D(
        filters, size, padding="same", use_bias=False, name=f"separable_conv_2_{name}"
    )(x)
    return _norm(x, f"separable_conv_2_bn_{name}")


def _adjusted(before, x, filters, name):
    """Return the output of an earlier cell reduced to the size of `x`, with `filters` channels."""
    if before is None:
        return x
    row = 1 if channel_axis() == 3 else 2
    if before.shape[row] != x.shape[row]:
        return _halved(before, filters, name)
    if before.shape[channel_axis()] != filters:
        return _narrow(before, filters, f"adjust_conv_projection_{name}", f"adjust_bn_{name}")
    return before


def _halved(x, filters, name):
    """Halve the size: half the channels read pixels (2i, 2j), the others (2i + 1, 2j + 1)."""
    x = activation(x, "relu", f"adjust_relu_1_{name}")
    moved = layers.Cropping2D(((1, 0), (1, 0)))(pad(x, ((0, 1), (0, 1))))
    parts = []
    for i, part in enumerate((x, moved), 1):
        part = average_pool(part, 1, 2, f"adjust_avg_pool_{i}_{name}")  # noqa: PLW2901
        parts.append(
            conv(part, filters // 2, 1, f"adjust_conv_{i}_{name}", padding="same",
                 kernel_initializer="he_normal")
        )  # fmt: skip
    return _norm(concat(parts), f"adjust_bn_{name}")


def _normal(x, before, filters, name):
    p = _adjusted(before, x, filters, name)
    h = _narrow(x, filters, f"normal_conv_1_{name}", f"normal_bn_1_{name}")

    def mean(x, side):
        return average_pool(x, 3, 1, f"normal_{side}_{name}", padding="same")

    def separable(x, size, side):
        return _separable(x, filters, size, f"normal_{side}_{name}")

    pairs = (
        (separable(h, 5, "left1"), separable(p, 3, "right1")),
        (separable(p, 5, "left2"), separable(p, 3, "right2")),
        (mean(h, "left3"), p),
        (mean(p, "left4"), mean(p, "right4")),
        (separable(h, 3, "left5"), h),
    )
    sums = [add(list(pair), f"normal_add_{i}_{name}") for i, pair in enumerate(pairs, 1)]
    return concat([p, *sums], f"normal_concat_{name}")


def _reduction(x, before, filters, name):
    p = _adjusted(before, x, filters, name)
    h = _narrow(x, filters, f"reduction_conv_1_{name}", f"reduction_bn_1_{name}")
    padded = pad_for_stride(h, 3, f"reduction_pad_1_{name}")

    def separable(x, size, side, strides=2):
        return _separable(x, filters, size, f"reduction_{side}_{name}", strides)

    first = add([separable(h, 5, "left1"), separable(p, 7, "right1")], f"reduction_add_1_{name}")
    second = max_pool(padded, 3, 2, f"reduction_left2_{name}")
    second = add([second, separable(p, 7, "right2")], f"reduction_add_2_{name}")
    third = average_pool(padded, 3, 2, f"reduction_left3_{name}")
    third = add([third, separable(p, 5, "right3")], f"reduction_add3_{name}")
    fourth = add([second, average_pool(first, 3, 1, f"reduction_left4_{name}", padding="same")])
    fifth = separable(first, 3, "left4", strides=1)
    fifth = add([fifth, max_pool(padded, 3, 2, f"reduction_right5_{name}")],
                f"reduction_add4_{name}")  # fmt: skip
    return concat([second, third, fourth, fifth], f"reduction_concat_{name}")


NASNetMobile = _nasnet("NASNetMobile", "nasnet_mobile", 224, 32, 1056, 4, skips=False)
NASNetLarge = _nasnet("NASNetLarge", "nasnet_large", 331, 96, 4032, 6, skips=True)
