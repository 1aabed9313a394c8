"""Samples and references of special functions and of the parts of complex numbers."""

import math

import numpy as np
from scipy import special, stats

from tests.samples.ops.arguments import Sample, call, real


def _plain(low, high, **attrs):
    return Sample((real(2, 3, low=low, high=high),), attrs)


def _wide(low, high):
    """A second sample that reaches every branch of a kernel; float16 would overflow."""
    return Sample((real(4, 60, low=low, high=high),), other_floats="float32")


def _shares(rows, columns, other_floats="float32 float16"):
    """Two positive parameters and numbers between 0 and 1."""
    a, b = (real(rows, columns, low=0.6, high=6) for _ in range(2))
    return Sample((a, b, real(rows, columns, low=0.1, high=0.9)), other_floats=other_floats)


def _derivative(function, n):
    """The n-th derivative by the first argument, by the trapezoidal rule on a circle around it.

    `function` is real on the axis and takes complex numbers: Cauchy's integral.
    """

    def by_first(a, x):
        turns = np.exp(2j * np.pi * np.arange(64) / 64)
        values = [function(a + 0.4 * t, x) * t**-n for t in turns]
        return (sum(values) / 64).real * math.factorial(n) / 0.4**n

    return by_first


def _complex_density(a, x):
    return np.exp((a - 1) * np.log(x) - x - special.loggamma(a))


def _complex_lower(a, x):
    """P(a, x) for complex a: the series of DLMF 8.7.3."""
    term = total = 1 / a
    for k in range(1, 200):
        term = term * x / (a + k)
        total = total + term
    return np.exp(a * np.log(x) - x - special.loggamma(a)) * total


SAMPLES = {
    "erfc": [_plain(-2, 2), Sample((real(4, 60, low=-6, high=6),), other_floats="")],
    "erfinv": [_plain(-0.8, 0.8), Sample((np.linspace(-0.96, 0.96, 80),), other_floats="")],
    "erfcinv": [_plain(0.2, 1.8), Sample((np.linspace(0.04, 1.96, 80),), other_floats="")],
    "ndtri": [_plain(0.1, 0.9), Sample((np.linspace(0.02, 0.98, 80),), other_floats="")],
    "lgamma": [_plain(0.3, 4), Sample((real(5, 60, low=0.05, high=25),), other_floats=""),
               Sample((-real(5, 60, low=0.02, high=0.98) - np.arange(5)[:, None],),
                      other_floats="")],
    "digamma": [_plain(0.3, 4), Sample((real(5, 60, low=0.05, high=25),), other_floats=""),
                Sample((-real(5, 6, low=0.2, high=0.8) - np.arange(5)[:, None],),
                       other_floats="")],
    "polygamma": [
        *(_plain(0.5, 4, n=n) for n in (1, 2, 3, 6)),
        *(Sample((np.linspace(0.4, 20, 90),), {"n": n}, other_floats="") for n in (1, 2)),
        *(Sample((-real(5, 6, low=0.3, high=0.7) - np.arange(5)[:, None],), {"n": n},
                 other_floats="") for n in (1, 2, 3)),
    ],
    "igamma": [
        *(Sample((real(2, 3, low=0.5, high=4), real(2, 3, low=0.3, high=5)), {"n": n})
          for n in (0, 1, 2)),
        Sample((real(5, 60, low=0.1, high=30), real(5, 60, low=0.05, high=40)), {"n": 0},
               other_floats=""),
    ],
    "igammac": [
        Sample((real(2, 3, low=0.5, high=4), real(2, 3, low=0.3, high=5))),
        Sample((real(5, 60, low=0.1, high=30), real(5, 60, low=0.05, high=40)), other_floats=""),
    ],
    "gamma_density": [
        Sample((real(2, 3, low=0.5, high=4), real(2, 3, low=0.3, high=5)), {"n": n})
        for n in (0, 1, 2)
    ],
    "betainc": [_shares(2, 3), _shares(5, 40, "")],
    "beta_density": [_shares(2, 3, "float32"), _shares(3, 20, "")],
    "zeta": [
        Sample((real(2, 3, low=2, high=5), real(2, 3, low=0.5, high=4)), other_floats="float32"),
        Sample((real(5, 20, low=1.2, high=15), real(5, 20, low=0.6, high=30)), other_floats=""),
    ],
    "polygamma_of": [
        Sample((np.array([[0.0, 1, 2], [3, 4, 1]]), real(2, 3, low=0.8, high=4)),
               other_floats="float32"),
    ],
    "bessel_i0": [_plain(-3, 3), _wide(-30, 30)],
    "bessel_i1": [_plain(-3, 3), _wide(-30, 30)],
    "bessel_i0e": [_plain(-3, 3), _wide(-40, 40)],
    "bessel_i1e": [_plain(-3, 3), _wide(-40, 40)],
    "logaddexp": [Sample((real(2, 3), real(2, 3, off=0.22)))],
    "real": [_plain(-2, 2)],
    "imag": [_plain(-2, 2)],
    "angle": [_plain(-2, 2)],
    "complex": [call(real(2, 3), real(2, 3), other_floats="")],
}  # fmt: skip

REFERENCES = {
    "angle": lambda x: np.where(x < 0, np.pi, 0),
    "beta_density": lambda a, b, x: stats.beta.pdf(x, a, b),
    "betainc": special.betainc,
    "gamma_density": lambda a, x, n: _derivative(_complex_density, n)(a, x),
    "igamma": lambda a, x, n: (
        special.gammainc(a, x) if n == 0 else _derivative(_complex_lower, n)(a, x)
    ),
    "igammac": special.gammaincc,
    "polygamma_of": lambda a, x: special.polygamma(a.astype(int), x),
    "zeta": special.zeta,
    "bessel_i0": special.i0,
    "bessel_i0e": special.i0e,
    "bessel_i1": special.i1,
    "bessel_i1e": special.i1e,
    "complex": lambda a, b: a + 1j * b,
    "digamma": special.digamma,
    "erfc": special.erfc,
    "erfcinv": special.erfcinv,
    "erfinv": special.erfinv,
    "imag": lambda x: 0 * x,
    "lgamma": special.gammaln,
    "logaddexp": lambda a, b: np.log(np.exp(a) + np.exp(b)),
    "ndtri": special.ndtri,
    "polygamma": lambda x, n: special.polygamma(n, x),
    "real": lambda x: +x,
}
