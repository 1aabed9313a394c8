"""Save and load a model's variables, in HDF5 files, and its assets, such as vocabularies."""

import os
import tempfile
import warnings
from collections.abc import MutableMapping
from pathlib import Path

import numpy as np

from framework.core.errors import (
    DamagedFileError,
    LoadError,
    MissingModelError,
    SaveError,
    UnsafeFileError,
)
from framework.saving import hdf5, legacy_h5, named_arrays, shards
from framework.saving.archive import Archive
from framework.saving.limits import DEFAULT
from framework.saving.tree import parts
from framework.saving.writing import replacing

WEIGHTS = "model.weights.h5"
ASSETS = "assets"
NAMED = (".npz", ".safetensors")
LEGACY = (".h5", ".hdf5")


# ---- stores --------------------------------------------------------------------------------------


class StoreToWrite(MutableMapping):
    """A mapping that writes each array of a layer or optimizer to a file when it is set."""

    def __init__(self, writer, group):
        self._writer, self._group, self._keys = writer, group, []

    def __setitem__(self, key, value):
        self._writer.write(f"{self._group}/{key}", np.asarray(value))
        self._keys.append(key)

    def hold(self, key, array):
        """Store the array of a variable without a copy."""
        hold = getattr(self._writer, "hold", self._writer.write)
        hold(f"{self._group}/{key}", array)
        self._keys.append(key)

    def __getitem__(self, key):
        raise KeyError(key)

    def __delitem__(self, key):
        raise KeyError(key)

    def __iter__(self):
        return iter(self._keys)

    def __len__(self):
        return len(self._keys)


class StoreToRead(MutableMapping):
    """A mapping that reads the arrays of one layer or optimizer from a file on access."""

    def __init__(self, reader, group):
        self._reader, self._group = reader, group
        self._keys = reader.keys(group)

    def shape(self, key):
        """Return the declared shape of an array without reading it."""
        return self._reader.shape(f"{self._group}/{key}")

    def __getitem__(self, key):
        if key not in self._keys:
            raise KeyError(key)
        return self.read_into(key, None)

    def read_into(self, key, into):
        """Return the array `key`: read into `into` if shape and dtype match, else a new array."""
        return self._reader.array(f"{self._group}/{key}", into)

    def __setitem__(self, key, value):
        raise LoadError("load_own_variables: the store is read-only and cannot be changed.")

    __delitem__ = __setitem__

    def __iter__(self):
        return iter(self._keys)

    def __len__(self):
        return len(self._keys)


def group_of(reader, path):
    """Return the HDF5 group of the arrays at `path`; Keras 2.13 wrote another name for `layers`."""
    group = f"{path}/vars" if path else "vars"
    if not reader.has_group(group) and reader.has_group("_layer_checkpoint_dependencies"):
        group = group.replace("layers", "_layer_checkpoint_dependencies")
    return group


# ---- writing and reading parts -------------------------------------------------------------------


def write_variables(root, file, checks=True):
    """Write the variables of `root`, its layers and its optimizer as HDF5 into a binary file.

    Args:
        root: a model, or a layer.
        file: a binary file.
        checks: whether each array gets a checksum.
    """
    with hdf5.Writer(file, checks) as writer:
        write_parts(root, writer)


def write_parts(root, writer):
    """Write the variables of `root`, its layers and its optimizer with the given writer."""
    for path, part in parts(root):
        group = f"{path}/vars" if path else "vars"
        name = getattr(part, "name", None)
        writer.group(group, name if isinstance(name, str) else None)
        part.save_own_variables(StoreToWrite(writer, group))


def read_variables(root, reader, skip_mismatch=False, assets=None):
    """Set the variables of `root`, its layers and its optimizer, and load their assets.

    Args:
        root: a built model, or a layer.
        reader: a `hdf5.Reader`.
        skip_mismatch: leave objects that do not fit unchanged, with a warning.
        assets: an `Assets`, or None.

    Raises:
        LoadError: a layer or the optimizer does not fit; the message lists all that do not.
    """
    failures = []
    for path, part in parts(root):
        error = _read_part(part, path, reader, assets)
        if error is not None:
            failures.append((path or "the model", error))
    if failures:
        _report(failures, reader.name, skip_mismatch)


def _read_part(part, path, reader, assets):
    """Load one layer or optimizer with its assets; return the error if the file does not fit."""
    try:
        part.load_own_variables(StoreToRead(reader, group_of(reader, path)))
        if assets is not None and hasattr(part, "load_assets"):
            assets.load(part, path)
    except (UnsafeFileError, DamagedFileError, MemoryError):
        raise
    except Exception as error:  # a user-defined load method may raise any error
        return error
    return None


def _report(failures, name, warn_only):
    _, first = failures[0]
    message = (
        f"{name}: {len(failures)} objects could not be loaded: "
        f"{', '.join(path for path, _ in failures[:20])}. The first: {first}"
    )
    if warn_only:
        warnings.warn(message, stacklevel=4)
        return
    kind = type(first) if isinstance(first, LoadError) else LoadError
    raise kind(message) from first


# ---- files of weights ----------------------------------------------------------------------------


def save_weights(model, filepath, overwrite=True, max_shard_size=None):
    """Write the variables of a model to a file.

    Args:
        model: a built model, or a layer.
        filepath: "NAME.weights.h5", Keras's format, which also has the optimizer's state; or
            "NAME.npz" or "NAME.safetensors", which have the weights by name; or with
            `max_shard_size` "NAME.weights.json", the index of several HDF5 files.
        overwrite: whether to replace an existing file.
        max_shard_size: the largest size of each file, in GB.

    Raises:
        SaveError: the name has another ending, or the file cannot be written.
        ValueError: the model is not built, or an array is larger than `max_shard_size`.
    """
    require_built(model, "save_weights")
    name = os.fspath(filepath)
    if max_shard_size is not None:
        require_ending(name, (".weights.json", ".weights.h5"))
        name = shards.index_path(name)
        require_new(name, overwrite)
        with shards.ShardWriter(name, max_shard_size) as writer:
            write_parts(model, writer)
        return
    require_ending(name, (".weights.h5", *NAMED))
    require_new(name, overwrite)
    with replacing(name) as file:
        if name.endswith(NAMED):
            named_arrays.write(model, name, file)
        else:
            write_variables(model, file)


def load_weights(model, filepath, skip_mismatch=False, limits=None):
    """Set the variables of a model from a file that `save_weights` or `model.save` wrote.

    Args:
        model: a built model, or a layer.
        filepath: a path.
        skip_mismatch: leave layers that do not fit unchanged, with a warning.
        limits: a `Limits`; the default if None.

    Raises:
        LoadError: the file is missing, damaged or not safe, or does not fit the model.
    """
    limits = limits or DEFAULT
    require_built(model, "load_weights")
    name = os.fspath(filepath)
    if name.endswith(shards.INDEX):
        shards.recover(Path(name))
    with opened(name) as file:
        if name.endswith(".keras"):
            archive = Archive(file, name, limits)
            with hdf5.Reader(archive.open(WEIGHTS), name, limits) as reader:
                read_variables(model, reader, skip_mismatch)
            return
        if name.endswith(NAMED):
            misfits = named_arrays.read(model, name, file, skip_mismatch, limits)
            if misfits:
                warnings.warn(f"{name}: {'; '.join(misfits)}.", stacklevel=3)
            return
        require_ending(name, (".weights.h5", shards.INDEX, ".keras", *LEGACY, *NAMED), LoadError)
        if name.endswith(shards.INDEX):
            with shards.ShardReader(file, name, limits) as reader:
                read_variables(model, reader, skip_mismatch)
            return
        with hdf5.Reader(file, name, limits) as reader:
            reader.verify()
            if name.endswith(".weights.h5"):
                read_variables(model, reader, skip_mismatch)
            else:
                legacy_h5.read_weights(model, reader)


def opened(filepath):
    """Open a file for reading; raise MissingModelError if it does not exist."""
    try:
        return Path(filepath).open("rb")
    except OSError as error:
        raise MissingModelError(
            f"File not found: filepath={os.fspath(filepath)!r} ({error.strerror}). Please ensure "
            "the file is an accessible `.keras` zip file or `.weights.h5` file."
        ) from None


def require_built(root, method):
    if not getattr(root, "built", True):
        raise LoadError(
            f"{method}: the model {root.name!r} has not yet been built, so it has no variables. "
            "Call it on some data, or build(input_shape), first."
        )


def require_ending(filepath, endings, error=SaveError):
    if not os.fspath(filepath).endswith(endings):
        raise error(
            f"The filename must end in {' or '.join(endings)}, got {os.fspath(filepath)!r}."
        )
    return os.fspath(filepath)


def require_new(filepath, overwrite):
    if not overwrite and Path(filepath).exists():
        raise SaveError(
            f"{os.fspath(filepath)!r} exists already. Pass overwrite=True to replace it."
        )


# ---- assets --------------------------------------------------------------------------------------


def write_assets(root, add):
    """Call `add(member name, bytes)` for every file that `save_assets` of a layer writes."""
    for path, part in parts(root):
        if not hasattr(part, "save_assets"):
            continue
        with tempfile.TemporaryDirectory() as folder:
            part.save_assets(folder)
            for file in sorted(Path(folder).rglob("*")):
                if file.is_file():
                    inner = file.relative_to(folder).as_posix()
                    add("/".join(filter(None, (ASSETS, path, inner))), file.read_bytes())


class Assets:
    """The assets in an archive, which the layers of a model load one after the other.

    Args:
        archive: an `Archive`.
        limits: a `Limits`.
    """

    def __init__(self, archive, limits):
        self._archive, self._limits = archive, limits

    def load(self, part, path):
        """Call a layer's `load_assets` with a temporary folder that contains only its own files."""
        start = f"{ASSETS}/{path}/" if path else f"{ASSETS}/"
        names = [n for n in self._archive.names() if n.startswith(start) and not n.endswith("/")]
        if not names:
            return
        if sum(map(self._archive.size, names)) > self._limits.asset_bytes:
            raise UnsafeFileError(
                f"{self._archive.name}: the assets of {path!r} have more than "
                f"{self._limits.asset_bytes:,} bytes."
            )
        with tempfile.TemporaryDirectory() as folder:
            for name in names:  # Archive rejects paths that leave the folder
                file = Path(folder, *name.removeprefix(start).split("/"))
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(self._archive.read(name, self._limits.asset_bytes, "assets"))
            part.load_assets(folder)
