"""EfficientNet, EfficientNetV2: inverted residual blocks, scaled in width, depth, image size."""

import math
import string
from typing import Any, NamedTuple

from framework import layers
from framework.applications.blocks import (
    activation,
    add,
    channel_axis,
    conv,
    depthwise,
    norm,
    pad_for_stride,
)
from framework.applications.model import NetworkArguments, build, network
from framework.core.program_settings import image_data_format
from framework.initializers import VarianceScaling
from framework.models.model import Model

_PAPER = "Tan & Le 2019, arXiv:1905.11946"
_PAPER_2 = "Tan & Le 2021, arXiv:2104.00298"
_DROP = 0.2  # the rate of stochastic depth in the last block
# the means and standard deviations of the channels of ImageNet's RGB images
_MEANS, _DEVIATIONS = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class _Stage(NamedTuple):
    """A sequence of equal blocks, except that only the first one has `strides`.

    `squeeze` is the ratio of the squeeze-and-excite channels to the input channels. A block with
    `is_fused` has one 3 x 3 convolution instead of a 1 x 1 convolution and a depthwise convolution.
    """

    window: int
    count: int
    channels_in: int
    channels: int
    expansion: int
    strides: int
    squeeze: float = 0.25
    is_fused: bool = False


class _Version(NamedTuple):
    """The settings in which the two versions of the network differ."""

    momentum: float
    depthwise_name: str
    pads: bool  # whether to pad images before convolutions of stride 2, as TensorFlow does
    round: Any
    scales_drop: bool  # whether rates of stochastic depth depend on the scaled number of blocks


def _round(channels, width):
    """Return the multiple of 8 nearest to `channels * width`, at most 10 % below it."""
    channels *= width
    rounded = max(8, int(channels + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * channels else rounded


def _round_2(channels, width):
    return max(8, int(channels * width + 4) // 8 * 8)


_FIRST = _Version(0.99, "dwconv", True, _round, True)
_SECOND = _Version(0.9, "dwconv2", False, _round_2, False)


def _kernel():
    """Return the initializer of He et al. 2015 with fan_out: the variance is 2 / fan_out."""
    return VarianceScaling(2.0, mode="fan_out", distribution="truncated_normal")


def _conv(x, filters, size, name, strides=1, padding="same", **settings):
    return conv(
        x, filters, size, name, strides=strides, padding=padding, kernel_initializer=_kernel(),
        **settings,
    )  # fmt: skip


def _body(x, version, stages, width, depth):
    """Return the features of preprocessed images."""
    strides_of_stem = {"strides": 2}
    if version.pads:
        x = pad_for_stride(x, 3, "stem_conv_pad")
        strides_of_stem["padding"] = "valid"
    stem = version.round(stages[0].channels_in, width)
    x = _norm_silu(_conv(x, stem, 3, "stem_conv", **strides_of_stem), "stem", version)
    counts = [math.ceil(depth * stage.count) for stage in stages]
    total = sum(counts if version.scales_drop else [stage.count for stage in stages])
    block = 0
    for number, (stage, count) in enumerate(zip(stages, counts, strict=True), 1):
        filters = version.round(stage.channels, width)
        for i in range(count):
            one = stage if i == 0 else stage._replace(strides=1)
            name = f"block{number}{string.ascii_letters[i]}_"
            x = _block(x, version, one, filters, name, _DROP * block / total)
            block += 1
    x = _conv(x, version.round(1280, width), 1, "top_conv")
    return _norm_silu(x, "top", version)


def _norm_silu(x, name, version):
    return activation(
        norm(x, f"{name}_bn", momentum=version.momentum), "silu", f"{name}_activation"
    )


def _block(x, version, stage, filters, name, drop):
    channels = x.shape[channel_axis()]
    wide = channels * stage.expansion
    y = _fused(x, version, stage, wide, name) if stage.is_fused else None
    if y is None:
        y = _separate(x, version, stage, wide, name)
    if 0 < stage.squeeze <= 1:
        y = _squeeze(y, max(1, int(channels * stage.squeeze)), name)
    expands = stage.expansion != 1
    if stage.is_fused and not expands:
        y = _conv(y, filters, stage.window, f"{name}project_conv", stage.strides)
        y = _norm_silu(y, f"{name}project", version)
    else:
        y = _conv(y, filters, 1, f"{name}project_conv")
        y = norm(y, f"{name}project_bn", momentum=version.momentum)
    if stage.strides == 1 and channels == filters:
        if drop > 0:
            y = layers.Dropout(drop, noise_shape=(None, 1, 1, 1), name=f"{name}drop")(y)
        y = add([y, x], f"{name}add")
    return y


def _fused(x, version, stage, wide, name):
    if stage.expansion == 1:
        return x
    x = _conv(x, wide, stage.window, f"{name}expand_conv", stage.strides)
    return _norm_silu(x, f"{name}expand", version)


def _separate(x, version, stage, wide, name):
    if stage.expansion != 1:
        x = _norm_silu(_conv(x, wide, 1, f"{name}expand_conv"), f"{name}expand", version)
    padding = "same"
    if version.pads and stage.strides == 2:
        x, padding = pad_for_stride(x, stage.window, f"{name}dwconv_pad"), "valid"
    x = depthwise(
        x, stage.window, name + version.depthwise_name, strides=stage.strides, padding=padding,
        depthwise_initializer=_kernel(),
    )  # fmt: skip
    x = norm(x, f"{name}bn", momentum=version.momentum)
    return activation(x, "silu", f"{name}activation")


def _squeeze(x, few, name):
    """Add squeeze-and-excite: scale each channel by a function of the means of all channels."""
    channels = x.shape[channel_axis()]
    shape = (1, 1, channels) if image_data_format() == "channels_last" else (channels, 1, 1)
    y = layers.GlobalAveragePooling2D(name=f"{name}se_squeeze")(x)
    y = layers.Reshape(shape, name=f"{name}se_reshape")(y)
    y = _conv(y, few, 1, f"{name}se_reduce", use_bias=True, activation="silu")
    y = _conv(y, channels, 1, f"{name}se_expand", use_bias=True, activation="sigmoid")
    return layers.Multiply(name=f"{name}se_excite")([x, y])


def _head(dropout):
    def head(x, options):
        x = layers.GlobalAveragePooling2D(name="avg_pool")(x)
        if dropout > 0:
            x = layers.Dropout(dropout, name="top_dropout")(x)
        kernel = VarianceScaling(1 / 3, mode="fan_out", distribution="uniform")
        return layers.Dense(
            options.classes, activation=options.classifier_activation, kernel_initializer=kernel,
            name="predictions",
        )(x)  # fmt: skip

    return head


# ---- the first version ---------------------------------------------------------------------------

_STAGES = (
    _Stage(3, 1, 32, 16, 1, 1), _Stage(3, 2, 16, 24, 6, 2), _Stage(5, 2, 24, 40, 6, 2),
    _Stage(3, 3, 40, 80, 6, 2), _Stage(5, 3, 80, 112, 6, 1), _Stage(5, 4, 112, 192, 6, 2),
    _Stage(3, 1, 192, 320, 6, 1),
)  # fmt: skip


def _efficientnet(name, width, depth, size, dropout):
    def body(x):
        x = layers.Rescaling(1 / 255)(x)
        x = layers.Normalization(axis=channel_axis())(x)
        return _body(x, _FIRST, _STAGES, width, depth)

    @network(name, f"{name}: scaled inverted residual blocks", _PAPER)
    def build_efficientnet(
        include_top: bool = True, weights: Any = "imagenet", input_tensor: Any = None,
        input_shape: Any = None, pooling: str | None = None, classes: int = 1000,
        classifier_activation: Any = "softmax", name: str | None = name.lower(),
    ) -> Model:  # fmt: skip
        options = NetworkArguments(
            include_top, weights, input_tensor, input_shape, pooling, classes,
            classifier_activation, name,
        )  # fmt: skip
        return build(options, body, _head(dropout), size=size)

    return build_efficientnet


EfficientNetB0 = _efficientnet("EfficientNetB0", 1.0, 1.0, 224, 0.2)
EfficientNetB1 = _efficientnet("EfficientNetB1", 1.0, 1.1, 240, 0.2)
EfficientNetB2 = _efficientnet("EfficientNetB2", 1.1, 1.2, 260, 0.3)
EfficientNetB3 = _efficientnet("EfficientNetB3", 1.2, 1.4, 300, 0.3)
EfficientNetB4 = _efficientnet("EfficientNetB4", 1.4, 1.8, 380, 0.4)
EfficientNetB5 = _efficientnet("EfficientNetB5", 1.6, 2.2, 456, 0.4)
EfficientNetB6 = _efficientnet("EfficientNetB6", 1.8, 2.6, 528, 0.5)
EfficientNetB7 = _efficientnet("EfficientNetB7", 2.0, 3.1, 600, 0.5)


# ---- the second version --------------------------------------------------------------------------


def _fused_stage(count, channels_in, channels, expansion, strides):
    return _Stage(3, count, channels_in, channels, expansion, strides, 0, is_fused=True)


_STAGES_B = (
    _fused_stage(1, 32, 16, 1, 1), _fused_stage(2, 16, 32, 4, 2), _fused_stage(2, 32, 48, 4, 2),
    _Stage(3, 3, 48, 96, 4, 2), _Stage(3, 5, 96, 112, 6, 1), _Stage(3, 8, 112, 192, 6, 2),
)  # fmt: skip
_STAGES_S = (
    _fused_stage(2, 24, 24, 1, 1), _fused_stage(4, 24, 48, 4, 2), _fused_stage(4, 48, 64, 4, 2),
    _Stage(3, 6, 64, 128, 4, 2), _Stage(3, 9, 128, 160, 6, 1), _Stage(3, 15, 160, 256, 6, 2),
)  # fmt: skip
_STAGES_M = (
    _fused_stage(3, 24, 24, 1, 1), _fused_stage(5, 24, 48, 4, 2), _fused_stage(5, 48, 80, 4, 2),
    _Stage(3, 7, 80, 160, 4, 2), _Stage(3, 14, 160, 176, 6, 1), _Stage(3, 18, 176, 304, 6, 2),
    _Stage(3, 5, 304, 512, 6, 1),
)  # fmt: skip
_STAGES_L = (
    _fused_stage(4, 32, 32, 1, 1), _fused_stage(7, 32, 64, 4, 2), _fused_stage(7, 64, 96, 4, 2),
    _Stage(3, 10, 96, 192, 4, 2), _Stage(3, 19, 192, 224, 6, 1), _Stage(3, 25, 224, 384, 6, 2),
    _Stage(3, 7, 384, 640, 6, 1),
)  # fmt: skip


def _efficientnet_v2(name, model_name, stages, size, width=1.0, depth=1.0):
    # only the weights B0 to B3 were trained on images with normalized channels
    has_statistics = stages is _STAGES_B

    @network(name, f"{name}: fused and inverted residual blocks", _PAPER_2)
    def build_efficientnet(
        include_top: bool = True, weights: Any = "imagenet", input_tensor: Any = None,
        input_shape: Any = None, pooling: str | None = None, classes: int = 1000,
        classifier_activation: Any = "softmax", include_preprocessing: bool = True,
        name: str | None = model_name,
    ) -> Model:  # fmt: skip
        def body(x):
            if include_preprocessing and has_statistics:
                variances = [d**2 for d in _DEVIATIONS]
                x = layers.Rescaling(1 / 255)(x)
                x = layers.Normalization(channel_axis(), mean=_MEANS, variance=variances)(x)
            elif include_preprocessing:
                x = layers.Rescaling(1 / 128, offset=-1)(x)
            return _body(x, _SECOND, stages, width, depth)

        options = NetworkArguments(
            include_top, weights, input_tensor, input_shape, pooling, classes,
            classifier_activation, name,
        )  # fmt: skip
        return build(options, body, _head(0.2), size=size)

    return build_efficientnet


EfficientNetV2B0 = _efficientnet_v2("EfficientNetV2B0", "efficientnetv2-b0", _STAGES_B, 224)
EfficientNetV2B1 = _efficientnet_v2(
    "EfficientNetV2B1", "efficientnetv2-b1", _STAGES_B, 240, depth=1.1
)
EfficientNetV2B2 = _efficientnet_v2(
    "EfficientNetV2B2", "efficientnetv2-b2", _STAGES_B, 260, width=1.1, depth=1.2
)
EfficientNetV2B3 = _efficientnet_v2(
    "EfficientNetV2B3", "efficientnetv2-b3", _STAGES_B, 300, width=1.2, depth=1.4
)
EfficientNetV2S = _efficientnet_v2("EfficientNetV2S", "efficientnetv2-s", _STAGES_S, 384)
EfficientNetV2M = _efficientnet_v2("EfficientNetV2M", "efficientnetv2-m", _STAGES_M, 480)
EfficientNetV2L = _efficientnet_v2("EfficientNetV2L", "efficientnetv2-l", _STAGES_L, 480)
