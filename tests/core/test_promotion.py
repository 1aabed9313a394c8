"""Dtypes of results: TensorFlow's strict rule and Keras's promotion, for every operand."""

import operator

import numpy as np
import pytest

import framework as tf
from framework import keras

BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow]


def dtype(x):
    return str(x.dtype)


# ---- strict: what TF 2.21 gives ------------------------------------------------------------------

STRICT = [
    (tf.constant(1.0), 2, "float32"),
    (tf.constant(1.0), 2.5, "float32"),
    (tf.constant(1), 2, "int32"),
    (tf.constant(1.0), np.float64([1, 2]), "float32"),
    (tf.constant(1.0), np.float64(2), "float32"),
    (tf.constant(1.0), [1.0, 2.0], "float32"),
    (tf.constant(1.0), np.int64([1]), "float32"),
    (tf.constant(1.0, tf.float64), 2.5, "float64"),
    (tf.constant(1.0, tf.float16), 2.5, "float16"),
    (tf.Variable(1.0), tf.constant(1.0), "float32"),
    (tf.Variable(1.0), np.float64([1, 2]), "float32"),
    (tf.constant(np.float64(1)), 1, "float64"),
    (tf.constant(1j), 2.0, "complex128"),
    (tf.constant(1, tf.int64), 2, "int64"),
    (tf.constant(1.0), True, "float32"),
    (tf.constant(1), np.array([True]), "int32"),
]


@pytest.mark.parametrize(("a", "b", "expected"), STRICT, ids=str)
def test_operands_adopt_the_tensors_dtype(a, b, expected):
    assert dtype(a + b) == dtype(b + a) == expected
    assert dtype(tf.add(a, b)) == dtype(tf.multiply(b, a)) == expected
    assert dtype(tf.maximum(a, b) if expected != "complex128" else a * b) == expected


RAISING = [
    (tf.constant(1), tf.constant(1.0)),
    (tf.constant(1), 1.5),
    (tf.constant(1), np.float32([1.0])),
    (tf.constant(1.0), tf.constant(1.0, tf.float64)),
    (tf.constant(1, tf.int64), tf.constant(1)),
    (tf.Variable(1.0), tf.constant(1)),
    (tf.constant(1.0), 1j),
    (tf.constant(True), 1),
    (tf.constant(1), np.float64(1.5)),
    (tf.constant(True), np.int64([1])),
    (tf.constant(1.0), "a"),
]


@pytest.mark.parametrize(("a", "b"), RAISING, ids=str)
@pytest.mark.parametrize("operate", [operator.add, operator.mul, tf.add, tf.multiply, tf.equal])
def test_nothing_is_promoted_silently(operate, a, b):
    with pytest.raises(TypeError):
        operate(a, b)
    with pytest.raises(TypeError):
        operate(b, a)


def test_the_error_names_both_dtypes_and_the_remedy():
    with pytest.raises(TypeError, match=r"int32 and float32.*tf\.cast"):
        tf.constant(1) + tf.constant(1.0)
    with pytest.raises(TypeError, match=r"1\.5.*int32"):
        tf.constant(1) + 1.5
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.constant(1) + tf.constant(1.0)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (1, 2, "int32"), (1, 2.0, "float32"), (1.0, 2.0, "float32"), ([1, 2], 2.0, "float32"),
        (np.float64(1), 2.0, "float64"), (np.int64([1]), 2, "int64"), (True, False, None),
        (np.float32([1]), np.float64([1]), "float32"),
    ],
)  # fmt: skip
def test_operands_without_any_tensor(a, b, expected):
    if expected is not None:
        assert dtype(tf.add(a, b)) == expected
    assert dtype(tf.equal(a, b)) == "bool"


@pytest.mark.parametrize(
    ("source", "expected"),
    [("int32", "float64"), ("int64", "float64"), ("int8", "float32"), ("uint16", "float32"),
     ("uint8", "float32"), ("int16", "float32"), ("uint32", "float64"), ("uint64", "float64"),
     ("float16", "float16"), ("float32", "float32")],
)  # fmt: skip
def test_division_of_integers(source, expected):
    x = tf.constant([7, 2], source)
    assert dtype(tf.divide(x, 2)) == dtype(tf.truediv(x, x)) == expected
    assert dtype(tf.math.divide_no_nan(x, 2)) == dtype(tf.math.divide_no_nan(x, x)) == expected
    for y in (x, tf.Variable(x)):
        for found in (y / 2, y / x, y / np.array(2, source), np.true_divide(y, x)):
            assert dtype(found) == expected
        for found in (8 / y, np.array(8, source) / y):
            assert dtype(found) == expected
            assert found.numpy()[1] == 4
        assert (y / 2).numpy().tolist() == [3.5, 1.0]
    assert tf.divide(x, 2).numpy().tolist() == [3.5, 1.0]
    assert dtype(tf.math.floordiv(x, 2)) == source


BY_ZERO = {
    "//": operator.floordiv, "%": operator.mod, "floordiv": tf.math.floordiv,
    "floormod": tf.math.floormod, "truncatediv": tf.truncatediv, "truncatemod": tf.truncatemod,
}  # fmt: skip


@pytest.mark.parametrize("name", BY_ZERO)
@pytest.mark.parametrize("source", ["int8", "uint8", "int32", "int64"])
def test_integers_are_not_divided_by_zero(name, source):
    divide, x = BY_ZERO[name], tf.constant([7, 6] * 50, source)
    for zero in (tf.constant([2, 0] * 50, source), tf.constant(0, source), 0):
        with pytest.raises(tf.errors.InvalidArgumentError, match="integers cannot be divided"):
            divide(x, zero)
    assert divide(x, tf.constant(4, source)).numpy()[0] in (1, 3)
    assert np.isinf((7.0 // tf.constant(0.0)).numpy())  # floats are


@pytest.mark.parametrize("kind", [tf.constant, tf.Variable])
def test_what_does_not_broadcast_is_not_equal(kind):
    x = kind([1, 2])
    for other in (tf.constant([1, 2, 3]), [1, 2, 3], np.int32([[1], [2]] * 2)[:, 0]):
        same, differs = x == other, x != other
        assert type(same) is type(differs) is tf.Tensor
        assert (dtype(same), same.shape, bool(same), bool(differs)) == ("bool", (), False, True)


# ---- floating ------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [tf.exp, tf.sqrt, tf.sin, tf.tanh, tf.sigmoid, tf.math.log,
                                      tf.nn.softmax, tf.math.reduce_std, tf.nn.elu])  # fmt: skip
def test_functions_of_floats_refuse_integers(function):
    with pytest.raises(TypeError, match=r"floating dtype, got int32.*tf\.cast"):
        function(tf.constant([1, 2]))
    assert dtype(function([1.0, 2.0])) == "float32"
    assert dtype(function(np.float64([1, 2]))) == "float64"
    assert dtype(function(tf.Variable([1.0, 2.0]))) == "float32"


# ---- promote -------------------------------------------------------------------------------------

PROMOTED = [
    (tf.constant(1), tf.constant(1.0), "float32"),
    (tf.constant(1), 1.5, "float32"),
    (np.int64([1]), np.float32([1]), "float32"),
    (tf.constant(1, "float16"), 2.5, "float16"),
    (tf.constant(1, "int64"), tf.constant(1, "float16"), "float16"),
    (np.float64([1]), 1, "float64"),
    (keras.Variable(1.0), np.int32([1]), "float32"),
    (tf.constant([True]), 1, "int32"),
    (1, 2, "int32"),
    ([1.0], 2, "float32"),
    (np.uint32([1]), np.int32([1]), "int64"),
]


@pytest.mark.parametrize(("a", "b", "expected"), PROMOTED, ids=str)
def test_keras_promotes(a, b, expected):
    for function in (keras.ops.add, keras.ops.multiply, keras.ops.maximum):
        assert dtype(function(a, b)) == dtype(function(b, a)) == expected


def test_keras_divides_integers_as_floatx():
    for x in (keras.Variable([7, 2], dtype="int8"), keras.Variable([7, 2], dtype="int32")):
        for found in (x / 2, 2 / x, x / x, keras.ops.divide(x, 2)):
            assert dtype(found) == "float32"
    x = keras.KerasTensor((None, 2), "int32")
    assert dtype(x / 2) == dtype(x / x) == "float32"


def test_operators_of_keras_variables_and_keras_tensors_promote():
    v = keras.Variable([1.0, 2.0])
    assert dtype(v + tf.constant([1, 2])) == dtype(np.int64([1, 2]) * v) == "float32"
    x = keras.KerasTensor((None, 2), "int32")
    for y in (x + 1.5, 1.5 * x, keras.ops.add(x, v)):
        assert isinstance(y, keras.KerasTensor)
        assert (y.shape, dtype(y)) == ((None, 2), "float32")


@pytest.mark.parametrize("operate", BINARY)
def test_reflected_operators(operate):
    x = np.float32([1.0, 2.0])
    for other in (2.0, 3, np.float32([2.0, 4.0])):
        for kind in (tf.constant, tf.Variable, keras.Variable):
            found = operate(other, kind(x))
            assert type(found) is tf.Tensor
            np.testing.assert_allclose(found.numpy(), operate(np.float32(other), x))
            np.testing.assert_allclose(
                operate(kind(x), other).numpy(), operate(x, np.float32(other))
            )
