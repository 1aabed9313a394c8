"""DType, Shape, Keras's promotion, floatx and epsilon."""

import copy
import itertools
import pickle

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.core import dtypes


def test_a_dtype_is_its_name():
    assert tf.float32 == "float32" == tf.float32.name
    assert {tf.float32: 1}["float32"] == 1
    assert tf.float32 != "float64"
    assert tf.float32 == np.float32 == tf.float32
    assert tf.float32 == np.dtype("float32")
    assert tf.float32 != "no dtype"
    assert np.dtype(tf.float32) == np.float32
    assert np.zeros(2, tf.int8).dtype == np.int8
    assert tf.half is tf.float16
    assert tf.double is tf.float64


@pytest.mark.parametrize("value", ["float32", tf.float32, np.float32, float, np.dtype("f4"), ">f4",
                                   np.float32(1), "float"])  # fmt: skip
def test_one_object_for_each_type(value):
    assert tf.as_dtype(value) is tf.float32


def test_attributes():
    assert (tf.float32.size, tf.int64.size, tf.complex128.size, tf.bool.size) == (4, 8, 16, 1)
    assert tf.float16.is_floating
    assert not tf.int8.is_floating
    assert tf.uint8.is_integer
    assert tf.uint8.is_unsigned
    assert tf.complex64.is_complex
    assert tf.bool.is_bool
    assert (tf.int8.min, tf.int8.max, tf.uint8.limits) == (-128, 127, (0, 255))
    assert tf.float32.max == np.finfo(np.float32).max
    assert tf.float32.as_numpy_dtype is np.float32
    assert tf.complex64.real_dtype is tf.float32
    assert tf.float32.base_dtype is tf.float32
    assert tf.float32.is_compatible_with("float32")


def test_copies_are_the_same_object():
    assert pickle.loads(pickle.dumps(tf.int32)) is tf.int32
    assert copy.deepcopy(tf.bool) is tf.bool


@pytest.mark.parametrize("value", ["float31", [], {"a": 1}, "datetime64[s]", None])
def test_what_is_no_dtype(value):
    with pytest.raises(TypeError, match=r"is not a dtype|datetime64"):
        tf.as_dtype(value)


# ---- promotion -----------------------------------------------------------------------------------

# What keras.backend.result_type of Keras 3.15 gives (jax backend).
PROMOTED = {
    ("int32", "float16"): "float16", ("uint32", "int32"): "int64", ("int8", "uint8"): "int16",
    ("int64", "float32"): "float32", ("int64", "float16"): "float16", ("bool", "int8"): "int8",
    ("bool", "float16"): "float16", ("float32", "float64"): "float64", ("int32", int): "int32",
    ("int32", float): "float32", ("float16", float): "float16", ("float16", int): "float16",
    ("uint8", int): "uint8", ("bool", int): "int32", ("bool", float): "float32",
    ("float32", "complex64"): "complex64", (int, float): "float32", (int,): "int32",
    (float,): "float32", (bool,): "bool", ("uint16", "int16"): "int32",
    ("uint8", "uint16"): "uint16", ("int64", float): "float32", ("uint64", "int64"): "float32",
    ("float16", "bfloat16"): "float32", ("int8",): "int8",
}  # fmt: skip


@pytest.mark.parametrize(("types", "expected"), PROMOTED.items(), ids=str)
def test_promotion(types, expected):
    if "bfloat16" in types:
        pytest.importorskip("ml_dtypes")
    for order in itertools.permutations(types):
        assert dtypes.result_type(*order) == expected


def test_strings_do_not_promote():
    with pytest.raises(TypeError, match="Strings"):
        dtypes.result_type("string", "float32")


def test_floatx_caps_what_is_weak():
    assert keras.config.floatx() == "float32"
    try:
        keras.config.set_floatx("float64")
        assert dtypes.result_type("int64", float) == "float64"
        assert keras.ops.zeros((2,)).dtype == "float64"
        assert keras.ops.sqrt([1, 4]).dtype == "float64"
        assert keras.Variable(1.0).dtype == "float64"
    finally:
        keras.config.set_floatx("float32")
    assert dtypes.result_type("int64", float) == "float32"
    with pytest.raises(TypeError, match="expected a float type"):
        keras.config.set_floatx("int32")


def test_epsilon():
    assert keras.config.epsilon() == 1e-7
    try:
        keras.config.set_epsilon(1e-3)
        assert keras.backend.epsilon() == 1e-3
    finally:
        keras.config.set_epsilon(1e-7)


def test_bfloat16():
    pytest.importorskip("ml_dtypes")
    x = tf.constant([1.0, 2.5], "bfloat16")
    assert x.dtype.is_floating
    assert (x.dtype.size, x.dtype.name) == (2, "bfloat16")
    assert tf.cast(x * x, tf.float32).numpy().tolist() == [1, 6.25]
