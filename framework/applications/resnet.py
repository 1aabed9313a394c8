"""ResNet and ResNetV2 with 50, 101 and 152 layers: bottleneck blocks with residual connections."""

from typing import Any

from framework.applications.blocks import activation, add, conv, max_pool, norm, pad
from framework.applications.model import NetworkArguments, build, network
from framework.models.model import Model

_PAPER = "He et al. 2015, arXiv:1512.03385"
_PAPER_2 = "He et al. 2016, arXiv:1603.05027"
_EPSILON = 1.001e-5
_FILTERS = 64, 128, 256, 512  # the numbers of filters in the stages conv2 to conv5


def _resnet(name, counts, stage, preactivation, paper):
    """Return a function that builds a network with `counts[i]` blocks in stage i."""

    def body(x):
        x = conv(pad(x, 3, "conv1_pad"), 64, 7, "conv1_conv", strides=2, use_bias=True)
        if not preactivation:
            x = _norm_relu(x, "conv1")
        x = max_pool(pad(x, 1, "pool1_pad"), 3, 2, "pool1_pool")
        for i, (filters, count) in enumerate(zip(_FILTERS, counts, strict=True)):
            x = stage(x, filters, count, f"conv{i + 2}", i)
        return _norm_relu(x, "post") if preactivation else x

    @network(name, f"{name}: bottleneck blocks with residual connections", paper)
    def build_resnet(
        include_top: bool = True, weights: Any = "imagenet", input_tensor: Any = None,
        input_shape: Any = None, pooling: str | None = None, classes: int = 1000,
        classifier_activation: Any = "softmax", name: str | None = name.lower(),
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
            body,
        )

    return build_resnet


def _norm_relu(x, name):
    return activation(norm(x, f"{name}_bn", epsilon=_EPSILON), "relu", f"{name}_relu")


def _stage(x, filters, count, name, index):
    """Add the blocks of a stage of version 1; the first block has stride 2, but not in stage 1."""
    for i in range(1, count + 1):
        strides = 2 if i == 1 and index else 1
        x = _block(x, filters, f"{name}_block{i}", strides, is_first=i == 1)
    return x


def _block(x, filters, name, strides, is_first):
    shortcut = x
    if is_first:
        shortcut = conv(x, 4 * filters, 1, f"{name}_0_conv", strides=strides, use_bias=True)
        shortcut = norm(shortcut, f"{name}_0_bn", epsilon=_EPSILON)
    x = conv(x, filters, 1, f"{name}_1_conv", strides=strides, use_bias=True)
    x = _norm_relu(x, f"{name}_1")
    x = conv(x, filters, 3, f"{name}_2_conv", padding="same", use_bias=True)
    x = _norm_relu(x, f"{name}_2")
    x = conv(x, 4 * filters, 1, f"{name}_3_conv", use_bias=True)
    x = norm(x, f"{name}_3_bn", epsilon=_EPSILON)
    return activation(add([shortcut, x], f"{name}_add"), "relu", f"{name}_out")


def _stage_2(x, filters, count, name, index):
    """Add the blocks of a stage of version 2; the last block has stride 2, but not in stage 4."""
    for i in range(1, count + 1):
        strides = 2 if i == count and index < len(_FILTERS) - 1 else 1
        x = _block_2(x, filters, f"{name}_block{i}", strides, is_first=i == 1)
    return x


def _block_2(x, filters, name, strides, is_first):
    ready = _norm_relu(x, f"{name}_preact")
    if is_first:
        shortcut = conv(ready, 4 * filters, 1, f"{name}_0_conv", strides=strides, use_bias=True)
    else:
        shortcut = max_pool(x, 1, strides) if strides > 1 else x
    x = _norm_relu(conv(ready, filters, 1, f"{name}_1_conv"), f"{name}_1")
    x = conv(pad(x, 1, f"{name}_2_pad"), filters, 3, f"{name}_2_conv", strides=strides)
    x = conv(_norm_relu(x, f"{name}_2"), 4 * filters, 1, f"{name}_3_conv", use_bias=True)
    return add([shortcut, x], f"{name}_out")


ResNet50 = _resnet("ResNet50", (3, 4, 6, 3), _stage, False, _PAPER)
ResNet101 = _resnet("ResNet101", (3, 4, 23, 3), _stage, False, _PAPER)
ResNet152 = _resnet("ResNet152", (3, 8, 36, 3), _stage, False, _PAPER)
ResNet50V2 = _resnet("ResNet50V2", (3, 4, 6, 3), _stage_2, True, _PAPER_2)
ResNet101V2 = _resnet("ResNet101V2", (3, 4, 23, 3), _stage_2, True, _PAPER_2)
ResNet152V2 = _resnet("ResNet152V2", (3, 8, 36, 3), _stage_2, True, _PAPER_2)
