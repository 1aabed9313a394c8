"""IR of a loop over elements: operands, steps, stores and sums."""

from typing import NamedTuple

import numpy as np

FULL, ROW, COLUMN, NUMBER = "full", "row", "column", "number"


class LoopOperand(NamedTuple):
    """An input of a loop.

    name: the name of the value.
    dtype: NumPy dtype.
    layout: FULL: the shape of the results. ROW: broadcast over the leading axes, the same in every
        row. COLUMN: size 1 in the last axes, one value per row. NUMBER: a 0-d array.
    ndim: the number of dimensions of the array in a call.
    """

    name: str
    dtype: np.dtype
    layout: str
    ndim: int


class LoopConstant(NamedTuple):
    """An argument whose elements all equal one number, which becomes a literal in the loop.

    dtype: NumPy dtype. layout: FULL or NUMBER, see `LoopOperand`.
    """

    number: float
    dtype: np.dtype
    layout: str


def full(name, dtype, ndim):
    """Return an operand with the shape of the results."""
    return LoopOperand(name, np.dtype(dtype), FULL, ndim)


def row(name, dtype, ndim):
    """Return an operand that repeats in every row: shape (c,) or (1, c), for results (..., c)."""
    return LoopOperand(name, np.dtype(dtype), ROW, ndim)


def column(name, dtype, ndim):
    """Return an operand with one value per row: shape (r, 1), for results of shape (r, ...)."""
    return LoopOperand(name, np.dtype(dtype), COLUMN, ndim)


def number(name, dtype):
    """Return an operand that is a 0-d array, the same number for all elements."""
    return LoopOperand(name, np.dtype(dtype), NUMBER, 0)


def layout_of(shape, result):
    """Return the layout of an operand of shape `shape` in a loop over shape `result`, or None.

    Example:
        >>> layout_of((3, 4), (3, 4)), layout_of((4,), (3, 4)), layout_of((3, 1), (3, 4))
        ('full', 'row', 'column')
        >>> layout_of((2, 1, 4), (2, 3, 4)) is None
        True
    """
    if shape == ():
        return NUMBER
    padded = (1,) * (len(result) - len(shape)) + shape
    if padded == result:
        return FULL
    for at in range(len(result) + 1):
        if padded[at:] == result[at:] and all(n == 1 for n in padded[:at]):
            return ROW
        if padded[:at] == result[:at] and all(n == 1 for n in padded[at:]):
            return COLUMN
    return None


class LoopProgram(NamedTuple):
    """A sequence of elementwise ops that one loop computes.

    operands: a list of `LoopOperand`.
    steps: a list of (name, op name, arguments) or (name, op name, arguments, attrs). An argument is
        the name of an operand or of an earlier step, a `LoopConstant`, or a Python number, which
        takes the dtype of the other arguments.
    stores: {name of a step: destination}. None is a new array of `ndim` dimensions; a name is the
        operand whose array is overwritten. A COLUMN value is stored to an array of one element per
        row.
    sums: {name of a value: axes}. "all" gives one sum, "leading" one per column, "last" one per
        row. The array of a sum has the dtype of the value.
    after: scalar steps, computed once the sums are known; `sum_of(name)` is the name of a sum over
        "all". Scalars are stored to 0-d arrays.
    hidden: the values whose sum over "all" is read only by `after`; such a sum gets no array.
    ndim: the number of dimensions of the arrays of stores, then of sums: an int for all, or a list.
    task: whether the loop is a task of the thread team (`kernels/fast/tasks.py`) instead of a
        function of arrays. Its arguments are the addresses of the arrays, then the sizes `SIZES`.
        Chunks of it are elements or rows if there are no sums, and columns if all are "leading".
    """

    operands: list
    steps: list
    stores: dict
    sums: dict = {}  # noqa: RUF012 (never changed)
    ndim: int | list = 1
    task: bool = False
    after: list = []  # noqa: RUF012 (never changed)
    hidden: frozenset = frozenset()


SIZES = ("n", "columns", "unit")
"""Sizes that a task receives: the elements, the elements per row, and the size of a work item: in
elements, in rows if there are ROW or COLUMN operands, or in columns if these are summed."""


def sum_of(name):
    """Return the name of the sum over all elements of the value `name`."""
    return f"{name}.sum"
