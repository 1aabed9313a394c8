"""Discrete Fourier transforms, of complex numbers along some axes and of real ones along the last.

The matrix of a transform is symmetric, so the derivative rule of a complex transform applies the
same transform (`ops.complex` defines cotangents of complex arrays).
"""

import numpy as np

from framework.core.cast import cast
from framework.core.numpy_warnings import no_warnings
from framework.core.op import Op
from framework.ops.complex import conjugated
from framework.ops.elementwise import multiply
from framework.ops.reduction import np_dtype


def _complex_dtype(dtype):
    return np.dtype(np.result_type(dtype, np.complex64))


def _complex(transform, x, axes):
    """Apply NumPy's function `transform`, or return an empty array for an empty one."""
    dtype = _complex_dtype(x.dtype)
    return transform(x, axes=axes).astype(dtype, copy=False) if x.size else x.astype(dtype)


@no_warnings
def _fft(x, *, axes):
    return _complex(np.fft.fftn, x, axes)


@no_warnings
def _ifft(x, *, axes):
    return _complex(np.fft.ifftn, x, axes)


def _infer(x, *, axes):
    return tuple(x.shape), _complex_dtype(np_dtype(x))


# ---- transforms of complex numbers ---------------------------------------------------------------

# `fft` sums x exp(-2πi jk/n) along each of `axes`. `ifft` is the inverse; it divides by the sizes.
fft = Op(
    "fft", _fft, lambda g, x_dtype, axes: cast(fft(g, axes=axes), dtype=x_dtype), infer=_infer,
    inputs=("x",), raises=True,
)  # fmt: skip
ifft = Op(
    "ifft", _ifft, lambda g, x_dtype, axes: cast(ifft(g, axes=axes), dtype=x_dtype), infer=_infer,
    inputs=("x",), raises=True,
)  # fmt: skip


# ---- transforms of real numbers ------------------------------------------------------------------


@no_warnings
def _rfft(x, *, length):
    return np.fft.rfft(x, length).astype(_complex_dtype(x.dtype), copy=False)


def _rfft_vjp(g, x_dtype, length):
    """Return length * `irfft` of the conjugate, each frequency divided by its `_multiplicity`."""
    share = np.asarray(length / _multiplicity(length), np_dtype(g))
    return cast(irfft(multiply(conjugated(g), share), length=length), dtype=x_dtype)


def _multiplicity(length):
    """Return for each frequency of the half spectrum how often the full spectrum has it: 1 or 2."""
    times = np.full(length // 2 + 1, 2.0)
    times[0] = 1
    if length % 2 == 0:
        times[-1] = 1
    return times


@no_warnings
def _irfft(x, *, length):
    dtype = np.zeros((), _complex_dtype(x.dtype)).real.dtype
    return np.fft.irfft(x, length).astype(dtype, copy=False)


def _irfft_vjp(g, x_dtype, length):
    back = conjugated(rfft(g, length=length))
    times = np.asarray(_multiplicity(length) / length, np_dtype(back))
    return cast(multiply(back, times), dtype=x_dtype)


def _irfft_infer(x, *, length):
    dtype = _complex_dtype(np_dtype(x))
    return (*x.shape[:-1], length), np.zeros((), dtype).real.dtype


# `rfft` returns the first length // 2 + 1 frequencies of the `fft` of real numbers. `irfft` is the
# inverse.
rfft = Op(
    "rfft", _rfft, _rfft_vjp, inputs=("x",), raises=True,
    infer=lambda x, length: ((*x.shape[:-1], length // 2 + 1), _complex_dtype(np_dtype(x))),
)  # fmt: skip
irfft = Op("irfft", _irfft, _irfft_vjp, inputs=("x",), raises=True, infer=_irfft_infer)
