"""Crash-safe writing: a file is replaced completely, or stays unchanged."""

import ctypes
import errno
import io
import os
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from framework.core.errors import SaveError

try:
    import fcntl
except ImportError:  # Windows has no fcntl
    fcntl = None


_EARLY = 2**24  # after this many bytes, the system begins to write them to the disk
_WRITE = 2  # SYNC_FILE_RANGE_WRITE: begin to write, and do not wait


@contextmanager
def replacing(path):
    """A context manager that opens a new binary file, which replaces `path` when the block ends.

    The new file is ".NAME.partial" in the folder of `path`. It is flushed to the disk before it is
    renamed, and the folder afterwards. If the block raises an error, the new file is removed.

    Args:
        path: the file to create or replace; a link is followed.

    Raises:
        SaveError: the file cannot be written: a full disk, no permission, no such folder, another
            writer. An existing file is unchanged.
    """
    final = Path(os.path.realpath(path))
    partial = partial_path(final)
    with clear_errors(path):
        descriptor = locked(partial, final.name)
    replaced = False
    try:
        # closing writes the buffered data, which may raise an error, too
        with clear_errors(path), io.BufferedRandom(_EarlyFile(descriptor)) as file:
            yield file
            file.flush()
            _keep_mode(file.fileno(), final)
            os.fsync(file.fileno())
            if fcntl is not None:  # the file is renamed while the lock excludes other writers
                partial.replace(final)
                replaced = True
        with clear_errors(path):
            if not replaced:  # an open file cannot be renamed on Windows
                partial.replace(final)
                replaced = True
            flush_folder(final.parent)
    finally:
        if not replaced:
            with suppress(OSError):
                partial.unlink()


class _EarlyFile(io.FileIO):
    """An open file whose bytes go to the disk while the program computes the next ones.

    By default, the system keeps them in memory, and the disk is idle until `os.fsync` is called.
    """

    def __init__(self, descriptor):
        super().__init__(descriptor, "r+")
        self._waiting, self._begin_writing = 0, _sync_file_range()

    def write(self, data):
        # a short write is allowed: BufferedRandom calls this method again for the rest
        count = super().write(memoryview(data)[:_EARLY])
        self._waiting += count
        if self._waiting >= _EARLY and self._begin_writing is not None:
            self._begin_writing(self.fileno(), 0, 0, _WRITE)  # fsync reports errors later
            self._waiting = 0
        return count


@cache
def _sync_file_range():
    """Return Linux's `sync_file_range(descriptor, start, size, flags)`; None on other systems."""
    try:
        function = ctypes.CDLL(None).sync_file_range
    except (AttributeError, OSError, TypeError):
        return None
    function.argtypes = ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint
    return function


@contextmanager
def clear_errors(path):
    """A context manager that converts an OSError to a SaveError for `path`."""
    try:
        yield
    except SaveError:
        raise
    except OSError as error:
        reason = _REASONS.get(error.errno, error.strerror or str(error))
        raise SaveError(
            f"Cannot write {os.fspath(path)!r}: {reason}. An existing file is unchanged."
        ) from error


_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT if hasattr(errno, "EDQUOT") else -1: "the quota of the disk is used up",
    errno.EACCES: "no permission to write in this folder",
    errno.EPERM: "no permission to write in this folder",
    errno.EROFS: "the disk is read-only",
    errno.ENOENT: "the folder does not exist",
}


def partial_path(final):
    """Return the path of the temporary file that will replace the file `final`."""
    return final.with_name(f".{final.name}.partial")


@contextmanager
def only_writer(final, wait=False):
    """A context manager that locks a group of files or a folder: one writer at a time.

    The block locks the file ".NAME.lock" and deletes it at the end. A lock ends with its process,
    so a lock file that a killed process left behind does no harm.

    Args:
        final: the path of the folder, or of one of the files.
        wait: whether to wait until another writer is done, instead of raising SaveError.
    """
    lock = final.with_name(f".{final.name}.lock")
    descriptor = locked(lock, final.name, wait)
    try:
        yield
    finally:
        if fcntl is None:  # an open file cannot be deleted on Windows
            os.close(descriptor)
        with suppress(OSError):
            lock.unlink()
        if fcntl is not None:
            os.close(descriptor)


def locked(path, name, wait=False):
    """Open an empty file and lock it; a file left behind by a killed process is reused.

    Args:
        path: the path of the file to lock.
        name: the name of what is written, for messages.
        wait: whether to wait for the lock instead of raising SaveError.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    while True:
        descriptor = os.open(path, flags, 0o666)
        try:
            if _is_ours(descriptor, path, name, wait):
                os.ftruncate(descriptor, 0)
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        # another writer has renamed the locked file, so a new file must be created
        os.close(descriptor)


def _is_ours(descriptor, path, name, wait):
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
            return True  # the file system has no locks, so the file is written without one
        raise SaveError(
            f"Cannot write {name!r}: another writer is writing it right now. An existing file is "
            "unchanged."
        ) from None
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _keep_mode(descriptor, final):
    """Give the new file the permissions of the file that it replaces."""
    if hasattr(os, "fchmod"):
        with suppress(OSError):
            os.fchmod(descriptor, final.stat().st_mode & 0o7777)


def flush_folder(folder):
    """Flush the folder to the disk, so that the new name survives a power failure."""
    if fcntl is None:
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # some file systems cannot flush a folder
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)
