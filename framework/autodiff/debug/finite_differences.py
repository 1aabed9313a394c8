"""Differences: derivatives by finite differences, with an estimate of their accuracy."""

import numpy as np


class Differences:
    """Compares derivatives of functions of one number with finite differences.

    Args:
        dtype: the floating dtype that the functions compute in.
        tolerance: the accepted relative error; None: 1e-5 for float64, otherwise 3e-2.
    """

    def __init__(self, dtype, tolerance=None):
        eps = float(np.finfo(dtype).eps)
        # This step size balances the rounding error and the truncation error.
        self._step = eps ** (1 / 3)
        if tolerance is None:
            tolerance = 1e-5 if np.dtype(dtype).itemsize >= 8 else 3e-2
        self.tolerance = tolerance
        self._least = 10 * eps / (self._step * tolerance)

    def compare(self, value, expected, size):
        """Return (relative error of `expected`, derivative by finite differences); None at a kink.

        Args:
            value: a function of a number.
            expected: its derivative at 0.
            size: the magnitude of the terms that `value` sums. Their rounding error is a lower
                bound of the denominator of the relative error.
        """
        least = max(self._least * size, 1e-300)
        right, left = self._slopes(value, self._step)
        if abs(right - left) > self.tolerance * max(abs(right), abs(left), least):
            nearer_right, nearer_left = self._slopes(value, self._step / 10)
            if abs(nearer_right - nearer_left) > 0.5 * abs(right - left):
                # The function has a kink: at a smooth point the slopes on both sides differ ten
                # times less.
                return None
        actual = (right + left) / 2
        return abs(actual - expected) / max(abs(actual), abs(expected), least), actual

    @staticmethod
    def _slopes(value, h):
        middle = value(0.0)
        return (value(h) - middle) / h, (middle - value(-h)) / h
