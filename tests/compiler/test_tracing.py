"""Tracing has no side effects beyond those of one eager call."""

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.compiler.tracing import structure_of

pytestmark = pytest.mark.usefixtures("kind")


@pytest.mark.parametrize("results", [1, 2, 3])
def test_a_gradient_function_runs_once_for_each_gradient(results):
    count, ran = tf.Variable(0.0), []

    @tf.custom_gradient
    def f(x):
        def grad(*dys):
            ran.append(1)
            count.assign_add(1.0)
            return tf.add_n(dys)

        return tuple(x * float(n) for n in range(results)), grad

    compiled, x = tf.function(f), tf.Variable([1.0, 2.0])
    for _ in range(4):
        with tf.GradientTape() as tape:
            y = compiled(x)
        tape.gradient(y, x)
    assert len(ran) == 4
    assert float(count) == 4.0


def trained(build, decorate):
    keras.utils.set_random_seed(5)
    layer = build()
    x = tf.constant(np.random.default_rng(0).normal(size=(6, 3)).astype("float32"))
    layer(x)
    f = decorate(lambda x: layer(x, training=True))
    recomputed = decorate(tf.recompute_grad(lambda x: tf.reduce_sum(layer(x, training=True) ** 2)))
    found = []
    for _ in range(5):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = recomputed(x)
        found.append(tape.gradient(y, x).numpy().tobytes())
    found.append(f(x).numpy().tobytes())
    return found, [v.numpy().tobytes() for v in layer.variables]


@pytest.mark.parametrize(
    "build",
    [lambda: keras.layers.BatchNormalization(), lambda: keras.layers.Dropout(0.5)],
    ids=["batch normalization", "dropout"],
)
def test_recomputed_layers_change_as_in_eager_calls(build):
    assert trained(build, tf.function) == trained(build, lambda f: f)


def test_an_error_with_a_number_runs_the_body_once():
    runs = []

    @tf.function
    def f(x, n):
        runs.append(n)
        if n > 2.0:
            raise ValueError("too large")
        return x * n

    x = tf.constant(1.0)
    f(x, 1.0)
    for _ in range(3):
        with pytest.raises(ValueError, match="too large"):
            f(x, 3.0)
    assert len(runs) == 4


def test_structures_of_results():
    x = tf.constant(1.0)
    alike = [x, [x], (x,), {"a": x}, {"b": x}, [x, None], [None, x], [x, "text"], [x, "other"]]
    assert len({repr(structure_of(each)) for each in alike}) == len(alike)
    assert structure_of([x, (x,)]) == structure_of([x + 1.0, (x,)])
