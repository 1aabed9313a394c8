"""Samples and references of special functions and of the parts of complex numbers."""

import numpy as np
from scipy import special

from tests.samples.ops.arguments import Sample, call, real


def _plain(low, high, **attrs):
    return Sample((real(2, 3, low=low, high=high),), attrs)


def _wide(low, high):
    """A second sample that reaches every branch of a kernel; float16 would overflow."""
    return Sample((real(4, 60, low=low, high=high),), other_floats="float32")


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
