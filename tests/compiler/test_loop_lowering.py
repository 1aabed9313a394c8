"""Constant arrays in loops determine the dtype and shape of results."""

import numpy as np
import pytest

import framework as tf
from framework.kernels import tier

pytest.importorskip("numba")

SIZE = 256


@pytest.fixture(autouse=True)
def _tier():
    tier.set_tier("numba")
    yield
    tier.set_tier(None)


def normal(*shape, seed):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


w = tf.Variable(normal(SIZE, SIZE, seed=1) / 16)
narrow = tf.Variable(normal(SIZE, 32, seed=2) / 16)
factor = tf.Variable(0.5)


def filled(*shape):
    return tf.fill(shape, 2.0)


def gradient(loss, *variables):
    """Return a function that computes a loss and its gradients."""

    def program(x):
        with tf.GradientTape() as tape:
            y = loss(x)
        return [y, *tape.gradient(y, variables)]

    return program


PROGRAMS = {
    "a choice of two numbers": lambda x: tf.where(x > 0, 1.0, -1.0),
    "a choice, and more": lambda x: tf.where(x > 0, 1.0, 0.0) * x + 1.0,
    "a choice between products": lambda x: tf.where(x @ w > 0, 1.0, -1.0) @ w,
    "the slope of relu": gradient(lambda x: tf.reduce_sum(tf.nn.relu(x @ w)), w),
    "a small hinge": gradient(lambda x: tf.reduce_mean(tf.nn.relu(1 - x @ narrow)), narrow),
    "a hinge": gradient(lambda x: tf.reduce_mean(tf.nn.relu(1 - tf.tanh(x @ w) @ narrow)), w),
    "a gradient times a number": gradient(lambda x: tf.reduce_sum((x @ w) * factor), w),
    "times a number": lambda x: [x @ w, tf.exp(filled(100, 99) * x[0, 0]) + 0.0],
    "times a column": lambda x: [x @ w, tf.exp(filled(len(x), 64) * x[:, :1])],
    "times a row": lambda x: [x @ w, tf.exp(filled(64, SIZE) * x[0])],
    "only their sum": lambda x: [tf.tanh(x), tf.reduce_sum(tf.fill([99, 8], 1.5) * x[0, 0]) * 0.01],
    "nothing": lambda x: [tf.tanh(x), tf.tanh(x[:0] * 2.0) + x[0]],
    "a row of them": lambda x: x @ w * tf.fill([SIZE], 0.5) + tf.fill([len(x), 1], 0.25),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_with_other_values_at_each_call(name):
    program = PROGRAMS[name]
    compiled = tf.function(program)
    for seed in range(5):
        x = tf.constant(normal(128, SIZE, seed=seed))
        found, expected = compiled(x), program(x)
        for a, b in zip(tf.nest.flatten(found), tf.nest.flatten(expected), strict=True):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-3)
    assert "stays with NumPy" not in compiled.explain()
    assert "1 plan;" in compiled.explain()
