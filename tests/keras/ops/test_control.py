"""keras.ops for choices, loops and scans: results, structures, gradients, plans."""

import numpy as np
import pytest

import framework as tf
from framework.core.errors import InvalidArgumentError
from framework.keras import ops

D = np.random.default_rng(0).normal(size=(7, 2))


def test_choices():
    assert ops.cond(tf.constant(True), lambda: 1, lambda: 2) == 1
    branches = [lambda x: x, lambda x: x * 2, lambda x: x * 3]
    for index, expected in ((-5, 1), (0, 1), (1, 2), (2, 3), (9, 3)):
        assert ops.switch(tf.constant(index), branches, 1) == expected
    with pytest.raises(InvalidArgumentError, match="at least one branch"):
        ops.switch(0, [])


def test_loops():
    assert int(ops.while_loop(lambda i: i < 10, lambda i: i * 2, 1)) == 16
    found = ops.while_loop(lambda i, j: i < 10, lambda i, j: (i * 2, j + 1), [1, 0], 2)
    assert type(found) is tuple
    assert [int(x) for x in found] == [4, 2]
    assert int(ops.fori_loop(0, tf.constant(4), lambda i, x: x + i, 1)) == 7
    assert int(ops.fori_loop(4, 2, lambda i, x: x + i, 1)) == 1


@pytest.mark.parametrize("reverse", [False, True])
def test_scan(reverse):
    last, sums = ops.scan(lambda c, x: (c + x, c + x), np.zeros(2), D, reverse=reverse)
    expected = np.cumsum(D[::-1] if reverse else D, axis=0)
    np.testing.assert_allclose(last, expected[-1])
    np.testing.assert_allclose(sums, expected[::-1] if reverse else expected)


def test_scan_of_nests_and_of_no_elements():
    last, found = ops.scan(lambda c, _: (c + 1, {"a": c, "b": c * 2}), 0, length=3)
    assert int(last) == 3
    assert found["b"].numpy().tolist() == [0, 2, 4]
    last, found = ops.scan(lambda c, x: (c + x["u"], None), 0.0, {"u": ops.arange(4.0)})
    assert (int(last), found) == (6, None)
    with pytest.raises(InvalidArgumentError, match="`xs` or `length`"):
        ops.scan(lambda c, x: (c, x), 0)
    with pytest.raises(InvalidArgumentError, match="`length` is 2, but `xs` have 7"):
        ops.scan(lambda c, x: (c, x), 0, D, length=2)
    with pytest.raises(InvalidArgumentError, match="equal sizes on axis 0"):
        ops.scan(lambda c, x: (c, c), 0, (D, D[:2]))


def test_map():
    found = ops.map(lambda x: {"sum": x[0] + x[1]}, (D, D * 2))
    np.testing.assert_allclose(found["sum"], D * 3)
    assert ops.map(lambda x: x * x, [1, 2, 3]).numpy().tolist() == [1, 4, 9]


@pytest.mark.parametrize("size", range(1, 10))
@pytest.mark.parametrize("reverse", [False, True])
def test_associative_scan(size, reverse):
    a, b = np.linspace(0.5, 1.5, size), np.linspace(-1, 1, size)
    found = ops.associative_scan(
        lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1]), (a, b), reverse=reverse
    )  # the maps x -> a x + b, one after the other
    order = range(size)[::-1] if reverse else range(size)
    scale, shift, expected = 1.0, 0.0, np.zeros((2, size))
    for i in order:
        scale, shift = scale * a[i], a[i] * shift + b[i]
        expected[:, i] = scale, shift
    np.testing.assert_allclose(found, expected)
    x = np.arange(2.0 * size).reshape(2, size)
    np.testing.assert_allclose(ops.associative_scan(lambda p, q: p + q, x, axis=1), np.cumsum(x, 1))


def test_gradients_and_plans():
    def loss(x):
        last, rows = ops.scan(lambda c, r: (c * r + r, c), ops.ones((2,), "float64"), x)
        return ops.sum(last) + ops.sum(ops.associative_scan(lambda a, b: a * b, rows))

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = loss(x)
        return tape.gradient(y, x)

    x, plan = tf.constant(D), tf.function(gradient)
    found, h = gradient(x).numpy(), 1e-6
    for place in ((0, 0), (3, 1), (6, 0)):
        step = np.zeros(x.shape)
        step[place] = h
        slope = (loss(x + step) - loss(x - step)) / (2 * h)
        np.testing.assert_allclose(found[place], slope, rtol=1e-6)
    for _ in range(4):
        np.testing.assert_array_equal(plan(x), found)
