"""tf.io.gfile: files and folders of the local file system, with TensorFlow's names."""

import glob as _glob
import os
import shutil
from pathlib import Path
from typing import Any, NamedTuple

from framework.core.errors import InvalidArgumentError, MissingFileError

__all__ = [
    "GFile", "copy", "exists", "get_registered_schemes", "glob", "isdir", "join", "listdir",
    "makedirs", "mkdir", "remove", "rename", "rmtree", "stat", "walk",
]  # fmt: skip


def _path(path):
    return os.fspath(path.decode() if isinstance(path, bytes) else path)


def _missing(path):
    return MissingFileError(f"{_path(path)!r}: there is no such file or folder.")


def GFile(name: Any, mode: str = "r") -> Any:  # noqa: N802 (TensorFlow's name)
    """Open a file, as Python's `open`.

    Args:
        name: the path.
        mode: "r", "w", "a", with "b" for bytes and "+" to read and write.
    """
    try:
        return open(_path(name), mode, encoding=None if "b" in mode else "utf-8")
    except FileNotFoundError:
        raise _missing(name) from None


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copy a file; raise an error if the target exists and `overwrite` is False."""
    _refuse_existing(dst, overwrite)
    try:
        shutil.copyfile(_path(src), _path(dst))
    except FileNotFoundError:
        raise _missing(src) from None


def _refuse_existing(path, overwrite):
    if not overwrite and exists(path):
        raise InvalidArgumentError(f"{_path(path)!r} exists; pass overwrite=True to replace it.")


def exists(path: Any) -> bool:
    """Return whether a file or folder with this path exists.

    >>> exists("/no such file")
    False
    """
    return os.path.exists(_path(path))


def isdir(path: Any) -> bool:
    """Return whether the path is a folder."""
    return os.path.isdir(_path(path))


def get_registered_schemes() -> list[str]:
    """Return the supported URL schemes: only the scheme of the local file system."""
    return [""]


def glob(pattern: Any) -> list[str]:
    """Return the sorted paths that match a pattern, or one of several."""
    patterns = pattern if isinstance(pattern, (list, tuple)) else [pattern]
    return [path for each in patterns for path in sorted(_glob.glob(_path(each)))]


def join(path: Any, *paths: Any) -> str:
    """Return the parts as one path.

    >>> join("a", "b") == os.path.join("a", "b")
    True
    """
    return os.path.join(_path(path), *map(_path, paths))


def listdir(path: Any) -> list[str]:
    """Return the names in a folder."""
    try:
        return os.listdir(_path(path))
    except FileNotFoundError:
        raise _missing(path) from None


def makedirs(path: Any) -> None:
    """Create a folder and its parents, unless it exists."""
    os.makedirs(_path(path), exist_ok=True)


def mkdir(path: Any) -> None:
    """Create a folder; its parent must exist."""
    try:
        os.mkdir(_path(path))
    except FileNotFoundError:
        raise _missing(Path(_path(path)).parent) from None


def remove(path: Any) -> None:
    """Delete a file."""
    try:
        os.remove(_path(path))
    except FileNotFoundError:
        raise _missing(path) from None


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Move a file; raise an error if the target exists and `overwrite` is False."""
    _refuse_existing(dst, overwrite)
    try:
        os.replace(_path(src), _path(dst))
    except FileNotFoundError:
        raise _missing(src) from None


def rmtree(path: Any) -> None:
    """Delete a folder with all its contents."""
    try:
        shutil.rmtree(_path(path))
    except FileNotFoundError:
        raise _missing(path) from None


class FileStatistics(NamedTuple):
    """The result of `stat`.

    Args:
        length: the size in bytes.
        mtime_nsec: the time of the last change, in nanoseconds since 1970.
        is_directory: whether it is a folder.
    """

    length: int
    mtime_nsec: int
    is_directory: bool


def stat(path: Any) -> FileStatistics:
    """Return the FileStatistics of a file or folder."""
    try:
        found = os.stat(_path(path))
    except FileNotFoundError:
        raise _missing(path) from None
    return FileStatistics(found.st_size, found.st_mtime_ns, isdir(path))


def walk(top: Any, topdown: bool = True, onerror: Any = None) -> Any:
    """Return an iterator over (folder, names of folders, names of files), as `os.walk`."""
    return os.walk(_path(top), topdown, onerror)
