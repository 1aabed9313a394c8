"""Assignment to slices of a variable, and tf.Variable's methods `scatter_...` and `gather_nd`."""

import numpy as np

from framework.core import dtypes
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, OutOfRangeError, ShapeError
from framework.core.op import Op, no_derivative
from framework.core.recorders import thread
from framework.core.variable import CoreVariable, Variable
from framework.ops.movement import getitem
from framework.ops.slices import IndexedSlices, gather_rows

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
            first = np.argwhere((place < 0) | (place >= n))[0]
            at, value = ",".join(map(str, first)), place[tuple(first)]
            raise OutOfRangeError(
                f"{what}: expected indices from 0 to {n - 1} along axis {axis}: indices[{at}] = "
                f"{value} is not in [0, {n})."
            )


# `scatter_into` combines `x` at `indices` with `updates`. The updates of a repeated index apply one
# after another. The op has no derivative: no gradient passes through an assignment.
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


# `slice_into` returns a copy of `x` in which `values` replace x[index].
slice_into = Op(
    "slice_into", _slice_into, no_derivative, no_derivative,
    infer=lambda x, values, *, index: (x.shape, x.dtype),
)  # fmt: skip


def assign_slice(variable, index, val):
    """Assign `val`, broadcast to the slice's shape, to `variable[index]`; return the variable."""
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

    return _named(
        method, f"scatter_{how}", f"{words} the rows of `sparse_delta`, an IndexedSlices."
    )


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
    """Return the variable's elements or slices at the index tuples in the last axis of `indices`.

    If each tuple has a single index, the gradient is an IndexedSlices.
    """
    places = tuple(np.moveaxis(np.asarray(tensor(indices)), -1, 0))
    _check(places, self._array.shape, "gather_nd")
    return gather_rows(self, places[0]) if len(places) == 1 else getitem(self, index=places)


def _sparse_read(self, indices, name=None):
    """Return the variable's rows at `indices`; the gradient is an IndexedSlices."""
    places = tensor(indices)
    if not places.dtype.is_integer:
        raise DTypeError(f"sparse_read: `indices` must be integers, got {places.dtype}.")
    _check((np.asarray(places),), self._array.shape, "sparse_read")
    return gather_rows(self, places)


def _batch_scatter_update(self, sparse_delta, use_locking=False, name=None):
    """Assign the values of an IndexedSlices, whose leading axes are a batch.

    With indices of shape (..., n) it sets variable[..., indices[..., i]] to values[..., i].
    """
    indices = np.asarray(tensor(sparse_delta.indices))
    lead = [n.reshape(*n.shape, 1) for n in np.indices(indices.shape[:-1])]
    tuples = np.stack(np.broadcast_arrays(*lead, indices), axis=-1)
    return _change(self, tuples, sparse_delta.values, "update", True)


def _count_up_to(self, limit):
    """Add 1 to an integer variable, and return its previous value.

    Raises:
        OutOfRangeError: the value has already reached `limit`.
    """
    if not self.dtype.is_integer or self.ndim:
        raise DTypeError(
            f"count_up_to: expected a variable of one integer, got {self.dtype} of shape "
            f"{self.shape}."
        )
    before = self.read()
    if int(before) >= int(limit):
        raise OutOfRangeError(f"count_up_to: Reached limit of {int(limit)}.")
    self.assign_add(1)
    return before


_WORDS = {
    "add": "Add", "sub": "Subtract", "mul": "Multiply by", "div": "Divide by",
    "max": "Raise to", "min": "Lower to", "update": "Put in",
}  # fmt: skip
for _how, _words in _WORDS.items():
    _of_rows(_how, _words)
for _how in ("add", "sub", "max", "min", "update"):
    _of_tuples(_how, _WORDS[_how])
for _method in (_gather_nd, _sparse_read, _batch_scatter_update, _count_up_to):
    _method.__name__ = _method.__name__[1:]
    _method.__qualname__ = f"Variable.{_method.__name__}"
    setattr(Variable, _method.__name__, _method)
