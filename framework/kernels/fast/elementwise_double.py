"""Elementwise functions of one float64 for generated loops; `math.py` has those for float32.

The functions have no branches and make no calls, so that LLVM vectorizes the loops. Methods and
coefficients: S. Moshier, Cephes (netlib.org/cephes). Units in the last place (ulp) are those of the
result.
"""

import numpy as np
from numba import float64, int64, types
from numba.extending import intrinsic

from framework.kernels.erf import _P64, _W64
from framework.kernels.fast.math import element


@intrinsic
def _bits(_, x):
    """Return the bits of a float64 as an int64."""

    def emit(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(types.int64))

    return types.int64(types.float64), emit


@intrinsic
def _of_bits(_, bits):
    """Return the float64 whose bits are an int64."""

    def emit(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(types.float64))

    return types.float64(types.int64), emit


@element
def _two_to_64(n):
    """Return 2**n for -1022 <= n <= 1023."""
    return _of_bits((n + int64(1023)) << int64(52))


@element
def _reduced_64(x):
    """Return n and exp(r) - 1 with x = n log 2 + r."""
    n = np.rint(x * 1.4426950408889634073599)
    r = x - n * 6.93145751953125e-1 - n * 1.42860682030941723212e-6
    z = r * r
    p = 1.26177193074810590878e-4
    p = p * z + 3.02994407707441961300e-2
    p = (p * z + 9.99999999999999999910e-1) * r
    q = 3.00198505138664455042e-6
    q = q * z + 2.52448340349684104192e-3
    q = q * z + 2.27265548208155028766e-1
    q = q * z + 2.0
    return n, 2.0 * (p / (q - p))


@element
def exp_64(x):
    """Return exp(x) within 2 ulp."""
    inside = x if x > -746.0 else -746.0
    inside = inside if inside < 710.0 else 710.0
    n, less = _reduced_64(inside)
    n = int64(n)
    half = n >> int64(1)
    y = (less + 1.0) * _two_to_64(half) * _two_to_64(n - half)
    return x if x != x else y


@element
def expm1_64(x):
    """Return expm1(x) within 3 ulp."""
    inside = x if x > -45.0 else -45.0
    inside = inside if inside < 710.0 else 710.0
    n, less = _reduced_64(inside)
    half = _two_to_64(int64(n) - int64(1))
    y = 2.0 * (less * half + (half - 0.5))
    return x if x != x or x == 0.0 else y


@element
def log_64(x):
    """Return log(x) within 2 ulp."""
    small = x < 2.2250738585072014e-308
    bits = _bits(x * 4503599627370496.0 if small else x)
    e = float64(((bits >> int64(52)) & int64(2047)) - (int64(1074) if small else int64(1022)))
    m = _of_bits((bits & int64(0x000FFFFFFFFFFFFF)) | int64(0x3FE0000000000000))
    low = m < 0.70710678118654752440
    e = e - 1.0 if low else e
    m = m + m - 1.0 if low else m - 1.0
    z = m * m
    p = 1.01875663804580931796e-4
    p = p * m + 4.97494994976747001425e-1
    p = p * m + 4.70579119878881725854
    p = p * m + 1.44989225341610930846e1
    p = p * m + 1.79368678507819816313e1
    p = p * m + 7.70838733755885391666
    q = m + 1.12873587189167450590e1
    q = q * m + 4.52279145837532221105e1
    q = q * m + 8.29875266912776603211e1
    q = q * m + 7.11544750618563894466e1
    q = q * m + 2.31251620126765340583e1
    y = m * (z * p / q) - e * 2.121944400546905827679e-4 - 0.5 * z
    y = m + y + e * 0.693359375
    y = x if x == np.inf else y
    y = -np.inf if x == 0.0 else y
    return y if x >= 0.0 else np.nan


@element
def log1p_64(x):
    """Return log1p(x) within 3 ulp."""
    u = 1.0 + x
    d = u - 1.0
    exact = d == 0.0 or u == np.inf
    y = log_64(u) * (x / (1.0 if exact else d))
    return x if exact else y


@element
def tanh_64(x):
    """Return tanh(x) within 4 ulp."""
    size = abs(x)
    large = 1.0 - 2.0 / (exp_64(size + size) + 1.0)
    z = x * x
    p = -9.64399179425052238628e-1
    p = p * z - 9.92877231001918586564e1
    p = p * z - 1.61468768441708447952e3
    q = z + 1.12811678491632931402e2
    q = q * z + 2.23548839060100448583e3
    q = q * z + 4.84406305325125486048e3
    small = x + x * z * (p / q)
    large = -large if x < 0.0 else large
    return large if size >= 0.625 else small


@element
def sigmoid_64(x):
    """Return sigmoid(x) within 4 ulp."""
    e = exp_64(-abs(x))
    return (1.0 if x >= 0.0 else e) / (1.0 + e)


@element
def log1p_exp_64(x):
    """Return log(1 + exp(x)), for x <= 0 only."""
    return log1p_64(exp_64(x))


@element
def softplus_64(x):
    """Return softplus(x) within 4 ulp."""
    return (0.0 if x <= 0.0 else x) + log1p_exp_64(-abs(x))


@element
def erf_64(x):
    """Return erf(x) within 4 ulp; the method is that of `kernels/erf.py`."""
    size = abs(x)
    size = 6.0 if size > 6.0 else size
    squared = size * size
    small = _P64[0]
    for c in _P64[1:]:
        small = small * squared + c
    u = (size - 3.0) / (size + 3.0)
    large = _W64[0]
    for c in _W64[1:]:
        large = large * u + c
    large = 1.0 - large * exp_64(-squared)
    large = -large if x < 0.0 else large
    return small * x + x if size < 1.0 else large


@element
def gelu_64(x):
    """Return x Φ(x), Φ the normal distribution function, within 1e-15 of |x|."""
    return x * (erf_64(x * 0.70710678118654752440) + 1.0) * 0.5


@element
def gelu_slope_64(x):
    """Return the derivative of `gelu_64`."""
    density = exp_64(x * x * -0.5) * 0.39894228040143267794
    return (erf_64(x * 0.70710678118654752440) + 1.0) * 0.5 + x * density


@element
def gelu_tanh_64(x):
    """Return the tanh approximation of `gelu_64`; Hendrycks & Gimpel 2016."""
    return x * _normal_sigmoid_64(x)


@element
def _normal_sigmoid_64(x):
    """Return the approximation of Φ(x), accurate where it is small too."""
    return sigmoid_64((x * x * 0.044715 + 1.0) * x * (2.0 * 0.79788456080286535588))


@element
def gelu_tanh_slope_64(x):
    """Return the derivative of `gelu_tanh_64`."""
    s = _normal_sigmoid_64(x)
    inner = (x * x * (3.0 * 0.044715) + 1.0) * (2.0 * 0.79788456080286535588)
    return s + x * (s * (1.0 - s)) * inner


def warm():
    """Do nothing: these functions are inlined in the loops that call them."""
