"""Matrix products of float32 in blocks that fit the caches, around the micro-kernel.

    C[i, j] = sum over k of A[i, k] B[k, j]

B is packed into panels block by block, unless B is small enough to be read in place. A is packed
only if its rows would otherwise share sets of a small cache: if its columns are contiguous and far
apart, or on a CPU without AVX-512 if B has many columns. The blocks of the sum over k depend on the
product only, so C is bitwise the same, however threads divide it.

A matrix that does not fit in the caches is loaded from memory during the arithmetic: while one
block is multiplied, the micro-kernel prefetches what is packed or multiplied next, a cache line
every few steps. The CPU would drop most prefetches if they were issued at once, since a core
handles only some dozens of cache misses at a time.
"""

import numpy as np
from numba import carray  # pyright: ignore[reportPrivateImportUsage]

from framework.kernels.fast.jit import kernel
from framework.kernels.fast.micro import (
    ROWS,
    WIDTH,
    fetching_tile,
    move_rows,
    move_width,
    panel,
    prefetch,
    tile,
    turn,
    turn_rows,
)
from framework.kernels.fast.routine import routine
from framework.kernels.fast.target import LANES
from framework.kernels.fast.tasks import EVERYTHING, CompiledTask, array, integers, perform
from framework.kernels.fast.tiles import LINE
from framework.kernels.products import DEEPEST

# These values were measured for products from 64 × 784 × 128 to 256 × 2048 × 4096, on a CPU with
# AVX-512 and caches of 48 KiB and 1 MiB, and on one with AVX2 and caches of 32 KiB and 512 KiB.
HEIGHT = 32 * ROWS  # A block of A has this many rows.
# A block of B has this many rows and columns.
DEPTH, BREADTH = 512 if LANES == 16 else 256, 8 * WIDTH
# A is packed if its columns are at least this many elements apart.
FAR = 1024 if LANES == 16 else 256
BROAD = EVERYTHING if LANES == 16 else 256  # A is packed if B has at least this many columns.
# If A is packed, a block of B has this many rows and columns.
LAID_DEPTH, LAID_BREADTH = 256, 64 * WIDTH
# B is read without packing if its rows are short and it has at most this many elements.
NEAR = 1 << 15
FETCHED = 1 << 22  # The blocks of B are prefetched if B has at least this many elements.
FETCHED_DEPTH = 256  # If the blocks of B are prefetched, a block has this many rows.
# Panels are followed by this many elements of padding, because adjacent panels could share cache
# sets.
APART = 16

_BLOCK_OF_A = HEIGHT // ROWS * (LAID_DEPTH * ROWS + APART)
_BLOCK_OF_B = max(
    BREADTH // WIDTH * (DEPTH * WIDTH + APART), LAID_BREADTH // WIDTH * (LAID_DEPTH * WIDTH + APART)
)
# number of float32 elements reserved for int64 task arguments at the start of the scratch memory
_OWN = 256
# `product` uses this many bytes at the start of the scratch memory; callers may use the rest of the
# _OWN elements.
SPARE = 64
# number of float32 elements of the whole scratch memory
PACKED = _OWN + _BLOCK_OF_A + _BLOCK_OF_B
# number of float32 elements of scratch memory that a product uses if A is not packed
_OF_ROWS = PACKED - _BLOCK_OF_B + BREADTH // WIDTH * (DEPTH * WIDTH + APART)

# number of rows of A that are packed together, so that each cache line is read once
_AT_ONCE = 16 * ROWS
# Memory is prefetched this many steps ahead, because the CPU itself does not prefetch across such
# large strides.
_AHEAD = 16
# maximum number of rows of the tile of a product that is computed before a loop kernel reads it
_TOGETHER = 4 * ROWS
# maximum number of elements of the packed block of A (_TOGETHER rows)
_OF_TOGETHER = 4 * (DEEPEST * ROWS + APART)
# maximum number of elements of such a tile (_TOGETHER rows of a product); it fits in the L2 cache
_TILE = 1024 * _TOGETHER


@routine
def _pack_rows(b, at, b_step, steps, columns, packed):
    """Pack B, which has contiguous rows, into panels, row by row."""
    whole = columns // WIDTH
    stride = steps * WIDTH + APART
    rest = columns - whole * WIDTH
    for s in range(steps):
        start = at + s * b_step
        for j in range(whole):
            move_width(packed, j * stride + s * WIDTH, b, start + j * WIDTH)
        if rest:
            target = packed[whole * stride + s * WIDTH : whole * stride + (s + 1) * WIDTH]
            source = b[start + whole * WIDTH : start + columns]
            for n in range(rest):
                target[n] = source[n]
            for n in range(rest, WIDTH):
                target[n] = np.float32(0)


@routine
def _pack_columns(b, at, b_column, steps, columns, packed):
    """Pack B, which has contiguous columns, into panels, by transposing each panel."""
    stride = steps * WIDTH + APART
    for j in range((columns + WIDTH - 1) // WIDTH):
        target = packed[j * stride : j * stride + steps * WIDTH]
        here = min(WIDTH, columns - j * WIDTH)
        turn(target, 0, WIDTH, b, at + j * WIDTH * b_column, b_column, here, steps)
        for n in range(here, WIDTH):
            for s in range(steps):
                target[s * WIDTH + n] = np.float32(0)


@routine
def _pack_a(a, at, a_row, a_step, steps, rows, packed):
    """Pack A in groups of ROWS rows, one column after another; `_group` gives a group's offset."""
    whole, stride = rows // ROWS * ROWS, _group(1, steps)
    if a_row == 1:
        for i in range(0, whole, _AT_ONCE):
            for s in range(steps):
                source, target = at + i + s * a_step, i // ROWS * stride + s * ROWS
                for line in range(0, min(_AT_ONCE, whole - i), LINE):
                    prefetch(a, source + _AHEAD * a_step + line)
                for group in range(min(_AT_ONCE, whole - i) // ROWS):
                    move_rows(packed, target + group * stride, a, source + group * ROWS)
    else:
        in_vectors = steps // LANES * LANES
        for group in range(whole // ROWS):
            source, target = at + group * ROWS * a_row, group * stride
            # A call may write past its LANES steps; the next calls overwrite the excess.
            for s in range(0, in_vectors, LANES):
                turn_rows(packed, target + s * ROWS, ROWS, a, source + s, a_row)
            for s in range(in_vectors, steps):
                for m in range(ROWS):
                    packed[target + s * ROWS + m] = a[source + m * a_row + s]
    height, source, target = rows - whole, at + whole * a_row, whole // ROWS * stride
    for s in range(steps):
        for m in range(height):
            packed[target + s * height + m] = a[source + m * a_row + s * a_step]


@kernel(forceinline=True)
def _group(number, steps):
    """Return the offset of a group of ROWS rows in a packed A."""
    return number * (steps * ROWS + APART)


@kernel(forceinline=True)
def _shares(lines, length, tiles, steps):
    """Distribute the prefetches of `lines` rows of `length` elements over `tiles` tiles.

    Returns:
        (runs, pieces, steps, pace): a tile has `runs` runs of steps and prefetches one row per run;
        with more tiles than rows, a tile prefetches one of `pieces` pieces of a row. A run has
        `steps` steps, and each step advances the prefetch by `pace` bytes.
    """
    runs = 1
    while runs * tiles < lines and steps % (2 * runs) == 0:
        runs *= 2
    pieces = max(tiles // lines, 1)
    steps //= runs
    return runs, pieces, steps, -(-4 * length // (pieces * steps))


@routine
def _block(
    c, c_at, c_row, a, a_at, a_row, a_step, packed, stride, steps, add, rows, columns, ahead, count,
    offset, lines, length, line_step,
):  # fmt: skip
    """Multiply rows of A by panels of B, and prefetch the matrices that are needed next.

    Args:
        a_row: 0 if A is packed, by `_pack_a`.
        stride: the elements between panels.
        ahead, count: the addresses of the matrices to prefetch, and their number.
        offset, lines, length, line_step: the byte offset of the first row to prefetch in each of
            these matrices, the number of rows, the elements per row, and the elements from one row
            to the next.
    """
    tiles, lines_of_all = rows // ROWS * (columns // WIDTH), count * lines
    if a_row and (tiles == 0 or lines_of_all == 0):
        for n in range(0, columns, WIDTH):
            panel(
                c, c_at + n, c_row, a, a_at, a_row, a_step, packed, n // WIDTH * stride, WIDTH,
                steps, 1, 0, 0, add, rows, min(WIDTH, columns - n),
            )  # fmt: skip
        return
    runs, pieces, each, pace = _shares(max(lines_of_all, 1), length, tiles, steps)
    # Counters replace divisions of the loop index, which are slow.
    left, matrix, line, piece = lines_of_all, 0, 0, 0
    for n in range(0, columns, WIDTH):
        here, b_at = min(WIDTH, columns - n), n // WIDTH * stride
        for group in range((rows + ROWS - 1) // ROWS):
            m = group * ROWS
            height = min(ROWS, rows - m)
            at, row, step = a_at + m * a_row, a_row, a_step
            if a_row == 0:
                at, row, step = a_at + _group(group, steps), 1, height
            if here < WIDTH or height < ROWS:
                panel(
                    c, c_at + m * c_row + n, c_row, a, at, row, step, packed, b_at, WIDTH, steps, 1,
                    0, 0, add, height, here,
                )  # fmt: skip
                continue
            if left <= 0:
                tile(
                    c, c_at + m * c_row + n, c_row, a, at, row, step, packed, b_at, WIDTH, steps, 1,
                    0, 0, add,
                )  # fmt: skip
                continue
            following = ahead[matrix] + offset + line * line_step * 4 + piece * pace * each
            fetching_tile(
                c, c_at + m * c_row + n, c_row, a, at, row, step, packed, b_at, WIDTH, each, runs,
                each * step, each * WIDTH, add, following, pace, line_step * 4,
            )  # fmt: skip
            piece += 1
            if piece == pieces:
                piece, line, left = 0, line + runs, left - runs
                while line >= lines and left > 0:
                    matrix, line = matrix + 1, line - lines


@kernel(forceinline=True)
def _following(b, b_step, depth, left, right, p, j, deepest, broadest):
    """Return (rows, columns, address) of the block of B that begins at row `p` and column `j`, or,
    if `j` is the last column, of the first block below; 0 rows after the last block."""
    if j == right:
        j, p = left, p + deepest
    return (
        max(min(deepest, depth - p), 0),
        min(broadest, right - j),
        b.ctypes.data + 4 * (p * b_step + j),
    )


@routine
def _near(c, c_row, a, a_row, a_step, b, b_step, depth, top, bottom, left, right):
    """Do what `multiply` does, but read B without packing it."""
    for p in range(0, depth, DEPTH):
        for j in range(left, right, WIDTH):
            panel(
                c, top * c_row + j, c_row, a, top * a_row + p * a_step, a_row, a_step, b,
                p * b_step + j, b_step, min(DEPTH, depth - p), 1, 0, 0, int(p > 0), bottom - top,
                min(WIDTH, right - j),
            )  # fmt: skip


@routine(python=True)
def multiply(
    c, c_row, a, a_row, a_step, b, b_step, b_column, depth, top, bottom, left, right, fetch, memory
):
    """Compute C[top:bottom, left:right] of flat arrays.

    Either a_row or a_step is 1, and either b_step or b_column.

    Args:
        fetch: whether to prefetch the next block of B; for a large B with contiguous rows.
        memory: scratch of PACKED elements.
    """
    far = a_row == 1 and a_step >= FAR
    if b_column == 1 and not far and b_step <= 2 * WIDTH and depth * b_step <= NEAR:
        _near(c, c_row, a, a_row, a_step, b, b_step, depth, top, bottom, left, right)
        return
    laid = far or right - left >= BROAD
    deepest, broadest = (LAID_DEPTH, LAID_BREADTH) if laid else (DEPTH, BREADTH)
    if fetch:
        deepest = FETCHED_DEPTH
    ahead = carray(integers(memory.ctypes.data), 1)
    packed_a, packed = memory[_OWN : _OWN + _BLOCK_OF_A], memory[_OWN + _BLOCK_OF_A :]
    for p in range(0, depth, deepest):
        steps = min(deepest, depth - p)
        for j in range(left, right, broadest):
            breadth = min(broadest, right - j)
            if b_column == 1:
                _pack_rows(b, p * b_step + j, b_step, steps, breadth, packed)
            else:
                _pack_columns(b, p + j * b_column, b_column, steps, breadth, packed)
            for i in range(top, bottom, HEIGHT):
                height = min(HEIGHT, bottom - i)
                lines = length = 0
                if fetch and i + height == bottom:
                    lines, length, ahead[0] = _following(
                        b, b_step, depth, left, right, p, j + breadth, deepest, broadest
                    )
                own, own_at, own_row = a, i * a_row + p * a_step, a_row
                if laid:
                    _pack_a(a, own_at, a_row, a_step, steps, height, packed_a)
                    own, own_at, own_row = packed_a, 0, 0
                _block(
                    c, i * c_row + j, c_row, own, own_at, own_row, a_step, packed,
                    steps * WIDTH + APART, steps, int(p > 0), height, breadth, ahead,
                    1, 0, lines, length, b_step,
                )  # fmt: skip


@routine
def _hand_on(a, a_step, b, b_step, depth, columns, first, last, loop, place, own, beside, memory):
    """Compute rows `first` to `last` of A' B, and pass them to the loop kernel at address `loop`.

    Args:
        a, b: flat arrays.
        place: the index of the product among the arrays of the loop kernel.
        own: the loop kernel's task arguments, in which this function sets the product's address.
        beside: the addresses of the loop kernel's other arrays of the product's size, to prefetch.
        memory: scratch of PACKED - _OWN elements.
    """
    stride = depth * WIDTH + APART
    rows_of_a, rest = memory[:_OF_TOGETHER], memory[_OF_TOGETHER:]
    tile_of_c, packed = rest[:_TILE], rest[_TILE:]
    broadest = min(_TILE // _TOGETHER, packed.size // stride * WIDTH)
    for j in range(0, columns, broadest):
        breadth = min(broadest, columns - j)
        _pack_rows(b, j, b_step, depth, breadth, packed)
        for i in range(first, last, _TOGETHER):
            rows = min(_TOGETHER, last - i)
            _pack_a(a, i, 1, a_step, depth, rows, rows_of_a)
            _block(
                tile_of_c, 0, breadth, rows_of_a, 0, 0, 0, packed, stride, depth, 0, rows, breadth,
                beside, beside.size, 4 * (i * columns + j), rows, breadth, columns,
            )  # fmt: skip
            # If rows are not contiguous, pass one row at a time.
            together = rows if breadth == columns else 1
            for r in range(0, rows, together):
                at = (i + r) * columns + j
                own[place] = tile_of_c.ctypes.data + 4 * (r * breadth - at)
                perform(loop, own.ctypes.data, at, at + together * breadth, 0)


@CompiledTask
def product(numbers, first, last, memory):
    """Compute rows or columns of C = A B by `multiply`, as a task.

    numbers: the addresses of C, A and B; the strides and the depth, in the order of `multiply`; the
        number of rows and columns of C, and whether the work items are rows.
    """
    top, bottom, left, right = 0, numbers[9], 0, numbers[10]
    if numbers[11]:
        top, bottom = first, last
    else:
        left, right = first, last
    multiply(
        array(numbers[0]), numbers[3], array(numbers[1]), numbers[4], numbers[5], array(numbers[2]),
        numbers[6], numbers[7], numbers[8], top, bottom, left, right,
        numbers[7] == 1 and numbers[8] * numbers[10] >= FETCHED, carray(memory, PACKED),
    )  # fmt: skip


@CompiledTask
def swapped(numbers, first, last, memory):
    """Compute columns of C as rows of its transpose B' A', so that A is packed instead of B."""
    rows, columns, depth = numbers[9], numbers[10], numbers[8]
    whole = carray(memory, PACKED)
    c_t = whole[_OF_ROWS:]
    step = c_t.size // rows // ROWS * ROWS
    c, a, b = array(numbers[0]), array(numbers[1]), array(numbers[2])
    if rows >= BROAD:  # With this many columns, the transposed product would pack both matrices.
        multiply(
            c, columns, a, numbers[4], numbers[5], b, numbers[6], numbers[7], depth, 0, rows, first,
            last, False, whole,
        )  # fmt: skip
        return
    for i in range(first, last, step):
        here = min(step, last - i)
        multiply(
            c_t, rows, b[i * numbers[7] :], numbers[7], 1, a, 1, numbers[4], depth, 0, here, 0,
            rows, False, whole,
        )  # fmt: skip
        turn(c, i, columns, c_t, 0, rows, here, rows)


@CompiledTask
def rows_for(numbers, first, last, memory):
    """Compute rows of A' B and pass them to a loop kernel; the whole product is never stored.

    numbers: the address of the loop's task, the index of the product among its arrays, the number
        of its arguments, a bit mask of its arrays that are float32 and of the product's size, the
        product's columns, A's and B's steps, the depth, the addresses of A and B, and the loop's
        arguments.
    """
    count = numbers[2]
    whole = carray(memory, PACKED)
    own = carray(integers(whole.ctypes.data), _OWN // 2)
    for i in range(count):
        own[i] = numbers[10 + i]
    last_one = count
    for i in range(count):
        if numbers[3] >> i & 1:
            own[last_one] = own[i]
            last_one += 1
    # The loop's work items are elements instead of rows here.
    own[count - 3], own[count - 1] = EVERYTHING, 1
    _hand_on(
        array(numbers[8]), numbers[5], array(numbers[9]), numbers[6], numbers[7], numbers[4], first,
        last, numbers[0], numbers[1], own, own[count:last_one], whole[_OWN:],
    )  # fmt: skip


def warm():
    """Do nothing: `matmul.warm` compiles this module too."""
