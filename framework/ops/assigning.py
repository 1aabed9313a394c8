"""Assignment to slices of a variable, and tf.Variable's `scatter_...` and `gather_nd`."""

import numpy as np

from framework.core import dtypes
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, OutOfRangeError, ShapeError
from framework.core.op import Op, no_derivative
from framework.core.recorders import thread
from framework.core.variable import CoreVariable, Variable
from framework.ops.movement import getitem
from framework.ops.slices import IndexedSlices

_UFUNCS = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "max": np.maximum, "min": np.minimum,
    "div": np.divide,
}  # fmt: skip


def _scatter_into(x, indices, updates, *, how, tuples):
    places = tuple(np.moveaxis(indices, -1, 0)) if tuples else (indices,)
    _check(places, x.shape, f"scatter_{how}")
    y = np.array(x)
    if how == "update":
        y[places] = updates
    else:
        ufunc = np.floor_divide if how == "div" and x.dtype.kind in "iu" else _UFUNCS[how]
        ufunc.at(y, places, updates)
    return y


def _check(places, shape, what):
    for axis, (place, n) in enumerate(zip(places, shape)):
        if place.size and not (place.min() >= 0 and place.max() < n):
            raise OutOfRangeError(
                f"{what}: expected indices from 0 to {n - 1} along axis {axis}, got {place.min()} "
                f"to {place.max()}."
            )


# Combine `x` at `indices` with `updates`; a repeated index gets its updates one after another.
# The op has no derivative, since it computes the new value of a variable.
scatter_into = Op(
    "scatter_into", _scatter_into, no_derivative, no_derivative, no_derivative,
    infer=lambda x, *_, **__: (x.shape, x.dtype), raises=True,
)  # fmt: skip


def _slice_into(x, values, *, index):
    y = np.array(x)
    there, shape = np.shape(y[index]), np.shape(values)
    while len(shape) > len(there) and shape[0] == 1:
        shape = shape[1:]
    try:
        y[index] = np.broadcast_to(np.reshape(values, shape), there)
    except ValueError:
        raise ShapeError(
            f"v[...].assign: expected values that broadcast to the slice's shape {there}, got "
            f"shape {np.shape(values)}."
        ) from None
    return y


# The op returns a copy of `x` in which `values` replace x[index].
slice_into = Op(
    "slice_into", _slice_into, no_derivative, no_derivative,
    infer=lambda x, values, *, index: (x.shape, x.dtype),
)  # fmt: skip


def assign_slice(variable, index, val):
    """Assign `val`, which broadcasts, to `variable[index]`; return the variable."""
    if thread.symbolic is None:
        val = tensor(val, dtypes.of_array(variable.array), variable._casts)
        variable._hold(slice_into(CoreVariable.read(variable), val, index=index))
    return variable


def _change(variable, indices, updates, how, tuples):
    if thread.symbolic is None:
        updates, indices = tensor(updates, variable.dtype), tensor(indices)
        variable._hold(scatter_into(variable.read(), indices, updates, how=how, tuples=tuples))
    return variable


def _of_rows(how, words):
    def method(self, sparse_delta, use_locking=False, name=None):
        if not isinstance(sparse_delta, IndexedSlices):
            raise DTypeError(
                f"Variable {self.name!r}: scatter_{how} expected a tf.IndexedSlices as "
                f"`sparse_delta`, got {type(sparse_delta).__name__}."
            )
        return _change(self, sparse_delta.indices, sparse_delta.values, how, False)

    return _named(method, f"scatter_{how}", f"{words} the rows of an IndexedSlices.")


def _of_tuples(how, words):
    def method(self, indices, updates, name=None):
        return _change(self, indices, updates, how, True)

    return _named(
        method, f"scatter_nd_{how}", f"{words} `updates` at the index tuples in `indices`."
    )


def _named(method, name, text):
    method.__name__, method.__qualname__ = name, f"Variable.{name}"
    method.__doc__ = f"{text} Returns the variable."
    setattr(Variable, name, method)


def _gather_nd(self, indices, name=None):
    """Return the elements or slices at the index tuples in the last axis of `indices`."""
    places = tuple(np.moveaxis(np.asarray(tensor(indices)), -1, 0))
    _check(places, self.shape, "gather_nd")
    return getitem(self, index=places)


_WORDS = {
    "add": "Add", "sub": "Subtract", "mul": "Multiply by", "div": "Divide by",
    "max": "Raise to", "min": "Lower to", "update": "Put in",
}  # fmt: skip
for _how, _words in _WORDS.items():
    _of_rows(_how, _words)
for _how in ("add", "sub", "max", "min", "update"):
    _of_tuples(_how, _WORDS[_how])
Variable.gather_nd = _gather_nd
