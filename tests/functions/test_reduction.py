"""Reductions, extremes and sums along an axis, against NumPy."""

import numpy as np
import pytest

import framework as tf
from framework import keras

X = np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)
AXES = [None, 0, 1, -1, (0, 1), [1, 2], (0, 1, 2), (-1, 0), ()]

REFERENCES = {
    "reduce_sum": np.sum, "reduce_mean": np.mean, "reduce_max": np.max, "reduce_min": np.min,
    "reduce_prod": np.prod, "reduce_std": np.std, "reduce_variance": np.var,
    "reduce_logsumexp": lambda x, **k: np.log(np.sum(np.exp(x), **k)),
    "reduce_euclidean_norm": lambda x, **k: np.sqrt(np.sum(x * x, **k)),
}  # fmt: skip


@pytest.mark.parametrize("name", REFERENCES)
@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions(name, axis, keepdims):
    expected = REFERENCES[name](X, axis=tuple(axis) if isinstance(axis, list) else axis,
                                keepdims=keepdims)  # fmt: skip
    found = getattr(tf.math, name)(X, axis=axis, keepdims=keepdims)
    assert found.shape == np.shape(expected)
    assert found.dtype == "float32"
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5, atol=1e-6)


def test_axis_may_be_a_tensor():
    assert tf.reduce_sum(X, axis=tf.constant([0, 2])).shape == (3,)
    assert tf.reduce_sum(X, axis=tf.constant(1)).shape == (2, 4)
    assert tf.reduce_sum(X, axis=np.int64(1)).shape == (2, 4)


@pytest.mark.parametrize("function", [tf.reduce_sum, tf.reduce_max, tf.argmax, tf.cumsum, tf.sort])
@pytest.mark.parametrize("axis", [3, -4])
def test_an_axis_that_is_not_there(function, axis):
    with pytest.raises(ValueError, match=rf"{function.__name__}|argsort: axis={axis}.*rank 3"):
        function(X, axis=axis)


def test_other_bad_axes():
    with pytest.raises(ValueError, match=r"names an axis twice"):
        tf.reduce_sum(X, axis=[0, -3])
    with pytest.raises(ValueError, match=r"axis must be an int, got 1\.5"):
        tf.reduce_sum(X, axis=1.5)
    with pytest.raises(ValueError, match="0-d tensor has no axes"):
        tf.reduce_sum(1.0, axis=0)
    with pytest.raises(TypeError, match="expected booleans, got float32"):
        tf.reduce_any([1.0])


def test_integers_and_booleans():
    assert tf.reduce_mean([-3, -2]).numpy() == -2  # the integer part, as in TensorFlow
    assert tf.reduce_mean([7, 8]).numpy() == 7
    assert tf.reduce_sum(tf.constant([200, 100], tf.uint8)).dtype == "uint8"
    assert bool(tf.reduce_all([True, False])) is False
    assert tf.reduce_any([[True], [False]], axis=1).numpy().tolist() == [True, False]
    assert tf.math.count_nonzero([[0, 1], [2, 3]], axis=0).numpy().tolist() == [1, 2]
    assert tf.math.zero_fraction([0.0, 1.0, 0.0, 0.0]).numpy() == 0.75


def test_empty():
    assert tf.reduce_sum(tf.zeros([0, 2]), axis=0).numpy().tolist() == [0, 0]
    assert tf.reduce_prod(tf.zeros([0])).numpy() == 1
    assert tf.reduce_max(tf.zeros([0])).numpy() == -np.inf
    assert np.isnan(tf.reduce_mean(tf.zeros([0])).numpy())


def test_positions():
    np.testing.assert_array_equal(tf.argmax(X).numpy(), X.argmax(0))
    np.testing.assert_array_equal(tf.argmin(X, axis=-1).numpy(), X.argmin(-1))
    assert tf.argmax([1, 3, 3]).numpy() == 1
    assert tf.argmax([1.0], output_type=tf.int32).dtype == "int32"
    assert tf.argmax([1.0]).dtype == "int64"


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
def test_cumsum(axis, reverse, exclusive):
    x = np.flip(X, axis) if reverse else X
    expected = np.cumsum(x, axis) - (x if exclusive else 0)
    expected = np.flip(expected, axis) if reverse else expected
    found = tf.cumsum(X, axis, exclusive=exclusive, reverse=reverse)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5, atol=1e-6)


def test_ties_share_the_gradient():
    x = tf.constant([3.0, 3.0, 1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_max(x)
    assert tape.gradient(y, x).numpy().tolist() == [0.5, 0.5, 0]


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_complex_numbers_count_by_their_size(axis):
    z = (X[0] + 1j * X[1]).astype(np.complex64)
    variance = tf.math.reduce_variance(z, axis)
    assert variance.dtype == "float32"
    np.testing.assert_allclose(variance.numpy(), np.var(z, axis), rtol=1e-5)
    np.testing.assert_allclose(tf.math.reduce_std(z, axis).numpy(), np.std(z, axis), rtol=1e-5)
    length = np.sqrt(np.sum(np.abs(z) ** 2, axis))
    found = tf.math.reduce_euclidean_norm(z, axis)
    assert found.dtype == tf.norm(z, axis=axis).dtype == "complex64"
    np.testing.assert_allclose(found.numpy(), length, rtol=1e-5)
    units = tf.math.l2_normalize(z, axis)
    assert units.dtype == "complex64"
    kept = length if axis is None else np.expand_dims(length, axis)
    np.testing.assert_allclose(units.numpy(), z / kept, rtol=1e-5)
    assert keras.ops.std(z, axis).numpy() == pytest.approx(np.std(z, axis), rel=1e-5)


@pytest.mark.parametrize(
    "name",
    ["reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod", "math.cumsum",
     "math.cumprod"],
)  # fmt: skip
def test_booleans_are_refused(name):
    """As in TensorFlow: their mean would be that of their sum, a boolean."""
    function = tf
    for part in name.split("."):
        function = getattr(function, part)
    with pytest.raises(TypeError, match="expected numbers, got bool"):
        function([True, False, True])
    with pytest.raises(TypeError, match="expected numbers, got bool"):
        tf.function(function)(tf.constant([True, False, True]))


NUMERIC = "reduce_sum reduce_mean reduce_max reduce_min reduce_prod abs negative sign square"


@pytest.mark.parametrize("name", NUMERIC.split())
def test_strings_are_refused(name):
    for strings in (["a", "b"], tf.constant(["a"]), np.array([b"a"])):
        with pytest.raises(TypeError, match=f"{name}: expected numbers, got strings"):
            getattr(tf.math, name)(strings)
