"""Python values in JSON: arguments of functions, and arguments and attributes of ops."""

import math

import numpy as np

from framework.core import dtypes
from framework.core.dtypes import DType
from framework.core.errors import DamagedFileError, SaveError
from framework.core.tensor_spec import TensorSpec

_PLAIN = (str, bool, int, type(None))


def encoded(value, other=None):
    """Return a value as JSON values; containers keep their type.

    Args:
        value: a nest of numbers, strings, bytes, slices, dtypes and specs.
        other: a function that encodes any other value, or returns None for an unknown value.

    Raises:
        SaveError: the value contains an object of another type.
    """
    found = None if other is None else other(value)
    if found is not None:
        return found
    if type(value) in _PLAIN:
        return value
    if isinstance(value, float) and not isinstance(value, np.generic):
        return value if math.isfinite(value) else {"float": repr(value)}
    if type(value) is list:
        return [encoded(v, other) for v in value]
    for kind, of, write in _WRITERS:
        if isinstance(value, of):
            return {kind: write(value, lambda v: encoded(v, other))}
    raise SaveError(f"{value!r:.80} of type {type(value).__name__} cannot be saved.")


def decoded(value, other=None):
    """Return the value that `encoded` has converted to JSON values.

    Args:
        value: the JSON value.
        other: {kind: function} for values {kind: ...} that the `other` of `encoded` returned.

    Raises:
        DamagedFileError: the JSON value is invalid.
    """
    if type(value) in _PLAIN or type(value) is float:
        return value
    if type(value) is list:
        return [decoded(v, other) for v in value]
    if type(value) is dict and len(value) == 1:
        ((kind, inner),) = value.items()
        if other is not None and kind in other:
            return other[kind](inner)
        if kind in _READERS:
            return _READERS[kind](inner, lambda v: decoded(v, other))
    raise DamagedFileError(
        f"The saved model contains a value of an unsupported kind: {value!r:.80}."
    )


def _spec(spec, _):
    shape = None if spec.shape is None else list(spec.shape)
    return [shape, spec.dtype.name, spec.name]


def _named_tuple_or_tuple(value, inner):
    return [inner(v) for v in value]


_WRITERS = (  # rows (kind, types, function(value, encoder for the values in it))
    ("spec", TensorSpec, _spec),
    ("scalar", np.generic, lambda v, inner: [v.dtype.name, inner(v.item())]),
    ("tuple", tuple, _named_tuple_or_tuple),
    ("list", list, lambda v, inner: [inner(e) for e in v]),
    ("dict", dict, lambda v, inner: [[inner(k), inner(e)] for k, e in v.items()]),
    ("bytes", bytes, lambda v, inner: v.decode("latin-1")),
    ("complex", complex, lambda v, inner: [inner(v.real), inner(v.imag)]),
    ("slice", slice, lambda v, inner: [inner(v.start), inner(v.stop), inner(v.step)]),
    ("ellipsis", type(...), lambda v, inner: None),
    ("range", range, lambda v, inner: [v.start, v.stop, v.step]),
    ("array_dtype", np.dtype, lambda v, inner: v.name),
    ("dtype", DType, lambda v, inner: v.name),
)  # fmt: skip

_READERS = {
    "float": lambda v, inner: float(v),
    "spec": lambda v, inner: TensorSpec(*v),
    "scalar": lambda v, inner: dtypes.as_dtype(v[0]).np.type(inner(v[1])),
    "tuple": lambda v, inner: tuple([inner(e) for e in v]),
    "list": lambda v, inner: [inner(e) for e in v],
    "dict": lambda v, inner: {inner(k): inner(e) for k, e in v},
    "bytes": lambda v, inner: v.encode("latin-1"),
    "complex": lambda v, inner: complex(inner(v[0]), inner(v[1])),
    "slice": lambda v, inner: slice(*(inner(e) for e in v)),
    "ellipsis": lambda v, inner: ...,
    "range": lambda v, inner: range(*v),
    "array_dtype": lambda v, inner: dtypes.as_dtype(v).np,
    "dtype": lambda v, inner: dtypes.as_dtype(v),
}
