"""Derivatives up to the fourth order, by four nested tapes and by tapes within accumulators.

The reference needs no derivative: Cauchy's integral over a circle of complex steps, of the same
function in NumPy, gives each derivative to some ten digits.
"""

import math

import numpy as np
import pytest
import scipy.linalg
from scipy import special

import framework as tf

RNG = np.random.default_rng(4)
X, V = RNG.uniform(0.6, 1.4, (3, 3)), RNG.normal(size=(3, 3)) / 3
W, K = RNG.normal(size=(3, 3)), RNG.normal(size=(2, 2))
EYE = np.eye(3)
FURTHEST = 4
AROUND = np.exp(2j * np.pi * np.arange(32) / 32) * 0.25


def np_softmax(x):
    e = np.exp(x)
    return e / e.sum(-1, keepdims=True)


def np_conv(x):
    return sum(x[i : i + 2, j : j + 2] * K[i, j] for i in range(2) for j in range(2))


def tf_conv(x):
    return tf.nn.conv2d(x[None, :, :, None], K[:, :, None, None], 1, "VALID")[0, :, :, 0]


FUNCTIONS = {  # the op: (with tensors, with arrays)
    "exp": (tf.exp, np.exp),
    "log": (tf.math.log, np.log),
    "sqrt": (tf.sqrt, np.sqrt),
    "rsqrt": (tf.math.rsqrt, lambda x: x**-0.5),
    "reciprocal": (tf.math.reciprocal, lambda x: 1 / x),
    "sin": (tf.sin, np.sin),
    "tanh": (tf.tanh, np.tanh),
    "sigmoid": (tf.sigmoid, lambda x: 1 / (1 + np.exp(-x))),
    "softplus": (tf.nn.softplus, lambda x: np.log(1 + np.exp(x))),
    "atan": (tf.atan, np.arctan),
    "asinh": (tf.asinh, np.arcsinh),
    "erf": (tf.math.erf, special.erf),
    "lgamma": (tf.math.lgamma, special.loggamma),
    "power": (lambda x: x**2.7, lambda x: x**2.7),
    "power of itself": (lambda x: x**x, lambda x: x**x),
    "multiply": (lambda x: x * x * x * x, lambda x: x**4),
    "divide": (lambda x: W / (x + x * x), lambda x: W / (x + x * x)),
    "matmul": (lambda x: x @ x @ x @ x, lambda x: x @ x @ x @ x),
    "reduce_prod": (
        lambda x: tf.reduce_prod(x, 1, keepdims=True), lambda x: np.prod(x, 1, keepdims=True)
    ),
    "cumprod": (lambda x: tf.math.cumprod(x, 1), lambda x: np.cumprod(x, 1)),
    "logsumexp": (
        lambda x: tf.reduce_logsumexp(x, 1), lambda x: np.log(np.sum(np.exp(x), 1))
    ),
    "softmax": (tf.nn.softmax, np_softmax),
    "softmax cross-entropy": (
        lambda x: tf.nn.softmax_cross_entropy_with_logits(EYE, x),
        lambda x: -np.log(np.diag(np_softmax(x))),
    ),
    "conv": (lambda x: tf_conv(x) ** 4.0, lambda x: np_conv(x) ** 4),
    "inverse": (lambda x: tf.linalg.inv(x + 3.0 * EYE), lambda x: np.linalg.inv(x + 3 * EYE)),
    "det": (lambda x: tf.linalg.det(x + 3.0 * EYE), lambda x: np.linalg.det(x + 3 * EYE)),
    "expm": (lambda x: tf.linalg.expm(x), scipy.linalg.expm),
}  # fmt: skip


def along(function, t):
    """The function's weighted sum at X + t V."""
    y = function(X + t * V)
    return (y * W[: np.shape(y)[0], : np.shape(y)[-1]]).sum() if np.ndim(y) > 1 else y.sum()


def by_circle(function, order):
    values = np.array([along(function, step) for step in AROUND])
    return math.factorial(order) * np.mean(values / AROUND**order).real


def total(function, t):
    y = function(X + t * V)
    return tf.reduce_sum(y * W[: y.shape[0], : y.shape[-1]] if len(y.shape) > 1 else y)


def by_tapes(function, t, order):
    if not order:
        return total(function, t)
    with tf.GradientTape() as tape:
        tape.watch(t)
        y = by_tapes(function, t, order - 1)
    return tape.gradient(y, t)


def forward_over(derivative, t):
    with tf.autodiff.ForwardAccumulator(t, tf.ones_like(t)) as acc:
        y = derivative(t)
    return acc.jvp(y)


@pytest.mark.parametrize("order", range(1, FURTHEST + 1))
@pytest.mark.parametrize("name", FUNCTIONS)
def test_nested_tapes(name, order):
    function, reference = FUNCTIONS[name]
    found = by_tapes(function, tf.constant(0.0, tf.float64), order)
    np.testing.assert_allclose(found, by_circle(reference, order), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_two_accumulators_over_two_tapes(name):
    function, reference = FUNCTIONS[name]
    second = lambda t: by_tapes(function, t, 2)
    found = forward_over(lambda t: forward_over(second, t), tf.constant(0.0, tf.float64))
    np.testing.assert_allclose(found, by_circle(reference, FURTHEST), rtol=1e-7, atol=1e-8)
