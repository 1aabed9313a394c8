"""`kernel`: how every Numba function of this package is compiled."""

import contextlib
import gc
import logging
import sys
from pathlib import Path

import numba
from numba.core import event
from numba.core.caching import FunctionCache

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


class _Pause(event.Listener):
    """Stops Python's search for garbage meanwhile: a tenth of the time, and it finds little."""

    depth = 0
    was_on = False

    def on_start(self, happening):
        function = happening.data["dispatcher"].py_func
        if self.depth == 0:
            if not (function.__module__ or "").startswith(_PACKAGE):
                return  # a function of the user's
            self.was_on = gc.isenabled()
            gc.disable()
        self.depth += 1

    def on_end(self, _event):
        if self.depth == 0:
            return
        self.depth -= 1
        if self.depth == 0 and self.was_on:
            gc.enable()


notice = _Notice()
event.register("numba:compile", notice)
event.register("numba:compile", _Pause())


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
        "nogil": True, "error_model": "numpy", "fastmath": FASTMATH, "cache": True,
        "no_cfunc_wrapper": True, **options,
    }  # fmt: skip
    cached = options.pop("cache")
    made = numba.njit(**options)(function)
    if cached:
        keep(made, function)
    return made


def keep(made, function):
    """Let what Numba makes of a function, a dispatcher or a `CFunc`, be cached on the disk."""
    with contextlib.suppress(RuntimeError):  # there is no folder for the cache
        made._cache = _Cache(function)


class _Cache(FunctionCache):
    """What the disk has of a function, for each combination of argument types.

    Numba looks at changes of the function's own file; code of other modules that is compiled into
    it, such as `micro` and `math`, would stay as it was. And of what machine code has to find at
    its first call (see `routine`) Numba loses what comes with kernels that are part of it.
    """

    def __init__(self, function):
        super().__init__(function)
        with contextlib.suppress(AttributeError):  # another Numba may keep it elsewhere
            file = self._cache_file
            file._source_stamp = (file._source_stamp, _sources(function.__module__))

    def save_overload(self, sig, data):
        data.library._ensure_finalized()  # with all its parts
        data.reload_init.extend(data.library._reload_init.difference(data.reload_init))
        super().save_overload(sig, data)

    def load_overload(self, sig, target_context):
        made = super().load_overload(sig, target_context)
        if made is not None:
            made.library._reload_init.update(made.reload_init)
        return made


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
