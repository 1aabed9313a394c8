"""Elements in files, for `save`, `load`, `snapshot`, and `cache` with a file name.

A file is a TFRecord file, so that every record has a checksum. The first record is JSON: the
format, its version, and the structure of the elements. Then comes a record for each element, and a
last record with their number, again JSON; a file without the last record is incomplete.
"""

import itertools
import json
import math
import os
import struct
from pathlib import Path

import numpy as np

from framework.core import nest
from framework.core.dtypes import as_dtype
from framework.core.errors import (
    DataLossError,
    InvalidArgumentError,
    LoadError,
    MissingFileError,
)  # fmt: skip
from framework.core.tensor import Tensor
from framework.core.tensor_spec import TensorSpec
from framework.data.records import TFRecordWriter, read_records
from framework.data.stage import UNKNOWN, Stage
from framework.data.structure import packer

_FORMAT, _VERSION = "framework elements", 1
# a record's first byte: whether it holds an element or JSON text
_ELEMENT, _TEXT = b"\x00", b"\x01"


# ---- structures and elements as bytes ------------------------------------------------------------


def spec_to_json(spec):
    """Return a nest of TensorSpecs as JSON values."""
    if isinstance(spec, TensorSpec):
        shape = None if spec.shape is None else list(spec.shape)
        return {"dtype": str(as_dtype(spec.dtype).name), "shape": shape}
    if isinstance(spec, dict):
        return {"dict": [[key, spec_to_json(value)] for key, value in spec.items()]}
    if isinstance(spec, (tuple, list)):
        return {"tuple": [spec_to_json(value) for value in spec]}
    raise InvalidArgumentError(f"Elements with {spec!r} cannot be stored: expected tensors.")


def spec_from_json(value, name):
    """Return a nest of TensorSpecs from JSON values; raise a LoadError if they are invalid."""
    try:
        if "dict" in value:
            return {key: spec_from_json(v, name) for key, v in value["dict"]}
        if "tuple" in value:
            return tuple(spec_from_json(v, name) for v in value["tuple"])
        return TensorSpec(value["shape"], value["dtype"])
    except (TypeError, KeyError, ValueError, RecursionError) as error:
        raise LoadError(f"{name}: the structure of the elements is damaged: {error!r}.") from None


def to_bytes(element):
    """Return an element's leaves as bytes."""
    head, parts = [], []
    for leaf in nest.flatten(element):
        array = leaf.array
        if array.dtype.kind == "O":
            texts = [bytes(text) for text in array.reshape(-1)]
            head.append([str(leaf.dtype.name), list(array.shape), [len(text) for text in texts]])
            parts.extend(texts)
        else:
            head.append([str(leaf.dtype.name), list(array.shape), []])
            parts.append(np.ascontiguousarray(array).tobytes())
    text = json.dumps(head).encode()
    return b"".join([_ELEMENT, struct.pack("<I", len(text)), text, *parts])


def from_bytes(data, name):
    """Return the leaves of an element; raise a LoadError if the record is invalid."""
    try:
        (length,) = struct.unpack_from("<I", data, 1)
        leaves, at = [], 5 + length
        for dtype, shape, sizes in json.loads(data[5:at]):
            kind, count = as_dtype(dtype).np, math.prod(shape)
            if kind.kind == "O":
                array, texts = np.empty(count, object), []
                for size in sizes:
                    texts.append(data[at : at + size])
                    at += size
                array[:] = texts
            else:
                array = np.frombuffer(data, kind, count, at).copy()
                at += array.nbytes
            leaves.append(Tensor(array.reshape(shape)))
        return leaves
    except (TypeError, KeyError, ValueError, struct.error) as error:
        raise LoadError(f"{name}: an element is damaged: {error!r}.") from None


# ---- one file ------------------------------------------------------------------------------------


# Temporary files get these numbers, so that two writers of the same path use different files.
_writers = itertools.count()


class ElementWriter:
    """Writes a file of elements under a temporary name; `finish` renames it."""

    def __init__(self, path, spec, kind=""):
        self.path, self.count = os.fspath(path), 0
        head = {"format": _FORMAT, "version": _VERSION, "spec": spec_to_json(spec)}
        self._partial = f"{self.path}.partial-{os.getpid()}-{next(_writers)}"
        self._writer = TFRecordWriter(self._partial, kind)
        self._text(head)

    def _text(self, value):
        self._writer.write(_TEXT + json.dumps(value).encode())

    def write(self, element):
        self._writer.write(to_bytes(element))
        self.count += 1

    def finish(self):
        self._text({"count": self.count})
        self._writer.close()
        Path(self._partial).replace(self.path)

    def abandon(self):
        self._writer.close()
        Path(self._partial).unlink(missing_ok=True)


def read_elements(path, kind=""):
    """Yield the elements of a file.

    Raises:
        LoadError: the file was not written by an `ElementWriter`.
        DataLossError: the file is truncated or modified.
    """
    records = read_records(path, kind)
    head = _json(next(records, b""), path)
    if head.get("format") != _FORMAT or head.get("version") != _VERSION:
        raise LoadError(f"{path}: expected a file of dataset elements, version {_VERSION}.")
    pack, count = packer(spec_from_json(head.get("spec"), path)), 0
    for record in records:
        if record[:1] == _TEXT:
            if _json(record, path).get("count") != count:
                break
            return
        yield pack(from_bytes(record, path))
        count += 1
    raise DataLossError(f"{path}: the file is incomplete: it ends after {count} elements.")


def _json(record, path):
    try:
        value = json.loads(record[1:]) if record[:1] == _TEXT else None
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise LoadError(f"{path}: this is not a file of dataset elements.")
    return value


# ---- cache ---------------------------------------------------------------------------------------


class FileCache(Stage):
    """A pipeline stage that stores the elements of its first complete iteration in a file."""

    def __init__(self, parent, path):
        super().__init__(parent)
        self.path = f"{path}.elements"

    def elements(self):
        return read_elements(self.path) if Path(self.path).exists() else self._fill()

    def _fill(self):
        writer, complete = None, False
        try:
            for element in self.parent.iterate():
                writer = writer or ElementWriter(self.path, self.parent.spec())
                writer.write(element)
                yield element
            writer = writer or ElementWriter(self.path, self.parent.spec())
            complete = True
            writer.finish()
        finally:
            if writer is not None and not complete:
                writer.abandon()


# ---- folders -------------------------------------------------------------------------------------

_INDEX = "dataset.json"


def write_folder(path, elements, spec, kind, shard_of):
    """Write elements to a folder, one file per shard; yield each element after writing it."""
    folder, writers, count = Path(path), {}, 0
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for element in elements:
            shard = shard_of(element)
            if shard not in writers:
                writers[shard] = ElementWriter(folder / f"{shard:08d}.elements", spec, kind)
            writers[shard].write(element)
            count += 1
            yield element
        for writer in writers.values():
            writer.finish()
    except BaseException:
        for writer in writers.values():
            writer.abandon()
        raise
    index = {
        "format": _FORMAT, "version": _VERSION, "spec": spec_to_json(spec), "compression": kind,
        "count": count, "shards": [f"{shard:08d}.elements" for shard in sorted(writers)],
    }  # fmt: skip
    partial = folder / f"{_INDEX}.partial-{os.getpid()}-{next(_writers)}"
    partial.write_text(json.dumps(index))
    partial.replace(folder / _INDEX)


class StoredFolder:
    """A folder that `write_folder` wrote.

    Raises:
        MissingFileError: the folder does not exist.
        LoadError: a file in it is damaged.
    """

    def __init__(self, path):
        self.folder = Path(path)
        try:
            index = json.loads((self.folder / _INDEX).read_text())
        except FileNotFoundError:
            raise MissingFileError(
                f"{os.fspath(path)!r}: there is no saved dataset: {_INDEX} is missing."
            ) from None
        except ValueError as error:
            raise LoadError(f"{os.fspath(path)!r}: {_INDEX} is damaged: {error}.") from None
        if not isinstance(index, dict) or index.get("version") != _VERSION:
            raise LoadError(f"{os.fspath(path)!r}: expected format version {_VERSION}.")
        self.spec = spec_from_json(index["spec"], os.fspath(path))
        self.count, self.kind = index["count"], index["compression"]
        self.shards = [Path(each).name for each in index["shards"]]

    def stages(self):
        """Return a stage for each shard."""
        return [Stored(self.folder / each, self.spec, self.kind) for each in self.shards]

    @staticmethod
    def exists(path):
        return (Path(path) / _INDEX).exists()


class Stored(Stage):
    """A pipeline stage that yields the elements of one file."""

    def __init__(self, path, spec, kind):
        super().__init__()
        self.path, self._spec, self.kind = path, spec, kind

    def length(self):
        return UNKNOWN

    def spec(self):
        return self._spec

    def elements(self):
        return read_elements(self.path, self.kind)


class Loaded(Stage):
    """A pipeline stage that yields the elements of a saved dataset."""

    def __init__(self, parent, count):
        super().__init__(parent)
        self.count = count

    def length(self):
        return self.count

    def after(self, count):
        return self.parent.after(count)


class KeptFolder(Stage):
    """A pipeline stage that stores its elements in a folder in the first complete iteration.

    Later iterations read the folder.
    """

    def __init__(self, parent, path, kind, shard_of, read):
        super().__init__(parent)
        self.path, self.kind, self.shard_of, self.read = path, kind, shard_of, read

    def elements(self):
        if StoredFolder.exists(self.path):
            return self.read(StoredFolder(self.path)).iterate()
        return write_folder(
            self.path, self.parent.iterate(), self.parent.spec(), self.kind, self.shard_of
        )
