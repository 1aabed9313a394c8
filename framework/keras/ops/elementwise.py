"""keras.ops, element by element. Operands broadcast and promote; integers become floats."""

import math

from framework.core import dtypes
from framework.core.conversion import tensor
from framework.core.promotion import promote
from framework.keras.ops.argument_conversion import as_dtype, floating
from framework.ops import casting, special
from framework.ops import elementwise as ops
from framework.ops.division import promoted_floats

# ---- arithmetic --------------------------------------------------------------------------------


def add(x1, x2):
    """x1 + x2.

    >>> from framework import keras
    >>> keras.ops.add([1, 2], 0.5)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1.5, 2.5], dtype=float32)>
    """
    return ops.add(*promote(x1, x2))


def subtract(x1, x2):
    """x1 - x2."""
    return ops.subtract(*promote(x1, x2))


def multiply(x1, x2):
    """x1 * x2."""
    return ops.multiply(*promote(x1, x2))


def divide(x1, x2):
    """x1 / x2; integers become floats."""
    return ops.divide(*promoted_floats(x1, x2))


def true_divide(x1, x2):
    """x1 / x2; integers become floats."""
    return ops.divide(*promoted_floats(x1, x2))


def divide_no_nan(x1, x2):
    """x1 / x2, and 0 where x2 is 0."""
    return ops.divide_no_nan(*promoted_floats(x1, x2))


def floor_divide(x1, x2):
    """The largest integer value not above x1 / x2."""
    return ops.floor_divide(*promote(x1, x2))


def mod(x1, x2):
    """The remainder of x1 / x2, with the sign of x2."""
    return ops.floor_mod(*promote(x1, x2))


def power(x1, x2):
    """x1 to the power x2."""
    return ops.power(*promote(x1, x2))


def maximum(x1, x2):
    """The larger of x1 and x2."""
    return ops.maximum(*promote(x1, x2))


def minimum(x1, x2):
    """The smaller of x1 and x2."""
    return ops.minimum(*promote(x1, x2))


def arctan2(x1, x2):
    """The angle of the point (x2, x1), in (-π, π]."""
    return ops.atan2(*promoted_floats(x1, x2))


def clip(x, x_min, x_max):
    """x kept within x_min and x_max."""
    x = tensor(x)
    return ops.clip(*promote(as_dtype(x, "int32") if x.dtype.is_bool else x, x_min, x_max))


# ---- comparisons and logic -----------------------------------------------------------------------


def equal(x1, x2):
    """x1 == x2."""
    return ops.equal(*promote(x1, x2))


def not_equal(x1, x2):
    """x1 != x2."""
    return ops.not_equal(*promote(x1, x2))


def less(x1, x2):
    """x1 < x2."""
    return ops.less(*promote(x1, x2))


def less_equal(x1, x2):
    """x1 <= x2."""
    return ops.less_equal(*promote(x1, x2))


def greater(x1, x2):
    """x1 > x2."""
    return ops.greater(*promote(x1, x2))


def greater_equal(x1, x2):
    """x1 >= x2."""
    return ops.greater_equal(*promote(x1, x2))


def logical_and(x1, x2):
    """x1 and x2; numbers count as true unless 0."""
    return ops.logical_and(as_dtype(x1, "bool"), as_dtype(x2, "bool"))


def logical_or(x1, x2):
    """x1 or x2; numbers count as true unless 0."""
    return ops.logical_or(as_dtype(x1, "bool"), as_dtype(x2, "bool"))


def logical_xor(x1, x2):
    """Whether exactly one of x1 and x2 is true."""
    return ops.logical_xor(as_dtype(x1, "bool"), as_dtype(x2, "bool"))


def logical_not(x):
    """not x; numbers count as true unless 0."""
    return ops.logical_not(as_dtype(x, "bool"))


def bitwise_and(x, y):
    """The bits set in both."""
    return ops.bitwise_and(*promote(x, y))


def bitwise_or(x, y):
    """The bits set in either."""
    return ops.bitwise_or(*promote(x, y))


def bitwise_xor(x, y):
    """The bits set in exactly one."""
    return ops.bitwise_xor(*promote(x, y))


def bitwise_not(x):
    """Each bit turned."""
    return ops.invert(tensor(x))


bitwise_invert = bitwise_not


def isnan(x):
    """Where x is nan."""
    return ops.is_nan(floating(x))


def isinf(x):
    """Where x is inf or -inf."""
    return ops.is_inf(floating(x))


def isfinite(x):
    """Where x is neither inf nor nan."""
    return ops.is_finite(floating(x))


def isclose(x1, x2, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Where |x1 - x2| <= atol + rtol * |x2|."""
    x1, x2 = promoted_floats(x1, x2)
    near = ops.less_equal(ops.absolute(x1 - x2), ops.absolute(x2) * rtol + atol)
    near = ops.logical_or(near, ops.equal(x1, x2))  # two infinities
    return ops.logical_or(near, ops.logical_and(isnan(x1), isnan(x2))) if equal_nan else near


# ---- one operand ---------------------------------------------------------------------------------


def absolute(x):
    """The absolute value."""
    x = tensor(x)
    return x if x.dtype.is_bool else ops.absolute(x)


abs = absolute


def negative(x):
    """-x."""
    return ops.negative(tensor(x))


def sign(x):
    """-1, 0 or 1."""
    return ops.sign(tensor(x))


def square(x):
    """x²."""
    x = tensor(x)
    return ops.square(as_dtype(x, "int32") if x.dtype.is_bool else x)


def reciprocal(x):
    """1 / x."""
    return ops.reciprocal(floating(x))


def floor(x):
    """The largest integer value not above x, as a float."""
    return ops.floor(floating(x))


def ceil(x):
    """The smallest integer value not below x, as a float."""
    return ops.ceil(floating(x))


def trunc(x):
    """x without its fraction."""
    x = tensor(x)
    return ops.trunc(x) if x.dtype.is_floating else x


def round(x, decimals=0):
    """x rounded to `decimals` decimals, halves to even."""
    x = tensor(x)
    if not x.dtype.is_floating:
        x = as_dtype(x, "int32") if x.dtype.is_bool else x
        if decimals >= 0:
            return x
        return as_dtype(round(floating(x), decimals), x.dtype)
    if not decimals:
        return ops.round_(x)
    scale = 10.0**decimals
    return ops.divide(ops.round_(ops.multiply(x, scale)), scale)


def sqrt(x):
    """The square root."""
    return ops.sqrt(floating(x))


def rsqrt(x):
    """1 / sqrt(x)."""
    return ops.rsqrt(floating(x))


def exp(x):
    """e to the power x."""
    return ops.exp(floating(x))


def exp2(x):
    """2 to the power x."""
    return ops.exp(floating(x) * math.log(2))


def expm1(x):
    """exp(x) - 1, exact near 0."""
    return ops.expm1(floating(x))


def log(x):
    """The natural logarithm."""
    return ops.log(floating(x))


def log2(x):
    """The logarithm to base 2."""
    return ops.log(floating(x)) / math.log(2)


def log10(x):
    """The logarithm to base 10."""
    return ops.log(floating(x)) / math.log(10)


def log1p(x):
    """log(1 + x), exact near 0."""
    return ops.log1p(floating(x))


def logaddexp(x1, x2):
    """log(exp(x1) + exp(x2)), without overflow."""
    return special.logaddexp(*promoted_floats(x1, x2))


def erf(x):
    """The Gauss error function."""
    return special.erf(floating(x))


def sin(x):
    """The sine of radians."""
    return ops.sin(floating(x))


def cos(x):
    """The cosine of radians."""
    return ops.cos(floating(x))


def tan(x):
    """The tangent of radians."""
    return ops.tan(floating(x))


def arcsin(x):
    """The angle in [-π/2, π/2] whose sine is x."""
    return ops.asin(floating(x))


def arccos(x):
    """The angle in [0, π] whose cosine is x."""
    return ops.acos(floating(x))


def arctan(x):
    """The angle in (-π/2, π/2) whose tangent is x."""
    return ops.atan(floating(x))


def sinh(x):
    """The hyperbolic sine."""
    return ops.sinh(floating(x))


def cosh(x):
    """The hyperbolic cosine."""
    return ops.cosh(floating(x))


def tanh(x):
    """The hyperbolic tangent."""
    return ops.tanh(floating(x))


def arcsinh(x):
    """The number whose hyperbolic sine is x."""
    return ops.asinh(floating(x))


def arccosh(x):
    """The number >= 0 whose hyperbolic cosine is x."""
    return ops.acosh(floating(x))


def arctanh(x):
    """The number whose hyperbolic tangent is x."""
    return ops.atanh(floating(x))


def cast(x, dtype):
    """x in another dtype."""
    return as_dtype(x, dtype)


def saturate_cast(x, dtype):
    """x in another dtype; what lies outside its range becomes the nearest end of it."""
    return casting.saturate_cast(tensor(x), dtypes.as_dtype(dtype))
