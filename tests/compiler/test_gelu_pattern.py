"""GELU and its derivative are one kernel or loop; its gradient is a product."""

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.kernels import gelu, tier
from tests.plan_calls import plan_calls


@pytest.fixture(autouse=True)
def _tier():
    tier.set_tier("numpy")
    yield
    tier.set_tier(None)


def steps(activation):
    """Return losses, the weights after some steps, and the calls of a step."""
    keras.utils.set_random_seed(4)
    layers = [keras.layers.Dense(40, activation=activation) for _ in range(2)]
    net = keras.Sequential([keras.layers.Input((20,)), *layers, keras.layers.Dense(3)])
    step = net.training_step(loss="mse", optimizer=keras.optimizers.SGD(0.1))
    random = np.random.default_rng(5)
    x, y = random.normal(size=(64, 20)) * 3, random.normal(size=(64, 3))
    losses = []
    with plan_calls() as calls:
        for _ in range(4):
            calls.clear()
            losses.append(float(step(x, y)))
    return [losses, *net.get_weights()], calls


@pytest.mark.parametrize("approximate", [False, True])
def test_a_training_step(approximate, change):
    def activation(x):
        return keras.activations.gelu(x, approximate=approximate)

    found, calls = steps(activation)
    assert len(calls["gelu_with_slope"]) == 2
    assert "gelu_back" not in calls
    change(gelu, shares=lambda _: False)
    expected, calls = steps(activation)
    assert "gelu_with_slope" not in calls
    assert len(calls["gelu_slope"]) == 2
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_two_cotangents_share_the_slope():
    @tf.function
    def gradients(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = tf.nn.gelu(x)
            first, second = tf.reduce_sum(y * y), tf.reduce_sum(tf.exp(y))
        return tape.gradient(first, x), tape.gradient(second, x)

    x = tf.constant(np.linspace(-4, 4, 3000), tf.float32)
    expected = [g.numpy() for g in gradients(x)]  # in Python
    with plan_calls() as calls:
        for _ in range(3):
            calls.clear()
            found = gradients(x)
    assert len(calls["gelu_with_slope"]) == 1
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a.numpy(), b)


def test_higher_orders_of_a_plan_under_a_tape():
    function = tf.function(lambda x: tf.nn.gelu(x) * 2)
    x = tf.constant(np.linspace(-4, 4, 3000), tf.float32)
    for _ in range(4):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = function(x)
            slope = tape.gradient(y, x)
        found = outer.gradient(slope, x)
    exact = x.numpy().astype("float64")
    expected = 2 * (2 - exact**2) * np.exp(exact**2 / -2) / np.sqrt(2 * np.pi)
    np.testing.assert_allclose(found.numpy(), expected, atol=2e-6)


@pytest.mark.parametrize("approximate", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["numpy", "auto"])
def test_the_kernel(name, dtype, approximate):
    tier.set_tier(name)
    x = np.linspace(-20, 20, 5001).astype(dtype)
    y, (slope,) = gelu.with_slope(x, approximate=approximate)
    g = np.cos(x)
    np.testing.assert_array_equal(y, gelu.gelu(x, approximate=approximate))
    np.testing.assert_array_equal(g * slope, gelu.gelu_back(g, x, approximate=approximate))


@pytest.mark.parametrize("name", ["numpy", "numba"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_plan_has_the_bits_of_ops_one_by_one(name, dtype):
    if name == "numba":
        pytest.importorskip("numba")
    tier.set_tier(name)

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.gelu(x)
        return y, tape.gradient(y, x, output_gradients=x * x)

    x = tf.constant(np.linspace(-9, 9, 3000), dtype)
    expected = gradient(x)
    compiled = tf.function(gradient)
    with plan_calls() as calls:
        for _ in range(3):
            found = compiled(x)
    assert ("gelu_back" in calls) == (dtype == "float16")
    # Loops have their own functions; eager ops use those of the package in float32 only.
    tolerance = 1e-14 if (name, dtype) == ("numba", "float64") else 0
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=0, atol=tolerance)
