"""Checks of the strings in HDF5 files, before the library reads them.

Strings of variable length are stored in global heaps, "GCOL". The library loops forever in a
damaged heap. It allocates the length that an attribute declares, up to 4 GB, before it looks for
the string, and crashes if the attribute's type is neither a string nor a sequence.
"""

import math

from framework.core.errors import DamagedFileError

_HEAP = b"GCOL\x01\0\0\0"  # a global heap begins with these bytes, followed by its size
_TEXT = 9  # HDF5's number of the class of variable-length datatypes
_BLOCK = 2**20


def check_heaps(file, name):
    """Raise DamagedFileError unless the objects of each heap fill it exactly."""
    end = file.seek(0, 2)
    for at in _places(file, _HEAP):
        _check_heap(file, at, end, name)


def check_lengths(file, attribute, name):
    """Raise DamagedFileError if an attribute declares a string longer than the file.

    Attributes with this name of all groups are checked.

    Args:
        file: a binary file.
        attribute: the attribute's name.
        name: the file's name, for messages.
    """
    end, wanted = file.seek(0, 2), attribute.encode() + b"\0"
    for at in _places(file, wanted):
        file.seek(max(0, at - 9))
        before = file.read(min(9, at))
        if len(before) < 9:
            continue
        found = _data_of(before, at, len(wanted), file, name)
        if found is None:
            continue
        start, count = found
        file.seek(start)
        data = file.read(16 * min(count, end))
        lengths = (int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 16))
        if any(length > end for length in lengths):
            raise DamagedFileError(f"{name}: a string in {attribute!r} is longer than the file.")


def _data_of(before, at, size, file, name):
    """Return (offset, number) of the values of an attribute; None if they are not strings."""
    for version, header, padded in ((before[1], before[1:], True), (before[0], before, False)):
        if version not in ((1, 2) if padded else (3,)):
            continue
        sizes = [int.from_bytes(header[i : i + 2], "little") for i in (2, 4, 6)]
        if sizes[0] != size:
            continue
        if version == 1:  # version 1 pads the name, type and shape to 8 bytes each
            sizes = [-(-part // 8) * 8 for part in sizes]
        file.seek(at + sizes[0])
        kind = file.read(3)
        if len(kind) == 3 and kind[0] & 15 == _TEXT:
            # a type other than a string with valid padding and character set crashes the HDF5
            # library
            if kind[1] & 15 != 1 or kind[1] >> 4 > 2 or kind[2] & 15 > 1:
                raise DamagedFileError(f"{name}: an attribute has a damaged type.")
            file.seek(at + sizes[0] + sizes[1])
            return at + sum(sizes), _count_of(file.read(sizes[2]))
    return None


def _count_of(space):
    """Return the number of values of a dataspace message: the product of its sizes."""
    if len(space) < 4 or space[0] not in (1, 2):
        return 0  # no check is needed: the HDF5 library rejects this message
    first = 8 if space[0] == 1 else 4
    rank = space[1]
    sizes = [int.from_bytes(space[i : i + 8], "little") for i in range(first, first + 8 * rank, 8)]
    return math.prod(sizes)


def _places(file, wanted):
    """Yield the offsets at which the bytes `wanted` occur in a file."""
    end, start = file.seek(0, 2), 0
    while start < end:
        file.seek(start)
        block = file.read(_BLOCK)
        at = block.find(wanted)
        while at >= 0:
            yield start + at
            at = block.find(wanted, at + 1)
        start += max(1, len(block) - len(wanted) + 1)


def _check_heap(file, at, end, name):
    file.seek(at + len(_HEAP))
    size = int.from_bytes(file.read(8), "little")
    if size > end - at:
        raise DamagedFileError(f"{name}: a heap of strings is cut off.")
    file.seek(at)
    heap = file.read(size)
    place = 16
    while size - place >= 16:
        number = int.from_bytes(heap[place : place + 2], "little")
        length = int.from_bytes(heap[place + 8 : place + 16], "little")
        # object 0 of a heap is its free space
        step = 16 + (length + 7) // 8 * 8 if number else length
        if step < 16 or step > size - place:
            raise DamagedFileError(f"{name}: a heap of strings is damaged.")
        place += step
