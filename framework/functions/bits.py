"""tf.bitcast, and functions of tf.bitwise: the bits of integers.

>>> import framework as tf
>>> tf.bitwise.bitwise_and([5, 6], [3, 3]).numpy()
array([1, 2], dtype=int32)
"""

from typing import Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import DTypeLike, TensorLike
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, InvalidArgumentError
from framework.core.operations import operation
from framework.core.promotion import strict
from framework.core.tensor import Tensor
from framework.functions import windows
from framework.ops import elementwise, movement, numerics


def _integers(x, y, what):
    x, y = (tensor(v) for v in strict(x, y))
    _refuse(x, what)
    return x, y


def _refuse(x, what):
    if not x.dtype.is_integer:
        raise DTypeError(
            f"{what}: expected integers, got {x.dtype}. Cast it: tf.cast(x, tf.int32)."
        )
    return x


@operation
def bitwise_and(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Return the bits that are set in both integers."""
    return elementwise.bitwise_and(*_integers(x, y, "bitwise_and"))


@operation
def bitwise_or(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Return the bits that are set in one of the integers or in both."""
    return elementwise.bitwise_or(*_integers(x, y, "bitwise_or"))


@operation
def bitwise_xor(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Return the bits that are set in exactly one of the integers."""
    return elementwise.bitwise_xor(*_integers(x, y, "bitwise_xor"))


@operation
def invert(x: TensorLike, name: str | None = None) -> Tensor:
    """Return the integers with each bit inverted."""
    return elementwise.invert(_refuse(tensor(x), "invert"))


def _within(y: Any):
    """Clip shift counts to 0 to the dtype's number of bits - 1, as TensorFlow does."""
    last = np.asarray(8 * y.dtype.size - 1, y.dtype.np)
    return elementwise.clip(y, np.zeros((), y.dtype.np), last)


@operation
def left_shift(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Return `x` with its bits shifted left by `y`, clipped to 0 to the number of bits - 1."""
    x, y = _integers(x, y, "left_shift")
    return numerics.left_shift(x, _within(y))


@operation
def right_shift(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Return `x` with its bits shifted right by `y`; negative numbers stay negative."""
    x, y = _integers(x, y, "right_shift")
    return numerics.right_shift(x, _within(y))


@operation
def bitcast(input: TensorLike, type: DTypeLike, name: str | None = None) -> Tensor:
    """Reinterpret the bits of numbers as another dtype.

    Args:
        input: numbers. For a larger dtype, the elements along the last axis form one number.
        type: a numeric dtype; for a smaller dtype, the result has one more axis.

    >>> import framework as tf
    >>> tf.bitcast(1.0, tf.uint32).numpy().item() == 0x3F800000
    True
    """
    x, wanted = tensor(input), dtypes.as_dtype(type)
    for dtype in (x.dtype, wanted):
        if dtype.is_bool or dtype == dtypes.string:
            raise DTypeError(f"bitcast: expected numbers, got {dtype}. Cast them: tf.cast(x, ...).")
    size, new = x.dtype.size, wanted.size
    if new > size and (not x.ndim or x.shape[-1] != new // size):
        raise InvalidArgumentError(
            f"bitcast: Cannot bitcast from {x.dtype} of shape {x.shape} to {wanted}: expected a "
            f"last axis of size {new // size}."
        )
    x = movement.expand_axes(x, (x.ndim,)) if size > new else x
    y = numerics.bitcast(x, dtype=wanted.np)
    return movement.reshape(y, shape=windows.free(x.shape[:-1])) if new > size else y
