"""erfc and the inverses of erf and erfc on arrays, computed in float64.

For x >= 1, erfc(x) = exp(-x²) / x · H(u) with u = (x - c) / (x + c). H(u) = x erfcx(x) is a
Chebyshev interpolant (fitted with 40 digits; relative error below 2**-55), highest power first.
"""

import math

import numpy as np

from framework.kernels.erf import erf, polynomial
from framework.kernels.gamma import in_float64

_C = 2.5
_H = (
    2.7637617145486423e-8, -8.73972514474670104e-8, -9.08668808991470009e-8,
    4.89423055971742747e-7, 1.75430724750994936e-7, -1.08929864727175594e-6,
    -2.07607364081130413e-6, 2.22625427803152639e-6, 0.0000124736688866969895,
    -6.42034331280690864e-7, -0.0000660640675267652058, -0.0000271493696640232477,
    0.000380500341995558508, 0.00013174283746397496, -0.00262899687283499434,
    0.00178712938312359856, 0.0183772972165883432, -0.0714447975568497436, 0.141331485701034109,
    -0.175368866395528076, 0.124689985433284471, 0.527015910152858956,
)  # fmt: skip
_TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)


@in_float64
def erfc(x):
    """Return 1 - erf(x), accurate where the result is small too."""
    size = np.abs(x)
    tail = _tail(np.maximum(size, 1))
    return np.where(size < 1, 1 - erf(x), np.where(x < 0, 2 - tail, tail))


def _tail(x):
    """Return erfc(x) for x >= 1; x² is split into an exact square and a remainder for exp(-x²)."""
    x = np.minimum(x, 30)
    rounded = np.rint(x * 64) / 64
    rest = (x - rounded) * (x + rounded)
    return np.exp(-rounded * rounded) * np.exp(-rest) / x * polynomial(_H, (x - _C) / (x + _C))


@in_float64
def erfinv(x):
    """Return the y with erf(y) = x; ±inf at ±1, NaN beyond."""
    size = np.abs(x)
    inner = _solved(np.minimum(size, 0.5), erf, 1)
    outer = _tail_inverse(np.clip(1 - size, 0, 0.5))
    y = np.copysign(np.where(size <= 0.5, inner, outer), x)
    return np.where(size <= 1, y, np.nan)


@in_float64
def erfcinv(x):
    """Return the y with erfc(y) = x; inf at 0, -inf at 2, NaN beyond."""
    folded = np.minimum(x, 2 - x)
    tail = _tail_inverse(np.clip(folded, 0, 0.5))
    inner = erfinv(np.clip(1 - x, -0.5, 0.5))
    y = np.where(folded < 0.5, np.copysign(tail, 1 - x), inner)
    return np.where((x >= 0) & (x <= 2), y, np.nan)


@in_float64
def ndtri(p):
    """Return the quantile y of a standard normal distribution: P(Y <= y) = p."""
    return -math.sqrt(2) * erfcinv(2 * p)


def _tail_inverse(q):
    """Return the y with erfc(y) = q, for 0 <= q <= 1/2."""
    y = _solved(np.maximum(q, 5e-324), erfc, -1)
    return np.where(q == 0, np.inf, y)


def _solved(target, function, direction):
    """Return y with function(y) = target, by Halley's iteration from Winitzki's approximation.

    Args:
        function: erf or erfc.
        direction: the sign of its derivative.
    """
    log = np.log1p(-target * target) if direction > 0 else np.log(target) + np.log(2 - target)
    a = 0.147
    half = 2 / (math.pi * a) + 0.5 * log
    y = np.sqrt(np.maximum(np.sqrt(half * half - log / a) - half, 0))
    for _ in range(3):
        off = (function(y) - target) * np.exp(y * y) * (direction / _TWO_OVER_ROOT_PI)
        y = y - off / (1 + y * off)
    return y
