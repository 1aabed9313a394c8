"""keras.ops.image: colours, against Python's colorsys and finite differences."""

import colorsys

import numpy as np
import pytest

import framework as tf
from framework import keras

image = keras.ops.image
RNG = np.random.default_rng(8)
X = np.float32(RNG.uniform(size=(2, 4, 5, 3)))
CORNERS = np.float32([[
    [0, 0, 0], [1, 1, 1], [0.5, 0.5, 0.5], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1],
    [1, 0, 1], [0.3, 0.3, 0.1], [0.2, 0.6, 0.6],
]])  # fmt: skip


@pytest.mark.parametrize("name", ["rgb_to_hsv", "hsv_to_rgb"])
@pytest.mark.parametrize("x", [X, CORNERS], ids=["random", "corners"])
def test_hue_saturation_value(name, x):
    expected = np.apply_along_axis(lambda p: getattr(colorsys, name)(*p), -1, np.float64(x))
    f = getattr(image, name)
    compiled = tf.function(f)
    for _ in range(3):
        np.testing.assert_allclose(compiled(x).numpy(), expected, atol=2e-6)
    first = f(np.moveaxis(x, -1, -3), "channels_first").numpy()
    np.testing.assert_array_equal(np.moveaxis(first, -3, -1), f(x).numpy())


@pytest.mark.parametrize("name", ["rgb_to_hsv", "hsv_to_rgb", "rgb_to_grayscale"])
def test_slopes(name):
    x, f = np.float64(X), getattr(image, name)
    with tf.GradientTape() as tape:
        v = tf.Variable(x)
        y = f(v)
    given = RNG.normal(size=y.shape)
    slopes = tape.gradient(y, v, given).numpy()
    for i in range(3):  # pixels do not depend on each other
        step = np.eye(3)[i] * 1e-6
        change = np.sum((f(x + step) - f(x - step)).numpy() * given, axis=-1) / 2e-6
        np.testing.assert_allclose(slopes[..., i], change, rtol=1e-4, atol=1e-5)


def test_grays_have_finite_slopes():
    with tf.GradientTape() as tape:
        v = tf.Variable(CORNERS)
        y = image.rgb_to_hsv(v)
    assert np.isfinite(tape.gradient(y, v).numpy()).all()


def test_brightness():
    weights = np.array([0.2989, 0.587, 0.114])
    y = image.rgb_to_grayscale(X)
    np.testing.assert_allclose(y.numpy(), (X @ weights)[..., None], atol=1e-6)
    first = image.rgb_to_grayscale(X.transpose(0, 3, 1, 2), data_format="channels_first")
    np.testing.assert_allclose(first.numpy()[:, 0], y.numpy()[..., 0], rtol=1e-6)
    whole = np.uint8(RNG.integers(0, 256, (3, 4, 3)))
    np.testing.assert_array_equal(
        image.rgb_to_grayscale(whole).numpy()[..., 0], np.uint8(whole @ weights)
    )
    assert image.rgb_to_grayscale(whole).dtype == "uint8"
    np.testing.assert_array_equal(image.rgb_to_grayscale(X[..., :1]).numpy(), X[..., :1])


@pytest.mark.parametrize("name", ["rgb_to_hsv", "hsv_to_rgb", "rgb_to_grayscale"])
def test_errors(name):
    f = getattr(image, name)
    with pytest.raises(ValueError, match="rank 3"):
        f(X[0, 0])
    with pytest.raises(ValueError, match="3 channels, got 2"):
        f(X[..., :2])
    with pytest.raises(ValueError, match="channels_first"):
        f(X, "channels")
    if name != "rgb_to_grayscale":
        with pytest.raises(ValueError, match="Divide them by 255"):
            f(np.uint8(X))
        assert f(tf.constant(X, "float16")).dtype == "float16"
