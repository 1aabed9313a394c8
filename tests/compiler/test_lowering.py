"""Scalar nodes are lowered to Python operators and give the results of the ops."""

import numpy as np
import pytest

import framework as tf
from framework.kernels import sums, tier
from tests.plan_calls import calls_of


@pytest.fixture(autouse=True)
def _tier():
    tier.set_tier("numpy")
    yield
    tier.set_tier(None)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_numbers(dtype):
    def body(a, b, x):
        y = a * b + 3
        z = y - b * 7
        return (y, z, z * x, tf.stack([a, z])) + ((z / b, a / 0.1) if "float" in dtype else ())

    numbers = [tf.constant(v, dtype) for v in (11, -7)]
    calls = calls_of(body, *numbers, tf.range(5, dtype=dtype))
    assert len(calls["multiply"]) == 1  # by the array
    assert calls.keys() & {"add", "subtract", "divide"} == set()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_results_that_are_not_finite():
    def body(a, zero):
        large = a * 1e38
        return large * 10, large / zero, large * 10 - large * 10, zero / zero

    calls_of(body, tf.constant(3.0), tf.constant(0.0))
    calls_of(lambda n: (n * n * n,), tf.constant(1 << 40, "int64"))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_other_dtypes_use_ufuncs():
    calls_of(lambda a, b: (a + b, a * 2), *[tf.constant(v, "float16") for v in (0.1, 3)])
    calls_of(lambda a, b: (a + b, a - b), *[tf.constant(v, "int8") for v in (100, 101)])
    calls_of(lambda a: (tf.cast(a, tf.float64) * 0.1,), tf.constant(0.3))
    calls_of(lambda a, b: (a / b,), *[tf.constant(v, "int64") for v in (7, 2)])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4), (1,), (), (70, 70)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
def test_sums_and_means(dtype, shape):
    def body(x):
        total, mean = tf.reduce_sum(x), tf.reduce_mean(x)
        return total, mean, total * mean, x * mean, tf.reshape(total, (1,))

    x = np.random.default_rng(0).normal(size=shape) * 10
    calls = calls_of(body, tf.constant(x.astype(dtype)))
    if dtype in ("float32", "float64") and len(shape) > 1:
        assert ("add_reduce" in calls) == (x.size > sums.MOST)
        assert "divide" not in calls
    calls_of(body, tf.constant(np.zeros((0, *shape[1:]), dtype)))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("axis", [0, (0, 1), 1, (1, 2), 2, (0, 2)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
def test_sums_over_some_axes(dtype, axis):
    def body(x):
        rows = tf.reduce_sum(x, axis), tf.reduce_mean(x, axis, keepdims=True)
        return (*rows, *([] if inner else [tf.reduce_sum(tf.transpose(x), axis)]))

    inner = axis in (1, (0, 2))  # NumPy sums with `out` have other bits

    for shape in [(3, 4, 5), (1, 4, 1), (64, 12, 30), (0, 4, 5)]:
        x = np.random.default_rng(0).normal(size=shape) * 10
        calls_of(body, tf.constant(x.astype(dtype)))


def test_sums_without_numba_are_products(change):
    x = tf.constant(np.random.default_rng(0).normal(size=(64, 10)).astype("float32"))

    def body(x):
        return tf.reduce_sum(x, 0), tf.reduce_mean(x, 1), tf.reduce_sum(x[:, :1], 0)

    assert "add_reduce" not in calls_of(body, x)
    change(tier, without_numba=lambda: False)
    calls = calls_of(body, x)
    assert len(calls["add_reduce"]) == 3
    assert "dot" not in calls
