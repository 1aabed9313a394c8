"""Parse the columns of many CSV lines at once: NumPy computes the numbers from the bytes.

A field of up to 15 digits, which may have a sign and a point, is read as an integer divided by a
power of ten. Both are exact in float64, so the quotient is the nearest float64, like `float(text)`.
The callback `slow` converts every other field (exponents, "nan", more digits, spaces, errors).
"""

import numpy as np

from framework.kernels import csv_fields
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
    ZERO,
)


class CsvLines:
    """The fields of a block of whole lines; `regular` is True if each line has `columns` fields.

    Args:
        data: bytes that end with a newline and hold no quotes.
        delimiter: one byte, an int.
        columns: the number of fields in a line.
    """

    def __init__(self, data, delimiter, columns):
        self.data, self.columns = data, columns
        self.bytes = np.frombuffer(data, np.uint8)
        self._parsed = csv_fields.fields(self.bytes, delimiter, columns)
        if self._parsed is not None:
            self._starts, self._ends = self._parsed[2:]
            self.rows = self._starts.shape[1]
            self.regular = columns > 1 or bool((self._starts < self._ends).all())
        else:
            self._split(data, delimiter, columns)

    def _split(self, data, delimiter, columns):
        ends = np.flatnonzero((self.bytes == delimiter) | (self.bytes == NEWLINE))
        self.rows = data.count(b"\n")
        self.regular = len(ends) == self.rows * columns
        if self.regular:
            last = ends[columns - 1 :: columns]
            self.regular = bool((self.bytes[last] == NEWLINE).all())
            starts = np.concatenate([[0], ends[:-1] + 1])
            self._starts = starts.reshape(-1, columns).T.copy()
            self._ends = ends.reshape(-1, columns).T.copy()
            # an empty line is not a row, even in a file with one column
            self.regular &= columns > 1 or bool((self._starts < self._ends).all())

    def texts(self, column):
        """Return the fields of a column as bytes."""
        pairs = zip(self._starts[column].tolist(), self._ends[column].tolist())
        return [self.data[a:b] for a, b in pairs]

    def numbers(self, column, dtype, slow):
        """Return a column as an array of `dtype`; `slow(row, text)` returns one number."""
        if self._parsed is not None:
            return self._converted(column, np.dtype(dtype), slow)
        starts, ends = self._starts[column], self._ends[column]
        length = min(int((ends - starts).max(initial=0)), LONGEST)
        whole, digits, places, minus, good = self._digits(starts, ends, length)
        if np.dtype(dtype).kind == "i":
            good &= places < 0
            values = np.where(minus, -whole, whole)
        else:
            values = whole / POWERS.take(places, mode="clip")
            values = np.where(minus, -values, values)
        good &= (digits > 0) & (digits <= MOST_DIGITS) & (ends - starts <= LONGEST)
        if np.dtype(dtype).itemsize == 4 and np.dtype(dtype).kind == "i":
            good &= np.abs(values) < 2**31
            values[~good] = 0
        return self._completed(values, good, column, dtype, slow)

    def _converted(self, column, dtype, slow):
        """Return a column as the kernel parsed it; `slow` converts the fields it could not."""
        values, kinds = self._parsed[0][column], self._parsed[1][column]
        good = kinds == INTEGER if dtype.kind == "i" else kinds != BAD
        if dtype.kind == "i" and dtype.itemsize == 4:
            good &= np.abs(values) < 2**31
        if not good.all():
            values = np.where(good, values, 0)
        return self._completed(values, good, column, dtype, slow)

    def _completed(self, values, good, column, dtype, slow):
        """Return `values` cast to `dtype`; `slow` converts the fields where `good` is False."""
        with np.errstate(over="ignore"):
            found = values.astype(dtype)
        starts, ends = self._starts[column], self._ends[column]
        for row in np.flatnonzero(~good).tolist():
            found[row] = slow(row, self.data[int(starts[row]) : int(ends[row])])
        return found

    def _digits(self, starts, ends, length):
        """Return (digits as one integer, their count, decimals, is negative, is valid) per field.

        Decimals are the digits after the point, -1 without a point. Fields are aligned at their
        ends and read from left to right.
        """
        rows = len(starts)
        whole, digits = np.zeros(rows), np.zeros(rows, np.int8)
        places, minus = np.full(rows, -1, np.int8), np.zeros(rows, bool)
        good, pointed = np.ones(rows, bool), False
        shortest = int((ends - starts).min(initial=length))
        for back in range(length, 0, -1):
            at = ends - back
            char = self.bytes.take(at, mode="clip")
            digit = char - np.uint8(ZERO)
            is_digit = digit < 10
            # A field may be shorter than the widest one: the positions before its start count as
            # zeros.
            if back > shortest:
                inside = at >= starts
                is_digit &= inside
                digit *= inside
                other = inside & ~is_digit
            else:
                other = ~is_digit
            if not other.any():
                whole *= 10
                whole += digit
            else:
                np.multiply(whole, 10, out=whole, where=~other)
                np.add(whole, digit, out=whole, where=is_digit)
            digits += is_digit
            if pointed:
                places += is_digit & (places >= 0)
            if other.any():
                point = other & (char == POINT) & (places < 0)
                first = other & (at == starts)
                sign = first & ((char == MINUS) | (char == PLUS))
                places[point] = 0
                pointed = pointed or bool(point.any())
                minus |= sign & (char == MINUS)
                good &= ~other | point | sign
        return whole, digits, places, minus, good


class CsvBlocks:
    """Iterator over the rest of a binary file in blocks of about `size` bytes of whole lines."""

    def __init__(self, file, size):
        self._file, self._size, self._rest = file, size, b""

    def __iter__(self):
        return self

    def __next__(self):
        parts = [self._rest]
        while data := self._file.read(self._size):
            end = data.rfind(b"\n") + 1
            if end:
                self._rest = data[end:]
                return b"".join([*parts, data[:end]])
            parts.append(data)
        self._rest, last = b"", b"".join(parts)
        if not last:
            raise StopIteration
        return last + b"\n"

    def remaining(self):
        """Return the bytes after the last block."""
        rest, self._rest = self._rest, b""
        return rest + self._file.read()
