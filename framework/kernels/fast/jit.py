"""`kernel`: the decorator that compiles every Numba function of this package."""

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

_FAST = __name__.rpartition(".")[0] + "."
_PACKAGE = __name__.partition(".")[0] + "."
_FOLDER = str(Path(__file__).parent)
# The flags "nnan" and "ninf" are left out, so that NaN and inf propagate as in NumPy.
FASTMATH = {"contract", "reassoc", "nsz", "arcp"}


class _CompileNotice(event.Listener):
    """Logs, once in a process, that a kernel is compiled, which takes longer than loading it."""

    logged = False

    def on_start(self, happening):
        function = happening.data["dispatcher"].py_func
        if self.logged or not (function.__module__ or "").startswith(_PACKAGE):
            # Ignore Numba functions that the user compiles.
            return
        self.logged = True
        # Functions outside this folder are generated loops.
        is_kernel = function.__code__.co_filename.startswith(_FOLDER)
        ahead = " `python -m framework warmup` compiles them ahead of time." if is_kernel else ""
        subject = "kernels" if is_kernel else "the loops of a plan"
        logging.getLogger("framework").warning(
            f"Compiling {subject} for this CPU; later runs load the machine code from disk.{ahead}"
        )

    def on_end(self, _event):
        """Do nothing; Numba requires this method."""


class _CollectionPause(event.Listener):
    """Pauses Python's garbage collector during compilation, to make it a tenth faster."""

    depth = 0
    was_on = False

    def on_start(self, happening):
        function = happening.data["dispatcher"].py_func
        if self.depth == 0:
            if not (function.__module__ or "").startswith(_PACKAGE):
                # Ignore Numba functions that the user compiles.
                return
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

    The machine code runs without the GIL, divides by zero as NumPy does, and may reorder sums. It
    is cached in the folder of `kernels.sealed`, or in memory only if there is no such folder.

    Args:
        function: takes arrays and numbers.
        **options: of `numba.njit`; they override the defaults. `cache=False` writes nothing to
            disk, and `forceinline=True` is for small functions that loops call.

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
    compiled = numba.njit(**options)(function)
    if cached:
        keep(compiled, function)
    return compiled


def keep(compiled, function, cache=True):
    """Cache the machine code of a dispatcher or a `CFunc` on disk.

    Args:
        compiled, function: Numba's object, and the Python function that it compiles.
        cache: True, or the `SealedFile` of a generated function.
    """
    if cache is not True:
        compiled._cache = _KernelCache(function, cache.name, cache.origin)
    # Code typed into a REPL has no source file, so it is not cached.
    elif not function.__code__.co_filename.startswith("<"):
        compiled._cache = _KernelCache(function)


class _KernelCache(NullCache):
    """The disk cache of one function: a sealed file for each combination of argument types.

    Numba's own cache would load files without authenticating them, and would not bind the routines
    (see `routine`) that inlined kernels call. It would notice changes of the function's own file
    only, not of modules such as `micro` and `math` that are compiled into the function.

    Args:
        function: the Python function.
        name, origin: the cache file's name and origin for a generated function; by default they are
            derived from the source file.
    """

    def __init__(self, function, name="", origin=b""):
        self._function, self._name, self._origin = function, name, origin
        # The digest is computed here, because modules imported later must not change it.
        self._sources = _sources(function.__module__)

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
            result = CompileResult._rebuild(target_context, *parts)
        # The pickle refers to a name that no longer exists, so compile again.
        except Exception:
            return None
        result.library._reload_init.update(result.reload_init)
        return result

    def save_overload(self, sig, data):
        if data.library.has_dynamic_globals:
            return
        # Finalize this library, and with it the libraries linked to it, before it is serialized.
        data.library._ensure_finalized()
        data.reload_init.extend(data.library._reload_init.difference(data.reload_init))
        try:
            content = dumps(data._reduce())
        except Exception as error:
            sealed.tell_not_kept(error)
            return
        self._file(sig, data.codegen).write(content)

    def _file(self, sig, codegen):
        """Return the cache file for argument types; its origin identifies the code in it."""
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
    """Return (name, digest) of each module whose code a module's kernels may contain."""
    digests, waiting = {}, [module]
    while waiting:
        name = waiting.pop()
        if name not in digests and name in sys.modules:
            digests[name], others = _source(name)
            waiting += others
    return tuple(sorted(digests.items()))


@functools.cache
def _source(name):
    """Return the digest of a module's file, and the modules whose code its kernels may contain.

    These are the modules of this folder that it imports, and other modules of `framework.kernels`
    from which it imports constants.
    """
    file = getattr(sys.modules[name], "__file__", None)
    content, others = Path(file).read_bytes() if file else b"", set()
    for origin, names in _IMPORT.findall(content.decode(errors="replace")):
        for word in re.findall(r"\w+", names):
            inner = f"{origin}.{word}"
            if inner in sys.modules:
                others |= {inner} if inner.startswith(_FAST) else set()
            elif origin.startswith(_FAST) or _is_constant(sys.modules[origin], word):
                others.add(origin)
    return _digest(content), others


_IMPORT = re.compile(r"^from (framework\.kernels[.\w]*) import (\([^)]*\)|.*)", re.MULTILINE)


def _is_constant(module, name):
    return hasattr(module, name) and not callable(getattr(module, name))
