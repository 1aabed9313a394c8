"""Elementwise functions of NumPy as ops: roots, remainders, bits, and sin(πx) / (πx)."""

import math

import numpy as np

from framework.core.numpy_warnings import no_warnings
from framework.core.op import Op, elementwise, no_derivative
from framework.kernels.gamma import in_float64
from framework.ops.elementwise import (
    binary,
    divide,
    divide_no_nan,
    negative,
    sigmoid,
    trunc,
    unary,
)
from framework.ops.public import public
from framework.ops.special import _lead

# ---- roots, remainders, exponents ----------------------------------------------------------------

cbrt = unary("cbrt", np.cbrt, lambda g, y: g / (y * y * 3))
# At (0, 0) hypot is not differentiable; the derivative rules return 0 there.
hypot = binary(
    "hypot", no_warnings(np.hypot),
    lambda g, y, a: g * divide_no_nan(a, y), lambda g, y, b: g * divide_no_nan(b, y),
)  # fmt: skip
fmod = binary(
    "fmod", no_warnings(np.fmod), lambda g: g, lambda g, a, b: negative(g * trunc(divide(a, b)))
)
logaddexp2 = binary(
    "logaddexp2", no_warnings(np.logaddexp2),
    lambda g, a, b: g * sigmoid(_lead(a, b) * math.log(2)),
    lambda g, a, b: g * sigmoid(_lead(b, a) * math.log(2)),
)  # fmt: skip
# `ldexp` is a * 2**b for integers b. The result may be finite even where 2**b overflows.
ldexp = binary(
    "ldexp", no_warnings(lambda a, b: np.ldexp(a, b).astype(a.dtype, copy=False)),
    lambda g, b: ldexp(g, b), no_derivative,
)  # fmt: skip
# As in TensorFlow, the derivative of `nextafter` is 1 with respect to a, and 0 with respect to b.
nextafter = binary("nextafter", no_warnings(np.nextafter), lambda g: g, lambda g: g * 0)
signbit = unary("signbit", np.signbit, no_derivative)

# ---- integers and their bits ---------------------------------------------------------------------

gcd = binary("gcd", np.gcd, no_derivative, no_derivative)
lcm = binary("lcm", np.lcm, no_derivative, no_derivative)
left_shift = binary("left_shift", np.left_shift, no_derivative, no_derivative)
right_shift = binary("right_shift", np.right_shift, no_derivative, no_derivative)


def _bitcast_infer(x, *, dtype):
    return _bitcast_shape(tuple(x.shape), np.dtype(getattr(x.dtype, "np", x.dtype)), dtype), dtype


def _bitcast_shape(shape, source, dtype):
    if source.itemsize == dtype.itemsize or shape[-1] is None:
        return shape
    return (*shape[:-1], shape[-1] * source.itemsize // dtype.itemsize)


# `bitcast` reads the same bytes as another dtype. Only the last dimension changes, by the ratio of
# the item sizes.
bitcast = Op(
    "bitcast", lambda x, *, dtype: np.ascontiguousarray(x).reshape(x.shape).view(dtype),
    no_derivative, infer=_bitcast_infer,
)  # fmt: skip

# ---- sin(πx) / (πx) and its derivatives ----------------------------------------------------------

# For |πx| above this limit, the recurrence for low orders loses no digits.
_NEAR = 3.0


def _sinc_near(z, n):
    """Return the n-th derivative of sin(z) / z by its power series."""
    total, square = np.zeros_like(z), z * z
    for k in range(20 + n, (n + 1) // 2 - 1, -1):
        # This is the coefficient of z^(2k - n) in the n-th derivative of (-1)^k z^(2k) / (2k+1)!
        factor = (-1) ** k / ((2 * k + 1) * math.factorial(2 * k - n))
        total = total * square + factor
    return total * z if n % 2 else total


def _sinc_far(z, n):
    """Return the n-th derivative of f(z) = sin(z) / z by z f⁽ⁿ⁾ = sin(z + nπ/2) - n f⁽ⁿ⁻¹⁾."""
    value = np.sin(z) / z
    for m in range(1, n + 1):
        value = (np.sin(z + m * (math.pi / 2)) - m * value) / z
    return value


@in_float64
def _sinc(x, *, n):
    whole = (x == np.rint(x)) & (x != 0) & (n == 0)
    z = x * math.pi
    bound = _NEAR + n
    near, far = np.clip(z, -bound, bound), np.where(np.abs(z) > bound, z, bound)
    y = np.where(np.abs(z) <= bound, _sinc_near(near, n), _sinc_far(far, n))
    y = np.where(np.isnan(x), np.nan, np.where(whole & np.isfinite(x), 0.0, y))
    return np.where(np.isinf(x), 0.0, y) * math.pi**n


# `sinc` is the n-th derivative of sin(πx) / (πx). For infinite x it returns the limit, 0.
sinc = elementwise("sinc", _sinc, lambda g, x, n: g * sinc(x, n=n + 1), inputs=("x",))

# ---- public functions ----------------------------------------------------------------------------

public(cbrt, "the real cube root", "floats", tf=None)
public(
    hypot,
    "sqrt({x}² + {y}²), without overflow; its derivatives at (0, 0) are 0",
    "alike_floats",
    tf=None,
)
public(logaddexp2, "log2(2**{x} + 2**{y}), without overflow", "alike_floats", tf=None)
public(nextafter, "the next number of the dtype after {x} towards {y}", "alike_floats", tf=None)
public(gcd, "the greatest common divisor of the integers {x} and {y}", tf=None)
public(lcm, "the least common multiple of the integers {x} and {y}", tf=None)
