"""Tasks: functions that machine code calls by their address, on any thread, without the GIL.

    task(numbers, first, last, memory)

`numbers` are the addresses and sizes of what the task reads and writes. It works on a part of it,
from `first` to before `last` of as many units as the task has, and may use `memory`, of
`products.PACKED` float32 numbers that nobody else uses meanwhile. What it does to a unit does not
depend on the part that the unit comes in. It must not raise.
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
        details = {"dispatcher": self}  # who listens to compilations is told as by dispatchers
        with event.trigger_event("numba:compile", data=details):
            return super()._compile_uncached()

    @property
    def py_func(self):
        return self._pyfunc


class NativeFunction:
    """A function as machine code that is called by its address; made when that is first asked for.

    Args:
        function: of arguments of the types in `signature`.
        signature: Numba's.
        fastmath, cache: as for `kernel`.
    """

    def __init__(self, function, signature, fastmath, cache):
        self.py_func, self._signature = function, signature
        self._fastmath, self._cache = fastmath, cache

    @property
    def address(self):
        """Where the machine code is; compiled, or loaded from the disk, now if need be."""
        return self.compiled.address

    @cached_property
    def compiled(self):
        options = {"nopython": True, "error_model": "numpy", "fastmath": self._fastmath}
        kinds = self._signature.args, self._signature.return_type
        made = _ReportedCFunc(self.py_func, kinds, {}, options)
        if self._cache:
            keep(made, self.py_func, self._cache)
        made.compile()
        return made


class CompiledTask(NativeFunction):
    """A function compiled as a task.

    Args:
        function: of the four arguments above.
        fastmath, cache: as for `kernel`.
    """

    def __init__(self, function, fastmath=FASTMATH, cache=True):
        super().__init__(function, _SIGNATURE, fastmath, cache)


@intrinsic
def perform(_, task, numbers, first, last, memory):
    """Call the task at an address, with the addresses of its numbers and of memory."""

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
    """A function for use in kernels: an address as a pointer to numbers of a kind."""

    @intrinsic
    def at(_, address):
        def generate(context, builder, signature, arguments):
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return types.CPointer(kind)(types.int64), generate

    return at


integers, floats = pointer(types.int64), pointer(types.float32)
EVERYTHING = 1 << 40  # a length for arrays: what a task reads and writes is right by its numbers


@kernel(forceinline=True)
def array(address):
    """The float32 numbers at an address."""
    return carray(floats(address), EVERYTHING)


@intrinsic
def real(_, number):
    """The float64 whose bits a number of a task is: see `kernels.kernel_task.bits`."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate
