"""NumPy both ways: arrays from tensors, and tensors in NumPy's functions, recorded."""

import operator

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.ops.operators import UFUNCS

X = np.float32([[0.2, 0.5], [0.7, 0.9]])


@pytest.mark.parametrize("kind", [tf.constant, tf.Variable, keras.Variable])
def test_arrays_from_tensors(kind):
    t = kind(X)
    for array in (np.asarray(t), np.array(t), np.stack([t, t])[0], np.asarray([t[0], t[1]])):
        assert type(array) is np.ndarray
        np.testing.assert_array_equal(array, X)
        assert array.dtype == np.float32
    assert np.asarray(t, np.float64).dtype == np.float64
    assert np.array(t, dtype="int32").dtype == np.int32


def test_asarray_of_a_tensor_is_a_read_only_view():
    t = tf.constant(X)
    view = np.asarray(t)
    assert np.shares_memory(view, t.array)
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1
    t.array[0, 0] = 5  # reachable inside the package only; the view shows it
    assert view[0, 0] == 5


def test_copies_are_copies():
    t = tf.constant(X)
    for copied in (np.array(t), t.numpy(), np.asarray(tf.Variable(X)), np.array(t, copy=True)):
        assert not np.shares_memory(copied, t.array)
        copied[0, 0] = 9
    np.testing.assert_array_equal(t.numpy(), X)


def test_plain_numpy_functions():
    t = tf.constant(X)
    assert np.mean(t) == pytest.approx(X.mean())
    assert np.argmax(t) == 3
    assert np.concatenate([t, X]).shape == (4, 2)
    assert np.allclose(t, X)
    np.testing.assert_allclose(t, X)
    assert sum(tf.constant([1.0, 2.0])) == 3.0
    assert np.zeros(3)[tf.constant(1)] == 0
    assert np.shape(t) == (2, 2)
    assert np.ndim(t) == 2


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda u: u.__name__)
def test_ufuncs_give_tensors(ufunc):
    """Each known ufunc on tensors is the op of the same meaning."""
    whole = "bitwise" in ufunc.__name__ or ufunc is np.invert
    x = np.int32([1, 2, 3]) if whole else np.float32([0.25, 0.5, 0.75])
    if ufunc is np.arccosh:
        x = x + np.float32(1)
    if ufunc is np.matmul:
        x = np.float32([[1, 2], [3, 4]])
    if ufunc.__name__.startswith("logical"):
        x = np.array([True, False, True])
    found = ufunc(*[tf.constant(x)] * ufunc.nin)
    assert type(found) is tf.Tensor
    np.testing.assert_allclose(found.numpy(), ufunc(*[x] * ufunc.nin), rtol=1e-6)
    if ufunc.nin == 2:  # arrays on either side
        for pair in ((tf.constant(x), x), (x, tf.constant(x)), (x, tf.Variable(x))):
            mixed = ufunc(*pair)
            assert type(mixed) is tf.Tensor
            np.testing.assert_array_equal(mixed.numpy(), found.numpy())


@pytest.mark.parametrize(
    ("function", "slope"),
    [(np.sin, np.cos), (np.exp, np.exp), (np.sqrt, lambda x: 0.5 / np.sqrt(x)),
     (np.square, lambda x: 2 * x), (np.tanh, lambda x: 1 - np.tanh(x) ** 2),
     (np.log, np.reciprocal)],
)  # fmt: skip
@pytest.mark.parametrize("kind", [tf.constant, tf.Variable])
def test_ufuncs_are_recorded(function, slope, kind):
    t = kind(X)
    with tf.GradientTape() as tape:
        tape.watch(t)
        y = function(t)
    np.testing.assert_allclose(tape.gradient(y, t).numpy(), slope(X), rtol=1e-5)


@pytest.mark.parametrize("operate", [operator.mul, operator.add, operator.sub, operator.truediv,
                                     operator.matmul, operator.lt, operator.eq])  # fmt: skip
def test_an_array_on_the_left(operate):
    t = tf.constant(X)
    found = operate(X, t)
    assert type(found) is tf.Tensor
    np.testing.assert_allclose(found.numpy(), operate(X, X), rtol=1e-6)
    with tf.GradientTape() as tape:
        tape.watch(t)
        y = operate(np.float64(X), t)  # the array adopts the tensor's dtype
    if y.dtype.is_floating:
        assert y.dtype == "float32"
        assert tape.gradient(y, t) is not None


def test_numpy_scalars_on_the_left():
    for scalar in (np.float64(2), np.float32(2), np.int64(2)):
        found = scalar * tf.constant(X)
        assert type(found) is tf.Tensor
        assert found.dtype == "float32"


def test_what_has_no_op_gives_arrays():
    t = tf.constant(X)
    assert type(np.cbrt(t)) is np.ndarray
    np.testing.assert_allclose(np.add.reduce(t), X.sum(0))
    np.testing.assert_allclose(np.add.outer(t, t), np.add.outer(X, X))


def test_tensors_are_not_written_into():
    t = tf.constant(X)
    for out in (t, tf.Variable(X)):
        with pytest.raises(TypeError, match="cannot be written into"):
            np.add(X, X, out=out)
    array = np.zeros((2, 2), np.float32)
    np.add(t, t, out=array)
    np.testing.assert_allclose(array, 2 * X)


@pytest.mark.parametrize("kind", [tf.constant, tf.Variable])
def test_adding_a_tensor_to_an_array_gives_a_tensor(kind):
    x, total = kind(X), np.zeros((2, 2))
    array = total
    with tf.GradientTape() as tape:
        tape.watch(x)
        total += x
        total *= x
    assert type(total) is tf.Tensor
    assert total.dtype == "float32"
    assert not array.any()
    np.testing.assert_allclose(tape.gradient(total, x).numpy(), 2 * X)


def test_dtypes_are_strict():
    with pytest.raises(TypeError, match="int32"):
        np.add(tf.constant([1]), np.float64([1.5]))
    with pytest.raises(TypeError, match="different dtypes"):
        np.multiply(tf.constant(1.0), tf.constant(1))


def test_a_value_that_left_through_numpy_is_a_constant():
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.constant(v.numpy() ** 2)
    assert tape.gradient(y, v) is None
