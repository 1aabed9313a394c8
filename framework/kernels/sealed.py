"""The disk cache of machine code: private files, each authenticated by a keyed digest.

Machine code runs unchecked: a flipped bit would crash the process, and another user's file would
run with this user's rights. So a file is loaded only if the file and its folder belong to this
user, no other user may write to them, and the file begins with the digest of its content and
origin, keyed with the file `key` beside it. Any other file is treated as missing: the code is
compiled again, and the file is replaced.

The folder is FRAMEWORK_CACHE_DIR, else NUMBA_CACHE_DIR, else the user's cache folder. If other
users may write to this folder, its subfolder `user-<id>` is used. In it, a subfolder is named after
versions and CPU.
"""

import functools
import hashlib
import logging
import os
import platform
import stat
import sys
import tempfile
from hmac import compare_digest
from importlib import import_module
from pathlib import Path

_SIZE = 32  # size in bytes of the key, and of a digest
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS_USE = stat.S_IRWXG | stat.S_IRWXO


class SealedFile:
    """A file of the cache, whose content is authenticated.

    Args:
        name: the file's name.
        origin: bytes that identify what was compiled; a file with another origin is invalid.
    """

    def __init__(self, name, origin=b""):
        self.name, self.origin = name, origin

    def exists(self):
        """Return whether a file of this name exists; only `read` checks its digest."""
        return (opened := _folder()) is not None and (opened[0] / self.name).exists()

    def read(self):
        """Return the file's content, or None if the file is missing or its digest is wrong."""
        if (opened := _folder()) is None:
            return None
        folder, key = opened
        held = _read(folder / self.name, _OTHERS_WRITE)
        if held is None or not compare_digest(held[:_SIZE], self._seal(key, held[_SIZE:])):
            return None
        return held[_SIZE:]

    def write(self, content):
        """Write the content; the first failure in a process logs a warning."""
        if (opened := _folder()) is None:
            return
        folder, key = opened
        try:
            _replace(folder / self.name, self._seal(key, content) + content)
        except OSError as error:
            tell_not_kept(error.strerror or error)

    def _seal(self, key, content):
        digest = hashlib.blake2b(len(self.origin).to_bytes(8, "big"), digest_size=_SIZE, key=key)
        digest.update(self.origin)
        digest.update(content)
        return digest.digest()


def folder():
    """Return the folder for these versions and this CPU, created if necessary; None on failure."""
    return None if (opened := _folder()) is None else opened[0]


_told = []  # the reason given in the warning; empty if there was no warning


def tell_not_kept(reason):
    """Warn, once in a process, that machine code cannot be written to disk."""
    if not _told:
        _told.append(reason)
        logging.getLogger("framework").warning(
            f"Machine code cannot be cached on disk ({reason}), so each process compiles it again. "
            "Remedy: set FRAMEWORK_CACHE_DIR to a writable folder of yours."
        )


# ---- the folder and its key ----------------------------------------------------------------------


def _folder():
    """Return (folder, key); if no folder can be used, warn once and return None."""
    asked = os.environ.get("FRAMEWORK_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    return _opened(asked, os.environ.get("NUMBA_CPU_NAME"), os.environ.get("NUMBA_CPU_FEATURES"))


@functools.lru_cache(maxsize=8)
def _opened(asked, cpu, features):
    try:
        root = Path(asked).absolute() if asked else _users_cache()
        folder = _private(root, _versions(cpu, features))
        return folder, _key(folder / "key")
    # `Path.home` raises RuntimeError if the user has no home folder.
    except (OSError, RuntimeError) as error:
        tell_not_kept(error)
        return None


def _users_cache():
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base).absolute() / "framework"


def _private(root, name):
    """Return the folder `name` in `root` or in `root/user-<id>`, created if necessary.

    Raises:
        OSError: neither folder can be made private to this user.
    """
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    root = root.resolve()
    own = root / f"user-{os.getuid() if hasattr(os, 'getuid') else ''}"
    for base in (root, own):
        if _is_private(base) and _is_private(base / name):
            return base / name
    raise OSError(f"other users may write to {root}, or own it")


def _is_private(folder):
    """Return whether only this user may write to a folder, which is created if necessary."""
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and _is_own(status, _OTHERS_WRITE)


def _is_own(status, forbidden):
    """Return whether a file belongs to this user and grants none of the `forbidden` permissions."""
    if not hasattr(os, "getuid"):
        return True
    return status.st_uid == os.getuid() and not status.st_mode & forbidden


def _key(path):
    """Return the key in a file; without a valid key, write a new one."""
    key = _known_key(path)
    # First try to keep a key that another process may write meanwhile; then replace an invalid key.
    for first in (True, False):
        if key is None:
            _replace(path, os.urandom(_SIZE), first)
            # Another process may have written its key first.
            key = _known_key(path)
    if key is None:
        raise OSError(f"the key that authenticates cache files cannot be stored in {path.parent}")
    return key


def _known_key(path):
    held = _read(path, _OTHERS_USE)
    return held if held is not None and len(held) == _SIZE else None


def _read(path, forbidden):
    """Return a file's bytes, or None if it is not this user's or has a forbidden permission."""
    try:
        with path.open("rb") as file:
            return file.read() if _is_own(os.fstat(file.fileno()), forbidden) else None
    except OSError:
        return None


def _replace(path, content, first=False):
    """Write a file atomically: another process sees all of it or none.

    After a system crash the file may have wrong content, which `SealedFile.read` detects by the
    digest.

    Args:
        first: whether to keep an existing file; without hard links, an existing file is replaced
            anyway.
    """
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".new")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        if not (first and _linked(name, path)):
            Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)


def _linked(name, path):
    """Link `path` to the file `name` unless `path` exists; return whether `path` exists now."""
    try:
        os.link(name, path)
    except FileExistsError:
        return True
    except (OSError, AttributeError):
        return False
    return True


# ---- names of versions ---------------------------------------------------------------------------


def _versions(cpu, features):
    """Return the subfolder's name, such as "framework0.1.0-numba0.68.1-cpython-311-1f0c8a92".

    The name ends with a hash of the CPU's features.
    """
    kind = repr((platform.machine(), _cpu_features(), cpu, features))
    cpu = hashlib.blake2b(kind.encode(), digest_size=4).hexdigest()
    own, numba = _version("framework"), _version("numba")
    return f"framework{own}-numba{numba}-{sys.implementation.cache_tag}-{cpu}"


def _cpu_features():
    """Return the CPU features that NumPy has detected."""
    try:
        from numpy._core._multiarray_umath import __cpu_features__
    # This NumPy module is private, so a release may move it.
    except ImportError:
        return platform.processor()
    return sorted(name for name, has in __cpu_features__.items() if has)


def _version(package):
    # Importing importlib.metadata takes 20 ms, so it is not at the top of the file.
    metadata = import_module("importlib.metadata")
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "0"
