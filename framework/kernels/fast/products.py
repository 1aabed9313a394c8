"""Matrix products of float32 in blocks that fit the caches, around the micro-kernel.

    C[i, j] = sum over k of A[i, k] B[k, j]

B is laid out in panels block by block, unless it is small and can be read where it lies. A is read
where it lies, unless its columns are rows of the memory that lie far apart. The blocks of the sum
over k depend on the product only: a part of C has the same bits, whichever parts it is made of.
"""

import numpy as np
from numba import carray  # pyright: ignore[reportPrivateImportUsage]

from framework.kernels.fast.micro import ROWS, WIDTH, move_rows, move_width, panel, turn
from framework.kernels.fast.routine import routine
from framework.kernels.fast.tasks import Task, floats, integers, perform
from framework.kernels.products import DEEPEST

# Measured from 64 × 784 × 128 to 256 × 2048 × 4096, on a CPU with 48 KiB and 1 MiB of cache
HEIGHT = 32 * ROWS  # of a block of A
DEPTH, BREADTH = 512, 8 * WIDTH  # of a block of B
FAR = 1024  # numbers between columns of A, from which on they are laid out
FAR_DEPTH, FAR_BREADTH = 256, 64 * WIDTH  # of a block of B then: A is laid out again for each
NEAR = 1 << 15  # numbers of a B of short rows that is read where it lies; long ones share places
APART = 16  # numbers between panels: 2**n apart, their lines would share places in the cache

_BLOCK_OF_A = HEIGHT * FAR_DEPTH
_BLOCK_OF_B = max(
    BREADTH // WIDTH * (DEPTH * WIDTH + APART), FAR_BREADTH // WIDTH * (FAR_DEPTH * WIDTH + APART)
)
PACKED = _BLOCK_OF_A + _BLOCK_OF_B  # numbers in the memory for both
_OF_ROWS = _BLOCK_OF_A + BREADTH // WIDTH * (DEPTH * WIDTH + APART)  # where A's rows are contiguous

_TOGETHER = 4 * ROWS  # rows that are laid out together, of which a panel of B stays in L1
_TILE = 1024 * _TOGETHER  # numbers of a product that are handed on at a time, in L2
_OWN = 128  # float32 numbers, in the place of which a loop's 64 int64 lie


@routine
def _pack_rows(b, at, b_step, steps, columns, packed):
    """Panels of B where a row is contiguous: row by row."""
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
    """Panels of B where a column is contiguous: each is turned."""
    stride = steps * WIDTH + APART
    for j in range((columns + WIDTH - 1) // WIDTH):
        target = packed[j * stride : j * stride + steps * WIDTH]
        here = min(WIDTH, columns - j * WIDTH)
        turn(target, 0, WIDTH, b, at + j * WIDTH * b_column, b_column, here, steps)
        for n in range(here, WIDTH):
            for s in range(steps):
                target[s * WIDTH + n] = np.float32(0)


@routine
def _pack_a(a, at, a_step, steps, rows, packed):
    """A's rows in groups of ROWS, step by step, where those of a step are contiguous."""
    whole = rows // ROWS * ROWS
    for i in range(0, whole, _TOGETHER):  # so that each line of the cache is read once
        last = min(i + _TOGETHER, whole)
        for s in range(steps):
            for group in range(i, last, ROWS):
                move_rows(packed, group * steps + s * ROWS, a, at + group + s * a_step)
    rest = rows - whole
    for s in range(steps):
        for m in range(rest):
            packed[whole * steps + s * rest + m] = a[at + whole + m + s * a_step]


@routine(python=True)
def multiply(
    c, c_row, a, a_row, a_step, b, b_step, b_column, depth, top, bottom, left, right, memory
):
    """C[top:bottom, left:right]; arrays are flat, a_row or a_step is 1, and b_step or b_column.

    Args:
        memory: of PACKED numbers, to work in.
    """
    far = a_row == 1 and a_step >= FAR
    near = b_column == 1 and not far and b_step <= 2 * WIDTH and depth * b_step <= NEAR
    deepest, broadest = (FAR_DEPTH, FAR_BREADTH) if far else (DEPTH, BREADTH)
    packed_a, packed = memory[:_BLOCK_OF_A], memory[_BLOCK_OF_A:]
    for p in range(0, depth, deepest):
        steps = min(deepest, depth - p)
        stride = steps * WIDTH + APART
        add = int(p > 0)
        for j in range(left, right, broadest):
            breadth = min(broadest, right - j)
            panels = (breadth + WIDTH - 1) // WIDTH
            if near:
                for n in range(0, breadth, WIDTH):
                    panel(
                        c, top * c_row + j + n, c_row, a, top * a_row + p * a_step, a_row, a_step,
                        b, p * b_step + j + n, b_step, steps, 1, 0, 0, add, bottom - top,
                        min(WIDTH, breadth - n),
                    )  # fmt: skip
                continue
            if b_column == 1:
                _pack_rows(b, p * b_step + j, b_step, steps, breadth, packed)
            else:
                _pack_columns(b, p + j * b_column, b_column, steps, breadth, packed)
            for i in range(top, bottom, HEIGHT):
                height = min(HEIGHT, bottom - i)
                if far:
                    _pack_a(a, i + p * a_step, a_step, steps, height, packed_a)
                for n in range(panels):
                    columns = min(WIDTH, breadth - n * WIDTH)
                    c_at = i * c_row + j + n * WIDTH
                    if not far:
                        panel(
                            c, c_at, c_row, a, i * a_row + p * a_step, a_row, a_step, packed,
                            n * stride, WIDTH, steps, 1, 0, 0, add, height, columns,
                        )  # fmt: skip
                        continue
                    for m in range(0, height, ROWS):
                        rows = min(ROWS, height - m)
                        panel(
                            c, c_at + m * c_row, c_row, packed_a, m * steps, 1, rows, packed,
                            n * stride, WIDTH, steps, 1, 0, 0, add, rows, columns,
                        )  # fmt: skip


@routine
def _hand_on(a, a_step, b, b_step, depth, columns, first, last, loop, place, own, memory):
    """Rows of A' B, `first` to `last`, for the loop at an address; A and B are flat.

    Args:
        place: of the product among the loop's arrays.
        own: the loop's numbers, in which this changes where the product lies.
        memory: of PACKED numbers but _OWN, to work in.
    """
    stride = depth * WIDTH + APART
    rows_of_a, rest = memory[: depth * _TOGETHER], memory[DEEPEST * _TOGETHER :]
    tile, packed = rest[:_TILE], rest[_TILE:]
    broadest = min(_TILE // _TOGETHER, packed.size // stride * WIDTH)
    for j in range(0, columns, broadest):
        breadth = min(broadest, columns - j)
        _pack_rows(b, j, b_step, depth, breadth, packed)
        for i in range(first, last, _TOGETHER):
            rows = min(_TOGETHER, last - i)
            _pack_a(a, i, a_step, depth, rows, rows_of_a)
            for n in range(0, breadth, WIDTH):
                for m in range(0, rows, ROWS):
                    here = min(ROWS, rows - m)
                    panel(
                        tile, m * breadth + n, breadth, rows_of_a, m * depth, 1, here, packed,
                        n // WIDTH * stride, WIDTH, depth, 1, 0, 0, 0, here,
                        min(WIDTH, breadth - n),
                    )  # fmt: skip
            together = rows if breadth == columns else 1  # rows that follow one another everywhere
            for r in range(0, rows, together):
                at = (i + r) * columns + j
                own[place] = tile.ctypes.data + 4 * (r * breadth - at)
                perform(loop, own.ctypes.data, at, at + together * breadth, 0)


_EVERYTHING = 1 << 40  # a length for arrays: what a task reads and writes is right by its numbers


@Task
def product(numbers, first, last, memory):
    """`multiply`, for rows of C, or for columns.

    numbers: where C, A and B are, then the arguments up to `depth` in their order, then how many
        rows and columns C has, and whether its rows are the units.
    """
    top, bottom, left, right = 0, numbers[9], 0, numbers[10]
    if numbers[11]:
        top, bottom = first, last
    else:
        left, right = first, last
    multiply(
        carray(floats(numbers[0]), _EVERYTHING), numbers[3],
        carray(floats(numbers[1]), _EVERYTHING), numbers[4], numbers[5],
        carray(floats(numbers[2]), _EVERYTHING), numbers[6], numbers[7],
        numbers[8], top, bottom, left, right, carray(memory, PACKED),
    )  # fmt: skip


@Task
def swapped(numbers, first, last, memory):
    """`product` for columns of C by those of C' = B' A', which are turned then: A is laid out."""
    rows, columns, depth = numbers[9], numbers[10], numbers[8]
    whole = carray(memory, PACKED)
    made = whole[_OF_ROWS:]
    step = made.size // rows // ROWS * ROWS
    a, b = carray(floats(numbers[1]), _EVERYTHING), carray(floats(numbers[2]), _EVERYTHING)
    c = carray(floats(numbers[0]), _EVERYTHING)
    for i in range(first, last, step):
        here = min(step, last - i)
        multiply(
            made, rows, b[i * numbers[7] :], numbers[7], 1, a, 1, numbers[4], depth, 0, here, 0,
            rows, whole,
        )  # fmt: skip
        turn(c, i, columns, made, 0, rows, here, rows)


@Task
def rows_for(numbers, first, last, memory):
    """Some rows of A' B, each handed to a loop over elements; the product has no other place.

    numbers: where the loop's task is, the product's place among its arrays, how many numbers it
        has, the product's columns, A's and B's steps and the depth; where A and B are; the loop's
        own numbers.
    """
    count = numbers[2]
    whole = carray(memory, PACKED)
    own = carray(integers(whole.ctypes.data), count)
    for i in range(count):
        own[i] = numbers[9 + i]
    own[count - 3], own[count - 1] = _EVERYTHING, 1  # it is told of elements, not of rows
    _hand_on(
        carray(floats(numbers[7]), _EVERYTHING), numbers[4],
        carray(floats(numbers[8]), _EVERYTHING), numbers[5],
        numbers[6], numbers[3], first, last, numbers[0], numbers[1], own, whole[_OWN:],
    )  # fmt: skip


def warm():
    """Nothing: `matmul.warm` compiles what is here with its own."""
