"""TFRecord files: byte strings with their lengths and checksums."""

import glob
import gzip
import io
import operator
import os
import struct
import zlib
from typing import Any

from framework.core.errors import DataLossError, InvalidArgumentError, MissingFileError
from framework.data.checksums import masked_crc32c

_HEAD, _CRC = struct.Struct("<QI"), struct.Struct("<I")
# the bytes per read are limited, so that a damaged length cannot allocate much memory
_AT_ONCE = 1 << 24
COMPRESSIONS = ("", "GZIP", "ZLIB")


def compression(name, value):
    """Return the name of a compression, or "" for none; raise an error for an unknown name."""
    value = getattr(value, "compression_type", value)
    if hasattr(value, "numpy"):
        value = value.numpy()
    value = value.decode() if isinstance(value, bytes) else value or ""
    if value not in COMPRESSIONS:
        raise InvalidArgumentError(
            f"{name}: compression_type: expected '', 'GZIP' or 'ZLIB', got {value!r}."
        )
    return value


def as_path(value):
    """Return a path, given as str, bytes, path or tensor, as a str."""
    value = value.numpy() if hasattr(value, "numpy") else value
    return os.fsdecode(value)


def matching(patterns):
    """Return the sorted paths of the files that match a pattern, or one of several."""
    patterns = patterns.numpy() if hasattr(patterns, "numpy") else patterns
    single = isinstance(patterns, (str, bytes, os.PathLike)) or getattr(patterns, "ndim", 1) == 0
    found = set()
    for pattern in [patterns] if single else list(patterns):
        found.update(glob.glob(as_path(pattern)))  # noqa: PTH207 (patterns may be absolute)
    return sorted(found)


class _ZlibReader(io.RawIOBase):
    """A reader of a file in zlib's format, which returns decompressed bytes."""

    def __init__(self, file):
        super().__init__()
        self._file, self._zlib = file, zlib.decompressobj()

    def readable(self):
        return True

    def readinto(self, buffer):
        while True:
            data = self._zlib.decompress(
                self._zlib.unconsumed_tail or self._file.read(65536), len(buffer)
            )
            if data or self._zlib.eof:
                break
            if not self._zlib.unconsumed_tail and not self._file.peek(1):
                raise EOFError("the file is cut off")
        buffer[: len(data)] = data
        return len(data)

    def close(self):
        self._file.close()
        super().close()


def opened(path, kind=""):
    """Return a file opened for reading its decompressed bytes.

    Raises:
        MissingFileError: there is no such file.
    """
    try:
        if kind == "GZIP":
            return gzip.open(as_path(path))
        file = open(as_path(path), "rb")  # noqa: SIM115, PTH123 (the caller closes it)
    except FileNotFoundError:
        raise MissingFileError(f"{as_path(path)!r}: there is no such file.") from None
    return io.BufferedReader(_ZlibReader(file)) if kind == "ZLIB" else file


def read_records(path, kind=""):
    """Yield the records of a TFRecord file as bytes; both checksums of each are verified.

    Raises:
        DataLossError: the file is truncated or modified.
    """
    file = opened(path, kind)
    number, name = 0, as_path(path)
    try:
        while head := _read(file, 12, name, number):
            length, crc = _HEAD.unpack(_whole(head, 12, name, number))
            _check(head[:8], crc, "length", name, number)
            body = _whole(_read(file, length + 4, name, number), length + 4, name, number)
            data = body[:length]
            _check(data, _CRC.unpack_from(body, length)[0], "data", name, number)
            yield data
            number += 1
    finally:
        file.close()


def _read(file, length, name, number):
    try:
        if length <= _AT_ONCE:
            return file.read(length)
        parts = []
        while length and (part := file.read(min(length, _AT_ONCE))):
            parts.append(part)
            length -= len(part)
        return b"".join(parts)
    except (OSError, EOFError, zlib.error) as error:
        raise DataLossError(f"{name}: record {number} cannot be decompressed: {error}.") from None


def _whole(data, length, name, number):
    if len(data) < length:
        raise DataLossError(
            f"{name}: record {number} is truncated: expected {length} bytes, got {len(data)}."
        )
    return data


def _check(data, crc, what, name, number):
    if masked_crc32c(data) != crc:
        raise DataLossError(
            f"{name}: the {what} of record {number} does not match its checksum: the file is "
            f"damaged, or is no TFRecord file. Check compression_type."
        )


class TFRecordOptions:
    """Options of a `TFRecordWriter`.

    Args:
        compression_type: "GZIP", "ZLIB" or None.
        compression_level: 0 to 9.
        flush_mode, input_buffer_size, output_buffer_size, window_bits, compression_method,
            mem_level, compression_strategy: accepted, without effect.
    """

    def __init__(
        self, compression_type: Any = None, flush_mode: Any = None, input_buffer_size: Any = None,
        output_buffer_size: Any = None, window_bits: Any = None, compression_level: Any = None,
        compression_method: Any = None, mem_level: Any = None, compression_strategy: Any = None,
    ):  # fmt: skip
        self.compression_type = compression("TFRecordOptions", compression_type)
        self.compression_level = compression_level


class TFRecordWriter:
    """Writes byte strings to a TFRecord file.

    Args:
        path: a path; an existing file is replaced.
        options: "GZIP", "ZLIB", a `TFRecordOptions`, or None.

    Example:
        >>> import os, tempfile
        >>> from framework import data
        >>> path = os.path.join(tempfile.mkdtemp(), "two.tfrecord")
        >>> with TFRecordWriter(path) as writer:
        ...     writer.write(b"one")
        ...     writer.write(b"two")
        >>> list(data.TFRecordDataset(path).as_numpy_iterator())
        [b'one', b'two']
    """

    def __init__(self, path: Any, options: Any = None):
        self._framework = _Writer(as_path(path), options)

    def write(self, record: Any):
        """Write one record: bytes, a str, or a string tensor of shape ()."""
        self._framework.write(record)

    def flush(self):
        """Write buffered data to the file."""
        self._framework.file.flush()

    def close(self):
        """Close the file."""
        self._framework.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class _Writer:
    def __init__(self, path, options):
        kind = compression("TFRecordWriter", options)
        level = getattr(options, "compression_level", None)
        self.raw = self.file = open(path, "wb")  # noqa: SIM115, PTH123 (closed by `close`)
        self.compress = None
        if kind == "GZIP":
            level = 9 if level is None else operator.index(level)
            self.file = gzip.GzipFile(fileobj=self.raw, mode="wb", compresslevel=level)
        elif kind == "ZLIB":
            self.compress = zlib.compressobj(-1 if level is None else operator.index(level))

    def write(self, record):
        record = record.numpy() if hasattr(record, "numpy") else record
        record = record.encode() if isinstance(record, str) else record
        if not isinstance(record, (bytes, bytearray, memoryview)):
            raise TypeError(
                f"TFRecordWriter.write: record: expected bytes, got {type(record).__name__}. "
                "Serialize it first, such as by example.SerializeToString()."
            )
        record = bytes(record)
        length = struct.pack("<Q", len(record))
        head = length + _CRC.pack(masked_crc32c(length))
        data = head + record + _CRC.pack(masked_crc32c(record))
        self.file.write(data if self.compress is None else self.compress.compress(data))

    def close(self):
        if self.raw.closed:
            return
        if self.compress is not None:
            self.file.write(self.compress.flush())
        self.file.close()
        self.raw.close()
