"""Datasets of the lines or records of files: text, fixed length, TFRecord."""

from typing import Any

import numpy as np

from framework.core import random
from framework.core.errors import InvalidArgumentError
from framework.core.tensor import Tensor
from framework.core.tensor_spec import TensorSpec
from framework.data.arguments import at_least, made, workers
from framework.data.dataset import Dataset
from framework.data.records import as_path, compression, opened, read_records
from framework.data.stage import UNKNOWN, Slices, Stage
from framework.data.structure import array_in
from framework.data.transform import Interleave

_TEXT = TensorSpec((), "string")


class OneFile(Stage):
    """A pipeline stage that yields the elements of `read(path)`."""

    def __init__(self, read, path, spec):
        super().__init__()
        self.read, self.path, self._spec = read, path, spec

    def length(self):
        return UNKNOWN

    def spec(self):
        return self._spec

    def elements(self):
        return self.read(self.path)


class Files(Interleave):
    """A pipeline stage that yields the elements of files, one by one or several files in turn."""

    def __init__(self, name, filenames, read, spec=_TEXT, num_parallel_reads=None):
        count = workers(name, num_parallel_reads)
        seed = None if count is None else random.make_seed()
        function = lambda path: made(OneFile(read, as_path(path), spec))
        cycle = 1 if count is None else 8 if count == -1 else count
        how = cycle, 1, count is not None, seed, name
        super().__init__(_filenames(name, filenames), function, *how)
        self._spec = spec

    def length(self):
        return UNKNOWN

    def spec(self):
        return self._spec


def _filenames(name, value):
    """Return a stage that yields paths, given one path, or a list, tensor or Dataset of them."""
    if isinstance(value, Dataset):
        return value._framework
    paths = [value] if isinstance(value, (str, bytes)) or hasattr(value, "__fspath__") else value
    if isinstance(paths, (list, tuple)):
        paths = [p if isinstance(p, bytes) or hasattr(p, "numpy") else str(p) for p in paths]
    array = array_in(paths, f"{name}: filenames").reshape(-1)
    if array.dtype.kind != "O" and array.size:
        raise InvalidArgumentError(f"{name}: filenames: expected strings, got {array.dtype}.")
    return Slices(array.astype(object))


def text(value):
    """Return bytes as a string tensor."""
    array = np.empty((), object)
    array[()] = value
    return Tensor(array)


# ---- formats -------------------------------------------------------------------------------------


def _lines(kind):
    def read(path):
        with opened(path, kind) as file:
            for line in file:
                yield text(line.removesuffix(b"\n").removesuffix(b"\r"))

    return read


def _records(kind):
    return lambda path: map(text, read_records(path, kind))


def _parts(kind, length, header, footer):
    def read(path):
        with opened(path, kind) as file:
            data = file.read()
        size = len(data) - header - footer
        if size < 0 or size % length:
            raise InvalidArgumentError(
                f"FixedLengthRecordDataset: {path}: expected a multiple of {length} bytes between "
                f"the header of {header} and the footer of {footer} bytes, got {size}."
            )
        for start in range(header, header + size, length):
            yield text(data[start : start + length])

    return read


class TextLineDataset(Dataset):
    """A dataset of the lines of text files, without line endings.

    Args:
        filenames: a path, a list or tensor of paths, or a Dataset of them.
        compression_type: "GZIP", "ZLIB", or None.
        buffer_size: accepted, without effect.
        num_parallel_reads: the number of files read at the same time, on threads; lines of these
            files are then taken in turn.

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "two.txt")
        >>> with open(path, "w") as file:
        ...     _ = file.write("one\\ntwo\\n")
        >>> list(TextLineDataset(path).as_numpy_iterator())
        [b'one', b'two']
    """

    def __init__(
        self, filenames: Any, compression_type: Any = None, buffer_size: Any = None,
        num_parallel_reads: Any = None, name: str | None = None,
    ):  # fmt: skip
        read = _lines(compression("TextLineDataset", compression_type))
        super().__init__(
            Files("TextLineDataset", filenames, read, num_parallel_reads=num_parallel_reads)
        )


class TFRecordDataset(Dataset):
    """A dataset of the records of TFRecord files, as strings of bytes.

    The checksums of each record are verified: a damaged file raises `tf.errors.DataLossError`.

    Args:
        filenames: a path, a list or tensor of paths, or a Dataset of them.
        compression_type: "GZIP", "ZLIB", or None.
        buffer_size: accepted, without effect.
        num_parallel_reads: the number of files read at the same time, on threads; records of these
            files are then taken in turn.
    """

    def __init__(
        self, filenames: Any, compression_type: Any = None, buffer_size: Any = None,
        num_parallel_reads: Any = None, name: str | None = None,
    ):  # fmt: skip
        read = _records(compression("TFRecordDataset", compression_type))
        super().__init__(
            Files("TFRecordDataset", filenames, read, num_parallel_reads=num_parallel_reads)
        )


class FixedLengthRecordDataset(Dataset):
    """A dataset of binary records, all of the same length, from files, as strings of bytes.

    Args:
        filenames: a path, a list or tensor of paths, or a Dataset of them.
        record_bytes: the length of a record.
        header_bytes, footer_bytes: the number of bytes to skip at the start and end of each file.
        buffer_size: accepted, without effect.
        compression_type: "GZIP", "ZLIB", or None.
        num_parallel_reads: the number of files read at the same time, on threads.
    """

    def __init__(
        self, filenames: Any, record_bytes: Any, header_bytes: Any = None, footer_bytes: Any = None,
        buffer_size: Any = None, compression_type: Any = None, num_parallel_reads: Any = None,
        name: str | None = None,
    ):  # fmt: skip
        own = "FixedLengthRecordDataset"
        length = at_least(1, own, "record_bytes", record_bytes)
        header = at_least(0, own, "header_bytes", header_bytes or 0)
        footer = at_least(0, own, "footer_bytes", footer_bytes or 0)
        read = _parts(compression(own, compression_type), length, header, footer)
        super().__init__(Files(own, filenames, read, num_parallel_reads=num_parallel_reads))
