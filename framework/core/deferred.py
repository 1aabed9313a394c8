"""Restored values whose variables do not exist yet, such as the weights of an unbuilt layer.

A restored checkpoint adds itself to `waiting`. Code that creates variables calls `fill` afterwards.
"""

waiting = []
"""Restored checkpoints with values for variables that do not exist yet; each has a `fill()`."""


def fill():
    """Assign the values of the checkpoints in `waiting` to the variables that now exist."""
    for restoration in waiting.copy():
        restoration.fill()


class FillingList(list):
    """A list that calls `fill` after items are added, because no attribute is set then."""

    def append(self, item):
        super().append(item)
        fill()

    def extend(self, items):
        super().extend(items)
        fill()

    def insert(self, index, item):
        super().insert(index, item)
        fill()

    def __setitem__(self, index, item):
        super().__setitem__(index, item)
        fill()

    def __iadd__(self, items):
        self.extend(items)
        return self


class FillingDict(dict):
    """A dict that calls `fill` after items are added."""

    def __setitem__(self, key, item):
        super().__setitem__(key, item)
        fill()

    def update(self, *args, **kwargs):
        super().update(*args, **kwargs)
        fill()

    def setdefault(self, key, default=None):
        found = super().setdefault(key, default)
        fill()
        return found


def filling(value):
    """Return a list or dict as one that calls `fill`; other values, and these classes, as they
    are."""
    made = {list: FillingList, dict: FillingDict}.get(type(value))
    return value if made is None else made(value)
