"""Sums as products with ones, against NumPy's sums, for any memory order."""

import numpy as np
import pytest

from framework.kernels import rows, sums, tier
from tests.looped import looped


@pytest.fixture(autouse=True)
def _tier():
    tier.set_tier("numpy")
    yield
    tier.set_tier(None)


SHAPES = [
    (5,),
    (1,),
    (3, 4),
    (1, 6),
    (6, 1),
    (2, 3, 4),
    (40, 5, 50),
    (2, 1, 3),
    (3000, 3),
    (3, 3000),
]
AXES = [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2), ()]
CASES = [(s, a) for s in SHAPES for a in AXES if not a or a[-1] < len(s)]


@looped("keepdims", [False, True])
@looped("dtype", ["float32", "float64", "float16", "int8", "complex64"])
@pytest.mark.parametrize(("shape", "axis"), CASES)
def test_added(shape, axis, dtype, keepdims):
    x = (np.random.default_rng(0).normal(size=shape) * 8).astype(dtype)
    turned = np.ascontiguousarray(x.T).T
    apart = np.repeat(x, 2, axis=-1)[..., ::2]
    backwards = np.ascontiguousarray(x[::-1])[::-1]
    expected = np.add.reduce(x, axis=axis, keepdims=keepdims, dtype=dtype)
    tolerance = 0 if dtype == "int8" else 8 * x.size * float(np.finfo(dtype).eps)
    for given in (x, turned, apart, backwards):
        found = sums.added(given, axis, keepdims)
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=tolerance)


def test_long_rows_lose_no_digits():
    x = np.full((1, 1 << 22), 0.1, np.float32)
    assert sums.as_product(x.shape, x.dtype, (1,)) is None
    assert abs(sums.added(x, (1,)) / (0.1 * x.size) - 1) < 1e-6
    x = x[:, : sums.MOST]
    assert sums.as_product(x.shape, x.dtype, (0, 1)) is not None
    assert abs(sums.added(x, (0, 1)) / (0.1 * x.size) - 1) < 1e-6


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0,)])
def test_empty_arrays(shape):
    x = np.zeros(shape, np.float32)
    for axis in range(x.ndim):
        np.testing.assert_array_equal(sums.added(x, (axis,)), x.sum(axis))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_nan_and_infinities_propagate():
    x = np.ones((40, 3), np.float32)
    x[5, 0], x[7, 1], x[8, 2], x[9, 2] = np.nan, np.inf, np.inf, -np.inf
    np.testing.assert_array_equal(sums.added(x, (0,)), [np.nan, np.inf, np.nan])
    np.testing.assert_array_equal(sums.added(x.T.copy(), (1,)), [np.nan, np.inf, np.nan])


@pytest.mark.parametrize("shape", [(64, 10), (5, 20, 7), (40, 32), (40, 33), (31, 4), (40, 1)])
@pytest.mark.parametrize("axis", [0, -1])
def test_maxima_of_short_rows(shape, axis):
    x = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    x.reshape(-1)[3] = np.nan
    for given in (x, np.ascontiguousarray(x.T).T):
        e, shifted = rows.exponentials(given, axis)
        np.testing.assert_array_equal(shifted, x - x.max(axis, keepdims=True))
        np.testing.assert_allclose(e, np.exp(shifted), rtol=1e-6)


def test_with_numba_rows_are_added_in_order(change):
    change(tier, without_numba=lambda: False)
    x = np.random.default_rng(2).normal(size=(50, 16)).astype(np.float32)
    expected = x[0]
    for row in x[1:]:
        expected = expected + row
    np.testing.assert_array_equal(sums.added(x, (0,)), expected)
