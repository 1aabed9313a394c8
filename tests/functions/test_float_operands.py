"""Functions of two operands that are defined for floats only."""

import numpy as np
import pytest

import framework as tf

EACH = pytest.mark.parametrize("function", [
    tf.math.atan2, tf.math.xlogy, tf.math.xlog1py, tf.math.xdivy,
])  # fmt: skip


@EACH
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_python_numbers_adopt_the_dtype(function, dtype):
    x = tf.constant([1.0, 2.0], dtype)
    number = tf.constant(3.0, dtype)
    for found, expected in (
        (function(x, 3), function(x, number)),
        (function(x, 3.0), function(x, number)),
        (function(3.0, x), function(number, x)),
    ):
        assert found.dtype == dtype
        np.testing.assert_array_equal(found.numpy(), expected.numpy())


@EACH
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_gradients_beside_python_numbers_keep_the_dtype(function, dtype):
    x = tf.constant([1.0, 2.0], dtype)
    for call in (lambda x: function(x, 3), lambda x: function(3.0, x)):
        for f in (call, tf.function(call)):
            for _ in range(3):
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    y = f(x)
                assert tape.gradient(y, x).dtype == dtype


@EACH
@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool"])
def test_integers_are_refused(function, dtype):
    x = tf.cast([1, 0], dtype)
    with pytest.raises(TypeError, match="expected a floating dtype, got"):
        function(x, x)
