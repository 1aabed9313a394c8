"""The micro-kernel: a small block of a matrix product, accumulated in the CPU's vector registers.

Matmul, convolution, LSTM and attention are loops around one function,

    tile(c, c_at, c_row, a, a_at, a_row, a_step, b, b_at, b_step, steps, runs, a_run, b_run, add)

which computes, for m < ROWS and n < WIDTH,

    C[m, n] = (C[m, n] if add else 0) + sum over r < runs, s < steps of A[r, s, m] B[r, s, n]

    C[m, n]    is  c[c_at + m c_row + n]
    A[r, s, m] is  a[a_at + r a_run + m a_row + s a_step]
    B[r, s, n] is  b[b_at + r b_run + s b_step + n]

on float32 arrays. Offsets and strides count elements, and *are not checked*. Rows of B and C are
contiguous, A has any strides. A matrix product has one run (runs = 1, a_run = b_run = 0); in a
convolution the runs are the rows of the window, in its gradient the rows of the image. `add` is 0
or 1; without steps or runs the sum is 0.

    tile    exactly ROWS × WIDTH
    panel   any number of rows, 1 to WIDTH columns: the same arguments, then rows and columns.
            It loops over tiles and smaller blocks, and accesses nothing outside.
    pack    copies a matrix into panels of columns: (panels, steps, WIDTH), padded with zeros
    turn    copies the transpose of a part of a matrix
    make    blocks of other shapes, for special callers

`tile` is inlined in the calling loop; `panel` is a shared function, and a call takes some 10 ns.

The block follows the CPU that Numba compiles for (NUMBA_CPU_NAME and NUMBA_CPU_FEATURES included):
8 × 32 with AVX-512, 6 × 16 with AVX2 and with NEON, 6 × 8 with SSE.

Example:
    >>> import numpy as np
    >>> from framework.kernels.fast.jit import kernel
    >>> @kernel(cache=False)
    ... def matmul(a, b, c):  # (rows, depth) (depth, columns) (rows, columns), contiguous
    ...     rows, depth = a.shape
    ...     columns = b.shape[1]
    ...     a, b, c = a.reshape(-1), b.reshape(-1), c.reshape(-1)
    ...     for j in range(0, columns, WIDTH):
    ...         panel(
    ...             c, j, columns, a, 0, depth, 1, b, j, columns, depth, 1, 0, 0, 0,
    ...             rows, min(WIDTH, columns - j),
    ...         )
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.random((5, 7), np.float32), rng.random((7, 50), np.float32)
    >>> c = np.empty((5, 50), np.float32)
    >>> matmul(a, b, c)
    >>> bool(np.allclose(c, a @ b))
    True
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from framework.kernels.fast.routine import data_of, routine
from framework.kernels.fast.target import LANES, REGISTERS
from framework.kernels.fast.tiles import INTO_L1, emit_prefetch, make

# The accumulators, one row of B and one broadcast element of A fill the registers without spilling.
ROWS, _VECTORS = (8 if LANES == 16 else 6), (4 if LANES == 4 and REGISTERS == 32 else 2)
WIDTH = _VECTORS * LANES
# No block has more rows than this; 9 rows are for 3 × 3 windows.
_MORE = 9 if REGISTERS == 32 and LANES == 16 else ROWS

_float = ir.FloatType()
_int = ir.IntType(64)


@intrinsic
def prefetch(_, source, at):
    """Prefetch the element source[at] of a flat array; it may lie outside the array."""

    def generate(context, builder, signature, arguments):
        data = data_of(context, builder, signature.args[0], arguments[0])
        data = builder.bitcast(data, _float.as_pointer())
        emit_prefetch(builder, builder.gep(data, [arguments[1]]), 0, INTO_L1)
        return context.get_dummy_value()

    return types.void(source, types.intp), generate


def _copier(count):
    """Return move(target, target_at, source, source_at), which copies `count` elements."""
    vector = ir.VectorType(_float, count)

    @intrinsic
    def move(_, target, target_at, source, source_at):
        def generate(context, builder, signature, arguments):
            def pointer(place):
                kind, array = signature.args[place], arguments[place]
                data = context.make_array(kind)(context, builder, array).data
                address = builder.bitcast(data, _float.as_pointer())
                address = builder.gep(address, [arguments[place + 1]])
                return builder.bitcast(address, vector.as_pointer())

            value = builder.load(pointer(2))
            value.align = 4
            builder.store(value, pointer(0)).align = 4
            return context.get_dummy_value()

        return types.void(target, types.intp, source, types.intp), generate

    return move


move_width = _copier(WIDTH)
move_rows = _copier(ROWS)
move_lanes = _copier(LANES)


def _turner(count):
    """Return turn(target, target_at, target_row, source, source_at, source_row), which transposes
    `count` rows of LANES columns. If LANES does not divide `count`, it writes less than a vector
    past each row of the target: the next row overwrites it, and the last row needs padding."""
    vector = ir.VectorType(_float, LANES)
    chunks = [range(first, first + LANES) for first in range(0, count, LANES)]

    @intrinsic
    def turn(_, target, target_at, target_row, source, source_at, source_row):
        def generate(context, builder, signature, arguments):
            def row(place, m, first=0):
                data = data_of(context, builder, signature.args[place], arguments[place])
                data = builder.bitcast(data, _float.as_pointer())
                at = builder.mul(ir.Constant(_int, m), arguments[place + 2])
                at = builder.add(builder.add(arguments[place + 1], at), ir.Constant(_int, first))
                return builder.bitcast(builder.gep(data, [at]), vector.as_pointer())

            def turned(chunk):
                rows = []
                for m in chunk:
                    rows.append(builder.load(row(3, min(m, count - 1))))
                    rows[-1].align = 4
                # Each round interleaves row m and row m + LANES / 2. This rotates the bits of the
                # index (row, column) by one; log2(LANES) rounds rotate them by half: a transpose.
                for _ in range(LANES.bit_length() - 1):
                    rows = [
                        builder.shuffle_vector(rows[m], rows[m + LANES // 2], dealt)
                        for m in range(LANES // 2)
                        for dealt in _DEALT
                    ]
                return rows

            for m, columns in enumerate(zip(*map(turned, chunks))):
                for chunk, column in zip(chunks, columns):
                    builder.store(column, row(0, m, chunk.start)).align = 4
            return context.get_dummy_value()

        place = types.intp
        return types.void(target, place, place, source, place, place), generate

    return turn


def _dealt(first):
    """Return the shuffle mask that interleaves the lanes of two vectors from lane `first` on."""
    places = [first + i // 2 + i % 2 * LANES for i in range(LANES)]
    return ir.Constant(ir.VectorType(ir.IntType(32), LANES), places)


_DEALT = _dealt(0), _dealt(LANES // 2)
_turn_square, turn_rows = _turner(LANES), _turner(ROWS)


@routine(pointers=True, python=True)
def turn(target, target_at, target_row, source, source_at, source_row, rows, columns):
    """Transpose: target[target_at + n target_row + m] = source[source_at + m source_row + n].

    m < rows, n < columns. Squares of LANES × LANES elements are transposed in registers, the rest
    element by element.
    """
    whole = rows // LANES * LANES, columns // LANES * LANES
    for n in range(0, whole[1], LANES):
        for m in range(0, whole[0], LANES):
            _turn_square(
                target, target_at + n * target_row + m, target_row, source,
                source_at + m * source_row + n, source_row,
            )  # fmt: skip
    for m in range(rows):
        for n in range(whole[1] if m < whole[0] else 0, columns):
            target[target_at + n * target_row + m] = source[source_at + m * source_row + n]


tile = make(ROWS, _VECTORS)
fetching_tile = make(ROWS, _VECTORS, fetching=True)
_more, _rows, _four, _three, _two, _one = (
    make(height, _VECTORS, any_columns=True) for height in (_MORE, ROWS, 4, 3, 2, 1)
)
# Blocks of fewer than four rows are slow, bound by latency. So if blocks of six rows would leave
# one or two rows over, use blocks of four.
_BY_FOURS = (7, 8, 11) if ROWS == 6 else (0, 0, 0)


@routine(pointers=True, python=True)
def panel(
    c, c_at, c_row, a, a_at, a_row, a_step, b, b_at, b_step, steps, runs, a_run, b_run, add, rows,
    columns,
):  # fmt: skip
    """Compute `tile` for any number of rows and 1 to WIDTH columns; see the module's docstring."""
    if rows == _MORE and _MORE > ROWS:
        _more(
            c, c_at, c_row, a, a_at, a_row, a_step, b, b_at, b_step, steps, runs, a_run, b_run, add,
            columns,
        )  # fmt: skip
        return
    while rows >= ROWS and rows not in _BY_FOURS:
        _rows(
            c, c_at, c_row, a, a_at, a_row, a_step, b, b_at, b_step, steps, runs, a_run, b_run, add,
            columns,
        )  # fmt: skip
        c_at, a_at, rows = c_at + ROWS * c_row, a_at + ROWS * a_row, rows - ROWS
    while rows >= 4:
        _four(
            c, c_at, c_row, a, a_at, a_row, a_step, b, b_at, b_step, steps, runs, a_run, b_run, add,
            columns,
        )  # fmt: skip
        c_at, a_at, rows = c_at + 4 * c_row, a_at + 4 * a_row, rows - 4
    if rows == 3:
        _three(
            c, c_at, c_row, a, a_at, a_row, a_step, b, b_at, b_step, steps, runs, a_run, b_run, add,
            columns,
        )  # fmt: skip
    elif rows == 2:
        _two(
            c, c_at, c_row, a, a_at, a_row, a_step, b, b_at, b_step, steps, runs, a_run, b_run, add,
            columns,
        )  # fmt: skip
    elif rows == 1:
        _one(
            c, c_at, c_row, a, a_at, a_row, a_step, b, b_at, b_step, steps, runs, a_run, b_run, add,
            columns,
        )  # fmt: skip


@routine(python=True)
def pack(b, b_at, b_step, b_column, steps, columns, packed):
    """Pack B[s, n] = b[b_at + s b_step + n b_column] into panels for `tile`.

    Args:
        b: any flat float32 array; b_column = 1 for a matrix, b_step = 1 for its transpose.
        packed: (ceil(columns / WIDTH), steps, WIDTH), contiguous, padded with zeros.
            Panel j serves as `b` of `tile` with b_at = j steps WIDTH and b_step = WIDTH.
    """
    flat = packed.reshape(-1)
    for j in range(packed.shape[0]):
        first, at = j * WIDTH, j * steps * WIDTH
        here = min(WIDTH, columns - first)
        start = b_at + first * b_column
        if b_column == 1:
            for s in range(steps):
                row, source = packed[j, s], b[start + s * b_step : start + s * b_step + here]
                for n in range(here):
                    row[n] = source[n]
        else:
            turn(flat, at, WIDTH, b, start, b_column, here, steps)
        for s in range(steps):
            for n in range(here, WIDTH):
                packed[j, s, n] = np.float32(0)


def warm():
    """Compile `panel` and `pack` ahead of time, for flat arrays."""
    x = np.zeros(WIDTH, np.float32)
    pack(x, 0, WIDTH, 1, 1, WIDTH, np.empty((1, 1, WIDTH), np.float32))
    panel(np.empty_like(x), 0, WIDTH, x, 0, 1, 1, x, 0, WIDTH, 1, 1, 0, 0, 0, 1, WIDTH)
