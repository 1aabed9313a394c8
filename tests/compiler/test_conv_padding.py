"""Convolutions with strides pad their inputs themselves; plans have the bits of the eager run."""

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.compiler import passes
from framework.kernels import tier
from tests.changed import changed
from tests.plan_calls import calls_of

_rng = np.random.default_rng(8)


@pytest.fixture(autouse=True)
def _numpy():
    tier.set_tier("numpy")
    yield
    tier.set_tier(None)


def step_of(padding, layer, size=(9, 8)):
    """A function of images: a loss and its gradients, with a padding layer before `layer`."""
    x = inputs = keras.Input((*size, 5))
    x = keras.layers.Conv2D(6, 1, use_bias=False)(x)
    x = layer(keras.layers.ZeroPadding2D(padding)(x))
    model = keras.Model(inputs, x)

    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = model(x)
            loss = tf.reduce_sum(y * y)
        return loss, tape.gradient(loss, [x, *model.trainable_variables])

    return step


def images(size=(9, 8)):
    return tf.constant(_rng.normal(size=(3, *size, 5)).astype("float32"))


LAYERS = [
    lambda **window: keras.layers.Conv2D(7, 3, **window),
    lambda **window: keras.layers.Conv2D(7, 3, use_bias=False, **window),
    lambda **window: keras.layers.Conv2D(7, 3, activation="relu", **window),
    lambda **window: keras.layers.DepthwiseConv2D(3, use_bias=False, **window),
    lambda **window: keras.layers.DepthwiseConv2D(3, **window),
]


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("own", ["valid", "same"])
@pytest.mark.parametrize("padding", [((0, 1), (0, 1)), ((1, 0), (0, 1)), ((1, 0), (1, 0))])
def test_the_copy_is_gone_forwards_and_backwards(padding, own, layer):
    calls = calls_of(step_of(padding, layer(strides=2, padding=own)), images())
    assert not {"pad", "getitem"} & set(calls)


@pytest.mark.parametrize("layer", LAYERS)
def test_loops_have_the_bits_of_a_plan_with_the_copy(layer):
    pytest.importorskip("numba")
    tier.set_tier("numba")
    step, x = step_of(((1, 2), (0, 1)), layer(strides=2), (33, 32)), images((33, 32))
    with changed(passes, without_padded_copies=lambda graph: graph):
        plain = tf.function(lambda x: step(x))
        for _ in range(4):
            expected = plain(x)
    padding = tf.function(lambda x: step(x))
    for _ in range(4):
        found = padding(x)
    assert "pad(" in plain.source
    assert "pad(" not in padding.source
    for a, b in zip(tf.nest.flatten(found), tf.nest.flatten(expected), strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_a_window_inside_the_padding_keeps_the_copy():
    calls = calls_of(step_of(((3, 0), (0, 0)), keras.layers.Conv2D(7, 3, strides=2)), images())
    assert "pad" in calls


def test_a_convolution_without_strides_keeps_the_copy():
    # Winograd's patches would begin elsewhere, and the gradients would be rounded differently
    calls = calls_of(step_of(1, keras.layers.Conv2D(7, 3)), images())
    assert "pad" in calls


def test_a_copy_with_other_readers_stays():
    kernel = tf.constant(_rng.normal(size=(3, 3, 5, 4)).astype("float32"))

    def run(x):
        wide = tf.pad(x, [(0, 0), (0, 1), (0, 1), (0, 0)])
        return tf.nn.conv2d(wide, kernel, 2, "VALID"), tf.reduce_max(wide)

    def returned(x):
        wide = tf.pad(x, [(0, 0), (0, 1), (0, 1), (0, 0)])
        return tf.nn.conv2d(wide, kernel, 2, "VALID"), wide

    assert "pad" in calls_of(run, images())
    assert "pad" in calls_of(returned, images())


def test_padding_of_the_batch_stays():
    kernel = tf.constant(_rng.normal(size=(3, 3, 5, 4)).astype("float32"))

    def run(x):
        return tf.nn.conv2d(tf.pad(x, [(1, 0), (0, 1), (0, 1), (0, 0)]), kernel, 2, "VALID")

    assert "pad" in calls_of(run, images())
