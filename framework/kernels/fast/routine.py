"""`routine`: a function that kernels call without containing a copy of it.

If a kernel calls another `kernel`, Numba compiles the inner one again as a part of each direct and
indirect caller. A routine is compiled once; callers refer to it by a symbol that LLVM resolves. A
call takes some 10 ns.

    kernel                      called from Python
    routine                     called from kernels; large enough for a call, with loops of its own
    kernel(forceinline=True)    called from loops, and inlined

Before a caller is loaded from disk, the addresses of its routines are registered with LLVM.
"""

import inspect
from functools import partial, update_wrapper

import llvmlite.binding as llvm
from numba import types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import intrinsic, typeof_impl

from framework.kernels.fast.jit import kernel


def routine(function=None, *, pointers=False, python=False, **options):
    """Compile a function that kernels call, when the first such kernel is compiled.

    Integers are passed as int64, so that literal integers cause no further compilation; nor do
    read-only arrays.

    Args:
        function: takes arrays, numbers and tuples.
        pointers: whether kernels pass pointers instead of arrays: a cheaper call, for functions
            that only index their arrays. Python passes arrays.
        python: whether Python calls the function too.
        **options: as for `kernel`.

    Example:
        >>> import numpy as np
        >>> @routine(cache=False)
        ... def halve(x, first, last):
        ...     for i in range(first, last):
        ...         x[i] *= np.float32(0.5)
        >>> @kernel(cache=False)
        ... def halve_twice(x):
        ...     halve(x, 0, x.size)
        ...     halve(x, 0, x.size)
        >>> x = np.ones(3, np.float32)
        >>> halve_twice(x); x
        array([0.25, 0.25, 0.25], dtype=float32)
    """
    if function is None:
        return lambda function: Routine(function, pointers, python, options)
    return Routine(function, pointers, python, options)


class Routine:
    """The result of `routine`: a function that kernels can call."""

    def __init__(self, function, pointers, python, options):
        update_wrapper(self, function)
        self._pointers, self._python = pointers, python
        self._kernel = kernel(function, no_cpython_wrapper=not python, **options)
        self._bound = {}
        self.call = intrinsic(self._typed(function))

    def __call__(self, *arguments):
        # Kernels compiled without a wrapper for Python would crash the process if Python called
        # them.
        if not self._python:
            raise TypeError(
                f"{self.__qualname__} can be called by kernels only; to call it from "
                "Python, declare it by `routine(python=True)`."
            )
        return self._kernel(*arguments)

    def __reduce__(self):
        return self.__qualname__  # Pickle then refers to the global variable of this name.

    def bind(self, kinds):
        """Return the LLVM symbol of the code for these argument types, and its return type.

        If necessary, the function is compiled or loaded from disk first.
        """
        if kinds not in self._bound:
            self._kernel.compile(kinds)
            overload = self._kernel.overloads[kinds]
            library, name = overload.library, overload.fndesc.llvm_func_name
            address = library.get_pointer_to_function(name)
            name = f"{self.__module__}.{self.__qualname__}({', '.join(map(str, kinds))})"
            llvm.add_symbol(name, address)
            self._bound[kinds] = name, overload.signature.return_type
        return self._bound[kinds]

    def _typed(self, function):
        """Return the function in the form that Numba's `intrinsic` accepts."""

        def typed(_, *arguments):
            given = tuple(_plain(kind) for kind in arguments)
            kinds = tuple(_pointer(kind) for kind in given) if self._pointers else given
            name, result = self.bind(kinds)

            def generate(context, builder, signature, values):
                # Numba calls the functions in this private set when it loads a cached caller.
                context.active_code_library._reload_init.add(partial(self.bind, kinds))
                if self._pointers:
                    values = [data_of(context, builder, *pair) for pair in zip(given, values)]
                return _call(context, builder, name, result(*kinds), values)

            return result(*given), generate

        given = inspect.signature(function).parameters.values()
        context = inspect.Parameter("_", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        typed.__signature__ = inspect.Signature([context, *given])
        typed.__name__ = function.__name__
        return typed


def _call(context, builder, name, signature, values):
    """Emit a call of a symbol in Numba's calling convention."""
    convention, (result, kinds) = context.call_conv, (signature.return_type, signature.args)
    kind = convention.get_function_type(result, kinds)
    function = cgutils.get_or_insert_function(builder.module, kind, name)
    status, value = convention.call_function(builder, function, result, kinds, values)
    with cgutils.if_unlikely(builder, status.is_error):
        convention.return_status_propagate(builder, status)
    return value


def _plain(kind):
    """Return the type in which a routine receives an argument of type `kind`."""
    kind = types.unliteral(kind)
    if isinstance(kind, types.Integer):
        return types.int64
    if isinstance(kind, types.Array) and not kind.mutable:
        return kind.copy(readonly=False)
    return kind


def _pointer(kind):
    return types.CPointer(kind.dtype) if isinstance(kind, types.Array) else kind


def data_of(context, builder, kind, value):
    """Return the pointer to an array's first element; return other values unchanged."""
    if isinstance(kind, types.Array):
        return context.make_array(kind)(context, builder, value).data
    return value


@typeof_impl.register(Routine)
def _typeof(value, _):
    return cpu_target.typing_context.resolve_value_type(value.call)
