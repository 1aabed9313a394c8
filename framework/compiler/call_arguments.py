"""Flatten a call's arguments into a cache key and arrays; rebuild them with other tensors.

All functions classify values by `sort_of` and visit tensors and arrays in the same order.
"""

import operator
import weakref
from collections.abc import Mapping

import numpy as np

from framework.core import dtypes
from framework.core.composite import Composite
from framework.core.conversion import array_of, tensor
from framework.core.shapes import Shape
from framework.core.tensor import Tensor, masks

_ARRAY, _NUMBER, _PLAIN, _MAPPING, _SEQUENCE, _COMPOSITE, _OBJECT = range(7)
_SORTS = {
    Tensor: _ARRAY, np.ndarray: _ARRAY, int: _NUMBER, float: _NUMBER,
    **dict.fromkeys((bool, complex, str, bytes, type(None), Shape), _PLAIN),
    dict: _MAPPING, list: _SEQUENCE, tuple: _SEQUENCE,
}  # fmt: skip
_BASES = (
    ((np.ndarray, np.generic), _ARRAY), (Mapping, _MAPPING), ((list, tuple), _SEQUENCE),
    (Composite, _COMPOSITE),
)  # fmt: skip
PLAIN = tuple([kind for kind, sort in _SORTS.items() if sort in (_NUMBER, _PLAIN)])
_NESTS = (_MAPPING, _SEQUENCE, _COMPOSITE)
# At most this many objects are kept alive because they do not support weak references.
_KEPT = 32


def sort_of(value):
    """Return the category of an argument: _ARRAY, _NUMBER, _PLAIN, _MAPPING, ..."""
    sort = _SORTS.get(type(value))
    if sort is None:
        sort = next((sort for kinds, sort in _BASES if isinstance(value, kinds)), _OBJECT)
    return sort


def mask_of(value):
    """Return the Keras mask of a tensor, or None."""
    return getattr(value, "_keras_mask", None)


def describe(value, key, arrays, token, numbers=None):
    """Append the signature of an argument to `key`, and its arrays to `arrays`.

    Args:
        value: an argument, or a nest of them.
        token: `token(value)` returns a key for an object that is compared by identity.
        numbers: a list that receives (index in `key`, number) for each int and float.

    Raises:
        DTypeError: an array has a dtype that tensors do not support.
    """
    kind, sort = type(value), sort_of(value)
    if sort == _ARRAY:
        array = value.array if kind is Tensor else _c_ordered(value)
        arrays.append(array)
        key += array.dtype, array.shape
        if not array.flags.c_contiguous:
            # The key contains the strides, because the rounding of sums depends on the memory
            # order.
            key.append(array.strides)
        if masks.in_use and (mask := mask_of(value)) is not None:
            key.append(_MASK)
            describe(mask, key, arrays, token)
    elif sort in (_NUMBER, _PLAIN):
        key += kind, _exactly(value)
        if numbers is not None and sort == _NUMBER:
            numbers.append((len(key) - 1, value))
    elif sort == _MAPPING:
        key += kind, tuple([k if type(k) is str else (type(k), _exactly(k)) for k in value])
        for each in value.values():
            describe(each, key, arrays, token, numbers)
    elif sort in (_SEQUENCE, _COMPOSITE):
        if sort == _COMPOSITE:
            key.append(value._static())
            value = value._parts()
        key += kind, len(value)
        for each in value:
            describe(each, key, arrays, token, numbers)
    else:
        key.append(token(value))


def _c_ordered(value):
    """Return an argument's array in a dtype that ops support, without a copy if possible.

    The result is in C order, like an array in a tensor, because the rounding of sums depends on
    memory order.
    """
    array = value if type(value) is np.ndarray else np.asarray(value)
    array = array if array.dtype in dtypes.by_array else array_of(array)
    return array if array.flags.c_contiguous else array.copy()


def _exactly(value):
    """Return a key that is equal only for identical values of one type: 0.0 and -0.0 differ."""
    if type(value) in (float, complex):
        return repr(value)
    if type(value) is tuple:
        return tuple([(type(each), _exactly(each)) for each in value])
    return value


def leaves(value, found):
    """Append the tensors and arrays of an argument to `found`, in the order of `describe`."""
    sort = sort_of(value)
    if sort == _ARRAY:
        found.append(value)
        if masks.in_use and (mask := mask_of(value)) is not None:
            leaves(mask, found)
    elif sort in _NESTS:
        for each in _items(value, sort):
            leaves(each, found)


def _items(value, sort):
    if sort == _COMPOSITE:
        return value._parts()
    return value.values() if sort == _MAPPING else value


def replaced(value, tensors, numbers=None):
    """Return `value` with each array replaced by the next of `tensors`, in the same order.

    If `numbers` is given, also replace each int and float by the next one of `numbers`.
    """
    sort = sort_of(value)
    if sort == _ARRAY:
        made = next(tensors)
        if masks.in_use and (mask := mask_of(value)) is not None:
            made._keras_mask = replaced(mask, tensors)
        return made
    if sort == _NUMBER:
        return value if numbers is None else next(numbers)
    if sort in _NESTS:
        old = list(_items(value, sort))
        return _like(value, sort, old, [replaced(each, tensors, numbers) for each in old])
    return value


def _like(value, sort, old, new):
    """Return a nest like `value` with the items `new`.

    If the items of a user's container are unchanged, the container itself is returned.
    """
    kind = type(value)
    if kind not in _SORTS and all(map(operator.is_, old, new)):
        return value
    if sort == _MAPPING:
        made = dict(zip(value, new, strict=True))
        return made if kind is dict else kind(made)
    if sort == _COMPOSITE:
        return value._with_parts(new)
    if hasattr(value, "_fields"):
        return kind(*new)
    return kind(new) if kind in _SORTS else new


def with_tensors(value):
    """Return an argument with each array copied into a tensor."""
    found = []
    leaves(value, found)
    return replaced(value, iter([tensor(each) for each in found]))


class CallArguments:
    """The arguments of a call, which are nests that contain tensors and arrays."""

    __slots__ = ("_leaves", "values")

    def __init__(self, values):
        self.values, self._leaves = values, None

    def leaves(self):
        """Return the tensors and arrays in the order of the arrays that `describe` appends."""
        if self._leaves is None:
            self._leaves = []
            for value in self.values:
                leaves(value, self._leaves)
        return self._leaves

    def own(self, arrays, places=None):
        """Return the arrays; copy NumPy arrays of the caller, who may change them later.

        Args:
            arrays: the arrays that `describe` appended.
            places: the indices of the arrays to copy; None for all.
        """
        given = self.leaves()
        places = range(len(arrays)) if places is None else places
        found = {n: arrays[n].copy() for n in places if type(given[n]) is not Tensor}
        return [found.get(n, array) for n, array in enumerate(arrays)] if found else arrays

    def tensors(self, arrays):
        """Return a tensor for each array, for an eager call."""
        return [Tensor(array) for array in self.own(arrays)]


def named(names, values):
    """Return a name for each array, from the names of the arguments that contain them."""
    found = []
    for name, value in zip(names, values, strict=False):
        held = CallArguments([value]).leaves()
        found += [name] if len(held) == 1 else [f"{name}_{i}" for i in range(len(held))]
    return found


class ObjectTokens:
    """Tokens for objects in the plan cache's keys; the plans of a deleted object are dropped."""

    def __init__(self, plan_cache):
        self._plan_cache, self._tokens = plan_cache, {}
        self._kept = []  # ids of objects that do not support weak references, oldest first

    def __reduce__(self):
        return ObjectTokens, (self._plan_cache,)  # A copy has its own plans and tokens.

    def token(self, value):
        try:
            return self._tokens[id(value)][0]
        except KeyError:
            token = ObjectToken(type(value).__name__)
            try:
                held = weakref.ref(value, self._forgetter(id(value), token))
            except TypeError:
                held = value
                self._keep(id(value))
            self._tokens[id(value)] = token, held
            return token

    def _keep(self, number):
        self._kept.append(number)
        if len(self._kept) > _KEPT:
            token, _ = self._tokens.pop(self._kept.pop(0))
            self._plan_cache.forget(token)

    def _forgetter(self, number, token):
        plan_cache, tokens = weakref.ref(self._plan_cache), self._tokens

        def forget(_):
            tokens.pop(number, None)
            found = plan_cache()
            if found is not None:
                found.forget(token)

        return forget


class ObjectToken:
    """Represents an object in the plan cache's keys; `text` describes the object."""

    __slots__ = ("text",)

    def __init__(self, text):
        self.text = text


_MASK = ObjectToken("masked by")


def text_of(key):
    """Return a readable form of a plan's key, such as `float32[2], 3.0, Model`."""
    parts, key = [], list(key)
    while key:
        part = key.pop(0)
        if isinstance(part, np.dtype):
            parts.append(f"{dtypes.as_dtype(part)}{list(key.pop(0))}")
        elif isinstance(part, ObjectToken):
            parts.append(part.text)
        elif part in PLAIN:
            parts.append(str(key.pop(0)))
    return ", ".join(parts)
