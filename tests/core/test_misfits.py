"""What ops say of arrays of a dtype that they do not compute."""

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.core.errors import DTypeError


def refusal(function, *arrays):
    try:
        function(*arrays)
    except Exception as error:
        return error
    return None


WRONG_DTYPES = {
    "gcd": ([1.5], "gcd: expected integers, got dtype float32. Cast it: tf.cast(x, tf.int32)."),
    "bitwise_and": ([1.5], "bitwise_and: expected integers or booleans, got dtype float32."),
    "bitwise_not": ([1.5], "invert: expected integers or booleans, got dtype float32."),
    "floor": ([1j], "floor: expected real numbers, got dtype complex64. Pass tf.math.real(x)"),
    "arctan2": ([1j], "atan2: expected real numbers, got dtype complex64."),
    "sign": ([True], "sign: expected numbers, got bool."),
    "sum": (["a"], "reduce_sum: expected numbers, got strings."),
}


@pytest.mark.parametrize("name", WRONG_DTYPES)
def test_an_array_of_a_dtype_without_a_kernel(name):
    value, message = WRONG_DTYPES[name]
    function = getattr(keras.ops, name)
    array = tf.constant(value, "complex64" if value == [1j] else None)
    error = refusal(function, *[array] * (2 if name in ("gcd", "bitwise_and", "arctan2") else 1))
    assert isinstance(error, DTypeError)
    assert str(error).startswith(message)


def test_a_symbolic_call_names_a_dtype_without_a_kernel():
    with pytest.raises(DTypeError, match="negative: expected numbers, got bool"):
        -keras.Input((2,), dtype="bool")
    with pytest.raises(DTypeError, match="gcd: expected integers, got dtype float32"):
        keras.ops.gcd(keras.Input((2,)), keras.Input((2,)))


@pytest.mark.parametrize("space", ["tf", "tf.math", "tf.linalg", "tf.nn", "tf.signal", "keras.ops"])
def test_no_error_about_dtypes_is_one_of_numpy(space):
    place = {"tf": tf, "keras.ops": keras.ops}.get(space) or getattr(tf, space[3:])
    pairs = [[1.0, 2.0], np.int32([1, 2]), [True, False], np.complex64([1, 2]), np.uint8([1, 2])]
    for name in dir(place):
        function = getattr(place, name)
        if not callable(function) or isinstance(function, type) or name == "print":
            continue
        for pair in pairs:
            for arrays in ((pair,), (pair, pair)):
                error = refusal(function, *map(np.asarray, arrays))
                assert "ufunc" not in str(error), (name, error)
