"""Find out whether a Python function is free of side effects, so that one call can replace many.

The answer follows from the function's bytecode and from the objects that it reads: it must store
nothing outside its own variables, and use only numbers, arrays, tensors, layers and functions of
NumPy and of the package. Any other function may have effects (`print`, `list.append`), or results
that differ between calls (a clock, a generator of random numbers). Effects of ops are not checked
here: the caller, which computes many elements in one call, detects draws, assignments and reads.
"""

import builtins
import dis
import functools
import types

import numpy as np

from framework.compiler.bytecode import CLOSURE, GLOBAL, paths_of
from framework.core.configurable import Configurable
from framework.core.dtypes import DType
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable

_PACKAGE = __name__.partition(".")[0]
_MODULES = frozenset((_PACKAGE, "numpy", "math", "operator"))
_BUILTINS = frozenset((
    "abs", "bool", "complex", "dict", "divmod", "enumerate", "float", "int", "isinstance", "len",
    "list", "max", "min", "pow", "range", "reversed", "round", "slice", "sum", "tuple", "type",
    "zip", "True", "False", "None",
))  # fmt: skip
_CHANGING = ("IMPORT_", "YIELD_", "RAISE_", "SETUP_WITH", "BEFORE_WITH", "LOAD_BUILD_CLASS")
_CONSTANTS = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), np.generic)
_DATA = (np.ndarray, np.dtype, np.ufunc, DType, Tensor, CoreVariable)
# the largest number of functions (called directly or indirectly) to examine; beyond it: not pure
_MOST = 64


def is_pure(function):
    """Return whether a call of `function` is known to have no effect besides its result."""
    return _Search().value(function)


class _Search:
    """A search that remembers the functions it visited, so that it ends for recursive ones."""

    def __init__(self):
        self._seen = set()

    def value(self, value):
        """Return whether reading a value, and calling it if it is callable, has no effect."""
        if isinstance(value, (*_CONSTANTS, *_DATA)):
            return True
        if type(value) is tuple:
            return all(map(self.value, value))
        if isinstance(value, functools.partial):
            parts = (value.func, *value.args, *value.keywords.values())
            return all(map(self.value, parts))
        if isinstance(value, types.ModuleType):
            return _of_library(value.__name__)
        if _of_library(getattr(value, "__module__", None)):
            return _is_library_object(value)
        # for a tf.function, the user's function that it wraps is examined
        wrapped = getattr(value, "python_function", value)
        return isinstance(wrapped, types.FunctionType) and self.function(wrapped)

    def function(self, function):
        """Return whether a Python function of the user has no effect."""
        if function.__code__ in self._seen:
            return True
        self._seen.add(function.__code__)
        if len(self._seen) > _MOST:
            return False
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
        roots = {GLOBAL: function.__globals__, CLOSURE: cells}
        return all(map(self.value, defaults)) and self._code(function.__code__, roots)

    def _code(self, code, roots):
        if any(map(_changes, dis.get_instructions(code))):
            return False
        inner = [const for const in code.co_consts if isinstance(const, types.CodeType)]
        return all(self._read(*path, roots) for path in paths_of(code) if path[0] in roots) and all(
            self._code(each, roots) for each in inner
        )

    def _read(self, kind, name, steps, roots):
        if kind == CLOSURE:
            cell = roots[CLOSURE].get(name)
            if cell is None:  # a local variable of the outer function, which inner functions use
                return True
            found = [cell.cell_contents]
        elif name in roots[GLOBAL]:
            found = [roots[GLOBAL][name]]
        else:
            return name in _BUILTINS and hasattr(builtins, name)
        for _, step in steps:
            last = found[-1]
            if not isinstance(last, types.ModuleType):
                return self.value(last) and _of_library(type(last).__module__)
            found.append(getattr(last, step, print))
        return all(map(self.value, found))


def _changes(instruction):
    """Return whether an instruction may store outside the function's own variables."""
    name = instruction.opname
    if name.startswith(("STORE_", "DELETE_")):
        return not name.startswith(("STORE_FAST", "DELETE_FAST"))
    return name.startswith(_CHANGING)


def _of_library(module):
    names = (module or "").split(".")
    return names[0] in _MODULES and "random" not in names[1:2]


def _is_library_object(value):
    """Return whether an object of NumPy or of the package has no effect when it is called."""
    if isinstance(value, Configurable):
        # a layer is trusted if its class is the package's, not the user's
        return _of_library(type(value).__module__)
    if isinstance(value, type):
        return issubclass(value, (np.generic, np.dtype, DType))
    return callable(value) and getattr(value, "__name__", "") not in _IMPURE


# Functions of the package and of NumPy that have side effects or read files or the time.
_IMPURE = frozenset((
    "print", "timestamp", "py_function", "numpy_function", "save", "savez", "savetxt", "tofile",
    "copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis", "seed", "set_seed",
    "write_file", "load", "loadtxt", "fromfile", "memmap", "vectorize",
))  # fmt: skip
