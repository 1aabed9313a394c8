"""TensorFlow's elementwise functions. Operands broadcast; different dtypes raise an error.

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
from framework.core.errors import InvalidArgumentError
from framework.core.promotion import floating, strict, strict_all
from framework.core.tensor import Tensor
from framework.functions.wrappers import (
    Wrappers,
    alike_numbers,
    boolean_operands,
    float_operands,
    number,
)
from framework.ops import division
from framework.ops import elementwise as ops
from framework.ops.casting import saturate_cast as _saturate_cast
from framework.ops.ragged_tensor import RaggedTensor
from framework.ops.slices import IndexedSlices, sliced
from framework.ops.sparse_tensor import SparseTensor

tf = Wrappers(__name__)

# ---- arithmetic ----------------------------------------------------------------------------------

truediv = tf.binary(
    division.true_divide,
    "{x} / {y}; integers give float64 (float32 for 8 and 16 bits), as in TensorFlow",
    alike_numbers,
    name="truediv",
)
divide = tf.binary(division.true_divide, "{x} / {y}, as the operator does", alike_numbers, "divide")
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
                f"add_n: all inputs must have the same shape, got {total.shape} and {other.shape}."
            )
        total = ops.add(total, other)
    return total


# ---- comparisons and logic -----------------------------------------------------------------------


def logical_xor(x: TensorLike, y: TensorLike, name: str | None = "LogicalXor") -> Tensor:
    """Return whether exactly one of x and y is true, for booleans."""
    return ops.logical_xor(*boolean_operands(x, y, "logical_xor"))


# ---- one operand: rounding and sign --------------------------------------------------------------


def round(x: TensorLike, name: str | None = None) -> Tensor:
    """Round to the nearest integer, halves to even."""
    x = tensor(x)
    return ops.round_(x) if x.dtype.is_floating else ops.identity(x)


def reciprocal_no_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """Return 1 / x, or 0 where x is 0."""
    x = floating(x, "reciprocal_no_nan")
    return ops.divide_no_nan(np.ones((), x.dtype.np), x)


# ---- one operand: powers, exponentials, angles ---------------------------------------------------


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

    The result for IndexedSlices is IndexedSlices, and for a SparseTensor a SparseTensor.

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
