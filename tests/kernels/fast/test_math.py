"""The functions of one float32 against float64, over the whole range of float32."""

import math

import numpy as np
import pytest

pytest.importorskip("numba")

from framework.kernels.fast import math as fast
from framework.kernels.fast.jit import kernel


@kernel
def every(x, y):
    for i in range(x.size):
        v = x[i]
        y[0, i] = fast.exp(v)
        y[1, i] = fast.expm1(v)
        y[2, i] = fast.log(v)
        y[3, i] = fast.tanh(v)
        y[4, i] = fast.sigmoid(v)
        y[5, i] = fast.erf(v)
        y[6, i] = fast.gelu_tanh(v)
        y[7, i] = fast.gelu_tanh_slope(v)


ROWS = ["exp", "expm1", "log", "tanh", "sigmoid", "erf"]


def sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, e) / (1 + e)


REFERENCES = {
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "tanh": np.tanh,
    "sigmoid": sigmoid,
    "erf": np.vectorize(math.erf, otypes=[float]),
}


@pytest.fixture(scope="module")
def samples():
    """Return arguments, and the results of every function."""
    bits = np.random.default_rng(0).integers(0, 2**32, 40_000, np.uint32)
    with np.errstate(all="ignore"):
        grid = np.concatenate([
            bits.view(np.float32),  # denormals, NaN, everything
            np.linspace(-110, 95, 30_001), np.linspace(-9, 9, 30_001), np.linspace(-1, 1, 30_001),
            1 + np.linspace(-1e-3, 1e-3, 2_001),
            [0, -0.0, np.inf, -np.inf, np.nan, 2**-149, 88.72283],
        ]).astype(np.float32)  # fmt: skip
    results = np.empty((8, grid.size), np.float32)
    every(grid, results)
    return grid, results


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_within_three_units_in_the_last_place(samples, name):
    x, y = samples[0], samples[1][ROWS.index(name)]
    exact = REFERENCES[name](x.astype(np.float64))
    rounded = exact.astype(np.float32)
    finite = np.isfinite(rounded)
    np.testing.assert_array_equal(y[~finite], rounded[~finite])
    units = np.abs(y[finite] - exact[finite]) / np.spacing(np.abs(rounded[finite]))
    worst = units.argmax()
    assert units[worst] <= 3, f"{units[worst]:.2g} ulp at {x[finite][worst]}"


@pytest.mark.parametrize("name", ["expm1", "tanh", "erf"])
def test_small_numbers_keep_their_sign(samples, name):
    x, y = samples[0], samples[1][ROWS.index(name)]
    small = np.abs(x) < 1e-3
    np.testing.assert_array_equal(np.signbit(y[small]), np.signbit(x[small]))


def by_tanh(x):
    c = np.sqrt(2 / np.pi)
    t = np.tanh(c * (x + 0.044715 * x**3))
    return x * (1 + t) / 2, (1 + t) / 2 + x * (1 - t**2) / 2 * c * (1 + 3 * 0.044715 * x**2)


def test_tanh_gelu_and_its_slope(samples):
    inside = np.abs(samples[0]) < 50
    x, y = samples[0][inside].astype(np.float64), samples[1][6:, inside]
    expected = by_tanh(x)
    for result, exact in zip(y, expected):
        np.testing.assert_allclose(result, exact, rtol=5e-7, atol=2e-6)
