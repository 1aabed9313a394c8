"""The modified Bessel functions of the first kind, of order 0 and 1, computed in float64.

For |x| <= 25 the functions sum the power series, whose terms are all positive, and for larger |x|
the asymptotic series, whose smallest term is below 1e-20 there (Abramowitz & Stegun 1964, 9.6.10
and 9.7.1). The relative error is a few units in the last place.
"""

import math

import numpy as np

from framework.kernels.erf import polynomial
from framework.kernels.gamma import in_float64

_FAR = 25.0


def _powers(order):
    """Return the coefficients 1 / (k! (k + order)!) of the powers of x²/4, highest power first."""
    return [1 / (math.factorial(k) * math.factorial(k + order)) for k in range(45, -1, -1)]


def _inverse_powers(order):
    """Return the coefficients Π ((2j - 1)² - 4 order²) / (k! 8**k) of the powers of 1/x, highest
    first."""
    coefficients = [1.0]
    for k in range(1, 31):
        coefficients.append(coefficients[-1] * ((2 * k - 1) ** 2 - 4 * order * order) / (8 * k))
    return coefficients[::-1]


_POWERS = {order: _powers(order) for order in (0, 1)}
_INVERSE_POWERS = {order: _inverse_powers(order) for order in (0, 1)}


def _near(size, order):
    half = size / 2
    return polynomial(_POWERS[order], half * half) * (half if order else 1)


def _far_scaled(size, order):
    """Return exp(-x) I(x) for large x, an array `size`, by the asymptotic series of I."""
    return polynomial(_INVERSE_POWERS[order], 1 / size) / np.sqrt(2 * np.pi * size)


def _bessel(x, order, scaled):
    size = np.abs(x)
    near, far = np.minimum(size, _FAR), np.maximum(size, _FAR)
    small, large = _near(near, order), _far_scaled(far, order)
    if scaled:
        small = small * np.exp(-near)
    else:  # Multiply by exp(x/2) twice, because exp(x) may overflow where the result does not.
        root = np.exp(far / 2)
        large = np.where(np.isinf(size), size, large * root * root)
    y = np.where(size <= _FAR, small, large)
    return np.copysign(y, x) if order else y


@in_float64
def i0(x):
    """Return I0(x), the modified Bessel function of order 0."""
    return _bessel(x, 0, False)


@in_float64
def i1(x):
    """Return I1(x), the modified Bessel function of order 1, which is odd."""
    return _bessel(x, 1, False)


@in_float64
def i0e(x):
    """Return exp(-|x|) I0(x)."""
    return _bessel(x, 0, True)


@in_float64
def i1e(x):
    """Return exp(-|x|) I1(x)."""
    return _bessel(x, 1, True)
