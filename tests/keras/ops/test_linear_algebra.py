"""keras.ops on matrices, against NumPy; the slopes of norms against finite differences."""

import numpy as np
import pytest

import framework as tf
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.keras import ops

RNG = np.random.default_rng(3)
M = RNG.normal(size=(2, 3, 3))
S = M @ np.swapaxes(M, 1, 2) + np.eye(3)
WIDE, TALL, V = RNG.normal(size=(3, 5)), RNG.normal(size=(5, 3)), RNG.normal(size=3)
LOWER = np.linalg.cholesky(S)

CASES = {
    "cholesky": ((S,), LOWER),
    "upper cholesky": ((S, True), np.swapaxes(LOWER, 1, 2)),
    "cholesky_inverse": ((LOWER,), np.linalg.inv(S)),
    "upper cholesky_inverse": ((np.swapaxes(LOWER, 1, 2), True), np.linalg.inv(S)),
    "det": ((M,), np.linalg.det(M)),
    "det of integers": (([[1, 2], [3, 4]],), np.float32(-2)),
    "logdet": ((S,), np.linalg.slogdet(S)[1]),
    "inv": ((M,), np.linalg.inv(M)),
    "pinv": ((WIDE,), np.linalg.pinv(WIDE)),
    "matrix_rank": ((np.diag([1.0, 2.0, 0.0]),), 2),
    "solve": ((M, S), np.linalg.solve(M, S)),
    "solve for a vector": ((M[0], V), np.linalg.solve(M[0], V)),
    "solve_triangular": ((LOWER, S, True), np.linalg.solve(LOWER, S)),
    "solve_triangular for a vector": ((M[0], V), np.linalg.solve(np.triu(M[0]), V)),
    "lstsq": ((TALL, RNG.normal(size=5)), None),
    "lstsq of a wide matrix": ((WIDE, S[0]), None),
}


@pytest.mark.parametrize("name", CASES)
def test_numbers_of_numpy(name):
    arguments, expected = CASES[name]
    function = next(w for w in name.split() if hasattr(ops, w))
    if expected is None:
        expected = np.linalg.lstsq(*arguments, rcond=None)[0]
    np.testing.assert_allclose(getattr(ops, function)(*arguments), expected, rtol=1e-5, atol=1e-9)
    if function != "logdet":
        assert getattr(ops, function) is getattr(ops.linalg, function)


@pytest.mark.parametrize("x", [WIDE, TALL, M], ids=["wide", "tall", "several"])
def test_factors_give_the_matrix(x):
    for full in (False, True):
        u, s, vh = ops.svd(x, full_matrices=full)
        size = s.shape[-1]
        np.testing.assert_allclose(u[..., :size] * s[..., None, :] @ vh[..., :size, :], x)
        np.testing.assert_allclose(s, ops.svd(x, compute_uv=False))
        assert u.shape[-1] == (x.shape[-2] if full else size)
    for mode in ("reduced", "complete"):
        q, r = ops.qr(x, mode)
        np.testing.assert_allclose(q @ r, x, atol=1e-12)
    values, vectors = ops.eigh(S)
    np.testing.assert_allclose(S @ vectors.numpy(), vectors * values[:, None, :], atol=1e-12)


VECTOR_ORDERS = [None, 2, 1, 3, 0.5, 0, np.inf, -np.inf]
MATRIX_ORDERS = [None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize(
    ("order", "axis"),
    [(o, a) for o in VECTOR_ORDERS for a in (0, -1)]
    + [(o, a) for o in MATRIX_ORDERS for a in ((0, 1), (2, 0))],
)
def test_norms(order, axis, keepdims):
    expected = np.linalg.norm(M, order, axis, keepdims)
    np.testing.assert_allclose(ops.norm(M, order, axis, keepdims), expected, rtol=1e-12)


def test_norms_of_all_axes():
    np.testing.assert_allclose(ops.norm(M), np.linalg.norm(M))
    np.testing.assert_allclose(ops.norm(WIDE, 1), np.linalg.norm(WIDE, 1))
    np.testing.assert_allclose(ops.norm(V, 3), np.linalg.norm(V, 3))
    assert ops.norm(np.array([3 + 4j])).numpy() == 5


@pytest.mark.parametrize("order", [None, 1, 3, np.inf, "nuc", 2])
def test_slopes_of_norms(order):
    axis = (0, 1) if order in ("nuc", 2) else None
    x = tf.constant(TALL if axis else V)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = ops.norm(x, order, axis)
    found, h = tape.gradient(y, x).numpy(), 1e-6
    for place in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[place] = h
        high, low = (np.linalg.norm(x.numpy() + d, order, axis) for d in (step, -step))
        assert abs((high - low) / (2 * h) - found[place]) < 1e-7


def test_errors_say_what_was_expected():
    with pytest.raises(InvalidArgumentError, match="'reduced' or 'complete', got 'full'"):
        ops.qr(WIDE, "full")
    with pytest.raises(ShapeError, match="square matrices"):
        ops.cholesky_inverse(WIDE)
    with pytest.raises(InvalidArgumentError, match="one axis or two"):
        ops.norm(M, 2)
    with pytest.raises(InvalidArgumentError, match="`ord` of matrices must be 'fro'"):
        ops.norm(WIDE, 3)
    with pytest.raises(InvalidArgumentError, match="`ord` of vectors"):
        ops.norm(V, "fro")
    with pytest.raises(ShapeError, match="lstsq"):
        ops.lstsq(M, V)
