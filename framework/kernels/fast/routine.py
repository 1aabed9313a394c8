"""`routine`: a kernel that other kernels call where it is, instead of having a copy of it.

Numba makes what a kernel calls part of it: the code of every `kernel` that it calls is optimised
once more, and turned into machine code once more, with each caller and each caller's caller. A
routine is compiled once. Callers know its name, for LLVM to find; a call is a call, some 10 ns.

    kernel                      called from Python
    routine                     called from kernels, and worth a call: loops of its own
    kernel(forceinline=True)    called from loops: part of them

A caller that is loaded from the disk has the routines' addresses told to LLVM before.
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
    """Compile a function to be called from kernels, at the first compilation of one that does.

    Numbers are passed as int64 or what they are, so that literal ones do not make for another
    compilation; whether an array may be written to makes none either.

    Args:
        function: of arrays, numbers and tuples.
        pointers: whether it gets pointers for arrays, which is a brief call: for what asks arrays
            for nothing but numbers. From Python it gets the arrays.
        python: whether Python calls it too.
        **options: of `kernel`.

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
    """What `routine` makes of a function: callable in kernels."""

    def __init__(self, function, pointers, python, options):
        update_wrapper(self, function)
        self._pointers, self._python = pointers, python
        self._kernel = kernel(function, no_cpython_wrapper=not python, **options)
        self._bound = {}
        self.call = intrinsic(self._typed(function))

    def __call__(self, *arguments):
        if not self._python:  # there is no code for it: Numba would jump to nowhere
            raise TypeError(f"{self.__qualname__} is called by kernels only: see `routine`.")
        return self._kernel(*arguments)

    def __reduce__(self):
        return self.__qualname__  # it is what its module has by this name

    def bind(self, kinds):
        """The name by which LLVM finds the machine code for some types, and what it returns.

        It is compiled, or loaded from the disk, now if need be.
        """
        if kinds not in self._bound:
            self._kernel.compile(kinds)
            made = self._kernel.overloads[kinds]
            address = made.library.get_pointer_to_function(made.fndesc.llvm_func_name)
            name = f"{self.__module__}.{self.__qualname__}({', '.join(map(str, kinds))})"
            llvm.add_symbol(name, address)
            self._bound[kinds] = name, made.signature.return_type
        return self._bound[kinds]

    def _typed(self, function):
        """The function as Numba's type inference and code generation know it."""

        def typed(_, *arguments):
            given = tuple(_plain(kind) for kind in arguments)
            kinds = tuple(_pointer(kind) for kind in given) if self._pointers else given
            name, result = self.bind(kinds)

            def generate(context, builder, signature, values):
                # not a public place, but the one for what a cached caller needs when it is loaded
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
    """Call what has a name as Numba calls its functions."""
    convention, (result, kinds) = context.call_conv, (signature.return_type, signature.args)
    kind = convention.get_function_type(result, kinds)
    function = cgutils.get_or_insert_function(builder.module, kind, name)
    status, value = convention.call_function(builder, function, result, kinds, values)
    with cgutils.if_unlikely(builder, status.is_error):
        convention.return_status_propagate(builder, status)
    return value


def _plain(kind):
    """A type without what makes no difference to a routine."""
    kind = types.unliteral(kind)
    if isinstance(kind, types.Integer):
        return types.int64
    if isinstance(kind, types.Array) and not kind.mutable:
        return kind.copy(readonly=False)
    return kind


def _pointer(kind):
    return types.CPointer(kind.dtype) if isinstance(kind, types.Array) else kind


def data_of(context, builder, kind, value):
    """The pointer to an array's first number; what is no array as it is."""
    if isinstance(kind, types.Array):
        return context.make_array(kind)(context, builder, value).data
    return value


@typeof_impl.register(Routine)
def _typeof(value, _):
    return cpu_target.typing_context.resolve_value_type(value.call)
