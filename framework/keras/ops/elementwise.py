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
from framework.keras.ops.argument_conversion import as_dtype, floating
from framework.keras.ops.wrappers import (
    KerasWrappers,
    alike_floats,
    alike_numbers,
    truths,
)
from framework.ops import casting
from framework.ops import elementwise as ops
from framework.ops.division import promoted_floats

keras = KerasWrappers(__name__)

# ---- arithmetic ----------------------------------------------------------------------------------

divide = keras.binary(ops.divide, "{x} / {y}; integers become floats", alike_floats)
true_divide = keras.binary(divide, rule=alike_floats, name="true_divide")
floor_divide = keras.binary(
    ops.floor_divide, "the largest integer value not above {x} / {y}", alike_numbers
)
mod = keras.binary(
    ops.floor_mod, "the remainder of {x} / {y}, with the sign of {y}", alike_numbers, name="mod"
)
power = keras.binary(ops.power, "{x} to the power {y}", alike_numbers)


def clip(x: TensorLike, x_min: TensorLike, x_max: TensorLike) -> Tensor:
    """Clip x to [x_min, x_max]."""
    x = tensor(x)
    return ops.clip(*promote(as_dtype(x, "int32") if x.dtype.is_bool else x, x_min, x_max))


# ---- comparisons and logic -----------------------------------------------------------------------

logical_and = keras.binary(ops.logical_and, "{x} and {y}; numbers count as true unless 0", truths)
logical_or = keras.binary(ops.logical_or, "{x} or {y}; numbers count as true unless 0", truths)
logical_xor = keras.binary(ops.logical_xor, "whether exactly one of {x} and {y} is true", truths)
logical_not = keras.unary(ops.logical_not, "not {x}; numbers count as true unless 0", truths)


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
    if not equal_nan:
        return near
    return ops.logical_or(near, ops.logical_and(ops.is_nan(x1), ops.is_nan(x2)))


# ---- one operand ---------------------------------------------------------------------------------


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
