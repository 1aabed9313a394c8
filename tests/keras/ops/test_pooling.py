"""keras.ops: pooling against numbers of Keras 3.15; symbolic calls, promotion, errors."""

import numpy as np
import pytest

import framework as tf
from framework import keras

X = np.array([[[1, -2], [3, 0.5], [-1, 4]], [[2, 2], [0, -3], [5, 1]]], "float32")
FIRST = np.moveaxis(X, 1, 2)

CASES = {
    "max_pool": ({"pool_size": 2, "strides": 1}, [[[3, 0.5], [3, 4]], [[2, 2], [5, 1]]]),
    "average_pool": (
        {"pool_size": 2, "padding": "same"},
        [[[2.0, -0.75], [-1.0, 4.0]], [[1.0, -0.5], [5.0, 1.0]]],
    ),
    "adaptive_max_pool": ({"output_size": 2}, [[[3.0, 0.5], [3.0, 4.0]], [[2.0, 2.0], [5.0, 1.0]]]),
    "adaptive_average_pool": (
        {"output_size": 2}, [[[2.0, -0.75], [1.0, 2.25]], [[1.0, -0.5], [2.5, -1.0]]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_numbers_of_keras_on_either_side(name):
    arguments, expected = CASES[name]
    op = getattr(keras.ops, name)
    assert op is getattr(keras.ops.nn, name)
    np.testing.assert_allclose(op(X, **arguments), expected)
    found = op(FIRST, **arguments, data_format="channels_first")
    np.testing.assert_allclose(np.moveaxis(found.numpy(), 1, 2), expected)
    symbolic = op(keras.Input((3, 2)), **arguments)
    assert symbolic.shape == (None, *np.shape(expected)[1:])


def test_integers():
    assert keras.ops.max_pool(np.arange(4).reshape(1, 4, 1), 2).dtype == "int64"
    assert keras.ops.average_pool(np.arange(4).reshape(1, 4, 1), 2).numpy().ravel().tolist() == [
        0.5,
        2.5,
    ]


def test_rms_normalization():
    y = keras.ops.rms_normalization(X, scale=[1.0, 2.0], epsilon=1e-6)
    np.testing.assert_allclose(y[0, 0], np.array([1, -4]) / np.sqrt(2.5), rtol=1e-6)
    whole = keras.ops.rms_normalization(X, axis=(1, 2))
    np.testing.assert_allclose(np.mean(whole.numpy() ** 2, (1, 2)), 1, rtol=1e-6)
    assert keras.ops.rms_normalization(tf.constant(X, "float16")).dtype == "float16"


ERRORS = [
    (lambda: keras.ops.max_pool(X, 4), "does not fit"),
    (lambda: keras.ops.max_pool(X, (2, 2)), "pool_size"),
    (lambda: keras.ops.max_pool(X, 2, padding="full"), "padding"),
    (lambda: keras.ops.max_pool(X, 2, data_format="NWC"), "data_format"),
    (lambda: keras.ops.average_pool(X[0], 2), "shape"),
]


@pytest.mark.parametrize(("call", "message"), ERRORS)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_adaptive_pooling_of_sizes_that_are_not_known():
    x = keras.Input((None, 2))
    y = keras.ops.adaptive_max_pool(x, 2)
    assert y.shape == (None, 2, 2)
    np.testing.assert_array_equal(keras.Model(x, y)(X), keras.ops.adaptive_max_pool(X, 2))
