"""Banded linear systems: triangular and tridiagonal ones.

An upper triangular system is flipped into a lower one, which the kernel solves.
"""

from framework.core.op import Op
from framework.kernels import banded as kernels
from framework.ops.elementwise import negative
from framework.ops.linalg import _solve_infer
from framework.ops.movement import flip, getitem, pad, stack
from framework.ops.reduction import reduce_sum


def moved(x, steps, axis):
    """Return `x` shifted by `steps` along a negative axis; the vacated positions are 0."""
    rank = len(x.shape)
    if not steps:
        return x
    index, widths = [slice(None)] * rank, [(0, 0)] * rank
    size = x.shape[axis]
    if abs(steps) >= size:
        return x * 0
    index[axis] = slice(0, size - steps) if steps > 0 else slice(-steps, None)
    widths[axis] = (steps, 0) if steps > 0 else (0, -steps)
    return pad(getitem(x, index=tuple(index)), widths=tuple(widths))


def rows_of(bands):
    """Return the rows of an array of bands as a list of arrays."""
    return [getitem(bands, index=(Ellipsis, k, slice(None))) for k in range(bands.shape[-2])]


def stacked(bands):
    """Return an array of bands from a list of bands, the inverse of `rows_of`."""
    return stack(*bands, axis=len(bands[0].shape) - 1)


def _products(g, y, shifts):
    """Return the cotangents of the bands: -sum(g * moved(y, shift)) over columns, per shift."""
    last = (len(y.shape) - 1,)
    each = [reduce_sum(g * moved(y, s, -2), axis=last, keepdims=False) for s in shifts]
    return negative(stacked(each))


# ---- triangular systems --------------------------------------------------------------------------


def upper_solve(bands, rhs):
    """Solve A x = rhs for an upper triangular A; bands[..., d, i] is A[i, i + d]."""
    rank, columns = len(bands.shape), len(rhs.shape)
    x = banded_solve(flip(bands, axis=(rank - 1,)), flip(rhs, axis=(columns - 2,)))
    return flip(x, axis=(len(x.shape) - 2,))


def turned(bands):
    """Return the bands of a lower triangular matrix's transpose, in the layout of `upper_solve`."""
    return stacked([moved(b, -k, -1) for k, b in enumerate(rows_of(bands))])


def _banded_by_bands(g, y, bands):
    solved = upper_solve(turned(bands), g)
    return _products(solved, y, range(bands.shape[-2]))


# `banded_solve` solves a lower triangular system: bands[..., d] is its d-th diagonal below the main
# diagonal.
banded_solve = Op(
    "banded_solve", kernels.banded_solve, _banded_by_bands,
    lambda g, bands: upper_solve(turned(bands), g), broadcasts=True, infer=_solve_infer,
    inputs=("bands", "rhs"),
)  # fmt: skip


# ---- tridiagonal systems -------------------------------------------------------------------------


def transposed(diagonals):
    """Return the diagonals of a tridiagonal matrix's transpose."""
    above, on, below = rows_of(diagonals)
    return stacked([moved(below, -1, -1), on, moved(above, 1, -1)])


def _tridiagonal_by_diagonals(g, y, diagonals):
    solved = tridiagonal_solve(transposed(diagonals), g)
    return _products(solved, y, (-1, 0, 1))


tridiagonal_solve = Op(
    "tridiagonal_solve", kernels.tridiagonal_solve, _tridiagonal_by_diagonals,
    lambda g, diagonals: tridiagonal_solve(transposed(diagonals), g), broadcasts=True,
    infer=_solve_infer, inputs=("diagonals", "rhs"),
)  # fmt: skip
