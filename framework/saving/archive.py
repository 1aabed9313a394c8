"""Zip files: members are checked against the central directory, and read without extraction."""

import io
import stat
import zipfile
import zlib
from contextlib import contextmanager

from framework.core.errors import DamagedFileError, LoadError, UnsafeFileError
from framework.saving.crc32 import Crc32
from framework.saving.sections import CheckedSection, WrittenSection, write_checked

_FLOOR = 2**20  # members of at most this many bytes may have any compression ratio
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class Archive:
    """A zip file opened for reading.

    Args:
        file: a binary file.
        name: the file's name, for messages.
        limits: a `Limits`.

    Raises:
        DamagedFileError: it is not a zip file.
        UnsafeFileError: a member is a link, is encrypted, has a path outside the archive or a
            repeated name, or there are too many members.
    """

    def __init__(self, file, name, limits):
        self.name, self._file, self._limits = name, file, limits
        with _damage(name):
            self._zip = zipfile.ZipFile(file)
        infos = self._zip.infolist()
        if len(infos) > limits.zip_members:
            raise UnsafeFileError(
                f"{name}: the zip file has {len(infos):,} members, the limit is "
                f"{limits.zip_members:,}. Pass limits=Limits(zip_members=...) if you trust it."
            )
        self._infos = {}
        for info in infos:
            self._check(info)
            self._infos[info.filename] = info

    def _check(self, info):
        parts = info.filename.replace("\\", "/").split("/")
        reason = None
        if info.filename in self._infos:
            reason = "is named twice"
        elif ".." in parts or info.filename[:1] in ("/", "\\") or ":" in parts[0]:
            reason = "has a path outside the archive"
        elif info.flag_bits & 1:
            reason = "is encrypted"
        elif info.compress_type not in _METHODS:
            reason = f"is compressed by method {info.compress_type}, expected deflate"
        elif stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
            reason = "is a link or a device"
        elif info.file_size > max(_FLOOR, self._limits.expansion * info.compress_size):
            reason = (
                f"declares {info.file_size:,} bytes but stores {info.compress_size:,}, more than "
                f"{self._limits.expansion} times as many. Pass limits=Limits(expansion=...) if "
                f"you trust the file"
            )
        elif info.compress_type == zipfile.ZIP_STORED and info.file_size != info.compress_size:
            reason = "is stored with two different sizes"
        if reason:
            raise UnsafeFileError(f"{self.name}: the member {info.filename!r} {reason}.")

    def __contains__(self, member):
        return member in self._infos

    def names(self):
        return list(self._infos)

    def size(self, member):
        return self._infos[member].file_size

    def read(self, member, most, what):
        """Return the bytes of a member; raise an error if they exceed `most` or are damaged."""
        info = self._info(member)
        if info.file_size > most:
            raise UnsafeFileError(
                f"{self.name}: {member} has {info.file_size:,} bytes, the limit is {most:,} "
                f"({what})."
            )
        with _damage(self.name, member), self._zip.open(info) as stream:
            data = stream.read(info.file_size + 1)
        if len(data) != info.file_size:
            raise DamagedFileError(f"{self.name}: {member} does not have its declared size.")
        return data

    def open(self, member):
        """Return a member as a seekable file; its checksum is verified first."""
        with self.verifying(member) as file:
            pass
        return file.unchecked() if isinstance(file, CheckedSection) else file

    @contextmanager
    def verifying(self, member):
        """A context manager that returns a member as a seekable file and verifies its checksum.

        Bytes that `checksum.fill` reads are checked while they are read, all others when the block
        ends.

        Raises:
            DamagedFileError: the checksum is wrong. The error is raised at the end of the block and
                replaces an error in the block, which the damage may have caused.
        """
        info = self._info(member)
        if info.compress_type != zipfile.ZIP_STORED:
            yield io.BytesIO(self.read(member, info.file_size, "as declared"))
            return
        with _damage(self.name, member):
            self._zip.open(info).close()  # opening makes zipfile check the member's local header
            start = _start_of(self._file, info, self.name)
        section = CheckedSection(self._file, start, info.file_size)
        try:
            yield section
        finally:
            with _damage(self.name, member):
                if section.checksum() != info.CRC:
                    raise DamagedFileError(
                        f"{self.name}: {member} is damaged: its checksum differs (bad CRC-32)."
                    )

    def _info(self, member):
        if member not in self._infos:
            raise DamagedFileError(f"{self.name}: the zip file has no member {member!r}.")
        return self._infos[member]


def _start_of(file, info, name):
    """Return the offset in the file at which the bytes of an uncompressed member begin."""
    file.seek(info.header_offset)
    header = file.read(30)
    if header[:4] != b"PK\x03\x04":
        raise DamagedFileError(f"{name}: the header of {info.filename!r} is damaged.")
    lengths = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
    return info.header_offset + 30 + lengths


def write_in_place(member, file, write):
    """Let `write(part)` write an uncompressed member directly into the zip file, in any order.

    Args:
        member: what `ZipFile.open(name, "w")` returned.
        file: the file of the ZipFile, open for reading and writing.
        write: called with a file.
    """
    part = WrittenSection(file)
    write(part)
    member._crc, member._file_size = part.checksum(), part.size
    part.seek_end()


@contextmanager
def stored_member(archive, name, size):
    """A context manager that returns a file for writing an uncompressed member of a ZipFile.

    It does what `ZipFile.open(name, "w")` does, with a faster checksum.

    Args:
        archive: a ZipFile.
        name: the name of the member.
        size: the number of bytes, roughly.
    """
    with archive.open(zipfile.ZipInfo(name), "w", force_zip64=True) as member:
        part = _CheckedMember(archive.fp, size)
        yield part
        member._crc, member._file_size = part.checksum.value(), part.size


class _CheckedMember:
    """A writable file that appends to another file and computes a checksum."""

    def __init__(self, file, size):
        self._file, self.checksum, self.size = file, Crc32(size), 0

    def write(self, data):
        view = memoryview(data)
        view = view.cast("B") if view.nbytes else view[:0]
        write_checked(self._file, view, self.checksum)
        self.size += len(view)
        return len(view)


class _damage:
    """A context manager that converts errors of reading a zip file to DamagedFileError."""

    def __init__(self, name, member=None):
        self._where = name if member is None else f"{name}: {member}"

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _):
        if isinstance(error, _ERRORS) and not isinstance(error, LoadError):
            raise DamagedFileError(
                f"{self._where}: the zip file is damaged or cut off: {error}"
            ) from error


_ERRORS = (
    zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, EOFError, OSError, ValueError,
    NotImplementedError, RuntimeError, OverflowError, IndexError, MemoryError,
)  # fmt: skip
