"""keras.ops' convolutions are the layers'."""

import numpy as np
import pytest

from framework import keras, layers
from framework.keras import ops


def wave(*shape):
    return np.sin(np.arange(np.prod(shape)) * 1.3).reshape(shape).astype("float32")


CASES = [
    (ops.conv, layers.Conv2D, {"filters": 4, "kernel_size": 2, "strides": 2, "padding": "same"}),
    (ops.conv, layers.Conv2D, {"filters": 2, "kernel_size": (2, 3), "dilation_rate": 2}),
    (ops.conv, layers.Conv1D, {"filters": 4, "kernel_size": 3}),
    (ops.depthwise_conv, layers.DepthwiseConv2D, {"kernel_size": 2, "depth_multiplier": 2}),
    (ops.depthwise_conv, layers.DepthwiseConv1D, {"kernel_size": 2, "strides": 2}),
    (ops.separable_conv, layers.SeparableConv2D, {"filters": 3, "kernel_size": 2}),
    (ops.conv_transpose, layers.Conv2DTranspose,
     {"filters": 3, "kernel_size": 3, "strides": 2, "output_padding": (1, 0)}),
    (ops.conv_transpose, layers.Conv1DTranspose,
     {"filters": 3, "kernel_size": 2, "strides": 3, "padding": "same"}),
]  # fmt: skip


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
@pytest.mark.parametrize(("op", "cls", "arguments"), CASES)
def test_they_are_the_layers(op, cls, arguments, data_format):
    layer = cls(**arguments, use_bias=False, data_format=data_format)
    sizes = (6, 7)[: layer.rank]
    x = wave(2, 2, *sizes) if data_format == "channels_first" else wave(2, *sizes, 2)
    expected = layer(x)
    given = {k: v for k, v in arguments.items() if k not in ("filters", "kernel_size")}
    given.pop("depth_multiplier", None)
    given.setdefault("strides", 1)
    weights = [w.numpy() for w in layer.weights]
    y = op(x, *weights, data_format=data_format, **given)
    np.testing.assert_array_equal(y, expected)
    unknown = keras.KerasTensor((None, *x.shape[1:]))
    assert op(unknown, *weights, data_format=data_format, **given).shape == (None, *y.shape[1:])


def test_what_does_not_fit():
    x = wave(1, 4, 4, 3)
    with pytest.raises(ValueError, match="evenly divisible"):
        ops.conv(x, wave(2, 2, 2, 4))
    with pytest.raises(ValueError, match="same number of axes"):
        ops.conv(x, wave(2, 3, 4))
    with pytest.raises(ValueError, match="does not fit"):
        ops.conv(x, wave(5, 1, 3, 4))
    with pytest.raises(ValueError, match="padding must be"):
        ops.conv(x, wave(2, 2, 3, 4), padding="full")
    with pytest.raises(ValueError, match="data_format` argument must be"):
        ops.conv(x, wave(2, 2, 3, 4), data_format="NHWC")
    with pytest.raises(ValueError, match="is for 2 channels"):
        ops.depthwise_conv(x, wave(2, 2, 2, 1))
    with pytest.raises(ValueError, match="expects 2 channels"):
        ops.conv_transpose(x, wave(2, 2, 4, 2), 1)
    for extra, padding in ((2, "valid"), ((1, 3), "valid"), (4, "same")):
        with pytest.raises(ValueError, match="output_padding must be less than strides"):
            ops.conv_transpose(x, wave(3, 3, 4, 3), 2, padding, output_padding=extra)
    with pytest.raises(ValueError, match="strides must be"):
        ops.conv(x, wave(2, 2, 3, 4), strides=(1, 0))
