"""Rematerialization: a gradient's loop computes a sigmoid again instead of reading it."""

import numpy as np
import pytest

import framework as tf
from framework.compiler import rematerialization
from tests.compiler import interpreted
from tests.plan_calls import plan_calls

SHAPE = 64, 48


def silu(x):
    return x * tf.sigmoid(x)


def with_the_sigmoid(x):
    return silu(x), tf.sigmoid(x)


def of_another_value(x):
    return tf.exp(-x) * tf.sigmoid(x)


def plan_of(forward, change, least):
    """Return results of a function and its gradient, and its plan, made with this limit."""

    @tf.function
    def step(x, w):
        with tf.GradientTape() as tape:
            tape.watch(x)
            outputs = tf.nest.flatten(forward(x))
            # The product is no elementwise node, so the gradient is another group.
            loss = tf.reduce_sum((outputs[0] @ w) ** 2)
        return [tape.gradient(loss, x), *outputs[1:]]

    change(rematerialization, _LEAST=least)
    random = np.random.default_rng(3)
    x, w = (tf.constant(random.normal(size=size), tf.float32) for size in (SHAPE, (48, 16)))
    with interpreted.loops(), plan_calls() as calls:
        for _ in range(4):
            calls.clear()
            found = step(x, w)
    ((entry,),) = step._plan_cache.plans.values()
    assert entry.plan.tier == "numba"
    return found, entry.plan


@pytest.mark.parametrize(
    ("forward", "saved"), [(silu, 1), (with_the_sigmoid, 0), (of_another_value, 0)]
)
def test_the_gradient_has_the_same_bits(forward, saved, change):
    expected, stored = plan_of(forward, change, 1 << 40)
    found, plan = plan_of(forward, change, 1)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)
    nbytes = 4 * SHAPE[0] * SHAPE[1]
    assert stored.nbytes[0] - plan.nbytes[0] == saved * nbytes


def test_small_values_are_stored(change):
    _, stored = plan_of(silu, change, 1 << 40)
    _, plan = plan_of(silu, change, 4 * SHAPE[0] * SHAPE[1] + 1)
    assert plan.nbytes == stored.nbytes
