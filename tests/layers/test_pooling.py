"""Pooling and noise layers: numbers of Keras 3.15, masks, statistics of the noise, errors."""

import numpy as np
import pytest

import framework as tf
from framework import layers
from framework.core.errors import InvalidArgumentError, ShapeError

X = np.array([[[1, -2], [3, 0.5], [-1, 4]], [[2, 2], [0, -3], [5, 1]]], "float32")
MASK = np.array([[True, True, False], [True, False, True]])

CASES = {
    "same": (
        layers.AveragePooling1D, {"pool_size": 2, "padding": "same"},
        [[[2.0, -0.75], [-1.0, 4.0]], [[1.0, -0.5], [5.0, 1.0]]],
    ),
    "adaptive mean": (
        layers.AdaptiveAveragePooling1D, {"output_size": 2},
        [[[2.0, -0.75], [1.0, 2.25]], [[1.0, -0.5], [2.5, -1.0]]],
    ),
    "adaptive maximum": (
        layers.AdaptiveMaxPooling1D, {"output_size": 2},
        [[[3.0, 0.5], [3.0, 4.0]], [[2.0, 2.0], [5.0, 1.0]]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_numbers_of_keras(name):
    cls, arguments, expected = CASES[name]
    np.testing.assert_allclose(cls(**arguments)(X), expected, rtol=1e-6)


def test_a_mean_over_the_steps_of_a_mask():
    layer = layers.GlobalAveragePooling1D()
    y = layer(X, mask=MASK)
    np.testing.assert_allclose(y, [[2.0, -0.75], [3.5, 1.5]])
    assert getattr(y, "_keras_mask", None) is None


def test_of_equal_cells_the_first_gets_the_gradient():
    x = tf.constant(np.ones((1, 2, 2, 1), "float32"))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = layers.MaxPooling2D()(x)
    np.testing.assert_array_equal(tape.gradient(y, x).numpy().ravel(), [1, 0, 0, 0])


def test_unknown_sizes_stay_unknown():
    assert layers.MaxPooling2D()(tf.keras.Input((None, 9, 3))).shape == (None, None, 4, 3)
    with pytest.raises(ShapeError, match="known"):
        layers.AdaptiveMaxPooling1D(2)(tf.keras.Input((None, 3)))


ERRORS = [
    (lambda: layers.MaxPooling2D(pool_size=(2, 2, 2)), "pool_size"),
    (lambda: layers.MaxPooling2D(strides=0), "strides"),
    (lambda: layers.MaxPooling2D(padding="full"), "padding"),
    (lambda: layers.MaxPooling1D(pool_size=4)(X), "does not fit"),
    (lambda: layers.MaxPooling2D()(X), "incompatible"),
    (lambda: layers.GlobalMaxPooling1D(data_format="channels"), "data_format"),
]


@pytest.mark.parametrize(("call", "message"), ERRORS)
def test_errors(call, message):
    with pytest.raises((InvalidArgumentError, ShapeError), match=message):
        call()


# ---- noise ---------------------------------------------------------------------------------------

ONES = np.ones((200, 100), "float32")


@pytest.mark.parametrize(
    ("layer", "mean", "deviation"),
    [
        (layers.GaussianNoise(0.5, seed=1), 1.0, 0.5),
        (layers.GaussianDropout(0.2, seed=1), 1.0, 0.5),
        (layers.SpatialDropout1D(0.2, seed=1), 1.0, 0.5),
    ],
)
def test_mean_and_deviation_of_noise(layer, mean, deviation):
    x = ONES.reshape(200, 1, 100) if layer.input_spec else ONES
    y = layer(x, training=True).numpy()
    assert abs(y.mean() - mean) < 0.02
    assert abs(y.std() - deviation) < 0.02
    assert np.any(layer(x, training=True).numpy() != y)
    np.testing.assert_array_equal(layer(x), x)


def test_alpha_dropout_keeps_mean_and_variance():
    x = np.random.default_rng(0).normal(size=(500, 200)).astype("float32")
    y = layers.AlphaDropout(0.3, seed=1)(x, training=True).numpy()
    assert abs(y.mean()) < 0.02
    assert abs(y.std() - 1) < 0.02
    rows = layers.AlphaDropout(0.3, noise_shape=(None, 1), seed=1)(x, training=True).numpy()
    dropped = np.ptp(rows, axis=1) == 0
    assert 0.2 < dropped.mean() < 0.4


def test_channels_are_dropped_whole():
    x = np.ones((20, 3, 4, 10), "float32")
    last = layers.SpatialDropout2D(0.5, seed=1)(x, training=True).numpy()
    assert np.all(last == last[:, :1, :1])
    first = layers.SpatialDropout2D(0.5, "channels_first", seed=1)(x, training=True).numpy()
    assert np.all(first == first[:, :, :1, :1])
    for y in (last, first):
        assert set(np.unique(y)) == {0.0, 2.0}


def test_activity_is_penalised_per_row():
    layer = layers.ActivityRegularization(l1=0.1, l2=0.5)
    layer(np.full((2, 3), 2.0, "float32"))
    assert float(layer.losses[0]) == pytest.approx(3 * 2 * 0.1 + 3 * 4 * 0.5)


def test_prelu_learns_a_slope():
    layer = layers.PReLU(shared_axes=[1])
    layer.build((None, 3, 2))
    assert layer.alpha.shape == (1, 2)
    layer.alpha.assign([[0.5, 0.25]])
    x = tf.constant([[[-2.0, -4.0], [1.0, 2.0], [0.0, -1.0]]])
    np.testing.assert_allclose(layer(x)[0], [[-1, -1], [1, 2], [0, -0.25]])
