"""Tasks: functions that machine code calls by their address, on any thread, without the GIL.

    task(numbers, first, last, memory)

`numbers` are the addresses and sizes of what the task reads and writes. It works on a part of it,
from `first` to before `last` of as many units as the task has, and may use `memory`, of
`products.PACKED` float32 numbers that nobody else uses meanwhile. What it does to a unit does not
depend on the part that the unit comes in. It must not raise.
"""

from functools import cached_property

from llvmlite import ir
from numba import types
from numba.core import event
from numba.core.ccallback import CFunc
from numba.extending import intrinsic

from framework.kernels.fast.jit import FASTMATH, keep

_SIGNATURE = types.void(
    types.CPointer(types.int64), types.intp, types.intp, types.CPointer(types.float32)
)


class Native(CFunc):
    """A function as machine code that is called by its address; made when that is first asked for.

    Args:
        function: of arguments of the types in `signature`.
        signature: Numba's.
        fastmath, cache: as for `kernel`.
    """

    def __init__(self, function, signature, fastmath, cache):
        options = {"nopython": True, "error_model": "numpy", "fastmath": fastmath}
        super().__init__(function, (signature.args, signature.return_type), {}, options)
        self.py_func = function
        if cache:
            keep(self, function)

    @cached_property
    def address(self):
        """Where its machine code is; compiled, or loaded from the disk, now if need be."""
        if self._wrapper_address is None:
            self.compile()
        return self._wrapper_address

    def _compile_uncached(self):
        with event.trigger_event("numba:compile", data={"dispatcher": self}):  # as dispatchers do
            return super()._compile_uncached()


class Task(Native):
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
