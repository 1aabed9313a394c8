"""Split a block of CSV lines into fields and compute their numbers, in one pass over the bytes."""

import numpy as np

from framework.kernels.csv_fields import (
    BAD,
    INTEGER,
    MINUS,
    MOST_DIGITS,
    NEWLINE,
    PLUS,
    POINT,
    POWERS,
    REAL,
    ZERO,
)
from framework.kernels.fast.jit import kernel

# Indices are unsigned: for a signed index, Numba would check at each access whether it is negative.
_index = np.uint64
_ONE = _index(1)


# fastmath is off, because only the exact quotient is the float64 nearest to the text.
@kernel(fastmath=False)
def parse(data, delimiter, values, kinds, starts, ends):
    """Parse all lines; return their number, or -1 if a line has another number of fields.

    Args:
        data: a uint8 array that ends with a newline.
        delimiter: an int, the byte of a character that does not occur in numbers.
        values, kinds, starts, ends: the output arrays, (columns, most lines): a field's number (0
            if BAD); BAD (not a number), INTEGER or REAL; the index of its first byte; the index
            after its last.
    """
    columns, row, at = values.shape[0], 0, _index(0)
    while at < _index(data.size):
        for column in range(columns):
            start = at
            minus = data[at] == MINUS
            if minus or data[at] == PLUS:
                at += _ONE
            at, whole, digits = _digits(data, at, _index(0))
            kind, places = INTEGER, _index(0)
            if data[at] == POINT:
                at, whole, places = _digits(data, at + _ONE, whole)
                kind, digits = REAL, digits + places
            good = _index(0) < digits <= _index(MOST_DIGITS)
            while data[at] != delimiter and data[at] != NEWLINE:
                good, at = False, at + _ONE
            if (data[at] == NEWLINE) != (column == columns - 1):
                return -1
            value = np.float64(np.int64(whole)) if good else 0.0
            if good and places:
                value = value / POWERS[places]
            values[column, row] = -value if minus and good else value
            kinds[column, row] = kind if good else BAD
            starts[column, row], ends[column, row] = start, at
            at += _ONE
        row += 1
    return row


@kernel(fastmath=False, forceinline=True)
def _digits(data, at, whole):
    """Append the digits from `at` on to the integer `whole`.

    Returns:
        The position after the digits, the integer, and the number of digits. With more than
        `MOST_DIGITS` digits, the integer is wrong.
    """
    first = at
    digit = np.uint8(data[at] - ZERO)
    while digit < 10:
        whole = whole * _index(10) + _index(digit)
        at += _ONE
        digit = np.uint8(data[at] - ZERO)
    return at, whole, at - first


def warm():
    """Compile `parse` ahead of time, by a call on a tiny input."""
    data, shape = np.frombuffer(b"1\n", np.uint8), (1, 1)
    places = np.empty(shape, np.intp)
    parse(data, 44, np.empty(shape), np.empty(shape, np.uint8), places, places.copy())
