"""Banded systems and products against dense matrices, and the matrix logarithm against SciPy."""

import numpy as np
import pytest
import scipy.linalg

import framework as tf

L = tf.linalg
RNG = np.random.default_rng(0)
N = 6
DIAGONALS = RNG.normal(size=(2, 3, N))
COMPLEX = DIAGONALS + 1j * RNG.normal(size=(2, 3, N))
RHS = RNG.normal(size=(2, N, 2))


def dense(diagonals):
    """Matrices of diagonals in the compact format."""
    above, on, below = np.moveaxis(diagonals, -2, 0)
    made = np.zeros((*on.shape, on.shape[-1]), diagonals.dtype)
    i = np.arange(on.shape[-1])
    made[..., i, i] = on
    made[..., i[:-1], i[1:]] = above[..., :-1]
    made[..., i[1:], i[:-1]] = below[..., 1:]
    return made


def forms(diagonals):
    """The same matrices in each format."""
    above, on, below = np.moveaxis(diagonals, -2, 0)
    return {
        "compact": diagonals, "matrix": dense(diagonals) + 7 * np.tri(N, k=-3),
        "sequence": [above, on, below],
    }  # fmt: skip


@pytest.mark.parametrize("diagonals", [DIAGONALS, COMPLEX])
@pytest.mark.parametrize("form", ["compact", "matrix", "sequence"])
def test_tridiagonal_matrices(diagonals, form):
    given, rhs = forms(diagonals)[form], RHS.astype(diagonals.dtype)
    a = dense(diagonals)
    np.testing.assert_allclose(L.tridiagonal_matmul(given, rhs, form).numpy(), a @ rhs, rtol=1e-12)
    expected = np.linalg.solve(a, rhs)
    found = L.tridiagonal_solve(given, rhs, form).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    found = L.tridiagonal_solve(given, rhs.swapaxes(1, 2), form, transpose_rhs=True).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    found = L.tridiagonal_solve(given, rhs[..., 0], form, conjugate_rhs=True).numpy()
    np.testing.assert_allclose(found, np.linalg.solve(a, rhs[..., :1].conj())[..., 0], rtol=1e-10)


def test_rows_are_exchanged():
    """Elimination without exchanges divides by the zero on the diagonal."""
    diagonals = np.array([[1.0, 2, 0], [0, 1, 1], [0, 3, 1]])
    rhs = np.array([[1.0], [2], [3]])
    found = L.tridiagonal_solve(diagonals, rhs).numpy()
    np.testing.assert_allclose(found, np.linalg.solve(dense(diagonals), rhs), rtol=1e-12)


def test_short_diagonals_of_a_sequence():
    found = L.tridiagonal_matmul([[1.0], [2.0, 2.0], [3.0]], [[1.0], [1.0]], "sequence")
    assert found.numpy().ravel().tolist() == [3, 5]


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("adjoint", [True, False])
def test_triangles_of_three_bands(lower, adjoint):
    a = np.tril(np.triu(RNG.normal(size=(2, N, N)) + 1j * RNG.normal(size=(2, N, N)), -2))
    a = a + 3 * np.eye(N)
    rows = np.stack([
        np.pad(np.diagonal(a, -k, 1, 2), ((0, 0), (k, 0))) for k in range(3)
    ], 1)  # fmt: skip
    if not lower:
        a = a.swapaxes(1, 2)
        rows = np.stack([
            np.pad(np.diagonal(a, k, 1, 2), ((0, 0), (0, k))) for k in (2, 1, 0)
        ], 1)  # fmt: skip
    matrix = a.conj().swapaxes(1, 2) if adjoint else a
    found = L.banded_triangular_solve(rows, RHS.astype(complex), lower=lower, adjoint=adjoint)
    np.testing.assert_allclose(found.numpy(), np.linalg.solve(matrix, RHS), rtol=1e-11)


def test_gradients_are_those_of_dense_systems():
    diagonals, rhs = tf.constant(DIAGONALS), tf.constant(RHS)
    full = tf.constant(dense(DIAGONALS))
    with tf.GradientTape() as tape:
        tape.watch([diagonals, rhs, full])
        found = tf.reduce_sum(L.tridiagonal_solve(diagonals, rhs) ** 2)
        expected = tf.reduce_sum(L.solve(full, rhs) ** 2)
        both = found + expected * 10
    by_diagonals, by_rhs, by_full = tape.gradient(both, [diagonals, rhs, full])
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-9)
    slope = by_full.numpy() / 10
    i = np.arange(N)
    np.testing.assert_allclose(by_diagonals.numpy()[:, 1], slope[:, i, i], rtol=1e-8)
    np.testing.assert_allclose(by_diagonals.numpy()[:, 0, :-1], slope[:, i[:-1], i[1:]], rtol=1e-8)
    np.testing.assert_allclose(by_diagonals.numpy()[:, 2, 1:], slope[:, i[1:], i[:-1]], rtol=1e-8)
    assert by_rhs.shape == rhs.shape


def test_what_does_not_fit():
    with pytest.raises(ValueError, match=r"`diagonals_format` must be one of"):
        L.tridiagonal_solve(DIAGONALS, RHS, "dense")
    with pytest.raises(ValueError, match=r"must have shape \(..., 3, n\), got \(2, 2\)"):
        L.tridiagonal_matmul([[1.0, 1.0], [1.0, 1.0]], [[1.0]])
    with pytest.raises(ValueError, match="expected right-hand sides of 6 rows"):
        L.tridiagonal_solve(DIAGONALS, RHS[:, 1:])
    with pytest.raises(ValueError, match="`bands` must have shape"):
        L.banded_triangular_solve(np.ones((3, 2)), np.ones((2, 1)))


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (5, 8, 8)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_logarithms_of_matrices(shape, dtype):
    x = RNG.normal(size=shape) / 3
    if dtype.startswith("complex"):
        x = x + 1j * RNG.normal(size=shape) / 3
    a = scipy.linalg.expm(x)
    found = L.logm(a.astype(dtype))
    assert found.dtype == dtype
    tolerance = 1e-10 if dtype.endswith(("float64", "128")) else 2e-5
    np.testing.assert_allclose(found.numpy(), x, rtol=0, atol=tolerance)
    far = L.logm(np.diag([1e-8, 1.0, 1e8]).astype(dtype)).numpy()
    np.testing.assert_allclose(np.diag(far), np.log([1e-8, 1, 1e8]), rtol=1e-6, atol=1e-6)


def test_logarithms_that_do_not_exist():
    assert np.isnan(L.logm([[-1.0, 0.0], [0.0, 1.0]]).numpy()).all()
    found = L.logm(np.array([[-1.0, 0.0], [0.0, 1.0]], complex)).numpy()
    np.testing.assert_allclose(found, np.diag([np.pi * 1j, 0]), atol=1e-12)
