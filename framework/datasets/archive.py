"""Find and read local data files, without unpickling."""

import os
from pathlib import Path

import numpy as np

from framework.core.errors import LoadError, MissingFileError


def folders():
    """Return the folders that are searched for data files, in order."""
    named, keras = os.environ.get("FRAMEWORK_DATA"), os.environ.get("KERAS_HOME")
    keras = Path(keras) if keras else Path.home() / ".keras"
    usual = [Path.home() / ".framework" / "datasets", keras / "datasets"]
    return [Path(named), *usual] if named else usual


def find(path, what):
    """Return the file at `path`, searched for in `folders()` unless the path is absolute.

    Raises:
        MissingFileError: there is no such file; the message says where to put it.
    """
    path = Path(path).expanduser()
    places = [path] if path.is_absolute() else [folder / path for folder in folders()]
    for place in places:
        if place.is_file():
            return place
    raise MissingFileError(
        f"{what} was not found. Nothing is downloaded; put the file {path.name} at one of "
        f"{', '.join(map(str, places))}"
        + ("." if path.is_absolute() else ", or set $FRAMEWORK_DATA to its folder.")
    )


def load(file, names):
    """Return the arrays with these names from an .npz file.

    Raises:
        LoadError: not an .npz file, an array is missing, or one holds Python objects.
    """
    try:
        # the file is opened here, because NumPy would leave a damaged file open
        with Path(file).open("rb") as opened, np.load(opened, allow_pickle=False) as arrays:
            loaded = {name: arrays[name] for name in names if name in arrays}
            present = ", ".join(arrays)
    except Exception as error:  # a damaged file makes zipfile, zlib and NumPy raise various errors
        raise LoadError(f"{file} cannot be loaded as an .npz file of arrays: {error}") from None
    if missing := ", ".join(name for name in names if name not in loaded):
        raise LoadError(f"{file}: expected the arrays {missing}, got a file with {present}.")
    return list(loaded.values())
