"""HDF5 files of arrays: a reader that accepts plain data only, and a writer.

HDF5 can refer to other files (external links and storage, virtual datasets), run plugins (unknown
filters) and declare large arrays that it does not store. The reader rejects all of these before it
reads data.
"""

import math
from functools import cache

import numpy as np

from framework.core.dtypes import as_dtype
from framework.core.errors import DamagedFileError, LoadError, UnsafeFileError
from framework.saving import array_sums
from framework.saving.checksum import fill
from framework.saving.hdf5_texts import check_heaps, check_lengths
from framework.saving.sections import adding

_FLOOR = 2**20  # chunked datasets of at most this many bytes may have any compression ratio
# the filters that every build of h5py includes
_FILTERS = {1: "gzip", 2: "shuffle", 3: "fletcher32", 32000: "lzf"}


def h5py():
    """Return the h5py module; it is imported only when an HDF5 file is used."""
    import h5py as library

    return library


class damage:
    """A context manager that converts errors of the HDF5 library to DamagedFileError."""

    def __init__(self, name):
        self._name = name

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _):
        if isinstance(error, LoadError) or not isinstance(error, _ERRORS):
            return
        raise DamagedFileError(
            f"{self._name}: the HDF5 file is damaged, cut off or of another format: {error}"
        ) from error


_ERRORS = (
    OSError, RuntimeError, KeyError, ValueError, TypeError, MemoryError, OverflowError,
    AttributeError, EOFError,
)  # fmt: skip


class Reader:
    """An HDF5 file opened for reading; every object in it has been checked.

    Args:
        file: a binary file.
        name: the file's name, for messages.
        limits: a `Limits`.

    Raises:
        DamagedFileError: the file is not an HDF5 file, or is truncated.
        UnsafeFileError: the file contains links, virtual or external data, or more than the limits
            allow.
    """

    def __init__(self, file, name, limits):
        self.name, self._limits = name, limits
        self._bytes, self._heaps_checked, self._checked = file, False, set()
        with damage(name):
            self._file = h5py().File(file, "r")
            self._datasets, self._groups = _walk(self._file, name, limits)

    def close(self):
        with damage(self.name):
            self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def has_group(self, path):
        return path in self._groups

    def keys(self, group):
        """Return the names of the datasets in a group; numeric names in numeric order."""
        start = f"{group}/" if group else ""
        names = [p.removeprefix(start) for p in self._datasets if p.startswith(start)]
        names = [n for n in names if "/" not in n]
        return sorted(names, key=lambda n: (len(n), n) if n.isdigit() else (math.inf, n))

    def paths(self):
        """Return the paths of all datasets."""
        return list(self._datasets)

    def shape(self, path):
        """Return the declared shape of a dataset."""
        with damage(self.name):
            return tuple(self._dataset(path).shape)

    def checked_bytes(self):
        """Check all datasets; return their total size in bytes."""
        total = 0
        for path in self._datasets:
            with damage(f"{self.name}: {path}"):
                dataset = self._file[path]
                self._check(dataset, path)
                total += _bytes_of(dataset)
        return total

    def verify(self):
        """Compare all arrays with their checksums; arrays of other programs have none.

        Raises:
            DamagedFileError: checksums differ; the message names the arrays.
        """
        in_place, converted = [], []
        for path in self._datasets:
            with damage(f"{self.name}: {path}"):
                dataset = self._file[path]
                expected = _stored_sum(dataset)
                if expected is None:
                    continue
                self._check(dataset, path)
                start = dataset.id.get_offset()
                if start is None or not _is_plain(dataset):
                    converted.append((path, expected))
                else:
                    kind, size = _name_of(dataset.dtype), _bytes_of(dataset)
                    in_place.append((path, kind, dataset.shape, start, size, expected))
        array_sums.verify(self._bytes, self.name, in_place)
        damaged = [path for path, crc in converted if _sum_of(self.array(path)) != crc]
        array_sums.refuse(damaged, len(in_place) + len(converted), self.name)

    def array(self, path, into=None):
        """Return a dataset's array: read into `into` if shape and dtype match, else a new array.

        Raises:
            DamagedFileError: the data cannot be read.
            UnsafeFileError: the elements are not numbers, the data are in other files or need a
                plugin, or the shape declares more than is stored.
        """
        with damage(f"{self.name}: {path}"):
            dataset = self._dataset(path)
            self._check(dataset, path)
            dtype = dataset.dtype if dataset.dtype.kind != "V" else as_dtype("bfloat16").np
            fits = into is not None and into.shape == dataset.shape and into.dtype == dtype
            array = into if fits else np.empty(dataset.shape, dtype)
            self._fill(dataset, array)
            return array if dtype.isnative else array.astype(dtype.newbyteorder("="))

    def _fill(self, dataset, array):
        """Read the values of a dataset that has been checked."""
        if not array.size:
            return
        # the offset is None if the data are compressed or in several chunks
        start = dataset.id.get_offset()
        if start is None or not _is_plain(dataset):
            dataset.read_direct(array if dataset.dtype.kind != "V" else array.view(dataset.dtype))
        else:
            fill(self._bytes, start, array.reshape(-1).view(np.uint8).data)

    def attribute(self, path, name):
        """Return a group's attribute, a str or a list of str; None if it does not exist."""
        with damage(self.name):
            attributes = (self._file[path] if path else self._file).attrs
            if name not in attributes:
                return None
            self._check_heaps()
            found = attributes.get_id(name)
            check_lengths(self._bytes, name, self.name)
            size = math.prod(found.shape or ()) * found.dtype.itemsize
            if size > self._limits.json_bytes:
                raise UnsafeFileError(
                    f"{self.name}: the attribute {name!r} has {size:,} bytes, the limit is "
                    f"{self._limits.json_bytes:,}."
                )
            return _text(attributes[name])

    def _check_heaps(self):
        """Check the string heaps once, because the HDF5 library loops forever in a damaged heap."""
        if not self._heaps_checked:
            if self._file.id.get_create_plist().get_sizes()[1] != 8:
                raise UnsafeFileError(
                    f"{self.name}: expected an HDF5 file that stores lengths in 8 bytes."
                )
            check_heaps(self._bytes, self.name)
            self._heaps_checked = True

    def _dataset(self, path):
        if path not in self._datasets:
            raise DamagedFileError(f"{self.name}: the file has no array {path!r}.")
        return self._file[path]

    def _check(self, dataset, path):
        if path in self._checked:
            return
        where = f"{self.name}: {path}"
        plist = dataset.id.get_create_plist()
        if dataset.is_virtual or dataset.external or plist.get_external_count():
            raise UnsafeFileError(f"{where}: the data are in other files, which is not allowed.")
        dtype = dataset.dtype
        if dtype == np.dtype("V2"):
            self._check_heaps()
        if not (dtype.kind in "fiub" and dtype.itemsize <= 8) and not _is_bfloat16(dataset):
            raise UnsafeFileError(f"{where}: expected numbers, got elements of type {dtype}.")
        if dataset.shape is None:
            raise UnsafeFileError(f"{where}: expected an array, got a dataset without a shape.")
        for i in range(plist.get_nfilters()):
            if plist.get_filter(i)[0] not in _FILTERS:
                raise UnsafeFileError(
                    f"{where}: the data are compressed by filter {plist.get_filter(i)[0]}; "
                    f"expected one of {', '.join(_FILTERS.values())}."
                )
        declared, stored = _bytes_of(dataset), dataset.id.get_storage_size()
        chunked = dataset.chunks is not None
        if declared > (max(_FLOOR, self._limits.expansion * stored) if chunked else stored):
            raise UnsafeFileError(
                f"{where}: the shape {dataset.shape} declares {declared:,} bytes, but {stored:,} "
                "are stored."
            )
        self._checked.add(path)


def _bytes_of(dataset):
    return math.prod(dataset.shape or ()) * dataset.dtype.itemsize


def _is_plain(dataset):
    """Return whether the elements in the file are those of the NumPy dtype, bit for bit.

    HDF5 also has types such as numbers of 20 bits, which the library converts.
    """
    return dataset.id.get_type() == h5py().h5t.py_create(dataset.dtype)


def _name_of(dtype):
    return "bfloat16" if dtype.kind == "V" else dtype.str


def _sum_of(array):
    """Return the checksum of an array: the CRC-32 of its dtype, shape and bytes."""
    crc = array_sums.begun(_name_of(array.dtype), array.shape, array.nbytes)
    crc.update(_bytes(array))
    return crc.value()


def _bytes(array):
    return array.reshape(-1).view(np.uint8).data


def _stored_sum(dataset):
    """Return the checksum that is stored with a dataset, or None."""
    library, name = h5py(), array_sums.NAME.encode()
    if not library.h5a.exists(dataset.id, name):
        return None
    attribute = library.h5a.open(dataset.id, name)
    kind = attribute.get_type()
    if kind.get_class() != library.h5t.INTEGER or kind.get_size() != 4 or attribute.shape:
        raise DamagedFileError("the checksum is not a 32-bit number")
    found = np.zeros((), np.uint32)
    attribute.read(found)
    return int(found)


def _is_bfloat16(dataset):
    """Return whether a dataset has Keras's form of bfloat16: 2-byte elements and an attribute."""
    if dataset.dtype != np.dtype("V2"):
        return False
    attribute = dataset.attrs.get("dtype")
    return attribute in ("bfloat16", b"bfloat16")


def _text(value):
    """Convert the value of a text attribute to str or a list of str."""
    if isinstance(value, np.ndarray):
        return [_text(v) for v in value.tolist()]
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


def _walk(file, name, limits):
    """Return the paths of all datasets and groups; reject other objects and links."""
    library = h5py()
    datasets, groups, seen = {}, {"": None}, set()
    waiting = [("", file.id, 0)]
    while waiting:
        path, group, depth = waiting.pop()
        if depth > limits.h5_depth:
            raise UnsafeFileError(
                f"{name}: groups are nested more than {limits.h5_depth} levels deep. Pass "
                "limits=Limits(h5_depth=...) if you trust the file."
            )
        for raw in group:
            where = f"{path}/{_decoded(raw, name)}" if path else _decoded(raw, name)
            if group.links.get_info(raw).type != library.h5l.TYPE_HARD:
                raise UnsafeFileError(
                    f"{name}: {where} is a link to another object or file, which is not allowed."
                )
            found = library.h5o.open(group, raw)
            info = library.h5o.get_info(found)
            if (info.fileno, info.addr) in seen:
                raise UnsafeFileError(f"{name}: {where} has two names, which is not allowed.")
            seen.add((info.fileno, info.addr))
            if isinstance(found, library.h5g.GroupID):
                groups[where] = None
                waiting.append((where, found, depth + 1))
            elif isinstance(found, library.h5d.DatasetID):
                datasets[where] = None
            else:
                raise UnsafeFileError(f"{name}: {where} is neither a group nor an array.")
            if len(seen) > limits.h5_objects:
                raise UnsafeFileError(
                    f"{name}: the file has more than {limits.h5_objects:,} objects. Pass "
                    "limits=Limits(h5_objects=...) if you trust it."
                )
    return datasets, groups


def _decoded(raw, name):
    text = raw.decode("utf-8", "strict")
    if not text or "/" in text or text in (".", ".."):
        raise UnsafeFileError(f"{name}: the name {text!r} of a group or dataset is not allowed.")
    return text


class Writer:
    """An HDF5 file opened for writing.

    Args:
        file: a binary file.
        checks: whether to store checksums of arrays; False if one covers the whole file.
    """

    def __init__(self, file, checks=True):
        self._file, self._checks = h5py().File(file, "w"), checks

    def close(self):
        self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def group(self, path, name=None):
        """Create a group; `name`, the name of its layer or optimizer, becomes an attribute."""
        group = self._file.require_group(path)
        if name is not None:
            group.attrs["name"] = name

    def write(self, path, array):
        """Store an array as the dataset `path`."""
        write_dataset(self._file, path, array, self._checks)


def write_dataset(group, path, array, checks=True):
    """Store an array as the dataset `path` of a group, with its checksum as an attribute."""
    array = np.asarray(array, order="C")
    is_bfloat16 = array.dtype.name == "bfloat16"
    array = array.view("V2") if is_bfloat16 else array
    if checks and not array.dtype.hasobject:
        crc = array_sums.begun(_name_of(array.dtype), array.shape, array.nbytes)
        with adding(crc, _bytes(array)):
            dataset = group.create_dataset(path, data=array)
        _store_sum(dataset, crc.value())
    else:
        dataset = group.create_dataset(path, data=array)
    if is_bfloat16:
        dataset.attrs["dtype"] = "bfloat16"


def _store_sum(dataset, crc):
    # one call: h5py's `attrs` writes the attribute under another name first, and then renames it
    kind, space = _sum_type()
    attribute = h5py().h5a.create(dataset.id, array_sums.NAME.encode(), kind, space)
    attribute.write(np.array(crc, np.uint32))


@cache
def _sum_type():
    library = h5py()
    return library.h5t.STD_U32LE, library.h5s.create(library.h5s.SCALAR)
