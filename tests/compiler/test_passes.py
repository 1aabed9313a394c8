"""Simplification passes keep all bits."""

import numpy as np
import pytest

import framework as tf
from framework.kernels import tier
from tests.plan_calls import calls_of, plan_calls

_rng = np.random.default_rng(11)


@pytest.fixture
def set_tier():
    yield tier.set_tier
    tier.set_tier(None)


REDUCTIONS = ["reduce_sum", "reduce_mean", "reduce_max", "reduce_min"]


@pytest.mark.parametrize("dtype", ["float16", "float32", "int32"])
@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize(("shape", "axis"), [((6, 1), -1), ((1, 5), 0), ((1, 4, 1), (0, 2))])
def test_axes_of_size_1_are_dropped_and_not_reduced(shape, axis, name, dtype, set_tier):
    set_tier("numpy")
    reduced = getattr(tf, name)
    x = (10 * _rng.normal(size=shape)).astype(dtype)
    x.flat[0] = -0.0
    calls = calls_of(lambda x: reduced(x, axis=axis) + 1, tf.constant(x))
    assert calls.keys() & {name, "add_reduce", "maximum_reduce", "minimum_reduce", "dot"} == set()
    assert "reshape" in calls


@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_reduction_of_one_element_may_change_the_dtype(name, set_tier):
    set_tier("numpy")
    x = _rng.integers(0, 2, (4, 1)).astype(bool)
    reduced = getattr(tf, name)
    calls_of(
        lambda x: reduced(tf.cast(x, "int32"), axis=1) + tf.cast(x, "int32")[:, 0], tf.constant(x)
    )


def test_reductions_over_empty_axes(set_tier):
    set_tier("numpy")
    calls_of(lambda x: tf.reduce_sum(x, axis=1) + 1, tf.zeros((0, 3)))


def squared_error(x, y):
    return tf.reduce_mean(tf.reduce_mean(tf.square(x - y), axis=-1))


@pytest.mark.parametrize("shape", [(32, 1), (5000, 1), (7, 1, 1)])
def test_a_loss_of_single_outputs_is_one_loop(shape, set_tier):
    pytest.importorskip("numba")
    set_tier("numba")
    x, y = (_rng.normal(size=shape).astype("float32") for _ in range(2))
    compiled = tf.function(squared_error)
    with plan_calls() as calls:
        for _ in range(4):
            calls.clear()
            found = compiled(tf.constant(x), tf.constant(y)).numpy()
    np.testing.assert_allclose(found, np.mean((x.astype("float64") - y) ** 2), rtol=2e-6)
    assert len(calls["loop"]) == 1
    assert "add_reduce" not in calls
