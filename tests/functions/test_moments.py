"""Moments and what they are made of, against NumPy; the largest elements of rows."""

import numpy as np
import pytest

import framework as tf

X = np.random.default_rng(3).normal(3, 2, (4, 5, 6)).astype("f4")


@pytest.mark.parametrize(("axes", "keepdims"), [([0], False), ([0, 2], True), ([-1], False)])
def test_weighted_moments(axes, keepdims):
    weights = np.random.default_rng(4).random((4, 5, 1)).astype("f4")
    found = tf.nn.weighted_moments(X, axes, weights, keepdims=keepdims)
    axis = tuple(a % 3 for a in axes)
    full = np.broadcast_to(weights, X.shape)
    mean = np.average(X, axis, full, keepdims=True)
    expected = [mean, np.average((X - mean) ** 2, axis, full, keepdims=True)]
    if not keepdims:
        expected = [v.squeeze(axis) for v in expected]
    for y, v in zip(found, expected, strict=True):
        assert y.shape == v.shape
        np.testing.assert_allclose(y.numpy(), v, rtol=2e-4)


def test_weights_may_be_a_number():
    mean, variance = tf.nn.weighted_moments(X, [0, 1, 2], 2.0)
    assert float(mean) == pytest.approx(X.mean(), rel=1e-5)
    assert float(variance) == pytest.approx(X.var(), rel=1e-5)


def test_sufficient_statistics():
    count, total, squares, shift = tf.nn.sufficient_statistics(X, [0, 2])
    assert shift is None
    assert float(count) == 24
    assert count.dtype == tf.float32
    np.testing.assert_allclose(total.numpy(), X.sum((0, 2)), rtol=1e-5)
    np.testing.assert_allclose(squares.numpy(), (X**2).sum((0, 2)), rtol=1e-5)
    shifted = tf.nn.sufficient_statistics(X, [1], shift=3.0, keepdims=True)
    np.testing.assert_allclose(shifted[1].numpy(), (X - 3).sum(1, keepdims=True), atol=1e-5)
    np.testing.assert_allclose(shifted[2].numpy(), ((X - 3) ** 2).sum(1, keepdims=True), rtol=1e-5)
    assert float(shifted[3]) == 3.0


@pytest.mark.parametrize("shift", [None, 3.0])
def test_normalize_moments_gives_mean_and_variance(shift):
    mean, variance = tf.nn.normalize_moments(*tf.nn.sufficient_statistics(X, [0, 2], shift))
    np.testing.assert_allclose(mean.numpy(), X.mean((0, 2)), rtol=1e-5)
    np.testing.assert_allclose(variance.numpy(), X.var((0, 2)), rtol=1e-4)


def test_moments_of_other_numbers():
    """As TensorFlow 2.21 gives them."""
    mean, variance = tf.nn.normalize_moments(
        2.0, tf.constant([4.0, 6.0]), tf.constant([12.0, 30.0]), tf.constant([1.0, 2.0])
    )
    assert mean.numpy().tolist() == [3, 5]
    assert variance.numpy().tolist() == [2, 6]


@pytest.mark.parametrize("function", [tf.nn.top_k, tf.math.top_k])
def test_top_k(function):
    values, indices = found = function([[1, 3, 2], [3, 3, 1]], 2)
    assert found.values is values
    assert values.numpy().tolist() == [[3, 2], [3, 3]]
    assert indices.numpy().tolist() == [[1, 2], [0, 1]]
    assert indices.dtype == tf.int32
    assert function(X, 3, index_type=tf.int64).indices.dtype == tf.int64
    np.testing.assert_array_equal(function(X, 6).values.numpy(), -np.sort(-X, -1))
    assert float(function([1.0, 5.0]).values[0]) == 5


def test_gradients_reach_the_largest():
    x = tf.Variable([[1.0, 3.0, 2.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.nn.top_k(x, 2).values * [1.0, 10.0])
    assert tape.gradient(y, x).numpy().tolist() == [[0, 1, 10]]


@pytest.mark.parametrize("k", [4, -1])
def test_there_must_be_k(k):
    with pytest.raises(ValueError, match=rf"at least k={k} elements"):
        tf.nn.top_k([1, 2, 3], k)
