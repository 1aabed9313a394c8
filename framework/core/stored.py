"""Write the variables of an object to a store (a mapping from "0", "1", ... to arrays) and back."""

import math
from functools import partial

import numpy as np

from framework.core.buffers import exclusive
from framework.core.errors import LoadError, ShapeError, UnsafeFileError
from framework.core.recorders import thread
from framework.core.tensor import Tensor


def store_variables(variables, store):
    """Put the values of variables into a store, numbered in order.

    A store with a method `hold(key, array)` does not change arrays, so it receives no copies.
    """
    hold = getattr(store, "hold", None)
    for number, variable in enumerate(variables):
        if hold is None:
            store[str(number)] = variable.numpy()
        else:
            hold(str(number), variable.array)


def check_variables(variables, store, what):
    """Compare number and shapes of stored arrays with variables, before any array is read.

    Args:
        variables: a list.
        store: a mapping; its `shape(key)`, if it has one, is the declared shape.
        what: the name of the variables' owner, for error messages.

    Raises:
        LoadError: the store has more or fewer arrays than there are variables.
        ShapeError: an array and its variable differ in shape.
    """
    keys = list(store.keys())
    if len(keys) != len(variables):
        hint = "" if variables else (
            " The object is not built: implement get_build_config() and build_from_config() so "
            "that they create all variables, those of inner layers included."
        )  # fmt: skip
        raise LoadError(
            f"{what}: expected {len(variables)} variables "
            f"({', '.join(v.name for v in variables)}), the file has {len(keys)}.{hint}"
        )
    shape_of = getattr(store, "shape", lambda key: np.shape(store[key]))
    for number, variable in enumerate(variables):
        if str(number) not in keys:
            raise LoadError(f"{what}: the file has no variable {number} ({variable.name}).")
        shape = tuple(shape_of(str(number)))
        if shape != tuple(variable.shape):
            raise _ShapeMismatchError(
                f"{what}: the variable {variable.name!r} has shape {tuple(variable.shape)}, but "
                f"the file has {shape}."
            )


class _ShapeMismatchError(LoadError, ShapeError):
    """A stored value and its variable differ in shape."""


def load_variables(variables, store, what):
    """Assign stored arrays to variables after checking all of them."""
    check_variables(variables, store, what)
    # A store with `read_into` reads from a file directly into the variables' memory.
    read = getattr(store, "read_into", None)
    for number, variable in enumerate(variables):
        if read is None:
            array = np.asarray(store[str(number)])
            variable.assign(array.astype(variable.dtype.np, copy=False))
        else:
            set_variable(variable, partial(read, str(number)))


def set_variable(variable, read):
    """Set a variable to the values that `read` returns, writing into its buffer if that is safe.

    This avoids a second array and its page faults.

    Args:
        variable: a variable.
        read: called with the variable's buffer, or None if it is shared; fills the buffer if its
            shape and dtype are those of the stored values, otherwise returns a new array.
    """
    into = own_memory(variable)
    array = read(into)
    if array is not into:
        variable.assign(Tensor(array.astype(variable.dtype.np, copy=False)))


def own_memory(variable):
    """Return the buffer of a variable if nothing else refers to it and no recorder is open."""
    if thread.stack or thread.stateless is not None or thread.symbolic is not None:
        return None
    array = variable._array
    # If `_array` is a property of a subclass, each access may compute a new array.
    owned = exclusive(array, holders=2) and array is variable._array
    return array if owned and array.flags.c_contiguous else None


class budget:
    """Context in which all new variables together may have at most `size` bytes.

    The config in a file can ask for variables of any size. While the file is loaded, variables may
    not be larger than the arrays in it, so a small file cannot claim much memory.

    Args:
        size: in bytes.
        has_values: whether the file has the value of every variable of a layer.
    """

    def __init__(self, size, has_values=False):
        self._left, self.has_values = size, has_values

    def __enter__(self):
        self._outer, thread.budget = thread.budget, self

    def __exit__(self, *_):
        thread.budget = self._outer

    def take(self, shape, itemsize):
        """Subtract a variable's bytes from the budget; raise UnsafeFileError if they exceed it."""
        self._left -= math.prod(shape) * itemsize
        if self._left < 0:
            raise UnsafeFileError(
                f"The file's config asks for a variable of shape {tuple(shape)}, but the file has "
                "fewer values. Pass limits=Limits(extra_bytes=...) if you trust the file."
            )
