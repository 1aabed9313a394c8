"""saturate_cast: the ends of the ranges of integers, the largest of narrower floats."""

import numpy as np
import pytest

import framework as tf
from framework import keras

INF, NAN = np.inf, np.nan
FLOATS = [INF, -INF, NAN, 3e9, -3e9, 2147483520.0, 300.7, -1.5, 1e20]
ENDS = {  # of the integers: what FLOATS become
    "int8": [127, -128, 0, 127, -128, 127, 127, -1, 127],
    "uint8": [255, 0, 0, 255, 0, 255, 255, 0, 255],
    "int16": [32767, -32768, 0, 32767, -32768, 32767, 300, -1, 32767],
    "int32": [2**31 - 1, -(2**31), 0, 2**31 - 1, -(2**31), 2147483520, 300, -1, 2**31 - 1],
    "uint32": [2**32 - 1, 0, 0, 3 * 10**9, 0, 2147483520, 300, 0, 2**32 - 1],
    "int64": [2**63 - 1, -(2**63), 0, 3 * 10**9, -3 * 10**9, 2147483520, 300, -1, 2**63 - 1],
    "uint64": [2**64 - 1, 0, 0, 3 * 10**9, 0, 2147483520, 300, 0, 2**64 - 1],
}
CASTS = [tf.saturate_cast, keras.ops.saturate_cast]


@pytest.mark.parametrize("cast", CASTS)
@pytest.mark.parametrize("dtype", ENDS)
@pytest.mark.parametrize("source", ["float32", "float64"])
def test_floats_become_the_ends(cast, dtype, source):
    found = cast(tf.constant(FLOATS, source), dtype).numpy()
    expected = list(ENDS[dtype])
    if source == "float64" and dtype == "uint64":
        expected[-1] = 2**64 - 1  # 1e20 is above it too
    assert found.dtype == dtype
    assert found.tolist() == expected


@pytest.mark.parametrize("cast", CASTS)
def test_narrower_floats_become_the_largest(cast):
    found = cast(tf.constant([INF, -1e30, NAN, 300.7]), "float16").numpy()
    np.testing.assert_array_equal(found, np.float16([65504, -65504, NAN, 300.7]))


def test_bfloat16_becomes_its_own_largest_float16():
    pytest.importorskip("ml_dtypes")
    found = tf.saturate_cast(tf.constant([3e38, -3e38, 2.0], tf.bfloat16), tf.float16).numpy()
    assert found.tolist() == [65280, -65280, 2]


@pytest.mark.parametrize("cast", CASTS)
def test_integers(cast):
    x = tf.constant([2**62, -(2**62), 300, -1], "int64")
    assert cast(x, "int32").numpy().tolist() == [2**31 - 1, -(2**31), 300, -1]
    assert cast(x, "uint8").numpy().tolist() == [255, 0, 255, 0]
    assert cast(x, "uint64").numpy().tolist() == [2**62, 0, 300, 0]
    assert cast(x, "float32").numpy().tolist() == [2.0**62, -(2.0**62), 300, -1]


def test_complex_numbers_give_their_real_part():
    x = tf.constant([3.7 + 2j, -1e9j], "complex64")
    assert tf.saturate_cast(x, tf.int8).numpy().tolist() == [3, 0]
    assert tf.saturate_cast(x, tf.complex128).numpy().tolist() == tf.cast(x, "complex128").numpy(
    ).tolist()  # fmt: skip
    assert tf.saturate_cast([3.0], tf.complex64).numpy().tolist() == [3 + 0j]


def test_the_gradient_passes_within_the_range():
    x = tf.Variable([1e6, 2.0, -1e6])
    with tf.GradientTape() as tape:
        y = tf.saturate_cast(x, tf.float16)
    assert tape.gradient(y, x).numpy().tolist() == [0, 1, 0]
