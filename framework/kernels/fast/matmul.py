"""Matrix products of float32, shared among threads; bitwise equal for any number of threads."""

import numpy as np

from framework.kernels import threads
from framework.kernels.fast import team
from framework.kernels.fast.micro import ROWS, WIDTH
from framework.kernels.fast.products import product, swapped
from framework.kernels.products import suits, swaps

# A chunk has at least this many multiplications (4 µs), because starting a chunk takes 1 µs.
_LEAST_OF_PART = 500_000
_LARGE = 40_000_000  # From this many multiplications on, each thread gets two chunks.
_MOST_KNOWN = 1000


def dot(a, b, out=None):
    """Return a @ b of two float32 matrices.

    Args:
        out: a contiguous float32 matrix for the result; None creates one.
    """
    return prepared(a, b).dot(a, b, out)


def prepared(a, b):
    """Return the cached `_SharedProduct` for float32 matrices with these shapes and strides."""
    sizes = a.shape, a.strides, b.shape, b.strides, threads.count()
    try:
        return _known[sizes]
    except KeyError:
        # Drop all entries: sizes that change with every call would fill the cache.
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        prepared_product = _known[sizes] = _SharedProduct(*sizes[:4])
        return prepared_product


_known = {}  # {(shapes, strides, number of threads): _SharedProduct}


class _SharedProduct:
    """A product of matrices of fixed shapes and strides.

    `suits` is true if the shapes match and the micro-kernel is faster than BLAS, which depends on
    the sizes alone (see `kernels/products.py`). A matrix in an unsupported memory order is copied.
    """

    __slots__ = ("_numbers", "_orders", "_parts", "_shape", "suits")

    def __init__(self, shape, strides, shape_b, strides_b):
        (m, depth), n = shape, shape_b[1]
        self._shape = m, n
        self.suits = depth == shape_b[0] and suits(m, n, depth)
        orders, strides, strides_b = _orders((shape, strides), (shape_b, strides_b))
        self._orders = orders if any(orders) else None
        (a_row, a_step), (b_step, b_column) = [[s // 4 for s in x] for x in (strides, strides_b)]
        task = swapped if swaps(m, n, depth, a_step != 1, b_step == 1) else product
        down = m >= n
        extent, unit = (m, ROWS) if down else (n, WIDTH)
        parts, share = shares(extent, unit, m * n * depth)
        numbers = 0, 0, 0, n, a_row, a_step, b_step, b_column, depth, m, n, int(down)
        task = task.address, 0, extent, share
        self._numbers, self._parts = np.array([*numbers, *task, 0, 1, parts], np.int64), parts

    def dot(self, a, b, out):
        c = np.empty(self._shape, np.float32) if out is None else out
        if self._orders is not None:
            a, b = [x if o is None else x.copy(o) for x, o in zip((a, b), self._orders)]
        team.do_phase(self._numbers, self._parts, c, a, b)
        return c


def _orders(*matrices):
    """Return the order to which each matrix must be copied (None: no copy), and the new strides."""
    orders, strides = [], []
    for (rows, columns), (down, across) in matrices:
        by_rows, by_columns = (columns * 4, 4), (4, rows * 4)
        if (down, across) == by_columns:
            order, after = None, by_columns
        elif across == 4 and down >= columns * 4 and down % 4 == 0:
            order, after = None, (down, 4)
        else:
            order, after = ("F", by_columns) if down == 4 else ("C", by_rows)
        orders.append(order)
        strides.append(after)
    return orders, *strides


def shares(size, unit, products):
    """Divide `size` rows: return the number of chunks, and a chunk's rows, a multiple of `unit`."""
    number = min(threads.count(), products // _LEAST_OF_PART)
    if number > 1 and products >= _LARGE:
        # With two chunks per thread, other threads can take the second chunk of a slow thread.
        number *= 2
    share = -(-size // (max(number, 1) * unit)) * unit
    return -(-size // share), share


def warm():
    """Compile the tasks of matrix products and the entry points of the thread team."""
    x = np.zeros((WIDTH, WIDTH), np.float32)
    dot(x, x)
    tasks = np.array([product.address, swapped.address])
    team.do(tasks, np.zeros(team.PHASE, np.int64), 2)  # Running an empty phase compiles `team.do`.
