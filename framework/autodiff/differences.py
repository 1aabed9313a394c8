"""Slopes by differences, and how far they can be trusted."""

import numpy as np


class Differences:
    """Compares slopes of functions of one number with differences of their values.

    Args:
        dtype: the floating dtype that the functions compute in.
        tolerance: the relative error that is accepted; by default what `dtype` allows.
    """

    def __init__(self, dtype, tolerance=None):
        eps = float(np.finfo(dtype).eps)
        self._step = eps ** (1 / 3)  # where rounding and curvature disturb about alike
        if tolerance is None:
            tolerance = 1e-5 if np.dtype(dtype).itemsize >= 8 else 3e-2
        self.tolerance = tolerance
        self._least = 10 * eps / (self._step * tolerance)

    def compare(self, value, expected, size):
        """(relative error of the slope `expected`, the slope by differences); None at a kink.

        Args:
            value: a function of a number; the slope is that at 0.
            size: the magnitude of what `value` adds up. It says what slopes drown in rounding:
                errors are relative to these at least.
        """
        least = max(self._least * size, 1e-300)
        right, left = self._slopes(value, self._step)
        if abs(right - left) > self.tolerance * max(abs(right), abs(left), least):
            nearer_right, nearer_left = self._slopes(value, self._step / 10)
            if abs(nearer_right - nearer_left) > 0.5 * abs(right - left):
                return None  # a curve's slopes would have come ten times nearer each other
        actual = (right + left) / 2
        return abs(actual - expected) / max(abs(actual), abs(expected), least), actual

    @staticmethod
    def _slopes(value, h):
        middle = value(0.0)
        return (value(h) - middle) / h, (middle - value(-h)) / h
