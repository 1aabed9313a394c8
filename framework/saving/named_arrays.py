"""Files of named arrays: ".npz" of NumPy and ".safetensors".

Names consist of the path of a layer (see `tree.py`) and the name of its variable, such as
"layers/dense/kernel". These files hold weights only, no optimizer state.
"""

import json
import math
import struct
import zipfile
from functools import partial

import numpy as np

from framework.core.dtypes import as_dtype
from framework.core.errors import DamagedFileError, LoadError, SaveError, UnsafeFileError
from framework.core.stored import set_variable
from framework.layers.base import Layer
from framework.saving import array_sums, texts
from framework.saving.archive import Archive, stored_member
from framework.saving.checksum import fill
from framework.saving.sections import FileSection, write_checked
from framework.saving.tree import parts


def named_variables(root):
    """Return {name: variable} of the layers of `root`.

    >>> from framework import keras
    >>> list(named_variables(keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])))
    ['layers/dense/kernel', 'layers/dense/bias']
    """
    found = {}
    for path, part in parts(root):
        if not isinstance(part, Layer):
            continue
        own = part._framework
        for variable in (*own.trainable_variables, *own.non_trainable_variables):
            name = first = f"{path}/{variable.name}" if path else variable.name
            number = 0
            while name in found:
                number += 1
                name = f"{first}_{number}"
            found[name] = variable
    return found


def write(root, filepath, file):
    """Write the weights of a model into a binary file, in the format of the path's ending."""
    write_arrays(filepath, file, {name: v.array for name, v in named_variables(root).items()})


def write_arrays(filepath, file, arrays):
    """Write a dict of arrays into a binary file, in the format of the path's ending."""
    if filepath.endswith(".npz"):
        _write_npz(file, arrays)
    else:
        write_safetensors(file, arrays, checks=True)


def arrays_in(filepath, file, limits):
    """Return {name: array} of a binary file, in the format of the path's ending.

    Raises:
        LoadError: the file is damaged or not safe.
    """
    kind = NpzReader if filepath.endswith(".npz") else SafetensorsReader
    reader = kind(file, filepath, limits)
    return {name: reader.array(name) for name in reader.shapes}


def _write_npz(file, arrays):
    """Write the arrays one after the other, without a copy of all arrays in memory."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            stored = _storable(array)
            with stored_member(archive, f"{name}.npy", stored.nbytes) as member:
                _write_npy(member, stored)


def _write_npy(file, array):
    """Write an array in NumPy's format, without a copy of its memory."""
    if not array.flags.c_contiguous:
        np.lib.format.write_array(file, array, allow_pickle=False)
        return
    np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
    file.write(array.reshape(-1).view(np.uint8).data)


def _storable(array):
    """Return an array of a dtype that NumPy can save; bfloat16 is cast to float32, without loss."""
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def read(root, filepath, file, skip_mismatch, limits):
    """Set the weights of a model from a binary file.

    Raises:
        LoadError: the file is damaged or not safe, or its names and shapes are not the model's.
    """
    kind = NpzReader if filepath.endswith(".npz") else SafetensorsReader
    reader, variables = kind(file, filepath, limits), named_variables(root)
    misfits = [f"{name} is missing in the file" for name in variables if name not in reader.shapes]
    misfits += [f"{name} is not in the model" for name in reader.shapes if name not in variables]
    fitting = {}
    for name, variable in variables.items():
        shape = reader.shapes.get(name)
        if shape == tuple(variable.shape):
            fitting[name] = variable
        elif shape is not None:
            misfits.append(f"{name} has shape {tuple(variable.shape)}, but the file has {shape}")
    if misfits and not skip_mismatch:
        raise LoadError(
            f"{filepath}: the weights do not fit the model: {'; '.join(misfits[:5])}"
            f"{f'; and {len(misfits) - 5} more' if len(misfits) > 5 else ''}."
        )
    for name, variable in fitting.items():
        set_variable(variable, partial(reader.array, name))
    return misfits


def filled(file, start, shape, dtype, into, name):
    """Read an array whose bytes begin at `start` of a file.

    Args:
        file: a binary file.
        start: an offset.
        shape, dtype: of the array.
        into: a C-contiguous array, which is returned if it has this shape and dtype; or None.
        name: for messages.
    """
    fits = into is not None and into.shape == tuple(shape) and into.dtype == dtype
    array = into if fits else np.empty(shape, dtype)
    try:
        fill(file, start, array.reshape(-1).view(np.uint8).data)
    except (OSError, EOFError) as error:
        raise DamagedFileError(f"{name}: the file cannot be read: {error}.") from error
    return array


# ---- npz -----------------------------------------------------------------------------------------


class NpzReader:
    """The arrays of an ".npz" file. Headers are checked on opening, values read on access.

    Attributes:
        shapes: {name: declared shape}.
    """

    def __init__(self, file, name, limits):
        self._archive = Archive(file, name, limits)
        self._name = name
        self._headers = {
            member.removesuffix(".npy"): (member, *self._header(member))
            for member in self._archive.names()
        }
        self.shapes = {key: header[2] for key, header in self._headers.items()}

    def _header(self, member):
        """Return (member as a file, shape, whether in Fortran order, dtype, offset of the data)."""
        where = f"{self._name}: {member}"
        stream = self._archive.open(member)
        try:
            version = np.lib.format.read_magic(stream)
            reader = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
            }[version]
            shape, fortran, dtype = reader(stream)
        except Exception as error:
            raise DamagedFileError(f"{where}: not an array in NumPy's format: {error}") from None
        if dtype.kind not in "fiub" or dtype.itemsize > 8:
            raise UnsafeFileError(f"{where}: expected numbers, got elements of type {dtype}.")
        size, start = math.prod(shape) * dtype.itemsize, stream.tell()
        if min(shape, default=0) < 0 or size != self._archive.size(member) - start:
            raise UnsafeFileError(
                f"{where}: the shape {shape} declares {size:,} bytes, but "
                f"{self._archive.size(member) - start:,} are stored."
            )
        # Only the header is kept: a decompressed member would stay in memory, so it is decompressed
        # again when its array is read.
        stream = stream if isinstance(stream, FileSection) else None
        return stream, tuple(shape), fortran, dtype, start

    def array(self, key, into=None):
        """Return the array `key`: read into `into` if shape and dtype match, else a new array."""
        member, stream, shape, fortran, dtype, start = self._headers[key]
        if stream is None:
            stream = self._archive.open(member)
        array = filled(stream, start, shape[::-1] if fortran else shape, dtype,
                       None if fortran else into, f"{self._name}: {member}")  # fmt: skip
        array = np.ascontiguousarray(array.T) if fortran else array
        return array if dtype.isnative else array.astype(dtype.newbyteorder("="))


# ---- safetensors ---------------------------------------------------------------------------------

_DTYPES = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64",
    "I32": "int32", "I16": "int16", "I8": "int8", "U64": "uint64", "U32": "uint32",
    "U16": "uint16", "U8": "uint8", "BOOL": "bool", "C64": "complex64", "C128": "complex128",
}  # fmt: skip
_ELEMENTS = 2**20  # the number of elements that are copied at a time
_CODES = {name: code for code, name in _DTYPES.items()}


def write_safetensors(file, arrays, checks=False):
    """Write {name: array} into a binary file.

    Args:
        file: a binary file; seekable with `checks`.
        arrays: {name: array}.
        checks: whether to store the checksums of the arrays in the metadata.
    """
    sums = dict.fromkeys(arrays, 0) if checks else None
    place = file.tell() if checks else 0
    file.write(_header(arrays, sums))
    for name, array in arrays.items():
        if sums is None:
            for part in _parts_of(array):
                file.write(part)
        else:
            sums[name] = _write_summed(file, array)
    if sums is not None:
        end = file.tell()
        file.seek(place)
        file.write(_header(arrays, sums))
        file.seek(end)


def _write_summed(file, array):
    """Write an array; return its checksum."""
    crc = array_sums.begun(_CODES[array.dtype.name], array.shape, array.nbytes)
    for part in _parts_of(array):
        write_checked(file, part, crc)
    return crc.value()


def _header(arrays, sums):
    """Return the header for {name: array}; its size does not depend on the values of `sums`."""
    metadata, end = {"format": "framework"}, 0
    if sums is not None:
        metadata[array_sums.NAME] = json.dumps({name: f"{crc:08x}" for name, crc in sums.items()})
    header: dict = {"__metadata__": metadata}
    for name, array in arrays.items():
        start, end = end, end + array.nbytes
        code = _CODES.get(array.dtype.name)
        if code is None:
            raise SaveError(f"{name}: expected an array of numbers, got dtype {array.dtype}.")
        header[name] = {
            "dtype": code, "shape": list(array.shape), "data_offsets": [start, end],
        }  # fmt: skip
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # padding that aligns the data to 8 bytes
    return struct.pack("<Q", len(text)) + text


def _parts_of(array):
    """Yield an array's bytes in C order: at once, or in small parts if they must be copied."""
    if array.flags.c_contiguous and array.dtype.byteorder != ">":
        yield array.reshape(-1).view(np.uint8).data
        return
    for start in range(0, array.size, _ELEMENTS):
        part = array.flat[start : start + _ELEMENTS]
        part = part if part.dtype.byteorder != ">" else part.astype(part.dtype.newbyteorder("<"))
        yield np.ascontiguousarray(part).view(np.uint8).data


class SafetensorsReader:
    """The arrays of a ".safetensors" file. The header is checked on opening, values are read later.

    Attributes:
        shapes: {name: declared shape}.
    """

    def __init__(self, file, name, limits):
        self._file, self._name = file, name
        size = file.seek(0, 2)
        file.seek(0)
        start = file.read(8)
        length = struct.unpack("<Q", start)[0] if len(start) == 8 else size
        if length > limits.json_bytes:
            raise UnsafeFileError(
                f"{name}: the header declares {length:,} bytes, the limit is {limits.json_bytes:,}."
            )
        if length > size - 8:
            raise DamagedFileError(f"{name}: the file is cut off, or is not a safetensors file.")
        header = texts.parse(file.read(length), name, limits)
        if not isinstance(header, dict):
            raise DamagedFileError(f"{name}: the header must be a dict.")
        metadata = header.pop("__metadata__", None)
        self._start, self._entries = 8 + length, {}
        try:
            self._entries = {key: _entry(value) for key, value in header.items()}
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedFileError(f"{name}: the header is damaged: {error!r}") from None
        self._check_offsets(size - self._start)
        self.shapes = {key: entry[1] for key, entry in self._entries.items()}
        if isinstance(metadata, dict) and array_sums.NAME in metadata:
            self._verify(metadata[array_sums.NAME], limits)

    def _verify(self, text, limits):
        """Compare the arrays with the checksums in the metadata."""
        try:
            found = texts.parse(text.encode(), f"{self._name}: {array_sums.NAME}", limits)
            sums = {key: int(crc, 16) for key, crc in found.items()}
        except (AttributeError, TypeError, ValueError) as error:
            if isinstance(error, LoadError):
                raise
            raise DamagedFileError(f"{self._name}: the checksums are damaged: {error!r}") from None
        known = [(key, entry) for key, entry in self._entries.items() if key in sums]
        array_sums.verify(self._file, self._name, [
            (key, _CODES[dtype.name], shape, self._start + start, stop - start, sums[key])
            for key, (dtype, shape, start, stop) in known
        ])  # fmt: skip

    def _check_offsets(self, size):
        """Raise an error if arrays overlap, leave gaps or lie outside the file."""
        end = 0
        for key, (dtype, shape, start, stop) in sorted(
            self._entries.items(), key=lambda item: item[1][2:]
        ):
            declared = math.prod(shape) * dtype.itemsize
            if start != end or stop - start != declared or min(shape, default=0) < 0:
                raise UnsafeFileError(
                    f"{self._name}: {key} of shape {shape} declares {declared:,} bytes at "
                    f"{start:,} to {stop:,}; expected them to start at {end:,}."
                )
            end = stop
        if end != size:
            raise DamagedFileError(
                f"{self._name}: the header declares {end:,} bytes of data, the file has {size:,}."
            )

    def array(self, key, into=None):
        """Return the array `key`: read into `into` if shape and dtype match, else a new array."""
        dtype, shape, start, _ = self._entries[key]
        where = f"{self._name}: {key}"
        return filled(self._file, self._start + start, shape, dtype, into, where)

    def dtype(self, key):
        """Return the NumPy dtype of an array."""
        return self._entries[key][0]


def _entry(value):
    dtype = as_dtype(_DTYPES[value["dtype"]]).np
    start, stop = value["data_offsets"]
    numbers = [*value["shape"], start, stop]
    if not all(type(n) is int for n in numbers):
        raise TypeError("shapes and offsets must be integers")
    return dtype, tuple(value["shape"]), start, stop
