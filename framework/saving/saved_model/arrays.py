"""Arrays of a saved model, by name in one file; strings and complex numbers are converted."""

import numpy as np

from framework.core import dtypes
from framework.core.errors import DamagedFileError


def stored(name, array, arrays):
    """Add an array to {name: array}, and return the JSON value by which `restored` finds it."""
    array = np.asarray(array)
    if array.dtype.kind in "OSU":
        texts = [t if type(t) is bytes else str(t).encode() for t in array.reshape(-1).tolist()]
        return {"shape": list(array.shape), "strings": [t.decode("latin-1") for t in texts]}
    if array.dtype.kind == "c":
        parts = np.ascontiguousarray(array).reshape(-1).view(array.real.dtype)
        arrays[name] = parts
        return {"name": name, "shape": list(array.shape), "complex": array.dtype.name}
    arrays[name] = array
    return {"name": name}


def restored(description, file):
    """Read the array that a result of `stored` describes from the open file."""
    if "strings" in description:
        made = np.empty(len(description["strings"]), object)
        made[:] = [text.encode("latin-1") for text in description["strings"]]
        return made.reshape(description["shape"])
    name = description["name"]
    if name not in file.shapes:
        raise DamagedFileError(f"{file.name}: the file has no array {name!r:.60}.")
    array = file.array(name)
    if "complex" in description:
        array = array.view(dtypes.as_dtype(description["complex"]).np)
        return array.reshape(description["shape"])
    return array
