"""Matrix products of float32 in blocks that fit the caches, around the micro-kernel.

    C[i, j] = sum over k of A[i, k] B[k, j]

A is read where it lies, with any strides; B is laid out in panels block by block. Blocks of the sum
over k depend on its length only: a part of C has the same bits, whichever parts it is made of.
"""

import numpy as np

from framework.kernels.fast.jit import kernel
from framework.kernels.fast.micro import ROWS, WIDTH, move_width, panel

# Measured at 256 × 2048 × 4096 and below, on a CPU with 48 KiB and 1 MiB of cache
DEPTH = 256  # of a block: a panel of B, DEPTH × WIDTH, stays in the first-level cache
HEIGHT = 32 * ROWS  # of a block of A, which stays in the second level
BREADTH = 32 * WIDTH  # of a block of B
APART = 16  # numbers between panels: 2**n apart, their lines would share places in the cache
PACKED = BREADTH // WIDTH * (DEPTH * WIDTH + APART)  # numbers in the memory for a block of B


@kernel
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


@kernel
def _pack_columns(b, at, b_column, steps, columns, packed):
    """Panels of B where a column is contiguous: column by column."""
    stride = steps * WIDTH + APART
    for j in range((columns + WIDTH - 1) // WIDTH):
        target = packed[j * stride : j * stride + steps * WIDTH]
        here = min(WIDTH, columns - j * WIDTH)
        for n in range(here):
            start = at + (j * WIDTH + n) * b_column
            column = b[start : start + steps]
            for s in range(steps):
                target[s * WIDTH + n] = column[s]
        for n in range(here, WIDTH):
            for s in range(steps):
                target[s * WIDTH + n] = np.float32(0)


@kernel
def multiply(
    c, c_row, a, a_row, a_step, b, b_step, b_column, depth, top, bottom, left, right, packed
):
    """C[top:bottom, left:right]; arrays are flat, and b_step or b_column is 1.

    Args:
        packed: memory for a block of B.
    """
    for p in range(0, depth, DEPTH):
        steps = min(DEPTH, depth - p)
        stride = steps * WIDTH + APART
        add = int(p > 0)
        for j in range(left, right, BREADTH):
            breadth = min(BREADTH, right - j)
            if b_column == 1:
                _pack_rows(b, p * b_step + j, b_step, steps, breadth, packed)
            else:
                _pack_columns(b, p + j * b_column, b_column, steps, breadth, packed)
            for i in range(top, bottom, HEIGHT):
                height = min(HEIGHT, bottom - i)
                for n in range((breadth + WIDTH - 1) // WIDTH):
                    panel(
                        c, i * c_row + j + n * WIDTH, c_row, a, i * a_row + p * a_step, a_row,
                        a_step, packed, n * stride, WIDTH, steps, 1, 0, 0, add, height,
                        min(WIDTH, breadth - n * WIDTH),
                    )  # fmt: skip
