"""Gather rows and scale them in one pass, for `kernels/row_chains.py`.

The results are bitwise equal to those of NumPy's operations.
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

_LINE = 64  # size of a cache line in bytes
_BLOCK = 64  # number of elements that are computed between two prefetches
_NO_SHIFT = np.float32(-0.0)  # Adding -0.0 changes no bits of x, also if x is 0.0 or -0.0.
# Rows are prefetched this many rows ahead, because the CPU's prefetcher cannot predict random rows.
_AHEAD = 4


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


def _multiplied(x, v, low, shift):
    return x * v + shift


def _quotient(x, v, low, shift):
    return _fused(x, v, x * low) + shift


def _row(operation):
    """Return a kernel that applies `operation` to a row, and prefetches another row.

    It prefetches the row `ahead`, one cache line at a time, between its computations: prefetches
    issued all at once would wait for each other.
    """
    operation = kernel(operation, fastmath=False, forceinline=True, cache=False)

    @kernel(fastmath=False, forceinline=True, cache=False)
    def row(source, at, ahead, v, low, shift, y):
        x, size, wide = source[at], y.size, source.itemsize
        # `y` is aligned after these elements: a store across two cache lines takes longer
        skip = min(size, -(y.ctypes.data // 4) % (_LINE // 4))
        whole = (size - skip) // _BLOCK * _BLOCK
        for j in range(size - whole):  # the elements before and after the blocks
            k = j if j < skip else j + whole
            y[k] = operation(np.float32(x[k]), v, low, shift)
        x, y = x[skip:], y[skip:]
        for start in range(0, whole, _BLOCK):
            for byte in range(0, _BLOCK * wide, _LINE):
                _prefetch(source, ahead, (skip + start) * wide + byte)
            for j in range(_BLOCK):
                y[start + j] = operation(np.float32(x[start + j]), v, low, shift)
        for byte in range((skip + whole) * wide, size * wide, _LINE):
            _prefetch(source, ahead, byte)

    return row


_multiply, _quotients = _row(_multiplied), _row(_quotient)


@kernel(fastmath=False, forceinline=True)
def _apply(x, y, code, v):
    """Apply one operation to the elements of `x`, and write the results to `y`."""
    if code == DIVIDE:
        for j in range(x.size):
            y[j] = np.float32(x[j]) / v
    elif code == ADD:
        for j in range(x.size):
            y[j] = np.float32(x[j]) + v
    elif code == DIVIDE_INTO:
        for j in range(x.size):
            y[j] = v / np.float32(x[j])


@kernel(fastmath=False, forceinline=True)
def _apply_in_place(y, code, v):
    """Apply one operation to the elements of `y`; loops over one array become vector code."""
    if code == MULTIPLY:
        for j in range(y.size):
            y[j] *= v
    elif code == DIVIDE:
        for j in range(y.size):
            y[j] /= v
    elif code == ADD:
        for j in range(y.size):
            y[j] += v
    elif code == DIVIDE_INTO:
        for j in range(y.size):
            y[j] = v / y[j]


@kernel(fastmath=False)
def gather(source, numbers, codes, values, low, out):
    """Write the rows `numbers` of `source` as float32 to `out`, after the operations `codes`.

    Args:
        source: (rows, size), uint8 or float32.
        codes, values: the code and the float32 operand of each operation; there is at least one.
        low: if the first operation is a QUOTIENT, the rounding error of the divisor's reciprocal.
    """
    count, code, v, shift, done = numbers.size, codes[0], values[0], _NO_SHIFT, 1
    if codes.size > 1 and codes[1] == ADD and code in (QUOTIENT, MULTIPLY):
        shift, done = values[1], 2
    wide = source.shape[1] * source.itemsize
    for i in range(1, min(_AHEAD, count)):
        for byte in range(0, wide, _LINE):
            _prefetch(source, numbers[i], byte)
    for i in range(count):
        at, ahead, y = numbers[i], numbers[min(i + _AHEAD, count - 1)], out[i]
        if code == QUOTIENT:
            _quotients(source, at, ahead, v, low, shift, y)
        elif code == MULTIPLY:
            _multiply(source, at, ahead, v, low, shift, y)
        else:
            for byte in range(0, wide, _LINE):
                _prefetch(source, ahead, byte)
            _apply(source[at], y, code, v)
        for k in range(done, codes.size):
            _apply_in_place(y, codes[k], values[k])


def warm():
    """Compile `gather` ahead of time, for arrays of uint8 and of float32."""
    numbers, codes, values = np.zeros(1, np.intp), np.full(1, ADD, np.int8), np.ones(1, np.float32)
    for dtype in (np.uint8, np.float32):
        source = np.zeros((1, 1), dtype)
        source.flags.writeable = False
        gather(source, numbers, codes, values, values[0], np.empty((1, 1), np.float32))
