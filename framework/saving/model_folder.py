"""Whole models in folders, Keras's `zipped=False`: the members of a ".keras" file as files."""

import os
import shutil
import stat
import zlib
from contextlib import ExitStack, nullcontext, suppress
from pathlib import Path

from framework.core.errors import DamagedFileError, SaveError, UnsafeFileError
from framework.saving import texts
from framework.saving.writing import clear_errors, flush_folder, only_writer

METADATA, SAVED_MODEL = "metadata.json", "saved_model.pb"
_SUMS = "crc32"  # the key of the other files' checksums in the metadata


class FolderWriter:
    """Writes the files of a model to a new folder, which gets its final name when it is complete.

    An existing folder is renamed first and deleted afterwards. Meanwhile, a second
    writer gets a SaveError.

    Args:
        path: the folder.
        expected: the name of a file; a folder that is replaced must contain it.

    Raises:
        SaveError: the folder cannot be written, or is not the folder of a model.
    """

    def __init__(self, path, expected):
        self.final = Path(os.path.realpath(path))
        self._new = self.final.with_name(f".{self.final.name}.partial")
        self._old = self.final.with_name(f".{self.final.name}.old")
        self._expected, self._stack, self._sums = expected, ExitStack(), {}

    def __enter__(self):
        with clear_errors(self.final), ExitStack() as stack:
            stack.enter_context(only_writer(self.final))
            _put_right(self.final, self._old)
            if self.final.exists() and not (self.final / self._expected).exists():
                raise SaveError(
                    f"{str(self.final)!r} exists, and is not the folder of a model. Choose another "
                    "path, or delete it."
                )
            shutil.rmtree(self._new, ignore_errors=True)
            self._new.mkdir()
            self._stack = stack.pop_all()
        return self

    def open(self, name):
        """Return a new binary file for writing; `name` may contain folders, separated by "/"."""
        path = self._new.joinpath(*name.split("/"))
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("w+b")

    def write(self, name, data):
        """Write one file, flush it to the disk, and note its checksum."""
        data = data.encode() if isinstance(data, str) else data
        self._sums[name] = zlib.crc32(data)
        with clear_errors(self.final), self.open(name) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def write_metadata(self, metadata):
        """Write a dict as the metadata, with the checksums of all files that `write` wrote."""
        self.write(METADATA, texts.dump({**metadata, _SUMS: self._sums}, METADATA))

    def __exit__(self, kind, *_):
        with self._stack:
            if kind is not None:
                shutil.rmtree(self._new, ignore_errors=True)
                return
            with clear_errors(self.final):
                flush_folder(self._new)
                if self.final.exists():
                    self.final.rename(self._old)
                self._new.rename(self.final)
                flush_folder(self.final.parent)
                shutil.rmtree(self._old, ignore_errors=True)


def no_model(path):
    """Return the error message for a folder that contains no model of Keras's format."""
    path = Path(path)
    folder = path.parent if path.name == SAVED_MODEL else path
    if (folder / SAVED_MODEL).exists():
        return (
            f"{str(folder)!r} holds a SavedModel of TensorFlow, which is not supported. Save the "
            "model with model.save('NAME.keras') in Keras, and load that file."
        )
    return f"{str(folder)!r} is a folder without the file 'config.json', so it holds no model."


def recover(final):
    """Restore a folder that a process renamed and did not replace before it was killed."""
    old = final.with_name(f".{final.name}.old")
    if not old.exists():
        return
    # If there is no folder to read, another writer may be replacing the folder; this call waits
    # for that writer. Without permission to write in the folder, nothing can be restored.
    with suppress(OSError), only_writer(final, wait=not final.exists()):
        _put_right(final, old)


def _put_right(final, old):
    if not final.exists():
        with suppress(FileNotFoundError):
            old.rename(final)
    shutil.rmtree(old, ignore_errors=True)


class FolderReader:
    """Reads the files of a folder, with the methods of an `Archive`.

    Args:
        path: the folder.
        limits: a `Limits`.

    Raises:
        UnsafeFileError: a file is a link or a device, or there are too many files.
    """

    def __init__(self, path, limits):
        self.name, self._folder = os.fspath(path), Path(path)
        self._stack, self._sizes = ExitStack(), {}
        for place, folders, names in os.walk(path):
            for name in (*folders, *names):
                found = Path(place, name)
                mode = found.lstat().st_mode
                if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                    raise UnsafeFileError(f"{self.name}: {name!r} is a link or a device.")
                if stat.S_ISREG(mode):
                    inner = found.relative_to(path).as_posix()
                    self._sizes[inner] = found.stat().st_size
                if len(self._sizes) > limits.zip_members:
                    raise UnsafeFileError(f"{self.name}: the folder has too many files.")
        self._sums = self._stored_sums(limits)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stack.close()

    def __contains__(self, member):
        return member in self._sizes

    def names(self):
        return list(self._sizes)

    def size(self, member):
        return self._sizes[member]

    def read(self, member, most, what):
        """Return the bytes of a file; raise an error if they exceed `most` or are damaged."""
        with self._opened(member) as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise UnsafeFileError(
                f"{self.name}: {member} has more than {most:,} bytes, which is the limit ({what})."
            )
        if zlib.crc32(data) != self._sums.get(member, zlib.crc32(data)):
            raise DamagedFileError(f"{self.name}: {member} is damaged: its checksum differs.")
        return data

    def _stored_sums(self, limits):
        """Return {file name: checksum} from the metadata; Keras itself writes no checksums."""
        if METADATA not in self._sizes:
            return {}
        with self._opened(METADATA) as file:
            data = file.read(limits.json_bytes + 1)
        metadata = texts.parse(data, f"{self.name}: {METADATA}", limits)
        found = metadata.get(_SUMS, {}) if isinstance(metadata, dict) else None
        if not isinstance(found, dict):
            raise DamagedFileError(f"{self.name}: {METADATA} is damaged.")
        return found

    def open(self, member):
        """Open a file, which stays open until the reader is closed."""
        return self._stack.enter_context(self._opened(member))

    def verifying(self, member):
        """Return a context manager that opens a file; HDF5 files have checksums of their own."""
        return nullcontext(self.open(member))

    def _opened(self, member):
        if member not in self._sizes:
            raise DamagedFileError(f"{self.name}: the folder has no file {member!r}.")
        return self._folder.joinpath(*member.split("/")).open("rb")
