"""tf.linalg: every name, against NumPy and SciPy; where TensorFlow differs, its numbers."""

import numpy as np
import pytest
from scipy import linalg

import framework as tf

RNG = np.random.default_rng(3)
A = np.array([[4.0, 1.0], [2.0, 3.0]])
S = np.array([[4.0, 1.0], [1.0, 3.0]])
B = np.array([[1.0], [2.0]])
WIDE = np.arange(6.0).reshape(2, 3)
TALL = WIDE.T.copy()
MANY = RNG.normal(size=(2, 3, 4, 4)) + 4 * np.eye(4)
RIGHT = RNG.normal(size=(2, 3, 4, 2))
Z = RNG.normal(size=(3, 3)) + 1j * RNG.normal(size=(3, 3)) + 2 * np.eye(3)
V = RNG.normal(size=(5, 3))


def herm(x):
    return x @ np.conj(np.swapaxes(x, -1, -2))


def ridge(a, b, weight):
    n = a.shape[-1]
    return np.linalg.solve(a.T @ a + weight * np.eye(n), a.T @ b)


L = tf.linalg
VALUES = {  # name: [(found, expected), ...]
    "adjoint": [(L.adjoint(Z), Z.conj().T), (L.adjoint(MANY), np.swapaxes(MANY, -1, -2)),
                (L.adjoint([[1, 2]]), [[1], [2]])],
    "band_part": [(L.band_part(MANY, 1, 2), np.triu(np.tril(MANY, 2), -1)),
                  (L.band_part(MANY, -1, 0), np.tril(MANY)), (L.band_part(WIDE, 0, -1),
                                                              np.triu(WIDE))],
    "cholesky": [(L.cholesky(S), np.linalg.cholesky(S)), (L.cholesky([[4.0, 99.0], [2.0, 10.0]]),
                                                         [[2, 0], [1, 3]]),
                 (L.cholesky(herm(Z)), np.linalg.cholesky(herm(Z)))],
    "cholesky_solve": [(L.cholesky_solve(L.cholesky(S), B), np.linalg.solve(S, B)),
                       (L.cholesky_solve(L.cholesky(herm(Z)), Z), np.linalg.solve(herm(Z), Z))],
    "cross": [(L.cross(V, V[::-1]), np.cross(V, V[::-1])), (L.cross([1, 2, 3], [4, 5, 6]),
                                                           [-3, 6, -3])],
    "det": [(L.det(MANY), np.linalg.det(MANY)), (L.det(Z), np.linalg.det(Z)),
            (L.det([[1.0, 1.0], [1.0, 1.0]]), 0)],
    "eigvals": [(L.eigvals(MANY), np.linalg.eigvals(MANY)), (L.eigvals(Z), np.linalg.eigvals(Z))],
    "eigvalsh": [(L.eigvalsh(S), np.linalg.eigvalsh(S)), (L.eigvalsh(herm(Z)),
                                                         np.linalg.eigvalsh(herm(Z))),
                 (L.eigvalsh([[4.0, 99.0], [1.0, 3.0]]), [2.3819660113, 4.6180339887])],
    "einsum": [(L.einsum("ij,jk->ik", A, WIDE), A @ WIDE), (tf.einsum("ii->i", A), [4, 3]),
               (tf.einsum("...ij->...ji", MANY), np.swapaxes(MANY, -1, -2)),
               (tf.einsum("bij,bjk,bkl->il", MANY[0], MANY[1], RIGHT[0], optimize="optimal"),
                np.einsum("bij,bjk,bkl->il", MANY[0], MANY[1], RIGHT[0]))],
    "expm": [(L.expm(MANY[0]), np.stack([linalg.expm(x) for x in MANY[0]])),
             (L.expm(Z), linalg.expm(Z)), (L.expm(np.zeros((0, 0))), np.zeros((0, 0)))],
    "eye": [(L.eye(2, 3), np.eye(2, 3)), (L.eye(2, batch_shape=[3]), np.stack([np.eye(2)] * 3))],
    "global_norm": [(L.global_norm([tf.constant(A), None, tf.constant(B)]),
                     np.sqrt(np.sum(A**2) + 5))],
    "inv": [(L.inv(MANY), np.linalg.inv(MANY)), (L.inv(Z, adjoint=True), np.linalg.inv(Z.conj().T)),
            (L.inv(A, adjoint=True), [[0.3, -0.2], [-0.1, 0.4]])],
    "l2_normalize": [(L.l2_normalize(V, axis=1), V / np.linalg.norm(V, axis=1, keepdims=True))],
    "logdet": [(L.logdet(herm(MANY)), np.linalg.slogdet(herm(MANY))[1]),
               (L.logdet(herm(Z)), np.linalg.slogdet(herm(Z))[1])],
    "lstsq": [  # the last ones as in TensorFlow
        (L.lstsq(TALL, [[1.0], [2.0], [3.0]]), [[2 / 3], [1 / 3]]),
        (L.lstsq(WIDE, B), np.linalg.pinv(WIDE) @ B),
        (L.lstsq(TALL, [[1.0], [2.0], [3.0]], l2_regularizer=0.5),
         ridge(TALL, np.array([[1.0], [2], [3]]), 0.5)),
        (L.lstsq(WIDE, B, l2_regularizer=0.5), [[-0.1100917], [0.12844037], [0.36697248]]),
        (L.lstsq(TALL, [[1.0], [2.0], [3.0]], fast=False), [[2 / 3], [1 / 3]]),
        (L.lstsq([[1.0, 1.0], [1.0, 1.0]], B, fast=False), [[0.75], [0.75]]),
        (L.lstsq(Z, Z), np.eye(3)),
    ],
    "matmul": [(L.matmul(MANY, RIGHT), MANY @ RIGHT),
               (L.matmul(Z, Z, adjoint_a=True), Z.conj().T @ Z),
               (L.matmul(Z, Z, adjoint_b=True, transpose_a=True), Z.T @ Z.conj().T)],
    "matrix_rank": [(L.matrix_rank(WIDE), 2), (L.matrix_rank(np.ones((2, 3, 3))), [1, 1]),
                    (L.matrix_rank([[1.0, 0.0], [0.0, 0.1]], tol=0.5), 1)],
    "matrix_transpose": [(L.matrix_transpose(Z, conjugate=True), Z.conj().T),
                         (L.matrix_transpose(Z), Z.T)],
    "matvec": [(L.matvec(A, [1.0, 2.0]), A @ [1, 2]), (L.matvec(Z, Z[0], adjoint_a=True),
                                                       Z.conj().T @ Z[0]),
               (L.matvec(MANY, RIGHT[..., 0]), (MANY @ RIGHT)[..., 0])],
    "norm": [(L.norm(A), np.linalg.norm(A)), (L.norm(A, 1), 10), (L.norm(A, 3.0), 100 ** (1 / 3)),
             (L.norm(MANY, axis=(1, 3)), np.linalg.norm(MANY, axis=(1, 3))),
             *((L.norm(MANY, o, axis=(-2, -1)), np.linalg.norm(MANY, o, axis=(-2, -1)))
               for o in (1, 2, np.inf, "fro")),
             (L.norm(MANY, 2, axis=(1, 3), keepdims=True),
              np.linalg.norm(MANY, 2, axis=(1, 3), keepdims=True)),
             (L.norm([3 + 4j, 0j]), 5 + 0j), (L.norm([3 + 4j, 1j], 1), 6)],
    "normalize": [(L.normalize(A)[0], A / np.linalg.norm(A)), (L.normalize(A)[1], [[np.sqrt(30)]]),
                  (L.normalize(A, ord=1, axis=0)[0], A / A.sum(0)),
                  (L.normalize(Z)[0], Z / np.linalg.norm(Z))],
    "pinv": [(L.pinv(WIDE), np.linalg.pinv(WIDE)), (L.pinv(Z), np.linalg.inv(Z)),
             (L.pinv([[1.0, 1.0], [1.0, 1.0]]), [[0.25, 0.25], [0.25, 0.25]]),
             (L.pinv([[1.0, 0.0], [0.0, 0.1]], rcond=0.5), [[1, 0], [0, 0]])],
    "slogdet": [*zip(L.slogdet(MANY), np.linalg.slogdet(MANY)),
                *zip(L.slogdet(Z), np.linalg.slogdet(Z)),
                (L.slogdet([[1.0, 1.0], [1.0, 1.0]]).log_abs_determinant, -np.inf),
                (L.slogdet(-np.eye(3)).sign, -1)],
    "solve": [(L.solve(MANY, RIGHT), np.linalg.solve(MANY, RIGHT)),
              (L.solve(A, B, adjoint=True), [[-0.1], [0.7]]),
              (L.solve(Z, Z, adjoint=True), np.linalg.solve(Z.conj().T, Z))],
    "sqrtm": [(L.sqrtm(A), linalg.sqrtm(A)), (tf.matrix_square_root(Z), linalg.sqrtm(Z)),
              (L.sqrtm([[1.0, 1.0], [1.0, 1.0]]), np.full((2, 2), np.sqrt(0.5))),
              (L.sqrtm([[-1.0, 0.0], [0.0, 1.0]]), np.full((2, 2), np.nan))],
    "svd": [(L.svd(MANY, compute_uv=False), np.linalg.svd(MANY, compute_uv=False))],
    "tensordot": [(L.tensordot(A, WIDE, 1), A @ WIDE)],
    "trace": [(L.trace(MANY), np.trace(MANY, axis1=-2, axis2=-1)), (L.trace(WIDE), 4)],
    "triangular_solve": [
        (L.triangular_solve(MANY, RIGHT), np.linalg.solve(np.tril(MANY), RIGHT)),
        (L.triangular_solve(A, B, lower=False), [[1 / 12], [2 / 3]]),
        (L.triangular_solve(A, B, adjoint=True), [[-1 / 12], [2 / 3]]),
        (L.triangular_solve(Z, Z, adjoint=True), np.linalg.solve(np.tril(Z).conj().T, Z)),
        (L.triangular_solve([[0.0, 1.0], [1.0, 0.0]], B), [[np.inf], [-np.inf]]),
    ],
}  # fmt: skip
ELSEWHERE = {"diag", "diag_part", "set_diag", "tensor_diag", "tensor_diag_part"}  # test_diagonals
ELSEWHERE |= {"lu", "lu_matrix_inverse", "lu_reconstruct", "lu_solve"}  # tests/surface/linalg.py
BELOW = {"eig", "eigh", "qr"}
BANDED = {"banded_triangular_solve", "logm", "tridiagonal_matmul", "tridiagonal_solve"}


def test_every_name_is_tested():
    assert {n for n in dir(tf.linalg) if not n.startswith("_")} == {
        *VALUES,
        *ELSEWHERE,
        *BELOW,
        *BANDED,
    }


@pytest.mark.parametrize("name", VALUES)
def test_values(name):
    for found, expected in VALUES[name]:
        assert np.shape(found) == np.shape(expected)
        np.testing.assert_allclose(np.asarray(found), expected, rtol=2e-6, atol=1e-6)


def test_dtypes():
    x = tf.constant(A, tf.float32)
    for function in (L.inv, L.det, L.cholesky, L.expm, L.sqrtm, L.pinv, L.logdet, L.trace,
                     L.eigvalsh, lambda x: L.svd(x)[0], lambda x: L.qr(x)[0], L.norm):  # fmt: skip
        assert function(x).dtype == "float32"
    assert L.eigvals(x).dtype == L.eig(x)[1].dtype == "complex64"
    assert L.matrix_rank(x).dtype == "int32"
    assert L.norm(tf.constant(Z)).dtype == "complex128"
    assert L.solve(x, A).dtype == "float32"  # an array adopts the tensor's dtype


# ---- factorizations: what they are made to be ----------------------------------------------------


@pytest.mark.parametrize("x", [A, WIDE, TALL, MANY, Z], ids=["square", "wide", "tall", "many", "z"])
@pytest.mark.parametrize("full", [False, True])
def test_qr(x, full):
    q, r = L.qr(x, full_matrices=full)
    expected = [v.shape for v in np.linalg.qr(x, "complete" if full else "reduced")]
    assert [q.shape, r.shape] == expected
    np.testing.assert_allclose(q.numpy() @ r.numpy(), x, atol=1e-12)
    columns = q.numpy().conj().swapaxes(-1, -2) @ q.numpy()
    np.testing.assert_allclose(columns, np.broadcast_to(np.eye(q.shape[-1]), columns.shape),
                               atol=1e-12)  # fmt: skip
    assert not np.tril(r.numpy(), -1).any()
    assert L.qr(x).q.shape == L.qr(x)[0].shape


@pytest.mark.parametrize("x", [A, WIDE, TALL, MANY, Z], ids=["square", "wide", "tall", "many", "z"])
@pytest.mark.parametrize("full", [False, True])
def test_svd(x, full):
    s, u, v = (t.numpy() for t in L.svd(x, full_matrices=full))
    assert u.shape == np.linalg.svd(x, full_matrices=full)[0].shape
    k = s.shape[-1]
    made = (u[..., :k] * s[..., None, :]) @ v[..., :k].conj().swapaxes(-1, -2)
    np.testing.assert_allclose(made, x, atol=1e-12)
    np.testing.assert_allclose(u.conj().swapaxes(-1, -2) @ u,
                               np.broadcast_to(np.eye(u.shape[-1]), (*x.shape[:-2],
                                               u.shape[-1], u.shape[-1])), atol=1e-12)  # fmt: skip


@pytest.mark.parametrize("x", [S, herm(Z), herm(MANY)], ids=["real", "complex", "many"])
def test_eigh(x):
    e, v = (t.numpy() for t in L.eigh(x))
    np.testing.assert_allclose(x @ v, v * e[..., None, :], atol=1e-11)
    assert np.all(np.diff(e) >= 0)
    assert e.dtype == np.float64


@pytest.mark.parametrize("x", [A, Z, MANY, [[0.0, 1.0], [-1.0, 0.0]]])
def test_eig(x):
    e, v = (t.numpy() for t in L.eig(x))
    np.testing.assert_allclose(x @ v, v * e[..., None, :], atol=1e-6)
    assert tf.eig(x)[0].dtype.is_complex
    assert tf.eigvals(x).dtype.is_complex


# ---- gradients, as TensorFlow gives them ---------------------------------------------------------


def gradient(function, *xs):
    xs = [tf.constant(x) for x in xs]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = function(*xs)
    found = [g.numpy() for g in tape.gradient(y, xs)]
    return found if len(found) > 1 else found[0]


GRADIENTS = {  # computed with TensorFlow 2.21
    "cholesky": (L.cholesky, S, [[0.20634446, 0.17462208], [0.17462208, 0.30151135]]),
    "complex cholesky": (
        L.cholesky, np.array([[4, 1 - 1j], [1 + 1j, 3]]),
        [[0.22702846, 0.17094305 + 0.07905694j], [0.17094305 - 0.07905694j, 0.31622776]],
    ),
    "eigh": (lambda a: L.eigh(a)[0] * [1.0, 2.0], S,
             [[1.7236069, 0], [0.8944273, 1.2763934]]),
    "eigvalsh": (lambda a: L.eigvalsh(a) * [1.0, 2.0], S, [[1.7236069, 0], [0.8944273, 1.2763934]]),
    "eigvals": (lambda a: tf.abs(L.eigvals(a)), A, [[1, 0], [0, 1]]),
    "svd": (lambda a: L.svd(a, compute_uv=False) * [1.0, 2.0], WIDE,
            [[-1.4770666, -0.11009489, 1.2568766], [0.8302674, 0.6146675, 0.3990678]]),
    "triangular_solve": (lambda a: L.triangular_solve(a, B), A,
                         [[-1 / 48, 0], [-1 / 12, -1 / 6]]),
    "det": (L.det, A, [[3, -2], [-1, 4]]),
    "expm": (L.expm, A, linalg.expm_frechet(A.T, np.ones((2, 2)))[1]),
    "sqrtm": (L.sqrtm, A, [[0.20682529, 0.20682529], [0.2403884, 0.2403884]]),
    "qr of a wide one": (lambda a: L.qr(a)[1], WIDE, [[2, -1, -1], [-1, -1, -1]]),
    "norm": (L.norm, A, A / np.sqrt(30)),
}  # fmt: skip


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name):
    function, x, expected = GRADIENTS[name]
    np.testing.assert_allclose(gradient(function, x), expected, rtol=3e-6, atol=3e-6)


DIFFERENTIABLE = {
    "cross": lambda x: L.cross(x, x * x), "logdet": lambda x: L.logdet(x @ tf.transpose(x)),
    "lstsq": lambda x: L.lstsq(x[:, :2], x, l2_regularizer=0.1),
    "lstsq of a wide one": lambda x: L.lstsq(x[:2], x[:2] * x[1:], l2_regularizer=0.1),
    "slow lstsq": lambda x: L.lstsq(x[:, :2], x, fast=False),
    "normalize": lambda x: L.normalize(x, axis=1)[0], "norm 2": lambda x: L.norm(x, 2, (0, 1)),
    "trace": lambda x: L.trace(x * x), "band_part": lambda x: L.band_part(x * x, 1, 0),
    "cholesky_solve": lambda x: L.cholesky_solve(L.cholesky(x @ tf.transpose(x)), x),
    "qr of a wide one": lambda x: L.qr(x[:2])[1], "einsum": lambda x: L.einsum("ij,kj->", x, x),
    "adjoint solve": lambda x: L.solve(x, x * x, adjoint=True), "inv": L.inv,
    "adjoint triangular": lambda x: L.triangular_solve(x, x * x, lower=False, adjoint=True),
}  # fmt: skip


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients_against_differences(name):
    function = DIFFERENTIABLE[name]
    x, direction = RNG.normal(size=(3, 3)) + 3 * np.eye(3), RNG.normal(size=(3, 3))
    weights = RNG.normal(size=np.shape(function(tf.constant(x))))

    def total(x):
        return tf.reduce_sum(function(x) * weights)

    h = 1e-6
    slope = (total(tf.constant(x + h * direction)) - total(tf.constant(x - h * direction))) / (
        2 * h
    )
    np.testing.assert_allclose(np.sum(gradient(total, x) * direction), slope, rtol=1e-6, atol=1e-7)


def test_the_pseudo_inverse_has_a_derivative_where_singular_values_meet():
    found = gradient(lambda x: L.pinv(x), 2 * np.eye(3))
    np.testing.assert_allclose(found, -np.ones((3, 3)) / 4, atol=1e-12)


# ---- errors --------------------------------------------------------------------------------------

ERRORS = {
    "solve: the matrix is not invertible": lambda: L.solve(np.ones((2, 2)), B),
    "inv: the matrix is not invertible": lambda: L.inv(np.ones((2, 2))),
    "cholesky: the matrix is not positive definite": lambda: L.cholesky([[1.0, 2.0], [2.0, 1.0]]),
    "cholesky: the matrix is not positive": lambda: L.cholesky([[np.inf, 1.0], [1.0, 1.0]]),
    "inv: expected square matrices, got shape (2, 3)": lambda: L.inv(WIDE),
    "det: expected matrices, rank 2 or more, got shape (3,)": lambda: L.det([1.0, 2.0, 3.0]),
    "solve: expected matrices": lambda: L.solve(A, [1.0, 2.0]),
    "differ in their number of rows": lambda: L.solve(A, [[1.0], [2.0], [3.0]]),
    "cross: expected two tensors of the same shape": lambda: L.cross([1.0, 2.0], [3.0, 4.0]),
    "inv: expected a floating dtype, got int32": lambda: L.inv([[1, 2], [3, 4]]),
    "norm: ord='fro' is not supported for axis=None": lambda: L.norm([3.0, 4.0], "fro"),
    "norm: ord=3 is not supported for matrices": lambda: L.norm(A, 3, axis=(0, 1)),
    "einsum: `equation` must be a string": lambda: L.einsum(A, A),
    "exceed the shape": lambda: L.band_part(A, 5, 0),
    "trace: expected matrices": lambda: L.trace([1.0]),
    "adjoint: expected matrices": lambda: L.adjoint([1.0]),
    "inv: expected a dtype of 32 bits or more, as LAPACK needs, got float16": lambda: L.inv(
        tf.constant(A, tf.float16)
    ),
    "different dtypes": lambda: L.solve(tf.constant(A), tf.constant(B, tf.float32)),
}


@pytest.mark.parametrize("message", ERRORS)
def test_errors(message):
    with pytest.raises((ValueError, TypeError)) as caught:
        ERRORS[message]()
    assert message in str(caught.value)


def test_no_derivative_is_an_error_that_says_why():
    with pytest.raises(ValueError, match=r"svd: with full_matrices the derivative"):
        gradient(lambda x: L.svd(x, full_matrices=True)[1], WIDE)
    with pytest.raises(ValueError, match=r"qr: the derivative needs"):
        gradient(lambda x: L.qr(x, full_matrices=True)[0], TALL)
