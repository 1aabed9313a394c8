"""The fields of a block of CSV lines and their numbers, by Numba; the caller has a NumPy form.

A field of up to 15 digits, a sign and a point is an integer divided by a power of ten.
Both are exact in float64, so the quotient is the float64 nearest to the text, as `float(text)`.
"""

import numpy as np

from framework.kernels.deferred import Deferred

NEWLINE, POINT, MINUS, PLUS, ZERO = b"\n.-+0"
# A number of up to this many digits is an int below 10**15, which float64 represents exactly.
MOST_DIGITS = 15
# A field has at most this many bytes: the digits, a sign and a decimal point.
LONGEST = MOST_DIGITS + 2
POWERS = 10.0 ** np.arange(MOST_DIGITS + 1)
BAD, INTEGER, REAL = range(3)
_OF_NUMBERS = b"0123456789.+-"

_kernel = Deferred("csv_fields", 1 << 26)


def fields(data, delimiter, columns):
    """Return (values, kinds, starts, ends) of the fields of whole lines.

    Args:
        data: a uint8 array that ends with a newline.
        delimiter: one byte, an int.
        columns: the number of fields of a line.

    Returns:
        Arrays (columns, lines): float64 numbers, BAD, INTEGER or REAL, the positions of the first
        byte and of the end. None without Numba, if the lines have other numbers of fields, or if
        the delimiter may be part of a number.
    """
    fast = None if delimiter in _OF_NUMBERS else _kernel.library(data.size)
    if fast is None:
        return None
    # Each field takes at least one byte, the delimiter or newline at its end.
    shape = columns, data.size // columns + 1
    found = [np.empty(shape, dtype) for dtype in (np.float64, np.uint8, np.intp, np.intp)]
    rows = fast.parse(data, delimiter, *found)
    return None if rows < 0 else [array[:, :rows] for array in found]
