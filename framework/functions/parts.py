"""Complex numbers and their parts. Real arguments have the imaginary part 0."""

import math
from typing import Any

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.conversion import tensor
from framework.core.errors import DTypeError
from framework.core.promotion import strict_all
from framework.core.tensor import Tensor
from framework.ops import complex as ops
from framework.ops import elementwise


def complex(real: Any, imag: Any, name: str | None = None) -> Tensor:
    """Return real + i imag: complex64 from two float32 tensors, complex128 from two float64.

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


def real(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the real part."""
    x = tensor(input)
    return ops.real(x) if x.dtype.is_complex else x


def imag(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the imaginary part; zeros for real numbers."""
    x = tensor(input)
    return ops.imag(x) if x.dtype.is_complex else elementwise.multiply(x, 0)


def conj(x: TensorLike, name: str | None = None) -> Tensor:
    """Return the complex conjugate, and real numbers unchanged."""
    x = tensor(x)
    return elementwise.conj(x) if x.dtype.is_complex else x


def angle(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the angle of complex numbers, in (-π, π]; 0 or π for real numbers.

    >>> import framework as tf
    >>> tf.math.angle([1j, -1.0 + 0j]).numpy().round(4)
    array([1.5708, 3.1416])
    """
    x = tensor(input)
    if x.dtype.is_complex:
        return ops.angle(x)
    pi, zero = (np.asarray(v, x.dtype.np) for v in (math.pi, 0))
    return elementwise.select(elementwise.less(x, zero), pi, zero)
