"""Matrix products of float32, shared among threads; any number of them gives the same bits."""

import numpy as np

from framework.kernels import threads
from framework.kernels.fast import crew, scratch
from framework.kernels.fast.jit import kernel
from framework.kernels.fast.micro import ROWS, WIDTH
from framework.kernels.fast.products import PACKED, multiply

_LEAST_OF_PART = 500_000  # multiplications, 4 µs: sharing takes about 2
_LARGE = 40_000_000  # from here on parts are smaller than each thread's share
_TILE = 16


def dot(a, b, out=None):
    """a @ b of two float32 matrices, each contiguous as it is or transposed.

    Args:
        out: a contiguous float32 matrix for the result; a new one where None.
    """
    (m, depth), n = a.shape, b.shape[1]
    a_row, a_step = a.strides
    b_step, b_column = b.strides
    a_row, a_step, b_step, b_column = a_row // 4, a_step // 4, b_step // 4, b_column // 4
    c = np.empty((m, n), np.float32) if out is None else out
    a = (a if a_step == 1 else a.T).reshape(-1)
    b = (b if b_column == 1 else b.T).reshape(-1)
    products = m * n * depth
    if a_step == 1 and b_step == 1 and n >= 4 * m and products >= _LARGE:
        # Both run along k. Of C' = B' A' only A' is laid out, the smaller by far.
        _swapped(c, a, a_row, b, b_column, depth)
        return c
    flat = c.reshape(-1)
    down = m >= n
    size, unit = (m, ROWS) if down else (n, WIDTH)
    parts, share = shares(size, unit, products)
    numbers = flat, n, a, a_row, a_step, b, b_step, b_column, depth
    if parts == 1 or not crew.share(parts, *numbers, m, n, int(down), share):
        multiply(*numbers, 0, m, 0, n, scratch.take("matmul", PACKED))
    return c


def prepared(m, n, depth, transpose_a, transpose_b):
    """See `kernels.matmul.prepared`."""
    a_row, a_step = (1, m) if transpose_a else (depth, 1)
    b_step, b_column = (1, depth) if transpose_b else (n, 1)
    products = m * n * depth
    if a_step == 1 and b_step == 1 and n >= 4 * m and products >= _LARGE:
        return lambda a, b, out: _swapped(out.reshape(m, n), a, a_row, b, b_column, depth)
    down = int(m >= n)
    parts, share = shares(*((m, ROWS) if down else (n, WIDTH)), products)

    def product(a, b, out):
        numbers = out, n, a, a_row, a_step, b, b_step, b_column, depth
        if parts == 1 or not crew.share(parts, *numbers, m, n, down, share):
            multiply(*numbers, 0, m, 0, n, scratch.take("matmul", PACKED))

    return product


def shares(size, unit, products):
    """In how many parts 0 ... size is cut, and their size, in whole units."""
    number = min(threads.count(), products // _LEAST_OF_PART)
    if number > 1 and products >= _LARGE:
        number *= 2  # a thread that comes late, or has to wait, leaves more to the others
    share = -(-size // (max(number, 1) * unit)) * unit
    return -(-size // share), share


def _swapped(c, a, a_row, b, b_column, depth):
    """C = A B by C' = B' A'."""
    m, n = c.shape
    _, share = shares(n, WIDTH, m * n * depth)

    def part(first):
        last = min(first + share, n)
        packed, result = scratch.take("matmul", PACKED), scratch.take("turned", (last - first) * m)
        own = b[first * b_column :]
        multiply(result, m, own, b_column, 1, a, 1, a_row, depth, 0, last - first, 0, m, packed)
        transpose(result, last - first, m, c, first)

    threads.run(part, range(0, n, share))


@kernel
def transpose(x, rows, columns, y, left):
    """y[:, left : left + rows] = the transpose of x, flat, (rows, columns)."""
    for i in range(0, rows, _TILE):
        for j in range(0, columns, _TILE):
            for k in range(j, min(j + _TILE, columns)):
                target = y[k]
                for r in range(i, min(i + _TILE, rows)):
                    target[left + r] = x[r * columns + k]


def warm():
    """Compile `dot` for matrices as they are and transposed, alone and shared."""
    x = np.zeros((WIDTH, WIDTH), np.float32)
    dot(x, x)
    _swapped(x, x.reshape(-1), WIDTH, x.reshape(-1), WIDTH, WIDTH)
    flat = x.reshape(-1)
    crew.share(1, flat, WIDTH, flat, WIDTH, 1, flat, WIDTH, 1, WIDTH, WIDTH, WIDTH, 1, WIDTH)
