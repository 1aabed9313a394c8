"""The incomplete gamma and beta functions and their derivatives on arrays, computed in float64.

Each function is a density times a series or a continued fraction. The densities use Loader's
saddle-point form (2000, "Fast and accurate computation of binomial probabilities"), which has no
cancellation for large parameters. Formulas: DLMF 8.2, 8.7, 8.9 (gamma), 8.17.22 (beta); Temme 1979
for large, nearly equal arguments.

Derivatives with respect to a are exact: the recurrences run on Taylor coefficients in a. A list of
n + 1 arrays holds the coefficients of powers 0 to n.
"""

import math

import numpy as np

from framework.kernels.erf import polynomial
from framework.kernels.gamma import (
    _LGAMMA,
    _STIRLING,
    digamma,
    float64_arguments,
    lgamma,
    polygamma,
)
from framework.kernels.inverse_erf import erfc

_EPSILON = 2.0**-54
# From this `a` on, Temme's expansion is used near x = a, where a series would take thousands of
# terms.
_LARGE = 2e5
_MOST = 200_000  # A continued fraction has at most this many terms.
# These are the coefficients of Temme's c0(η), then those of c1(η), the highest power first.
_TEMME = (
    2.6396e-7, -1.8540622107151600e-6, -2.1854485106799922e-6, 3.9192631785224378e-5,
    -1.7875514403292181e-4, 3.5273368606701940e-4, 1.1574074074074074e-3, -1.4814814814814815e-2,
    1 / 12, -1 / 3,
)  # fmt: skip
_TEMME_NEXT = (-9.9022633744855967e-4, 2.6455026455026455e-3, -3.4722222222222222e-3, -1 / 540)


# ---- densities -----------------------------------------------------------------------------------


def _stirling_error(z):
    """Return log Γ(z + 1) - (z + 1/2) log z + z - log(2π) / 2."""
    far = np.maximum(z, 8.0)
    r = 1 / far
    near = np.minimum(z, 8.0)
    direct = log_gamma1p(near) - (near + 0.5) * np.log(near) + near - 0.5 * math.log(2 * math.pi)
    return np.where(z >= 8, polynomial(_STIRLING, r * r) * r, direct)


def log_gamma1p(z):
    """Return log Γ(1 + z), accurate for z near 0."""
    small = np.clip(z, -0.5, 0.5)
    return np.where(np.abs(z) <= 0.5, small * polynomial(_LGAMMA, small) - np.log1p(small),
                    lgamma(1 + z))  # fmt: skip


_ODD = [1 / (2 * j + 1) for j in range(13)][::-1]


def _deviance(k, m):
    """Return k log(k / m) + m - k, by a series in v = (k - m) / (k + m) where v is small."""
    v = (k - m) / (k + m)
    small = np.where(np.abs(v) < 0.1, v, 0.0)
    tail = polynomial(_ODD, small * small) - 1
    series = (k - m) * small + 2 * k * small * tail
    return np.where(np.abs(v) < 0.1, series, k * np.log(k / m) + m - k)


def _poisson(a, x):
    """Return xᵃ e⁻ˣ / Γ(a + 1)."""
    return np.exp(-_stirling_error(a) - _deviance(a, x)) / np.sqrt(2 * np.pi * a)


def _beta_factor(a, b, x):
    """Return xᵃ (1 - x)ᵇ / B(a, b)."""
    n, y = a + b, 1 - x
    exponent = _stirling_error(n) - _stirling_error(a) - _stirling_error(b)
    exponent = exponent - _deviance(a, n * x) - _deviance(b, n * y)
    return np.sqrt(a * (b / n) / (2 * np.pi)) * np.exp(exponent)


@float64_arguments
def beta_density(a, b, x):
    """Return x^(a - 1) (1 - x)^(b - 1) / B(a, b), the derivative of `betainc` with respect to x."""
    inside = (x > 0) & (x < 1) & (a > 0) & (b > 0)
    a1, b1, x1 = np.where(inside, a, 1.0), np.where(inside, b, 1.0), np.where(inside, x, 0.5)
    y = _beta_factor(a1, b1, x1) / (x1 * (1 - x1))
    at_0 = np.where(a < 1, np.inf, np.where(a == 1, b, 0.0))
    at_1 = np.where(b < 1, np.inf, np.where(b == 1, a, 0.0))
    y = np.where(x == 0, at_0, np.where(x == 1, at_1, y))
    return np.where((a > 0) & (b > 0) & (x >= 0) & (x <= 1), y, np.nan)


@float64_arguments
def gamma_density(a, x, *, n):
    """Return the n-th derivative of x^(a - 1) e⁻ˣ / Γ(a) with respect to a."""
    inside = (x > 0) & (a > 0) & np.isfinite(a) & np.isfinite(x)
    a1, x1 = np.where(inside, a, 1.0), np.where(inside, x, 1.0)
    y = _density_series(a1, x1, _poisson(a1, x1) * a1 / x1, n)[n] * math.factorial(n)
    at_0 = np.where(a < 1, np.inf, np.where(a == 1, 1.0, 0.0)) if n == 0 else np.nan
    y = np.where(x == 0, at_0, np.where(np.isinf(x), 0.0, y))
    return np.where((a > 0) & (x >= 0), y, np.nan)


def _density_series(a, x, value, n):
    """Return the Taylor coefficients in a of a density `value` whose logarithm has the
    derivative log x - ψ(a)."""
    slopes = [np.log(x) - digamma(a)] if n else []
    slopes += [-polygamma(a, n=k) / math.factorial(k) for k in range(1, n)]
    coefficients = [value]
    for j in range(1, n + 1):  # The Taylor series of f follows from f' = f · slope.
        coefficients.append(sum(coefficients[j - 1 - i] * slopes[i] for i in range(j)) / j)
    return coefficients


# ---- arithmetic of Taylor coefficients -----------------------------------------------------------


def _product(p, q):
    return [sum(p[i] * q[j - i] for i in range(j + 1)) for j in range(len(p))]


def _quotient(p, q):
    out = []
    for j, numerator in enumerate(p):
        rest = sum(out[i] * q[j - i] for i in range(j))
        out.append((numerator - rest) / q[0])
    return out


# ---- the incomplete gamma function ---------------------------------------------------------------


@float64_arguments
def igamma(a, x, *, n=0):
    """Return the n-th derivative of P(a, x) with respect to a; NaN unless a > 0 and x >= 0."""
    lower, y = _split(a, x, n)
    if n:
        return np.where(lower, y, -y)
    return np.where(lower, y, 1 - y)


@float64_arguments
def igammac(a, x):
    """Return Q(a, x) = 1 - P(a, x), accurate where it is small."""
    lower, y = _split(a, x, 0)
    return np.where(lower, 1 - y, y)


def _split(a, x, n):
    """Return a mask, True where P is computed and False where Q is, and its n-th derivatives."""
    valid = (a > 0) & (x >= 0)
    ordinary = valid & (x > 0) & np.isfinite(a) & np.isfinite(x)
    lower = (x <= 1.1) & (a > -0.4 / np.log(np.minimum(x, 0.5))) | (x > 1.1) & (x < a + 1)
    y = np.where(valid, 0.0, np.nan)
    lower = np.where(ordinary, lower, ~np.isinf(x) | np.isinf(a))
    near = ordinary & (a > _LARGE) & (np.abs(x - a) < 0.05 * a) & (n < 2)
    branches = (
        (near, _by_temme), (ordinary & lower & ~near, _by_series),
        (ordinary & ~lower & ~near & (x <= 1.1), _by_small_x),
        (ordinary & ~lower & ~near & (x > 1.1), _by_fraction),
    )  # fmt: skip
    lower = np.where(near, x < a, lower)
    for where, compute in branches:
        for group in _groups(where, np.maximum(a, x)):
            y[group] = compute(a[group], x[group], n) * math.factorial(n)
    return lower, y


def _groups(where, size):
    """Yield masks of elements of similar `size`, whose series need similar numbers of terms."""
    scale = np.where(where, np.frexp(np.where(where, size, 1.0))[1] // 4, 0)
    for found in np.unique(scale[where]):
        yield where & (scale == found)


def _by_series(a, x, n):
    """Return coefficient n of P, as a density times the sum of xᵏ / ((a + 1) ... (a + k))."""
    term = [np.ones_like(a), *(np.zeros_like(a) for _ in range(n))]
    total, k = list(term), 0
    while True:
        k += 1
        grown = []
        for j, t in enumerate(term):
            before = grown[j - 1] if j else 0.0
            grown.append((t * x - before) / (a + k))
        term = grown
        total = [s + t for s, t in zip(total, term)]
        if k % 4 == 0 and all((np.abs(t) <= _EPSILON * np.abs(s)).all() or not np.any(t)
                              for s, t in zip(total, term)):  # fmt: skip
            break
    density = _density_series(a + 1, x, _poisson(a, x), n)
    return _product(density, total)[n]


def _by_fraction(a, x, n):
    """Return coefficient n of Q, as a density times Legendre's continued fraction."""
    zero = np.zeros_like(a)
    one = [np.ones_like(a), *[zero] * n]
    nothing = [zero] * (n + 1)

    def times(p, first, slope):
        return [p[j] * first + (p[j - 1] * slope if j else 0.0) for j in range(n + 1)]

    tops, bottoms = (nothing, one), (one, times(one, x + 1 - a, -1.0))
    limit, k = _Limit(), 0
    while True:
        k += 1
        both = []
        for before, now in (tops, bottoms):
            grown = times(now, x + 2 * k + 1 - a, -1.0)
            both.append((now, [g + t for g, t in zip(grown, times(before, k * (a - k), k))]))
        tops, bottoms = both
        scale = 1 / np.abs(bottoms[1][0])
        tops, bottoms = ([[c * scale for c in p] for p in pair] for pair in (tops, bottoms))
        if k % 4 == 0:
            value = _quotient(tops[1], bottoms[1])
            if limit.reached(value) or k > _MOST:
                break
    return _product(_density_series(a, x, _poisson(a, x) * a, n), value)[n]


class _Limit:
    """Detects when all elements of some arrays have converged up to rounding errors."""

    def __init__(self):
        self.last = self.change = self.done = None

    def reached(self, values):
        values = np.stack(values)
        if self.last is None:
            self.last, self.change, self.done = values, np.inf, np.zeros(values.shape, bool)
            return False
        change, size = np.abs(values - self.last), np.abs(values) + 1e-300
        noise = (change >= self.change) & (change < 2.0**-36 * size)
        self.done |= noise | (change <= 32 * _EPSILON * size)
        self.last, self.change = values, change
        return bool(self.done.all())


def _by_small_x(a, x, n):
    """Return coefficient n of Q for x <= 1.1 and small a, where 1 - P would cancel.

    P = xᵃ / Γ(a + 1) + xᵃ / Γ(a) Σ (-x)ᵏ / (k! (a + k)), over k >= 1.
    """
    total, power = [np.zeros_like(a) for _ in range(n + 1)], np.ones_like(x)
    for k in range(1, 25):
        power = power * (-x / k)
        part = power
        for j in range(n + 1):  # This adds the Taylor series of 1 / (a + k) in a.
            part = part / (a + k)
            total[j] = total[j] + part * (-1) ** j
    exponent = a * np.log(x) - log_gamma1p(a)
    lead = _density_series(a + 1, x, np.exp(exponent), n)
    shifted = [lead[j] * a + (lead[j - 1] if j else 0.0) for j in range(n + 1)]
    first = -np.expm1(exponent) if n == 0 else -lead[n]
    return first - _product(shifted, total)[n]


def _by_temme(a, x, n):
    """Return coefficient n, 0 or 1, of P where x < a, elsewhere of Q, for large a near x."""
    ratio = (x - a) / a
    half = _deviance(a, x) / a  # This is η² / 2 in Temme's expansion.
    eta = np.sign(ratio) * np.sqrt(2 * half)
    density = np.exp(-a * half) / np.sqrt(2 * np.pi * a)
    rest = polynomial(_TEMME, eta) + polynomial(_TEMME_NEXT, eta) / a
    sign = np.where(x < a, -1.0, 1.0)
    if n == 0:
        return 0.5 * erfc(np.abs(eta) * np.sqrt(a / 2)) + sign * density * rest
    logarithm, at_0 = np.log1p(ratio), eta == 0
    safe = np.where(at_0, 1.0, eta)
    slope = polynomial(np.polyder(_TEMME), eta) + polynomial(np.polyder(_TEMME_NEXT), eta) / a
    turn = np.where(at_0, 1.0, logarithm / safe)
    drift = np.where(at_0, 1.0, ratio / safe) / a
    return sign * density * (turn + rest * (logarithm - 0.5 / a) - slope * drift)


# ---- the incomplete beta function ----------------------------------------------------------------


@float64_arguments
def betainc(a, b, x):
    """Return the regularized incomplete beta function; NaN unless a, b > 0 and 0 <= x <= 1."""
    valid = (a > 0) & (b > 0) & (x >= 0) & (x <= 1)
    y = np.where(valid, x, np.nan)
    inside = valid & (x > 0) & (x < 1) & np.isfinite(a) & np.isfinite(b)
    for group in _groups(inside, np.maximum(a, b)):
        y[group] = _beta_inside(a[group], b[group], x[group])
    return y


def _beta_inside(a, b, x):
    turned = x > (a + 1) / (a + b + 2)
    p, q, z = np.where(turned, b, a), np.where(turned, a, b), np.where(turned, 1 - x, x)
    y = _beta_factor(p, q, z) / p * _beta_fraction(p, q, z)
    y = np.where(turned, 1 - y, y)
    # Where 1 - y has lost digits, use the other fraction, although it converges more slowly.
    lost = turned & (y < 0.1) & (z > 1e-6)
    if lost.any():
        p, q, z = a[lost], b[lost], x[lost]
        y[lost] = _beta_factor(p, q, z) / p * _beta_fraction(p, q, z)
    return y


def _beta_fraction(a, b, x):
    """Evaluate the even part of the continued fraction DLMF 8.17.22 from the front, with two
    numerators per step."""
    tops = (np.zeros_like(x), np.ones_like(x))
    bottoms = (np.ones_like(x), np.ones_like(x))
    limit = _Limit()
    for m in range(_MOST):
        # These are the coefficients d(2m + 1) and d(2m + 2) of the continued fraction.
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        even = (m + 1) * (b - m - 1) * x / ((a + 2 * m + 1) * (a + 2 * m + 2))
        for d in (odd, even):
            tops = (tops[1], tops[1] + d * tops[0])
            bottoms = (bottoms[1], bottoms[1] + d * bottoms[0])
        scale = 1 / bottoms[1]
        tops = (tops[0] * scale, tops[1] * scale)
        bottoms = (bottoms[0] * scale, np.ones_like(x))
        if m % 4 == 3 and limit.reached([tops[1]]):
            break
    return tops[1]
