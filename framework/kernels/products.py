"""Products of matrices as tasks for the thread team (`kernels/fast/team.py`)."""

from typing import NamedTuple

from framework.kernels import tier

ROWS, COLUMNS = 8, 32  # that a part has in whole numbers of: about the micro-kernel's block
LEAST = 1 << 15  # multiplications; below, the call is what takes time
PAYS = 1_000_000  # from here on Numba's form is no slower where it is called for one product alone
_LARGE = 40_000_000
_MOST_SWAPPED = 1 << 13  # rows of a product that is made turned: there is memory for a few of C's
_ROWS = 64  # and more of a product that is handed on row by row,
DEEPEST = 1024  # of no greater depth: `rows_for` has memory for that
_NARROW, _NARROWEST = 16, 8  # with a side smaller than this BLAS does as well; of small products


class ProductTask(NamedTuple):
    """A product of matrices as a task.

    transposed: whether A is, and B. numbers: those after the places of C, A and B.
    extent, unit: how many units it has, and how many of them go together.
    by_rows: whether a part reads its own rows of A only, and writes its rows of C; else it is
        columns of B and C.
    swapped: whether it is made turned, see `swaps`.
    """

    transposed: tuple
    numbers: tuple
    extent: int
    unit: int
    by_rows: bool
    swapped: bool
    multiplications: int

    def address(self):
        """Where the machine code of its task is."""
        library = tier.library("products")
        return (library.swapped if self.swapped else library.product).address

    @property
    def streams(self):
        """Whether `rows_for` takes it, which hands its rows to a loop."""
        rows, depth = self.numbers[6], self.numbers[5]
        return self.transposed == (True, False) and rows >= _ROWS and depth <= DEEPEST

    def address_of_rows(self):
        """Where the machine code of `rows_for` is."""
        return tier.library("products").rows_for.address


def prepared(m, n, depth, transpose_a, transpose_b):
    """The product of float32 matrices of these sizes; None where `matmul.dot` leaves it to BLAS.

    That is decided by the sizes alone, as there, however the matrices lie: BLAS's bits depend on
    the CPU in other ways than ours, and a plan has those of the same ops done one by one.

    Args:
        m, n, depth: a @ b, transposed as said, is (m, n); `depth` is what is summed over.

    The matrices lie in C order, as they are before they are transposed.
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
    """Whether blocks around the micro-kernel are faster than BLAS.

    A small product is a little slower, but what is beside it in a plan is not interrupted.
    """
    if m * n * depth < PAYS:
        return m * n * depth >= LEAST and min(m, n, depth) >= _NARROWEST
    if min(m, n, depth) < _NARROW:
        return False
    return n >= 128 or -n % 32 <= n // 4  # panels have 32 columns, or 16, or 8


def swaps(m, n, depth, transpose_a, transpose_b):
    """Whether A and B both run along k, and A is by far the smaller of two large matrices: only it
    is laid out then (see `kernels/fast/products.py`)."""
    large = m <= _MOST_SWAPPED and n >= 4 * m and m * n * depth >= _LARGE
    return large and transpose_b and not transpose_a
