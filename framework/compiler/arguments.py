"""The arguments of a call as a key and arrays, and the call's arguments made of other tensors."""

import weakref
from collections.abc import Mapping

import numpy as np

from framework.core import dtypes
from framework.core.tensor import Tensor, masks

PLAIN = (bool, int, float, complex, str, bytes, type(None))


def mask_of(value):
    """The mask that a layer has given a tensor; None without one."""
    return getattr(value, "_keras_mask", None)


def describe(value, key, arrays, token, numbers=None):
    """Put what a run depends on into `key`, and the arrays among it into `arrays`.

    Args:
        value: an argument, or a nest of them.
        token: `token(value)` stands for an object whose identity counts.
        numbers: a list for (the place in `key`, the number) of each int and float.
    """
    kind = type(value)
    if kind is Tensor or kind is np.ndarray:
        array = value.array if kind is Tensor else value
        arrays.append(array)
        key += array.dtype, array.shape
        if masks.in_use and (mask := mask_of(value)) is not None:
            key.append(_MASK)
            describe(mask, key, arrays, token)
    elif kind in PLAIN:
        key += kind, repr(value) if kind is float else value
        if numbers is not None and kind in (int, float):
            numbers.append((len(key) - 1, value))
    elif isinstance(value, Mapping):
        key += kind, tuple(value)
        for each in value.values():
            describe(each, key, arrays, token, numbers)
    elif isinstance(value, (list, tuple)):
        key += kind, len(value)
        for each in value:
            describe(each, key, arrays, token, numbers)
    elif isinstance(value, np.generic):
        arrays.append(np.asarray(value))
        key += arrays[-1].dtype, ()
    else:
        key.append(token(value))


def given(value, found):
    """Put the tensors and arrays of an argument into `found`, in the order of `describe`."""
    if type(value) is Tensor or isinstance(value, (np.ndarray, np.generic)):
        found.append(value)
        if masks.in_use and (mask := mask_of(value)) is not None:
            given(mask, found)
    elif isinstance(value, Mapping):
        for each in value.values():
            given(each, found)
    elif isinstance(value, (list, tuple)):
        for each in value:
            given(each, found)


def replaced(value, tensors, numbers=None):
    """`value` with the next of `tensors` in the place of each array in it, in the same order.

    The same with ints and floats, where `numbers` are given for them.
    """
    kind = type(value)
    if kind is Tensor or kind is np.ndarray or isinstance(value, np.generic):
        made = next(tensors)
        if masks.in_use and (mask := mask_of(value)) is not None:
            made._keras_mask = replaced(mask, tensors)
        return made
    if kind in PLAIN:
        return next(numbers) if numbers is not None and kind in (int, float) else value
    if isinstance(value, Mapping):
        made = {key: replaced(each, tensors, numbers) for key, each in value.items()}
        return made if kind is dict else kind(made)
    if isinstance(value, (list, tuple)):
        made = [replaced(each, tensors, numbers) for each in value]
        if hasattr(value, "_fields"):
            return kind(*made)
        return kind(made) if kind in (list, tuple, dtypes.Shape) else made
    return value


class Objects:
    """A token for each object that keys name, gone with the object; its plans go with it."""

    def __init__(self, compiled):
        self._compiled, self._tokens = compiled, {}

    def token(self, value):
        try:
            return self._tokens[id(value)][0]
        except KeyError:
            token = Token(type(value).__name__)
            try:
                held = weakref.ref(value, self._forgetter(id(value), token))
            except TypeError:
                held = value
            self._tokens[id(value)] = token, held
            return token

    def _forgetter(self, number, token):
        compiled, tokens = weakref.ref(self._compiled), self._tokens

        def forget(_):
            tokens.pop(number, None)
            found = compiled()
            if found is not None:
                found.forget(token)

        return forget


class Token:
    """Stands for an object in keys."""

    __slots__ = ("text",)

    def __init__(self, text):
        self.text = text


_MASK = Token("masked by")


def text_of(key):
    """A key for people: `float32[2], 3.0, Model`."""
    parts, key = [], list(key)
    while key:
        part = key.pop(0)
        if isinstance(part, np.dtype):
            parts.append(f"{dtypes.as_dtype(part)}{list(key.pop(0))}")
        elif isinstance(part, Token):
            parts.append(part.text)
        elif part in PLAIN:
            parts.append(str(key.pop(0)))
    return ", ".join(parts)
