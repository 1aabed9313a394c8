"""NumPy arrays in pickles, for `plain_pickle`, and .npy files of Python objects.

An array's size follows from the bytes that the pickle holds, so a short pickle cannot ask for a
large array.
"""

import io
import math
import zipfile
import zlib

import numpy as np

from framework.core.errors import DamagedFileError, LoadError, UnsafeFileError
from framework.core.plain_pickle import Constructor, loads

_KINDS = "biufcSUO"


class _DType:
    """A dtype in a pickle. It is mutable, because the pickle sets its byte order later."""

    def __init__(self, code):
        self.dtype = np.dtype(code)
        if self.dtype.kind not in _KINDS or self.dtype.names:
            raise ValueError(f"the dtype {self.dtype} of an array is not supported")

    def set_state(self, state):
        order = _text(state[1]) if type(state) is tuple and len(state) > 4 else None
        if order not in ("<", ">", "|", "=") or state[2:5] != (None, None, None):
            raise ValueError("expected a dtype without fields, in a known byte order")
        size = state[5] if len(state) > 5 else -1
        if size > 0 and self.dtype.kind in "SU":
            self.dtype = np.dtype(
                f"{self.dtype.kind}{size // (4 if self.dtype.kind == 'U' else 1)}"
            )
        self.dtype = self.dtype.newbyteorder(order)


def _text(value):
    """Return a string as str; strings that Python 2 pickled can be bytes."""
    return value.decode("latin1") if type(value) is bytes else value


def _dtype(code, align=False, copy=True):
    code = _text(code)
    if type(code) is not str or len(code) > 12:
        raise ValueError("expected the code of a dtype, such as 'f4'")
    return _DType(code)


def _empty(kind, shape, code):
    if kind is not _NDARRAY or shape != (0,):
        raise ValueError("expected an ndarray of shape (0,), which the pickle fills later")
    return np.empty(0, np.int8)


def _fill(array, state):
    """Set the shape, the dtype and the elements of an array that `_empty` returned."""
    _, shape, dtype, is_fortran, data = state
    dtype = _shaped(shape, dtype)
    if dtype.kind == "O":
        if type(data) is not list or len(data) != math.prod(shape):
            raise ValueError("expected a list with one item per element of an object array")
    else:
        data = data.encode("latin1") if type(data) is str else data
        if type(data) is not bytes or len(data) != math.prod(shape) * dtype.itemsize:
            raise ValueError("the bytes of an array do not match its shape and dtype")
    array.__setstate__((1, shape, dtype, bool(is_fortran), data))


def _shaped(shape, dtype):
    """Return the NumPy dtype; raise ValueError if the shape or the dtype is invalid."""
    if type(dtype) is not _DType or type(shape) is not tuple or len(shape) > 32:
        raise ValueError("expected the shape and the dtype of an array")
    if any(type(n) is not int or n < 0 for n in shape):
        raise ValueError(f"expected a shape of ints >= 0, got {shape}")
    return dtype.dtype


def _from_buffer(data, dtype, shape, order):
    """Return an array that the pickle stores as one buffer, as pickle protocol 5 does."""
    dtype = _shaped(shape, dtype)
    size = math.prod(shape) * dtype.itemsize
    if type(data) not in (bytes, bytearray) or dtype.kind == "O" or len(data) != size:
        raise ValueError("the bytes of an array do not match its shape and dtype")
    return np.frombuffer(data, dtype).reshape(shape, order="F" if order == "F" else "C").copy()


def _scalar(dtype, data):
    dtype = _shaped((), dtype)
    data = data.encode("latin1") if type(data) is str else data
    if dtype.kind == "O" or type(data) is not bytes or len(data) != dtype.itemsize:
        raise ValueError("the bytes of a NumPy scalar do not match its dtype")
    return np.frombuffer(data, dtype)[0]


_NDARRAY = Constructor(lambda *_: _refuse())


def _refuse():
    raise ValueError("expected an array whose elements are stored as bytes")


ARRAYS = {
    ("numpy", "ndarray"): _NDARRAY,
    ("numpy", "dtype"): Constructor(_dtype, _DType.set_state),
} | {
    (f"numpy.{core}.{module}", name): made
    for core in ("core", "_core")
    for module, name, made in (
        ("multiarray", "_reconstruct", Constructor(_empty, _fill)),
        ("multiarray", "scalar", Constructor(_scalar)),
        ("numeric", "_frombuffer", Constructor(_from_buffer)),
    )
}
"""The constructors of NumPy's arrays and numbers of simple dtypes."""


def load_npz(file, names, limit=2**31):
    """Return the named arrays of a .npz file; elements are numbers or plain Python objects.

    Args:
        file: a path.
        names: a list of names.
        limit: the maximum bytes of one array in the file.

    Raises:
        LoadError: an array is missing, too large or damaged, or holds other objects.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            found = {info.filename: info for info in archive.infolist()}
            if missing := [name for name in names if f"{name}.npy" not in found]:
                raise LoadError(
                    f"{file}: expected the arrays {', '.join(missing)}, got a file with "
                    f"{', '.join(found)}."
                )
            infos = [found[f"{name}.npy"] for name in names]
            if any(info.file_size > limit for info in infos):
                raise UnsafeFileError(f"{file}: expected arrays of {limit:,} bytes at most.")
            parts = [archive.read(info) for info in infos]
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise DamagedFileError(f"{file} cannot be loaded as an .npz file: {error}") from None
    return [load_npy(part, f"{file}: {name}") for part, name in zip(parts, names)]


def load_npy(data, what):
    """Return the array in `data`, the bytes of a .npy file; elements are numbers or plain objects.

    Raises:
        UnsafeFileError: an object is not plain data (numbers, strings, containers).
        DamagedFileError: the file is truncated or malformed.
    """
    file = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0
        if version != (1, 0):
            read = np.lib.format.read_array_header_2_0
        shape, _, dtype = read(file)
        if not dtype.hasobject:
            return np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError, MemoryError) as error:
        raise DamagedFileError(f"{what}: not a complete .npy file ({error}).") from None
    array = loads(data[file.tell() :], ARRAYS, what=what)
    if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype != dtype:
        raise DamagedFileError(f"{what}: expected an array of objects of shape {shape}.")
    return array
