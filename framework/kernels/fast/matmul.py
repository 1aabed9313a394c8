"""Matrix products of float32, shared among threads; any number of them gives the same bits."""

import numpy as np

from framework.kernels import threads
from framework.kernels.fast import crew
from framework.kernels.fast.jit import kernel
from framework.kernels.fast.micro import ROWS, WIDTH
from framework.kernels.fast.products import product, swapped
from framework.kernels.products import swaps

_LEAST_OF_PART = 500_000  # multiplications, 4 µs: sharing takes about 1
_LARGE = 40_000_000  # from here on parts are smaller than each thread's share
_NUMBERS = 12  # of a product's task


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
    task = swapped if swaps(m, n, depth, a_step != 1, b_step == 1) else product
    down = m >= n
    extent, unit = (m, ROWS) if down else (n, WIDTH)
    parts, share = shares(extent, unit, m * n * depth)
    lists = np.empty(_NUMBERS + crew.TASK + crew.PHASE, np.int64)
    _set(
        lists, c.reshape(-1), a, b, n, a_row, a_step, b_step, b_column, depth, m, n, int(down),
        task.address, extent, share, parts,
    )  # fmt: skip
    tasks, phases = lists[_NUMBERS : _NUMBERS + crew.TASK], lists[_NUMBERS + crew.TASK :]
    crew.do(tasks, phases, parts)
    return c


@kernel
def _set(
    lists, c, a, b, c_row, a_row, a_step, b_step, b_column, depth, m, n, down, task, extent, share,
    parts,
):  # fmt: skip
    """Fill in a product's numbers, a list of it as the only task, and one of one phase."""
    lists[0], lists[1], lists[2] = c.ctypes.data, a.ctypes.data, b.ctypes.data
    lists[3], lists[4], lists[5], lists[6], lists[7] = c_row, a_row, a_step, b_step, b_column
    lists[8], lists[9], lists[10], lists[11] = depth, m, n, down
    lists[12], lists[13], lists[14], lists[15] = task, lists.ctypes.data, extent, share
    lists[16], lists[17], lists[18] = 0, 1, parts


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
