"""keras.Variable: what its first argument may be, and the dtype that follows from it."""

import numpy as np
import pytest

import framework as tf
from framework import keras

CASES = {  # how it is made, its dtype and values; dtypes are Keras's on TensorFlow
    "a name": (("ones", (2,)), "float32", [1, 1]),
    "an initializer": ((keras.initializers.Constant(3), (2,), "int32"), "int32", [3, 3]),
    "a function": ((lambda shape, dtype: keras.ops.ones(shape, dtype), (2,)), "float32", [1, 1]),
    "Python's floats": (([1.0, 2.0],), "float32", [1, 2]),
    "Python's ints": (([1, 2],), "int32", [1, 2]),
    "a boolean": ((True,), "bool", True),
    "NumPy's floats": ((np.array([1.0, 2.0]),), "float64", [1, 2]),
    "one of NumPy's floats": ((np.float64(3),), "float64", 3),
    "half floats": ((np.float16([3]),), "float16", [3]),
    "a tensor": ((tf.constant([1.0], "float64"),), "float64", [1]),
    "a shape that is not needed": ((np.ones(3, "float32"), (2,)), "float32", [1, 1, 1]),
}


@pytest.mark.parametrize("kind", CASES)
def test_values_and_dtypes(kind):
    arguments, dtype, values = CASES[kind]
    variable = keras.Variable(*arguments)
    assert variable.dtype == dtype
    np.testing.assert_array_equal(variable, values)


def test_settings():
    variable = keras.Variable(1.0, aggregation="sum", synchronization="on_read", name="w")
    assert (variable.aggregation, variable.synchronization) == ("sum", "on_read")
    assert (variable.name, variable.path) == ("w", "w")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"initializer": "ones"}, "needs shape="),
        ({"initializer": "abc", "shape": (2,)}, "abc"),
        ({"initializer": 1.0, "aggregation": "xx"}, "'only_first_replica', got 'xx'"),
        ({"initializer": 1.0, "synchronization": "xx"}, "'on_read', got 'xx'"),
        ({"initializer": 1.0, "name": "a/b"}, "must not contain '/'"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        keras.Variable(**arguments)
