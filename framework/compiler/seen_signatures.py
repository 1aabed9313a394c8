"""The signatures that a function was called with, for saving it."""

import weakref

import numpy as np

from framework.core import nest
from framework.core.operand import Operand
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Tensor
from framework.core.tensor_spec import TensorSpec
from framework.core.variable import CoreVariable

_MOST = 64  # calls that are looked at: saving needs a few signatures, calls must stay fast
_PLAIN = (str, bytes, bool, int, float, type(None), TensorSpec)


class SeenSignatures:
    """The signatures of the first calls of a function that ran its Python body."""

    __slots__ = ("_calls", "_seen")

    def __init__(self):
        self._calls, self._seen = 0, []

    def note(self, args, kwargs):
        """Remember the signature of a call; it keeps no argument alive."""
        if self._calls >= _MOST:
            return
        self._calls += 1
        try:
            found = nest.map_structure(_spec, [list(args), dict(kwargs)])
        except _UnknownError:
            return
        if found not in self._seen:
            self._seen.append(found)

    def of(self, instance=None):
        """Return [(args, kwargs)] of the signatures; for a method, those of one object."""
        found = []
        for args, kwargs in self._seen:
            if instance is not None:
                if not args or not _refers(args[0], instance):
                    continue
                args = args[1:]  # noqa: PLW2901
            leaves = nest.flatten([args, kwargs])
            if not any(isinstance(leaf, weakref.ref) for leaf in leaves):
                found.append((args, kwargs))
        return found

    def __copy__(self):
        return SeenSignatures()

    def __deepcopy__(self, memo):
        return SeenSignatures()

    def __reduce__(self):
        return SeenSignatures, ()


class _UnknownError(Exception):
    """An argument has no spec."""


def _refers(leaf, instance):
    return isinstance(leaf, weakref.ref) and leaf() is instance


def _spec(value):
    if isinstance(value, (Tensor, CoreVariable, np.ndarray, np.generic)):
        try:
            return TensorSpec(value.shape, value.dtype)
        except TypeError:  # an array of objects
            raise _UnknownError from None
    if isinstance(value, (KerasTensor, Operand)):
        raise _UnknownError
    if type(value) in _PLAIN:
        return value
    try:
        return weakref.ref(value)
    except TypeError:
        raise _UnknownError from None
