"""VGG16 and VGG19: 3 x 3 convolutions, in five blocks between poolings."""

from typing import Any

from framework import layers
from framework.applications.blocks import conv, max_pool
from framework.applications.model import NetworkArguments, build, network, predictions
from framework.models.model import Model


def _vgg(name, counts):
    """Return a function that builds a network with `counts[i]` convolutions in block i."""

    def body(x):
        for block, count in enumerate(counts, 1):
            filters = min(64 * 2 ** (block - 1), 512)
            for i in range(1, count + 1):
                x = conv(
                    x, filters, 3, f"block{block}_conv{i}", padding="same", use_bias=True,
                    activation="relu",
                )  # fmt: skip
            x = max_pool(x, 2, 2, f"block{block}_pool")
        return x

    @network(name, f"{name}: 3 x 3 convolutions", "Simonyan & Zisserman 2014, arXiv:1409.1556")
    def build_vgg(
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
            _head,
        )

    return build_vgg


def _head(x, options):
    x = layers.Flatten(name="flatten")(x)
    for i in (1, 2):
        x = layers.Dense(4096, activation="relu", name=f"fc{i}")(x)
    return predictions(x, options)


VGG16 = _vgg("VGG16", (2, 2, 3, 3, 3))
VGG19 = _vgg("VGG19", (2, 2, 4, 4, 4))
