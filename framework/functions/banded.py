"""Tridiagonal and banded matrices: products and linear systems, without storing the zeros.

The last axes are the matrix, leading axes a batch. Every function is differentiable.
"""

from typing import Any

from framework.core.argument_types import TensorLike
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.promotion import floating, strict_all
from framework.core.tensor import Tensor
from framework.ops import banded as ops
from framework.ops import elementwise, linalg, movement
from framework.ops.complex import conjugated

_FORMATS = ("compact", "sequence", "matrix")


def _diagonals(diagonals, diagonals_format, what):
    """Return the superdiagonal, the main diagonal and the subdiagonal, in shape (..., 3, n)."""
    if diagonals_format not in _FORMATS:
        raise InvalidArgumentError(
            f"{what}: `diagonals_format` must be one of {_FORMATS}, got {diagonals_format!r}."
        )
    if diagonals_format == "sequence":
        return _of_sequence(diagonals, what)
    x = floating(diagonals, what)
    if diagonals_format == "compact":
        if x.ndim < 2 or x.shape[-2] != 3:
            raise ShapeError(
                f"{what}: `diagonals` in the compact format must have shape (..., 3, n), got "
                f"{x.shape}."
            )
        return x
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ShapeError(f"{what}: `diagonals` in the matrix format must be square, got {x.shape}.")
    above = linalg.diagonal(movement.getitem(x, index=(Ellipsis, slice(None), slice(1, None))))
    below = linalg.diagonal(movement.getitem(x, index=(Ellipsis, slice(1, None), slice(None))))
    widths = ((0, 0),) * (above.ndim - 1)
    return ops.stacked([
        movement.pad(above, widths=(*widths, (0, 1))), linalg.diagonal(x),
        movement.pad(below, widths=(*widths, (1, 0))),
    ])  # fmt: skip


def _of_sequence(diagonals, what):
    if len(diagonals) != 3:
        raise ShapeError(f"{what}: `diagonals` must be three tensors, got {len(diagonals)}.")
    above, on, below = (floating(d, what) for d in strict_all(*diagonals))
    n = on.shape[-1]
    widths = ((0, 0),) * (on.ndim - 1)
    if above.shape[-1] == n - 1:
        above = movement.pad(above, widths=(*widths, (0, 1)))
    if below.shape[-1] == n - 1:
        below = movement.pad(below, widths=(*widths, (1, 0)))
    if not above.shape == on.shape == below.shape:
        raise ShapeError(
            f"{what}: the three `diagonals` must have the same shape, got {above.shape}, "
            f"{on.shape} and {below.shape}."
        )
    return ops.stacked([above, on, below])


def _operands(diagonals, rhs, diagonals_format, what):
    x = _diagonals(diagonals, diagonals_format, what)
    x, rhs = strict_all(x, rhs)
    return x, floating(rhs, what)


def _check_rows(x, rhs, what):
    if rhs.ndim < 2 or rhs.shape[-2] != x.shape[-1]:
        raise ShapeError(
            f"{what}: expected right-hand sides of {x.shape[-1]} rows for matrices of "
            f"{x.shape[-1]} columns, got shape {rhs.shape}."
        )


@operation
def tridiagonal_matmul(
    diagonals: Any, rhs: TensorLike, diagonals_format: Any = "compact", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the product of tridiagonal matrices and `rhs`.

    Args:
        diagonals: depends on the format. "compact": a tensor of shape (..., 3, n) that holds the
            superdiagonal, the main diagonal and the subdiagonal; column i has the elements of the
            matrix's row i, and elements outside of the matrix are ignored. "sequence": a list of
            these three diagonals. "matrix": matrices (..., n, n); other elements are ignored.
        rhs: of shape (..., n, columns).
        diagonals_format: "compact", "sequence" or "matrix".

    >>> import framework as tf
    >>> diagonals = [[1.0, 1.0, 0.0], [2.0, 2.0, 2.0], [0.0, 3.0, 3.0]]
    >>> tf.linalg.tridiagonal_matmul(diagonals, [[1.0], [1.0], [1.0]]).numpy().ravel()
    array([3., 6., 5.], dtype=float32)
    """
    what = "tridiagonal_matmul"
    x, rhs = _operands(diagonals, rhs, diagonals_format, what)
    _check_rows(x, rhs, what)
    above, on, below = (movement.expand_axes(b, (b.ndim,)) for b in ops.rows_of(x))
    upper = elementwise.multiply(above, ops.moved(rhs, -1, -2))
    lower = elementwise.multiply(below, ops.moved(rhs, 1, -2))
    return elementwise.multiply(on, rhs) + upper + lower


@operation
def tridiagonal_solve(
    diagonals: Any, rhs: TensorLike, diagonals_format: Any = "compact",
    transpose_rhs: bool = False, conjugate_rhs: bool = False, name: str | None = None,
    partial_pivoting: bool = True, perturb_singular: bool = False,
) -> Tensor:  # fmt: skip
    """Solve tridiagonal systems in linear time.

    Args:
        diagonals, diagonals_format: as in `tridiagonal_matmul`.
        rhs: of shape (..., n) or (..., n, columns).
        transpose_rhs: whether `rhs` is of shape (..., columns, n).
        conjugate_rhs: whether to conjugate `rhs` first.
        partial_pivoting: ignored; partial pivoting is always used.
        perturb_singular: must be False; True is not supported.

    Returns:
        The solutions, in the shape of the right-hand sides; inf or NaN for a singular matrix.

    >>> import framework as tf
    >>> diagonals = [[1.0, 1.0, 0.0], [2.0, 2.0, 2.0], [0.0, 3.0, 3.0]]
    >>> tf.linalg.tridiagonal_solve(diagonals, [3.0, 6.0, 5.0]).numpy().round(5)
    array([1., 1., 1.], dtype=float32)
    """
    what = "tridiagonal_solve"
    if perturb_singular:
        raise InvalidArgumentError(f"{what}: perturb_singular=True is not supported; use False.")
    x, rhs = _operands(diagonals, rhs, diagonals_format, what)
    vector = rhs.ndim == x.ndim - 1
    if vector:
        rhs = movement.expand_axes(rhs, (rhs.ndim,))
    elif transpose_rhs:
        rhs = linalg.matrix_transpose(rhs)
    _check_rows(x, rhs, what)
    y = ops.tridiagonal_solve(x, conjugated(rhs) if conjugate_rhs else rhs)
    return movement.getitem(y, index=(Ellipsis, 0)) if vector else y


@operation
def banded_triangular_solve(
    bands: TensorLike, rhs: TensorLike, lower: bool = True, adjoint: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Solve systems of triangular matrices that are 0 outside `bands`, by substitution.

    Args:
        bands: of shape (..., k, n); column i holds the elements of the matrix's row i. For a lower
            triangle the first band is the diagonal, the next bands are below it, padded on the
            left; for an upper triangle the last band is the diagonal, the bands before are above
            it, padded on the right.
        rhs: of shape (..., n, columns).
        lower: whether the matrix is a lower triangle.
        adjoint: solve with the adjoint of the matrix.

    >>> import framework as tf
    >>> bands = [[2.0, 2.0, 2.0], [0.0, 1.0, 1.0]]
    >>> tf.linalg.banded_triangular_solve(bands, [[2.0], [3.0], [3.0]]).numpy().ravel()
    array([1., 1., 1.], dtype=float32)
    """
    what = "banded_triangular_solve"
    bands, rhs = strict_all(tensor(bands), rhs)
    bands, rhs = floating(bands, what), floating(rhs, what)
    if bands.ndim < 2 or not 0 < bands.shape[-2] <= bands.shape[-1]:
        raise ShapeError(
            f"{what}: `bands` must have shape (..., k, n) with k from 1 to n, got {bands.shape}."
        )
    _check_rows(bands, rhs, what)
    if lower:
        if adjoint:
            return ops.upper_solve(conjugated(ops.turned(bands)), rhs)
        return ops.banded_solve(bands, rhs)
    bands = movement.flip(bands, axis=(bands.ndim - 2,))
    if adjoint:  # transposition moves band k down by k rows
        rows = [ops.moved(b, k, -1) for k, b in enumerate(ops.rows_of(bands))]
        return ops.banded_solve(conjugated(ops.stacked(rows)), rhs)
    return ops.upper_solve(bands, rhs)
