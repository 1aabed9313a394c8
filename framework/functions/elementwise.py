"""TensorFlow's elementwise functions. Operands broadcast; two different dtypes raise."""

import functools

import numpy as np

from framework.core import dtypes
from framework.core.cast import cast as _cast
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError
from framework.core.op import NO_ATTRS
from framework.core.promotion import floating, strict, strict_all
from framework.core.recorders import thread
from framework.core.tensor import Tensor
from framework.ops import division, special
from framework.ops import elementwise as ops
from framework.ops.casting import saturate_cast as _saturate_cast
from framework.ops.slices import IndexedSlices, sliced


def _in_line(op, kinds="f"):
    """Add a fast path to a wrapper: a tensor whose dtype is in `kinds` runs the op without another
    call. The code repeats `Op.wrap`; it saves time in hand-written training loops."""
    forward, new = op.forward, object.__new__

    def decorate(function):
        @functools.wraps(function)
        def called(x, name=None):
            if type(x) is Tensor:
                array = x.array
                if array.dtype.kind in kinds:
                    value = forward(array)
                    output = new(Tensor)
                    output.array = value if type(value) is np.ndarray else np.asarray(value)
                    output.serial = None
                    for recorder in thread.stack:
                        recorder.op(op, (x,), NO_ATTRS, (output,), None)
                    return output
            return function(x)

        return called

    return decorate


# ---- arithmetic --------------------------------------------------------------------------------


def add(x, y, name=None):
    """Return x + y.

    >>> import framework as tf
    >>> tf.add([1.0, 2.0], 3.0).numpy()
    array([4., 5.], dtype=float32)
    """
    return ops.add(*strict(x, y))


def subtract(x, y, name=None):
    """Return x - y."""
    return ops.subtract(*strict(x, y))


def multiply(x, y, name=None):
    """Return x * y elementwise."""
    return ops.multiply(*strict(x, y))


def truediv(x, y, name=None):
    """Return x / y. Integers give float64 (8 and 16 bits float32), as in TensorFlow."""
    return division.true_divide(*strict(x, y))


def divide(x, y, name=None):
    """Return x / y, as the operator does."""
    return truediv(x, y)


def realdiv(x, y, name=None):
    """Return x / y for real numbers."""
    return ops.divide(*strict(x, y))


def floordiv(x, y, name=None):
    """Return floor(x / y). Integer division by 0 raises InvalidArgumentError."""
    return division.floor_divide(*strict(x, y))


def floormod(x, y, name=None):
    """Return x - floordiv(x, y) * y: the remainder with the sign of y."""
    return division.floor_mod(*strict(x, y))


mod = floormod


def truncatediv(x, y, name=None):
    """Return x / y for integers, rounded towards zero."""
    x, y = strict_all(tensor(x), y)
    quotient = division.floor_divide(x, y)
    return ops.select(_rounded_away(x, y), quotient + 1, quotient)


def _rounded_away(x, y):
    """Return where `floordiv` rounds away from zero: remainder not 0, signs different."""
    rest = division.floor_mod(x, y)
    return ops.logical_and(rest != 0, ops.logical_xor(x < 0, rest < 0))


def truncatemod(x, y, name=None):
    """Return x - truncatediv(x, y) * y: the remainder with the sign of x."""
    x, y = strict_all(tensor(x), y)
    rest = division.floor_mod(x, y)
    return ops.select(_rounded_away(x, y), rest - y, rest)


def pow(x, y, name=None):
    """Return x to the power y."""
    return ops.power(*strict(x, y))


def maximum(x, y, name=None):
    """Return the larger of x and y. At a tie x gets the gradient."""
    return ops.maximum(*strict(x, y))


def minimum(x, y, name=None):
    """Return the smaller of x and y. At a tie x gets the gradient."""
    return ops.minimum(*strict(x, y))


def squared_difference(x, y, name=None):
    """Return (x - y)²."""
    return ops.square(ops.subtract(*strict(x, y)))


def divide_no_nan(x, y, name=None):
    """Return x / y, or 0 where y is 0. Integers are cast as in `truediv`."""
    return ops.divide_no_nan(*division.in_floats(*strict(x, y)))


def multiply_no_nan(x, y, name=None):
    """Return x * y, or 0 where y is 0, even if x is inf or NaN."""
    return ops.multiply_no_nan(*strict(x, y))


def _floats(what, x, y):
    """Convert operands by the strict rule to tensors of one floating dtype, or raise."""
    x, y = strict(x, y)
    if type(x) in (int, float, complex):
        return tensor(x, floating(y, what).dtype), y
    floating(x, what)
    return x, tensor(y, x.dtype) if type(y) in (int, float, complex) else floating(y, what)


def xlogy(x, y, name=None):
    """Return x * log(y), or 0 where x is 0."""
    return special.xlogy(*_floats("xlogy", x, y))


def xlog1py(x, y, name=None):
    """Return x * log(1 + y), or 0 where x is 0."""
    return special.xlog1py(*_floats("xlog1py", x, y))


def xdivy(x, y, name=None):
    """Return x / y, or 0 where x is 0."""
    return special.xdivy(*_floats("xdivy", x, y))


def atan2(y, x, name=None):
    """Return the angle of the point (x, y), in (-π, π]."""
    return ops.atan2(*_floats("atan2", y, x))


def scalar_mul(scalar, x, name=None):
    """Return scalar * x for a 0-d `scalar`."""
    if np.ndim(scalar.array if hasattr(scalar, "array") else scalar):
        raise InvalidArgumentError(f"scalar_mul: `scalar` must be 0-d, got {scalar!r}.")
    return ops.multiply(*strict(scalar, x))


def add_n(inputs, name=None):
    """Return the sum of a list of tensors of one shape and dtype.

    >>> import framework as tf
    >>> tf.add_n([tf.constant(1.0), tf.constant(2.0), tf.constant(4.0)]).numpy()
    np.float32(7.0)
    """
    if not isinstance(inputs, (list, tuple)):
        inputs = [inputs]
    if not inputs:
        raise InvalidArgumentError("add_n: `inputs` must hold at least one tensor, got none.")
    total = ops.identity(tensor(inputs[0]))
    for each in inputs[1:]:
        total, other = strict(total, each)
        if total.shape != other.shape:
            raise InvalidArgumentError(
                f"add_n: all inputs must have one shape, got {total.shape} and {other.shape}."
            )
        total = ops.add(total, other)
    return total


# ---- comparisons and logic -----------------------------------------------------------------------


def equal(x, y, name=None):
    """Return x == y, element by element."""
    return ops.equal(*strict(x, y))


def not_equal(x, y, name=None):
    """Return x != y, element by element."""
    return ops.not_equal(*strict(x, y))


def less(x, y, name=None):
    """Return x < y, element by element."""
    return ops.less(*strict(x, y))


def less_equal(x, y, name=None):
    """Return x <= y, element by element."""
    return ops.less_equal(*strict(x, y))


def greater(x, y, name=None):
    """Return x > y, element by element."""
    return ops.greater(*strict(x, y))


def greater_equal(x, y, name=None):
    """Return x >= y, element by element."""
    return ops.greater_equal(*strict(x, y))


def logical_and(x, y, name=None):
    """Return x and y, for booleans."""
    return ops.logical_and(*strict(x, y))


def logical_or(x, y, name=None):
    """Return x or y, for booleans."""
    return ops.logical_or(*strict(x, y))


def logical_xor(x, y, name="LogicalXor"):
    """Return whether exactly one of x and y is true, for booleans."""
    return ops.logical_xor(*strict(x, y))


def logical_not(x, name=None):
    """Return not x, for booleans."""
    return ops.logical_not(tensor(x))


def is_nan(x, name=None):
    """Return whether each element is NaN."""
    return ops.is_nan(floating(x, "is_nan"))


def is_inf(x, name=None):
    """Return whether each element is inf or -inf."""
    return ops.is_inf(floating(x, "is_inf"))


def is_finite(x, name=None):
    """Return whether each element is neither inf nor NaN."""
    return ops.is_finite(floating(x, "is_finite"))


# ---- one operand: rounding and sign --------------------------------------------------------------


def abs(x, name=None):
    """Return the absolute value; its slope at 0 is 0."""
    return ops.absolute(tensor(x))


def negative(x, name=None):
    """Return -x."""
    return ops.negative(tensor(x))


def sign(x, name=None):
    """Return -1, 0 or 1."""
    return ops.sign(tensor(x))


@_in_line(ops.square, "fiu")
def square(x, name=None):
    """Return x²."""
    return ops.square(tensor(x))


def reciprocal(x, name=None):
    """Return 1 / x."""
    return ops.reciprocal(floating(x, "reciprocal"))


def reciprocal_no_nan(x, name=None):
    """Return 1 / x, or 0 where x is 0."""
    x = floating(x, "reciprocal_no_nan")
    return ops.divide_no_nan(np.ones((), x.dtype.np), x)


def round(x, name=None):
    """Round to the nearest integer, halves to even."""
    x = tensor(x)
    return ops.round_(x) if x.dtype.is_floating else ops.identity(x)


def rint(x, name=None):
    """Round to the nearest integer, halves to even."""
    return ops.round_(floating(x, "rint"))


def floor(x, name=None):
    """Round down to an integer."""
    return ops.floor(floating(x, "floor"))


def ceil(x, name=None):
    """Round up to an integer."""
    return ops.ceil(floating(x, "ceil"))


# ---- one operand: powers, exponentials, angles ---------------------------------------------------


@_in_line(ops.sqrt)
def sqrt(x, name=None):
    """Return the square root."""
    return ops.sqrt(floating(x, "sqrt"))


def rsqrt(x, name=None):
    """Return 1 / sqrt(x)."""
    return ops.rsqrt(floating(x, "rsqrt"))


@_in_line(ops.exp)
def exp(x, name=None):
    """Return e to the power x."""
    return ops.exp(floating(x, "exp"))


def expm1(x, name=None):
    """Return exp(x) - 1, accurate near 0."""
    return ops.expm1(floating(x, "expm1"))


@_in_line(ops.log)
def log(x, name=None):
    """Return the natural logarithm."""
    return ops.log(floating(x, "log"))


def log1p(x, name=None):
    """Return log(1 + x), accurate near 0."""
    return ops.log1p(floating(x, "log1p"))


def sin(x, name=None):
    """Return the sine of x in radians."""
    return ops.sin(floating(x, "sin"))


def cos(x, name=None):
    """Return the cosine of x in radians."""
    return ops.cos(floating(x, "cos"))


def tan(x, name=None):
    """Return the tangent of x in radians."""
    return ops.tan(floating(x, "tan"))


def asin(x, name=None):
    """Return the angle in [-π/2, π/2] whose sine is x."""
    return ops.asin(floating(x, "asin"))


def acos(x, name=None):
    """Return the angle in [0, π] whose cosine is x."""
    return ops.acos(floating(x, "acos"))


def atan(x, name=None):
    """Return the angle in (-π/2, π/2) whose tangent is x."""
    return ops.atan(floating(x, "atan"))


def sinh(x, name=None):
    """Return the hyperbolic sine."""
    return ops.sinh(floating(x, "sinh"))


def cosh(x, name=None):
    """Return the hyperbolic cosine."""
    return ops.cosh(floating(x, "cosh"))


@_in_line(ops.tanh)
def tanh(x, name=None):
    """Return the hyperbolic tangent."""
    return ops.tanh(floating(x, "tanh"))


def asinh(x, name=None):
    """Return the number whose hyperbolic sine is x."""
    return ops.asinh(floating(x, "asinh"))


def acosh(x, name=None):
    """Return the number >= 0 whose hyperbolic cosine is x."""
    return ops.acosh(floating(x, "acosh"))


def atanh(x, name=None):
    """Return the number whose hyperbolic tangent is x."""
    return ops.atanh(floating(x, "atanh"))


@_in_line(ops.sigmoid)
def sigmoid(x, name=None):
    """Return 1 / (1 + exp(-x))."""
    return ops.sigmoid(floating(x, "sigmoid"))


def erf(x, name=None):
    """Return the Gauss error function."""
    return special.erf(floating(x, "erf"))


def log_sigmoid(x, name=None):
    """Return log(sigmoid(x)), accurate for large negative x too."""
    return ops.negative(ops.softplus(ops.negative(floating(x, "log_sigmoid"))))


def polyval(coeffs, x, name=None):
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


def cast(x, dtype, name=None):
    """Cast x to another dtype. Gradients pass between floating and complex dtypes only.

    IndexedSlices give IndexedSlices.

    >>> import framework as tf
    >>> tf.cast([1.8, 2.2], tf.int32).numpy()
    array([1, 2], dtype=int32)
    """
    dtype = dtypes.as_dtype(dtype)
    if type(x) is not Tensor:
        if type(x) is IndexedSlices:
            return sliced(cast(x.values, dtype), x.indices, x.dense_shape)
        x = tensor(x)
    return x if x.dtype is dtype else _cast(x, dtype=dtype.np)


def saturate_cast(value, dtype, name=None):
    """Cast `value` to another dtype; values outside its range become its nearest limit.

    Limits of integers are exact, even if the dtype of `value` cannot represent them; NaN becomes 0.

    >>> import framework as tf
    >>> tf.saturate_cast([-1.0, 3e9], tf.int32).numpy()
    array([        -1, 2147483647], dtype=int32)
    """
    return _saturate_cast(tensor(value), dtypes.as_dtype(dtype))
