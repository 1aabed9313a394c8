"""Building matrices from diagonals, and reading diagonals and bands of matrices."""

from typing import Any

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.promotion import strict, strict_all
from framework.core.tensor import Tensor
from framework.functions.creation import sizes
from framework.ops import elementwise, movement

_ALIGNMENTS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


@operation
def band_part(input: TensorLike, num_lower: Any, num_upper: Any, name: str | None = None) -> Tensor:
    """Set elements outside a band around the diagonal to zero.

    Args:
        input: matrices.
        num_lower, num_upper: the number of diagonals to keep below and above; negative for all.

    >>> import framework as tf
    >>> tf.linalg.band_part([[1, 2], [3, 4]], -1, 0).numpy()
    array([[1, 0],
           [3, 4]], dtype=int32)
    """
    x = _matrices(tensor(input), "band_part")
    rows, columns = x.shape[-2:]
    lower, upper = int(num_lower), int(num_upper)
    if lower > rows or upper > columns:
        raise InvalidArgumentError(
            f"band_part: num_lower={lower}, num_upper={upper} exceed the shape {x.shape}."
        )
    kept = np.ones((rows, columns), bool)
    if lower >= 0:
        kept &= ~np.tri(rows, columns, -lower - 1, dtype=bool)
    if upper >= 0:
        kept &= np.tri(rows, columns, upper, dtype=bool)
    return elementwise.masked(x, kept)


def _matrices(x, what):
    if x.ndim < 2:
        raise ShapeError(f"{what}: expected matrices, rank 2 or more, got shape {x.shape}.")
    return x


# ---- one diagonal, or several side by side -------------------------------------------------------


@operation
def diag(
    diagonal: TensorLike, name: str | None = "diag", k: TensorLike = 0, num_rows: Any = -1,
    num_cols: Any = -1, padding_value: Any = 0, align: Any = "RIGHT_LEFT",
) -> Tensor:  # fmt: skip
    """Return matrices with the elements of `diagonal` on one or several diagonals.

    Args:
        diagonal: of shape (..., length), or (..., number of diagonals, length), the highest first.
        k: the diagonal, 0 the main one, positive above it; or a pair (lowest, highest).
        num_rows, num_cols: the size of the matrix; -1 for the smallest size that fits the
            diagonals.
        padding_value: the value of the other elements.
        align: "RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT" or "RIGHT_RIGHT": how superdiagonals, and
            how subdiagonals, are aligned in the rows of `diagonal` if they are shorter.

    >>> import framework as tf
    >>> tf.linalg.diag([1, 2], k=1).numpy()
    array([[0, 1, 0],
           [0, 0, 2],
           [0, 0, 0]], dtype=int32)
    """
    x = tensor(diagonal)
    low, high = _band(k, "diag")
    if x.ndim < (1 if low == high else 2):
        raise ShapeError(f"diag: `diagonal` of shape {x.shape} does not fit k={k!r}.")
    rows, columns = _extent(x.shape[-1], low, high, int(num_rows), int(num_cols))
    made, on = _placed(x, rows, columns, (low, high), align, "diag")
    value, made = strict(_of(made, padding_value), made)
    return elementwise.select(on, made, value)


def _of(x, value):
    """Return the fill value for `x`; if `x` is boolean, an int such as 0 becomes a bool."""
    return bool(value) if x.dtype.is_bool and type(value) is int else value


def _extent(length, low, high, rows, columns):
    """Return the matrices' (rows, columns); -1 becomes the smallest size that fits."""
    least_rows, least_columns = length - min(high, 0), length + max(low, 0)
    if rows == columns == -1:
        rows = columns = max(least_rows, least_columns)
    rows = least_rows if rows == -1 else rows
    columns = least_columns if columns == -1 else columns
    if rows < least_rows or columns < least_columns:
        raise InvalidArgumentError(
            f"diag: diagonals of length {length} do not fit num_rows={rows}, num_cols={columns}."
        )
    return rows, columns


@operation
def diag_part(
    input: TensorLike, name: str | None = "diag_part", k: TensorLike = 0, padding_value: Any = 0,
    align: Any = "RIGHT_LEFT",
) -> Tensor:  # fmt: skip
    """Return diagonals of matrices.

    Args:
        input: matrices.
        k: the diagonal, 0 the main one, positive above it; or a pair (lowest, highest): the result
            then has one row per diagonal, the highest first.
        padding_value: the value that pads shorter diagonals to the length of the longest.
        align: how shorter diagonals are aligned in their rows, see `diag`.

    >>> import framework as tf
    >>> tf.linalg.diag_part([[1, 2], [3, 4]]).numpy()
    array([1, 4], dtype=int32)
    """
    x = _matrices(tensor(input), "diag_part")
    low, high = _band(k, "diag_part")
    row, column, there = _places(*x.shape[-2:], (low, high), align, "diag_part")
    if low == high:
        return movement.getitem(x, index=(Ellipsis, row[0], column[0]))
    found = movement.getitem(x, index=(Ellipsis, row, column))
    value, found = strict(_of(found, padding_value), found)
    return elementwise.select(there, found, value)


@operation
def set_diag(
    input: TensorLike, diagonal: TensorLike, name: str | None = "set_diag", k: TensorLike = 0,
    align: Any = "RIGHT_LEFT",
) -> Tensor:  # fmt: skip
    """Replace diagonals of matrices.

    Args:
        input: matrices.
        diagonal: the new diagonals, in the layout of the result of `diag_part`.
        k, align: as in `diag_part`.
    """
    x, new = strict_all(input, diagonal)
    x = _matrices(x, "set_diag")
    made, on = _placed(new, *x.shape[-2:], _band(k, "set_diag"), align, "set_diag")
    if made.shape != x.shape:
        raise ShapeError(
            f"set_diag: `diagonal` of shape {new.shape} does not fit matrices of shape {x.shape}."
        )
    return elementwise.select(on, made, x)


def _band(k, what):
    """Return the offsets (lowest, highest) of diagonals for `k`, an int or a pair."""
    found = sizes(k, what) if hasattr(k, "__len__") or hasattr(k, "shape") else (int(k),)
    low, high = (found[0], found[-1]) if len(found) in (1, 2) else (1, 0)
    if low > high:
        raise InvalidArgumentError(
            f"{what}: k must be an int or a pair (lowest, highest), got {k!r}."
        )
    return low, high


def _places(rows, columns, band, align, what):
    """Return row indices, column indices and a mask for the elements of the diagonals.

    The arrays have shape (diagonals, length of the longest), the highest diagonal first; the mask
    is False where a shorter diagonal is padded.
    """
    if align not in _ALIGNMENTS:
        raise InvalidArgumentError(f"{what}: `align` must be one of {_ALIGNMENTS}, got {align!r}.")
    low, high = band
    if (low <= -rows and low) or (high >= columns and high):
        raise InvalidArgumentError(
            f"{what}: there is no diagonal k={low if low <= -rows else high} in matrices of "
            f"{rows} rows and {columns} columns."
        )
    k = np.arange(high, low - 1, -1)[:, None]
    lengths = np.minimum(rows + np.minimum(k, 0), columns - np.maximum(k, 0))
    longest = max(int(lengths.max(initial=0)), 0)
    above, below = (side == "LEFT" for side in align.split("_"))
    # the main diagonal, k = 0, is never padded, so its alignment does not matter
    left = np.where(k >= 0, above, below)
    along = np.arange(longest) - np.where(left, 0, longest - lengths)
    there = (along >= 0) & (along < lengths)
    along = np.where(there, along, 0)
    return along - np.minimum(k, 0), along + np.maximum(k, 0), there


def _placed(x, rows, columns, band, align, what):
    """Return matrices with `x` on diagonals and zeros elsewhere, and a mask of the diagonals."""
    row, column, there = _places(rows, columns, band, align, what)
    if band[0] == band[1]:
        x = movement.expand_axes(x, (x.ndim - 1,))
    if tuple(x.shape[-2:]) != there.shape:
        raise ShapeError(
            f"{what}: expected diagonals whose shape ends in {there.shape} for matrices of {rows} "
            f"rows and {columns} columns, got shape {x.shape}."
        )
    values = movement.getitem(x, index=(Ellipsis, *np.nonzero(there)))
    places = (row[there], column[there])
    shape = (*x.shape[:-2], rows, columns)
    on = np.zeros((rows, columns), bool)
    on[places] = True
    return movement.put(values, shape=shape, index=(Ellipsis, *places)), on


# ---- tensors -------------------------------------------------------------------------------------


@operation
def tensor_diag(diagonal: TensorLike, name: str | None = None) -> Tensor:
    """Return a tensor of twice the rank: result[i, i] = diagonal[i] for index tuples i, else 0.

    >>> import framework as tf
    >>> tf.linalg.tensor_diag([1, 2]).numpy()
    array([[1, 0],
           [0, 2]], dtype=int32)
    """
    x = tensor(diagonal)
    shape = tuple(x.shape)
    flat = movement.reshape(x, shape=(x.array.size,))
    return movement.reshape(diag(flat), shape=shape + shape)


@operation
def tensor_diag_part(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the elements input[i, i] for index tuples i: the inverse of `tensor_diag`."""
    x = tensor(input)
    half = x.ndim // 2
    shape = tuple(x.shape[:half])
    if x.ndim % 2 or not half or tuple(x.shape[half:]) != shape:
        raise ShapeError(
            f"tensor_diag_part: both halves of the shape must be equal, got {x.shape}."
        )
    n = int(np.prod(shape))
    return movement.reshape(diag_part(movement.reshape(x, shape=(n, n))), shape=shape)
