"""`kernel`: how every Numba function of this package is compiled."""

import functools
import gc
import hashlib
import logging
import pickle
import re
import sys
from pathlib import Path

import numba
from numba.core import event
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from framework.kernels import sealed

_ROOM = __name__.rpartition(".")[0] + "."
_PACKAGE = __name__.partition(".")[0] + "."
_FOLDER = str(Path(__file__).parent)
# "nnan" and "ninf" are not among them: NaN and inf come through as in NumPy
FASTMATH = {"contract", "reassoc", "nsz", "arcp"}


class _CompileNotice(event.Listener):
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


class _CollectionPause(event.Listener):
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


notice = _CompileNotice()
event.register("numba:compile", notice)
event.register("numba:compile", _CollectionPause())


def kernel(function=None, **options):
    """Compile a function, at its first call for each combination of argument types.

    It runs without the GIL, divides by zero as NumPy does, and lets the compiler reorder sums. The
    machine code is kept in the folder of `kernels.sealed`; without one, in memory only.

    Args:
        function: of arrays and numbers.
        **options: of `numba.njit`, instead of these; `cache=False` keeps no machine code, and
            `forceinline=True` is for small functions that loops call.

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


def keep(made, function, cache=True):
    """Let what Numba makes of a function, a dispatcher or a `CFunc`, be cached on the disk.

    Args:
        cache: True, or the `SealedFile` of a generated function.
    """
    if cache is not True:
        made._cache = _KernelCache(function, cache.name, cache.origin)
    elif not function.__code__.co_filename.startswith("<"):  # else typed in, without a file
        made._cache = _KernelCache(function)


class _KernelCache(NullCache):
    """What the disk has of a function, for each combination of argument types, a file each.

    Numba's own cache loads whatever bytes a file has. It looks at changes of the function's own
    file; code of other modules that is compiled into it, such as `micro` and `math`, would stay as
    it was. And of what machine code has to find at its first call (see `routine`) Numba loses what
    comes with kernels that are part of it.

    Args:
        function: that is compiled.
        name, origin: of its file, if it is generated; else they follow from where it is defined.
    """

    def __init__(self, function, name="", origin=b""):
        self._function, self._name, self._origin = function, name, origin
        self._sources = _sources(function.__module__)  # now: later more modules are there

    @property
    def cache_path(self):
        return str(sealed.folder() or "")

    def load_overload(self, sig, target_context):
        target_context.refresh()
        content = self._file(sig, target_context.codegen()).read()
        if content is None:
            return None
        try:
            parts = pickle.loads(content)  # noqa: S301 (it has the seal)
            made = CompileResult._rebuild(target_context, *parts)
        except Exception:  # a name in it is gone: it is compiled, and written, again
            return None
        made.library._reload_init.update(made.reload_init)
        return made

    def save_overload(self, sig, data):
        if data.library.has_dynamic_globals:
            return
        data.library._ensure_finalized()  # with all its parts
        data.reload_init.extend(data.library._reload_init.difference(data.reload_init))
        try:
            content = dumps(data._reduce())
        except Exception as error:
            sealed.tell_not_kept(error)
            return
        self._file(sig, data.codegen).write(content)

    def _file(self, sig, codegen):
        """The file for some types; all that goes into the machine code is in its origin."""
        function, code = self._function, self._function.__code__
        cells = dumps(tuple(cell.cell_contents for cell in function.__closure__ or ()))
        place = f"{code.co_filename}:{code.co_firstlineno} {sig}".encode() + cells
        name = f"{function.__module__}.{function.__qualname__}-{_digest(place)}.code"
        made_of = self._sources, codegen.magic_tuple(), _digest(code.co_code)
        origin = self._origin + repr(made_of).encode() + place
        return sealed.SealedFile(self._name or re.sub("[<>]", "", name), origin)


def _digest(content):
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _sources(module):
    """(name, digest) of the modules that a module's kernels are made of."""
    found, waiting = {}, [module]
    while waiting:
        name = waiting.pop()
        if name not in found and name in sys.modules:
            found[name], others = _source(name)
            waiting += others
    return tuple(sorted(found.items()))


@functools.cache
def _source(name):
    """The digest of a module's file, and which other modules its kernels are made of.

    Those are modules of this folder that it imports from, for their kernels and constants, and
    others of `framework.kernels` that it has constants from.
    """
    file = getattr(sys.modules[name], "__file__", None)
    content, others = Path(file).read_bytes() if file else b"", set()
    for origin, names in _IMPORT.findall(content.decode(errors="replace")):
        for word in re.findall(r"\w+", names):
            inner = f"{origin}.{word}"
            if inner in sys.modules:
                others |= {inner} if inner.startswith(_ROOM) else set()
            elif origin.startswith(_ROOM) or _is_constant(sys.modules[origin], word):
                others.add(origin)
    return _digest(content), others


_IMPORT = re.compile(r"^from (framework\.kernels[.\w]*) import (\([^)]*\)|.*)", re.MULTILINE)


def _is_constant(module, name):
    return hasattr(module, name) and not callable(getattr(module, name))
