"""MobileNet, MobileNetV2 and MobileNetV3: depthwise convolutions between 1 x 1 convolutions."""

from typing import Any, NamedTuple

from framework import layers
from framework.applications.blocks import (
    activation,
    add,
    channel_axis,
    conv,
    depthwise,
    divisible,
    norm,
    pad,
    pad_for_stride,
)
from framework.applications.model import NetworkArguments, build, network, predictions
from framework.models.model import Model

_PAPER = "Howard et al. 2017, arXiv:1704.04861"
_PAPER_2 = "Sandler et al. 2018, arXiv:1801.04381"
_PAPER_3 = "Howard et al. 2019, arXiv:1905.02244"


def _relu6(x, name=None):
    return layers.ReLU(6.0, name=name)(x)


# ---- the first version ---------------------------------------------------------------------------

_FILTERS = 64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024
_HALVING = 2, 4, 6, 12  # the blocks with these indices have stride 2, which halves height and width


@network("MobileNet", "MobileNet: depthwise separable convolutions", _PAPER)
def MobileNet(  # noqa: N802 (Keras's name)
    input_shape: Any = None, alpha: float = 1.0, depth_multiplier: int = 1, dropout: float = 1e-3,
    include_top: bool = True, weights: Any = "imagenet", input_tensor: Any = None,
    pooling: str | None = None, classes: int = 1000, classifier_activation: Any = "softmax",
    name: str | None = None,
) -> Model:  # fmt: skip
    def body(x):
        x = conv(x, int(32 * alpha), 3, "conv1", strides=2, padding="same")
        x = _relu6(norm(x, "conv1_bn"), "conv1_relu")
        for i, filters in enumerate(_FILTERS, 1):
            strides, padding = 1, "same"
            if i in _HALVING:
                x = pad(x, ((0, 1), (0, 1)), f"conv_pad_{i}")
                strides, padding = 2, "valid"
            x = depthwise(
                x, 3, f"conv_dw_{i}", strides=strides, padding=padding,
                depth_multiplier=depth_multiplier,
            )  # fmt: skip
            x = _relu6(norm(x, f"conv_dw_{i}_bn"), f"conv_dw_{i}_relu")
            x = conv(x, int(filters * alpha), 1, f"conv_pw_{i}", padding="same")
            x = _relu6(norm(x, f"conv_pw_{i}_bn"), f"conv_pw_{i}_relu")
        return x

    def head(x, options):
        x = layers.GlobalAveragePooling2D(keepdims=True)(x)
        x = layers.Dropout(dropout, name="dropout")(x)
        x = conv(x, classes, 1, "conv_preds", padding="same", use_bias=True)
        x = layers.Reshape((classes,), name="reshape_2")(x)
        return activation(x, options.classifier_activation, "predictions")

    options = NetworkArguments(
        include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation,
        name or f"mobilenet_{alpha:0.2f}_{_size(input_shape, input_tensor)}",
    )  # fmt: skip
    return build(options, body, head)


def _size(input_shape, input_tensor):
    """Return the height of the images, which is part of the model's default name."""
    if input_tensor is not None:
        return input_tensor.shape[channel_axis() - 1]
    return 224 if input_shape is None else input_shape[channel_axis() - 3]


# ---- the second version --------------------------------------------------------------------------

# Each row is a stage after the first block: (channels, blocks, strides of the stage's first block).
_STAGES_2 = (
    (24, 2, 2), (32, 3, 2), (64, 4, 2), (96, 3, 1), (160, 3, 2), (320, 1, 1),
)  # fmt: skip


@network("MobileNetV2", "MobileNetV2: inverted residual blocks", _PAPER_2)
def MobileNetV2(  # noqa: N802 (Keras's name)
    input_shape: Any = None, alpha: float = 1.0, include_top: bool = True,
    weights: Any = "imagenet", input_tensor: Any = None, pooling: str | None = None,
    classes: int = 1000, classifier_activation: Any = "softmax", name: str | None = None,
) -> Model:  # fmt: skip
    def body(x):
        x = conv(x, divisible(32 * alpha), 3, "Conv1", strides=2, padding="same")
        x = _relu6(norm(x, "bn_Conv1", momentum=0.999), "Conv1_relu")
        x = _inverted(x, divisible(int(16 * alpha)), 1, 1, "expanded_conv")
        block = 0
        for filters, count, strides in _STAGES_2:
            for i in range(count):
                block += 1
                x = _inverted(
                    x, divisible(int(filters * alpha)), 6, 1 if i else strides, f"block_{block}"
                )
        last = divisible(1280 * alpha) if alpha > 1 else 1280
        x = norm(conv(x, last, 1, "Conv_1"), "Conv_1_bn", momentum=0.999)
        return _relu6(x, "out_relu")

    def head(x, options):
        return predictions(layers.GlobalAveragePooling2D()(x), options)

    options = NetworkArguments(
        include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation,
        name or f"mobilenetv2_{alpha:0.2f}_{_size(input_shape, input_tensor)}",
    )  # fmt: skip
    return build(options, body, head)


def _inverted(x, filters, expansion, strides, name):
    """Add an inverted residual block: expansion, depthwise convolution, projection."""
    y, channels = x, x.shape[channel_axis()]
    if expansion > 1:
        y = conv(y, expansion * channels, 1, f"{name}_expand", padding="same")
        y = _relu6(norm(y, f"{name}_expand_BN", momentum=0.999), f"{name}_expand_relu")
    if strides == 2:
        y = pad_for_stride(y, 3, f"{name}_pad")
    y = depthwise(
        y, 3, f"{name}_depthwise", strides=strides, padding="valid" if strides == 2 else "same"
    )
    y = _relu6(norm(y, f"{name}_depthwise_BN", momentum=0.999), f"{name}_depthwise_relu")
    y = conv(y, filters, 1, f"{name}_project", padding="same")
    y = norm(y, f"{name}_project_BN", momentum=0.999)
    return add([x, y], f"{name}_add") if channels == filters and strides == 1 else y


# ---- the third version ---------------------------------------------------------------------------


class _MobileBlock(NamedTuple):
    """The settings of a block: expansion, channels, window, strides, squeeze-excite, activation."""

    expansion: float
    filters: int
    window: int
    strides: int
    has_squeeze: bool
    is_hard: bool  # whether the activation is hard_silu; otherwise it is ReLU


_SMALL = (
    _MobileBlock(1, 16, 3, 2, True, False), _MobileBlock(72 / 16, 24, 3, 2, False, False),
    _MobileBlock(88 / 24, 24, 3, 1, False, False), _MobileBlock(4, 40, 5, 2, True, True),
    *[_MobileBlock(6, 40, 5, 1, True, True)] * 2, *[_MobileBlock(3, 48, 5, 1, True, True)] * 2,
    _MobileBlock(6, 96, 5, 2, True, True), *[_MobileBlock(6, 96, 5, 1, True, True)] * 2,
)  # fmt: skip
_LARGE = (
    _MobileBlock(1, 16, 3, 1, False, False), _MobileBlock(4, 24, 3, 2, False, False),
    _MobileBlock(3, 24, 3, 1, False, False), _MobileBlock(3, 40, 5, 2, True, False),
    *[_MobileBlock(3, 40, 5, 1, True, False)] * 2, _MobileBlock(6, 80, 3, 2, False, True),
    _MobileBlock(2.5, 80, 3, 1, False, True), *[_MobileBlock(2.3, 80, 3, 1, False, True)] * 2,
    *[_MobileBlock(6, 112, 3, 1, True, True)] * 2, _MobileBlock(6, 160, 5, 2, True, True),
    *[_MobileBlock(6, 160, 5, 1, True, True)] * 2,
)  # fmt: skip


def _mobilenet_v3(name, rows, last):
    """Return a function that builds a network of the blocks `rows` and `last` final channels."""

    @network(name, f"{name}: inverted residual blocks with squeeze and excite", _PAPER_3)
    def build_mobilenet(
        input_shape: Any = None, alpha: float = 1.0, minimalistic: bool = False,
        include_top: bool = True, weights: Any = "imagenet", input_tensor: Any = None,
        classes: int = 1000, pooling: str | None = None, dropout_rate: float = 0.2,
        classifier_activation: Any = "softmax", include_preprocessing: bool = True,
        name: str | None = name,
    ) -> Model:  # fmt: skip
        def hard(x):
            return layers.ReLU()(x) if minimalistic else activation(x, "hard_silu")

        def body(x):
            if include_preprocessing:
                x = layers.Rescaling(1 / 127.5, offset=-1.0)(x)
            x = conv(x, 16, 3, "conv", strides=2, padding="same")
            x = hard(norm(x, "conv_bn", momentum=0.999))
            for i, row in enumerate(rows):
                if minimalistic:
                    row = row._replace(window=3, has_squeeze=False, is_hard=False)  # noqa: PLW2901
                name = f"expanded_conv_{i}" if i else "expanded_conv"
                x = _inverted_3(x, row, divisible(row.filters * alpha), name, expands=i > 0)
            x = conv(x, divisible(x.shape[channel_axis()] * 6), 1, "conv_1", padding="same")
            return hard(norm(x, "conv_1_bn", momentum=0.999))

        def head(x, options):
            x = layers.GlobalAveragePooling2D(keepdims=True)(x)
            width = divisible(last * alpha) if alpha > 1 else last
            x = hard(conv(x, width, 1, "conv_2", padding="same", use_bias=True))
            if dropout_rate > 0:
                x = layers.Dropout(dropout_rate)(x)
            x = conv(x, classes, 1, "logits", padding="same", use_bias=True)
            return activation(layers.Flatten()(x), options.classifier_activation, "predictions")

        options = NetworkArguments(
            include_top, weights, input_tensor, input_shape, pooling, classes,
            classifier_activation, name,
        )  # fmt: skip
        return build(options, body, head)

    return build_mobilenet


def _inverted_3(x, row, filters, name, expands):
    def nonlinear(x):
        return activation(x, "hard_silu") if row.is_hard else layers.ReLU()(x)

    y, channels = x, x.shape[channel_axis()]
    if expands:
        y = conv(y, divisible(channels * row.expansion), 1, f"{name}_expand", padding="same")
        y = nonlinear(norm(y, f"{name}_expand_bn", momentum=0.999))
    if row.strides == 2:
        y = pad_for_stride(y, row.window, f"{name}_depthwise_pad")
    y = depthwise(
        y, row.window, f"{name}_depthwise", strides=row.strides,
        padding="valid" if row.strides == 2 else "same",
    )  # fmt: skip
    y = nonlinear(norm(y, f"{name}_depthwise_bn", momentum=0.999))
    if row.has_squeeze:
        y = _squeeze(y, f"{name}_squeeze_excite")
    y = norm(conv(y, filters, 1, f"{name}_project", padding="same"), f"{name}_project_bn",
             momentum=0.999)  # fmt: skip
    return add([x, y], f"{name}_add") if row.strides == 1 and channels == filters else y


def _squeeze(x, name):
    """Add squeeze-and-excite: scale each channel by a function of the means of all channels."""
    channels = x.shape[channel_axis()]
    y = layers.GlobalAveragePooling2D(keepdims=True, name=f"{name}_avg_pool")(x)
    y = conv(y, divisible(channels * 0.25), 1, f"{name}_conv", padding="same", use_bias=True)
    y = layers.ReLU(name=f"{name}_relu")(y)
    y = conv(y, channels, 1, f"{name}_conv_1", padding="same", use_bias=True)
    y = _relu6(y + 3.0) * (1.0 / 6.0)  # this is the hard sigmoid of y
    return layers.Multiply(name=f"{name}_mul")([x, y])


MobileNetV3Small = _mobilenet_v3("MobileNetV3Small", _SMALL, 1024)
MobileNetV3Large = _mobilenet_v3("MobileNetV3Large", _LARGE, 1280)
