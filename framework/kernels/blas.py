"""Control of NumPy's OpenBLAS through ctypes: its CPU core type and its number of threads.

Other BLAS libraries (Accelerate, MKL) do not have these functions: `core` then returns None,
`threads` returns 0, and `set_threads` does nothing.
"""

import contextlib
import ctypes
import functools
import os
import threading

import numpy as np

# formats of OpenBLAS's function names in NumPy's wheels, older wheels and system libraries
_NAMES = ("scipy_openblas_{}64_", "scipy_openblas_{}", "openblas_{}64_", "openblas_{}")


@functools.cache
def _function(name, result):
    """Return OpenBLAS's function `name`, or None if no loaded library has it."""
    for library in _libraries():
        for pattern in _NAMES:
            function = getattr(library, pattern.format(name), None)
            if function is not None:
                function.restype = result
                return function
    return None


@functools.cache
def _libraries():
    """Return the libraries to search: NumPy's extension module, and bundled OpenBLAS files."""
    # Importing pathlib takes 4 ms, so it is not at the top of the file.
    from pathlib import Path

    package = Path(np.__file__).parent
    linked = getattr(np._core, "_multiarray_umath", np)
    folders = package.parent / "numpy.libs", package / ".libs", package / ".dylibs"
    bundled = [file for folder in folders for file in folder.glob("*openblas*")]
    libraries = []
    for file in (linked.__file__, *map(str, bundled)):
        with contextlib.suppress(OSError, TypeError):
            libraries.append(ctypes.CDLL(file))
    return libraries


def core():
    """Return the CPU core type whose kernels OpenBLAS uses, such as "SkylakeX"; None without
    OpenBLAS."""
    function = _function("get_corename", ctypes.c_char_p)
    return function().decode() if function else None


def version():
    """Return OpenBLAS's configuration string; None without OpenBLAS."""
    function = _function("get_config", ctypes.c_char_p)
    return function().decode() if function else None


def threads():
    """Return how many threads OpenBLAS may use; 0 without OpenBLAS."""
    function = _function("get_num_threads", ctypes.c_int)
    return function() if function else 0


def set_threads(number):
    """Set the number of threads of OpenBLAS."""
    function = _function("set_num_threads", None)
    if function:
        function(ctypes.c_int(number))


@functools.cache
def controls():
    """Return OpenBLAS's functions that get and set its number of threads; None without OpenBLAS."""
    get, put = _function("get_num_threads", ctypes.c_int), _function("set_num_threads", None)
    if get is None or put is None:
        return None
    put.argtypes = (ctypes.c_int,)
    return get, put


class limited:
    """A context manager: OpenBLAS uses `number` threads inside, and the previous number afterwards.

    The number applies to the whole process. If contexts overlap, nested or on several threads, the
    first one sets the number, and the last one restores it.

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
                present = get()
                if present != self._number:
                    put(self._number)
                    _before = present

    def __exit__(self, *_):
        global _inside, _before
        with _changing:
            _inside = max(_inside - 1, 0)
            if _inside == 0 and _before:
                controls()[1](_before)
                _before = 0


_changing = threading.Lock()
_inside = 0  # the number of `limited` contexts that are open
# the number of threads to restore when the outermost `limited` exits; 0 if nothing was changed
_before = 0


def _forget():
    """Reset the lock and the count in a forked child: no thread there would release the lock."""
    global _changing, _inside
    _changing, _inside = threading.Lock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
