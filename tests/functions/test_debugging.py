"""tf.debugging's later assertions, and checking every op for inf and NaN."""

import threading

import numpy as np
import pytest

import framework as tf


def test_assert():
    assert tf.debugging.Assert(tf.constant([True, True]), [1]) is None
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Data: 0, 1, 2, \.\.\.; b'x'$"):
        tf.debugging.Assert(False, [tf.range(5), "x"])
    with pytest.raises(ValueError, match=r"Data: 0, 1, 2, 3, 4$"):
        tf.debugging.Assert([True, False], [tf.range(5)], summarize=-1)


def test_assert_proper_iterable():
    for good in ([1], (1,), {1: 2}, {1}, iter([1])):
        assert tf.debugging.assert_proper_iterable(good) is None
    for bad in (tf.ones(3), tf.Variable([1.0]), np.ones(3), "text", b"text", 1, None):
        with pytest.raises(TypeError, match="assert_proper_iterable: expected"):
            tf.debugging.assert_proper_iterable(bad)


def test_assert_same_float_dtype():
    same = tf.debugging.assert_same_float_dtype
    assert same([tf.ones(1), None, tf.Variable(1.0)]) == tf.float32
    assert same([tf.ones(1, tf.float64)], tf.float64) == tf.float64
    assert same() == same([]) == tf.float32
    assert same(dtype=tf.float16) == tf.float16
    with pytest.raises(ValueError, match="expected float64, got float32"):
        same([tf.ones(1)], tf.float64)
    with pytest.raises(ValueError, match="expected float32, got float64"):
        same([tf.ones(1), tf.ones(1, tf.float64)])
    with pytest.raises(ValueError, match="a floating dtype, got int32"):
        same([tf.ones(1, tf.int32)])


@pytest.fixture
def checked():
    tf.debugging.enable_check_numerics()
    yield
    tf.debugging.disable_check_numerics()


@pytest.mark.usefixtures("checked")
def test_check_numerics_names_the_op():
    said = r"output 0 of the op log.*\(2,\).*float32.*1 NaN and 1 inf among 2.*-1 to 0"
    with pytest.raises(tf.errors.InvalidArgumentError, match=said):
        tf.math.log([0.0, -1.0])
    with pytest.raises(ValueError, match="the op divide"):
        tf.constant(1.0) / 0.0
    assert float(tf.math.log(1.0)) == 0


@pytest.mark.usefixtures("checked")
def test_check_numerics_sees_backward_passes():
    x = tf.Variable(0.0)
    with tf.GradientTape() as tape:
        y = tf.sqrt(x)
    with pytest.raises(ValueError, match="check_numerics: output 0 of the op"):
        tape.gradient(y, x)


@pytest.mark.usefixtures("checked")
def test_check_numerics_sees_updates():
    v = tf.keras.Variable([1.0])
    optimizer = tf.keras.optimizers.SGD(1.0)
    with pytest.raises(ValueError, match="check_numerics: output 0 of the op"):
        optimizer.apply([tf.constant([np.inf])], [v])


def test_check_numerics_ends_and_is_of_one_thread():
    tf.debugging.enable_check_numerics()
    tf.debugging.enable_check_numerics()
    found = []
    thread = threading.Thread(target=lambda: found.append(float(tf.math.log(0.0))))
    thread.start()
    thread.join()
    tf.debugging.disable_check_numerics()
    assert found == [-np.inf]
    assert float(tf.math.log(0.0)) == -np.inf
    tf.debugging.disable_check_numerics()
