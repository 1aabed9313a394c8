"""Products of matrices as tasks for the crew (`kernels/fast/crew.py`)."""

from typing import NamedTuple

from framework.kernels import tier

ROWS, COLUMNS = 8, 32  # that a part has in whole numbers of: about the micro-kernel's block
LEAST = 1_000_000  # multiplications
_JOINS = 300_000  # the most of those that join a run of tasks, but would not be one alone
_LARGE = 40_000_000
_NARROW = 16  # with a side smaller than this memory is the limit: BLAS does as well


class Product(NamedTuple):
    """A product of matrices as a task.

    task: its name in `kernels/fast/products.py`. transposed: whether A is, and B.
    turned: whether B's place comes before A's in its numbers, after C's. numbers: the others.
    extent, unit: how many units it has, and how many of them go together.
    by_rows: whether a part reads its own rows of A only, and writes its rows of C.
    """

    task: str
    transposed: tuple
    turned: bool
    numbers: tuple
    extent: int
    unit: int
    by_rows: bool
    multiplications: int

    def address(self):
        """Where the machine code of its task is."""
        return getattr(tier.library("products"), self.task).address


def prepared(m, n, depth, transpose_a, transpose_b, joins=False):
    """The product of float32 matrices of these sizes; None where `matmul.dot` does better.

    Args:
        m, n, depth: a @ b, transposed as said, is (m, n); `depth` is what is summed over.
        joins: whether it can go with other tasks, which saves the call.

    The matrices lie in C order, as they are before they are transposed.
    """
    multiplications = m * n * depth
    if swaps(m, n, depth, transpose_a, transpose_b):
        return None
    if not suits(m, n, depth) and not (joins and multiplications <= _JOINS):
        return None
    a_row, a_step = (1, m) if transpose_a else (depth, 1)
    b_step, b_column = (1, depth) if transpose_b else (n, 1)
    task, turned, down = "product", False, m >= n
    numbers = n, a_row, a_step, b_step, b_column, depth, m, n, int(down)
    if n == 1 < m and not transpose_a:
        task = "inner_products"
    elif n == 1 < m:  # C' = B' A', which lie where C, B and A do
        turned, down, numbers = True, False, (m, 1, 1, a_step, 1, depth, 1, m, 0)
    extent, unit = (m, ROWS) if down else (max(m, n) if turned else n, COLUMNS)
    transposed = transpose_a, transpose_b
    return Product(task, transposed, turned, numbers, extent, unit, down, multiplications)


def suits(m, n, depth):
    """Whether blocks around the micro-kernel are faster than BLAS."""
    if m * n * depth < LEAST or min(m, n, depth) < _NARROW:
        return False
    return n >= 128 or -n % 32 <= n // 4  # panels have 32 columns, or 16, or 8


def swaps(m, n, depth, transpose_a, transpose_b):
    """Whether A and B both run along k, and A is by far the smaller of two large matrices: only it
    is laid out then (see `kernels/fast/matmul.py`)."""
    return n >= 4 * m and m * n * depth >= _LARGE and transpose_b and not transpose_a
