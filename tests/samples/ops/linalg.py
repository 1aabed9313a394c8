"""Samples and references of linear algebra: matrices far from singular, eigenvalues far apart."""

import numpy as np
from scipy import linalg

from tests.samples.ops.arguments import Sample, call, fixed_size, no_float16, real, well_conditioned


def square(*args, **attrs):
    """A call on matrices whose leading size, their number of rows, may not change."""
    return Sample(args, attrs, any_batch=False, other_floats="float32")


def hermitian(*args, **attrs):
    """The same; a step in any direction is a step to a symmetric matrix."""
    return Sample(args, attrs, any_batch=False, other_floats="float32", symmetric=True)


def to_complex(*args):
    """A call that gives complex numbers, whose dtype is another than the arguments'."""
    return Sample(args, any_batch=False, other_floats="")


def positive(*shape):
    x = real(*shape)
    return x @ x.swapaxes(-1, -2) + np.eye(shape[-1]) * np.arange(1, shape[-1] + 1)


def spread(n):
    """A matrix with the eigenvalues 1, 2, ... n."""
    vectors = np.eye(n) + real(n, n, low=-0.2, high=0.2) / 2
    return vectors @ np.diag(np.arange(1.0, n + 1)) @ np.linalg.inv(vectors)


def turning():
    """A matrix with complex eigenvalues."""
    return np.array([[1.0, 2.0, 0.1], [-2.0, 1.2, 0.3], [0.2, 0.1, -1.0]])


def batch(*matrices):
    return np.stack(matrices)


def bands(k, n):
    """The bands of a lower triangle, zeros where a band leaves the matrix."""
    made = real(k, n)
    made[0] = 2 + np.abs(made[0])
    return np.where(np.arange(n) < np.arange(k)[:, None], 0, made)


def diagonals(n):
    """The diagonals of a tridiagonal matrix, zeros outside the matrix."""
    made = real(3, n, low=-1.5, high=1.5)
    made[1] += np.sign(made[1]) * 3
    made[0, -1] = made[2, 0] = 0
    return made


def of_bands(made, lower):
    """Dense matrices of bands, each by the row of the matrix: their offsets from the diagonal."""
    n = made.shape[-1]
    full = np.zeros((*made.shape[:-2], n, n))
    for row, k in enumerate(lower):
        for i in range(n):
            if 0 <= i + k < n:
                full[..., i, i + k] = made[..., row, i]
    return full


none = np.zeros((0, 2, 2))
own = np.random.default_rng(9)  # so that other files' numbers stay

SAMPLES = {
    "matmul": [
        call(real(2, 3), real(3, 4), any_batch=(0,)), call(real(2, 2, 3), real(2, 3, 2)),
        call(real(2, 2, 3), real(3, 2), any_batch=(0,)),
        call(real(2, 3), real(4, 3, 2), any_batch=(1,)),
        call(real(2, 1, 2, 3), real(3, 3, 1), any_batch=(0,)),
        call(real(3, 2), real(3, 4), transpose_a=True),
        call(real(2, 3), real(4, 3), transpose_b=True, any_batch=(0,)),
        fixed_size(real(3, 2), real(4, 3), transpose_a=True, transpose_b=True),
        call(real(2, 3, 2), real(4, 3), transpose_a=True, transpose_b=True, any_batch=(0,)),
        call(real(0, 3), real(3, 2), any_batch=(0,)), call(real(2, 0), real(0, 2), any_batch=(0,)),
    ],
    "solve": [
        no_float16(well_conditioned(3), real(3, 2)), no_float16(well_conditioned(2), real(4, 2, 1)),
        no_float16(none, np.zeros((0, 2, 3))),
    ],
    "triangular_solve": [
        square(well_conditioned(3), real(3, 2), lower=True),
        square(well_conditioned(3), real(3, 1), lower=False),
        square(batch(well_conditioned(2), well_conditioned(2)), real(2, 2, 3), lower=True),
        square(well_conditioned(2), real(4, 2, 3), lower=False),
        square(none, np.zeros((0, 2, 1)), lower=True),
    ],
    "banded_solve": [
        square(bands(2, 4), real(4, 3)), square(bands(1, 3), real(3, 1)),
        square(np.stack([bands(3, 3), bands(3, 3)]), real(3, 2)),
        square(np.zeros((0, 2, 2)), np.zeros((0, 2, 1))),
    ],
    "tridiagonal_solve": [
        square(diagonals(4), real(4, 3)), square(diagonals(1), real(1, 2)),
        square(np.stack([diagonals(3), diagonals(3)[::-1]]), real(3, 2)),
        square(np.zeros((0, 3, 2)), np.zeros((0, 2, 1))),
    ],
    "logm": [square(spread(3)), square(batch(spread(2), well_conditioned(2))), square(none)],
    "inverse": [square(well_conditioned(3)),
                square(batch(well_conditioned(2), well_conditioned(2))),
                square(none)],
    "pinv": [
        square(well_conditioned(3), rcond=1e-10),
        square(real(4, 2) + np.eye(4, 2) * 3, rcond=1e-10),
        square(real(2, 3, 4) + np.eye(3, 4) * 3, rcond=1e-10), square(none, rcond=1e-10),
    ],
    "det": [square(well_conditioned(3)), square(batch(well_conditioned(2), -well_conditioned(2))),
            square(none)],
    "slogdet": [square(well_conditioned(3)), square(batch(well_conditioned(2), spread(2) - 1.5)),
                square(none)],
    "cholesky": [hermitian(positive(3, 3)), hermitian(positive(2, 2, 2)), hermitian(none)],
    "expm": [square(real(3, 3)), square(batch(real(2, 2), real(2, 2, low=-12, high=9))),
              square(real(2, 2, 2)), square(none)],
    "sqrtm": [square(spread(3)), square(batch(spread(2), well_conditioned(2))), square(none)],
    "matrix_rank": [square(real(4, 3)), square(np.ones((2, 3, 3))), square(spread(3), 1.5),
                    square(none)],
    "qr": [
        no_float16(well_conditioned(3)), no_float16(real(4, 2) + np.eye(4, 2) * 3),
        no_float16(batch(well_conditioned(2), well_conditioned(2))),
        no_float16(np.zeros((0, 3, 2))),
        square(well_conditioned(3), full=True),
    ],
    "lu": [
        square(turning()), square(own.normal(size=(4, 2)) + np.eye(4, 2)[::-1] * 5),
        square(own.normal(size=(2, 3, 5)) + np.eye(3, 5) * 5), square(none),
    ],
    "eigh": [square(spread(3)), square(batch(spread(2), spread(2) * 2)), square(none)],
    "eigvalsh": [square(spread(3)), square(batch(spread(2), spread(2) * 2)), square(none)],
    # complex vectors may turn by a phase: tests/ops/test_complex.py
    "eig": [to_complex(spread(3)), to_complex(batch(spread(2), spread(2) * 2)), to_complex(none)],
    "eigvals": [to_complex(spread(3)), to_complex(turning()),
                to_complex(batch(spread(2), spread(2) * 2)), to_complex(none)],
    "svd": [
        no_float16(spread(3)), no_float16(real(4, 2) + np.eye(4, 2) * [3, 5]),
        no_float16(batch(spread(2), spread(2) * 2)),
        no_float16(real(2, 4) + np.eye(2, 4) * [[3], [5]]),
        square(spread(3), full=True), no_float16(none),
    ],
    "singular_values": [no_float16(spread(3)), no_float16(real(2, 4, 3)), no_float16(none)],
}  # fmt: skip


def each(function):
    """`function` of one matrix, for each of a batch."""

    def reference(x, **attrs):
        flat = [function(a, **attrs) for a in x.reshape(-1, *x.shape[-2:])]
        return np.reshape(flat, x.shape) if flat else x

    return reference


def _matmul(a, b, transpose_a=False, transpose_b=False):
    a = a.swapaxes(-1, -2) if transpose_a else a
    b = b.swapaxes(-1, -2) if transpose_b else b
    return np.einsum("...ij,...jk->...ik", a, b)


def _triangular_solve(a, b, lower):
    return np.linalg.inv(np.tril(a) if lower else np.triu(a)) @ b


def _lu(x):
    """SciPy's factors in one matrix, the order of rows, and the pivots; matrix for matrix."""
    rows, columns = x.shape[-2:]
    k, parts = min(rows, columns), []
    for a in x.reshape(-1, rows, columns):
        order, lower, upper = linalg.lu(a)
        packed = np.zeros((rows, columns))
        packed[:, :k] += np.tril(lower, -1)
        packed[:k] += upper
        parts.append((packed, order.argmax(0), linalg.lapack.dgetrf(a)[1]))
    shapes = x.shape, x.shape[:-1], (*x.shape[:-2], k)
    return tuple(np.reshape([p[i] for p in parts], s) for i, s in enumerate(shapes))


def _qr(x, full=False):
    return tuple(np.linalg.qr(x, "complete" if full else "reduced"))


def _svd(x, full=False):
    u, s, vh = np.linalg.svd(x, full_matrices=full)
    return s, u, np.swapaxes(vh, -1, -2)


REFERENCES = {
    "matmul": _matmul,
    "cholesky": lambda x: np.linalg.cholesky(x),
    "det": lambda x: np.linalg.det(x),
    "eig": lambda x: tuple(v.astype(complex) for v in np.linalg.eig(x)),
    "eigh": lambda x: tuple(np.linalg.eigh(x)),
    "eigvals": lambda x: np.linalg.eigvals(x).astype(complex),
    "eigvalsh": lambda x: np.linalg.eigvalsh(x),
    "banded_solve": lambda made, rhs: np.linalg.solve(
        of_bands(made, [-k for k in range(made.shape[-2])]), rhs
    ),
    "tridiagonal_solve": lambda made, rhs: np.linalg.solve(of_bands(made, [1, 0, -1]), rhs),
    "logm": each(linalg.logm),
    "expm": each(linalg.expm),
    "inverse": lambda x: np.linalg.solve(x, np.broadcast_to(np.eye(x.shape[-1]), x.shape)),
    "matrix_rank": lambda x, tol=None: np.linalg.matrix_rank(x, tol).astype(np.int32),
    "pinv": lambda x, rcond: np.linalg.pinv(x, rcond),
    "lu": _lu,
    "qr": _qr,
    "singular_values": lambda x: np.linalg.svd(x)[1],
    "slogdet": lambda x: tuple(np.linalg.slogdet(x)),
    "solve": lambda a, b: np.linalg.inv(a) @ b,
    "sqrtm": each(linalg.sqrtm),
    "svd": _svd,
    "triangular_solve": _triangular_solve,
}
