"""Complex numbers and their parts. Real numbers are complex ones without imaginary part."""

import math

import numpy as np

from framework.core.doors import strict_all, tensor
from framework.core.errors import DTypeError
from framework.ops import complex as ops
from framework.ops import elementwise


def complex(real, imag, name=None):
    """real + i imag, of two float32 tensors (complex64) or two float64 tensors (complex128).

    >>> import framework as tf
    >>> tf.complex([1.0, 2.0], 3.0).numpy()
    array([1.+3.j, 2.+3.j], dtype=complex64)
    """
    real, imag = strict_all(real, imag)
    if real.dtype not in ("float32", "float64"):
        raise DTypeError(
            f"complex: `real` and `imag` must both be float32 or both float64, got {real.dtype}."
        )
    return ops.complex_(real, imag)


def real(input, name=None):
    """The real part."""
    x = tensor(input)
    return ops.real(x) if x.dtype.is_complex else x


def imag(input, name=None):
    """The imaginary part; zeros for real numbers."""
    x = tensor(input)
    return ops.imag(x) if x.dtype.is_complex else elementwise.multiply(x, 0)


def conj(x, name=None):
    """The complex conjugate; real numbers as they are."""
    x = tensor(x)
    return elementwise.conj(x) if x.dtype.is_complex else x


def angle(input, name=None):
    """The angle in (-π, π] at which a complex number stands; 0 or π for real ones.

    >>> import framework as tf
    >>> tf.math.angle([1j, -1.0 + 0j]).numpy().round(4)
    array([1.5708, 3.1416])
    """
    x = tensor(input)
    if x.dtype.is_complex:
        return ops.angle(x)
    pi, zero = (np.asarray(v, x.dtype.np) for v in (math.pi, 0))
    return elementwise.select(elementwise.less(x, zero), pi, zero)
