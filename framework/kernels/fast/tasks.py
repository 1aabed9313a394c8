"""Tasks: functions that machine code calls by their address, on any thread, without the GIL.

    task(numbers, first, last, memory)

`numbers` are the task's arguments: addresses and sizes of the arrays that it reads and writes. One
call computes a chunk: the work items from `first` to before `last`. `memory` is scratch space of
`products.PACKED` float32 elements for this call alone. The result of an item must not depend on
the chunk that contains it. A task must not raise.
"""

from functools import cached_property

from llvmlite import ir
from numba import (
    carray,  # pyright: ignore[reportPrivateImportUsage]
    types,
)
from numba.core import event
from numba.core.ccallback import CFunc
from numba.extending import intrinsic

from framework.kernels.fast.jit import FASTMATH, keep, kernel

_SIGNATURE = types.void(
    types.CPointer(types.int64), types.intp, types.intp, types.CPointer(types.float32)
)


class _ReportedCFunc(CFunc):
    def _compile_uncached(self):
        # Report the same data to Numba's event listeners as Numba's own dispatchers do.
        details = {"dispatcher": self}
        with event.trigger_event("numba:compile", data=details):
            return super()._compile_uncached()

    @property
    def py_func(self):
        return self._pyfunc


class NativeFunction:
    """A function that is called by the address of its machine code; compiled at the first use.

    Args:
        function: takes arguments of the types in `signature`.
        signature: a Numba signature.
        fastmath, cache: as for `kernel`.
    """

    def __init__(self, function, signature, fastmath, cache):
        self.py_func, self._signature = function, signature
        self._fastmath, self._cache = fastmath, cache

    @property
    def address(self):
        """The address of the machine code, which is compiled or loaded at the first use."""
        return self.compiled.address

    @cached_property
    def compiled(self):
        options = {"nopython": True, "error_model": "numpy", "fastmath": self._fastmath}
        signature = self._signature.args, self._signature.return_type
        compiled = _ReportedCFunc(self.py_func, signature, {}, options)
        if self._cache:
            keep(compiled, self.py_func, self._cache)
        compiled.compile()
        return compiled


class CompiledTask(NativeFunction):
    """A function compiled as a task.

    Args:
        function: takes the four arguments described above.
        fastmath, cache: as for `kernel`.
    """

    def __init__(self, function, fastmath=FASTMATH, cache=True):
        super().__init__(function, _SIGNATURE, fastmath, cache)


@intrinsic
def perform(_, task, numbers, first, last, memory):
    """Call the task at the address `task`; `numbers` and `memory` are addresses as well."""

    def generate(context, builder, signature, arguments):
        kinds = [context.get_value_type(kind) for kind in _SIGNATURE.args]
        function = ir.FunctionType(ir.VoidType(), kinds).as_pointer()
        address, *rest = arguments
        rest[0] = builder.inttoptr(rest[0], kinds[0])
        rest[3] = builder.inttoptr(rest[3], kinds[3])
        builder.call(builder.inttoptr(address, function), rest)
        return context.get_dummy_value()

    place = types.int64
    return types.void(place, place, types.intp, types.intp, place), generate


def pointer(kind):
    """Return a function for kernels that casts an address to a pointer to elements of `kind`."""

    @intrinsic
    def at(_, address):
        def generate(context, builder, signature, arguments):
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return types.CPointer(kind)(types.int64), generate

    return at


integers, floats = pointer(types.int64), pointer(types.float32)
# The length given to all arrays in tasks, larger than any index: tasks do not check bounds.
EVERYTHING = 1 << 40


@kernel(forceinline=True)
def array(address):
    """Return the flat float32 array at an address."""
    return carray(floats(address), EVERYTHING)


@intrinsic
def real(_, number):
    """Return the float64 whose bits a task argument holds: see `kernels.kernel_task.bits`."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate
