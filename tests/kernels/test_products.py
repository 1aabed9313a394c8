"""Blocks of a product with prefetching, against NumPy."""

import numpy as np
import pytest

from framework.kernels import threads, tier

pytest.importorskip("numba")

from framework.kernels.fast import matmul, products
from framework.kernels.fast.micro import ROWS, WIDTH

LINE = 64  # bytes


@pytest.fixture
def asked(change):
    """Return the addresses that `_block`, run in Python, prefetches."""
    addresses = []

    def panel(c, at, row, a, a_at, a_row, a_step, b, b_at, b_step, steps, *rest):
        runs, a_run, b_run, add, rows, columns = rest
        for m in range(rows):
            for n in range(columns):
                place = at + m * row + n
                c[place] = c[place] if add else 0
                for r in range(runs):
                    first = a_at + r * a_run + m * a_row, b_at + r * b_run + n
                    ends = first[0] + steps * a_step, first[1] + steps * b_step
                    c[place] += a[first[0] : ends[0] : a_step] @ b[first[1] : ends[1] : b_step]

    def fetching_tile(*arguments):
        *arguments, following, step, of_run = arguments
        panel(*arguments, ROWS, WIDTH)
        steps, runs = arguments[10:12]
        addresses.extend(
            following + r * of_run + s * step for r in range(runs) for s in range(steps)
        )

    change(products, panel=panel)
    change(products, tile=lambda *arguments: panel(*arguments, ROWS, WIDTH))
    change(products, fetching_tile=fetching_tile)
    return addresses


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("rows", "steps", "columns", "count", "lines", "length"),
    [
        (4 * ROWS, 16, 4 * WIDTH, 1, 16, 40),  # a row for each tile
        (4 * ROWS, 16, 4 * WIDTH, 1, 5, 100),  # pieces of rows
        (ROWS, 16, 2 * WIDTH, 1, 16, 32),  # runs: eight rows for a tile
        (4 * ROWS, 16, 4 * WIDTH, 3, 5, 70),  # several matrices
        (2 * ROWS + 3, 16, 3 * WIDTH + 5, 2, 3, 33),  # with remainders, which prefetch nothing
        (3, 7, 5, 1, 4, 4), (ROWS, 4, WIDTH, 1, 0, 0), (ROWS, 4, WIDTH, 0, 3, 9),  # nothing
    ],
)  # fmt: skip
def test_a_block_prefetches_the_next_matrices(
    asked, packed, rows, steps, columns, count, lines, length
):
    rng = np.random.default_rng(0)
    a, b = rng.random((rows, steps)), rng.random((steps, columns))
    groups = [a[m : m + ROWS] for m in range(0, rows, ROWS)]
    gap = np.zeros(products.APART)
    laid = np.concatenate([part for g in groups for part in (g.T.ravel(), gap)] if packed else a)
    panels = np.zeros((-(-columns // WIDTH), steps * WIDTH + 3))
    for n, own in enumerate(panels):
        here = b[:, n * WIDTH : (n + 1) * WIDTH]
        own[: steps * WIDTH].reshape(steps, WIDTH)[:, : here.shape[1]] = here
    c = np.ones(rows * columns)
    ahead, offset, line_step = [1 << 20, 3 << 20, 2 << 20], 4096, 208
    products._block.__wrapped__(
        c, 0, columns, laid, 0, 0 if packed else steps, 1, panels.ravel(), steps * WIDTH + 3, steps,
        1, rows, columns, ahead, count, offset, lines, length, line_step,
    )  # fmt: skip
    np.testing.assert_allclose(c.reshape(rows, columns), 1 + a @ b, rtol=1e-12)
    needed = {
        (first + offset + 4 * (line * line_step + at)) // LINE
        for first in ahead[:count]
        for line in range(lines)
        for at in range(length)
    }
    full = rows >= ROWS and columns >= WIDTH
    assert needed <= {address // LINE for address in asked} if full else not asked


@pytest.mark.parametrize("rows", [5, 20, 300])
def test_a_product_with_prefetching(rows):
    tier.set_tier("numba")
    rng = np.random.default_rng(rows)
    k, n = 1000, 4200
    assert k * n >= products.FETCHED
    a, b = rng.standard_normal((rows, k), np.float32), rng.standard_normal((k, n), np.float32)
    found = []
    try:
        for number in (1, 3):
            threads.set_count(number)
            found.append(matmul.dot(a, b))
    finally:
        threads.set_count()
        tier.set_tier()
    np.testing.assert_array_equal(*found)
    np.testing.assert_allclose(found[0], a.astype(np.float64) @ b, atol=2e-3)
