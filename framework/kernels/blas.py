"""The OpenBLAS that NumPy brought along: its CPU core, and how many threads it uses.

Asked through ctypes. NumPy with another BLAS (Accelerate, MKL, a system's) has none of these
functions: then `core` is None, `threads` 0, and nothing is set.
"""

import contextlib
import ctypes
import functools
import os
import threading
from pathlib import Path

import numpy as np

# NumPy's wheels name the functions so; older wheels and systems' libraries do the others
_NAMES = ("scipy_openblas_{}64_", "scipy_openblas_{}", "openblas_{}64_", "openblas_{}")


@functools.cache
def _function(name, result):
    """OpenBLAS's function of that name, or None."""
    for library in _libraries():
        for pattern in _NAMES:
            function = getattr(library, pattern.format(name), None)
            if function is not None:
                function.restype = result
                return function
    return None


@functools.cache
def _libraries():
    """The library NumPy's extension module is linked to, by itself and by its file."""
    package = Path(np.__file__).parent
    linked = getattr(np._core, "_multiarray_umath", np)
    folders = package.parent / "numpy.libs", package / ".libs", package / ".dylibs"
    bundled = [file for folder in folders for file in folder.glob("*openblas*")]
    found = []
    for file in (linked.__file__, *map(str, bundled)):
        with contextlib.suppress(OSError, TypeError):
            found.append(ctypes.CDLL(file))
    return found


def core():
    """The kind of CPU that OpenBLAS computes for, such as "SkylakeX"; None without OpenBLAS."""
    function = _function("get_corename", ctypes.c_char_p)
    return function().decode() if function else None


def version():
    """OpenBLAS's own description of itself; None without it."""
    function = _function("get_config", ctypes.c_char_p)
    return function().decode() if function else None


def threads():
    """How many threads OpenBLAS may use; 0 without it."""
    function = _function("get_num_threads", ctypes.c_int)
    return function() if function else 0


def set_threads(number):
    """Let OpenBLAS use so many threads from now on."""
    function = _function("set_num_threads", None)
    if function:
        function(ctypes.c_int(number))


@functools.cache
def controls():
    """OpenBLAS's functions that get and set its number of threads; None where they are not."""
    get, put = _function("get_num_threads", ctypes.c_int), _function("set_num_threads", None)
    if get is None or put is None:
        return None
    put.argtypes = (ctypes.c_int,)
    return get, put


class limited:
    """OpenBLAS uses `number` threads inside, and as many as before after it.

    Its number is the whole process's: of several that are inside at once, threads or calls of one,
    the first one says it, and it holds until the last one leaves.

    Example:
        >>> with limited(1):
        ...     threads() in (0, 1)
        True
    """

    __slots__ = ("_number",)

    def __init__(self, number):
        self._number = number

    def __enter__(self):
        global _inside, _before
        with _changing:
            _inside += 1
            given = controls()
            if given is not None and _inside == 1:
                get, put = given
                found = get()
                if found != self._number:
                    put(self._number)
                    _before = found

    def __exit__(self, *_):
        global _inside, _before
        with _changing:
            _inside = max(_inside - 1, 0)
            if _inside == 0 and _before:
                controls()[1](_before)
                _before = 0


_changing = threading.Lock()
_inside = 0
_before = 0  # the number to go back to; 0: it was not changed


def _forget():
    """In a forked child the threads that were inside, or held the lock, are not there."""
    global _changing, _inside
    _changing, _inside = threading.Lock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
