"""Convolution and pooling become one node if no other node reads the value between them."""

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.kernels import conv_pool, tier
from tests.plan_calls import plan_calls

pytest.importorskip("numba")
layers = keras.layers


@pytest.fixture(autouse=True)
def _tier():
    tier.set_tier("numba")
    yield
    tier.set_tier(None)


def model(*between, filters=32, **conv):
    keras.utils.set_random_seed(4)
    conv = {"activation": "relu", "padding": "same", **conv}
    inner = [layers.Conv2D(16, 3, **conv), layers.Conv2D(filters, 3, **conv), *between]
    return keras.Sequential([layers.Input((15, 18, 2)), *inner, layers.MaxPooling2D(2)])


def data():
    random = np.random.default_rng(5)
    return random.normal(size=(8, 15, 18, 2)), random.normal(size=(8, 7, 9, 32))


def steps(net, number=4):
    """Return losses, the weights after some steps, and the calls of a step."""
    step = net.training_step(loss="mse", optimizer=keras.optimizers.SGD(0.1))
    losses = []
    with plan_calls() as calls:
        for _ in range(number):
            calls.clear()
            losses.append(float(step(*data())))
    return [losses, *net.get_weights()], calls


@pytest.mark.parametrize("activation", ["relu", None])
def test_a_training_step(activation, change):
    found, calls = steps(model(activation=activation))
    assert len(calls["conv_max_pool"]) == len(calls["conv_max_pool_back"]) == 1
    assert calls.keys() & {"max_pool", "cell_put"} == set()
    change(conv_pool, takes=lambda *_, **__: False)
    expected, calls = steps(model(activation=activation))
    assert "conv_max_pool" not in calls
    assert "max_pool" in calls
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_both_derivatives_of_a_convolution(change):
    plain = {"activation": None, "use_bias": False}
    found, calls = steps(model(layers.ReLU(), **plain))
    assert len(calls["conv_bias_back"]) == 1  # the first layer's input is data
    assert len(calls["conv_kernel"]) == 1
    assert "conv_input" not in calls
    change(conv_pool, takes=lambda *_, **__: False)
    expected, calls = steps(model(layers.ReLU(), **plain))
    assert len(calls["conv_kernel"]) == 2
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_transposed_convolution_is_not_matched_as_a_gradient():
    net = model(layers.Conv2DTranspose(16, 3, padding="same"), filters=16)
    y = net(data()[0], training=False)
    step = net.training_step(loss="mse", optimizer="sgd")
    with plan_calls() as calls:
        losses = [float(step(data()[0], y + 1)) for _ in range(4)]
    assert losses == sorted(losses, reverse=True)
    assert "conv_input" in calls


@pytest.mark.parametrize("channels", [(16, 32), (32, 16), (16, 16)])
def test_a_sum_of_convolutions(channels, change):
    """Both convolutions receive the same gradient, but each has its own kernel pattern."""

    def net():
        keras.utils.set_random_seed(4)
        x = layers.Input((15, 18, 2))
        conv = {"padding": "same", "use_bias": False}
        before = [layers.Conv2D(c, 3, padding="same", activation="tanh")(x) for c in channels]
        y = layers.Add()([layers.Conv2D(32, 3, **conv)(h) for h in before])
        return keras.Model(x, layers.MaxPooling2D(2)(layers.ReLU()(y)))

    found, calls = steps(net())
    assert len(calls["conv_bias_back"]) >= 1
    change(conv_pool, takes=lambda *_, **__: False)
    expected, _ = steps(net())
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_predictions(change):
    def run():
        net = model()
        function = tf.function(lambda x: net(x, training=False))
        x = tf.constant(data()[0], tf.float32)
        with plan_calls() as calls:
            return [function(x).numpy() for _ in range(3)], calls

    found, calls = run()
    assert "conv_max_pool" in calls
    change(conv_pool, takes=lambda *_, **__: False)
    expected, calls = run()
    assert "conv_max_pool" not in calls
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("other", ["a result", "in the gradient"])
def test_a_convolution_whose_output_is_read_is_not_matched(other):
    first, second = model().layers[:2]

    @tf.function
    def gradients(x):
        with tf.GradientTape() as tape:
            y = second(first(x))
            pooled = tf.nn.max_pool2d(y, 2, 2, "VALID")
            loss = tf.reduce_sum(pooled * pooled)
            if other == "in the gradient":
                loss += tf.reduce_sum(y)
        weights = [*first.weights, *second.weights]
        return y if other == "a result" else loss, tape.gradient(loss, weights)

    x = tf.constant(data()[0], tf.float32)
    first(x)
    expected = [g.numpy() for g in gradients(x)[1]]  # in Python
    with plan_calls() as calls:
        for _ in range(3):
            found = gradients(x)
    assert "conv_bias" in calls
    assert "conv_max_pool" not in calls
    for a, b in zip(found[1], expected, strict=True):
        np.testing.assert_array_equal(a.numpy(), b)


def test_other_convolutions_and_poolings_are_not_matched():
    for net in (model(strides=2), model(layers.ReLU())):
        y = net(data()[0], training=False)
        step = net.training_step(loss="mse", optimizer="sgd")
        with plan_calls() as calls:
            for _ in range(3):
                step(data()[0], y)
        assert calls
        assert "conv_max_pool" not in calls


def test_derivatives_through_the_record_of_a_call():
    """A tape repeats the call by its ops, which have derivatives."""
    convolution = layers.Conv2D(16, 3, padding="same", activation="relu")
    pooling, x = layers.MaxPooling2D(2), tf.constant(data()[0][:2, :8, :8].repeat(8, -1), "float32")

    def body(x):
        return tf.reduce_sum(tf.square(pooling(convolution(x))), axis=[1, 2])

    def derivatives(f):
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            gradient = tape.gradient(y, x)
            z = tf.reduce_sum(gradient * gradient)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = f(x)
        return outer.gradient(z, x), *tape.jacobian(y, [convolution.kernel, x])

    body(x)
    compiled = tf.function(body)
    with plan_calls() as calls:
        for _ in range(4):
            with tf.GradientTape() as tape:
                y = compiled(x)
            tape.gradient(y, convolution.kernel)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = compiled(x)
            tape.gradient(y, [convolution.kernel, x])
    assert "conv_max_pool" in calls
    for a, b in zip(derivatives(compiled), derivatives(body), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3)
