"""Files of generated loops, so that Numba finds their machine code again in the next process.

Folder: FRAMEWORK_CACHE_DIR, else NUMBA_CACHE_DIR, else the user's cache folder; below it one for
each combination of versions and CPU. A file is named by the hash of its text. It is written for
Numba's cache, tracebacks and readers only: what runs is always the text just generated, never what
the file holds. The machine code beside it is Numba's, and trusted as much as that folder is: one
that others can write to is not used unless it was asked for.
"""

import contextlib
import functools
import hashlib
import os
import platform
import stat
import sys
import tempfile
from importlib import import_module
from pathlib import Path

_HELPERS = Path(__file__).parents[1] / "kernels" / "fast" / "elementwise.py"


class LoopFile:
    """The file of one generated text that defines a function `loop`."""

    def __init__(self, source):
        self.source = source
        self._path = None

    @property
    def path(self):
        """Where the text is kept; None where there is no folder for it."""
        if self._path is None and (where := folder()) is not None:
            digest = hashlib.blake2b(self.text().encode(), digest_size=12).hexdigest()
            self._path = where / f"loop_{digest}.py"
        return self._path

    def text(self):
        """The source and, since it is compiled into the loop, what its helpers are."""
        return f"# with elementwise.py {_digest_of_helpers()}\n{self.source}"

    def is_compiled(self):
        """Whether a process has left its machine code on the disk."""
        return self.path is not None and self._mark().exists()

    def _mark(self):
        return self.path.with_suffix(".compiled")

    def compile(self, library, kind):
        """The machine code, made or loaded.

        Args:
            library: `kernels.fast.elementwise`.
            kind: as `library.native` takes it.
        """
        text, cached = self.text(), self._write()
        name = str(self.path) if cached else "<loop>"
        namespace = dict(library.NAMES)
        # The text is made of op names, types and numbers: nothing a user typed enters it.
        exec(compile(text, name, "exec"), namespace)  # noqa: S102
        made = library.native(namespace["loop"], kind, cached)
        if made.address and cached:  # it is made now
            with contextlib.suppress(OSError):
                self._mark().touch()
        return made

    def _write(self):
        """Have the file hold the text; False if that cannot be."""
        path = self.path
        if path is None:
            return False
        try:
            if path.is_file() and path.read_text() == self.text():
                return True
            path.unlink(missing_ok=True)
            _replace(path, self.text())
        except OSError:
            return False
        return True


def _replace(path, text):
    """Write a file in one piece: another process sees all of it or none."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".new")
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    Path(name).replace(path)


def folder():
    """The folder of this combination of versions and CPU, made if need be; None if it cannot be."""
    asked = os.environ.get("FRAMEWORK_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    return _made(asked, os.environ.get("NUMBA_CPU_NAME"), os.environ.get("NUMBA_CPU_FEATURES"))


@functools.lru_cache(maxsize=8)
def _made(asked, cpu, features):
    try:
        root = Path(asked) if asked else _users_cache()
        where = root / _versions(cpu, features)
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        return where if asked or _is_private(where) else None
    except (OSError, RuntimeError):  # no home
        return None


def _users_cache():
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "framework"


def _is_private(where):
    """Whether nobody but this user can write there."""
    if not hasattr(os, "getuid"):
        return True
    found = where.stat()
    return found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


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


@functools.cache
def _digest_of_helpers():
    return hashlib.blake2b(_HELPERS.read_bytes(), digest_size=4).hexdigest()
