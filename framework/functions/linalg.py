"""Linear algebra: linear systems, determinants, factorizations, functions of matrices.

The last two axes are the matrix, leading axes a batch. Every function is differentiable.
"""

from typing import Any, NamedTuple

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import Axis, DTypeLike, TensorLike
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.promotion import floating, strict_all
from framework.core.tensor import Tensor
from framework.functions.contraction import matmul, norm
from framework.ops import einsum as _einsum
from framework.ops import elementwise, movement, reduction, spectral, triangular_factors
from framework.ops import linalg as ops
from framework.ops.complex import is_complex, real


def _matrix(x, what, square=False):
    """Convert `x` to a floating tensor of matrices, or raise ShapeError."""
    x = floating(x, what)
    if x.ndim < 2:
        raise ShapeError(f"{what}: expected matrices, rank 2 or more, got shape {x.shape}.")
    if x.dtype.size < 4:
        raise DTypeError(
            f"{what}: expected a dtype of 32 bits or more, as LAPACK needs, got {x.dtype}. Cast "
            "it: tf.cast(x, tf.float32)."
        )
    if square and x.shape[-1] != x.shape[-2]:
        raise ShapeError(f"{what}: expected square matrices, got shape {x.shape}.")
    return x


def _system(matrix, rhs, what, square=True):
    """Convert and check both operands of a linear system."""
    matrix, rhs = strict_all(matrix, rhs)
    matrix, rhs = _matrix(matrix, what, square), _matrix(rhs, what)
    if matrix.shape[-2] != rhs.shape[-2]:
        raise ShapeError(
            f"{what}: matrices of shape {matrix.shape} and right-hand sides of shape {rhs.shape} "
            "differ in their number of rows. Give a vector a last axis of size 1: rhs[..., None]."
        )
    return matrix, rhs


@operation
def einsum(
    equation: Any, *inputs: Any, optimize: Any = "greedy", name: str | None = None
) -> Tensor:
    """Return the sum of products that `equation` describes, such as "ij,jk->ik".

    Args:
        equation: a letter per axis; "..." stands for axes that broadcast. A letter repeated in an
            input takes the diagonal. Without "->" the result has the letters that occur once,
            sorted.
        *inputs: tensors of one dtype.
        optimize: ignored; the order of products is always optimized.

    >>> import framework as tf
    >>> tf.einsum("ij,j->i", [[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0]).numpy()
    array([21., 43.], dtype=float32)
    """
    if not isinstance(equation, str):
        raise InvalidArgumentError(f"einsum: `equation` must be a string, got {equation!r}.")
    return _einsum.einsum(equation, *strict_all(*inputs))


def adjoint(matrix: TensorLike, name: str | None = None) -> Tensor:
    """Transpose and conjugate matrices."""
    x = tensor(matrix)
    if x.ndim < 2:
        raise ShapeError(f"adjoint: expected matrices, rank 2 or more, got shape {x.shape}.")
    return ops.adjoint(x)


@operation
def cross(a: TensorLike, b: TensorLike, name: str | None = None) -> Tensor:
    """Return the cross product of vectors of size 3 along the last axis.

    >>> import framework as tf
    >>> tf.linalg.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]).numpy()
    array([0., 0., 1.], dtype=float32)
    """
    a, b = strict_all(a, b)
    if a.shape != b.shape or a.ndim == 0 or a.shape[-1] != 3:
        raise ShapeError(
            f"cross: expected two tensors of the same shape (..., 3), got {a.shape} and {b.shape}."
        )

    def on(x, places):
        return movement.roll(x, shift=(-places,), axis=(x.ndim - 1,))

    return on(a, 1) * on(b, 2) - on(a, 2) * on(b, 1)


# ---- linear systems ------------------------------------------------------------------------------


@operation
def solve(
    matrix: TensorLike, rhs: TensorLike, adjoint: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the solution x of matrix @ x = rhs.

    Args:
        matrix: square matrices.
        rhs: matrices with the same number of rows.
        adjoint: solve with the adjoint of `matrix`.

    Raises:
        InvalidArgumentError: a matrix is not invertible.

    >>> import framework as tf
    >>> tf.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]]).numpy()
    array([[1. ],
           [0.5]], dtype=float32)
    """
    matrix, rhs = _system(matrix, rhs, "solve")
    return ops.solve(ops.adjoint(matrix) if adjoint else matrix, rhs)


@operation
def triangular_solve(
    matrix: TensorLike, rhs: TensorLike, lower: bool = True, adjoint: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Solve matrix @ x = rhs, reading only the lower (or upper) triangle of `matrix`."""
    matrix, rhs = _system(matrix, rhs, "triangular_solve")
    if adjoint:
        return ops.triangular_solve(ops.adjoint(matrix), rhs, lower=not lower)
    return ops.triangular_solve(matrix, rhs, lower=bool(lower))


@operation
def cholesky_solve(chol: TensorLike, rhs: TensorLike, name: str | None = None) -> Tensor:
    """Return the solution x of a @ x = rhs, given `chol = cholesky(a)`."""
    chol, rhs = _system(chol, rhs, "cholesky_solve")
    inner = ops.triangular_solve(chol, rhs, lower=True)
    return ops.triangular_solve(ops.adjoint(chol), inner, lower=False)


@operation
def lstsq(
    matrix: TensorLike, rhs: TensorLike, l2_regularizer: Any = 0.0, fast: bool = True,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the x that minimizes |matrix @ x - rhs|² + l2_regularizer |x|².

    Args:
        matrix: matrices, wide or tall; for a wide matrix without regularizer, x is the solution of
            least norm.
        rhs: matrices with the same number of rows.
        l2_regularizer: a number >= 0.
        fast: solve the normal equations, which needs full rank. False uses the pseudo-inverse,
            which is more accurate, takes any rank and ignores `l2_regularizer`.
    """
    matrix, rhs = _system(matrix, rhs, "lstsq", square=False)
    if not fast:
        return matmul(ops.pinv(matrix, rcond=_tolerance(matrix)), rhs)
    rows, columns = matrix.shape[-2:]
    size = min(rows, columns)
    ridge = Tensor(np.eye(size, dtype=matrix.dtype.np)) * tensor(l2_regularizer, matrix.dtype)
    across = ops.adjoint(matrix)
    if rows >= columns:
        chol = ops.cholesky(matmul(across, matrix) + ridge)
        return cholesky_solve(chol, matmul(across, rhs))
    chol = ops.cholesky(matmul(matrix, across) + ridge)
    return matmul(across, cholesky_solve(chol, rhs))


@operation
def inv(input: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Invert square matrices, or their adjoints.

    Raises:
        InvalidArgumentError: a matrix is not invertible.
    """
    x = _matrix(input, "inv", square=True)
    return ops.inverse(ops.adjoint(x) if adjoint else x)


@operation
def pinv(
    a: TensorLike, rcond: Any = None, validate_args: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the Moore-Penrose pseudo-inverse.

    Args:
        a: matrices.
        rcond: singular values up to `rcond` times the largest are taken as 0; by default 10 times
            the larger side times the dtype's epsilon.
        validate_args: ignored; arguments are always checked.
    """
    x = _matrix(a, "pinv")
    return ops.pinv(x, rcond=_tolerance(x) if rcond is None else np.asarray(rcond))


def _tolerance(x):
    return 10.0 * max(x.shape[-2:]) * float(np.finfo(x.dtype.np).eps)


# ---- determinant, trace, rank, norm --------------------------------------------------------------


class LogMatrixDeterminant(NamedTuple):
    """The result of `slogdet`."""

    sign: Tensor
    log_abs_determinant: Tensor


@operation
def det(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the determinant of square matrices.

    >>> import framework as tf
    >>> tf.linalg.det([[4.0, 1.0], [2.0, 3.0]]).numpy().round(4)
    np.float32(10.0)
    """
    return ops.det(_matrix(input, "det", square=True))


@operation
def slogdet(input: TensorLike, name: str | None = None) -> LogMatrixDeterminant:
    """Return the determinant's sign and log(|det|): (sign, log_abs_determinant)."""
    return LogMatrixDeterminant(*ops.slogdet(_matrix(input, "slogdet", square=True)))


@operation
def logdet(matrix: TensorLike, name: str | None = None) -> Tensor:
    """Return the logarithm of the determinant of Hermitian positive definite matrices.

    Raises:
        InvalidArgumentError: a matrix is not positive definite.
    """
    chol = ops.cholesky(_matrix(matrix, "logdet", square=True))
    logs = elementwise.log(real(ops.diagonal(chol)))
    return reduction.reduce_sum(logs, axis=(logs.ndim - 1,), keepdims=False) * 2


@operation
def trace(x: TensorLike, name: str | None = None) -> Tensor:
    """Return the sum of the diagonal.

    >>> import framework as tf
    >>> tf.linalg.trace([[1, 2], [3, 4]]).numpy()
    np.int32(5)
    """
    x = tensor(x)
    if x.ndim < 2:
        raise ShapeError(f"trace: expected matrices, rank 2 or more, got shape {x.shape}.")
    along = ops.diagonal(x)
    return reduction.reduce_sum(along, axis=(along.ndim - 1,), keepdims=False)


@operation
def matrix_rank(
    a: TensorLike, tol: Any = None, validate_args: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the number of singular values above `tol`, int32.

    Args:
        a: matrices.
        tol: by default the largest singular value times the larger side times epsilon.
        validate_args: ignored; arguments are always checked.
    """
    x = _matrix(a, "matrix_rank")
    return ops.matrix_rank(x, tol if tol is None else np.asarray(tol))


@operation
def normalize(
    tensor: TensorLike, ord: Any = "euclidean", axis: Axis = None, name: str | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the tensor divided by its norm, and the norm; see `norm`.

    >>> import framework as tf
    >>> unit, size = tf.linalg.normalize([3.0, 4.0])
    >>> unit.numpy(), size.numpy()
    (array([0.6, 0.8], dtype=float32), array([5.], dtype=float32))
    """
    x = floating(tensor, "normalize")
    size = norm(x, ord, axis, keepdims=True)
    divisor = cast(size, dtype=x.dtype.np) if is_complex(x) else size
    return elementwise.divide(x, divisor), size


# ---- factorizations ------------------------------------------------------------------------------


class Qr(NamedTuple):
    """The result of `qr`."""

    q: Tensor
    r: Tensor


@operation
def cholesky(input: TensorLike, name: str | None = None) -> Tensor:
    """Return lower triangular l with l @ adjoint(l) = `input`, Hermitian and positive definite.

    Only the lower triangle of `input` is read; its gradient is symmetric.

    Raises:
        InvalidArgumentError: a matrix is not positive definite.

    >>> import framework as tf
    >>> tf.linalg.cholesky([[4.0, 2.0], [2.0, 10.0]]).numpy()
    array([[2., 0.],
           [1., 3.]], dtype=float32)
    """
    return ops.cholesky(_matrix(input, "cholesky", square=True))


@operation
def qr(input: TensorLike, full_matrices: bool = False, name: str | None = None) -> Qr:
    """Return q with orthonormal columns and an upper triangular r, with q @ r = `input`.

    Args:
        input: matrices.
        full_matrices: return a square q, which has derivatives only if `input` is square.
    """
    x = _matrix(input, "qr")
    rows, columns = x.shape[-2:]
    if rows >= columns or full_matrices:
        return Qr(*spectral.qr(x, full=bool(full_matrices and rows != columns)))
    # A wide matrix has the same Q as the square matrix of its first columns.
    head = movement.getitem(x, index=(Ellipsis, slice(rows)))
    q, r = spectral.qr(head)
    rest = matmul(ops.adjoint(q), movement.getitem(x, index=(Ellipsis, slice(rows, None))))
    return Qr(q, movement.concat(r, rest, axis=x.ndim - 1))


@operation
def svd(
    tensor: TensorLike, full_matrices: bool = False, compute_uv: bool = True,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return (s, u, v), s descending, with tensor = u @ diag(s) @ adjoint(v); or s alone.

    Vectors of equal singular values have no derivative; the singular values always do.
    """
    x = _matrix(tensor, "svd")
    if not compute_uv:
        return spectral.singular_values(x)
    return spectral.svd(x, full=bool(full_matrices and x.shape[-1] != x.shape[-2]))


@operation
def eigh(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return eigenvalues, ascending, and eigenvectors (in columns) of Hermitian matrices.

    Only the lower triangle is read, and it gets the whole gradient.
    """
    return spectral.eigh(_matrix(tensor, "eigh", square=True))


@operation
def eigvalsh(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Return the eigenvalues of Hermitian matrices, ascending; reads the lower triangle only."""
    return spectral.eigvalsh(_matrix(tensor, "eigvalsh", square=True))


@operation
def eig(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return eigenvalues and eigenvectors (in columns) of square matrices, both complex."""
    return spectral.eig(_matrix(tensor, "eig", square=True))


@operation
def eigvals(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Return the eigenvalues of square matrices, complex, in no particular order."""
    return spectral.eigvals(_matrix(tensor, "eigvals", square=True))


# ---- triangular factors --------------------------------------------------------------------------


class Lu(NamedTuple):
    """The result of `lu`."""

    lu: Tensor
    p: Tensor


def exchanged_factors(x, what):
    """Return the factors l and u in one matrix, the row permutation, and the pivots."""
    return triangular_factors.lu(_matrix(x, what))


@operation
def lu(input: TensorLike, output_idx_type: DTypeLike = dtypes.int32, name: str | None = None) -> Lu:
    """Return the triangular factors l and u of square matrices after a row permutation p.

    Args:
        input: square matrices.
        output_idx_type: the dtype of `p`.

    Returns:
        `lu`, with u on and above the diagonal and l, whose diagonal is 1, below it; and `p`:
        l @ u = tf.gather(input, p).

    >>> import framework as tf
    >>> lu, p = tf.linalg.lu([[1.0, 2.0], [2.0, 8.0]])
    >>> lu.numpy().tolist(), p.numpy().tolist()
    ([[2.0, 8.0], [0.5, -2.0]], [1, 0])
    """
    packed, order, _ = triangular_factors.lu(_matrix(input, "lu", square=True))
    return Lu(packed, cast(order, dtype=dtypes.as_dtype(output_idx_type).np))


def _in_order(x, perm):
    places = movement.expand_axes(tensor(perm), (x.ndim - 1,))
    return movement.take_along_axis(x, places, axis=x.ndim - 2)


@operation
def lu_reconstruct(
    lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """Return the matrices whose `lu` is (lower_upper, perm)."""
    packed = _matrix(lower_upper, "lu_reconstruct")
    product = matmul(triangular_factors.unit_lower(packed), ops.upper_triangle(packed))
    order = tensor(perm)
    return _in_order(product, movement.argsort(order, axis=order.ndim - 1, descending=False))


@operation
def lu_solve(
    lower_upper: TensorLike, perm: TensorLike, rhs: TensorLike, validate_args: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the solution x of matrix @ x = rhs for matrices whose `lu` is (lower_upper, perm)."""
    packed, rhs = _system(lower_upper, rhs, "lu_solve")
    order = movement.broadcast_to(tensor(perm), shape=tuple(rhs.shape[:-1]))
    y = ops.triangular_solve(
        triangular_factors.unit_lower(packed), _in_order(rhs, order), lower=True
    )
    return ops.triangular_solve(packed, y, lower=False)


@operation
def lu_matrix_inverse(
    lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """Return the inverses of the matrices whose `lu` is (lower_upper, perm)."""
    packed = _matrix(lower_upper, "lu_matrix_inverse", square=True)
    one = np.broadcast_to(np.eye(packed.shape[-1], dtype=packed.dtype.np), tuple(packed.shape))
    return lu_solve(packed, perm, Tensor(np.ascontiguousarray(one)))


# ---- functions of matrices -----------------------------------------------------------------------


@operation
def expm(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the matrix exponential.

    >>> import framework as tf
    >>> tf.linalg.expm([[0.0, 1.0], [0.0, 0.0]]).numpy()
    array([[1., 1.],
           [0., 1.]], dtype=float32)
    """
    return ops.expm(_matrix(input, "expm", square=True))


@operation
def sqrtm(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the principal square root of square matrices: sqrtm(x) @ sqrtm(x) = x.

    The result is NaN for real matrices with eigenvalues below 0.
    """
    return ops.sqrtm(_matrix(input, "sqrtm", square=True))


@operation
def logm(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the principal matrix logarithm: expm(logm(x)) = x.

    The result is NaN for real matrices with eigenvalues of 0 or below; cast them to complex numbers
    if the eigenvalues are below 0.

    >>> import framework as tf
    >>> tf.linalg.logm([[1.0, 1.0], [0.0, 1.0]]).numpy().round(6)
    array([[0., 1.],
           [0., 0.]], dtype=float32)
    """
    return ops.logm(_matrix(input, "logm", square=True))
