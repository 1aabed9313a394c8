"""The arguments of a call as a key and arrays, and the call's arguments made of other tensors.

Every walk through arguments goes by `sort_of`, and meets the same tensors and arrays in one order.
"""

import operator
import weakref
from collections.abc import Mapping

import numpy as np

from framework.core import dtypes
from framework.core.conversion import array_of, tensor
from framework.core.shapes import Shape
from framework.core.tensor import Tensor, masks

_ARRAY, _NUMBER, _PLAIN, _MAPPING, _SEQUENCE, _OBJECT = range(6)
_SORTS = {
    Tensor: _ARRAY, np.ndarray: _ARRAY, int: _NUMBER, float: _NUMBER,
    **dict.fromkeys((bool, complex, str, bytes, type(None), Shape), _PLAIN),
    dict: _MAPPING, list: _SEQUENCE, tuple: _SEQUENCE,
}  # fmt: skip
_BASES = (((np.ndarray, np.generic), _ARRAY), (Mapping, _MAPPING), ((list, tuple), _SEQUENCE))
PLAIN = tuple([kind for kind, sort in _SORTS.items() if sort in (_NUMBER, _PLAIN)])
_KEPT = 32  # objects that stay because their plans do


def sort_of(value):
    """What an argument is: one of the six above."""
    sort = _SORTS.get(type(value))
    if sort is None:
        sort = next((sort for kinds, sort in _BASES if isinstance(value, kinds)), _OBJECT)
    return sort


def mask_of(value):
    """The mask that a layer has given a tensor; None without one."""
    return getattr(value, "_keras_mask", None)


def describe(value, key, arrays, token, numbers=None):
    """Put what a run depends on into `key`, and the arrays among it into `arrays`.

    Args:
        value: an argument, or a nest of them.
        token: `token(value)` stands for an object whose identity counts.
        numbers: a list for (the place in `key`, the number) of each int and float.

    Raises:
        DTypeError: an array of a dtype that tensors cannot have.
    """
    kind, sort = type(value), sort_of(value)
    if sort == _ARRAY:
        array = value.array if kind is Tensor else _as_tensors_have_it(value)
        arrays.append(array)
        key += array.dtype, array.shape
        if not array.flags.c_contiguous:
            key.append(array.strides)  # sums round by the order in memory
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
    elif sort == _SEQUENCE:
        key += kind, len(value)
        for each in value:
            describe(each, key, arrays, token, numbers)
    else:
        key.append(token(value))


def _as_tensors_have_it(value):
    """An array of the caller's as one that ops take: itself, or a view, where that will do.

    In C order, as the copy is that a tensor is made of: sums round by the order in memory.
    """
    array = value if type(value) is np.ndarray else np.asarray(value)
    array = array if array.dtype in dtypes.by_array else array_of(array)
    return array if array.flags.c_contiguous else array.copy()


def _exactly(value):
    """What, beside the type, only the same value is equal to: not -0.0 to 0.0, nor True to 1."""
    if type(value) in (float, complex):
        return repr(value)
    if type(value) is tuple:
        return tuple([(type(each), _exactly(each)) for each in value])
    return value


def leaves(value, found):
    """Put the tensors and arrays of an argument into `found`, in the order of `describe`."""
    sort = sort_of(value)
    if sort == _ARRAY:
        found.append(value)
        if masks.in_use and (mask := mask_of(value)) is not None:
            leaves(mask, found)
    elif sort in (_MAPPING, _SEQUENCE):
        for each in value.values() if sort == _MAPPING else value:
            leaves(each, found)


def replaced(value, tensors, numbers=None):
    """`value` with the next of `tensors` in the place of each array in it, in the same order.

    The same with ints and floats, where `numbers` are given for them.
    """
    sort = sort_of(value)
    if sort == _ARRAY:
        made = next(tensors)
        if masks.in_use and (mask := mask_of(value)) is not None:
            made._keras_mask = replaced(mask, tensors)
        return made
    if sort == _NUMBER:
        return value if numbers is None else next(numbers)
    if sort in (_MAPPING, _SEQUENCE):
        old = list(value.values() if sort == _MAPPING else value)
        return _like(value, sort, old, [replaced(each, tensors, numbers) for each in old])
    return value


def _like(value, sort, old, new):
    """A nest of `new` in the place of one of `old`; one of a type of its own stays, if it can."""
    kind = type(value)
    if kind not in _SORTS and all(map(operator.is_, old, new)):
        return value
    if sort == _MAPPING:
        made = dict(zip(value, new, strict=True))
        return made if kind is dict else kind(made)
    if hasattr(value, "_fields"):
        return kind(*new)
    return kind(new) if kind in _SORTS else new


def with_tensors(value):
    """An argument with a tensor in the place of each array, which is copied."""
    found = []
    leaves(value, found)
    return replaced(value, iter([tensor(each) for each in found]))


class CallArguments:
    """The arguments of a call, nests with tensors and arrays in them."""

    __slots__ = ("_leaves", "values")

    def __init__(self, values):
        self.values, self._leaves = values, None

    def leaves(self):
        """The tensors and arrays among them, one for each array that `describe` gives."""
        if self._leaves is None:
            self._leaves = []
            for value in self.values:
                leaves(value, self._leaves)
        return self._leaves

    def own(self, arrays, places=None):
        """The arrays of the call, the caller's own copied: these may be written to after it.

        Args:
            arrays: as `describe` gives them.
            places: of those that have to be; all where None.
        """
        given = self.leaves()
        places = range(len(arrays)) if places is None else places
        found = {n: arrays[n].copy() for n in places if type(given[n]) is not Tensor}
        return [found.get(n, array) for n, array in enumerate(arrays)] if found else arrays

    def tensors(self, arrays):
        """A tensor for each of the arrays, for a run in Python."""
        return [Tensor(array) for array in self.own(arrays)]


def named(names, values):
    """A name for each array, from the names of the arguments that hold them."""
    found = []
    for name, value in zip(names, values, strict=False):
        held = CallArguments([value]).leaves()
        found += [name] if len(held) == 1 else [f"{name}_{i}" for i in range(len(held))]
    return found


class ObjectTokens:
    """A token for each object that keys name, gone with the object; its plans go with it."""

    def __init__(self, compiled):
        self._compiled, self._tokens = compiled, {}
        self._kept = []  # ids of objects that cannot be referred to weakly, oldest first

    def __reduce__(self):
        return ObjectTokens, (self._compiled,)  # a copy has plans of its own, and objects

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
            self._compiled.forget(token)

    def _forgetter(self, number, token):
        compiled, tokens = weakref.ref(self._compiled), self._tokens

        def forget(_):
            tokens.pop(number, None)
            found = compiled()
            if found is not None:
                found.forget(token)

        return forget


class ObjectToken:
    """Stands for an object in keys."""

    __slots__ = ("text",)

    def __init__(self, text):
        self.text = text


_MASK = ObjectToken("masked by")


def text_of(key):
    """A key for people: `float32[2], 3.0, Model`."""
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
