"""Arrays in .npy, .npz and HDF5 files, whose rows are read when they are needed.

A dataset can use a FileArray instead of a NumPy array. It has a shape and a dtype, and can
be indexed by a range of rows, by row indices, and by one row. Only the requested rows are in
memory.
"""

import os
import threading
import weakref
import zipfile
from pathlib import Path

import numpy as np

from framework.core import dtypes
from framework.core.errors import DTypeError, InvalidArgumentError, LoadError, ShapeError

_CHUNK_MEMORY = 64 << 20  # the number of bytes of decoded chunks to keep in memory
# the size in bytes of the fixed part of a zip member's local header, before the file name
_HEADER = 30


class FileArray:
    """The base class of arrays in files; subclasses define how to read rows."""

    def __init__(self, shape, dtype, name):
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)
        if not self.shape:
            raise ShapeError(f"{name}: expected an array with rows, got a scalar of shape ().")
        try:
            known = dtypes.as_dtype(self.dtype).np == self.dtype and self.dtype.kind != "O"
        except DTypeError:
            known = False
        if not known:
            raise DTypeError(
                f"{name}: expected numbers in this machine's byte order, got {self.dtype}. Load "
                "the array into memory and convert it."
            )

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def nbytes(self):
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, key):
        if isinstance(key, tuple):  # datasets select row i by the index (i, ...)
            return self.rows(key[0], key[0] + 1)[0]
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step == 1:
                return self.rows(start, max(start, stop))
            key = np.arange(start, stop, step)
        return self.picked(np.asarray(key))

    def rows(self, start, stop):
        """Return the rows from `start` to `stop` as a new array."""
        raise NotImplementedError

    def picked(self, numbers):
        """Return the rows with these indices; consecutive rows are read together."""
        found = np.empty((len(numbers), *self.shape[1:]), self.dtype)
        order = np.argsort(numbers, kind="stable")
        ends = np.flatnonzero(np.diff(numbers[order]) != 1) + 1
        for part in np.split(order, ends) if len(numbers) else ():
            first = int(numbers[part[0]])
            found[part] = self.rows(first, first + len(part))
        return found


class RawArray(FileArray):
    """An array whose rows are contiguous and uncompressed in a file."""

    def __init__(self, path, offset, shape, dtype):
        super().__init__(shape, dtype, str(path))
        self._path, self._offset = str(path), offset
        self._row = int(np.prod(self.shape[1:], dtype=np.int64)) * self.dtype.itemsize
        self._file, self._lock = None, threading.Lock()
        end = offset + self._row * len(self)
        if Path(path).stat().st_size < end:
            raise LoadError(f"{path}: the file is truncated: expected {end} bytes.")

    def __reduce__(self):
        return RawArray, (self._path, self._offset, self.shape, self.dtype)

    def rows(self, start, stop):
        found = np.empty((stop - start, *self.shape[1:]), self.dtype)
        view, offset = (
            memoryview(found.reshape(-1).view(np.uint8)),
            self._offset + start * self._row,
        )
        with self._lock:
            if self._file is None:
                self._file = Path(self._path).open("rb", buffering=0)  # noqa: SIM115 (stays open)
                weakref.finalize(self, self._file.close)
        while view:
            count = self._read(view, offset)
            if not count:
                raise LoadError(f"{self._path}: the file became shorter while it was read.")
            view, offset = view[count:], offset + count
        return found

    def _read(self, view, offset):
        if hasattr(os, "preadv"):
            return os.preadv(self._file.fileno(), [view], offset)
        # Windows cannot read at a given position, so this code seeks and reads under a lock.
        with self._lock:
            self._file.seek(offset)
            return self._file.readinto(view)


class ChunkedArray(FileArray):
    """An HDF5 dataset in chunks, which may be compressed; the last decoded chunks are kept."""

    def __init__(self, dataset, name):
        super().__init__(dataset.shape, dataset.dtype, name)
        self._dataset, self._lock, self._kept = dataset, threading.Lock(), {}
        chunks = dataset.chunks
        row = max(1, self.nbytes // max(1, len(self)))
        self._size = chunks[0] if chunks else max(1, (1 << 20) // row)
        self._most = max(1, _CHUNK_MEMORY // (row * self._size))

    def _chunk(self, number):
        found = self._kept.pop(number, None)
        if found is None:
            first = number * self._size
            found = self._dataset[first : first + self._size]
        # a dict keeps the order of insertion, so the most recently used chunk is last
        self._kept[number] = found
        while len(self._kept) > self._most:
            del self._kept[next(iter(self._kept))]
        return found

    def rows(self, start, stop):
        return self.picked(np.arange(start, stop))

    def picked(self, numbers):
        found = np.empty((len(numbers), *self.shape[1:]), self.dtype)
        chunks = numbers // self._size
        with self._lock:  # The HDF5 library allows one reading thread at a time.
            for chunk in np.unique(chunks).tolist():
                here = np.flatnonzero(chunks == chunk)
                found[here] = self._chunk(chunk)[numbers[here] - chunk * self._size]
        return found


def hdf5_array(dataset, name):
    """Return a FileArray for an h5py Dataset; unless it is a RawArray, the file must stay open."""
    import h5py

    if not isinstance(dataset, h5py.Dataset):
        raise DTypeError(f"{name}: expected an h5py.Dataset, got {type(dataset).__name__}.")
    offset = dataset.id.get_offset() if dataset.chunks is None else None
    raw = offset is not None and not dataset.external and dataset.file.driver == "sec2"
    if not raw or not dataset.shape or not len(dataset) or dataset.file.mode != "r":
        return ChunkedArray(dataset, name)
    found = RawArray(dataset.file.filename, offset, dataset.shape, dataset.dtype)
    # The first and last rows are compared with h5py's: a user block in the file shifts offsets.
    ends = [0, len(dataset) - 1]
    same = all(found[(i, ...)].tobytes() == np.asarray(dataset[i]).tobytes() for i in ends)
    return found if same else ChunkedArray(dataset, name)


def hdf5_arrays(path, names):
    """Return FileArrays for datasets in an HDF5 file, which stays open while they need it."""
    import h5py

    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise LoadError(f"{path}: cannot be read as an HDF5 file: {error}") from None
    found = {}
    for name in names:
        if not isinstance(file.get(name), h5py.Dataset):
            raise InvalidArgumentError(
                f"{path}: expected one of the datasets {list(file)}, got {name!r}."
            )
        found[name] = hdf5_array(file[name], f"{path}: {name}")
    if all(isinstance(array, RawArray) for array in found.values()):
        file.close()
    return found


def npy_array(path):
    """Return a FileArray for the array in a .npy file."""
    with Path(path).open("rb") as file:
        return _npy(path, file, 0)


def npz_arrays(path, names=None):
    """Return the arrays of an .npz file; arrays stored without compression are FileArrays."""
    try:
        with zipfile.ZipFile(path) as archive, Path(path).open("rb") as file:
            members = {Path(info.filename).stem: info for info in archive.infolist()}
            missing = [name for name in names or () if name not in members]
            if missing:
                raise InvalidArgumentError(
                    f"{path}: expected one of the arrays {list(members)}, got {missing[0]!r}."
                )
            return {name: _member(path, archive, file, members[name]) for name in names or members}
    except zipfile.BadZipFile as error:
        raise LoadError(f"{path}: cannot be read as an .npz file: {error}") from None


def _member(path, archive, file, info):
    if info.compress_type != zipfile.ZIP_STORED:
        with archive.open(info) as member:
            return np.lib.format.read_array(member, allow_pickle=False)
    file.seek(info.header_offset + _HEADER - 4)
    lengths = np.frombuffer(file.read(4), "<u2")
    return _npy(path, file, info.header_offset + _HEADER + int(lengths.sum()))


def _npy(path, file, start):
    """Return a FileArray for an array in .npy format that begins at byte `start` of a file."""
    file.seek(start)
    try:
        version = np.lib.format.read_magic(file)
        read = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
        shape, in_columns, dtype = read[version[0]](file)
    except (ValueError, KeyError) as error:
        raise LoadError(f"{path}: cannot be read as a .npy file: {error}") from None
    if in_columns and len(shape) > 1:
        raise LoadError(f"{path}: expected an array in C order, got Fortran order.")
    return RawArray(path, file.tell(), shape, dtype)
