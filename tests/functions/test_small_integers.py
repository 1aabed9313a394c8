"""Integers of few bits: results and dtypes of reductions, and Python numbers that do not fit.

The numbers are TensorFlow's (2.21) and Keras's (3.15 on JAX).
"""

import numpy as np
import pytest

import framework as tf
from framework import keras

UINT8, INT8 = np.uint8([200, 3, 250]), np.int8([100, -100, 90])
UINT16, INT32 = np.uint16([60000, 3, 65000]), np.int32([2**30, 2**30, 2**30 + 1])
TENSORFLOW = {  # in the dtype of the argument, where sums wrap around as TensorFlow's do
    "reduce_sum": [197, 90, 59467, -1073741823],
    "reduce_mean": [151, 30, 41667, 2**30],
    "reduce_max": [250, 100, 65000, 2**30 + 1],
    "reduce_min": [3, -100, 3, 2**30],
    "reduce_prod": [240, 96, 54528, 0],
}


@pytest.mark.parametrize("name", TENSORFLOW)
def test_reductions_keep_the_dtype(name):
    for x, expected in zip((UINT8, INT8, UINT16, INT32), TENSORFLOW[name], strict=True):
        found = getattr(tf, name)(tf.constant(x))
        assert (found.dtype, int(found)) == (x.dtype, expected)
        compiled = tf.function(getattr(tf, name))
        assert [int(compiled(tf.constant(x))) for _ in range(4)] == [expected] * 4


@pytest.mark.parametrize(("x", "mean"), [
    ([[-7, 2], [-6, 0]], [-6, 1]), ([[7, -2], [6, 1]], [6, 0]),
    ([[-128, -128], [-128, -127]], [-128, -127]),
])  # fmt: skip
def test_means_are_rounded_towards_zero(x, mean):
    found = tf.reduce_mean(tf.constant(x, tf.int8), axis=0).numpy()
    assert found.dtype == np.int8
    assert found.tolist() == mean


def test_means_over_axes_and_of_nothing():
    x = tf.constant([[200, 250], [255, 251]], tf.uint8)
    assert tf.reduce_mean(x, axis=1, keepdims=True).numpy().tolist() == [[225], [253]]
    assert tf.reduce_mean(tf.zeros((0, 2), tf.uint8), axis=0).numpy().tolist() == [0, 0]
    big = tf.constant([2**64 - 1], tf.uint64)
    assert int(tf.reduce_mean(big)) == 2**64 - 1


def test_moments_of_integers_are_integers():
    mean, variance = tf.nn.moments(tf.constant([1, 5, 9]), [0])
    assert (mean.dtype, int(mean), variance.dtype, int(variance)) == ("int32", 5, "int32", 10)


KERAS = {  # what of uint8, int8, uint16; and the dtypes
    "sum": ([453, 90, 125003], ["uint32", "int32", "uint32"]),
    "prod": ([150000, -900000, 3110065408], ["uint32", "int32", "uint32"]),
    "max": ([250, 100, 65000], ["uint8", "int8", "uint16"]),
    "min": ([3, -100, 3], ["uint8", "int8", "uint16"]),
    "ptp": ([247, -56, 64997], ["uint8", "int8", "uint16"]),
    "mean": ([151, 30, 41667.668], ["float32"] * 3),
    "var": ([11368.667, 8466.667, 872138944.0], ["float32"] * 3),
    "std": ([106.623955, 92.014496, 29531.998], ["float32"] * 3),
}


@pytest.mark.parametrize("name", KERAS)
def test_reductions_of_keras(name):
    values, kinds = KERAS[name]
    for x, value, dtype in zip((UINT8, INT8, UINT16), values, kinds, strict=True):
        found = getattr(keras.ops, name)(tf.constant(x))
        assert found.dtype == dtype
        np.testing.assert_allclose(found.numpy(), value, rtol=1e-6)


# ---- numbers that do not fit ---------------------------------------------------------------------

ARITHMETIC = "add subtract multiply maximum minimum floordiv floormod truncatediv truncatemod pow"
KERAS_TWO = "add subtract multiply maximum minimum floor_divide mod power bitwise_and equal less"
OPERATORS = {
    "+": lambda x, n: x + n, "-": lambda x, n: n - x, "*": lambda x, n: x * n,
    "//": lambda x, n: x // n, "%": lambda x, n: x % n, "&": lambda x, n: x & n,
}  # fmt: skip
CALLS = {f"tf.{n}": getattr(tf, n, None) or getattr(tf.math, n) for n in ARITHMETIC.split()}
CALLS |= {f"keras.ops.{n}": getattr(keras.ops, n) for n in KERAS_TWO.split()}
CALLS |= OPERATORS
CALLS["tf.clip_by_value"] = lambda x, n: tf.clip_by_value(x, 0, n)
CALLS["keras.ops.clip"] = lambda x, n: keras.ops.clip(x, 0, n)
OUTSIDE = {"uint8": (-1, 256), "int8": (-129, 128), "uint16": (-1, 2**16), "int32": (2**31,)}


@pytest.mark.parametrize("dtype", OUTSIDE)
@pytest.mark.parametrize("name", CALLS)
def test_numbers_that_do_not_fit_are_refused(name, dtype):
    """TensorFlow 2.21 makes 255 of -1, JAX too; a loss computed so is wrong without a word."""
    x = tf.constant([1, 2, 3], dtype)
    for number in OUTSIDE[dtype]:
        with pytest.raises(ValueError, match=rf"got the number {number}, expected .*{dtype}"):
            CALLS[name](x, number)


def test_numbers_on_the_left_are_refused_too():
    x = tf.constant([1, 2, 3], tf.uint8)
    for call in (lambda: tf.maximum(-1, x), lambda: tf.math.floordiv(300, x), lambda: 300 * x):
        with pytest.raises(ValueError, match="expected 0 to 255"):
            call()


@pytest.mark.parametrize("number", [-1, 300, 2**40])
def test_comparisons_are_exact(number):
    x = np.uint8([0, 44, 255])
    for name in ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"):
        expected = getattr(np, name)(x.astype(np.int64), number)
        np.testing.assert_array_equal(getattr(tf, name)(tf.constant(x), number), expected)


def test_no_number_wraps_beyond_64_bits():
    for call in (lambda: tf.constant(2**63, tf.int64), lambda: tf.fill([2], 2**63),
                 lambda: tf.Variable([1]).assign([2**63])):  # fmt: skip
        with pytest.raises(ValueError, match="does not fit"):
            call()
    assert tf.constant(2**63, tf.uint64).numpy() == 2**63


def test_bounds_of_floats_clip_integers_as_floats():
    found = keras.ops.clip(tf.constant([200, 1], tf.uint8), 0, 1.5)
    assert found.dtype == "float32"
    assert found.numpy().tolist() == [1.5, 1]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32"])
def test_truncating_division(dtype):
    a = np.array([7, 6, 0, 127, 1, 100], dtype)
    b = np.array([2, 3, 5, 1, 127, 7], dtype)
    if dtype != "uint8":
        a, b = np.r_[a, -a, a, -a], np.r_[b, b, -b, -b]
    expected = np.trunc(a / b).astype(dtype)
    found, rest = tf.truncatediv(a, b), tf.truncatemod(a, b)
    assert found.dtype == rest.dtype == dtype
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(rest, np.fmod(a, b))
    assert tf.truncatediv(tf.constant(a), 3).dtype == dtype


def test_values_of_one_hot_must_fit_its_dtype():
    with pytest.raises(TypeError, match=r"1\.5"):
        tf.one_hot([0], 2, on_value=1.5, dtype=tf.uint8)


def test_floor_division_of_floats_is_the_floor_of_the_quotient():
    x, y = np.float32([1.0, -1.0, 5.0, np.inf, -1.0]), np.float32([0.1, 0.1, 0.2, 2.0, np.inf])
    np.testing.assert_array_equal(tf.math.floordiv(x, y), [10, -10, 25, np.inf, 0])
    np.testing.assert_array_equal(tf.constant(x) // y, [10, -10, 25, np.inf, 0])
    np.testing.assert_array_equal(x // tf.constant(y), [10, -10, 25, np.inf, 0])
    assert 1.0 // tf.constant(0.1) == 10
    assert keras.ops.floor_divide(1.0, np.float32(0.1)) == 9  # JAX's
