"""State files, such as checkpoints: arrays by name, and a JSON value.

A state file is a zip file of three members that are stored without compression: the format and its
version, the JSON text, and the arrays as safetensors. All checksums are verified before a value is
returned.
"""

import json
import os
import zipfile

import numpy as np

from framework.core.errors import DamagedFileError, LoadError, SaveError
from framework.saving import texts
from framework.saving.archive import Archive, stored_member
from framework.saving.limits import DEFAULT
from framework.saving.named_arrays import SafetensorsReader, write_safetensors
from framework.saving.writing import replacing

_FORMAT, _VALUES, _ARRAYS = "format.json", "values.json", "arrays.safetensors"
_KIND, _VERSION = "framework state", 1
_SMALL = 2**20  # the largest accepted size of format.json, in bytes


def write_state(path, kind, arrays, values):
    """Write a state file, which replaces an existing file when it is complete.

    Args:
        path: a path.
        kind: what is saved, "checkpoint" or "training"; `read_state` checks it.
        arrays: {name: array}.
        values: JSON values.

    Raises:
        SaveError: the file cannot be written; an existing file is unchanged.
    """
    arrays = {name: np.asarray(array) for name, array in arrays.items()}
    text = _text(values)
    with replacing(path) as file, zipfile.ZipFile(file, "w") as archive:
        about = {"format": _KIND, "version": _VERSION, "kind": kind}
        archive.writestr(zipfile.ZipInfo(_FORMAT), _text(about))
        archive.writestr(zipfile.ZipInfo(_VALUES), text)
        size = sum(array.nbytes for array in arrays.values())
        with stored_member(archive, _ARRAYS, size) as member:
            write_safetensors(member, arrays)


def _text(value):
    try:
        return json.dumps(value).encode()
    except (TypeError, ValueError) as error:
        raise SaveError(
            f"The state cannot be written as JSON: {error}. Expected numbers, strings, lists and "
            "dicts."
        ) from None


class read_state:
    """A context manager that opens a state file; its arrays are read on access.

    Args:
        path: a path.
        kind: the `kind` that `write_state` got.
        limits: a `Limits`; the default if None.

    Attributes:
        values: the value of the JSON text.
        shapes: {name: shape} of the arrays.

    Raises:
        LoadError: the file is missing, damaged, not safe or of another kind.
    """

    def __init__(self, path, kind, limits=None):
        limits, self.name = limits or DEFAULT, os.fspath(path)
        self._file = _opened(self.name)
        try:
            archive = Archive(self._file, self.name, limits)
            _check(archive, kind, self.name, limits)
            text = archive.read(_VALUES, limits.json_bytes, "limits.json_bytes")
            self.values = texts.parse(text, f"{self.name}: {_VALUES}", limits)
            self._arrays = SafetensorsReader(archive.open(_ARRAYS), self.name, limits)
        except BaseException:
            self._file.close()
            raise
        self.shapes = self._arrays.shapes

    def array(self, name, into=None):
        """Return the array `name`: read into the C-contiguous `into` if it fits, else a new one."""
        return self._arrays.array(name, into)

    def dtype(self, name):
        """Return the NumPy dtype of an array."""
        return self._arrays.dtype(name)

    def arrays(self):
        """Return all arrays as {name: array}."""
        return {name: self.array(name) for name in self.shapes}

    def close(self):
        self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _opened(name):
    from framework.saving.weights import opened  # imported here because `weights` imports layers

    return opened(name)


def _check(archive, kind, name, limits):
    found = texts.parse(archive.read(_FORMAT, _SMALL, "a format"), f"{name}: {_FORMAT}", limits)
    if not isinstance(found, dict) or found.get("format") != _KIND:
        raise DamagedFileError(f"{name}: this is not a state file, such as a checkpoint.")
    if found.get("version") != _VERSION:
        raise LoadError(
            f"{name}: the file has version {found.get('version')!r}, this release reads version "
            f"{_VERSION}. Load it with a newer release."
        )
    if found.get("kind") != kind:
        raise LoadError(f"{name}: expected a file of a {kind}, got {found.get('kind')!r}.")
