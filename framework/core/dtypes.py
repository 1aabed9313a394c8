"""DType, Shape, the default float type, and Keras's dtype promotion."""

from typing import Any

import numpy as np

from framework.core.errors import DTypeError, suggest
from framework.core.shapes import Shape  # noqa: F401 (re-exported)


class DType(str):
    """An element type. It *is* its name (`dtype == "float32"`) and has TensorFlow's attributes.

    >>> from framework.core.dtypes import float32
    >>> float32 == "float32", float32.is_floating, float32.size
    (True, True, 4)

    Args:
        type_enum: a dtype's name, or TensorFlow's number for it: `DType(1) is float32`.
        handle_data: the NumPy dtype of a new dtype; only the package passes it.
    """

    __slots__ = ("is_bool", "is_complex", "is_floating", "is_inexact", "is_integer", "np")

    def __new__(cls, type_enum, handle_data=None):
        if handle_data is None:
            return as_dtype(_BY_ENUM.get(type_enum, type_enum))
        name = type_enum
        self = super().__new__(cls, name)
        self.np = np.dtype(handle_data)
        self.is_bool = name == "bool"
        self.is_integer = self.np.kind in "iu"
        self.is_complex = self.np.kind == "c"
        self.is_floating = "float" in name
        self.is_inexact = self.is_floating or self.is_complex
        return self

    @property
    def name(self):
        return str.__str__(self)

    @property
    def as_datatype_enum(self):
        """TensorFlow's number for this dtype."""
        return next(number for number, name in _BY_ENUM.items() if name == self.name)

    @property
    def size(self):
        """The number of bytes of one element."""
        return self.np.itemsize

    @property
    def as_numpy_dtype(self):
        return self.np.type

    @property
    def base_dtype(self):
        return self

    @property
    def real_dtype(self):
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    @property
    def is_numpy_compatible(self):
        return True

    @property
    def is_unsigned(self):
        return self.np.kind == "u"

    @property
    def limits(self):
        return self.min, self.max

    @property
    def min(self):
        return self._limit("min")

    @property
    def max(self):
        return self._limit("max")

    def _limit(self, which):
        if self.is_bool:
            return which == "max"
        if self.is_integer:
            return int(getattr(np.iinfo(self.np), which))
        if self.is_floating:
            info = np.finfo(self.np) if self.np.kind == "f" else _bfloat16_info()
            return self.np.type(getattr(info, which))
        raise DTypeError(
            f"dtype.{which}: expected a boolean, integer or floating dtype, got {self.name}."
        )

    def is_compatible_with(self, other: Any):
        return self is as_dtype(other)

    def __eq__(self, other):
        if self is other:
            return True
        if type(other) is DType:
            return False
        if isinstance(other, str):
            return str.__eq__(self, other)
        try:
            return as_dtype(other) is self
        except (TypeError, ValueError):
            return False

    def __ne__(self, other):
        return not self == other

    __hash__ = str.__hash__

    def __repr__(self):
        return f"tf.{self.name}"

    def __reduce__(self):
        return as_dtype, (self.name,)


float16 = DType("float16", "float16")
float32 = DType("float32", "float32")
float64 = DType("float64", "float64")
int8 = DType("int8", "int8")
int16 = DType("int16", "int16")
int32 = DType("int32", "int32")
int64 = DType("int64", "int64")
uint8 = DType("uint8", "uint8")
uint16 = DType("uint16", "uint16")
uint32 = DType("uint32", "uint32")
uint64 = DType("uint64", "uint64")
bool_ = DType("bool", "bool")
complex64 = DType("complex64", "complex64")
complex128 = DType("complex128", "complex128")
string = DType("string", "O")

FLOATS = frozenset((float16.np, float32.np, float64.np))
"""A lookup in this set takes two thirds of the time of `dtype.kind == "f"`."""

_BY_NAME = {
    str(d): d
    for d in (
        float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
        bool_, complex64, complex128, string,
    )
}  # fmt: skip
_BY_ENUM = {
    1: "float32", 2: "float64", 3: "int32", 4: "uint8", 5: "int16", 6: "int8", 7: "string",
    8: "complex64", 9: "int64", 10: "bool", 14: "bfloat16", 17: "uint16", 18: "complex128",
    19: "float16", 22: "uint32", 23: "uint64",
}  # fmt: skip
_ALIASES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "int": "int32",
    "str": "string",
}
_PYTHON = {float: "float32", int: "int32", bool: "bool", complex: "complex128", str: "string"}
by_array = {d.np: d for d in _BY_NAME.values()}
"""The DType of each NumPy dtype that a tensor's array may have."""


def _ml_dtypes():
    """Import the optional ml_dtypes library: NumPy has no bfloat16."""
    try:
        import ml_dtypes
    except ImportError:
        raise DTypeError(
            "dtype bfloat16 needs the ml_dtypes library: pip install 'framework[bf16]'."
        ) from None
    return ml_dtypes


def _bfloat16_info():
    return _ml_dtypes().finfo(_ml_dtypes().bfloat16)


def _bfloat16():
    made = DType("bfloat16", _ml_dtypes().bfloat16)
    _BY_NAME["bfloat16"] = by_array[made.np] = made
    return made


def __getattr__(name):
    """Return the DType `bfloat16`, created at its first use."""
    if name == "bfloat16":
        try:
            return as_dtype(name)
        except DTypeError as error:
            raise AttributeError(str(error)) from None
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def as_dtype(type_value):
    """Return the DType for a DType, name, Python type, NumPy dtype or scalar type."""
    if type(type_value) is DType:
        return type_value
    try:
        if type_value in by_array:
            return by_array[type_value]
    # An unhashable value cannot be a dtype.
    except TypeError:
        raise DTypeError(f"{type_value!r} is not a dtype.") from None
    if type_value in _PYTHON and isinstance(type_value, type):
        return _BY_NAME[_PYTHON[type_value]]
    if isinstance(type_value, str):
        name = _ALIASES.get(type_value, type_value)
        if name in _BY_NAME:
            return _BY_NAME[name]
        if name == "bfloat16":
            return _bfloat16()
    return _of_numpy(type_value)


def _of_numpy(value):
    """Return the DType for a value, such as a scalar type, that NumPy accepts as a dtype."""
    array_dtype = getattr(value, "dtype", None) if not isinstance(value, type) else None
    try:
        if value is None:  # Without this check, np.dtype(None) would be float64.
            raise TypeError
        made = np.dtype(array_dtype if array_dtype is not None else value)
    except TypeError:
        raise DTypeError(f"{value!r} is not a dtype{suggest(value, _BY_NAME)}") from None
    if made in by_array:
        return by_array[made]
    if made.name == "bfloat16":
        return _bfloat16()
    if made.kind in "SU":
        return string
    # A supported dtype in another byte order has the same name.
    if made.name in _BY_NAME:
        return _BY_NAME[made.name]
    raise DTypeError(f"{value!r} is not a dtype that tensors can have{suggest(value, _BY_NAME)}")


def of_array(array):
    """Return the DType of a NumPy array."""
    return by_array.get(array.dtype) or as_dtype(array.dtype)


# ---- promotion: Keras's lattice, which is JAX's with results limited to floatx ----------------

_settings = {"floatx": float32, "epsilon": 1e-7, "python_float": float32}


def floatx():
    """Return the default float type, "float32" unless `set_floatx` changed it."""
    return _settings["floatx"]


def set_floatx(value):
    """Set the default float type to "float16", "bfloat16", "float32" or "float64"."""
    dtype = as_dtype(value)
    if not dtype.is_floating:
        raise DTypeError(f"set_floatx: expected a float type, got {value!r}.")
    _settings["floatx"] = dtype


def python_float():
    """Return the dtype of tensors converted from Python floats.

    It is float32 for any floatx, as in TensorFlow; float64 while gradients are checked."""
    return _settings["python_float"]


def set_defaults(**defaults):
    """Set `floatx` and `python_float`, and return the previous values."""
    before = {name: _settings[name] for name in defaults}
    _settings.update({name: as_dtype(dtype) for name, dtype in defaults.items()})
    return before


def epsilon():
    """Return the constant that avoids division by zero and log(0), 1e-7 by default."""
    return _settings["epsilon"]


def set_epsilon(value):
    """Set the constant that avoids division by zero and log(0)."""
    _settings["epsilon"] = float(value)


# For each dtype, its next larger dtypes in the promotion lattice; "i*", "f*" and "c*" stand for
# Python's int, float and complex.
_LATTICE = {
    "bool": ("i*",),
    "i*": ("uint8", "int8"),
    "uint8": ("int16", "uint16"),
    "int8": ("int16",),
    "uint16": ("int32", "uint32"),
    "int16": ("int32",),
    "uint32": ("int64", "uint64"),
    "int32": ("int64",),
    "uint64": ("f*",),
    "int64": ("f*",),
    "f*": ("float16", "bfloat16", "c*"),
    "float16": ("float32",),
    "bfloat16": ("float32",),
    "float32": ("float64", "complex64"),
    "float64": ("complex128",),
    "c*": ("complex64",),
    "complex64": ("complex128",),
    "complex128": (),
}


def _above(name):
    found, todo = {name}, [name]
    while todo:
        for higher in _LATTICE[todo.pop()]:
            if higher not in found:
                found.add(higher)
                todo.append(higher)
    return found


_ABOVE = {name: _above(name) for name in _LATTICE}
_WEAK = {bool: "bool", int: "i*", float: "f*", complex: "c*"}
_promoted = {}


def _least_upper_bound(names):
    common = set.intersection(*(_ABOVE[n] for n in names))
    least = [n for n in common if all(m in _ABOVE[n] for m in common)]
    return least[0]


def result_type(*types):
    """Return the dtype of Keras's ops for operands of these dtypes; Python types are weak.

    >>> str(result_type("int32", "float16")), str(result_type("int64", float))
    ('float16', 'float32')
    """
    key = tuple(t if isinstance(t, type) and t in _WEAK else as_dtype(t) for t in types)
    cap = _settings["floatx"]
    found = _promoted.get((key, cap))
    if found is None:
        found = _promoted[key, cap] = _promote(key, cap)
    return found


def _promote(key, cap):
    if not key:
        return cap
    if len(set(key)) == 1 and type(key[0]) is DType:
        return key[0]
    if string in key:
        raise DTypeError(
            f"Strings do not combine with other dtypes; got {', '.join(map(str, key))}."
        )
    # As in Keras, int64 or uint64 with a float gives that float: float16 stays float16.
    name = _least_upper_bound([_WEAK[t] if t in _WEAK else str(t) for t in key])
    return {"f*": cap, "i*": int32, "c*": complex64}.get(name) or as_dtype(name)
