"""Lookup tables inside saved functions: their keys and values, or the boundaries of bins."""

import numpy as np

from framework.core.errors import SaveError


def saved_table(value):
    """Return [keys, values, default, dtype, boundaries] of a table op; None for other objects."""
    boundaries = getattr(value, "boundaries", None)
    if isinstance(boundaries, np.ndarray):
        return [None, None, None, value.dtype, boundaries]
    if not callable(getattr(value, "entries", None)):
        return None
    keys, values, default = value.entries()
    if default is None:
        raise SaveError(
            "keys that the lookup table lacks must get one default value, but this table hashes "
            "them or raises an error"
        )
    return [list(keys), list(values), default, value.dtype, None]


class SavedTable:
    """The NumPy implementation of a lookup op in a loaded function.

    Args:
        keys, values: lists.
        default: the value of keys that are not in `keys`.
        dtype: a NumPy dtype.
        boundaries: an array of boundaries instead of keys and values, or None.
    """

    def __init__(self, keys, values, default, dtype, boundaries):
        self.dtype, self.boundaries = np.dtype(dtype), boundaries
        self._values = None if keys is None else dict(zip(keys, values, strict=True))
        self._default, self._keys, self._listed = default, keys, values
        if boundaries is None:
            self.entries = lambda: (self._keys, self._listed, self._default)

    def __call__(self, keys):
        if self.boundaries is not None:
            found = np.searchsorted(self.boundaries, keys, side="right")
            return found.astype(self.dtype)
        made = np.empty(keys.size, self.dtype)
        made[:] = [self._values.get(key, self._default) for key in keys.reshape(-1).tolist()]
        return made.reshape(keys.shape)

    def shape(self, shape):
        return shape
