"""File objects for ranges of another file, with the CRC-32 of what they read or write."""

import io
from contextlib import contextmanager
from functools import partial

from framework.saving.background import Background
from framework.saving.checksum import Reading, fill
from framework.saving.crc32 import Crc32, joined

_LEAST = 2**23  # from this number of bytes on, joining checksums takes less time than reading twice
_BESIDE = 2**20  # from this number of bytes on, a second thread computes the checksum


class Pieces:
    """Computes the CRC-32 of a range of a file; reads only bytes of which no CRC-32 is known."""

    def __init__(self):
        self._known = {}  # maps the start of a part to (end, CRC-32)

    def add(self, start, end, crc):
        self._known[start] = end, crc

    def forget(self, start, end):
        """Forget the CRC-32s of parts that overlap a range."""
        known = self._known.items()
        self._known = {a: (b, crc) for a, (b, crc) in known if b <= start or end <= a}

    def checksum(self, file, first, size):
        """Return the CRC-32 of `size` bytes of a file from `first` on."""
        crc = at = 0
        for start, (end, piece) in sorted(self._known.items()):
            # in a corrupted or malicious file, a part may overlap the previous one
            if start >= at and end <= size:
                crc = _through(crc, file, first + at, start - at)
                crc, at = joined(crc, piece, end - start), end
        return _through(crc, file, first + at, size - at)


def _through(crc, file, start, size):
    """Extend `crc`, the CRC-32 of the bytes so far, by a range of a file."""
    return joined(crc, Reading(file, start, size).value(), size) if size else crc


@contextmanager
def adding(crc, data):
    """A context manager that adds a buffer of bytes to a `Crc32` while the block writes it.

    A large buffer is added by a thread: writing takes about twice as long as the checksum, and both
    release the interpreter's lock. The buffer must not change in the block.
    """
    if len(data) < _BESIDE:
        crc.update(data)
        yield
        return
    thread = Background()
    thread.start(partial(crc.update, data))
    try:
        yield
    finally:  # the caller may free the buffer after the block
        thread.wait()


def write_checked(file, data, crc):
    """Write a buffer of bytes, and add it to a `Crc32`."""
    with adding(crc, data):
        file.write(data)


class _Section(io.RawIOBase):
    """A file object for `size` bytes of another file from `start` on, with its own position."""

    def __init__(self, file, start, size):
        self._file, self._start, self.size, self._at = file, start, size, 0

    def readable(self):
        return True

    def seekable(self):
        return True

    def seek(self, offset, whence=io.SEEK_SET):
        base = (0, self._at, self.size)[whence]
        self._at = max(0, base + offset)
        return self._at

    def tell(self):
        return self._at

    def readinto(self, buffer):
        count = max(0, min(len(buffer), self.size - self._at))
        self._file.seek(self._start + self._at)
        count = self._file.readinto(memoryview(buffer)[:count])
        self._at += count
        return count


class FileSection(_Section):
    """A read-only file object for a range of another file."""

    def fill(self, start, into):
        """Fill a writable buffer with the bytes from `start` on; see `checksum.fill`."""
        fill(self._file, self._place(start, len(into)), into)

    def _place(self, start, size):
        """Return the offset in the outer file of a range of this section."""
        if start + size > self.size:
            raise EOFError("the member is cut off")
        return self._start + start


class CheckedSection(FileSection):
    """A `FileSection` whose `checksum` reads only what `fill` has not read."""

    def __init__(self, file, start, size):
        super().__init__(file, start, size)
        self._pieces = Pieces()

    def fill(self, start, into):
        size = len(into)
        if size < _LEAST:
            super().fill(start, into)
        else:
            crc = Reading(self._file, self._place(start, size), size, into).value()
            self._pieces.add(start, start + size, crc)

    def checksum(self):
        """Return the CRC-32 of all bytes."""
        return self._pieces.checksum(self._file, self._start, self.size)

    def unchecked(self):
        """Return this section as a FileSection, whose bytes are not checked."""
        return FileSection(self._file, self._start, self.size)


class WrittenSection(_Section):
    """A file object for the end of another file, which can be written in any order.

    `checksum` reads only what was not written in large parts.
    """

    def __init__(self, file):
        super().__init__(file, file.tell(), 0)
        self._pieces = Pieces()

    def writable(self):
        return True

    def write(self, data):
        data = memoryview(data)
        end = self._at + len(data)
        self._pieces.forget(self._at, end)
        self._file.seek(self._start + self._at)
        if len(data) < _LEAST:
            self._file.write(data)
        else:
            crc = Crc32(len(data))
            write_checked(self._file, data, crc)
            self._pieces.add(self._at, end, crc.value())
        self._at, self.size = end, max(self.size, end)
        return len(data)

    def truncate(self, size=None):
        size = self._at if size is None else size
        self._pieces.forget(size, max(size, self.size))
        self.size = size
        self._file.truncate(self._start + size)
        return size

    def checksum(self):
        """Return the CRC-32 of all bytes."""
        self._file.flush()
        return self._pieces.checksum(self._file, self._start, self.size)

    def seek_end(self):
        """Move the position of the outer file to the end of the section."""
        self._file.seek(self._start + self.size)
