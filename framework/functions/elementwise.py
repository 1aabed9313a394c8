"""TensorFlow's elementwise functions. Operands broadcast; two different dtypes raise.

>>> import framework as tf
>>> tf.add([1.0, 2.0], 3.0).numpy()
array([4., 5.], dtype=float32)
"""

from typing import Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import DTypeLike, TensorLike
from framework.core.cast import cast as _cast
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, InvalidArgumentError
from framework.core.promotion import floating, strict, strict_all
from framework.core.tensor import Tensor
from framework.functions.wrappers import (
    Rule,
    Wrappers,
    alike_floats,
    alike_numbers,
    float_operands,
    floats,
    number,
    numbers,
    real_floats,
)
from framework.ops import division, special
from framework.ops import elementwise as ops
from framework.ops.casting import saturate_cast as _saturate_cast
from framework.ops.ragged_tensor import RaggedTensor
from framework.ops.slices import IndexedSlices, sliced
from framework.ops.sparse_tensor import SparseTensor

tf = Wrappers(__name__)

# ---- arithmetic ----------------------------------------------------------------------------------

add = tf.binary(ops.add, "{x} + {y}", alike_numbers)
subtract = tf.binary(ops.subtract, "{x} - {y}", alike_numbers)
multiply = tf.binary(ops.multiply, "{x} * {y}", alike_numbers)
truediv = tf.binary(
    division.true_divide,
    "{x} / {y}; integers give float64 (float32 for 8 and 16 bits), as in TensorFlow",
    alike_numbers,
    name="truediv",
)
divide = tf.binary(division.true_divide, "{x} / {y}, as the operator does", alike_numbers, "divide")
realdiv = tf.binary(ops.divide, "{x} / {y} for real numbers", alike_numbers, "realdiv")
floordiv = tf.binary(
    division.floor_divide,
    "floor({x} / {y}); integer division by 0 raises InvalidArgumentError",
    alike_numbers,
    name="floordiv",
)
floormod = tf.binary(
    division.floor_mod,
    "{x} - floordiv({x}, {y}) * {y}: the remainder with the sign of {y}",
    alike_numbers,
    name="floormod",
)
mod = floormod
pow = tf.binary(ops.power, "{x} to the power {y}", alike_numbers, "pow")
maximum = tf.binary(
    ops.maximum, "the larger of {x} and {y}; at a tie {x} gets the gradient", alike_numbers
)
minimum = tf.binary(
    ops.minimum, "the smaller of {x} and {y}; at a tie {x} gets the gradient", alike_numbers
)
multiply_no_nan = tf.binary(
    ops.multiply_no_nan, "{x} * {y}, or 0 where {y} is 0, even if {x} is inf or NaN"
)
xlogy = tf.binary(special.xlogy, "{x} * log({y}), or 0 where {x} is 0", alike_floats)
xlog1py = tf.binary(special.xlog1py, "{x} * log(1 + {y}), or 0 where {x} is 0", alike_floats)
xdivy = tf.binary(special.xdivy, "{x} / {y}, or 0 where {x} is 0", alike_floats)


def atan2(y: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Return the angle of the point (x, y), in (-π, π]."""
    return ops.atan2(*float_operands(y, x, "atan2"))


def squared_difference(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Return (x - y)²."""
    return ops.square(ops.subtract(*strict(x, y)))


def divide_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Return x / y, or 0 where y is 0. Integers are cast as in `truediv`."""
    return ops.divide_no_nan(*division.in_floats(*strict(x, y)))


def truncatediv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Return x / y for integers, rounded towards zero."""
    x, y = strict_all(tensor(x), y)
    quotient = division.floor_divide(x, y)
    return ops.select(_rounded_away(x, y), quotient + 1, quotient)


def _rounded_away(x, y):
    """Return where `floordiv` rounds away from zero: signs differ and the remainder is not 0."""
    rest = division.floor_mod(x, y)
    return ops.logical_and(rest != 0, ops.logical_xor(x < 0, rest < 0))


def truncatemod(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Return x - truncatediv(x, y) * y: the remainder with the sign of x."""
    x, y = strict_all(tensor(x), y)
    rest = division.floor_mod(x, y)
    return ops.select(_rounded_away(x, y), rest - y, rest)


def scalar_mul(scalar: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Return scalar * x for a 0-d `scalar`."""
    if np.ndim(scalar.array if hasattr(scalar, "array") else scalar):
        raise InvalidArgumentError(f"scalar_mul: `scalar` must be 0-d, got {scalar!r}.")
    return ops.multiply(*strict(scalar, x))


def add_n(inputs: TensorLike, name: str | None = None) -> Tensor:
    """Return the sum of a list of tensors of one shape and dtype.

    >>> import framework as tf
    >>> tf.add_n([tf.constant(1.0), tf.constant(2.0), tf.constant(4.0)]).numpy()
    np.float32(7.0)
    """
    if not isinstance(inputs, (list, tuple)):
        inputs = [inputs]
    if not inputs:
        raise InvalidArgumentError("add_n: `inputs` must hold at least one tensor, got none.")
    total = ops.identity(number(inputs[0], "add_n"))
    for each in inputs[1:]:
        total, other = strict(total, each)
        if total.shape != other.shape:
            raise InvalidArgumentError(
                f"add_n: all inputs must have one shape, got {total.shape} and {other.shape}."
            )
        total = ops.add(total, other)
    return total


# ---- comparisons and logic -----------------------------------------------------------------------

equal = tf.binary(ops.equal, "{x} == {y}, element by element")
not_equal = tf.binary(ops.not_equal, "{x} != {y}, element by element")
less = tf.binary(ops.less, "{x} < {y}, element by element")
less_equal = tf.binary(ops.less_equal, "{x} <= {y}, element by element")
greater = tf.binary(ops.greater, "{x} > {y}, element by element")
greater_equal = tf.binary(ops.greater_equal, "{x} >= {y}, element by element")


def _booleans(*operands):
    """Return operands as boolean tensors; the last argument is the caller's name."""
    *operands, name = operands
    tensors = [tensor(x) for x in operands]
    for x in tensors:
        if x.dtype != dtypes.bool_:
            raise DTypeError(f"{name}: expected booleans, got {x.dtype}. Compare: x != 0.")
    return tensors if len(tensors) > 1 else tensors[0]


booleans = Rule(_booleans, "b", named=True)
logical_and = tf.binary(ops.logical_and, "{x} and {y}, for booleans", booleans)
logical_or = tf.binary(ops.logical_or, "{x} or {y}, for booleans", booleans)
logical_not = tf.unary(ops.logical_not, "not {x}, for booleans", booleans)
is_nan = tf.unary(ops.is_nan, "whether each element is NaN", floats)
is_inf = tf.unary(ops.is_inf, "whether each element is inf or -inf", floats)
is_finite = tf.unary(ops.is_finite, "whether each element is neither inf nor NaN", floats)


def logical_xor(x: TensorLike, y: TensorLike, name: str | None = "LogicalXor") -> Tensor:
    """Return whether exactly one of x and y is true, for booleans."""
    return ops.logical_xor(*_booleans(x, y, "logical_xor"))


# ---- one operand: rounding and sign --------------------------------------------------------------

abs = tf.unary(ops.absolute, "the absolute value; its derivative at 0 is 0", numbers)
negative = tf.unary(ops.negative, "-{x}", numbers)
sign = tf.unary(ops.sign, "-1, 0 or 1: the sign of {x}", numbers)
square = tf.unary(ops.square, "{x}²", numbers)
reciprocal = tf.unary(ops.reciprocal, "1 / {x}", floats)
rint = tf.unary(
    ops.round_, "{x} rounded to the nearest integer, halves to even", floats, name="rint"
)
floor = tf.unary(ops.floor, "{x} rounded down to an integer", floats)
ceil = tf.unary(ops.ceil, "{x} rounded up to an integer", floats)


def round(x: TensorLike, name: str | None = None) -> Tensor:
    """Round to the nearest integer, halves to even."""
    x = tensor(x)
    return ops.round_(x) if x.dtype.is_floating else ops.identity(x)


def reciprocal_no_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """Return 1 / x, or 0 where x is 0."""
    x = floating(x, "reciprocal_no_nan")
    return ops.divide_no_nan(np.ones((), x.dtype.np), x)


# ---- one operand: powers, exponentials, angles ---------------------------------------------------

sqrt = tf.unary(ops.sqrt, "the square root", floats)
rsqrt = tf.unary(ops.rsqrt, "1 / sqrt({x})", floats)
exp = tf.unary(ops.exp, "e to the power {x}", floats)
expm1 = tf.unary(ops.expm1, "exp({x}) - 1, accurate near 0", floats)
log = tf.unary(ops.log, "the natural logarithm", floats)
log1p = tf.unary(ops.log1p, "log(1 + {x}), accurate near 0", floats)
sin = tf.unary(ops.sin, "the sine of {x} in radians", floats)
cos = tf.unary(ops.cos, "the cosine of {x} in radians", floats)
tan = tf.unary(ops.tan, "the tangent of {x} in radians", floats)
asin = tf.unary(ops.asin, "the angle in [-π/2, π/2] whose sine is {x}", floats)
acos = tf.unary(ops.acos, "the angle in [0, π] whose cosine is {x}", floats)
atan = tf.unary(ops.atan, "the angle in (-π/2, π/2) whose tangent is {x}", floats)
sinh = tf.unary(ops.sinh, "the hyperbolic sine", floats)
cosh = tf.unary(ops.cosh, "the hyperbolic cosine", floats)
tanh = tf.unary(ops.tanh, "the hyperbolic tangent", floats)
asinh = tf.unary(ops.asinh, "the number whose hyperbolic sine is {x}", floats)
acosh = tf.unary(ops.acosh, "the number >= 0 whose hyperbolic cosine is {x}", floats)
atanh = tf.unary(ops.atanh, "the number whose hyperbolic tangent is {x}", floats)
sigmoid = tf.unary(ops.sigmoid, "1 / (1 + exp(-{x}))", floats)
erf = tf.unary(special.erf, "the Gauss error function", real_floats)


def log_sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """Return log(sigmoid(x)), accurate for large negative x too."""
    return ops.negative(ops.softplus(ops.negative(floating(x, "log_sigmoid"))))


def polyval(coeffs: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Evaluate a polynomial by Horner's rule.

    Args:
        coeffs: a list of numbers or tensors, the coefficient of the highest power first.
        x: the points at which to evaluate.

    >>> import framework as tf
    >>> tf.math.polyval([2.0, 3.0, 1.0], 2.0).numpy()
    np.float32(15.0)
    """
    if not isinstance(coeffs, (list, tuple)):
        raise InvalidArgumentError(f"polyval: `coeffs` must be a list, got {coeffs!r}.")
    x = tensor(x)
    if not coeffs:
        return ops.multiply(x, 0)
    value = strict(coeffs[0], x)[0]
    for coefficient in coeffs[1:]:
        value = ops.add(ops.multiply(value, x), strict(coefficient, x)[0])
    return tensor(value)


# ---- dtypes --------------------------------------------------------------------------------------


def cast(x: TensorLike, dtype: DTypeLike, name: str | None = None) -> Any:
    """Cast x to another dtype. Gradients pass between floating and complex dtypes only.

    IndexedSlices give IndexedSlices, a SparseTensor a SparseTensor.

    >>> import framework as tf
    >>> tf.cast([1.8, 2.2], tf.int32).numpy()
    array([1, 2], dtype=int32)
    """
    dtype = dtypes.as_dtype(dtype)
    if type(x) is not Tensor:
        if type(x) is IndexedSlices:
            return sliced(cast(x.values, dtype), x.indices, x.dense_shape)
        if isinstance(x, SparseTensor):
            return x.with_values(cast(x.values, dtype))
        if isinstance(x, RaggedTensor):
            return x.with_flat_values(cast(x.flat_values, dtype))
        x = tensor(x)
    return x if x.dtype is dtype else _cast(x, dtype=dtype.np)


def saturate_cast(value: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """Cast `value` to another dtype; values outside its range become its nearest limit.

    Limits of integers are exact, even if the dtype of `value` cannot represent them; NaN becomes 0.

    >>> import framework as tf
    >>> tf.saturate_cast([-1.0, 3e9], tf.int32).numpy()
    array([        -1, 2147483647], dtype=int32)
    """
    return _saturate_cast(tensor(value), dtypes.as_dtype(dtype))
