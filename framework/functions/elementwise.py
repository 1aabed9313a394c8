"""TensorFlow's elementwise functions. Operands broadcast; two dtypes raise, none is promoted."""

import functools

import numpy as np

from framework.core import dtypes
from framework.core.doors import cast as _cast
from framework.core.doors import floating, strict, strict_all, tensor
from framework.core.errors import InvalidArgumentError
from framework.core.op import NO_ATTRS
from framework.core.recorders import thread
from framework.core.tensor import Tensor
from framework.ops import division, special
from framework.ops import elementwise as ops
from framework.ops.casting import saturate_cast as _saturate_cast
from framework.ops.slices import IndexedSlices, sliced


def _in_line(op, kinds="f"):
    """For what hand-written loops call at every step: a tensor of one of these kinds of dtypes
    passes the door and the op in one call. It says once more what `Op.wrap` does."""
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
    """x + y.

    >>> import framework as tf
    >>> tf.add([1.0, 2.0], 3.0).numpy()
    array([4., 5.], dtype=float32)
    """
    return ops.add(*strict(x, y))


def subtract(x, y, name=None):
    """x - y."""
    return ops.subtract(*strict(x, y))


def multiply(x, y, name=None):
    """x * y, element by element."""
    return ops.multiply(*strict(x, y))


def truediv(x, y, name=None):
    """x / y. Integers give float64 (int8 and int16 float32), as in TensorFlow."""
    return division.true_divide(*strict(x, y))


def divide(x, y, name=None):
    """x / y, as the operator."""
    return truediv(x, y)


def realdiv(x, y, name=None):
    """x / y for real numbers."""
    return ops.divide(*strict(x, y))


def floordiv(x, y, name=None):
    """The largest integer value not above x / y. InvalidArgumentError where integers meet a 0."""
    return division.floor_divide(*strict(x, y))


def floormod(x, y, name=None):
    """x - floordiv(x, y) * y: the remainder with the sign of y."""
    return division.floor_mod(*strict(x, y))


mod = floormod


def truncatediv(x, y, name=None):
    """x / y for integers, rounded towards zero."""
    x, y = strict_all(tensor(x), y)
    quotient = division.floor_divide(x, y)
    return ops.select(_rounded_away(x, y), quotient + 1, quotient)


def _rounded_away(x, y):
    """Where `floordiv` rounds away from zero: there is a remainder, and one sign is negative."""
    rest = division.floor_mod(x, y)
    return ops.logical_and(rest != 0, ops.logical_xor(x < 0, rest < 0))


def truncatemod(x, y, name=None):
    """x - truncatediv(x, y) * y: the remainder with the sign of x."""
    x, y = strict_all(tensor(x), y)
    rest = division.floor_mod(x, y)
    return ops.select(_rounded_away(x, y), rest - y, rest)


def pow(x, y, name=None):
    """x to the power y."""
    return ops.power(*strict(x, y))


def maximum(x, y, name=None):
    """The larger of x and y. At a tie the gradient goes to x."""
    return ops.maximum(*strict(x, y))


def minimum(x, y, name=None):
    """The smaller of x and y. At a tie the gradient goes to x."""
    return ops.minimum(*strict(x, y))


def squared_difference(x, y, name=None):
    """(x - y)²."""
    return ops.square(ops.subtract(*strict(x, y)))


def divide_no_nan(x, y, name=None):
    """x / y, and 0 wherever y is 0. Integers as in `truediv`."""
    return ops.divide_no_nan(*division.in_floats(*strict(x, y)))


def multiply_no_nan(x, y, name=None):
    """x * y, and 0 wherever y is 0, even where x is inf or nan."""
    return ops.multiply_no_nan(*strict(x, y))


def _floats(what, x, y):
    """`strict` operands of a floating dtype; a Python number as a tensor of the other's."""
    x, y = strict(x, y)
    if type(x) in (int, float, complex):
        return tensor(x, floating(y, what).dtype), y
    floating(x, what)
    return x, tensor(y, x.dtype) if type(y) in (int, float, complex) else floating(y, what)


def xlogy(x, y, name=None):
    """x * log(y), and 0 where x is 0."""
    return special.xlogy(*_floats("xlogy", x, y))


def xlog1py(x, y, name=None):
    """x * log(1 + y), and 0 where x is 0."""
    return special.xlog1py(*_floats("xlog1py", x, y))


def xdivy(x, y, name=None):
    """x / y, and 0 where x is 0."""
    return special.xdivy(*_floats("xdivy", x, y))


def atan2(y, x, name=None):
    """The angle of the point (x, y), in (-π, π]."""
    return ops.atan2(*_floats("atan2", y, x))


def scalar_mul(scalar, x, name=None):
    """`scalar * x`, where `scalar` is 0-d."""
    if np.ndim(scalar.array if hasattr(scalar, "array") else scalar):
        raise InvalidArgumentError(f"scalar_mul: `scalar` must be 0-d, got {scalar!r}.")
    return ops.multiply(*strict(scalar, x))


def add_n(inputs, name=None):
    """The sum of a list of tensors of one shape and dtype.

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
    """x == y, element by element."""
    return ops.equal(*strict(x, y))


def not_equal(x, y, name=None):
    """x != y, element by element."""
    return ops.not_equal(*strict(x, y))


def less(x, y, name=None):
    """x < y, element by element."""
    return ops.less(*strict(x, y))


def less_equal(x, y, name=None):
    """x <= y, element by element."""
    return ops.less_equal(*strict(x, y))


def greater(x, y, name=None):
    """x > y, element by element."""
    return ops.greater(*strict(x, y))


def greater_equal(x, y, name=None):
    """x >= y, element by element."""
    return ops.greater_equal(*strict(x, y))


def logical_and(x, y, name=None):
    """x and y, for booleans."""
    return ops.logical_and(*strict(x, y))


def logical_or(x, y, name=None):
    """x or y, for booleans."""
    return ops.logical_or(*strict(x, y))


def logical_xor(x, y, name="LogicalXor"):
    """Whether exactly one of x and y is true, for booleans."""
    return ops.logical_xor(*strict(x, y))


def logical_not(x, name=None):
    """not x, for booleans."""
    return ops.logical_not(tensor(x))


def is_nan(x, name=None):
    """Where x is nan."""
    return ops.is_nan(floating(x, "is_nan"))


def is_inf(x, name=None):
    """Where x is inf or -inf."""
    return ops.is_inf(floating(x, "is_inf"))


def is_finite(x, name=None):
    """Where x is neither inf nor nan."""
    return ops.is_finite(floating(x, "is_finite"))


# ---- one operand: rounding and sign --------------------------------------------------------------


def abs(x, name=None):
    """The absolute value; its slope at 0 is 0."""
    return ops.absolute(tensor(x))


def negative(x, name=None):
    """-x."""
    return ops.negative(tensor(x))


def sign(x, name=None):
    """-1, 0 or 1."""
    return ops.sign(tensor(x))


@_in_line(ops.square, "fiu")
def square(x, name=None):
    """x²."""
    return ops.square(tensor(x))


def reciprocal(x, name=None):
    """1 / x."""
    return ops.reciprocal(floating(x, "reciprocal"))


def reciprocal_no_nan(x, name=None):
    """1 / x, and 0 where x is 0."""
    x = floating(x, "reciprocal_no_nan")
    return ops.divide_no_nan(np.ones((), x.dtype.np), x)


def round(x, name=None):
    """The nearest integer value, halves to even."""
    x = tensor(x)
    return ops.round_(x) if x.dtype.is_floating else ops.identity(x)


def rint(x, name=None):
    """The nearest integer value, halves to even."""
    return ops.round_(floating(x, "rint"))


def floor(x, name=None):
    """The largest integer value not above x."""
    return ops.floor(floating(x, "floor"))


def ceil(x, name=None):
    """The smallest integer value not below x."""
    return ops.ceil(floating(x, "ceil"))


# ---- one operand: powers, exponentials, angles ---------------------------------------------------


@_in_line(ops.sqrt)
def sqrt(x, name=None):
    """The square root."""
    return ops.sqrt(floating(x, "sqrt"))


def rsqrt(x, name=None):
    """1 / sqrt(x)."""
    return ops.rsqrt(floating(x, "rsqrt"))


@_in_line(ops.exp)
def exp(x, name=None):
    """e to the power x."""
    return ops.exp(floating(x, "exp"))


def expm1(x, name=None):
    """exp(x) - 1, exact near 0."""
    return ops.expm1(floating(x, "expm1"))


@_in_line(ops.log)
def log(x, name=None):
    """The natural logarithm."""
    return ops.log(floating(x, "log"))


def log1p(x, name=None):
    """log(1 + x), exact near 0."""
    return ops.log1p(floating(x, "log1p"))


def sin(x, name=None):
    """The sine of radians."""
    return ops.sin(floating(x, "sin"))


def cos(x, name=None):
    """The cosine of radians."""
    return ops.cos(floating(x, "cos"))


def tan(x, name=None):
    """The tangent of radians."""
    return ops.tan(floating(x, "tan"))


def asin(x, name=None):
    """The angle in [-π/2, π/2] whose sine is x."""
    return ops.asin(floating(x, "asin"))


def acos(x, name=None):
    """The angle in [0, π] whose cosine is x."""
    return ops.acos(floating(x, "acos"))


def atan(x, name=None):
    """The angle in (-π/2, π/2) whose tangent is x."""
    return ops.atan(floating(x, "atan"))


def sinh(x, name=None):
    """The hyperbolic sine."""
    return ops.sinh(floating(x, "sinh"))


def cosh(x, name=None):
    """The hyperbolic cosine."""
    return ops.cosh(floating(x, "cosh"))


@_in_line(ops.tanh)
def tanh(x, name=None):
    """The hyperbolic tangent."""
    return ops.tanh(floating(x, "tanh"))


def asinh(x, name=None):
    """The number whose hyperbolic sine is x."""
    return ops.asinh(floating(x, "asinh"))


def acosh(x, name=None):
    """The number >= 0 whose hyperbolic cosine is x."""
    return ops.acosh(floating(x, "acosh"))


def atanh(x, name=None):
    """The number whose hyperbolic tangent is x."""
    return ops.atanh(floating(x, "atanh"))


@_in_line(ops.sigmoid)
def sigmoid(x, name=None):
    """1 / (1 + exp(-x))."""
    return ops.sigmoid(floating(x, "sigmoid"))


def erf(x, name=None):
    """The Gauss error function."""
    return special.erf(floating(x, "erf"))


def log_sigmoid(x, name=None):
    """log(sigmoid(x)), exact far below 0 too."""
    return ops.negative(ops.softplus(ops.negative(floating(x, "log_sigmoid"))))


def polyval(coeffs, x, name=None):
    """The polynomial with the given coefficients, the highest power first, by Horner's rule.

    Args:
        coeffs: a list of numbers or tensors.
        x: where it is evaluated.

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
    """x in another dtype. Gradients pass between floating (and complex) dtypes only.

    IndexedSlices stay such.
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
    """`value` in another dtype; what lies outside its range becomes the nearest end of it.

    The end itself, such as 2147483647 of int32, even where `value` is of floats that do not have
    it. NaN becomes 0 of integers.
    >>> import framework as tf
    >>> tf.saturate_cast([-1.0, 3e9], tf.int32).numpy()
    array([        -1, 2147483647], dtype=int32)
    """
    return _saturate_cast(tensor(value), dtypes.as_dtype(dtype))
