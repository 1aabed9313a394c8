"""Reads ranges of a file in several threads: into memory, with their CRC-32, or both."""

import os
import threading

from framework.saving.crc32 import Crc32, joined

# a block of this many bytes is still in the CPU cache when its checksum is computed
_BLOCK = 2**19
_LARGE = 2**24  # the number of bytes per read if no checksum is computed
_SHARE = 2**23  # the smallest number of bytes for which another thread pays off
_THREADS = 4


class Reading:
    """Reads `size` bytes of a file from `start` on, in the caller's thread and others.

    The file's position is not used if the system can read at an offset; otherwise the caller's
    thread reads all bytes.

    Args:
        file: a binary file.
        start, size: the range, in bytes.
        into: a writable buffer for the bytes; None: only their checksum is computed.
        checks: whether to compute their CRC-32.
    """

    def __init__(self, file, start, size, into=None, checks=True):
        self._found, self._errors, self._threads, self._checks = [], [], [], checks
        if not can_read_at(file):
            self._found = [(_read_through(file, start, size, into, self._crc(size)), size)]
            return
        number, count = file.fileno(), max(1, min(_THREADS, os.cpu_count() or 1, size // _SHARE))
        share = -(-size // count)
        share += -share % _BLOCK if count > 1 else 0
        self._found, parts = [None] * count, []
        for i in range(count):
            place = min(i * share, size)
            length = min(share, size - place)
            part = None if into is None else into[place : place + length]
            parts.append((i, number, start + place, length, part))
        for part in parts[1:]:
            thread = threading.Thread(target=self._part, args=part)
            self._threads.append(thread)
            thread.start()
        self._part(*parts[0])  # the caller's thread reads, too, instead of only waiting

    def _crc(self, size):
        return Crc32(size) if self._checks else None

    def _part(self, i, number, start, length, into):
        try:
            crc = self._crc(length)
            read_at(number, start, length, into, crc)
            self._found[i] = crc and crc.value(), length
        except BaseException as error:  # `value` raises this error in the caller's thread
            self._errors.append(error)

    def value(self):
        """Wait until all bytes are read; return their CRC-32, or None if `checks` is False.

        Raises:
            OSError, EOFError: the file cannot be read, or is cut off.
        """
        for thread in self._threads:
            thread.join()
        if self._errors:
            raise self._errors[0]
        (crc, _), *others = self._found
        for other, length in others if self._checks else ():
            crc = joined(crc, other, length)
        return crc


def fill(file, start, into):
    """Fill a writable buffer with the bytes of a file from `start` on.

    Raises:
        EOFError: the file is cut off.
    """
    if hasattr(file, "fill"):
        file.fill(start, into)
    elif len(into) >= 2 * _SHARE:
        Reading(file, start, len(into), into, checks=False).value()
    elif can_read_at(file):
        read_at(file.fileno(), start, len(into), into)
    else:
        _read_through(file, start, len(into), into)


def can_read_at(file):
    """Return whether a file can be read at an offset without the use of its position."""
    if not (hasattr(os, "preadv") and hasattr(file, "fileno")):
        return False
    try:
        return file.fileno() >= 0
    except (OSError, ValueError):  # files in memory have no descriptor
        return False


def read_at(number, start, length, into=None, crc=None):
    """Read a range of the file with descriptor `number`: into a buffer, a `Crc32`, or both."""
    most = min(length, _LARGE if crc is None else _BLOCK)
    block = memoryview(bytearray(most)) if into is None else None
    done = 0
    while done < length:
        size = min(most, length - done)
        part = left = block[:size] if into is None else into[done : done + size]
        while left:
            count = os.preadv(number, [left], start + done)
            if not count:
                raise EOFError("the file is cut off")
            left, done = left[count:], done + count
        if crc is not None:
            crc.update(part)


def _read_through(file, start, size, into, crc=None):
    """Read a range by the file's own methods; return its CRC-32, or None without `crc`."""
    file.seek(start)
    done = 0
    while done < size:
        part = memoryview(file.read(min(size - done, _BLOCK)))
        if not part:
            raise EOFError("the file is cut off")
        if into is not None:
            into[done : done + len(part)] = part
        if crc is not None:
            crc.update(part)
        done += len(part)
    return crc and crc.value()
