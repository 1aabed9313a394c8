"""Files of machine code: in a folder that is this user's alone, each sealed with a key.

Machine code is loaded without a look at what it does, so a flipped bit ends the process and a file
of another user's runs with this user's rights. Hence a file counts only if the folder and the file
belong to this user, no other user may write to them, and it begins with the digest, keyed with
what the file `key` beside it holds, of its bytes and of what they were made of. Any other file is
taken as missing: the code is compiled again, and the file replaced.

Folder: FRAMEWORK_CACHE_DIR, else NUMBA_CACHE_DIR, else the user's cache folder; in it `user-<id>`
where other users may write to that; below it one for each combination of versions and CPU.
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

_SIZE = 32  # bytes of the key, and of a digest
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS_USE = stat.S_IRWXG | stat.S_IRWXO


class SealedFile:
    """One file of the folder.

    Args:
        name: of the file.
        origin: bytes that say what its content is made of; with others it is another's.
    """

    def __init__(self, name, origin=b""):
        self.name, self.origin = name, origin

    def exists(self):
        """Whether there is a file of this name; its seal is looked at when it is read."""
        return (found := _folder()) is not None and (found[0] / self.name).exists()

    def read(self):
        """The content; None where there is no file, or none with the right seal."""
        if (found := _folder()) is None:
            return None
        folder, key = found
        held = _read(folder / self.name, _OTHERS_WRITE)
        if held is None or not compare_digest(held[:_SIZE], self._seal(key, held[_SIZE:])):
            return None
        return held[_SIZE:]

    def write(self, content):
        """Keep the content; where that cannot be, say so once in a process."""
        if (found := _folder()) is None:
            return
        folder, key = found
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
    """The folder of this combination of versions and CPU, made if need be; None if it cannot be."""
    return None if (found := _folder()) is None else found[0]


_told = []


def tell_not_kept(reason):
    """Say, once in a process, why machine code is not kept."""
    if not _told:
        _told.append(reason)
        logging.getLogger("framework").warning(
            f"Machine code cannot be kept on the disk ({reason}): each process compiles it. "
            "Remedy: name a folder with room, that is yours, in FRAMEWORK_CACHE_DIR."
        )


# ---- the folder and its key ----------------------------------------------------------------------


def _folder():
    """(folder, key), or None where there is no folder that can be used, which is said once."""
    asked = os.environ.get("FRAMEWORK_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    return _opened(asked, os.environ.get("NUMBA_CPU_NAME"), os.environ.get("NUMBA_CPU_FEATURES"))


@functools.lru_cache(maxsize=8)
def _opened(asked, cpu, features):
    try:
        root = Path(asked).absolute() if asked else _users_cache()
        found = _private(root, _versions(cpu, features))
        return found, _key(found / "key")
    except (OSError, RuntimeError) as error:  # RuntimeError: no home
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
    """The folder of a name in `root`, or in a folder of this user's there; made if need be.

    Raises:
        OSError: there can be none that is this user's alone.
    """
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    root = root.resolve()
    own = root / f"user-{os.getuid() if hasattr(os, 'getuid') else ''}"
    for base in (root, own):
        if _is_private(base) and _is_private(base / name):
            return base / name
    raise OSError(f"other users may write to {root}, or own it")


def _is_private(folder):
    """Whether a folder, made if need be, is this user's alone to write to."""
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and _is_own(found, _OTHERS_WRITE)


def _is_own(found, forbidden):
    """Whether a file is this user's, and has none of the permissions."""
    if not hasattr(os, "getuid"):
        return True
    return found.st_uid == os.getuid() and not found.st_mode & forbidden


def _key(path):
    """The key that a file holds; where it has none, a new one is made."""
    found = _known_key(path)
    for first in (True, False):  # what is there may be no key
        if found is None:
            _replace(path, os.urandom(_SIZE), first)
            found = _known_key(path)  # which may be that of another process
    if found is None:
        raise OSError(f"no key can be kept in {path.parent}")
    return found


def _known_key(path):
    held = _read(path, _OTHERS_USE)
    return held if held is not None and len(held) == _SIZE else None


def _read(path, forbidden):
    """The bytes of a file of this user's without these permissions, else None."""
    try:
        with path.open("rb") as file:
            return file.read() if _is_own(os.fstat(file.fileno()), forbidden) else None
    except OSError:
        return None


def _replace(path, content, first=False):
    """Write a file in one piece: another process sees all of it or none.

    After a crash of the system it may hold anything, which its seal shows.

    Args:
        first: leave the file as it is if there is one; a file system without links cannot tell.
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
    """Whether there is a file at `path` now, a link to the other if there was none."""
    try:
        os.link(name, path)
    except FileExistsError:
        return True
    except (OSError, AttributeError):
        return False
    return True


# ---- versions ------------------------------------------------------------------------------------


def _versions(cpu, features):
    """Such as "framework0.1.0-numba0.68.1-cpython-311-1f0c8a92"; the end stands for the CPU."""
    kind = repr((platform.machine(), _cpu_features(), cpu, features))
    cpu = hashlib.blake2b(kind.encode(), digest_size=4).hexdigest()
    own, numba = _version("framework"), _version("numba")
    return f"framework{own}-numba{numba}-{sys.implementation.cache_tag}-{cpu}"


def _cpu_features():
    """What NumPy found the CPU to have."""
    try:
        from numpy._core._multiarray_umath import __cpu_features__
    except ImportError:  # not a public place
        return platform.processor()
    return sorted(name for name, has in __cpu_features__.items() if has)


def _version(package):
    metadata = import_module("importlib.metadata")  # late: it costs 20 ms
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "0"
