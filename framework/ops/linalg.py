"""Linear algebra over the last two axes; leading axes are a batch."""

import numpy as np

from framework.core.errors import ShapeError
from framework.core.op import Op
from framework.core.symbolic import KerasTensor, broadcast_shapes
from framework.ops.contraction import matmul
from framework.ops.elementwise import multiply, negative
from framework.ops.movement import transpose


def matrix_transpose(x):
    """`x` with its last two axes swapped."""
    n = len(x.shape)
    return transpose(x, perm=(*range(n - 2), n - 1, n - 2))


def _solve_infer(a, b):
    batches = [KerasTensor(tuple(v.shape[:-2])) for v in (a, b)]
    return (*broadcast_shapes("solve", batches), *b.shape[-2:]), b.dtype


def _solve_vjp_a(g, y, a):
    return negative(matmul(solve(matrix_transpose(a), g), y, transpose_b=True))


# x with a x = b, for square a and matrices b
solve = Op(
    "solve", lambda a, b: np.linalg.solve(a, b),
    _solve_vjp_a, lambda g, a: solve(matrix_transpose(a), g), broadcasts=True, infer=_solve_infer,
)  # fmt: skip


def _mirrored_lower(x):
    """The symmetric matrix with the lower triangle of `x`."""
    lower = np.tri(x.shape[-1], k=-1, dtype=bool)
    half = multiply(x, lower)
    return half + matrix_transpose(half) + multiply(x, np.eye(x.shape[-1], dtype=bool))


def _qr_backward(g, y):
    """Walter & Lehmann 2010, arXiv:1009.6112; Seeger et al. 2017, arXiv:1710.08717, section 4.3."""
    (g_q, g_r), (q, r) = g, y
    if q.shape[-2] < r.shape[-1]:
        raise ShapeError(
            f"qr: the derivative is known for at least as many rows as columns; got a matrix of "
            f"shape {(*q.shape[:-1], r.shape[-1])}."
        )
    m = matmul(r, g_r, transpose_b=True) - matmul(g_q, q, transpose_a=True)
    b = g_q + matmul(q, _mirrored_lower(m))
    return (matrix_transpose(solve(r, matrix_transpose(b))),)


# Orthonormal columns and an upper triangle; differentiable for full rank, square or tall.
qr = Op("qr", lambda x: tuple(np.linalg.qr(x)), outputs=2, backward=_qr_backward)
