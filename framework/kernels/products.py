"""Matrix products as tasks: work that the threads of `kernels/fast/team.py` share."""

from typing import NamedTuple

from framework.kernels import tier

# Chunks are multiples of these sizes, which are about the size of the micro-kernel's block.
ROWS, COLUMNS = 8, 32
# A task has at least this many multiplications; a smaller product costs less than starting a task.
LEAST = 1 << 15
PAYS = 1_000_000  # From this many multiplications on, the Numba kernel is as fast as BLAS.
# From this many multiplications on, a product may be computed in its transposed form C' = B' A'.
_LARGE = 40_000_000
# In the transposed form, a product has at most this many rows, to bound the scratch memory.
_MOST_SWAPPED = 1 << 13
# `rows_for` passes the rows of a product to a loop kernel only if there are at least this many.
_ROWS = 64
# `rows_for` is used up to this depth of the product, to bound the scratch memory.
DEEPEST = 1024
# The micro-kernel is used if all sides of a large product, and of a small one, are at least this
# long; otherwise BLAS is as fast.
_NARROW, _NARROWEST = 16, 8


class ProductTask(NamedTuple):
    """A product of matrices, C = A B, as a task.

    transposed: whether A and B are transposed.
    numbers: the task's arguments after the addresses of C, A and B.
    extent, unit: the number of work items; chunks are multiples of `unit` items.
    by_rows: whether the items are rows of A and C; else they are columns of B and C.
    swapped: whether the transposed form C' = B' A' is computed, see `swaps`.
    """

    transposed: tuple
    numbers: tuple
    extent: int
    unit: int
    by_rows: bool
    swapped: bool
    multiplications: int

    def address(self):
        """Return the address of the task's machine code."""
        library = tier.library("products")
        return (library.swapped if self.swapped else library.product).address

    @property
    def streams(self):
        """Whether `rows_for` can pass the rows to a loop kernel, without storing the product."""
        rows, depth = self.numbers[6], self.numbers[5]
        return self.transposed == (True, False) and rows >= _ROWS and depth <= DEEPEST

    def address_of_rows(self):
        """Return the address of the machine code of `rows_for`."""
        return tier.library("products").rows_for.address


def prepared(m, n, depth, transpose_a, transpose_b):
    """Return the product of float32 matrices as a task; None if `matmul.dot` uses BLAS.

    As in `matmul.dot`, the choice depends on the sizes, not on the memory layout: BLAS rounds
    differently, and a compiled plan must give the same bits as ops that run one by one.

    Args:
        m, n, depth: C is (m, n), and its elements are sums of `depth` products.
        transpose_a, transpose_b: whether A, and whether B, is transposed; both are stored in C
            order.
    """
    if not suits(m, n, depth):
        return None
    a_row, a_step = (1, m) if transpose_a else (depth, 1)
    b_step, b_column = (1, depth) if transpose_b else (n, 1)
    by_rows = m >= n
    extent, unit = (m, ROWS) if by_rows else (n, COLUMNS)
    numbers = n, a_row, a_step, b_step, b_column, depth, m, n, int(by_rows)
    transposed = transpose_a, transpose_b
    swapped = swaps(m, n, depth, *transposed)
    return ProductTask(transposed, numbers, extent, unit, by_rows, swapped, m * n * depth)


def suits(m, n, depth):
    """Return whether to compute a product with the micro-kernel instead of BLAS.

    A small product is a little slower so, but need not leave the parallel region around it.
    """
    if m * n * depth < PAYS:
        return m * n * depth >= LEAST and min(m, n, depth) >= _NARROWEST
    if min(m, n, depth) < _NARROW:
        return False
    # At most a fifth of the panels' elements may be padding, otherwise BLAS is faster.
    return n >= 128 or -n % 32 <= n // 4


def swaps(m, n, depth, transpose_a, transpose_b):
    """Return whether to compute C' = B' A', which packs A instead of the much larger B.

    The rows of A and of B' must be contiguous (see `kernels/fast/products.py`).
    """
    large = m <= _MOST_SWAPPED and n >= 4 * m and m * n * depth >= _LARGE
    return large and transpose_b and not transpose_a
