"""More elementwise functions of keras.ops: parts of numbers, integers, bits, special functions.

>>> from framework import keras
>>> keras.ops.hypot(3.0, [4.0, 0.0]).numpy()
array([5., 3.], dtype=float32)
"""

import math
from typing import Any

from framework.core import dtypes
from framework.core.argument_types import DTypeLike, TensorLike
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, ShapeError
from framework.core.operations import operation
from framework.core.promotion import promote
from framework.core.tensor import Tensor
from framework.functions import parts
from framework.functions.creation import zeros_like
from framework.functions.wrappers import Rule
from framework.keras.ops.argument_conversion import as_dtype, floating
from framework.keras.ops.elementwise import isclose
from framework.keras.ops.wrappers import KerasWrappers, floats
from framework.ops import complex as complex_ops
from framework.ops import elementwise as ops
from framework.ops import movement, numerics, reduction
from framework.ops.division import promoted_floats

keras = KerasWrappers(__name__)


def _without_booleans(x, y):
    x, y = promote(x, y)
    return (as_dtype(x, "int32"), as_dtype(y, "int32")) if x.dtype.is_bool else (x, y)


without_booleans = Rule(_without_booleans, "iufc")

# ---- one operand ---------------------------------------------------------------------------------

fabs = keras.unary(ops.absolute, "the absolute value, as a float", floats, name="fabs")
deg2rad = keras.unary(
    lambda x: x * (math.pi / 180), "{x} degrees in radians", floats, name="deg2rad"
)
rad2deg = keras.unary(
    lambda x: x * (180 / math.pi), "{x} radians in degrees", floats, name="rad2deg"
)
sinc = keras.unary(
    lambda x: numerics.sinc(x, n=0), "sin(π{x}) / (π{x}), and 1 at 0", floats, name="sinc"
)


def signbit(x: TensorLike) -> Tensor:
    """Return whether the sign bit is set: for negative numbers, and for -0.0."""
    x = tensor(x)
    return numerics.signbit(x) if x.dtype.is_floating else ops.less(as_dtype(x, "int32"), 0)


def isposinf(x: TensorLike) -> Tensor:
    """Return whether each element is positive infinity."""
    return ops.equal(floating(x), math.inf)


def isneginf(x: TensorLike) -> Tensor:
    """Return whether each element is negative infinity."""
    return ops.equal(floating(x), -math.inf)


def isreal(x: TensorLike) -> Tensor:
    """Return whether the imaginary part of each element is 0."""
    part = imag(x)
    return ops.logical_not(part) if part.dtype.is_bool else ops.equal(part, 0)


def nan_to_num(
    x: TensorLike, nan: Any = 0.0, posinf: Any = None, neginf: Any = None,
) -> Tensor:  # fmt: skip
    """Replace NaN and infinities.

    Args:
        x: a tensor; integers are returned unchanged.
        nan: the value for NaN.
        posinf, neginf: the values for inf and -inf, by default the largest and the smallest finite
            number of the dtype.
    """
    x = tensor(x)
    if not x.dtype.is_floating:
        return x
    high = x.dtype.max if posinf is None else posinf
    low = x.dtype.min if neginf is None else neginf
    for found, value in ((ops.is_nan(x), nan), (isposinf(x), high), (isneginf(x), low)):
        x = ops.select(found, as_dtype(value, x.dtype), x)
    return x


# ---- complex numbers -----------------------------------------------------------------------------


def real(x: TensorLike) -> Tensor:
    """Return the real part."""
    return parts.real(x)


def imag(x: TensorLike) -> Tensor:
    """Return the imaginary part; zeros for real numbers."""
    x = tensor(x)
    return complex_ops.imag(x) if x.dtype.is_complex else zeros_like(x)


def conjugate(x: TensorLike) -> Tensor:
    """Return the complex conjugate, and real numbers unchanged."""
    return parts.conj(x)


def angle(x: TensorLike) -> Tensor:
    """Return the angle of complex numbers in radians, in (-π, π]; 0 or π for real numbers."""
    return complex_ops.angle(floating(x))


@operation
def view_as_complex(x: TensorLike) -> Tensor:
    """Return complex numbers from real and imaginary parts along the last axis, of size 2.

    >>> from framework import keras
    >>> keras.ops.view_as_complex([[1.0, 2.0]]).numpy()
    array([1.+2.j], dtype=complex64)
    """
    x = floating(x)
    if not x.ndim or x.shape[-1] != 2:
        raise ShapeError(
            f"view_as_complex: expected a last axis of size 2, the real and the imaginary parts, "
            f"got shape {tuple(x.shape)}."
        )
    return complex_ops.complex_(*_of_float32(x[..., 0], x[..., 1]))


def _of_float32(*values):
    """Return the tensors in float32 or wider, because complex64 is the narrowest complex dtype."""
    narrow = values[0].dtype.size < 4
    return [as_dtype(x, "float32") if narrow else x for x in values]


def view_as_real(x: TensorLike) -> Tensor:
    """Return the real and the imaginary parts along a new last axis of size 2."""
    x = tensor(x)
    if not x.dtype.is_complex:
        raise DTypeError(f"view_as_real: expected complex numbers, got dtype {x.dtype}.")
    return movement.stack(complex_ops.real(x), complex_ops.imag(x), axis=x.ndim)


def polar(abs_: TensorLike, angle: TensorLike) -> Tensor:
    """Return the complex numbers of the absolute values `abs_` and the angles in radians."""
    size, angle = promote(floating(abs_), floating(angle))
    size, angle = _of_float32(size, angle)
    return complex_ops.complex_(size * ops.cos(angle), size * ops.sin(angle))


# ---- two operands --------------------------------------------------------------------------------

fmod = keras.binary(
    numerics.fmod, "the remainder of {x} / {y}, with the sign of {x}", without_booleans
)


def fmax(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return the larger of x1 and x2; if one is NaN, the other."""
    x1, x2 = promote(x1, x2)
    if not x1.dtype.is_floating:
        return ops.maximum(x1, x2)
    return ops.select(ops.logical_or(ops.greater_equal(x1, x2), ops.is_nan(x2)), x1, x2)


def fmin(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return the smaller of x1 and x2; if one is NaN, the other."""
    x1, x2 = promote(x1, x2)
    if not x1.dtype.is_floating:
        return ops.minimum(x1, x2)
    return ops.select(ops.logical_or(ops.less_equal(x1, x2), ops.is_nan(x2)), x1, x2)


def heaviside(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return 0 where x1 < 0, 1 where x1 > 0, and x2 where x1 is 0."""
    x1, x2 = promoted_floats(x1, x2)
    step = as_dtype(ops.greater(x1, 0), x1.dtype)
    step = ops.select(ops.is_nan(x1), x1, step)
    return ops.select(ops.equal(x1, 0), x2, step)


def ldexp(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return x1 * 2**x2 for integers x2."""
    x2 = tensor(x2)
    if not x2.dtype.is_integer and not x2.dtype.is_bool:
        raise DTypeError(f"ldexp: expected integers as `x2`, got dtype {x2.dtype}.")
    return numerics.ldexp(floating(x1), as_dtype(x2, "int32"))


def bitwise_left_shift(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the integers x with their bits shifted to the left by y."""
    return numerics.left_shift(*_integers("left_shift", x, y))


def bitwise_right_shift(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the integers x with their bits shifted to the right by y, keeping the sign."""
    return numerics.right_shift(*_integers("right_shift", x, y))


left_shift, right_shift = bitwise_left_shift, bitwise_right_shift


def _integers(what, x, y):
    x, y = _without_booleans(x, y)
    if not x.dtype.is_integer:
        raise DTypeError(f"{what}: expected integers, got dtype {x.dtype}.")
    return x, y


def allclose(
    x1: TensorLike, x2: TensorLike, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False,
) -> Tensor:  # fmt: skip
    """Return whether |x1 - x2| <= atol + rtol * |x2| for all elements, as a 0-d boolean."""
    near = isclose(x1, x2, rtol, atol, equal_nan)
    return reduction.reduce_all(near, axis=tuple(range(near.ndim)), keepdims=False)


# ---- bytes ---------------------------------------------------------------------------------------


@operation
def view(x: TensorLike, dtype: DTypeLike = None) -> Tensor:
    """Reinterpret the bytes of `x` as numbers of another dtype.

    Args:
        x: a tensor.
        dtype: by default that of `x`. If the item size differs, the size of the last axis changes;
            the bytes must fill whole items.

    >>> from framework import keras
    >>> keras.ops.view([1.0, -2.0], "int32").numpy()
    array([ 1065353216, -1073741824], dtype=int32)
    """
    x = tensor(x)
    wanted = x.dtype if dtype is None else dtypes.as_dtype(dtype)
    fits = wanted.size == x.dtype.size
    if not fits and (not x.ndim or (x.shape[-1] * x.dtype.size) % wanted.size):
        raise ShapeError(
            f"view: the bytes of the last axis of shape {tuple(x.shape)} and dtype {x.dtype} must "
            f"fill whole elements of dtype {wanted}, of {wanted.size} bytes each."
        )
    return ops.identity(x) if wanted is x.dtype else numerics.bitcast(x, dtype=wanted.np)
