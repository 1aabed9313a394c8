"""Matrix products of float32, shared among threads; any number of them gives the same bits."""

import numpy as np

from framework.kernels import threads
from framework.kernels.fast import crew
from framework.kernels.fast.micro import ROWS, WIDTH
from framework.kernels.fast.products import product, swapped
from framework.kernels.products import swaps

_LEAST_OF_PART = 500_000  # multiplications, 4 µs: sharing takes about 1
_LARGE = 40_000_000  # from here on parts are smaller than each thread's share
_MOST_KNOWN = 1000


def dot(a, b, out=None):
    """a @ b of two float32 matrices, each contiguous as it is or transposed.

    Args:
        out: a contiguous float32 matrix for the result; a new one where None.
    """
    sizes = a.shape, a.strides, b.shape, b.strides, threads.count()
    try:
        numbers, parts = _known[sizes]
    except KeyError:
        if len(_known) >= _MOST_KNOWN:  # sizes that change all the time do not come back
            _known.clear()
        numbers, parts = _known[sizes] = _numbers(*sizes)
    c = np.empty((len(a), b.shape[1]), np.float32) if out is None else out
    crew.do_one(numbers, parts, c, a, b)
    return c


_known = {}  # sizes: what a product of them takes


def _numbers(shape, strides, shape_b, strides_b, _count):
    """A product's numbers, the task and its phase for `crew.do_one`, and how many parts it has."""
    (m, depth), n = shape, shape_b[1]
    (a_row, a_step), (b_step, b_column) = [[s // 4 for s in pair] for pair in (strides, strides_b)]
    task = swapped if swaps(m, n, depth, a_step != 1, b_step == 1) else product
    down = m >= n
    extent, unit = (m, ROWS) if down else (n, WIDTH)
    parts, share = shares(extent, unit, m * n * depth)
    numbers = 0, 0, 0, n, a_row, a_step, b_step, b_column, depth, m, n, int(down)
    return np.array([*numbers, task.address, 0, extent, share, 0, 1, parts], np.int64), parts


def shares(size, unit, products):
    """In how many parts 0 ... size is cut, and their size, in whole units."""
    number = min(threads.count(), products // _LEAST_OF_PART)
    if number > 1 and products >= _LARGE:
        number *= 2  # a thread that comes late, or has to wait, leaves more to the others
    share = -(-size // (max(number, 1) * unit)) * unit
    return -(-size // share), share


def warm():
    """Compile `dot` for matrices as they are and transposed, alone and shared."""
    x = np.zeros((WIDTH, WIDTH), np.float32)
    dot(x, x)
    tasks = np.array([product.address, swapped.address])
    crew.do(tasks, np.zeros(crew.PHASE, np.int64), 2)  # nothing of them
