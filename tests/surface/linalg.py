"""Values of TensorFlow's linear algebra, against NumPy and SciPy."""

import numpy as np
import scipy.linalg

import framework as tf

A = np.array([[4.0, 1.0, 0.5], [2.0, 5.0, -1.0], [0.3, 1.5, 6.0]])
S = A + A.T  # symmetric, positive definite
R = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 4.0]])
V, W = np.array([1.0, 2.0, 3.0]), np.array([-1.0, 0.5, 2.0])
C = np.array([[1 + 2j, 3j], [4.0, 5 - 1j]])

NEAR = np.tril(np.triu(A, -1), 1)  # the part next to the diagonal
BANDS = np.array([np.diag(A), [0, *np.diag(A, -1)]])


def rebuilt(parts):
    s, u, v = parts
    return u @ tf.linalg.diag(s) @ tf.transpose(v)


def of_eigenvectors(found):
    values, vectors = found
    return tf.cast(A, tf.complex128) @ vectors - vectors * values


VALUES = {
    "eig": (lambda f: of_eigenvectors(f(A)), np.zeros((3, 3))),
    "eigvals": (lambda f: np.sort(f(S).numpy().real), np.linalg.eigvalsh(S)),
    "einsum": (lambda f: f("ij,jk->ki", A, R), (A @ R).T),
    "matmul": (lambda f: f(A, R), A @ R),
    "matrix_square_root": (lambda f: f(S), scipy.linalg.sqrtm(S)),
    "linalg.sqrtm": (lambda f: f(S), scipy.linalg.sqrtm(S)),
    "norm": (lambda f: f(A, axis=1), np.linalg.norm(A, axis=1)),
    "tensordot": (lambda f: f(A, R, [[0], [0]]), A.T @ R),
    "linalg.adjoint": (lambda f: f(C), C.conj().T),
    "linalg.band_part": (lambda f: f(A, 0, 1), np.triu(A) - np.triu(A, 2)),
    "linalg.cholesky": (lambda f: f(S), np.linalg.cholesky(S)),
    "linalg.cholesky_solve": (lambda f: f(np.linalg.cholesky(S), R), np.linalg.solve(S, R)),
    "linalg.cross": (lambda f: f(V, W), np.cross(V, W)),
    "linalg.det": (lambda f: f(A), np.linalg.det(A)),
    "linalg.diag": (lambda f: f(V), np.diag(V)),
    "linalg.diag_part": (lambda f: f(A), np.diag(A)),
    "linalg.eigh": (lambda f: f(S)[0], np.linalg.eigvalsh(S)),
    "linalg.eigvalsh": (lambda f: f(S), np.linalg.eigvalsh(S)),
    "linalg.expm": (lambda f: f(A / 3), scipy.linalg.expm(A / 3)),
    "linalg.global_norm": (lambda f: f([V, R]), np.sqrt(np.sum(V**2) + np.sum(R**2))),
    "linalg.inv": (lambda f: f(A), np.linalg.inv(A)),
    "linalg.l2_normalize": (lambda f: f(V), V / np.linalg.norm(V)),
    "linalg.logdet": (lambda f: f(S), np.log(np.linalg.det(S))),
    "linalg.logm": (lambda f: f(A), scipy.linalg.logm(A)),
    "linalg.banded_triangular_solve": (
        lambda f: f(BANDS, R),
        np.linalg.solve(np.tril(np.triu(A, -1)), R),
    ),
    "linalg.tridiagonal_matmul": (lambda f: f(A, R, "matrix"), NEAR @ R),
    "linalg.tridiagonal_solve": (lambda f: f(A, R, "matrix"), np.linalg.solve(NEAR, R)),
    "linalg.lstsq": (lambda f: f(R, V[:, None]), np.linalg.lstsq(R, V[:, None], rcond=None)[0]),
    "linalg.lu": (lambda f: f(A[::-1])[1], [2, 1, 0]),
    "linalg.lu_matrix_inverse": (lambda f: f(*tf.linalg.lu(A)), np.linalg.inv(A)),
    "linalg.lu_reconstruct": (lambda f: f(*tf.linalg.lu(A[::-1])), A[::-1]),
    "linalg.lu_solve": (lambda f: f(*tf.linalg.lu(A[::-1]), R), np.linalg.solve(A[::-1], R)),
    "linalg.matrix_rank": (lambda f: f(np.outer(V, W)), 1),
    "linalg.matrix_transpose": (lambda f: f(R), R.T),
    "linalg.matvec": (lambda f: f(A, V), A @ V),
    "linalg.normalize": (lambda f: f(V), (V / np.linalg.norm(V), [np.linalg.norm(V)])),
    "linalg.pinv": (lambda f: f(R), np.linalg.pinv(R)),
    "linalg.qr": (lambda f: tf.matmul(*f(A)), A),
    "linalg.set_diag": (lambda f: f(A, V), A - np.diag(np.diag(A)) + np.diag(V)),
    "linalg.slogdet": (lambda f: f(-A), tuple(np.linalg.slogdet(-A))),
    "linalg.solve": (lambda f: f(A, R), np.linalg.solve(A, R)),
    "linalg.svd": (lambda f: rebuilt(f(R)), R),
    "linalg.tensor_diag": (lambda f: f(V), np.diag(V)),
    "linalg.tensor_diag_part": (lambda f: f(A), np.diag(A)),
    "linalg.trace": (lambda f: f(A), np.trace(A)),
    "linalg.triangular_solve": (lambda f: f(A, R), np.linalg.solve(np.tril(A), R)),
}
