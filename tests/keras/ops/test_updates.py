"""keras.ops that replace and reduce parts chosen by indices, against loops in NumPy."""

import numpy as np
import pytest

import framework as tf
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.keras import ops

X = np.random.default_rng(1).normal(size=(4, 3))
COMBINE = {
    None: lambda a, b: b, "add": np.add, "max": np.maximum, "min": np.minimum,
    "mul": np.multiply,
}  # fmt: skip


@pytest.mark.parametrize("reduction", COMBINE)
@pytest.mark.parametrize(
    ("indices", "shape"),
    [([[0], [2], [0]], (3, 3)), ([[1, 2], [-1, 0], [1, 2]], (3,)), ([[-4]], (1, 3))],
)
def test_scatter_update(indices, shape, reduction):
    updates = np.random.default_rng(2).normal(size=shape)
    expected = X.copy()
    for index, update in zip(indices, updates):
        expected[tuple(index)] = COMBINE[reduction](expected[tuple(index)], update)
    np.testing.assert_allclose(ops.scatter_update(X, indices, updates, reduction), expected)


def test_scatter():
    found = ops.scatter([[0], [2], [0]], [1.0, 2.0, 4.0], (4,))
    assert found.numpy().tolist() == [5, 0, 2, 0]


@pytest.mark.parametrize("start", [(0, 0), (1, 1), (3, 2), (-1, 0), (9, -9)])
def test_slice_update(start):
    update = np.ones((2, 2))
    row, column = (min(max(s + n * (s < 0), 0), n - 2) for s, n in zip(start, X.shape))
    expected = X.copy()
    expected[row : row + 2, column : column + 2] = 1
    np.testing.assert_array_equal(ops.slice_update(X, start, update), expected)
    np.testing.assert_array_equal(ops.slice_update(X, tf.constant(start), update), expected)


@pytest.mark.parametrize(
    ("name", "reduce", "empty"),
    [("sum", np.sum, 0), ("prod", np.prod, 1), ("max", np.max, -np.inf), ("min", np.min, np.inf)],
)
def test_segments(name, reduce, empty):
    function, ids = getattr(ops, f"segment_{name}"), np.array([2, 0, 2, 9])
    found = function(X, ids, 4)
    for k in range(4):
        rows = X[ids == k]
        expected = reduce(rows, axis=0) if len(rows) else np.full(3, empty)
        np.testing.assert_allclose(found[k], expected)
    assert function(X, [0, 1, 1, 0]).shape == (2, 3)


def test_gradients():
    x, u = tf.constant(X), tf.constant(np.ones((2, 3)))
    with tf.GradientTape() as tape:
        tape.watch([x, u])
        y = ops.sum(ops.slice_update(x, (1, 0), u) * 2 + ops.scatter_update(x, [[0], [1]], u))
    of_x, of_u = tape.gradient(y, [x, u])
    np.testing.assert_array_equal(of_u, np.full((2, 3), 3))
    np.testing.assert_array_equal(of_x[:, 0], [2, 0, 1, 3])


def test_errors_say_what_was_expected():
    with pytest.raises(InvalidArgumentError, match="'mul', got 'mean'"):
        ops.scatter_update(X, [[0]], X[:1], "mean")
    with pytest.raises(ShapeError, match=r"shape \(5, 3\) at \[0, 0\] do not fit"):
        ops.slice_update(X, (0, 0), np.ones((5, 3)))
    with pytest.raises(InvalidArgumentError, match="vector of integers"):
        ops.segment_sum(X, [0.5, 1.0, 2.0, 3.0])
