"""LU factorization of matrices with row exchanges; the last two axes hold a matrix, the others are
a batch."""

import numpy as np

from framework.core.numpy_warnings import no_warnings
from framework.core.op import Op
from framework.kernels import matrices
from framework.ops.contraction import matmul
from framework.ops.linalg import as_rows, lower_triangle, matrix_transpose, triangular_solve
from framework.ops.linalg import upper_triangle as upper
from framework.ops.movement import argsort, concat, getitem, take_along_axis
from framework.ops.reduction import np_dtype


def _block(x, rows, columns):
    return getitem(x, index=(Ellipsis, slice(*rows), slice(*columns)))


def unit_lower(packed):
    """Return the lower factor, with ones on its diagonal, from packed factors (square)."""
    return lower_triangle(packed, -1) + np.eye(packed.shape[-1], dtype=np_dtype(packed))


def _right_solve(x, u):
    """Return the product of x and the inverse transpose of an upper triangular matrix u."""
    return matrix_transpose(triangular_solve(u, matrix_transpose(x), lower=False))


def _lu_backward(g, y):
    """Return the cotangent Ā = Pᵀ L⁻ᵀ (tril(Lᵀ L̄, -1) + triu(Ū Uᵀ)) U⁻ᵀ, from d(PA) = dL U + L dU.

    Rows or columns beyond the square block k x k are L₂ = A₂ U⁻¹ or U₂ = L⁻¹ A₂.
    """
    (g, _, _), (packed, order, _) = g, y
    rows, columns = packed.shape[-2:]
    k, last = min(rows, columns), len(packed.shape) - 1
    square = _block(packed, (k,), (k,))
    lower, u, g_square = unit_lower(square), upper(square), _block(g, (k,), (k,))
    beyond = None
    if rows > k:
        beyond = _right_solve(_block(g, (k, None), (k,)), u)
        change = matmul(_block(packed, (k, None), (k,)), beyond, transpose_a=True)
        g_square = g_square - upper(change)
    elif columns > k:
        beyond = triangular_solve(matrix_transpose(lower), _block(g, (k,), (k, None)), lower=False)
        change = matmul(beyond, _block(packed, (k,), (k, None)), transpose_b=True)
        g_square = g_square - lower_triangle(change, -1)
    inner = lower_triangle(matmul(lower, lower_triangle(g_square, -1), transpose_a=True), -1)
    inner = inner + upper(matmul(upper(g_square), u, transpose_b=True))
    total = _right_solve(triangular_solve(matrix_transpose(lower), inner, lower=False), u)
    if beyond is not None:
        total = concat(total, beyond, axis=last - 1 if rows > k else last)
    back = argsort(order, axis=last - 1, descending=False)
    return (take_along_axis(total, as_rows(back), axis=last - 1),)


def _lu_infer(x):
    dtype, index = np_dtype(x), np.dtype(np.int32)
    *batch, rows, columns = x.shape
    steps = None if None in (rows, columns) else min(rows, columns)
    return [((*batch, rows, columns), dtype), ((*batch, rows), index), ((*batch, steps), index)]


# `lu` factors P x = L U. It returns L and U in one matrix (with U's diagonal), the permutation P of
# the rows, and for each step k the index of the row that was exchanged with row k.
lu = Op(
    "lu", no_warnings(matrices.lu), outputs=3, backward=_lu_backward, infer=_lu_infer, inputs=("x",)
)
