"""Restored values whose variables do not exist yet, such as the weights of an unbuilt layer.

A restored checkpoint adds itself to `waiting`. Code that creates variables calls `fill` afterwards.
"""

import functools

waiting = []
"""Restored checkpoints with values for variables that do not exist yet; each has a `fill()`."""


def fill():
    """Assign the values of the checkpoints in `waiting` to the variables that now exist."""
    for restoration in waiting.copy():
        restoration.fill()


def _then_fill(method):
    @functools.wraps(method)
    def filling_method(self, *args, **kwargs):
        result = method(self, *args, **kwargs)
        fill()
        return result

    return filling_method


class FillingList(list):
    """A list that calls `fill` after items are added, because no attribute is set then."""

    append, extend, insert = map(_then_fill, (list.append, list.extend, list.insert))
    __setitem__, __iadd__ = map(_then_fill, (list.__setitem__, list.__iadd__))


class FillingDict(dict):
    """A dict that calls `fill` after items are added."""

    __setitem__ = _then_fill(dict.__setitem__)
    update, setdefault = map(_then_fill, (dict.update, dict.setdefault))


def filling(value):
    """Return a list or dict as one that calls `fill`; other values, and these classes, as they
    are."""
    made = {list: FillingList, dict: FillingDict}.get(type(value))
    return value if made is None else made(value)
