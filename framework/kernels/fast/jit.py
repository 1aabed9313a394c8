"""`kernel`: how every Numba function of this package is compiled."""

import contextlib
import functools
import gc
import logging
import re
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
    it, such as `micro` and `math`, would stay as it was. Of what machine code has to find at its
    first call (see `routine`) Numba loses what comes with kernels that are part of it. And a disk
    that is full, or a file that a crash has left in halves, would be an error of who computes.
    """

    def __init__(self, function):
        super().__init__(function)
        with contextlib.suppress(AttributeError):  # another Numba may keep it elsewhere
            file = self._cache_file
            file._source_stamp = (file._source_stamp, _sources(function.__module__))

    def save_overload(self, sig, data):
        data.library._ensure_finalized()  # with all its parts
        data.reload_init.extend(data.library._reload_init.difference(data.reload_init))
        try:
            super().save_overload(sig, data)
        except Exception as error:
            self._give_up()
            _tell_not_kept(str(getattr(error, "strerror", None) or error))

    def load_overload(self, sig, target_context):
        try:
            made = super().load_overload(sig, target_context)
        except Exception:  # no pickle, or half of one: it is compiled, and written, again
            self._give_up()
            return None
        if made is not None:
            made.library._reload_init.update(made.reload_init)
        return made

    def _give_up(self):
        """Remove the index: it may be no index, or name machine code of an earlier source."""
        with contextlib.suppress(AttributeError, OSError):
            Path(self._cache_file._index_path).unlink()


@functools.cache
def _tell_not_kept(reason):
    logging.getLogger("framework").warning(
        f"The machine code of kernels cannot be kept on the disk ({reason}): each process compiles "
        "it. Remedy: make room there, or name another folder in NUMBA_CACHE_DIR."
    )


def _sources(module):
    """(name, size, time) of the modules that a module's kernels are made of, besides its own."""
    found, waiting = {}, [module]
    while waiting:
        name = waiting.pop()
        if name not in found and name in sys.modules:
            found[name], others = _source(name)
            waiting += others
    found.pop(module, None)  # Numba's own stamp
    return tuple(sorted((name, *stamp) for name, stamp in found.items()))


@functools.cache
def _source(name):
    """The size and time of a module's file, and which others its kernels are made of.

    Those are modules of this folder that it imports from, for their kernels and constants, and
    others of `framework.kernels` that it has constants from.
    """
    file = Path(sys.modules[name].__file__)
    others, stat = set(), file.stat()
    for origin, names in _IMPORT.findall(file.read_text(errors="replace")):
        for word in re.findall(r"\w+", names):
            inner = f"{origin}.{word}"
            if inner in sys.modules:
                others |= {inner} if inner.startswith(_ROOM) else set()
            elif origin.startswith(_ROOM) or _is_constant(sys.modules[origin], word):
                others.add(origin)
    return (stat.st_size, stat.st_mtime_ns), others


_IMPORT = re.compile(r"^from (framework\.kernels[.\w]*) import (\([^)]*\)|.*)", re.MULTILINE)


def _is_constant(module, name):
    return hasattr(module, name) and not callable(getattr(module, name))
