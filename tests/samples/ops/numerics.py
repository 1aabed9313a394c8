"""Samples and references of the elementwise ops that NumPy has beyond arithmetic."""

import numpy as np

from tests.samples.ops.arguments import Sample, call, integers, real

_PAIR = (real(2, 3), real(2, 3, off=0.22))


def _sinc(x, n):
    """The n-th derivative as a mean over t of d^n/dx^n cos(πxt), by Gauss's quadrature."""
    t, weights = np.polynomial.legendre.leggauss(60)
    t, weights = (t + 1) / 2, weights / 2
    angles = np.pi * np.asarray(x)[..., None] * t
    return (weights * (np.pi * t) ** n * np.cos(angles + n * np.pi / 2)).sum(-1)


SAMPLES = {
    "cbrt": [call(real(2, 3))],
    "signbit": [call(real(2, 3))],
    **{name: [call(*_PAIR)] for name in ("hypot", "fmod", "logaddexp2", "nextafter")},
    "ldexp": [call(real(2, 3), integers(2, 3, below=5))],
    **{name: [call(integers(2, 3, below=9), integers(2, 3, below=9))]
       for name in ("gcd", "lcm", "left_shift", "right_shift")},
    "bitcast": [
        call(real(2, 4), dtype=np.dtype("uint64"), other_floats=""),
        call(real(0, 2), dtype=np.dtype("uint8"), other_floats=""),
    ],
    "sinc": [
        *(Sample((real(2, 3, low=-3, high=3),), {"n": n}) for n in (0, 1)),
        Sample((np.linspace(-6.1, 6.2, 40),), {"n": 2}, other_floats=""),
    ],
}  # fmt: skip

REFERENCES = {
    "bitcast": lambda x, dtype: np.frombuffer(x.tobytes(), dtype).reshape(
        *x.shape[:-1], x.shape[-1] * 8 // dtype.itemsize
    ),
    "sinc": _sinc,
}
