"""The two doors in front of the op table: how operands of different kinds come together.

`strict` (TensorFlow's names): numbers and arrays adopt the tensor's dtype, two dtypes raise.
`promote` (keras.ops): Keras's promotion. Both leave KerasTensors as they are.
"""

from typing import Any

import numpy as np

from framework.core import dtypes
from framework.core.cast import cast
from framework.core.conversion import array_of, holds_tensors, loses, tensor
from framework.core.errors import DTypeError, InvalidArgumentError, unfit
from framework.core.operand import Operand, WeakNumber
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable, KerasVariable, Variable

_NUMBERS = {float: "fc", int: "fiuc", bool: "bfiuc", complex: "c"}  # kinds of dtype that take them


_VARIABLES = frozenset((Variable, KerasVariable))  # by exact type: faster than isinstance


def floating(x, what) -> Any:
    """`x` as a tensor of a floating or complex dtype; DTypeError naming `what` otherwise."""
    if type(x) is Tensor and x.array.dtype.kind == "f":
        return x
    x = tensor(x)
    if not x.dtype.is_inexact:
        raise DTypeError(
            f"{what}: expected a floating dtype, got {x.dtype}. Cast it: tf.cast(x, tf.float32)."
        )
    return x


def strict(a, b) -> tuple[Any, Any]:
    """Two operands for one op: tensors of one dtype, or one tensor and a Python number."""
    kind_a, kind_b = type(a), type(b)
    if kind_a in _VARIABLES:
        a, kind_a = a.read(), Tensor
    if kind_b in _VARIABLES:
        b, kind_b = b.read(), Tensor
    if kind_a is Tensor:
        if kind_b is Tensor:
            one, other = a.array.dtype, b.array.dtype
            if one is other or one == other:
                return a, b
        elif kind_b in _NUMBERS and a.array.dtype.kind in _NUMBERS[kind_b]:
            return a, b
    elif kind_b is Tensor and kind_a in _NUMBERS and b.array.dtype.kind in _NUMBERS[kind_a]:
        return a, b
    for x, y in ((a, b), (b, a)):
        weak = type(x) is Tensor and isinstance(y, WeakNumber)
        if weak and x.array.dtype.kind in _NUMBERS[y.__class__]:
            return a, b
    return strict_all(a, b)


def strict_all(*values) -> tuple[Any, ...]:
    """Any number of operands as tensors of one dtype; DTypeError where they bring two."""
    values = [v.read() if isinstance(v, CoreVariable) else v for v in values]
    values = [v._as_tensor() if hasattr(v, "_as_tensor") else v for v in values]
    typed = [v for v in values if _is_typed(v)]
    if not typed:
        return _untyped([v._read() if isinstance(v, WeakNumber) else v for v in values])
    dtype = typed[0].dtype
    for other in typed[1:]:
        if other.dtype != dtype:
            raise DTypeError(
                f"Operands have different dtypes: {dtype} and {other.dtype}. Cast one of them "
                "with tf.cast; nothing is promoted silently."
            )
    return tuple(v if _is_typed(v) else _adopt(v, dtype) for v in values)


def _is_typed(value):
    return isinstance(value, (Tensor, Operand)) and not isinstance(value, WeakNumber)


def _untyped(values):
    """Operands without any tensor: those in lists, then arrays decide, else Python's own promotion
    among numbers."""
    if any(isinstance(v, KerasTensor) for v in values):  # numbers known at run time
        kinds = [(v if isinstance(v, KerasTensor) else array_of(v)).dtype for v in values]
        dtype = dtypes.python_float() if any("float" in k.name for k in kinds) else dtypes.int32
        return tuple(tensor(v, dtype) for v in values)
    nested = [isinstance(v, (list, tuple)) and holds_tensors(v) for v in values]
    if any(nested):
        return strict_all(*[tensor(v) if held else v for v, held in zip(values, nested)])
    arrays = [np.asarray(v) for v in values if hasattr(v, "dtype")]
    if arrays:
        dtype = dtypes.as_dtype(arrays[0].dtype)
        return tuple(_adopt(v, dtype) for v in values)
    made = [array_of(v) for v in values]
    dtype = np.result_type(*made)
    if dtype == np.float64 and all(m.dtype != np.float64 for m in made):
        dtype = np.dtype(np.float32)  # int32 and float32 together, as Python numbers
    return tuple(Tensor(m.astype(dtype, copy=False)) for m in made)


def _adopt(value, dtype):
    """A number or array as a tensor of `dtype`; DTypeError where that would lose its meaning."""
    if isinstance(value, WeakNumber):
        found = value._adopted(dtype)
        return _adopt(value._read(), dtype) if found is None else found
    if type(value) in _NUMBERS:
        kinds = _NUMBERS[type(value)]
        kind = "f" if dtype.is_floating else dtype.np.kind
        if kind not in kinds and kind != "O":
            raise DTypeError(f"Cannot convert {value!r} to a tensor of dtype {dtype}.")
        return Tensor(_number(value, dtype))
    if hasattr(value, "dtype") and loses(np.asarray(value).dtype.kind, dtype):
        raise DTypeError(
            f"An array of dtype {np.asarray(value).dtype} does not become a tensor of dtype "
            f"{dtype} by itself. Cast it with tf.cast."
        )
    return tensor(value, dtype)


# ---- Keras's door -----------------------------------------------------------------------------


def promote(*values) -> tuple[Any, ...]:
    """Operands as tensors of the dtype that Keras promotes them to.

    Beside a KerasTensor a variable stays one: what is computed later reads it then.
    """
    kept = (Operand,)
    if any(isinstance(v, KerasTensor) for v in values):
        kept = (Operand, CoreVariable)
    values = [v if _is_weak(v) or isinstance(v, kept) else tensor(v) for v in values]
    dtype = dtypes.result_type(*(v.__class__ if _is_weak(v) else v.dtype for v in values))
    return tuple(_as(v, dtype) for v in values)


def _is_weak(value):
    return type(value) in _NUMBERS or isinstance(value, WeakNumber)


def _as(value, dtype):
    if isinstance(value, WeakNumber):
        return _adopt(value, dtype)
    if type(value) in _NUMBERS:
        return Tensor(_number(value, dtype))
    return value if value.dtype == dtype else cast(value, dtype=dtype.np)


def _number(value, dtype):
    """A Python number as a 0-d array of a DType; InvalidArgumentError where it does not fit."""
    try:
        return np.asarray(value, dtype.np)
    except OverflowError:
        raise InvalidArgumentError(f"Operands: {unfit(value, dtype.np)}") from None
