"""The micro-kernel against NumPy: edges, strides, no access outside its arrays."""

import os
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("numba")

from framework.kernels.fast import micro
from framework.kernels.fast.jit import kernel

ROWS, WIDTH = micro.ROWS, micro.WIDTH
GUARD = 12345.0


@kernel
def one_tile(c, a, depth, b, columns, add):
    micro.tile(c, 0, WIDTH, a, 0, depth, 1, b, 0, columns, depth, 1, 0, 0, add)


def product(rows, columns, depth, runs, transposed, add, rng, b_row=None):
    """panel() of arrays with guards around them, and what NumPy says.

    Args:
        b_row: how far apart rows of B are; as far as they are long where None.
    """
    a = rng.standard_normal((runs, rows, depth), np.float32)
    b = rng.standard_normal((runs, depth, columns), np.float32)
    laid = np.ascontiguousarray(a.swapaxes(1, 2)) if transposed else a
    a_row, a_step = (1, rows) if transposed else (depth, 1)
    # what lies behind the last element of B may not be read: NaN would show
    b_row = b_row or columns
    memory = np.full(3 + runs * depth * b_row + 2 * WIDTH, np.nan, np.float32)
    rows_of_b = memory[3 : 3 + runs * depth * b_row].reshape(runs, depth, b_row)
    rows_of_b[:, :, :columns] = b
    row = columns + 5
    c = np.full(7 + rows * row + WIDTH, GUARD, np.float32)
    micro.panel(
        c, 7, row, laid.reshape(-1), 0, a_row, a_step, memory, 3, b_row, depth, runs,
        rows * depth, depth * b_row, int(add), rows, columns,
    )  # fmt: skip
    expected = c.copy()
    inner = expected[7 : 7 + rows * row].reshape(rows, row)[:, :columns]
    inner[...] = (a.astype(np.float64) @ b).sum(0) + (GUARD if add else 0)
    return c, expected


@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(("depth", "runs"), [(1, 1), (37, 1), (5, 3), (0, 2), (3, 0)])
def test_panel_of_every_size(depth, runs, transposed, add):
    rng = np.random.default_rng(0)
    for rows in [*range(2 * ROWS + 1), 2 * ROWS + 7]:
        for columns in [1, 2, 3, WIDTH // 2 - 1, WIDTH // 2, WIDTH // 2 + 1, WIDTH - 1, WIDTH]:
            c, expected = product(rows, columns, depth, runs, transposed, add, rng)
            np.testing.assert_allclose(c, expected, rtol=2e-6, atol=2e-5 + (2e-3 if add else 0))


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(("depth", "runs"), [(1, 1), (4, 1), (38, 1), (7, 3), (8, 2), (0, 2)])
def test_rows_of_b_in_a_panel(depth, runs, transposed):
    """Steps are unrolled, and the rest runs one by one."""
    rng = np.random.default_rng(5)
    for rows in range(1, 2 * ROWS + 1):
        for columns in [1, WIDTH // 2, WIDTH - 1, WIDTH]:
            c, expected = product(rows, columns, depth, runs, transposed, False, rng, WIDTH)
            np.testing.assert_allclose(c, expected, rtol=2e-6, atol=2e-5)


def test_tile():
    rng = np.random.default_rng(1)
    a, b = rng.random((ROWS, 50), np.float32), rng.random((50, WIDTH + 3), np.float32)
    c = np.full((ROWS, WIDTH), np.nan, np.float32)
    one_tile(c.reshape(-1), a.reshape(-1), 50, b.reshape(-1), WIDTH + 3, 0)
    np.testing.assert_allclose(c, a @ b[:, :WIDTH], rtol=1e-6)
    one_tile(c.reshape(-1), a.reshape(-1), 50, b.reshape(-1), WIDTH + 3, 1)
    np.testing.assert_allclose(c, 2 * (a @ b[:, :WIDTH]), rtol=1e-6)


def test_nan_and_inf_propagate():
    a, b = np.ones(ROWS * 2, np.float32), np.ones(2 * WIDTH, np.float32)
    a[2], a[4], b[5] = np.nan, np.inf, -np.inf
    c = np.empty((ROWS, WIDTH), np.float32)
    one_tile(c.reshape(-1), a, 2, b, WIDTH, 0)
    with np.errstate(invalid="ignore"):
        expected = (a.reshape(ROWS, 2, 1) * b.reshape(1, 2, WIDTH)).sum(1)
    np.testing.assert_array_equal(c, expected)


@pytest.mark.parametrize("columns", [1, WIDTH - 1, WIDTH, WIDTH + 1, 3 * WIDTH])
@pytest.mark.parametrize("transposed", [False, True])
def test_pack(columns, transposed):
    steps, panels = 4, -(-columns // WIDTH)
    b = np.random.default_rng(2).random((steps, columns), np.float32)
    laid = np.ascontiguousarray(b.T) if transposed else b
    strides = (1, steps) if transposed else (columns, 1)
    packed = np.full((panels, steps, WIDTH), np.nan, np.float32)
    micro.pack(laid.reshape(-1), 0, *strides, steps, columns, packed)
    padded = np.pad(b, [(0, 0), (0, panels * WIDTH - columns)])
    expected = padded.reshape(steps, panels, WIDTH).swapaxes(0, 1)
    np.testing.assert_array_equal(packed, expected)


@pytest.mark.parametrize("rows", [0, 1, 15, 16, 37])
@pytest.mark.parametrize("columns", [1, 16, 53])
def test_turn(rows, columns):
    x = np.random.default_rng(3).random((rows, columns + 2), np.float32)
    turned = np.full((columns, rows + 3), GUARD, np.float32)
    sizes = turned.reshape(-1), 1, rows + 3, x.reshape(-1), 2, columns + 2, rows, columns
    micro.turn(*sizes)
    expected = np.pad(x[:, 2:].T, [(0, 0), (1, 2)], constant_values=GUARD)
    np.testing.assert_array_equal(turned, expected)


OTHER_CPUS = {"haswell": ("AVX2", 6, 16), "nehalem": ("SSE", 6, 8)}


@pytest.mark.skipif(os.environ.get("NUMBA_CPU_NAME", "") != "", reason="this is the other CPU")
@pytest.mark.parametrize("name", OTHER_CPUS)
def test_the_block_size_follows_the_cpu(name):
    from framework.kernels.fast import target

    if target.NAME not in ("AVX-512", "AVX2"):
        pytest.skip("this CPU cannot run code for that one")
    program = (
        "from framework.kernels.fast import micro, target;"
        "print(target.NAME, micro.ROWS, micro.WIDTH)"
    )
    environment = {**os.environ, "NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": ""}
    result = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    kind, rows, width = OTHER_CPUS[name]
    assert result.stdout.split() == [kind, str(rows), str(width)]
