"""Diagonals of matrices: TensorFlow's numbers, and round trips."""

import numpy as np
import pytest

import framework as tf

L = tf.linalg
X = np.arange(1.0, 13.0, dtype=np.float32).reshape(3, 4)
D = np.arange(1.0, 7.0, dtype=np.float32).reshape(2, 3)

VALUES = {
    "diag": [
        (L.diag([1.0, 2.0]), [[1, 0], [0, 2]]),
        (L.diag([1.0, 2.0], k=1), [[0, 1, 0], [0, 0, 2], [0, 0, 0]]),
        (L.diag([1.0, 2.0], k=-1, num_rows=3, num_cols=2, padding_value=9.0),
         [[9, 9], [1, 9], [9, 2]]),
        (L.diag(D, k=(0, 1)), [[4, 2, 0], [0, 5, 3], [0, 0, 6]]),
        (L.diag(D, k=(-1, 0)), [[1, 0, 0], [4, 2, 0], [0, 5, 3]]),
        (L.diag(D, k=(-1, 0), align="LEFT_RIGHT"), [[1, 0, 0], [5, 2, 0], [0, 6, 3]]),
        (L.diag([1.0, 2.0], num_rows=3), [[1, 0], [0, 2], [0, 0]]),
        (L.diag([1.0, 2.0], num_cols=4), [[1, 0, 0, 0], [0, 2, 0, 0]]),
        (L.diag([1.0, 2.0], k=1, num_rows=2), [[0, 1, 0], [0, 0, 2]]),
        (L.diag(D), [np.diag(D[0]), np.diag(D[1])]),
        (L.diag(D, k=tf.constant([0, 1]))[0], [4, 2, 0]),
    ],
    "diag_part": [
        (L.diag_part(X), [1, 6, 11]),
        (L.diag_part(X, k=1), [2, 7, 12]),
        (L.diag_part(X, k=-2), [9]),
        (L.diag_part(X, k=(-1, 2)), [[0, 3, 8], [2, 7, 12], [1, 6, 11], [5, 10, 0]]),
        (L.diag_part(X, k=(-1, 2), align="LEFT_RIGHT", padding_value=9.0),
         [[3, 8, 9], [2, 7, 12], [1, 6, 11], [9, 5, 10]]),
        (L.diag_part(X, k=(-2, 0), align="RIGHT_RIGHT"), [[1, 6, 11], [0, 5, 10], [0, 0, 9]]),
        (L.diag_part(X, k=(-2, 3), align="LEFT_LEFT"),
         [[4, 0, 0], [3, 8, 0], [2, 7, 12], [1, 6, 11], [5, 10, 0], [9, 0, 0]]),
        (L.diag_part(np.stack([X, -X])), [[1, 6, 11], [-1, -6, -11]]),
    ],
    "set_diag": [
        (L.set_diag(X, [9.0, 9.0, 9.0]), [[9, 2, 3, 4], [5, 9, 7, 8], [9, 10, 9, 12]]),
        (L.set_diag(X, [9.0, 0.0], k=2), [[1, 2, 9, 4], [5, 6, 7, 0], [9, 10, 11, 12]]),
        (L.set_diag(X, D, k=(0, 1)), [[4, 1, 3, 4], [5, 5, 2, 8], [9, 10, 6, 3]]),
        (L.set_diag(X, [[0.0, 2.0, 3.0], [4.0, 5.0, 0.0]], k=(-1, 0), align="LEFT_LEFT"),
         [[0, 2, 3, 4], [4, 2, 7, 8], [9, 5, 3, 12]]),
    ],
    "tensor_diag": [
        (L.tensor_diag([[1, 2], [3, 4]]),
         np.diag([1, 2, 3, 4]).reshape(2, 2, 2, 2)),
    ],
    "tensor_diag_part": [(L.tensor_diag_part(L.tensor_diag([[1, 2], [3, 4]])), [[1, 2], [3, 4]])],
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_values(name):
    for found, expected in VALUES[name]:
        np.testing.assert_array_equal(found.numpy(), expected)


@pytest.mark.parametrize("align", ["RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"])
@pytest.mark.parametrize("band", [(-2, 3), (0, 1), (-1, 0), (1, 2), (-2, -1), (0, 0)])
def test_round_trips(align, band):
    part = L.diag_part(X, k=band, align=align)
    np.testing.assert_array_equal(L.set_diag(X, part, k=band, align=align).numpy(), X)
    made = L.diag(part, k=band, num_rows=3, num_cols=4, align=align)
    np.testing.assert_array_equal(made.numpy(), np.triu(np.tril(X, band[1]), band[0]))


def test_gradients():
    x, d = tf.constant(X), tf.constant(D)
    with tf.GradientTape() as tape:
        tape.watch([x, d])
        y = L.set_diag(x, d, k=(0, 1)) * X
    by_x, by_d = tape.gradient(y, [x, d])
    on = np.zeros((3, 4), bool)
    on[[0, 1, 2, 0, 1, 2], [0, 1, 2, 1, 2, 3]] = True
    np.testing.assert_array_equal(by_x.numpy(), np.where(on, 0, X))
    np.testing.assert_array_equal(by_d.numpy(), [[2, 7, 12], [1, 6, 11]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = L.diag_part(x, k=(-1, 1)) ** 2 / 2
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), np.triu(np.tril(X, 1), -1))


ERRORS = {
    "do not fit num_rows=1": lambda: L.diag([1.0, 2.0], num_rows=1),
    "there is no diagonal k=4": lambda: L.diag_part(X, k=4),
    "there is no diagonal k=-3": lambda: L.diag_part(X, k=-3),
    "k must be an int or a pair": lambda: L.diag_part(X, k=(1, 0)),
    "set_diag: expected diagonals whose shape ends in": lambda: L.set_diag(X, [9.0, 9.0]),
    "`align` must be one of": lambda: L.diag_part(X, align="LEFT"),
    "both halves of the shape": lambda: L.tensor_diag_part(X),
    "diag_part: expected matrices": lambda: L.diag_part([1.0]),
    "diag: `diagonal` of shape": lambda: L.diag([1.0], k=(0, 1)),
}


@pytest.mark.parametrize("message", ERRORS)
def test_errors(message):
    with pytest.raises(ValueError, match="diag") as caught:
        ERRORS[message]()
    assert message in str(caught.value)
