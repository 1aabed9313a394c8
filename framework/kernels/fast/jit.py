"""`kernel`: how every Numba function of this package is compiled."""

import logging
import sys
from pathlib import Path

import numba
from numba.core import event

_ROOM = __name__.rpartition(".")[0] + "."
_PACKAGE = __name__.partition(".")[0] + "."
_FOLDER = str(Path(__file__).parent)
# "nnan" and "ninf" are not among them: NaN and inf come through as in NumPy
FASTMATH = {"contract", "reassoc", "nsz", "arcp"}


class _Notice(event.Listener):
    """Says once in a process why it takes a while: a kernel is compiled, not loaded."""

    told = False

    def on_start(self, happening):
        function = happening.data["dispatcher"].py_func
        if self.told or not (function.__module__ or "").startswith(_PACKAGE):
            return  # a function of the user's
        self.told = True
        written = function.__code__.co_filename.startswith(_FOLDER)  # else generated: a loop
        ahead = " `python -m framework warmup` does it ahead." if written else ""
        kind = "kernels" if written else "the loops of a plan"
        logging.getLogger("framework").warning(
            f"Compiling {kind} for this CPU, once: the disk keeps them.{ahead}"
        )

    def on_end(self, _event):
        """Nothing to say."""


notice = _Notice()
event.register("numba:compile", notice)


def kernel(function=None, **options):
    """Compile a function, at its first call for each combination of argument types.

    It runs without the GIL, divides by zero as NumPy does, and lets the compiler reorder sums. The
    machine code is cached beside the file; where that folder cannot be written, in the folder that
    Numba falls back to (NUMBA_CACHE_DIR, the user's cache); without any, in memory only.

    Args:
        function: of arrays and numbers.
        **options: of `numba.njit`, in place of these; `forceinline=True` for small functions that
            loops call.

    Example:
        >>> import numpy as np
        >>> @kernel(cache=False)
        ... def halve(x, y):
        ...     for i in range(x.size):
        ...         y[i] = np.float32(0.5) * x[i]
        >>> x = np.ones(3, np.float32)
        >>> halve(x, x); x
        array([0.5, 0.5, 0.5], dtype=float32)
    """
    if function is None:
        return lambda function: kernel(function, **options)
    options = {
        "nogil": True, "error_model": "numpy", "fastmath": FASTMATH, "cache": True, **options
    }  # fmt: skip
    if options["cache"]:
        try:
            dispatcher = numba.njit(**options)(function)
        except RuntimeError:  # there is no folder for the cache
            options["cache"] = False
        else:
            return stamped(dispatcher, function.__module__)
    return numba.njit(**options)(function)


def stamped(dispatcher, module):
    """Let the cache notice changes of the files that a kernel's own file builds upon.

    Numba compares that one file; code of other modules that is compiled into the kernel, such as
    `micro` and `math`, would stay as it was.
    """
    try:
        file = dispatcher._cache._cache_file
        file._source_stamp = (file._source_stamp, _sources(module))
    except AttributeError:  # not a public place: another Numba may keep it elsewhere
        pass
    return dispatcher


def _sources(module):
    """(name, size, time) of the modules of this folder that a module is built upon."""
    found, waiting = {}, [module]
    while waiting:
        name = waiting.pop()
        if name in found or name not in sys.modules:
            continue
        file = Path(sys.modules[name].__file__).stat()
        found[name] = (file.st_size, file.st_mtime_ns)
        for value in vars(sys.modules[name]).values():
            near = getattr(value, "__module__", None) or getattr(value, "__name__", None)
            if isinstance(near, str) and near.startswith(_ROOM):
                waiting.append(near)
    found.pop(module, None)  # Numba's own stamp
    return tuple(sorted(found.items()))
