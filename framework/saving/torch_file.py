"""Reads PyTorch's ".pt" and ".pth" files: tensors and plain data, without running anything.

A file is a zip file of a pickle and of the bytes of each storage. `plain_pickle` interprets
the pickle and accepts only the class names of tensors. Tensors are views of their storages.
"""

import math
import os
from typing import Any

import numpy as np

from framework.core.dtypes import as_dtype
from framework.core.errors import DamagedFileError, LoadError, UnsafeFileError
from framework.core.plain_pickle import Constructor, loads
from framework.saving.archive import Archive
from framework.saving.limits import DEFAULT
from framework.saving.weights import opened

_DTYPES = {
    "Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16",
    "Long": "int64", "Int": "int32", "Short": "int16", "Char": "int8", "Byte": "uint8",
    "Bool": "bool", "ComplexFloat": "complex64", "ComplexDouble": "complex128",
}  # fmt: skip
_LARGEST_PICKLE = 2**28  # the largest accepted size of the pickle in the archive, in bytes


class _Kind(str):
    """A dtype's name, which replaces a storage class such as `torch.FloatStorage`."""

    __slots__ = ()


class _Storage:
    """A storage of PyTorch: the array of its elements."""

    def __init__(self, array):
        self.array = array


def read_torch(filepath: Any, limits: Any = None):
    """Return the contents of a file that `torch.save` wrote, with NumPy arrays as tensors.

    Nothing in the file is run: it may hold tensors, numbers, strings, lists, tuples and dicts.
    Tensors that share memory are views of one array.

    Args:
        filepath: the path of a file that PyTorch 1.6 or later wrote.
        limits: a `keras.saving.Limits`; the default if None.

    Returns:
        The saved object; a state dict is a dict from names to arrays.

    Raises:
        ValueError: the file is missing, damaged, of another format, or holds other objects.
    """
    limits, name = limits or DEFAULT, os.fspath(filepath)
    with opened(name) as file:
        if file.read(2) != b"PK":
            raise LoadError(
                f"{name}: expected a zip file, which torch.save writes since PyTorch 1.6. Load an "
                "older file in PyTorch and save it again."
            )
        archive = Archive(file, name, limits)
        folder = _folder(archive, name)
        storages: dict[str, _Storage] = {}
        big = _is_big(archive, f"{folder}/byteorder")

        def persistent(what):
            return _storage(archive, folder, storages, big, what)

        data = archive.read(f"{folder}/data.pkl", _LARGEST_PICKLE, "a pickle of names")
        return loads(data, _CONSTRUCTORS, persistent, what=name)


def _folder(archive, name):
    folders = [n.removesuffix("/data.pkl") for n in archive.names() if n.endswith("/data.pkl")]
    if len(folders) != 1 or "/" in folders[0]:
        raise LoadError(
            f"{name}: expected a file of torch.save(state_dict, path), with exactly one data.pkl."
        )
    if f"{folders[0]}/constants.pkl" in archive:
        raise UnsafeFileError(
            f"{name}: this is a TorchScript program. Save model.state_dict() instead."
        )
    return folders[0]


def _is_big(archive, member):
    """Return whether the storages are big-endian."""
    word = archive.read(member, 100, "a word") if member in archive else b"little"
    if word not in (b"little", b"big"):
        raise DamagedFileError(
            f"{archive.name}: expected the byte order b'little' or b'big', got {word!r:.40}."
        )
    return word == b"big"


def _storage(archive, folder, storages, big, what):
    """Return the storage that a persistent id, ("storage", kind, key, device, count), names."""
    if type(what) is not tuple or len(what) != 5 or what[0] != "storage":
        raise ValueError("expected a persistent id of a storage")
    _, kind, key, _, count = what
    if type(kind) is not _Kind or type(key) is not str or type(count) is not int:
        raise ValueError("expected a persistent id with a storage class, a key and a size")
    if key not in storages:
        dtype = as_dtype(str(kind)).np
        member = f"{folder}/data/{key}"
        if member not in archive:
            raise DamagedFileError(f"{archive.name}: the storage {key!r} is missing.")
        size = archive.size(member)
        if count < 0 or count * dtype.itemsize != size:
            raise UnsafeFileError(
                f"{archive.name}: the storage {key!r} declares {count:,} elements of {kind}, but "
                f"{size:,} bytes are stored."
            )
        array = np.frombuffer(archive.read(member, size, "as declared"), dtype)
        storages[key] = _Storage(array.byteswap() if big else array)
    found = storages[key]
    if found.array.dtype != as_dtype(str(kind)).np:
        raise ValueError("expected a storage that is used with one dtype, got two")
    return found


def _tensor(storage, offset, size, stride, *_):
    """Return a view of a storage; raise an error if it exceeds the storage."""
    numbers = (offset, *size, *stride)
    if type(storage) is not _Storage or type(size) is not tuple or type(stride) is not tuple:
        raise ValueError("expected a tensor with a storage, a size and a stride")
    if any(type(n) is not int or n < 0 for n in numbers) or len(size) != len(stride):
        raise ValueError(
            f"expected a tensor whose offset, size and stride are ints >= 0, got "
            f"size {size} and stride {stride}"
        )
    array, count = storage.array, math.prod(size)
    last = offset + sum((n - 1) * step for n, step in zip(size, stride))
    if len(size) > 32 or count > array.size or (count and last >= array.size):
        raise ValueError(
            f"expected a tensor inside its storage of {array.size} elements, got "
            f"size {size} and stride {stride}"
        )
    if not count:
        return np.empty(size, array.dtype)
    steps = [step * array.itemsize for step in stride]
    return np.lib.stride_tricks.as_strided(array[offset:], size, steps, writeable=False)


def _parameter(data, *_):
    if type(data) is not np.ndarray:
        raise ValueError("expected a tensor as the data of a parameter")
    return data


def _ordered(*arguments):
    """Return a dict instead of an OrderedDict, which is created empty or from a list of pairs."""
    pairs = arguments[0] if arguments else []
    if type(pairs) is not list or any(type(p) not in (list, tuple) or len(p) != 2 for p in pairs):
        raise ValueError("expected an OrderedDict made from a list of pairs")
    return {key: value for key, value in pairs if type(key) in (str, int)}


def _size(values=()):
    return tuple(values)


_CONSTRUCTORS = {
    ("collections", "OrderedDict"): Constructor(_ordered, lambda made, state: None),
    ("torch._utils", "_rebuild_tensor_v2"): Constructor(_tensor),
    ("torch._utils", "_rebuild_parameter"): Constructor(_parameter),
    ("torch", "Size"): Constructor(_size),
    ("torch", "device"): Constructor(lambda *place: str(place[0]) if place else ""),
} | {("torch", f"{name}Storage"): _Kind(dtype) for name, dtype in _DTYPES.items()}
