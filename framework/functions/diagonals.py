"""Matrices made of diagonals, and the diagonals and bands of matrices."""

import numpy as np

from framework.core.doors import strict, strict_all, tensor
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.functions.creation import sizes
from framework.ops import elementwise, movement

_ALIGNMENTS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


@operation
def band_part(input, num_lower, num_upper, name=None):
    """The matrix with zeros outside a band around its diagonal.

    Args:
        input: matrices.
        num_lower, num_upper: how many diagonals below and above to keep; negative for all.

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
            f"band_part: num_lower={lower}, num_upper={upper} go beyond the shape {x.shape}."
        )
    kept = np.ones((rows, columns), bool)
    if lower >= 0:
        kept &= ~np.tri(rows, columns, -lower - 1, dtype=bool)
    if upper >= 0:
        kept &= np.tri(rows, columns, upper, dtype=bool)
    return elementwise.masked(x, kept)


def _matrices(x, what):
    if x.ndim < 2:
        raise ShapeError(f"{what}: needs matrices, rank 2 or more, got shape {x.shape}.")
    return x


# ---- one diagonal, or several side by side -------------------------------------------------------


@operation
def diag(
    diagonal, name="diag", k=0, num_rows=-1, num_cols=-1, padding_value=0, align="RIGHT_LEFT",
):  # fmt: skip
    """Matrices with the given diagonals.

    Args:
        diagonal: of shape (..., length), or (..., number of diagonals, length), the highest first.
        k: which diagonal, 0 the main one, positive above it; or a pair, the lowest and the highest.
        num_rows, num_cols: of the result; -1 for as few as hold the diagonals.
        padding_value: what stands elsewhere.
        align: where in their rows of `diagonal` shorter ones stand, those above and those below
            the main one: "RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT" or "RIGHT_RIGHT".

    >>> import framework as tf
    >>> tf.linalg.diag([1, 2], k=1).numpy()
    array([[0, 1, 0],
           [0, 0, 2],
           [0, 0, 0]], dtype=int32)
    """
    x = tensor(diagonal)
    low, high = _band(k, "diag")
    if x.ndim < (1 if low == high else 2):
        raise ShapeError(f"diag: a `diagonal` of shape {x.shape} for k={k!r}.")
    rows, columns = _extent(x.shape[-1], low, high, int(num_rows), int(num_cols))
    made, on = _placed(x, rows, columns, (low, high), align, "diag")
    value, made = strict(padding_value, made)
    return elementwise.select(on, made, value)


def _extent(length, low, high, rows, columns):
    """The size of the matrices."""
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
def diag_part(input, name="diag_part", k=0, padding_value=0, align="RIGHT_LEFT"):
    """The diagonals of matrices.

    Args:
        input: matrices.
        k: which diagonal, 0 the main one, positive above it; or a pair, the lowest and the highest:
            the result then has one row for each, the highest first.
        padding_value: what fills the rows of shorter ones.
        align: where in their rows shorter ones stand, see `diag`.

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
    value, found = strict(padding_value, found)
    return elementwise.select(there, found, value)


@operation
def set_diag(input, diagonal, name="set_diag", k=0, align="RIGHT_LEFT"):
    """Matrices with other diagonals.

    Args:
        input: matrices.
        diagonal: the diagonals, in the form `diag_part` gives them.
        k, align: as in `diag_part`.
    """
    x, new = strict_all(input, diagonal)
    x = _matrices(x, "set_diag")
    made, on = _placed(new, *x.shape[-2:], _band(k, "set_diag"), align, "set_diag")
    if made.shape != x.shape:
        raise ShapeError(
            f"set_diag: a `diagonal` of shape {new.shape} does not fit matrices of {x.shape}."
        )
    return elementwise.select(on, made, x)


def _band(k, what):
    """The lowest and the highest diagonal."""
    found = sizes(k, what) if hasattr(k, "__len__") or hasattr(k, "shape") else (int(k),)
    low, high = (found[0], found[-1]) if len(found) in (1, 2) else (1, 0)
    if low > high:
        raise InvalidArgumentError(
            f"{what}: k must be an int or a pair (lowest, highest), got {k!r}."
        )
    return low, high


def _places(rows, columns, band, align, what):
    """Rows and columns of the elements of each diagonal, highest first, and where there are any.

    Three arrays of shape (diagonals, length of the longest).
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
    left = np.where(k >= 0, above, below)  # the main one is as long as the longest
    along = np.arange(longest) - np.where(left, 0, longest - lengths)
    there = (along >= 0) & (along < lengths)
    along = np.where(there, along, 0)
    return along - np.minimum(k, 0), along + np.maximum(k, 0), there


def _placed(x, rows, columns, band, align, what):
    """Matrices with the diagonals `x` and zeros elsewhere, and where the diagonals are."""
    row, column, there = _places(rows, columns, band, align, what)
    if band[0] == band[1]:
        x = movement.expand_axes(x, (x.ndim - 1,))
    if tuple(x.shape[-2:]) != there.shape:
        raise ShapeError(
            f"{what}: diagonals of shape {x.shape}; expected {there.shape} at its end for matrices "
            f"of {rows} rows and {columns} columns."
        )
    values = movement.getitem(x, index=(Ellipsis, *np.nonzero(there)))
    places = (row[there], column[there])
    shape = (*x.shape[:-2], rows, columns)
    on = np.zeros((rows, columns), bool)
    on[places] = True
    return movement.put(values, shape=shape, index=(Ellipsis, *places)), on


# ---- tensors -------------------------------------------------------------------------------------


@operation
def tensor_diag(diagonal, name=None):
    """A tensor of twice the rank, zero but where both halves of the index are equal.

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
def tensor_diag_part(input, name=None):
    """The elements at which both halves of the index are equal: the inverse of `tensor_diag`."""
    x = tensor(input)
    half = x.ndim // 2
    shape = tuple(x.shape[:half])
    if x.ndim % 2 or not half or tuple(x.shape[half:]) != shape:
        raise ShapeError(
            f"tensor_diag_part: both halves of the shape must be equal, got {x.shape}."
        )
    n = int(np.prod(shape))
    return movement.reshape(diag_part(movement.reshape(x, shape=(n, n))), shape=shape)
