"""DenseNet with 121, 169 and 201 layers: each layer reads the outputs of all earlier ones."""

from typing import Any

from framework.applications.blocks import (
    activation,
    average_pool,
    channel_axis,
    concat,
    conv,
    max_pool,
    norm,
    pad,
)
from framework.applications.model import NetworkArguments, build, network
from framework.models.model import Model

_GROWTH = 32  # the growth rate: the number of channels that each layer adds
_EPSILON = 1.001e-5


def _densenet(name, counts):
    """Return a function that builds a network with `counts[i]` layers in block i."""

    def body(x):
        x = conv(pad(x, 3), 64, 7, "conv1_conv", strides=2)
        x = max_pool(pad(_norm_relu(x, "conv1_bn", "conv1_relu"), 1), 3, 2, "pool1")
        for block, count in enumerate(counts, 2):
            for i in range(1, count + 1):
                x = _layer(x, f"conv{block}_block{i}")
            if block < len(counts) + 1:
                x = _transition(x, f"pool{block}")
        return _norm_relu(x, "bn", "relu")

    @network(name, f"{name}: densely connected blocks", "Huang et al. 2016, arXiv:1608.06993")
    def build_densenet(
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

    return build_densenet


def _norm_relu(x, norm_name, relu_name):
    return activation(norm(x, norm_name, epsilon=_EPSILON), "relu", relu_name)


def _layer(x, name):
    y = _norm_relu(x, f"{name}_0_bn", f"{name}_0_relu")
    y = conv(y, 4 * _GROWTH, 1, f"{name}_1_conv")
    y = _norm_relu(y, f"{name}_1_bn", f"{name}_1_relu")
    y = conv(y, _GROWTH, 3, f"{name}_2_conv", padding="same")
    return concat([x, y], f"{name}_concat")


def _transition(x, name):
    """Add a transition layer, which halves the channels, the height and the width."""
    x = _norm_relu(x, f"{name}_bn", f"{name}_relu")
    x = conv(x, x.shape[channel_axis()] // 2, 1, f"{name}_conv")
    return average_pool(x, 2, 2, f"{name}_pool")


DenseNet121 = _densenet("DenseNet121", (6, 12, 24, 16))
DenseNet169 = _densenet("DenseNet169", (6, 12, 32, 32))
DenseNet201 = _densenet("DenseNet201", (6, 12, 48, 32))
