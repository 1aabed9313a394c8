"""Elementwise functions of keras.ops. Operands broadcast and promote by Keras's rules.

>>> from framework import keras
>>> keras.ops.add([1, 2], 0.5)
<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1.5, 2.5], dtype=float32)>
"""

import math
from typing import Any

from framework.core import dtypes
from framework.core.argument_types import DTypeLike, TensorLike
from framework.core.conversion import tensor
from framework.core.promotion import promote
from framework.core.tensor import Tensor
from framework.functions import elementwise as tf
from framework.keras.ops.argument_conversion import as_dtype, floating
from framework.keras.ops.wrappers import (
    KerasWrappers,
    alike_floats,
    alike_numbers,
    anything,
    truths,
)
from framework.ops import casting, special
from framework.ops import elementwise as ops
from framework.ops.division import promoted_floats

keras = KerasWrappers(__name__)

# ---- arithmetic ----------------------------------------------------------------------------------

add = keras.binary(tf.add)
subtract = keras.binary(tf.subtract)
multiply = keras.binary(tf.multiply)
divide = keras.binary(ops.divide, "{x} / {y}; integers become floats", alike_floats)
true_divide = keras.binary(divide, rule=alike_floats, name="true_divide")
divide_no_nan = keras.binary(ops.divide_no_nan, "{x} / {y}, or 0 where {y} is 0", alike_floats)
floor_divide = keras.binary(
    ops.floor_divide, "the largest integer value not above {x} / {y}", alike_numbers
)
mod = keras.binary(
    ops.floor_mod, "the remainder of {x} / {y}, with the sign of {y}", alike_numbers, name="mod"
)
power = keras.binary(tf.pow, rule=alike_numbers, name="power")
maximum = keras.binary(tf.maximum)
minimum = keras.binary(tf.minimum)
arctan2 = keras.binary(
    ops.atan2, "the angle of the point ({y}, {x}), in (-π, π]", alike_floats, name="arctan2"
)
logaddexp = keras.binary(
    special.logaddexp, "log(exp({x}) + exp({y})), without overflow", alike_floats
)


def clip(x: TensorLike, x_min: TensorLike, x_max: TensorLike) -> Tensor:
    """Clip x to [x_min, x_max]."""
    x = tensor(x)
    return ops.clip(*promote(as_dtype(x, "int32") if x.dtype.is_bool else x, x_min, x_max))


# ---- comparisons and logic -----------------------------------------------------------------------

equal = keras.binary(tf.equal)
not_equal = keras.binary(tf.not_equal)
less = keras.binary(tf.less)
less_equal = keras.binary(tf.less_equal)
greater = keras.binary(tf.greater)
greater_equal = keras.binary(tf.greater_equal)
logical_and = keras.binary(ops.logical_and, "{x} and {y}; numbers count as true unless 0", truths)
logical_or = keras.binary(ops.logical_or, "{x} or {y}; numbers count as true unless 0", truths)
logical_xor = keras.binary(ops.logical_xor, "whether exactly one of {x} and {y} is true", truths)
logical_not = keras.unary(ops.logical_not, "not {x}; numbers count as true unless 0", truths)
isnan = keras.unary(tf.is_nan, name="isnan")
isinf = keras.unary(tf.is_inf, name="isinf")
isfinite = keras.unary(tf.is_finite, name="isfinite")
bitwise_not = keras.unary(ops.invert, "{x} with each bit inverted", anything, name="bitwise_not")
bitwise_invert = bitwise_not


def bitwise_and(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the bits that are set in both x and y."""
    return ops.bitwise_and(*promote(x, y))


def bitwise_or(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the bits that are set in x or y."""
    return ops.bitwise_or(*promote(x, y))


def bitwise_xor(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the bits that are set in exactly one of x and y."""
    return ops.bitwise_xor(*promote(x, y))


def isclose(
    x1: TensorLike, x2: TensorLike, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False,
) -> Tensor:  # fmt: skip
    """Return whether |x1 - x2| <= atol + rtol * |x2|, for each element."""
    x1, x2 = promoted_floats(x1, x2)
    near = ops.less_equal(ops.absolute(x1 - x2), ops.absolute(x2) * rtol + atol)
    # infinities are compared separately, because their difference is NaN
    near = ops.logical_or(near, ops.equal(x1, x2))
    return ops.logical_or(near, ops.logical_and(isnan(x1), isnan(x2))) if equal_nan else near


# ---- one operand ---------------------------------------------------------------------------------

negative = keras.unary(tf.negative)
sign = keras.unary(tf.sign)
reciprocal = keras.unary(tf.reciprocal)
floor = keras.unary(tf.floor)
ceil = keras.unary(tf.ceil)
sqrt = keras.unary(tf.sqrt)
rsqrt = keras.unary(tf.rsqrt)
exp = keras.unary(tf.exp)
expm1 = keras.unary(tf.expm1)
log = keras.unary(tf.log)
log1p = keras.unary(tf.log1p)
erf = keras.unary(tf.erf)
sin = keras.unary(tf.sin)
cos = keras.unary(tf.cos)
tan = keras.unary(tf.tan)
arcsin = keras.unary(tf.asin, name="arcsin")
arccos = keras.unary(tf.acos, name="arccos")
arctan = keras.unary(tf.atan, name="arctan")
sinh = keras.unary(tf.sinh)
cosh = keras.unary(tf.cosh)
tanh = keras.unary(tf.tanh)
arcsinh = keras.unary(tf.asinh, name="arcsinh")
arccosh = keras.unary(tf.acosh, name="arccosh")
arctanh = keras.unary(tf.atanh, name="arctanh")


def absolute(x: TensorLike) -> Tensor:
    """Return the absolute value."""
    x = tensor(x)
    return x if x.dtype.is_bool else ops.absolute(x)


abs = absolute


def square(x: TensorLike) -> Tensor:
    """Return x²."""
    x = tensor(x)
    return ops.square(as_dtype(x, "int32") if x.dtype.is_bool else x)


def trunc(x: TensorLike) -> Tensor:
    """Round x towards zero."""
    x = tensor(x)
    return ops.trunc(x) if x.dtype.is_floating else x


def round(x: TensorLike, decimals: Any = 0) -> Tensor:
    """Round x to `decimals` decimals, halves to even."""
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


def exp2(x: TensorLike) -> Tensor:
    """Return 2 to the power x."""
    return ops.exp(floating(x) * math.log(2))


def log2(x: TensorLike) -> Tensor:
    """Return the logarithm to base 2."""
    return ops.log(floating(x)) / math.log(2)


def log10(x: TensorLike) -> Tensor:
    """Return the logarithm to base 10."""
    return ops.log(floating(x)) / math.log(10)


def cast(x: TensorLike, dtype: DTypeLike) -> Tensor:
    """Cast x to another dtype."""
    return as_dtype(x, dtype)


def saturate_cast(x: TensorLike, dtype: DTypeLike) -> Tensor:
    """Cast x to another dtype; values outside its range become its nearest limit."""
    return casting.saturate_cast(tensor(x), dtypes.as_dtype(dtype))
