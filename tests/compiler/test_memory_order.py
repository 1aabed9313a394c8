"""NumPy plans have the bits of eager calls for any memory order of arrays."""

import contextlib

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.core.tensor import Tensor
from framework.kernels import tier

LAYOUTS = {
    "transposed": lambda a: np.ascontiguousarray(a.T).T,
    "strided": lambda a: np.stack([a, a], -1)[..., 0],
    "reversed": lambda a: np.flip(np.flip(a).copy()),
    "broadcast": lambda a: np.broadcast_to(a[:1], a.shape),
}
BODIES = {
    "sum": lambda x: tf.reduce_sum(x * 2.0, axis=0),
    "total": lambda x: tf.reduce_sum(tf.exp(x)),
    "mean": lambda x: tf.reduce_mean(tf.tanh(x), axis=1),
    "norm": lambda x: tf.norm(x * x + x),
    "normalised": lambda x: (
        (x - tf.reduce_mean(x, axis=-1, keepdims=True))
        * tf.math.rsqrt(tf.math.reduce_variance(x, axis=-1, keepdims=True) + 1e-3)
    ),
    "product": lambda x: tf.nn.relu(x * 2.0) @ tf.transpose(x + 1.0),
    "softmax": lambda x: tf.nn.softmax(x * 2.0),
    "turned within": lambda x: tf.reduce_sum(tf.transpose(x) * 2.0, axis=0),
    "turned back": lambda x: tf.reduce_logsumexp(tf.transpose(tf.transpose(x) * 2.0), axis=1),
}


@pytest.fixture(autouse=True)
def numpy_plans(change):
    change(tier, _tier="numpy")


@pytest.mark.parametrize("given", ["tensor", "array"])
@pytest.mark.parametrize("shape", [(5, 7), (130, 70), (300, 1100)])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", BODIES)
def test_sums_round_as_in_eager_calls(name, layout, shape, given):
    body = BODIES[name]
    values = np.random.default_rng(0).normal(size=shape).astype("float32")
    array = LAYOUTS[layout](values)
    make = Tensor if given == "tensor" else (lambda a: a)
    expected = body(Tensor(array) if given == "tensor" else tf.constant(array))
    f = tf.function(body)
    for _ in range(4):
        np.testing.assert_array_equal(f(make(array)).numpy(), expected.numpy())
    assert "1 plan" in f.explain()


@pytest.mark.parametrize("given", ["tensor", "nested", "under a tape"])
def test_each_memory_order_of_arguments_has_a_plan(given):
    def body(x):
        y = tf.exp(x) * 1.5
        return tf.reduce_sum(y, axis=(0, 2)), tf.math.reduce_variance(y)

    def run(f, x):
        with tf.GradientTape() if given == "under a tape" else contextlib.nullcontext():
            return f(x)

    f = tf.function(lambda x: body(x[0])) if given == "nested" else tf.function(body)
    flat = tf.constant(np.random.default_rng(0).normal(size=(23, 17, 19)).astype("float32"))
    turned = tf.transpose(flat, (1, 2, 0))
    other = tf.transpose(tf.transpose(flat, (2, 0, 1)) + 0.0, (2, 0, 1))
    for x in [tf.constant(turned.numpy()), turned, other] * 3:
        for _ in range(3):
            for a, b in zip(run(f, [x] if given == "nested" else x), body(x), strict=True):
                np.testing.assert_array_equal(a.numpy(), b.numpy())


@pytest.mark.parametrize("first", ["in order", "transposed"])
def test_batches_in_another_order_have_plans_of_their_own(first):
    """The first two batches of each memory order are traced; later ones run by a plan."""
    values = np.random.default_rng(0).normal(size=(23, 17, 19)).astype("float32")
    batches = [
        tf.constant(values),
        tf.transpose(tf.constant(values.transpose(1, 2, 0).copy()), (2, 0, 1)),
    ][:: 1 if first == "in order" else -1]
    traced = []

    def total(x):
        traced.append(x)
        return tf.reduce_sum(tf.exp(x) * 1.5, axis=(1, 2))

    expected = [total(x).numpy() for x in batches]
    assert (expected[0] != expected[1]).any()
    traced.clear()
    model = keras.Sequential([keras.Input((17, 19)), keras.layers.Lambda(total)])
    traced.clear()  # of the symbolic call
    for x, y in [*zip(batches, expected)] * 4:
        np.testing.assert_array_equal(model.predict(tf.data.Dataset.from_tensors(x), verbose=0), y)
    assert len(traced) == 4
