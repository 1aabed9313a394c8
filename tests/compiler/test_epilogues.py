"""Epilogues and prologues of kernels: equal bits, fused only if no other node reads the value."""

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.kernels import tier
from framework.ops import norm
from framework.ops.conv import conv_bias
from framework.ops.elementwise import gated, greater
from tests.plan_calls import calls_of, plan_calls

_rng = np.random.default_rng(4)
WINDOW = {"strides": (1, 1), "padding": "SAME", "dilations": (1, 1), "groups": 1}


@pytest.fixture(autouse=True)
def _numpy():
    tier.set_tier("numpy")
    yield
    tier.set_tier(None)


def real(*shape, dtype="float32"):
    return tf.constant(_rng.normal(size=shape).astype(dtype))


def normalised(x, gamma, beta, axis=-1):
    return norm.batch_norm(x, gamma, beta, axis=axis % len(x.shape), epsilon=1e-3)[0]


def cut(x, gamma, beta):
    return tf.nn.relu(normalised(x, gamma, beta))


def trained(function):
    """A function that returns the results and gradients of `function`."""

    def step(*inputs):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            y = function(*inputs)
            loss = tf.reduce_sum(y * y * 0.5 + y)
        return y, tape.gradient(loss, inputs)

    return step


def has_relu(calls):
    """Return whether a kernel also computes ReLU."""
    return any(call.keywords.get("relu") for made in calls.values() for call in made)


SHAPES = [((6, 3), -1), ((2, 4, 5, 3), -1), ((2, 3, 4, 5), 1)]


@pytest.mark.parametrize("relu", [tf.nn.relu, tf.nn.relu6])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_batch_norm_fuses_relu_and_its_gradient(shape, axis, dtype, relu):
    vectors = [8 * real(3, dtype=dtype) for _ in range(2)]  # some elements are above 6
    run = trained(lambda x, *v: relu(normalised(x, *v, axis=axis)))
    calls = calls_of(run, real(*shape, dtype=dtype), *vectors)
    assert has_relu(calls)
    assert not {"maximum", "minimum", "greater", "less", "logical_and"} & set(calls)


def test_without_gradients():
    calls = calls_of(cut, real(6, 3), real(3), real(3))
    assert has_relu(calls)
    assert "maximum" not in calls


def test_values_with_other_readers_are_not_fused():
    def run(x, gamma, beta):
        y = normalised(x, gamma, beta)
        return tf.nn.relu(y), y

    assert not has_relu(calls_of(run, real(6, 3), real(3), real(3)))


def test_the_gradient_is_fused_if_only_the_result_has_other_readers():
    def run(x, gamma, beta):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = normalised(x, gamma, beta)
            loss = tf.reduce_sum(tf.nn.relu(y) ** 2)
        return y, tape.gradient(loss, x)

    calls = calls_of(run, real(6, 3), real(3), real(3))
    assert "maximum" in calls
    assert "greater" not in calls


def test_a_gradient_with_two_readers_is_not_fused():
    def run(x, gamma, beta, shortcut):
        return tf.nn.relu(normalised(x, gamma, beta) + shortcut)

    calls = calls_of(trained(run), real(6, 3), real(3), real(3), real(6, 3))
    assert not has_relu(calls)
    assert "greater" in calls


def test_a_gradient_of_another_relu_is_not_fused():
    def run(x, gamma, beta):
        return gated(normalised(x, gamma, beta), greater(cut(x * x, gamma, beta), 0))

    calls = calls_of(trained(run), real(6, 3), real(3), real(3))
    assert has_relu(calls)
    assert "greater" in calls


def test_a_scalar_gradient():
    def run(x, gamma, beta):
        with tf.GradientTape() as tape:
            tape.watch((x, gamma, beta))
            loss = tf.reduce_mean(cut(x, gamma, beta))
        return tape.gradient(loss, (x, gamma, beta))

    calls_of(run, real(4, 2, 2, 3), real(3), real(3))


def test_relu_in_half_precision_follows_rounding():
    inputs = [real(6, 3, dtype="float16"), *(real(3, dtype="float16") for _ in range(2))]
    assert not has_relu(calls_of(trained(cut), *inputs))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_are_kept(bad):
    x = _rng.normal(size=(6, 3)).astype("float32")
    x[2, 1] = bad
    calls_of(trained(cut), tf.constant(x), real(3), real(3))


def test_second_derivatives_equal_those_of_the_ops():
    def run(x, gamma, beta):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                loss = tf.reduce_sum(cut(x, gamma, beta) ** 3)
            slope = tape.gradient(loss, x)
        return slope, outer.gradient(slope, x)

    calls_of(run, real(6, 3), real(3), real(3))


def test_a_convolution_with_a_bias_fuses_relu():
    def run(x, w, b):
        return tf.nn.relu(conv_bias(x, w, b, relu=False, **WINDOW))

    inputs = real(2, 5, 5, 3), real(3, 3, 3, 4), real(4)
    for function in (run, trained(run)):
        calls = calls_of(function, *inputs)
        assert has_relu(calls)
        assert "maximum" not in calls


def test_layers_of_a_model():
    keras.utils.set_random_seed(1)
    layers = keras.layers
    model = keras.Sequential([
        layers.Input((6, 6, 2)), layers.Conv2D(4, 3, use_bias=False),
        layers.BatchNormalization(), layers.ReLU(), layers.Conv2D(4, 3),
        layers.Activation("relu"), layers.Flatten(), layers.Dense(2),
    ])  # fmt: skip
    step = model.training_step(loss="mse", optimizer=keras.optimizers.SGD(0.1))
    with plan_calls() as calls:
        for _ in range(3):
            calls.clear()
            step(real(4, 6, 6, 2), real(4, 2))
    for name in ("batch_norm", "conv_bias"):
        [call] = calls[name]
        assert call.keywords["relu"]
    assert "maximum" not in calls
