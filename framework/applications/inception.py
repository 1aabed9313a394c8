"""InceptionV3 and InceptionResNetV2: parallel convolutions of several window sizes."""

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
)
from framework.applications.model import NetworkArguments, build, network
from framework.models.model import Model

_PAPER = "Szegedy et al. 2015, arXiv:1512.00567"
_PAPER_RESNET = "Szegedy et al. 2016, arXiv:1602.07261"

# A branch is a chain of convolutions, each (channels, window) or (channels, window, "valid",
# strides).
_STEM = ((32, 3, "valid", 2), (32, 3, "valid", 1), (64, 3))
_STEM_2 = ((80, 1, "valid", 1), (192, 3, "valid", 1))
_WIDE, _HIGH = (1, 7), (7, 1)


def _conv(x, filters, size, padding="same", strides=1, name=None):
    """Return a convolution with batch normalization and ReLU."""
    x = conv(x, filters, size, name, strides=strides, padding=padding)
    x = norm(x, f"{name}_bn" if name else None, scale=False)
    return activation(x, "relu", f"{name}_ac" if name else None)


def _chain(x, branch):
    for one in branch:
        x = _conv(x, *one)
    return x


def _stem(x):
    x = max_pool(_chain(x, _STEM), 3, 2)
    return max_pool(_chain(x, _STEM_2), 3, 2)


def _mixed(x, branches, name, pool=None):
    """Return the concatenated branches; if `pool`, the last branch begins with average pooling."""
    parts = [_chain(x, branch) for branch in branches]
    if pool:
        parts.append(_conv(average_pool(x, 3, 1, padding="same"), pool, 1))
    return concat(parts, name)


def _reduction(x, branches, name):
    """Return the concatenation of branches and a max pooling, each of half height and width."""
    return concat([*(_chain(x, branch) for branch in branches), max_pool(x, 3, 2)], name)


@network("InceptionV3", "InceptionV3: parallel convolutions", _PAPER)
def InceptionV3(  # noqa: N802 (Keras's name)
    include_top: bool = True, weights: Any = "imagenet", input_tensor: Any = None,
    input_shape: Any = None, pooling: str | None = None, classes: int = 1000,
    classifier_activation: Any = "softmax", name: str | None = "inception_v3",
) -> Model:  # fmt: skip
    options = NetworkArguments(
        include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation,
        name,
    )  # fmt: skip
    return build(options, _inception_v3, size=299, least=75)


def _inception_v3(x):
    x = _stem(x)
    for i, pool in enumerate((32, 64, 64)):
        branches = (((64, 1),), ((48, 1), (64, 5)), ((64, 1), (96, 3), (96, 3)))
        x = _mixed(x, branches, f"mixed{i}", pool)
    halving = ((384, 3, "valid", 2),), ((64, 1), (96, 3), (96, 3, "valid", 2))
    x = _reduction(x, halving, "mixed3")
    for i, width in enumerate((128, 160, 160, 192), 4):
        branches = (
            ((192, 1),), ((width, 1), (width, _WIDE), (192, _HIGH)),
            ((width, 1), (width, _HIGH), (width, _WIDE), (width, _HIGH), (192, _WIDE)),
        )  # fmt: skip
        x = _mixed(x, branches, f"mixed{i}", 192)
    halving = (
        ((192, 1), (320, 3, "valid", 2)),
        ((192, 1), (192, _WIDE), (192, _HIGH), (192, 3, "valid", 2)),
    )
    x = _reduction(x, halving, "mixed8")
    for i in range(2):
        x = _split_mixed(x, i)
    return x


def _split_mixed(x, index):
    """Return branches that end in two parallel convolutions, 1 x 3 and 3 x 1."""
    first = _conv(x, 320, 1)
    second = _conv(x, 384, 1)
    second = concat([_conv(second, 384, (1, 3)), _conv(second, 384, (3, 1))], f"mixed9_{index}")
    third = _chain(x, ((448, 1), (384, 3)))
    third = concat([_conv(third, 384, (1, 3)), _conv(third, 384, (3, 1))])
    pooled = _conv(average_pool(x, 3, 1, padding="same"), 192, 1)
    return concat([first, second, third, pooled], f"mixed{9 + index}")


@network("InceptionResNetV2", "InceptionResNetV2: residual parallel convolutions", _PAPER_RESNET)
def InceptionResNetV2(  # noqa: N802 (Keras's name)
    include_top: bool = True, weights: Any = "imagenet", input_tensor: Any = None,
    input_shape: Any = None, pooling: str | None = None, classes: int = 1000,
    classifier_activation: Any = "softmax", name: str | None = "inception_resnet_v2",
) -> Model:  # fmt: skip
    options = NetworkArguments(
        include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation,
        name,
    )  # fmt: skip
    return build(options, _inception_resnet, size=299, least=75)


# Each row is (name, repetitions, residual scale, branches, name and branches of the reduction
# block).
_BLOCKS = (
    ("block35", 10, 0.17, (((32, 1),), ((32, 1), (32, 3)), ((32, 1), (48, 3), (64, 3))),
     "mixed_6a", (((384, 3, "valid", 2),), ((256, 1), (256, 3), (384, 3, "valid", 2)))),
    ("block17", 20, 0.1, (((192, 1),), ((128, 1), (160, _WIDE), (192, _HIGH))),
     "mixed_7a", (((256, 1), (384, 3, "valid", 2)), ((256, 1), (288, 3, "valid", 2)),
                  ((256, 1), (288, 3), (320, 3, "valid", 2)))),
    ("block8", 10, 0.2, (((192, 1),), ((192, 1), (224, (1, 3)), (256, (3, 1)))), None, ()),
)  # fmt: skip


def _inception_resnet(x):
    branches = (((96, 1),), ((48, 1), (64, 5)), ((64, 1), (96, 3), (96, 3)))
    x = _mixed(_stem(x), branches, "mixed_5b", 64)
    for name, count, scale, branches, reduction, halving in _BLOCKS:
        for i in range(1, count + 1):
            is_last = reduction is None and i == count
            x = _residual(x, f"{name}_{i}", 1.0 if is_last else scale, branches, not is_last)
        if reduction:
            x = _reduction(x, halving, reduction)
    return _conv(x, 1536, 1, name="conv_7b")


def _residual(x, name, scale, branches, has_relu):
    y = _mixed(x, branches, f"{name}_mixed")
    y = conv(y, x.shape[channel_axis()], 1, f"{name}_conv", padding="same", use_bias=True)
    y = add([x, layers.Rescaling(scale)(y)], name)
    return activation(y, "relu", f"{name}_ac") if has_relu else y
