"""Checksums that files store with each array: the CRC-32 of its dtype, shape and bytes.

The formats HDF5 and safetensors have no checksums of their own.
"""

import os
import zlib

from framework.core.errors import DamagedFileError
from framework.saving.checksum import Reading, can_read_at, read_at
from framework.saving.crc32 import Crc32, joined

NAME = "crc32"
"""The name of the checksums: an attribute of HDF5 datasets, a metadata entry of safetensors."""

_LARGE = 2**24  # from this number of bytes on, several threads read one array
_SHARE = 2**23  # each thread gets small arrays of at least this total size in bytes
_THREADS = 4


def begun(dtype, shape, size):
    """Return the `Crc32` of a dtype and shape, to which the caller adds the bytes of the array.

    Args:
        dtype: the name of the dtype in the format.
        shape: the shape of the array.
        size: the number of bytes of the array.
    """
    crc = Crc32(size)
    crc.update(_head(dtype, shape))
    return crc


def _head(dtype, shape):
    """Return dtype and shape as bytes, padded to a multiple of 4, which makes the CRC-32 fast."""
    text = f"{dtype} {tuple(map(int, shape))}".encode()
    return text + b" " * (-len(text) % 4)


def verify(file, name, arrays):
    """Compare arrays in a file with their checksums.

    Args:
        file: a binary file.
        name: the file's name, for messages.
        arrays: a list of (name, dtype, shape, offset, size, checksum), as in `begun`.

    Raises:
        DamagedFileError: a checksum differs; the message names the arrays.
    """
    try:
        found = _sums(file, arrays)
    except (OSError, EOFError) as error:
        raise DamagedFileError(f"{name}: the file cannot be read: {error}.") from error
    refuse([array[0] for array, crc in zip(arrays, found, strict=True) if crc != array[5]],
           len(arrays), name)  # fmt: skip


def refuse(damaged, count, name):
    """Raise DamagedFileError if some of the `count` arrays of a file are damaged."""
    if damaged:
        listed = ", ".join(damaged[:5]) + (", ..." if len(damaged) > 5 else "")
        raise DamagedFileError(
            f"{name}: the file is damaged: the checksums of {len(damaged)} of {count} arrays "
            f"differ: {listed}. The other arrays are intact. If a program changed these arrays on "
            f"purpose, remove their checksums, named {NAME!r}."
        )


def _sums(file, arrays):
    """Return the checksums of arrays; threads divide a large array, or the list of small arrays."""
    found, small, total = [None] * len(arrays), [], 0
    for number, (_, dtype, shape, start, size, _) in enumerate(arrays):
        if size < _LARGE:
            small.append(number)
            total += size
        else:
            value = Reading(file, start, size).value()
            found[number] = joined(zlib.crc32(_head(dtype, shape)), value, size)

    def add(numbers):
        for number in numbers:
            found[number] = _sum(file, *arrays[number][1:5])

    count = min(_THREADS, os.cpu_count() or 1, total // _SHARE)
    if count < 2 or not can_read_at(file):
        add(small)
    else:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(count) as pool:
            list(pool.map(add, [small[i::count] for i in range(count)]))
    return found


def _sum(file, dtype, shape, start, size):
    crc = begun(dtype, shape, size)
    if can_read_at(file):
        read_at(file.fileno(), start, size, crc=crc)
        return crc.value()
    return joined(crc.value(), Reading(file, start, size).value(), size)
