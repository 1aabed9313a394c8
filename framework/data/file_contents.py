"""Functions of tf.io for whole files and for bytes in tensors."""

import base64
import gzip
import math
import zlib
from typing import Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import DTypeLike, TensorLike
from framework.core.errors import (
    DamagedFileError,
    DTypeError,
    InvalidArgumentError,
    MissingFileError,
    SaveError,
)  # fmt: skip
from framework.core.tensor import Tensor
from framework.data.examples import encoded_field, encoded_varint, fields
from framework.data.records import as_path, compression, matching
from framework.data.structure import array_in

# ---- files ---------------------------------------------------------------------------------------


def read_file(filename: Any, name: str | None = None):
    """Return the content of a file as a string tensor of shape ().

    Raises:
        NotFoundError: there is no such file.
    """
    try:
        with open(as_path(filename), "rb") as file:  # noqa: PTH123 (a path may be bytes)
            return _text(file.read())
    except FileNotFoundError:
        raise MissingFileError(
            f"read_file: filename: there is no file {as_path(filename)!r}."
        ) from None


def write_file(filename: Any, contents: Any, name: str | None = None) -> None:
    """Write a string tensor of shape () to a file, whose folder is created if it is missing.

    Raises:
        SaveError: the file cannot be written.
    """
    from pathlib import Path

    data = _bytes(contents, "write_file: contents")
    path = Path(as_path(filename))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise SaveError(f"write_file: filename: cannot write {str(path)!r}: {error}.") from None


def matching_files(pattern: Any, name: str | None = None):
    """Return the sorted paths of the files that match patterns, a string tensor of shape (n,)."""
    found = [path.encode() for path in matching(pattern)]
    return Tensor(np.array(found, object))


# ---- bytes ---------------------------------------------------------------------------------------


def _text(data):
    array = np.empty((), object)
    array[()] = data
    return Tensor(array)


def _bytes(value, name):
    value = value.numpy() if hasattr(value, "numpy") else value
    value = value.encode() if isinstance(value, str) else value
    if not isinstance(value, bytes):
        raise DTypeError(f"{name}: expected one string, got {value!r}.")
    return value


def _each(function, value, name):
    """Return a string tensor with `function` applied to the bytes of each string."""
    if isinstance(value, bytes):
        return _text(function(value))
    array = array_in(value, name)
    if array.dtype.kind != "O":
        raise DTypeError(f"{name}: expected strings, got {array.dtype}.")
    out = np.empty(array.shape, object)
    for index in np.ndindex(array.shape):
        out[index] = function(array[index])
    return Tensor(out)


def encode_base64(input: TensorLike, pad: bool = False, name: str | None = None):
    """Encode strings in base64 with the URL-safe alphabet.

    >>> encode_base64(b"any?").item()
    b'YW55Pw'
    """

    def encoded(data):
        text = base64.urlsafe_b64encode(data)
        return text if pad else text.rstrip(b"=")

    return _each(encoded, input, "encode_base64: input")


def decode_base64(input: TensorLike, name: str | None = None):
    """Return the strings that `encode_base64` encoded.

    >>> decode_base64(b"YW55Pw").item()
    b'any?'
    """

    def decoded(data):
        try:
            data = data.rstrip(b"=")
            return base64.b64decode(data + b"=" * (-len(data) % 4), b"-_", validate=True)
        except ValueError as error:
            raise InvalidArgumentError(f"decode_base64: input: {error}.") from None

    return _each(decoded, input, "decode_base64: input")


def decode_compressed(bytes: TensorLike, compression_type: Any = "", name: str | None = None):
    """Return the strings that were compressed with "GZIP" or "ZLIB"."""
    kind = compression("decode_compressed", compression_type)

    def decoded(data):
        try:
            return {"GZIP": gzip.decompress, "ZLIB": zlib.decompress}.get(kind, lambda d: d)(data)
        except (OSError, EOFError, zlib.error) as error:
            raise DamagedFileError(
                f"decode_compressed: cannot decompress `bytes`: {error}."
            ) from None

    return _each(decoded, bytes, "decode_compressed: bytes")


def decode_raw(
    input_bytes: TensorLike, out_type: DTypeLike, little_endian: bool = True,
    fixed_length: Any = None, name: str | None = None,
):  # fmt: skip
    """Reinterpret the bytes of strings as numbers, of shape (..., count).

    Args:
        input_bytes: strings of equal length, unless `fixed_length` is given.
        out_type: the dtype of the numbers.
        little_endian: False for big-endian numbers.
        fixed_length: the number of bytes to read of each string; shorter strings are padded with
            zeros.

    >>> decode_raw(b"\\x01\\x00\\x02\\x00", "int16").tolist()
    [1, 2]
    """
    wanted = dtypes.as_dtype(out_type).np
    if wanted.kind == "O":
        raise DTypeError("decode_raw: out_type: expected a numeric dtype, got string.")
    texts = np.empty((), object)
    if isinstance(input_bytes, bytes):
        texts[()] = input_bytes
    else:
        texts = array_in(input_bytes, "decode_raw: input_bytes")
    rows = list(texts.reshape(-1))
    if fixed_length is not None:
        rows = [row[:fixed_length].ljust(fixed_length, b"\x00") for row in rows]
    lengths = set(map(len, rows)) or {0}
    if len(lengths) > 1 or min(lengths) % wanted.itemsize:
        raise InvalidArgumentError(
            f"decode_raw: input_bytes: expected strings of equal length, a multiple of "
            f"{wanted.itemsize}, got {sorted(lengths)}. Pass fixed_length."
        )
    array = np.frombuffer(b"".join(rows), wanted)
    array = array.copy() if little_endian else array.byteswap()
    return Tensor(array.reshape(*texts.shape, min(lengths) // wanted.itemsize))


# ---- tensors -------------------------------------------------------------------------------------

_NUMBERS = {
    "float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7,
    "complex64": 8, "int64": 9, "bool": 10, "bfloat16": 14, "uint16": 17, "complex128": 18,
    "float16": 19, "uint32": 22, "uint64": 23,
}  # fmt: skip


def serialize_tensor(tensor: TensorLike, name: str | None = None):
    """Return a tensor as the string of a TensorProto, which `parse_tensor` reads."""
    array = array_in(tensor, "serialize_tensor: tensor")
    dtype = dtypes.of_array(array)
    sizes = [encoded_field(2, b"\x08" + encoded_varint(n) if n else b"") for n in array.shape]
    parts = [b"\x08" + encoded_varint(_NUMBERS[dtype.name]), encoded_field(2, b"".join(sizes))]
    if array.dtype.kind == "O":
        parts += [encoded_field(8, each) for each in array.reshape(-1)]
    elif array.size:
        parts.append(encoded_field(4, np.ascontiguousarray(array).tobytes()))
    return _text(b"".join(parts))


def parse_tensor(serialized: Any, out_type: DTypeLike, name: str | None = None):
    """Return the tensor that `serialize_tensor` wrote.

    Raises:
        InvalidArgumentError: the tensor has another dtype.
        DamagedFileError: the string is not a TensorProto whose numbers are stored as bytes.

    >>> parse_tensor(serialize_tensor([1, 2]), "int32").tolist()
    [1, 2]
    """
    wanted = dtypes.as_dtype(out_type)
    number, shape, content, texts = 0, [], b"", []
    for field, _, value in fields(_bytes(serialized, "parse_tensor: serialized")):
        if field == 1:
            number = value
        elif field == 2:
            dims = [dim for n, _, dim in fields(value) if n == 2]
            shape = [sum(size for n, _, size in fields(dim) if n == 1) for dim in dims]
        elif field == 4:
            content = value
        elif field == 8:
            texts.append(value)
    if number != _NUMBERS.get(wanted.name):
        names = {n: each for each, n in _NUMBERS.items()}
        raise InvalidArgumentError(
            f"parse_tensor: out_type: the serialized tensor is "
            f"{names.get(number, 'of an unknown dtype')}, got {wanted.name}."
        )
    count = math.prod(shape)
    if wanted.name == "string":
        array = np.array(texts, object) if len(texts) == count else None
    else:
        fits = len(content) == count * wanted.np.itemsize
        array = np.frombuffer(content, wanted.np).copy() if fits else None
    if array is None:
        raise DamagedFileError(
            f"parse_tensor: serialized: the number of values does not fit the shape {shape}."
        )
    return Tensor(array.reshape(shape))
