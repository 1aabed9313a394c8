"""Data files of other origin: where they are looked for; how they are read, never unpickled."""

import os
from pathlib import Path

import numpy as np

from framework.core.errors import LoadError, MissingFileError


def folders():
    """Where data files are looked for, first to last."""
    named, keras = os.environ.get("FRAMEWORK_DATA"), os.environ.get("KERAS_HOME")
    keras = Path(keras) if keras else Path.home() / ".keras"
    usual = [Path.home() / ".framework" / "datasets", keras / "datasets"]
    return [Path(named), *usual] if named else usual


def find(path, what):
    """The file `path`, in the first of `folders()` that has it; as it is where absolute.

    Raises:
        MissingFileError: it is nowhere; the message says where to put which file.
    """
    path = Path(path).expanduser()
    places = [path] if path.is_absolute() else [folder / path for folder in folders()]
    for place in places:
        if place.is_file():
            return place
    raise MissingFileError(
        f"{what} was not found. Nothing is downloaded; put the file {path.name} at one of "
        f"{', '.join(map(str, places))}"
        + ("." if path.is_absolute() else ", or name its folder in $FRAMEWORK_DATA.")
    )


def load(file, names):
    """The arrays called `names` in an .npz file.

    Raises:
        LoadError: it is no such file, lacks one, or holds Python objects, which are never loaded.
    """
    try:
        # opened here, as NumPy leaves a damaged file open
        with Path(file).open("rb") as opened, np.load(opened, allow_pickle=False) as arrays:
            found = {name: arrays[name] for name in names if name in arrays}
            held = ", ".join(arrays)
    except Exception as error:  # a damaged file fails in zipfile, zlib, NumPy, ...
        raise LoadError(f"{file} cannot be loaded as an .npz file of arrays: {error}") from None
    if missing := ", ".join(name for name in names if name not in found):
        raise LoadError(f"{file} has no {missing}; it has {held}.")
    return list(found.values())
