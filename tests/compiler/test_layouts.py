"""NumPy plans have eager's bits whatever the layout of arrays in memory."""

import numpy as np
import pytest

import framework as tf
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
def numpy_plans(monkeypatch):
    monkeypatch.setattr(tier, "_tier", "numpy")


@pytest.mark.parametrize("given", ["tensor", "array"])
@pytest.mark.parametrize("shape", [(5, 7), (130, 70), (300, 1100)])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", BODIES)
def test_sums_round_as_in_eager_runs(name, layout, shape, given):
    body = BODIES[name]
    values = np.random.default_rng(0).normal(size=shape).astype("float32")
    array = LAYOUTS[layout](values)
    make = Tensor if given == "tensor" else (lambda a: a)
    expected = body(Tensor(array) if given == "tensor" else tf.constant(array))
    f = tf.function(body)
    for _ in range(4):
        np.testing.assert_array_equal(f(make(array)).numpy(), expected.numpy())
    assert "1 plan" in f.explain()
