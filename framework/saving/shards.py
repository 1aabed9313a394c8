"""Weights in several HDF5 files: "NAME.weights.json" names the file of each layer's arrays.

The format is Keras's: shards are "NAME_00000.weights.h5" and so on. The index also holds a checksum
of each shard, which Keras ignores.
"""

import json
import os
import re
import warnings
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

from framework.core.errors import (
    DamagedFileError,
    InvalidArgumentError,
    LoadError,
    UnsafeFileError,
)
from framework.saving import hdf5, texts
from framework.saving.background import Background
from framework.saving.checksum import Reading
from framework.saving.sections import WrittenSection
from framework.saving.writing import clear_errors, only_writer, partial_path, replacing

INDEX = ".weights.json"
_GIGABYTE = 2**30


def index_path(filepath):
    """Return the path of the index for a path that ends with ".weights.h5" or ".weights.json"."""
    name = os.fspath(filepath)
    if name.endswith(INDEX):
        return name
    path = name.removesuffix(".weights.h5") + INDEX
    warnings.warn(f"save_weights: the index of the shards is written to {path!r}.", stacklevel=4)
    return path


class ShardWriter:
    """Writes the arrays of a model to shards, with the interface of `hdf5.Writer`.

    All files are renamed to their final names when the block ends. Just before, the new index is
    written as ".NAME.weights.json.next". If the process is killed during the renaming, the next
    process that reads or writes the files completes it (`recover`). A second writer gets a
    SaveError.

    Args:
        path: the path of the index.
        max_shard_size: the largest size of a shard in GB, without HDF5's metadata.
    """

    def __init__(self, path, max_shard_size):
        self._path, self._most = Path(path), float(max_shard_size) * _GIGABYTE
        self._stem = self._path.name.removesuffix(INDEX)
        self._stack, self._files, self._names = ExitStack(), [], {}
        self._sums, self._flushing = {}, Background()
        self._size = self._total = 0
        self._map, self._writer = {}, None

    def __enter__(self):
        # if an error occurs in this block, the ExitStack discards the files
        with ExitStack() as stack:
            with clear_errors(self._path):
                stack.enter_context(only_writer(self._path))
                _complete(self._path)
            # this callback runs last, after the renaming of the index
            stack.callback(_next_path(self._path).unlink, missing_ok=True)
            self._index = stack.enter_context(replacing(self._path))
            self._old = _shards_of(self._path)
            self._stack = stack
            self._next()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, _, error, __):
        # the context managers of all files receive the error, and discard their files
        with self._stack:
            try:
                if error is not None:
                    with suppress(Exception):
                        self._writer.close()
                    raise error
                self._close_shard()
                self._finish()
            finally:  # the thread must end before the file that it flushes is closed
                with suppress(Exception):
                    self._flushing.wait()

    def _next(self):
        """Begin a new shard."""
        if self._writer is not None:
            self._close_shard()
        name = f"{self._stem}_{len(self._files):05}.weights.h5"
        file = self._stack.enter_context(replacing(self._path.with_name(name)))
        self._section = WrittenSection(file)
        self._files.append((name, file))
        self._writer, self._size = hdf5.Writer(self._section, checks=False), 0

    def _close_shard(self):
        """Complete a shard; it is flushed to the disk while the next one is written."""
        self._writer.close()
        name, file = self._files[-1]
        with clear_errors(self._path):
            self._sums[name] = self._section.checksum()
        self._flushing.start(partial(os.fsync, file.fileno()))

    def _finish(self):
        """Write the new index, and remove the old one when all shards are on the disk."""
        with clear_errors(self._path):
            self._flushing.wait()
        # Keras stores the name of one file as a string, and several names as a list
        places = {group: v[0] if len(v) == 1 else v for group, v in self._map.items()}
        index = {"metadata": {"total_size": self._total, "crc32": self._sums}, "weight_map": places}
        text = json.dumps(index, indent=4).encode()
        self._index.write(text)
        with replacing(_next_path(self._path)) as next_index:
            next_index.write(text)
        # Without an index, a reader fails; with the old one, it could mix shards of two models.
        self._path.unlink(missing_ok=True)
        for name in self._old.difference(self._sums):
            if re.fullmatch(re.escape(self._stem) + r"_\d{5}\.weights\.h5", name):
                with suppress(OSError):
                    self._path.with_name(name).unlink()

    def group(self, path, name=None):
        """Note the name of a layer or optimizer, which becomes an attribute of its group."""
        self._names[path] = name

    def write(self, path, array):
        """Store an array; begin a new shard if the current one would become too large."""
        if array.nbytes > self._most:
            raise InvalidArgumentError(
                f"save_weights: max_shard_size is {self._most / _GIGABYTE:g} GB, but {path} alone "
                f"has {array.nbytes / _GIGABYTE:.3g} GB. Pass a larger max_shard_size."
            )
        if self._size + array.nbytes > self._most:
            self._next()
        group = path.rpartition("/")[0]
        self._writer.group(group, self._names.get(group))
        self._writer.write(path, array)
        self._size += array.nbytes
        self._total += array.nbytes
        name, known = self._files[-1][0], self._map.setdefault(f"/{group}", [])
        if name not in known:
            known.append(name)


def _next_path(path):
    return path.with_name(f".{path.name}.next")


def recover(path):
    """Rename the files of a killed process to their final names, if all of them are complete."""
    if not _next_path(path).exists():
        return
    # Another writer may be renaming its files; this call waits for that writer. Without permission
    # to write in the folder, nothing can be completed.
    with suppress(OSError), only_writer(path, wait=True):
        _complete(path)


def _complete(path):
    following = _next_path(path)
    if not following.exists():
        return
    for name in _shards_of(following):
        shard = path.with_name(name)
        with suppress(FileNotFoundError):
            partial_path(shard).replace(shard)
    following.replace(path)
    partial_path(path).unlink(missing_ok=True)


def _checksum(file):
    """Return the CRC-32 of all bytes of a file."""
    return Reading(file, 0, file.seek(0, 2)).value()


def _shards_of(path):
    """Return the names of the shards in an index; an empty set if there is no valid index."""
    try:
        found = json.loads(path.read_bytes())["weight_map"].values()
        names = {n for v in found for n in ([v] if isinstance(v, str) else v)}
        return {n for n in names if _is_name(n)}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return set()


def _is_name(name):
    return (
        isinstance(name, str) and name.endswith(".weights.h5") and not name.startswith(".")
        and not any(sign in name for sign in "/\\:\0")
    )  # fmt: skip


class ShardReader:
    """Reads the arrays of a model from shards, with the interface of `hdf5.Reader`.

    Args:
        file: the index, a binary file.
        path: its path.
        limits: a `Limits`.

    Raises:
        LoadError: a shard is missing, damaged or not safe.
    """

    def __init__(self, file, path, limits):
        self.name, self._folder, self._limits = path, Path(path).parent, limits
        index = texts.parse(file.read(limits.json_bytes + 1), path, limits)
        self._stack, self._readers = ExitStack(), {}
        try:
            self._map = _checked_map(index)
            sums = index.get("metadata", {}).get("crc32", {})
            names = list(dict.fromkeys(n for group in self._map.values() for n in group))
            if len(names) > limits.zip_members:
                raise UnsafeFileError(
                    f"{path}: the index names {len(names):,} shards, the limit is "
                    f"{limits.zip_members:,}. Pass limits=Limits(zip_members=...) if you trust it."
                )
            self._sums = {name: sums.get(name) for name in names}
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            if isinstance(error, LoadError):
                raise
            raise DamagedFileError(f"{path}: the index is damaged: {error!r}") from None

    def __enter__(self):
        try:
            for name in self._sums:
                self._readers[name] = self._opened(name)
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_):
        self._stack.close()

    def _opened(self, name):
        path = self._folder / name
        if path.is_symlink():
            raise UnsafeFileError(f"{self.name}: the shard {name!r} is a link.")
        try:
            file = self._stack.enter_context(path.open("rb"))
        except OSError as error:
            raise DamagedFileError(
                f"{self.name}: the shard {name!r} cannot be read: {error.strerror}."
            ) from None
        if self._sums[name] is not None and _checksum(file) != self._sums[name]:
            raise DamagedFileError(
                f"{self.name}: the shard {name!r} is damaged, or was not written with the index."
            )
        return self._stack.enter_context(hdf5.Reader(file, str(path), self._limits))

    def has_group(self, group):
        return f"/{group}" in self._map or any(
            key.startswith(f"/{group}/") for key in self._map
        )  # fmt: skip

    def _of(self, path):
        """Return the reader of the shard that contains the array `path`."""
        group = path.rpartition("/")[0]
        for name in self._map.get(f"/{group}", ()):
            if path.rpartition("/")[2] in self._readers[name].keys(group):
                return self._readers[name]
        raise DamagedFileError(f"{self.name}: no shard has the array {path!r}.")

    def keys(self, group):
        names = self._map.get(f"/{group}", ())
        found = {key for name in names for key in self._readers[name].keys(group)}
        return sorted(found, key=lambda n: (not n.isdigit(), len(n), n))

    def shape(self, path):
        return self._of(path).shape(path)

    def array(self, path, into=None):
        return self._of(path).array(path, into)


def _checked_map(index):
    """Return {group: file names} of an index; raise an error if a name could leave the folder."""
    found = {}
    for group, names in index["weight_map"].items():
        names = [names] if isinstance(names, str) else names  # noqa: PLW2901
        if not isinstance(names, list) or not all(map(_is_name, names)):
            raise UnsafeFileError(
                f"weight_map: {group!r:.60}: expected .weights.h5 file names, got {names!r:.80}."
            )
        found[group] = names
    return found
