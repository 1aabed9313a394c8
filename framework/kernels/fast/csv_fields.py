"""Split a block of CSV lines into fields and compute their numbers, in one pass over the bytes."""

import numpy as np

from framework.kernels.csv_fields import (
    BAD,
    INTEGER,
    LONGEST,
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


# fastmath is off, because only the exact quotient is the float64 nearest to the text.
@kernel(fastmath=False)
def parse(data, delimiter, values, kinds, starts, ends):
    """Return the number of lines, or -1 if their numbers of fields differ.

    Args:
        data: a uint8 array that ends with a newline.
        delimiter: an int.
        values, kinds, starts, ends: written; (columns, lines at most): the number of a field (0 if
            it is none), BAD, INTEGER or REAL, and the positions of its first byte and its end.
    """
    columns, row, column, start = values.shape[0], 0, 0, 0
    whole, digits, places, good, minus = 0, 0, -1, True, False
    for at in range(data.size):
        char = data[at]
        if char in (delimiter, NEWLINE):
            if (char == NEWLINE) != (column == columns - 1):
                return -1
            good = good and 0 < digits <= MOST_DIGITS and at - start <= LONGEST
            value = np.float64(whole) if good else 0.0
            if places > 0 and good:
                value = value / POWERS[places]
            values[column, row] = -value if minus and good else value
            kinds[column, row] = (INTEGER if places < 0 else REAL) if good else BAD
            starts[column, row], ends[column, row] = start, at
            column += 1
            if column == columns:
                column, row = 0, row + 1
            start, whole, digits, places, good, minus = at + 1, 0, 0, -1, True, False
            continue
        digit = np.int64(char) - ZERO
        if 0 <= digit < 10:
            # A field with more digits than fit in the number is BAD.
            whole = whole * 10 + digit
            digits += 1
            places += places >= 0
        elif char == POINT and places < 0:
            places = 0
        elif char in (MINUS, PLUS) and at == start:
            minus = char == MINUS
        else:
            good = False
    return row


def warm():
    """Compile `parse` ahead of time, by a call on a tiny input."""
    data, shape = np.frombuffer(b"1\n", np.uint8), (1, 1)
    places = np.empty(shape, np.intp)
    parse(data, 44, np.empty(shape), np.empty(shape, np.uint8), places, places.copy())
