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
    """A dtype in a pickle: a mutable object, because its state (the byte order) comes later."""

    def __init__(self, code):
        self.dtype = np.dtype(code)
        if self.dtype.kind not in _KINDS or self.dtype.names:
            raise ValueError(f"an array of dtype {self.dtype}")

    def set_state(self, state):
        order = _text(state[1]) if type(state) is tuple and len(state) > 4 else None
        if order not in ("<", ">", "|", "=") or state[2:5] != (None, None, None):
            raise ValueError("an array of a structured dtype")
        size = state[5] if len(state) > 5 else -1
        if size > 0 and self.dtype.kind in "SU":
            self.dtype = np.dtype(
                f"{self.dtype.kind}{size // (4 if self.dtype.kind == 'U' else 1)}"
            )
        self.dtype = self.dtype.newbyteorder(order)


def _text(value):
    """Return a string of Python 2, which may be read as bytes, as text."""
    return value.decode("latin1") if type(value) is bytes else value


def _dtype(code, align=False, copy=True):
    code = _text(code)
    if type(code) is not str or len(code) > 12:
        raise ValueError("a dtype that is no code")
    return _DType(code)


def _empty(kind, shape, code):
    if kind is not _NDARRAY or shape != (0,):
        raise ValueError("an array that does not begin empty")
    return np.empty(0, np.int8)


def _fill(array, state):
    """Give an array of `_empty` its shape, dtype and elements."""
    _, shape, dtype, is_fortran, data = state
    dtype = _shaped(shape, dtype)
    if dtype.kind == "O":
        if type(data) is not list or len(data) != math.prod(shape):
            raise ValueError("an array of objects without its list")
    else:
        data = data.encode("latin1") if type(data) is str else data
        if type(data) is not bytes or len(data) != math.prod(shape) * dtype.itemsize:
            raise ValueError("an array without its bytes")
    array.__setstate__((1, shape, dtype, bool(is_fortran), data))


def _shaped(shape, dtype):
    """Check a shape and return the NumPy dtype."""
    if type(dtype) is not _DType or type(shape) is not tuple or len(shape) > 32:
        raise ValueError("an array without shape and dtype")
    if any(type(n) is not int or n < 0 for n in shape):
        raise ValueError(f"an array of shape {shape}")
    return dtype.dtype


def _from_buffer(data, dtype, shape, order):
    """Return the array of a pickle of protocol 5."""
    dtype = _shaped(shape, dtype)
    size = math.prod(shape) * dtype.itemsize
    if type(data) not in (bytes, bytearray) or dtype.kind == "O" or len(data) != size:
        raise ValueError("an array without its bytes")
    return np.frombuffer(data, dtype).reshape(shape, order="F" if order == "F" else "C").copy()


def _scalar(dtype, data):
    dtype = _shaped((), dtype)
    data = data.encode("latin1") if type(data) is str else data
    if dtype.kind == "O" or type(data) is not bytes or len(data) != dtype.itemsize:
        raise ValueError("a number without its bytes")
    return np.frombuffer(data, dtype)[0]


_NDARRAY = Constructor(lambda *_: _refuse())


def _refuse():
    raise ValueError("an array whose pickle does not hold its elements as bytes")


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
    """Return the arrays with these names in a .npz file, of numbers or of plain Python objects.

    Args:
        file: a path.
        names: a list of names.
        limit: the number of bytes that an array may have in the file.

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
    """Return the array in the bytes of a .npy file, of numbers or of plain Python objects.

    Raises:
        UnsafeFileError: an object is not plain data.
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
