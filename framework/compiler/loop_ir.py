"""What a loop over elements computes: its operands, steps, stores and sums."""

from typing import NamedTuple

import numpy as np

FULL, ROW, COLUMN, NUMBER = "full", "row", "column", "number"


class LoopOperand(NamedTuple):
    """What a loop reads.

    name: of the value.
    dtype: NumPy's.
    layout: FULL: of the results' shape. ROW: missing, or of size 1 in, the leading axes, so that
        the same values go with every row. COLUMN: of size 1 in the last axes: a value for each row.
        NUMBER: a 0-d array.
    ndim: how many dimensions the array has that is given.
    """

    name: str
    dtype: np.dtype
    layout: str
    ndim: int


class LoopConstant(NamedTuple):
    """An argument whose elements are all one number, which is written into the loop.

    dtype: NumPy's. layout: FULL or NUMBER, see `LoopOperand`.
    """

    number: float
    dtype: np.dtype
    layout: str


def full(name, dtype, ndim):
    """An operand of the results' shape."""
    return LoopOperand(name, np.dtype(dtype), FULL, ndim)


def row(name, dtype, ndim):
    """An operand that is the same in every row: of shape (c,), (1, c) ... beside (..., c)."""
    return LoopOperand(name, np.dtype(dtype), ROW, ndim)


def column(name, dtype, ndim):
    """An operand with a value for each row: of shape (r, 1) ... beside (r, ...)."""
    return LoopOperand(name, np.dtype(dtype), COLUMN, ndim)


def number(name, dtype):
    """An operand that is a 0-d array."""
    return LoopOperand(name, np.dtype(dtype), NUMBER, 0)


def layout_of(shape, result):
    """The layout of an operand of shape `shape` beside a result of shape `result`; None: no such.

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
    """A run of elementwise ops.

    operands: a list of `LoopOperand`.
    steps: a list of (name, op's name, arguments, attrs); an argument is the name of an operand or
        of an earlier step, a `LoopConstant`, or a Python number, which has the dtype of the others;
        `attrs` may be left out where there are none.
    stores: the steps whose values are kept, by name: None for a new array of `ndim` dimensions, or
        the operand whose array they are written into. A value that is the same along the rows
        (COLUMN) is stored to an array of a value for each row.
    sums: the values that are summed, by name: over "all", "leading" (one sum for each place in a
        row) or "last" (one for each row). The arrays for them have the dtype of the value.
    after: steps on numbers, computed once the sums are known; the sum over "all" of a value is
        named `sum_of(name)` there. What is stored of numbers goes to 0-d arrays.
    hidden: the values whose sum over "all" is for `after` only: there is no array for it.
    ndim: of the arrays of stores and, in this order, sums; one number for all, or a list.
    task: it is a task for the thread team (`kernels/fast/tasks.py`), not called with arrays. Its
        numbers are where the arrays lie, then those of `SIZES`. A part of it is computed where
        there are no sums, and some of its columns where there are "leading" ones only.
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
"""What a task is told of sizes: how many elements there are, how many in a row, and how many
elements, or, with ROW or COLUMN operands, rows, or, with sums of them, columns, a unit has."""


def sum_of(name):
    """The name of the sum of all elements of the value `name`."""
    return f"{name}.sum"
