"""Gather rows and scale them in one pass, for `kernels/row_chains.py`.

The results have the same bits as NumPy's operations.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from framework.kernels.fast.jit import kernel
from framework.kernels.fast.target import FUSED  # noqa: F401 (kernels/row_chains.py reads it)
from framework.kernels.row_chains import (
    ADD,
    DIVIDE,
    DIVIDE_INTO,
    MULTIPLY,
    QUOTIENT,
)

_LINE = 64  # bytes of a cache line
# So many rows ahead are prefetched, because the CPU's prefetcher cannot predict random rows.
_AHEAD = 6


@intrinsic
def _prefetch(_, array, row, byte):
    """Prefetch a cache line of a row of a matrix in C order."""

    def emit(context, builder, signature, arguments):
        kind, word = signature.args[0], ir.IntType(64)
        view = context.make_array(kind)(context, builder, arguments[0])
        stride = cgutils.unpack_tuple(builder, view.strides)[0]
        at = builder.add(builder.mul(arguments[1], stride), arguments[2])
        pointer = builder.gep(builder.bitcast(view.data, ir.IntType(8).as_pointer()), [at])
        small = ir.IntType(32)
        prefetch = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), [pointer.type, small, small, small]),
            "llvm.prefetch.p0",
        )
        # The arguments of the intrinsic mean: read, keep in all levels of the cache, data (not
        # code).
        builder.call(prefetch, [pointer, *(ir.Constant(small, n) for n in (0, 2, 1))])
        return context.get_constant(types.int64, word.width)

    return types.int64(array, types.int64, types.int64), emit


@intrinsic
def _fused(_, x, y, z):
    """Return x y + z, rounded once (fused multiply-add)."""

    def emit(context, builder, signature, arguments):
        number = ir.FloatType()
        fma = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(number, [number] * 3), "llvm.fma.f32"
        )
        return builder.call(fma, arguments)

    return types.float32(types.float32, types.float32, types.float32), emit


@kernel(fastmath=False, forceinline=True)
def _apply(x, y, code, v, low):
    """Apply one operation to the elements of `x`, and write the results to `y`."""
    if code == QUOTIENT:
        for j in range(x.size):
            y[j] = _fused(np.float32(x[j]), v, np.float32(x[j]) * low)
    elif code == MULTIPLY:
        for j in range(x.size):
            y[j] = np.float32(x[j]) * v
    elif code == DIVIDE:
        for j in range(x.size):
            y[j] = np.float32(x[j]) / v
    elif code == ADD:
        for j in range(x.size):
            y[j] = np.float32(x[j]) + v
    elif code == DIVIDE_INTO:
        for j in range(x.size):
            y[j] = v / np.float32(x[j])


@kernel(fastmath=False)
def gather(source, numbers, codes, values, low, out):
    """Write the rows `numbers` of `source` as float32 to `out`, after the operations `codes`.

    Args:
        source: (rows, size), uint8 or float32.
        codes, values: for each operation, at least one, its code and its float32 operand.
        low: if the first operation is a QUOTIENT, the rounding error of the divisor's reciprocal.
    """
    count, size = numbers.size, source.shape[1]
    wide = size * source.itemsize
    scales_and_shifts = codes.size == 2 and codes[1] == ADD
    for i in range(count):
        if i + _AHEAD < count:
            for byte in range(0, wide, _LINE):
                _prefetch(source, numbers[i + _AHEAD], byte)
        x, y, v = source[numbers[i]], out[i], values[0]
        if scales_and_shifts and codes[0] == QUOTIENT:
            for j in range(size):
                y[j] = _fused(np.float32(x[j]), v, np.float32(x[j]) * low) + values[1]
        elif scales_and_shifts and codes[0] == MULTIPLY:
            for j in range(size):
                y[j] = np.float32(x[j]) * v + values[1]
        elif scales_and_shifts and codes[0] == DIVIDE:
            for j in range(size):
                y[j] = np.float32(x[j]) / v + values[1]
        else:
            _apply(x, y, codes[0], v, low)
            for k in range(1, codes.size):
                _apply(y, y, codes[k], values[k], low)


def warm():
    """Compile `gather` ahead of time, for arrays of uint8 and of float32."""
    numbers, codes, values = np.zeros(1, np.intp), np.full(1, ADD, np.int8), np.ones(1, np.float32)
    for dtype in (np.uint8, np.float32):
        source = np.zeros((1, 1), dtype)
        source.flags.writeable = False
        gather(source, numbers, codes, values, values[0], np.empty((1, 1), np.float32))
