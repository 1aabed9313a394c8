"""ConvNeXt: depthwise 7 x 7 convolutions and Dense layers, with residual connections."""

from typing import Any

from framework import layers
from framework.applications.blocks import activation, add, conv
from framework.applications.layer_scale import LayerScale
from framework.applications.model import NetworkArguments, build, network
from framework.models.model import Model
from framework.models.sequential import Sequential

_EPSILON = 1e-6
# the means and standard deviations of the channels of ImageNet's RGB images
_MEANS, _DEVIATIONS = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def _convnext(name, model_name, counts, widths):
    """Return a builder of a network: stage i has `counts[i]` blocks of `widths[i]` channels."""

    @network(name, f"{name}: depthwise 7 x 7 convolutions", "Liu et al. 2022, arXiv:2201.03545")
    def build_convnext(
        include_top: bool = True, include_preprocessing: bool = True, weights: Any = "imagenet",
        input_tensor: Any = None, input_shape: Any = None, pooling: str | None = None,
        classes: int = 1000, classifier_activation: Any = "softmax",
        name: str | None = model_name,
    ) -> Model:  # fmt: skip
        def body(x):
            if include_preprocessing:
                x = layers.Normalization(
                    mean=[m * 255 for m in _MEANS], variance=[(d * 255) ** 2 for d in _DEVIATIONS],
                    name=f"{name}_prestem_normalization",
                )(x)  # fmt: skip
            for stage, (count, width) in enumerate(zip(counts, widths, strict=True)):
                x = (_halving(width, name, stage - 1) if stage else _stem(width, name))(x)
                for i in range(count):
                    x = _block(x, width, f"{name}_stage_{stage}_block_{i}")
            return x

        def head(x, options):
            x = layers.GlobalAveragePooling2D(name=f"{name}_head_gap")(x)
            x = layers.LayerNormalization(epsilon=_EPSILON, name=f"{name}_head_layernorm")(x)
            return layers.Dense(
                classes, activation=options.classifier_activation, name=f"{name}_head_dense"
            )(x)

        options = NetworkArguments(
            include_top, weights, input_tensor, input_shape, pooling, classes,
            classifier_activation, name,
        )  # fmt: skip
        after = layers.LayerNormalization(epsilon=_EPSILON)
        return build(options, body, head, after_pooling=after)

    return build_convnext


def _stem(width, name):
    return Sequential(
        [
            layers.Conv2D(width, 4, strides=4, name=f"{name}_stem_conv"),
            layers.LayerNormalization(epsilon=_EPSILON, name=f"{name}_stem_layernorm"),
        ],
        name=f"{name}_stem",
    )


def _halving(width, name, index):
    return Sequential(
        [
            layers.LayerNormalization(
                epsilon=_EPSILON, name=f"{name}_downsampling_layernorm_{index}"
            ),
            layers.Conv2D(width, 2, strides=2, name=f"{name}_downsampling_conv_{index}"),
        ],
        name=f"{name}_downsampling_block_{index}",
    )


def _block(x, width, name):
    y = conv(x, width, 7, f"{name}_depthwise_conv", padding="same", use_bias=True, groups=width)
    y = layers.LayerNormalization(epsilon=_EPSILON, name=f"{name}_layernorm")(y)
    y = layers.Dense(4 * width, name=f"{name}_pointwise_conv_1")(y)
    y = activation(y, "gelu", f"{name}_gelu")
    y = layers.Dense(width, name=f"{name}_pointwise_conv_2")(y)
    y = LayerScale(1e-6, width, name=f"{name}_layer_scale")(y)
    return add([x, activation(y, "linear", f"{name}_identity")])


_WIDTHS = 96, 192, 384, 768
ConvNeXtTiny = _convnext("ConvNeXtTiny", "convnext_tiny", (3, 3, 9, 3), _WIDTHS)
ConvNeXtSmall = _convnext("ConvNeXtSmall", "convnext_small", (3, 3, 27, 3), _WIDTHS)
ConvNeXtBase = _convnext("ConvNeXtBase", "convnext_base", (3, 3, 27, 3), (128, 256, 512, 1024))
ConvNeXtLarge = _convnext("ConvNeXtLarge", "convnext_large", (3, 3, 27, 3), (192, 384, 768, 1536))
ConvNeXtXLarge = _convnext(
    "ConvNeXtXLarge", "convnext_xlarge", (3, 3, 27, 3), (256, 512, 1024, 2048)
)
