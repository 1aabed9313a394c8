"""Conversion of an op's operands to tensors of one dtype, by TensorFlow's rule or by Keras's.

`strict`, for TensorFlow's functions: numbers and arrays take the tensor's dtype; tensors of two
dtypes raise an error. `promote`, for keras.ops: Keras's dtype promotion. Both return KerasTensors
unchanged.
"""

from typing import Any

import numpy as np

from framework.core import dtypes, numpy_rule
from framework.core.cast import cast
from framework.core.conversion import array_of, holds_tensors, loses, tensor
from framework.core.errors import DTypeError, InvalidArgumentError, unfit
from framework.core.operand import Operand, WeakNumber
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable, KerasVariable, Variable

# For each type of Python number, the kinds (`np.dtype.kind`) of the dtypes that it converts to.
_NUMBERS = {float: "fc", int: "fiuc", bool: "bfiuc", complex: "c"}
# Types are looked up here by `type(x)`, which is faster than isinstance.
_VARIABLES = frozenset((Variable, KerasVariable))


def floating(x, what) -> Any:
    """Return `x` as a tensor of a floating or complex dtype; `what` names it in the DTypeError."""
    if type(x) is Tensor and x.array.dtype.kind == "f":
        return x
    x = tensor(x)
    if not x.dtype.is_inexact:
        raise DTypeError(
            f"{what}: expected a floating dtype, got {x.dtype}. Cast it: tf.cast(x, tf.float32)."
        )
    return x


def real_floating(x, what) -> Any:
    """Return `x` as a tensor of a floating dtype; complex numbers raise DTypeError too."""
    x = floating(x, what)
    if x.dtype.is_complex:
        raise DTypeError(
            f"{what}: expected real numbers, got {x.dtype}. "
            "Take the real part or the magnitude: tf.math.real(x), tf.abs(x)."
        )
    return x


def strict(a, b) -> tuple[Any, Any]:
    """Return two operands: tensors of one dtype, or one tensor and a Python number."""
    kind_a, kind_b = type(a), type(b)
    if kind_a is not Tensor and kind_a in _VARIABLES:
        a, kind_a = a.read(), Tensor
    if kind_b is not Tensor and kind_b in _VARIABLES:
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
    """Return the operands as tensors of one dtype; raise DTypeError if their dtypes differ."""
    first = values[0].array.dtype if type(values[0]) is Tensor else None
    for v in values:
        if type(v) is not Tensor or v.array.dtype is not first:
            break
    else:
        return values
    values = [v.read() if isinstance(v, CoreVariable) else v for v in values]
    values = [v._as_tensor() if hasattr(v, "_as_tensor") else v for v in values]
    typed = [v for v in values if _is_typed(v)]
    if numpy_rule.settings.mode != "off" and not any(isinstance(v, Operand) for v in values):
        return _by_numpy(values)
    if not typed:
        return _untyped([v._read() if isinstance(v, WeakNumber) else v for v in values])
    dtype = typed[0].dtype
    for other in typed[1:]:
        if other.dtype != dtype:
            raise DTypeError(
                f"Operands: expected one dtype, got different dtypes {dtype} and {other.dtype}. "
                "Cast one of them with tf.cast; dtypes are not promoted implicitly."
            )
    return tuple(v if _is_typed(v) else _adopt(v, dtype) for v in values)


def _by_numpy(values):
    """Return the operands as tensors of the dtype that `core/numpy_rule.py` determines."""
    dtype = dtypes.as_dtype(numpy_rule.common_dtype(values))
    made = (v if isinstance(v, Tensor) else tensor(v) if hasattr(v, "dtype") else
            Tensor(np.asarray(v, dtype.np)) for v in values)  # fmt: skip
    return tuple(v if v.dtype is dtype else cast(v, dtype=dtype.np) for v in made)


def _is_typed(value):
    return isinstance(value, (Tensor, Operand)) and not isinstance(value, WeakNumber)


def _untyped(values):
    """Return operands, none of which is a tensor itself, as tensors of one dtype.

    Tensors in lists decide the dtype, then arrays, then Python's promotion of numbers.
    """
    # The values of symbolic numbers are known only when a model runs.
    if any(isinstance(v, KerasTensor) for v in values):
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
        dtype = np.dtype(np.float32)  # NumPy promotes int32 and float32 to float64.
    return tuple(Tensor(m.astype(dtype, copy=False)) for m in made)


def _adopt(value, dtype):
    """Return a number or array as a tensor of `dtype`; raise DTypeError if that loses values."""
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
            f"Operands: expected an array that converts to dtype {dtype} without loss, got dtype "
            f"{np.asarray(value).dtype}. Cast it with tf.cast."
        )
    return tensor(value, dtype)


# ---- Keras's rule --------------------------------------------------------------------------------


def promote(*values) -> tuple[Any, ...]:
    """Return the operands as tensors of the dtype that Keras promotes them to.

    A variable combined with a KerasTensor is not read here, because the model reads it at each
    call.
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
    """Return a number as a 0-d array of a DType; raise InvalidArgumentError if out of range."""
    try:
        return np.asarray(value, dtype.np)
    except OverflowError:
        raise InvalidArgumentError(f"Operands: {unfit(value, dtype.np)}") from None
