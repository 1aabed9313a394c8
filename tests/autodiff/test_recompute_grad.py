"""recompute_grad: a function is run again in the backward pass instead of being recorded."""

import tracemalloc

import numpy as np
import pytest

import framework as tf
from tests.autodiff.values import values


def both_ways(f, *args, variables=(), options=None):
    """(results, gradients) of f as it is and recomputed."""
    found = []
    for function in (f, tf.recompute_grad(f)):
        with tf.GradientTape() as tape:
            tape.watch([a for a in args if isinstance(a, tf.Tensor)])
            y = function(*args)
        sources = [*(a for a in args if isinstance(a, (tf.Tensor, tf.Variable))), *variables]
        found.append((y, tape.gradient(y, sources, unconnected_gradients="zero")))
    return found


w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
b = tf.Variable([0.5, 0.25])
variables_by_ref = {b.ref(): b, w.ref(): w}

CASES = {
    "one tensor": (lambda x: tf.sin(x) * x, [tf.constant(2.0)]),
    "two results": (lambda x: (tf.sin(x), x * x), [tf.constant(2.0)]),
    "the same tensor twice": (lambda x, y: x * x * y, [tf.constant(2.0)] * 2),
    "an argument that is not used": (lambda x, y: x * x, [tf.constant(2.0), tf.constant(3.0)]),
    "integers too": (
        lambda n, x: x * tf.cast(n, tf.float32), [tf.constant(3, tf.int32), tf.constant(2.0)],
    ),
    "a Python number": (lambda x, n: x**n, [tf.constant(2.0), 3]),
    "nothing inside": (lambda x: x * x, [tf.zeros([0, 3])]),
    "variables inside": (lambda x: tf.tanh(x @ w + b), [tf.constant([[1.0, -1.0]])]),
    "a list of variables inside": (
        lambda x: sum(tf.reduce_sum(v) for v in [w, b]) * x, [tf.constant(2.0)],
    ),
    "a dict of variables inside": (
        lambda x: tf.reduce_sum(variables_by_ref[w.ref()] * x) * variables_by_ref[b.ref()],
        [tf.constant(2.0)],
    ),
    "a variable as argument": (lambda v: v * v * 3.0, [w]),
    "a function inside": (tf.function(lambda x: tf.exp(x) * x), [tf.constant(0.5)]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_the_plain_ones(name):
    function, args = CASES[name]
    plain, again = both_ways(function, *args, variables=[w, b])
    assert values(again[0]) == values(plain[0])
    for expected, found in zip(plain[1], again[1], strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_it_is_called_once_more_for_each_gradient():
    calls = []

    def f(x):
        calls.append(1)
        return tf.sin(x) * w[0, 0]

    again = tf.recompute_grad(f)
    assert again.__wrapped__ is f
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = again(x)
    assert len(calls) == 1
    for n in (2, 3):
        tape.gradient(y, [x, w])
        assert len(calls) == n


def test_inner_values_are_not_recorded():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        tf.recompute_grad(lambda x: tf.sin(tf.cos(tf.exp(x))))(x)
    assert len(tape.recorded_ops()) == 1


@pytest.mark.parametrize("recompute", [lambda f: f, tf.recompute_grad])
def test_orders_one_to_three(recompute):
    """sin(2 x) x at 3."""
    scale = tf.Variable(2.0, dtype=tf.float64)
    f = recompute(lambda x: tf.sin(scale * x) * x)
    x = tf.constant(3.0, tf.float64)
    with tf.GradientTape() as third:
        third.watch(x)
        with tf.GradientTape() as second:
            second.watch(x)
            with tf.GradientTape() as first:
                first.watch(x)
                y = f(x)
            d1 = first.gradient(y, x)
        d2 = second.gradient(d1, x)
    d3, d2_by_scale = third.gradient(d2, [x, scale])
    s, c = np.sin(6.0), np.cos(6.0)
    np.testing.assert_allclose(
        [d.numpy() for d in (d1, d2, d3)], [6 * c + s, 4 * c - 12 * s, -12 * s - 24 * c]
    )
    # d/dw of 2 w cos(w x) - w² x sin(w x)
    expected = 2 * c - 2 * 2 * 3 * s - 2 * 2 * 3 * s - 4 * 9 * c
    np.testing.assert_allclose(d2_by_scale.numpy(), expected)


# ---- memory --------------------------------------------------------------------------------------

LAYERS, BLOCK = 50, 7


def deep_gradient(recompute, of, width, batch, layers=LAYERS):
    """Gradients of a deep tanh network."""
    rng = np.random.default_rng(0)
    weights = [
        tf.Variable((rng.normal(size=(width, width)) / width**0.5).astype("f"))
        for _ in range(layers)
    ]
    x = tf.constant(rng.normal(size=(batch, width)).astype("f"))

    def block(first):
        def run(h):
            for w in weights[first : first + BLOCK]:
                h = tf.tanh(tf.matmul(h, w))
            return h

        return tf.recompute_grad(run) if recompute else run

    if tracemalloc.is_tracing():
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
    with tf.GradientTape() as tape:
        tape.watch(x)
        h = x
        for first in range(0, layers, BLOCK):
            h = block(first)(h)
        loss = tf.reduce_sum(h * h)
    found = tape.gradient(loss, weights if of == "weights" else [x])
    return found, tracemalloc.get_traced_memory()[1] - before if tracemalloc.is_tracing() else None


# At the highest point there are 7 boundaries between blocks, the 7 inner values of one, and what
# the walk itself needs, 4; without it 50 and those. That is a third. The gradients of the weights
# are returned, and stay whatever is recomputed: with as many rows as units they are all there is
# (the walk frees a layer's values as it makes its gradient), with 16 times as many nearly nothing.
MEMORY = [  # of, width, batch, at most this part of the memory without
    ("inputs", 256, 256, 0.35),
    ("inputs", 64, 1024, 0.35),
    ("weights", 64, 1024, 0.35),
    ("weights", 64, 256, 0.45),
    ("weights", 64, 64, 1.15),
]


@pytest.mark.parametrize(("of", "width", "batch", "part"), MEMORY)
def test_memory_is_given_back_and_the_bits_stay(of, width, batch, part):
    deep_gradient(True, of, width, batch, layers=2)  # what is compiled once is not counted
    tracemalloc.start()
    try:
        plain, most = deep_gradient(False, of, width, batch)
        again, least = deep_gradient(True, of, width, batch)
    finally:
        tracemalloc.stop()
    for a, b in zip(plain, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert least < part * most


def test_unrequested_gradients_are_not_computed():
    calls = []

    @tf.custom_gradient
    def counted(x, name):
        def grad(dy):
            calls.append(str(name))
            return dy, None

        return x * 1.0, grad

    w, x = tf.Variable(2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.recompute_grad(lambda x: counted(x, 1) * counted(w, 2))(x)
    assert float(tape.gradient(y, x)) == 2.0
    assert len(calls) == 1
