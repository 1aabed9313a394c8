"""The signatures that a function was called with, needed to save the function."""

import weakref

import numpy as np

from framework.core import nest
from framework.core.composite import Composite
from framework.core.operand import Operand
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Tensor
from framework.core.tensor_spec import TensorSpec
from framework.core.variable import CoreVariable

_MOST = 256  # maximum number of signatures; for a method, of all objects of the class together
_PLAIN = (str, bytes, bool, int, float, type(None), TensorSpec)
_UNKNOWN = object()


class SeenSignatures:
    """The signatures of the calls of a function that ran its Python body.

    A known signature is recognized by a key of dtypes, shapes and identities. Python reuses the id
    of a deleted object, so a weak reference to the first argument is compared as well.
    """

    __slots__ = ("_owners", "_seen")

    def __init__(self):
        self._owners, self._seen = {}, []

    def note(self, args, kwargs):
        """Remember the signature of a call; it keeps no argument alive."""
        key = (*[_key(v) for v in args], *[(name, _key(v)) for name, v in kwargs.items()])
        owner = self._owners.get(key, _UNKNOWN)
        if owner is None or (owner is not _UNKNOWN and owner() is args[0]):
            return
        if max(len(self._owners), len(self._seen)) >= _MOST:
            self._drop_dead()
            if max(len(self._owners), len(self._seen)) >= _MOST:
                return
        try:
            found = nest.map_structure(_spec, [list(args), dict(kwargs)])
        except _UnknownError:
            self._owners[key] = None
            return
        first = found[0][0] if args else None
        self._owners[key] = first if isinstance(first, weakref.ref) else None
        if found not in self._seen:
            self._seen.append(found)

    def _drop_dead(self):
        """Forget the signatures that refer to deleted objects."""
        self._owners = {k: r for k, r in self._owners.items() if r is None or r() is not None}
        self._seen = [
            found for found in self._seen
            if all(leaf() is not None for leaf in nest.flatten(found)
                   if isinstance(leaf, weakref.ref))
        ]  # fmt: skip

    def of(self, instance=None):
        """Return the remembered signatures, [(args, kwargs)]; for a method, those of one object."""
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


def _key(value):
    kind = type(value)
    if kind is Tensor:
        array = value.array
        return array.dtype, array.shape
    if kind in _PLAIN:
        return kind, value
    if kind is list or kind is tuple:
        return kind, tuple([_key(v) for v in value])
    if kind is dict:
        return tuple([(name, _key(v)) for name, v in value.items()])
    if isinstance(value, Composite):
        return kind, value._static(), tuple([_key(part) for part in value._parts()])
    array = value if kind is np.ndarray else getattr(value, "array", None)
    if isinstance(array, np.ndarray):
        return kind, array.dtype, array.shape
    return id(value)


class _SameObject(weakref.ref):
    """A weak reference that equals another one to the same object.

    Plain weak references compare their objects by `==`, which returns no bool for a ragged tensor
    or a hash table.
    """

    __slots__ = ()

    def __eq__(self, other):
        return isinstance(other, _SameObject) and self() is not None and self() is other()

    __hash__ = object.__hash__


class _UnknownError(Exception):
    """An argument cannot be described by a TensorSpec or a plain value."""


def _refers(leaf, instance):
    return isinstance(leaf, weakref.ref) and leaf() is instance


def _spec(value):
    if isinstance(value, (Tensor, CoreVariable, np.ndarray, np.generic)):
        try:
            return TensorSpec(value.shape, value.dtype)
        # TensorSpec raises this for an array of Python objects, which has no supported dtype.
        except TypeError:
            raise _UnknownError from None
    if isinstance(value, (KerasTensor, Operand, Composite)):
        raise _UnknownError
    if type(value) in _PLAIN:
        return value
    try:
        return _SameObject(value)
    except TypeError:
        raise _UnknownError from None
