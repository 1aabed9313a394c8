"""log|Γ| and its derivatives on arrays, computed in float64.

Recurrences move the argument to an interval with a Chebyshev interpolant (fitted with 40 digits;
error below 2**-60), a polynomial with the highest power first. Arguments from 8 on use Stirling's
series, negative ones reflection formulas (Abramowitz & Stegun 1964, 6.1.41, 6.3.18, 6.4.7). The
zeta function is an Euler-Maclaurin sum.

The relative error is a few units in the last place. Near the zeros of log|Γ| and of the digamma
function between negative integers, and nowhere else, only the absolute error is that small.
"""

import functools
import math

import numpy as np

from framework.kernels.erf import polynomial

# coefficients of the interpolant of log Γ(2 + z) / z with |z| <= 1/2
_LGAMMA = (
    -1.32199456661178745e-7, 2.78740805211358998e-7, -4.32523934456048164e-7,
    9.20052789496810049e-7, -2.04390481070299067e-6, 4.38470440459836033e-6,
    -9.43871509921153266e-6, 0.0000205055907558334531, -0.0000449263133791556975,
    0.0000994576735581949821, -0.000223154754005205077, 0.000509669515411545835,
    -0.00119275391184281569, 0.00289051033103426686, -0.0073855510286719984,
    0.0205808084277803801, -0.0673523010531981034, 0.322467033424113236, 0.422784335098467139,
)  # fmt: skip
# coefficients of the interpolant of ψ(x) / (x - x0) with x = (3 + t) / 2 and |t| <= 1; x0 is the
# positive zero of ψ
_DIGAMMA = (
    -9.72030040420224432e-12, 2.9160936010853641e-11, -2.91611796260238125e-11,
    8.74842003743628656e-11, -4.15550641155519642e-10, 1.24666902318640298e-9,
    -3.50923549241071813e-9, 1.05281338518781133e-8, -3.18072984773017259e-8,
    9.54326157076042873e-8, -2.86212168255776469e-7, 8.58906268336589201e-7,
    -2.57813370161071288e-6, 7.74123444136839485e-6, -0.0000232582327589531306,
    0.0000699501882655044088, -0.000210748412845901261, 0.000636888030384790069,
    -0.00193506666473928329, 0.00593679527830187568, -0.0185506153817397022, 0.0601356210601968397,
    -0.211813710640730248, 0.951055876031832879,
)  # fmt: skip
# The zero x0 of ψ is the sum of these two numbers, because one float64 has too few digits.
_ZERO, _ZERO_REST = 1.4616321449683622, 9.549995429965697715e-17
# the Bernoulli numbers B2, B4, B6, ...
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510,
              43867 / 798, -174611 / 330, 854513 / 138, -236364091 / 2730)  # fmt: skip
_STIRLING = [b / (2 * k * (2 * k - 1)) for k, b in enumerate(_BERNOULLI[:10], 1)][::-1]
_DIGAMMA_FAR = [b / (2 * k) for k, b in enumerate(_BERNOULLI[:10], 1)][::-1]
_FAR = 8.0


def in_float64(function):
    """Wrap `function` to compute in float64 and return the argument's dtype."""

    @functools.wraps(function)
    def on_any(x, **attrs):
        x = np.asarray(x)
        with np.errstate(all="ignore"):
            if x.dtype == np.float64:
                return function(x, **attrs)
            return function(x.astype(np.float64), **attrs).astype(x.dtype)

    return on_any


def float64_arguments(function):
    """Wrap a function of several arrays as `in_float64` does, and broadcast the arrays."""

    @functools.wraps(function)
    def on_any(*arrays, **attrs):
        dtype = np.result_type(*map(np.asarray, arrays))
        wide = np.broadcast_arrays(*(np.asarray(a, np.float64) for a in arrays))
        with np.errstate(all="ignore"):
            return np.asarray(function(*wide, **attrs)).astype(dtype, copy=False)

    return on_any


@in_float64
def lgamma(x):
    """Return log|Γ(x)|; inf at 0 and the negative integers."""
    size = np.abs(x)
    near = _lgamma_near(np.where(size < 0.5, x, np.clip(size, 0.5, _FAR)))
    y = np.where(size >= _FAR, _lgamma_far(np.maximum(size, _FAR)), near)
    if np.any(x <= -0.5):
        # The reflection formula is Γ(-s) Γ(s) = -π / (s sin πs).
        mirrored = math.log(math.pi) - np.log(size * np.abs(_sin_pi(x))) - y
        y = np.where(x <= -0.5, np.where(np.isinf(x), np.inf, mirrored), y)
    return y


def _lgamma_far(x):
    r = 1 / x
    series = polynomial(_STIRLING, r * r) * r
    return (x - 0.5) * (np.log(x) - 1) + (0.5 * math.log(2 * math.pi) - 0.5) + series


def _lgamma_near(x):
    """Return lgamma(x) for -1/2 < x <= 8: the recurrence Γ(x + 1) = x Γ(x) leads to [3/2, 5/2]."""
    low = np.where(x < 1.5, x, 1.0)
    low = np.where(x < 0.5, x * (x + 1), low)
    z = np.where(x < 0.5, x + 2, np.where(x < 1.5, x + 1, x))
    high = np.ones_like(z)
    while np.any(over := z > 2.5):
        z = np.where(over, z - 1, z)
        high = np.where(over, high * z, high)
    z = z - 2
    return z * polynomial(_LGAMMA, z) + np.log(high) - np.log(np.abs(low))


def _sin_pi(x):
    """Return sin πr for r = x - rint(x): exact at integers, without the sign of sin πx."""
    return np.sin(np.pi * (x - np.rint(x)))


@in_float64
def digamma(x):
    """Return ψ(x), the derivative of log Γ(x); NaN at 0 and the negative integers."""
    mirror = x < 0
    positive = np.where(mirror, 1 - x, x)
    y = np.where(positive >= _FAR, _digamma_far(np.maximum(positive, _FAR)),
                 _digamma_near(np.minimum(positive, _FAR)))  # fmt: skip
    if np.any(mirror):
        part = x - np.rint(x)
        cot = np.where(part == 0, np.nan, np.pi / np.tan(np.pi * part))
        y = np.where(mirror, y - cot, y)
    return np.where(x == 0, np.nan, y)


def _digamma_far(x):
    r = 1 / x
    squared = r * r
    return np.log(x) - 0.5 * r - polynomial(_DIGAMMA_FAR, squared) * squared


def _digamma_near(x):
    """Return ψ(x) for 0 < x <= 8: the recurrence ψ(x + 1) = ψ(x) + 1/x leads to [1, 2]."""
    under = x < 1
    added = np.where(under, -1 / x, 0.0)
    z = np.where(under, x + 1, x)
    while np.any(over := z > 2):
        z = np.where(over, z - 1, z)
        added = np.where(over, added + 1 / z, added)
    return ((z - _ZERO) - _ZERO_REST) * polynomial(_DIGAMMA, 2 * z - 3) + added


@in_float64
def polygamma(x, *, n):
    """Return the n-th derivative of ψ(x), n >= 1; NaN at 0 and the negative integers."""
    sign = -1.0 if n % 2 == 0 else 1.0
    mirror = x < 0
    y = sign * math.factorial(n) * hurwitz_zeta(n + 1, np.where(mirror, 1 - x, x))
    if np.any(mirror):
        part = x - np.rint(x)
        cot = np.where(part == 0, np.nan, 1 / np.tan(np.pi * part))
        slope = np.pi ** (n + 1) * polynomial(_cotangent_derivative(n), cot)
        y = np.where(mirror, -sign * y - slope, y)
    return np.where(x == 0, np.nan, y)


@functools.lru_cache(maxsize=32)
def _cotangent_derivative(n):
    """Return the n-th derivative of cot as a polynomial in cot: d cot = -(1 + cot²)."""
    p = np.polynomial.Polynomial([0, 1])
    for _ in range(n):
        p = p.deriv() * np.polynomial.Polynomial([-1, 0, -1])
    return tuple(p.coef[::-1])


def hurwitz_zeta(s, a):
    """Return the sum of (a + k)**-s over k >= 0, for an integer s > 1 and a > 0."""
    terms = 10 + s // 2
    total = np.zeros_like(a)
    for k in range(terms):
        total += (a + k) ** -s
    b = a + terms
    total += b ** (1 - s) / (s - 1) + 0.5 * b**-s
    rising = float(s)  # This is the product s (s + 1) ... (s + 2j - 2).
    for j, bernoulli in enumerate(_BERNOULLI, 1):
        total += bernoulli / math.factorial(2 * j) * rising * b ** -(s + 2 * j - 1)
        rising *= (s + 2 * j - 1) * (s + 2 * j)
    return total


@float64_arguments
def zeta(x, q):
    """Return Hurwitz's ζ(x, q), the sum of (q + k)**-x over k >= 0.

    It is infinite at x = 1 and where q is 0 or a negative integer, NaN for x < 1, and for q < 0
    where x is not an integer.
    """
    total = np.full(x.shape, np.nan)
    ordinary = (x > 1) & (q > 0)
    total[ordinary] = _zeta_of_reals(x[ordinary], q[ordinary])
    below = (x > 1) & (q < 0) & (x == np.floor(x)) & (q != np.floor(q)) & np.isfinite(x)
    for s in np.unique(x[below]):
        where = below & (x == s)
        total[where] = _zeta_below(int(s), q[where])
    return np.where((x == 1) | ((x > 1) & (q <= 0) & (q == np.floor(q))), np.inf, total)


def _zeta_of_reals(s, a):
    """Return the sum of the first twelve terms, plus the Euler-Maclaurin series for the others."""
    total = np.zeros_like(a)
    for k in range(12):
        total += (a + k) ** -s
    b = a + 12
    total += b ** (1 - s) / (s - 1) + 0.5 * b**-s
    rising = b**-s * s / b  # This is s (s + 1) ... (s + 2j - 2) times b**-(s + 2j - 1).
    for j, bernoulli in enumerate(_BERNOULLI, 1):
        total += bernoulli / math.factorial(2 * j) * rising
        rising = rising * ((s + 2 * j - 1) / b) * ((s + 2 * j) / b)
    return total


def _zeta_below(s, q):
    if s <= 150:
        return (-1.0) ** s / math.factorial(s - 1) * polygamma(q, n=s - 1)
    near = np.rint(-q)  # For large s, all terms but those with k near -q are negligible.
    return sum((q + near + k) ** -float(s) for k in (-1, 0, 1) if not np.any(near + k < 0))


@float64_arguments
def polygamma_of(a, x):
    """Return the a-th derivative of ψ(x); NaN unless a is an integer >= 0."""
    order = np.where((a >= 0) & (a == np.floor(a)) & np.isfinite(a), a, 1.0)
    size = np.exp(lgamma(order + 1))
    small = order <= 170
    factorials = np.array([float(math.factorial(k)) for k in range(171)])
    size = np.where(small, factorials[np.where(small, order, 0).astype(np.int64)], size)
    sign = np.where(order % 2 == 0, -1.0, 1.0)
    y = np.where(a == 0, digamma(x), sign * size * zeta(order + 1, x))
    return np.where(order == a, y, np.nan)
