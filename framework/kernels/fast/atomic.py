"""Atomic operations on int64 arrays that threads share inside kernels, without GIL or locks."""

import os

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from framework.kernels.fast.target import assembly

_int = ir.IntType(64)
# CPU architecture -> (LLVM intrinsic that tells the CPU that a thread is spinning, its argument)
_HINTS = {
    "x86_64": ("llvm.x86.sse2.pause", None),
    "aarch64": ("llvm.aarch64.hint", 1),
    "arm64": ("llvm.aarch64.hint", 1),
}


def _address(context, builder, signature, arguments):
    data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    return builder.gep(data, [arguments[1]])


@intrinsic
def load(_, array, at):
    """Load array[at] atomically."""

    def generate(context, builder, signature, arguments):
        return builder.load_atomic(
            _address(context, builder, signature, arguments), "seq_cst", align=8
        )

    return types.int64(array, types.intp), generate


@intrinsic
def store(_, array, at, value):
    """Set array[at] atomically; a thread that loads the value also sees all earlier writes."""

    def generate(context, builder, signature, arguments):
        place = _address(context, builder, signature, arguments)
        builder.store_atomic(arguments[2], place, "seq_cst", align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.int64), generate


@intrinsic
def add(_, array, at, value):
    """Add `value` to array[at] atomically, and return the old value."""

    def generate(context, builder, signature, arguments):
        place = _address(context, builder, signature, arguments)
        return builder.atomic_rmw("add", place, arguments[2], "seq_cst")

    return types.int64(array, types.intp, types.int64), generate


@intrinsic
def exchange(_, array, at, expected, value):
    """Set array[at] to `value` if it equals `expected`, atomically; return whether it did."""

    def generate(context, builder, signature, arguments):
        place = _address(context, builder, signature, arguments)
        result = builder.cmpxchg(place, arguments[2], arguments[3], "seq_cst", "seq_cst")
        return builder.extract_value(result, 1)

    return types.boolean(array, types.intp, types.int64, types.int64), generate


@intrinsic
def pause(_):
    """Give the CPU a hint that this thread is spinning."""

    def generate(context, builder, signature, arguments):
        name, number = _HINTS.get(assembly()[0], (None, None))
        if name:
            values = [] if number is None else [ir.Constant(ir.IntType(32), number)]
            kind = ir.FunctionType(ir.VoidType(), [value.type for value in values])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, name), values)
        return context.get_dummy_value()

    return types.void(), generate


# the C function that yields the CPU to another thread; None on systems without it
sched_yield = types.ExternalFunction("sched_yield", types.int32()) if os.name == "posix" else None
