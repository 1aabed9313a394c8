"""Split a block of CSV lines into fields and parse numbers, by Numba.

Without Numba, the caller uses NumPy. A field of up to 15 digits, a sign and a point is an integer
divided by a power of ten. Both are exact in float64, so the quotient is the nearest float64, as
`float(text)` returns.
"""

import numpy as np

from framework.kernels.deferred import Deferred

NEWLINE, POINT, MINUS, PLUS, ZERO = b"\n.-+0"
# An integer of up to this many digits is below 10**15, so float64 represents it exactly.
MOST_DIGITS = 15
# A field has at most this many bytes: the digits, a sign and a decimal point.
LONGEST = MOST_DIGITS + 2
POWERS = 10.0 ** np.arange(MOST_DIGITS + 1)
BAD, INTEGER, REAL = range(3)
_OF_NUMBERS = b"0123456789.+-"

_kernel = Deferred("csv_fields", 1 << 26)


def fields(data, delimiter, columns):
    """Return (values, kinds, starts, ends) of the fields in a block of whole lines.

    Args:
        data: a uint8 array that ends with a newline.
        delimiter: one byte, an int.
        columns: the number of fields of a line.

    Returns:
        Four arrays (columns, lines): the field's number as float64; BAD (not a number), INTEGER or
        REAL; the index of its first byte; the index after its last byte. None without Numba, if a
        line does not have `columns` fields, or if numbers may contain the delimiter.
    """
    fast = None if delimiter in _OF_NUMBERS else _kernel.library(data.size)
    if fast is None:
        return None
    # Each field takes at least one byte, the delimiter or newline at its end.
    shape = columns, data.size // columns + 1
    found = [np.empty(shape, dtype) for dtype in (np.float64, np.uint8, np.intp, np.intp)]
    rows = fast.parse(data, delimiter, *found)
    return None if rows < 0 else [array[:, :rows] for array in found]
