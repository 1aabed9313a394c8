"""Functions of keras.ops for matrices: factorizations, linear systems, determinants, norms.

A matrix is the last two axes of a tensor; other axes are batches. Integers become floats.

>>> from framework import keras
>>> keras.ops.solve([[2.0, 0.0], [0.0, 4.0]], [2.0, 2.0]).numpy()
array([1. , 0.5], dtype=float32)
"""

import math
from typing import Any

import numpy as np

from framework.core.argument_types import Axis, TensorLike
from framework.core.axes import all_axes, one_axis
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.tensor import Tensor
from framework.functions import linalg
from framework.keras.ops import arrays, reduction
from framework.keras.ops.argument_conversion import as_dtype, floating, ints
from framework.ops import elementwise, movement
from framework.ops.complex import is_complex, squared_size
from framework.ops.division import promoted_floats

# ---- factorizations ------------------------------------------------------------------------------


@operation
def cholesky(x: TensorLike, upper: bool = False) -> Tensor:
    """Return the lower triangle l with l @ adjoint(l) = x, or the adjoint of l.

    Args:
        x: Hermitian positive definite matrices, of shape (..., n, n).
        upper: return the upper triangle u with adjoint(u) @ u = x.

    Raises:
        InvalidArgumentError: a matrix is not positive definite.
    """
    lower = linalg.cholesky(floating(x))
    return linalg.adjoint(lower) if upper else lower


@operation
def cholesky_inverse(x: TensorLike, upper: bool = False) -> Tensor:
    """Return the inverse of the matrices whose Cholesky factors are `x`.

    Args:
        x: triangles, of shape (..., n, n), as `cholesky` returns them.
        upper: whether the triangles are upper triangles.
    """
    x = floating(x)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ShapeError(f"cholesky_inverse: expected square matrices, got {tuple(x.shape)}.")
    one = movement.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype.np), shape=tuple(x.shape))
    return linalg.cholesky_solve(linalg.adjoint(x) if upper else x, one)


def eig(x: TensorLike) -> tuple[Tensor, Tensor]:
    """Return the eigenvalues and the eigenvectors (in columns) of square matrices, both complex."""
    return linalg.eig(floating(x))


def eigh(x: TensorLike) -> tuple[Tensor, Tensor]:
    """Return the eigenvalues, ascending, and the eigenvectors (in columns) of Hermitian matrices.

    Only the lower triangle is read.
    """
    return linalg.eigh(floating(x))


def qr(x: TensorLike, mode: Any = "reduced") -> tuple[Tensor, Tensor]:
    """Return q with orthonormal columns and an upper triangle r, q @ r = x.

    Args:
        x: matrices, of shape (..., m, n).
        mode: "reduced" for a q of min(m, n) columns, "complete" for a square q.
    """
    if mode not in ("reduced", "complete"):
        raise InvalidArgumentError(f"qr: `mode` must be 'reduced' or 'complete', got {mode!r}.")
    q, r = linalg.qr(floating(x), full_matrices=mode == "complete")
    return q, r


@operation
def lu_factor(x: TensorLike) -> tuple[Tensor, Tensor]:
    """Return the triangular factors l and u of matrices, and the exchanges of their rows.

    Args:
        x: matrices, of shape (..., m, n).

    Returns:
        A tensor of the shape of `x`, with u on and above the diagonal and l, whose diagonal is 1,
        below it; and int32 pivots of shape (..., min(m, n)): step i exchanges row i with row
        pivots[i].

    Example:
        >>> from framework import keras
        >>> lu, pivots = keras.ops.lu_factor([[1.0, 2.0], [2.0, 8.0]])
        >>> lu.numpy().tolist(), pivots.numpy().tolist()
        ([[2.0, 8.0], [0.5, -2.0]], [1, 1])
    """
    packed, _, pivots = linalg.exchanged_factors(floating(x), "lu_factor")
    return packed, pivots


@operation
def svd(x: TensorLike, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """Return (u, s, vh) with x = u @ diag(s) @ vh and s descending; or s alone.

    Args:
        x: matrices, of shape (..., m, n).
        full_matrices: return square u and vh; otherwise u has min(m, n) columns, and vh as many
            rows.
        compute_uv: return u and vh, too. Vectors of equal singular values have no derivative.
    """
    x = floating(x)
    if not compute_uv:
        return linalg.svd(x, compute_uv=False)
    s, u, v = linalg.svd(x, full_matrices=full_matrices)
    return u, s, linalg.adjoint(v)


# ---- linear systems and inverses -----------------------------------------------------------------


def inv(x: TensorLike) -> Tensor:
    """Invert square matrices.

    Raises:
        InvalidArgumentError: a matrix is not invertible.
    """
    return linalg.inv(floating(x))


def pinv(x: TensorLike, rcond: Any = None) -> Tensor:
    """Return the Moore-Penrose pseudo-inverse.

    Args:
        x: matrices, of shape (..., m, n).
        rcond: singular values up to `rcond` times the largest are taken as 0; by default 10 times
            the larger side times the dtype's epsilon.
    """
    return linalg.pinv(floating(x), rcond)


def _with_columns(b):
    """Return `b` as a matrix (a vector becomes one column), and whether it was a vector."""
    return (movement.reshape(b, shape=(-1, 1)), True) if b.ndim == 1 else (b, False)


@operation
def solve(a: TensorLike, b: TensorLike) -> Tensor:
    """Return the solution x of a @ x = b.

    Args:
        a: square matrices, of shape (..., n, n).
        b: a vector (n,), or matrices (..., n, k).

    Raises:
        InvalidArgumentError: a matrix is not invertible.
    """
    a, b = promoted_floats(a, b)
    b, is_vector = _with_columns(b)
    x = linalg.solve(a, b)
    return x[..., 0] if is_vector else x


@operation
def solve_triangular(a: TensorLike, b: TensorLike, lower: bool = False) -> Tensor:
    """Return the solution x of a @ x = b, reading only one triangle of `a`.

    Args:
        a: square matrices, of shape (..., n, n).
        b: a vector (n,), or matrices (..., n, k).
        lower: read the lower triangle, else the upper.
    """
    a, b = promoted_floats(a, b)
    b, is_vector = _with_columns(b)
    x = linalg.triangular_solve(a, b, lower=bool(lower))
    return x[..., 0] if is_vector else x


@operation
def lstsq(a: TensorLike, b: TensorLike, rcond: Any = None) -> Tensor:
    """Return the x of the least norm that minimizes |a @ x - b|².

    Args:
        a: a matrix, of shape (m, n).
        b: a vector (m,), or a matrix (m, k).
        rcond: singular values up to `rcond` times the largest are taken as 0; by default the
            larger side times the dtype's epsilon.
    """
    a, b = promoted_floats(a, b)
    if a.ndim != 2 or b.ndim not in (1, 2):
        raise ShapeError(
            f"lstsq: expected a matrix and a vector or matrix, got shapes {tuple(a.shape)}, "
            f"{tuple(b.shape)}."
        )
    b, is_vector = _with_columns(b)
    smallest = max(a.shape) * float(np.finfo(a.dtype.np).eps) if rcond is None else rcond
    x = arrays.matmul(linalg.pinv(a, smallest), b)
    return x[..., 0] if is_vector else x


# ---- determinants, rank, norms -------------------------------------------------------------------


def det(x: TensorLike) -> Tensor:
    """Return the determinants of square matrices."""
    return linalg.det(floating(x))


def logdet(x: TensorLike) -> Tensor:
    """Return log(|det|) of square matrices."""
    return linalg.slogdet(floating(x))[1]


def matrix_rank(x: TensorLike, tol: Any = None) -> Tensor:
    """Return the number of singular values above `tol`, int32.

    Args:
        x: matrices, of shape (..., m, n).
        tol: by default the largest singular value times the larger side times epsilon.
    """
    return linalg.matrix_rank(floating(x), tol)


@operation
def norm(x: TensorLike, ord: Any = None, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the norm of vectors along one axis, or of matrices along two.

    Args:
        x: a tensor.
        ord: for vectors: a number p for (sum of |x|^p)^(1/p), inf or -inf for the largest or the
            smallest |x|, 0 for the number of elements that are not 0; by default 2. For matrices:
            "fro" (the default), "nuc" for the sum of the singular values, 2 or -2 for the largest
            or the smallest of them, 1 or -1 for the largest or the smallest column sum of |x|, inf
            or -inf for row sums.
        axis: an axis or two; None for the norm of the flattened tensor without `ord`, else for all
            axes of `x`.
        keepdims: keep the reduced axes with size 1.

    >>> from framework import keras
    >>> keras.ops.norm([[3.0, 4.0], [0.0, -1.0]], axis=1).numpy()
    array([5., 1.], dtype=float32)
    """
    x = floating(x)
    if axis is None and ord is None:
        return _root(x, all_axes(None, x.ndim, "norm"), keepdims)
    axes = tuple(
        one_axis(a, x.ndim, "norm") for a in ints(tuple(range(x.ndim)) if axis is None else axis)
    )
    if len(axes) == 1:
        return _vector_norm(x, ord, axes, keepdims)
    if len(axes) != 2 or axes[0] == axes[1]:
        raise InvalidArgumentError(
            f"norm: expected one axis or two different ones, got {axis!r} for shape "
            f"{tuple(x.shape)}."
        )
    return _matrix_norm(x, ord, axes, keepdims)


def _root(x, axes, keepdims):
    squares = squared_size(x) if is_complex(x) else elementwise.square(x)
    return elementwise.root(reduction.sum(squares, axes, keepdims))


def _vector_norm(x, ord, axes, keepdims):
    if ord is None or ord == 2:
        return _root(x, axes, keepdims)
    if isinstance(ord, str):
        raise InvalidArgumentError(f"norm: `ord` of vectors must be a number, got {ord!r}.")
    size = elementwise.absolute(x)
    if ord in (math.inf, -math.inf):
        extreme = reduction.max if ord > 0 else reduction.min
        return extreme(size, axes, keepdims)
    if ord == 0:
        there = as_dtype(elementwise.not_equal(size, 0), size.dtype)
        return reduction.sum(there, axes, keepdims)
    if ord == 1:
        return reduction.sum(size, axes, keepdims)
    total = reduction.sum(elementwise.power(size, as_dtype(ord, size.dtype)), axes, keepdims)
    return elementwise.power(total, as_dtype(1 / ord, size.dtype))


_MATRIX_NORMS = "'fro', 'nuc', 1, -1, 2, -2, inf or -inf"


def _matrix_norm(x, ord, axes, keepdims):
    if ord in (None, "fro"):
        return _root(x, axes, keepdims)
    if ord in (1, -1, math.inf, -math.inf):
        first, second = axes if abs(ord) == 1 else axes[::-1]
        sums = reduction.sum(elementwise.absolute(x), first, True)
        found = (reduction.max if ord > 0 else reduction.min)(sums, second, True)
    elif ord in (2, -2, "nuc"):
        values = linalg.svd(arrays.moveaxis(x, axes, (-2, -1)), compute_uv=False)
        reduce = {2: reduction.max, -2: reduction.min, "nuc": reduction.sum}[ord]
        found = arrays.expand_dims(reduce(values, -1), sorted(axes))
    else:
        raise InvalidArgumentError(f"norm: `ord` of matrices must be {_MATRIX_NORMS}, got {ord!r}.")
    return found if keepdims else arrays.squeeze(found, axes)
