"""Fused functions: which optimizer updates are elementwise for arrays of any size."""

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.compiler.fused_function import FusedFunction
from tests.samples.optimizers import SAMPLES

pytestmark = pytest.mark.usefixtures("kind")
Optimizer = keras.optimizers.Optimizer


class Centred(Optimizer):
    def update(self, param, grad, slot, lr, step):
        return param - lr * (grad - tf.reduce_mean(grad))


class ByRows(Optimizer):
    def update(self, param, grad, slot, lr, step):
        return param - lr * grad / float(param.shape[0])


class BySize(Optimizer):
    def update(self, param, grad, slot, lr, step):
        return param - lr * grad / tf.cast(tf.size(param), tf.float32)


class ByRank(Optimizer):
    def update(self, param, grad, slot, lr, step):
        return param - lr * grad / len(param.shape)


class IfLarge(Optimizer):
    def update(self, param, grad, slot, lr, step):
        return param - lr * grad if param.shape[0] > 20 else param + lr * grad


class Normed(Optimizer):
    def update(self, param, grad, slot, lr, step):
        return param - lr * grad / tf.sqrt(tf.reduce_sum(grad * grad))


EXPECTED = {
    Centred: lambda p, g: p - 0.5 * (g - g.mean()),
    ByRows: lambda p, g: p - 0.5 * g / len(p),
    BySize: lambda p, g: p - 0.5 * g / p.size,
    ByRank: lambda p, g: p - 0.5 * g / p.ndim,
    IfLarge: lambda p, g: p - 0.5 * g if len(p) > 20 else p + 0.5 * g,
    Normed: lambda p, g: p - 0.5 * g / np.sqrt((g * g).sum()),
}


@pytest.mark.parametrize("shape", [(7,), (6, 5), (5, 5), (30, 4, 2)])
@pytest.mark.parametrize("cls", EXPECTED)
def test_updates_that_are_not_elementwise(cls, shape):
    rng = np.random.default_rng(1)
    start, grad = rng.normal(size=(2, *shape)).astype("float32")
    eager, compiled = (tf.Variable(start) for _ in range(2))
    optimizers = [cls(0.5), cls(0.5)]
    optimizers[0].use_loops(True)  # if there are any
    step = tf.function(lambda g: optimizers[1].apply_gradients([(g, compiled)]))
    expected = start
    for _ in range(5):
        expected = EXPECTED[cls](expected, grad)
        optimizers[0].apply_gradients([(tf.constant(grad), eager)])
        step(tf.constant(grad))
        np.testing.assert_allclose(eager.numpy(), expected, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(compiled.numpy(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", [n for n in SAMPLES if n.split("_")[0] in ("adam", "sgd", "lion")])
def test_usual_updates_are_elementwise(name):
    optimizer = SAMPLES[name].create()
    variables = [tf.Variable(np.ones(shape, "float32")) for shape in ((4,), (2, 3), (1, 2, 3, 4))]
    optimizer.apply_gradients([(v * 1.0, v) for v in variables])
    assert all(program is not None for program in optimizer._framework.programs.values())


def test_an_elementwise_function_of_other_arrays():
    made = FusedFunction(
        lambda a, b, n: {"a": a * n + b}, ("a", "b"), ("n",), np.dtype("float32"), 2
    )
    assert made.possible
    assert not FusedFunction(
        lambda a: {"a": a + 1.0 / a.shape[1]}, ("a",), (), np.dtype("f4"), 2
    ).possible
