"""Conversion of values to tensors and arrays.

Values are numbers, arrays, tensors, variables, and lists of these. A list of tensors is stacked by
an op, so that gradients reach the tensors and compiled plans contain the op.
"""

from typing import Any

import numpy as np
from numpy import ndarray

from framework.core import dtypes, numpy_rule
from framework.core.cast import cast
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.operand import Operand, WeakNumber
from framework.core.operator_types import Operators
from framework.core.stacking import stack
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Tensor

_PLAIN = frozenset((float, int, bool, complex))


def tensor(value, dtype=None, casts=False) -> Any:
    """Return `value` as a Tensor. Other operands of ops, such as KerasTensors, stay unchanged.

    Args:
        value: a tensor, variable, array, number or nest of these.
        dtype: the expected dtype; a tensor of another dtype raises DTypeError.
        casts: cast tensors of another dtype instead of raising, as Keras's variables do.
    """
    if type(value) is Tensor:
        found = value
    elif type(value) is ndarray:
        return Tensor(array_of(value, dtype, casts))
    elif isinstance(value, Operand) and not isinstance(value, WeakNumber):
        found = value
    # Variables, IndexedSlices and similar classes define `_as_operand`.
    elif hasattr(value, "_as_operand"):
        found = value._as_operand()
    elif isinstance(value, WeakNumber):
        found = value._adopted(dtypes.as_dtype(dtype or _default(value)))
        return Tensor(array_of(value._read(), dtype, casts)) if found is None else found
    elif isinstance(value, (list, tuple)) and holds_tensors(value):
        return _packed(value, dtype, casts)
    else:
        return Tensor(array_of(value, dtype, casts))
    if dtype is not None and found.dtype != dtypes.as_dtype(dtype):
        if casts or numpy_rule.settings.mode in ("safe", "all"):
            return cast(found, dtype=dtypes.as_dtype(dtype).np)
        raise _of_another(found.dtype, dtypes.as_dtype(dtype))
    return found


def _of_another(dtype, wanted):
    return DTypeError(
        f"Tensor conversion requested dtype {wanted} for a tensor of dtype {dtype}. Cast it with "
        "tf.cast."
    )


def _default(number):
    """Return the dtype that a tensor gets when a Python number is converted to it."""
    return dtypes.python_float() if number.__class__ is float else dtypes.int32


# ---- lists that contain tensors ------------------------------------------------------------------


def holds_tensors(nest):
    """Return whether a nest of lists and tuples contains a tensor or variable."""
    for value in nest:
        if type(value) in _PLAIN:
            continue
        if isinstance(value, (list, tuple)):
            if holds_tensors(value):
                return True
        elif isinstance(value, Operators):
            return True
    return False


def _packed(nest, dtype, casts):
    """Return the nest as one tensor, of its first tensor's dtype if `dtype` is None."""
    parts = [_part(v) for v in nest]
    if dtype is None:
        dtype = next(p.dtype for p in parts if isinstance(p, Operators))
    parts = [tensor(p, dtype, casts) for p in parts]
    shapes = [p.array.shape for p in parts if type(p) is Tensor]
    if len(set(shapes)) > 1:
        raise ShapeError(
            "Cannot convert a list of tensors to one tensor: expected equal shapes, got "
            f"{', '.join(map(str, shapes))}."
        )
    return stack(*parts, axis=0)


def _part(value):
    """Return `value` as a tensor if it contains one; return numbers and arrays unchanged."""
    nested = isinstance(value, (list, tuple)) and holds_tensors(value)
    return tensor(value) if nested or isinstance(value, Operators) else value


def _plain(value):
    """Return the nest with tensors and variables replaced by arrays."""
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, Operators) and not isinstance(value, Operand):
        return tensor(value)._read("convert")
    return value


def _first_dtype(nest):
    for value in nest:
        if isinstance(value, (list, tuple)):
            found = _first_dtype(value)
        else:
            found = value.dtype if isinstance(value, Operators) else None
        if found is not None:
            return dtypes.as_dtype(found)
    return None


# ---- conversion to arrays ------------------------------------------------------------------------


def array_of(value, dtype=None, casts=False):
    """Return a new array with the values of a tensor, variable, array, number or nest of them.

    As in TensorFlow, Python floats convert to float32, ints to int32, or to int64 if too large;
    arrays keep their dtype.

    Args:
        value: any of these.
        dtype: the dtype of the result. Arrays are cast to it; Python numbers that would lose
            values (1.5 to an int) raise DTypeError.
        casts: cast such numbers, and tensors, instead of raising, as Keras's variables do.
    """
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if isinstance(value, (ndarray, np.generic)):
        return _in_dtype(np.asarray(value), wanted)
    if isinstance(value, KerasTensor):
        value._refuse()
    # Tensors and variables have an array; an Operand, such as a KerasTensor, has none.
    if isinstance(value, Operators) and not isinstance(value, Operand):
        if wanted is not None and not casts and value.dtype != wanted:
            raise _of_another(value.dtype, wanted)
        return _in_dtype(value.array, wanted)
    if isinstance(value, WeakNumber):
        value = value._read()
    return _array_of_python(value, wanted, casts)


def initial_array(initializer, shape, dtype):
    """Return the initial array of a variable from its initializer, copied unless the array is
    new."""
    value = initializer(shape, dtype=dtype)
    if type(initializer).__module__.startswith("framework.") and type(value) is Tensor:
        array = value.array
        if array.flags.owndata and array.flags.writeable and array.dtype == dtype.np:
            return array
    return array_of(value, dtype, casts=True)


_NONE = (
    " If this None is a gradient, tape.explain(target, source) says why it is None; if it is the "
    "result of a function or layer, a `return` may be missing."
)


def _array_of_python(value, wanted, casts):
    if isinstance(value, (list, tuple)):
        if holds_tensors(value):
            wanted = _first_dtype(value) if wanted is None else wanted
            value = _plain(value)
    elif hasattr(value, "__array__"):
        return _in_dtype(np.asarray(value), wanted)
    try:
        array = np.array(value)
    # NumPy raises this error if the nest mixes str with bytes that are not valid text.
    except UnicodeDecodeError:
        return _in_dtype(np.array(value, object), wanted)
    except ValueError as error:
        raise InvalidArgumentError(f"Cannot make a tensor of a ragged nest: {error}") from None
    if array.dtype.kind == "O" and not isinstance(value, (bytes, str)):
        hint = _NONE if value is None else ""
        raise DTypeError(f"Cannot make a tensor of {value!r} (type {type(value).__name__}).{hint}")
    if wanted is None:
        if array.dtype.kind in "fiu" and _only_python(value):
            return array.astype(_of_numbers(array, value).np)
    elif not casts and array.size and loses(array.dtype.kind, wanted):
        raise DTypeError(f"Cannot convert {value!r} to a tensor of dtype {wanted}.")
    elif array.dtype.kind == "u" and wanted.is_integer and wanted is not dtypes.uint64:
        raise InvalidArgumentError(f"{value!r} does not fit {wanted}; give dtype=tf.uint64.")
    # NumPy's string dtypes would drop trailing zero bytes, such as those of a binary file.
    if array.dtype.kind in "SU":
        array = np.array(value, object)
    return _in_dtype(array, wanted)


def _of_numbers(array, value):
    """Return the DType that Python numbers convert to; `array` is NumPy's array of them."""
    if isinstance(value, dtypes.Shape):
        return dtypes.int32
    if array.dtype.kind == "f":
        return dtypes.python_float()
    if array.dtype.kind == "u":
        raise InvalidArgumentError(f"{value!r} does not fit int64; give dtype=tf.uint64.")
    small = not array.size or (array.min() >= -(2**31) and array.max() < 2**31)
    return dtypes.int32 if small else dtypes.int64


def _in_dtype(array, wanted):
    """Return a copy of `array` in the DType `wanted`; if None, in its own dtype."""
    if array.dtype.kind in "SUO":
        array = _bytes(array)
    if wanted is None and array.dtype not in dtypes.by_array:
        # `as_dtype` converts the byte order; it raises if the dtype is not supported
        wanted = dtypes.as_dtype(array.dtype)
    if wanted is not None:
        # a cast to a real dtype drops imaginary parts
        real = array.dtype.kind == "c" and not wanted.is_complex
        return np.array(array.real if real else array, wanted.np)
    return array.copy()


def loses(kind, wanted):
    """Return whether converting a NumPy dtype of this `kind` letter to a DType loses values."""
    if wanted.is_bool:
        return kind != "b"
    if wanted.is_integer:
        return kind in "fcVSU"
    return kind in "cSU" if wanted.is_floating else kind in "SU" and wanted is not dtypes.string


def _bytes(array):
    """Return strings in TensorFlow's form: an object array of bytes, text encoded in UTF-8.

    Raises:
        DTypeError: an element of an object array is neither str nor bytes.
    """
    if array.dtype.kind == "U":
        array = np.char.encode(array, "utf-8")
    made = array.astype(object)
    for place, value in enumerate(made.flat):
        if isinstance(value, str):
            made.flat[place] = value.encode()
        elif not isinstance(value, bytes):
            raise DTypeError(
                "Cannot convert an array of dtype object to a tensor: expected only str or bytes, "
                f"got {value!r} (type {type(value).__name__}). Convert the array to a numeric "
                "dtype, or replace missing values."
            )
    return made


def _only_python(value):
    """Return whether a nest contains only Python numbers; checks only its first elements."""
    if isinstance(value, (list, tuple)):
        return all(_only_python(v) for v in value[:1])
    return not hasattr(value, "dtype")
