"""Convolutions, padding, cropping and upsampling: numbers that real Keras gives, and errors."""

import numpy as np
import pytest

import framework as tf
from framework import keras, layers


def wave(*shape):
    return np.sin(np.arange(np.prod(shape)) * 1.3).reshape(shape).astype("float32")


# (layer, arguments, input shape, output shape, outputs), inputs and weights `wave`s; by Keras 3.15
PINNED = [
    ("Conv1D", {"filters": 2, "kernel_size": 2, "padding": "causal", "dilation_rate": 2},
     (1, 4, 2), (1, 4, 2),
     [0.962155, 1.27103, -1.14219, 0.854988, 1.49201, 0.179451, -0.918079, 2.24993]),
    ("Conv2D",
     {"filters": 2, "kernel_size": (2, 3), "strides": 2, "padding": "same", "groups": 2},
     (1, 3, 4, 2), (1, 2, 2, 2),
     [-0.0829376, 0.499416, 1.12304, 0.19348, -1.18244, 1.32528, -0.164929, 2.44747]),
    ("Conv2D",
     {"filters": 1, "kernel_size": 2, "data_format": "channels_first", "activation": "relu"},
     (1, 2, 3, 3), (1, 1, 2, 2), [0.0, 0.594353, 0.150531, 0.0]),
    ("Conv3D", {"filters": 1, "kernel_size": 2, "padding": "same", "strides": 2},
     (1, 2, 3, 2, 1), (1, 1, 2, 1, 1), [-0.216083, 0.0483565]),
    ("Conv1DTranspose", {"filters": 1, "kernel_size": 4, "strides": 3, "padding": "same"},
     (1, 2, 2), (1, 6, 1), [0.928444, -0.662703, 0.207281, -0.355233, 0.738764, -0.603374]),
    ("Conv2DTranspose",
     {"filters": 1, "kernel_size": 3, "strides": 2, "padding": "same", "output_padding": 1},
     (1, 2, 2, 1), (1, 4, 4, 1),
     [0.0, 0.0, 0.0, 0.928444, 0.0, 0.0, -0.662703, -0.85126, 0.0, 0.496716, 1.2279, -0.355233,
      -0.354544, -0.455422, 0.583917, 0.60761]),
    ("Conv2DTranspose", {"filters": 1, "kernel_size": 1, "strides": 2},
     (1, 2, 1, 2), (1, 4, 2, 1), [0.928444, 0.0, 0.0, 0.0, -0.662703, 0.0, 0.0, 0.0]),
    ("DepthwiseConv2D", {"kernel_size": 2, "depth_multiplier": 2}, (1, 3, 2, 2), (1, 2, 1, 4),
     [0.383522, 0.81986, 0.222838, -1.16443, -0.151597, 0.567508, 0.0280371, -0.888269]),
    ("SeparableConv1D",
     {"filters": 2, "kernel_size": 3, "padding": "same", "depth_multiplier": 2},
     (1, 3, 2), (1, 3, 2), [-1.16787, 0.848886, -0.17668, 0.454968, 0.822417, 1.64748]),
    ("UpSampling2D", {"size": (2, 1), "interpolation": "bilinear"}, (1, 2, 2, 1), (1, 4, 2, 1),
     [0.0, 0.963558, 0.128875, 0.550727, 0.386626, -0.274935, 0.515501, -0.687766]),
    ("UpSampling2D", {"size": (2, 1), "interpolation": "bicubic"}, (1, 3, 1, 1), (1, 6, 1, 1),
     [-0.0850198, 0.192677, 0.781034, 0.930569, 0.621634, 0.475967]),
    ("UpSampling2D", {"size": (1, 3), "interpolation": "lanczos5"}, (1, 1, 2, 1), (1, 1, 6, 1),
     [-0.277174, 0.0, 0.316473, 0.647086, 0.963558, 1.24073]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "shape", "out", "expected"), PINNED)
def test_numbers_are_those_of_keras(name, arguments, shape, out, expected):
    layer = getattr(layers, name)(**arguments)
    layer.build(shape)
    layer.set_weights([wave(*w.shape) for w in layer.weights])
    y = layer(wave(*shape)).numpy()
    assert y.shape == out
    np.testing.assert_allclose(y.ravel(), expected, rtol=2e-5, atol=2e-7)


def test_weights_have_the_names_and_shapes_of_keras():
    def weights(layer, shape):
        layer.build(shape)
        return [(w.name, w.shape) for w in layer.weights]

    assert weights(layers.Conv2D(6, (3, 5), groups=2), (None, 9, 9, 4)) == [
        ("kernel", (3, 5, 2, 6)), ("bias", (6,))
    ]  # fmt: skip
    assert weights(layers.Conv2DTranspose(6, 3), (None, 9, 9, 4)) == [
        ("kernel", (3, 3, 6, 4)), ("bias", (6,))
    ]  # fmt: skip
    assert weights(layers.DepthwiseConv1D(3, depth_multiplier=2), (None, 9, 4)) == [
        ("kernel", (3, 4, 2)), ("bias", (8,))
    ]  # fmt: skip
    assert weights(layers.SeparableConv2D(5, 3, depth_multiplier=2), (None, 9, 9, 4)) == [
        ("depthwise_kernel", (3, 3, 4, 2)), ("pointwise_kernel", (1, 1, 8, 5)), ("bias", (5,))
    ]  # fmt: skip


def test_config_is_that_of_keras():
    config = layers.Conv2D(4, 3, padding="SAME").get_config()
    assert config["kernel_size"] == (3, 3)
    assert (config["strides"], config["dilation_rate"]) == ((1, 1), (1, 1))
    assert (config["padding"], config["data_format"]) == ("same", "channels_last")
    assert layers.ZeroPadding2D((1, 2)).get_config()["padding"] == ((1, 1), (2, 2))


def test_unknown_sizes_stay_unknown():
    x = keras.Input((None, None, 3))
    assert layers.Conv2D(4, 3, strides=2)(x).shape == (None, None, None, 4)
    assert layers.Conv2DTranspose(4, 3, strides=2)(x).shape == (None, None, None, 4)
    assert layers.UpSampling2D(2, interpolation="bilinear")(x).shape == (None, None, None, 3)
    assert layers.UpSampling2D(2)(x).shape == (None, None, None, 3)
    assert layers.Cropping2D(1)(x).shape == (None, None, None, 3)
    assert layers.ZeroPadding2D(1)(x).shape == (None, None, None, 3)


def test_half_precision():
    layer = layers.Conv2D(2, 3, dtype="mixed_float16")
    y = layer(wave(1, 5, 5, 3))
    assert (y.dtype, layer.kernel.dtype) == ("float16", "float32")


def test_subclasses_may_change_the_kernel():
    class Standardized(layers.Conv2D):
        def convolution_op(self, inputs, kernel):
            mean = tf.reduce_mean(kernel, axis=(0, 1, 2), keepdims=True)
            return super().convolution_op(inputs, kernel - mean)

    layer = Standardized(2, 2, kernel_initializer="ones", use_bias=False)
    np.testing.assert_array_equal(layer(wave(1, 3, 3, 2)), np.zeros((1, 2, 2, 2)))


WRONG = [
    (layers.Conv2D, {"filters": 0, "kernel_size": 3}, "filters=0.*positive"),
    (layers.Conv2D, {"filters": 2, "kernel_size": (1, 2, 3)}, "`kernel_size` argument.*2 integers"),
    (layers.Conv2D, {"filters": 2, "kernel_size": (0, 2)}, "`kernel_size`"),
    (layers.Conv2D, {"filters": 2, "kernel_size": 2, "strides": 0}, "`strides`"),
    (layers.Conv2D, {"filters": 2, "kernel_size": 2, "padding": "causal"}, "padding"),
    (layers.Conv2D, {"filters": 2, "kernel_size": 2, "data_format": "NHWC"}, "data_format"),
    (layers.Conv2D, {"filters": 3, "kernel_size": 2, "groups": 2}, "evenly divisible"),
    (layers.Conv2D, {"filters": 3, "kernel_size": 2, "strides": 2, "dilation_rate": 2},
     "not supported in conjunction"),
    (layers.Conv1DTranspose, {"filters": 3, "kernel_size": 2, "output_padding": 1},
     "strictly less than `strides`"),
    (layers.ZeroPadding2D, {"padding": (1, 2, 3)}, "2 ints"),
    (layers.ZeroPadding1D, {"padding": -1}, "at least 0"),
    (layers.Cropping3D, {"cropping": "a"}, "3 ints"),
    (layers.UpSampling2D, {"interpolation": "spline"}, "spline"),
]  # fmt: skip


@pytest.mark.parametrize(("cls", "arguments", "said"), WRONG)
def test_arguments_that_are_wrong(cls, arguments, said):
    with pytest.raises(ValueError, match=said):
        cls(**arguments)


def test_upsampling_of_sequences_takes_an_int():
    with pytest.raises(TypeError, match="integer value for `size`"):
        layers.UpSampling1D((2,))


WRONG_INPUTS = [
    (layers.Conv2D(2, 3), (1, 5, 5), "expected min_ndim=4"),
    (layers.Conv2D(2, 3), (1, 5, 5, 5, 1), "4 axes"),
    (layers.Conv2D(2, 3), (1, 2, 5, 1), "zero or negative"),
    (layers.Conv2D(4, 3, groups=2), (1, 5, 5, 3), "number of groups"),
    (layers.DepthwiseConv1D(7), (1, 5, 3), "zero or negative"),
    (layers.Cropping2D(2), (1, 4, 5, 1), "should be smaller"),
    (layers.ZeroPadding1D(2), (1, 4, 5, 1), "expected ndim=3"),
]


@pytest.mark.parametrize(("layer", "shape", "said"), WRONG_INPUTS)
def test_inputs_that_do_not_fit(layer, shape, said):
    with pytest.raises(ValueError, match=said):
        layer(wave(*shape))


def test_later_inputs_are_checked_too():
    layer = layers.Conv1D(2, 3)
    layer(wave(1, 5, 2))
    with pytest.raises(ValueError, match="zero or negative"):
        layer(wave(1, 2, 2))
    with pytest.raises(ValueError, match="axis -1"):
        layer(wave(1, 5, 3))


def test_the_first_layers_input_gradient_is_not_computed(change):
    from framework.ops import conv as ops

    def never(*_, **__):
        raise AssertionError

    change(ops.conv_input, forward=never)
    layer = layers.Conv2D(2, 3)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(layer(wave(1, 5, 5, 3)))
    assert tape.gradient(y, layer.kernel).shape == (3, 3, 3, 2)


def test_aliases():
    assert keras.layers.Convolution2D is keras.layers.Conv2D
    assert keras.layers.Convolution2DTranspose is keras.layers.Conv2DTranspose
    assert keras.layers.SeparableConvolution1D is keras.layers.SeparableConv1D
