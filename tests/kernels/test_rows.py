"""Row kernels in Numba against NumPy: odd sizes, NaN and infinity, two threads."""

import numpy as np
import pytest

from framework.kernels import gelu as gelus
from framework.kernels import kernel_task, rows, threads, tier

pytest.importorskip("numba")
_rng = np.random.default_rng(5)
SHAPES = [(700, 3), (129, 17), (33, 64), (3, 1111), (3000, 1), (7, 11, 30)]


@pytest.fixture(params=[1, 2])
def forms(request, change):
    """Return a function that gives a call's results in NumPy (float64) and in Numba."""
    change(rows, _FAST=1)
    change(gelus, _FAST=1)
    change(kernel_task, _LEAST=1e-9)
    kernel_task._template.cache_clear()
    change(threads, count=lambda: request.param)

    def both(function, *arrays, **attrs):
        tier.set_tier("numpy")
        plain = function(*(np.asarray(a, "float64") for a in arrays), **attrs)
        tier.set_tier("numba")
        asked = []
        library = tier.library
        change(tier, library=lambda name: asked.append(name) or library(name))
        fast = function(*arrays, **attrs)
        change(tier, library=library)
        assert "rows" in asked
        return _flat(plain), _flat(fast)

    yield both
    kernel_task._template.cache_clear()
    tier.set_tier(None)


def _flat(value):
    return [a for v in value for a in _flat(v)] if isinstance(value, tuple) else [value]


def normal(*shape):
    return _rng.normal(size=shape).astype("float32")


def agree(found, tol=2e-6):
    for plain, fast in zip(*found, strict=True):
        assert fast.dtype == np.float32
        assert fast.shape == plain.shape
        size = max(1, np.max(np.abs(plain[np.isfinite(plain)]), initial=0))
        np.testing.assert_allclose(fast, plain, rtol=tol, atol=tol * size)


@pytest.mark.parametrize("shape", SHAPES)
def test_layer_norm(forms, shape):
    x, g, gamma, beta = normal(*shape) + 3, normal(*shape), normal(shape[-1]), normal(shape[-1])
    agree(forms(rows.layer_norm, x, gamma, beta, epsilon=1e-2))
    _, (mean, rstd) = rows.layer_norm(x, gamma, beta, epsilon=1e-2)
    agree(forms(rows.layer_norm_back, g, x, gamma, mean, rstd, needed=(True,) * 3), 1e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_rms_norm(forms, shape):
    x, g, scale = normal(*shape), normal(*shape), normal(shape[-1])
    agree(forms(rows.rms_norm, x, scale, epsilon=1e-2))
    _, (rstd,) = rows.rms_norm(x, scale, epsilon=1e-2)
    agree(forms(rows.rms_norm_back, g, x, scale, rstd, needed=(True,) * 2), 1e-5)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax(forms, shape, name):
    x, g, axis = normal(*shape) * 5, normal(*shape), len(shape) - 1
    found = forms(getattr(rows, name), x, axis=axis)
    agree(found)
    y = found[0][0].astype("float32")
    agree(forms(getattr(rows, f"{name}_back"), g, y, axis=axis))


@pytest.mark.parametrize("shift", [0, 1e3, 1e6, -1e6])
def test_log_softmax_of_large_numbers_is_exact(forms, shift):
    x = (shift + _rng.integers(-8, 9, (64, 64))).astype("float32")
    x[:9, 0] += 10  # these are nearly sure, and small
    plain, fast = forms(rows.log_softmax, x, axis=1)
    np.testing.assert_allclose(fast[0], plain[0], rtol=1e-5, atol=2e-7)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_of_nan_and_infinities(forms, name):
    x = normal(9, 20)
    x[0, 3], x[1, 5], x[2, 7], x[3, 2] = np.nan, np.inf, -np.inf, -np.nan
    x[4], x[5], x[6] = -np.inf, np.inf, 1000
    plain, fast = forms(getattr(rows, name), x, axis=1)
    np.testing.assert_array_equal(np.isnan(plain[0]), np.isnan(fast[0]))
    np.testing.assert_allclose(fast[0], plain[0], rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("approximate", [False, True])
@pytest.mark.parametrize("n", [1, 15, 1023])
def test_gelu(forms, approximate, n):
    x, g = normal(n) * 4, normal(n)
    if n > 15:
        x[:3] = np.nan, np.inf, 0
    agree(forms(gelus.gelu, x, approximate=approximate))
    x[:3] = 0
    agree(forms(gelus.gelu_back, g, x, approximate=approximate))


def test_inputs_of_any_memory_order(forms):
    x, gamma = normal(2, 300, 40)[:, ::2, ::-1].transpose(1, 0, 2), normal(80)[::2]
    agree(forms(rows.layer_norm, x, gamma, gamma, epsilon=1e-2))
    agree(forms(rows.softmax, x, axis=2))
    agree(forms(gelus.gelu, x, approximate=True))


def test_results_are_new_arrays_and_inputs_are_not_changed(forms):
    x = normal(50, 60)
    before = x.copy()
    first, second = rows.softmax(x, axis=1), rows.softmax(x, axis=1)
    assert not np.shares_memory(first, second)
    np.testing.assert_array_equal(x, before)


def test_long_rows_use_numpy(change):
    change(tier, library=None)  # not called
    x = normal(2, rows._LONGEST + 1)
    np.testing.assert_allclose(rows.softmax(x, axis=1).sum(1), 1, rtol=1e-6)


@pytest.mark.parametrize("form", ["numpy", "numba"])
def test_gelu_keeps_its_digits_in_the_tail(form, change):
    special = pytest.importorskip("scipy.special")
    change(gelus, _FAST=1)
    tier.set_tier(form)
    x = np.linspace(-9, 9, 20_001).astype("float32")
    wide = x.astype("float64")
    exact = wide * special.ndtr(wide)
    np.testing.assert_allclose(gelus.gelu(x, approximate=False), exact, rtol=4e-6, atol=1e-38)
    slope = special.ndtr(wide) + wide * np.exp(-wide * wide / 2) / np.sqrt(2 * np.pi)
    found = gelus.gelu_back(np.ones_like(x), x, approximate=False)
    np.testing.assert_allclose(found, slope, rtol=1e-6, atol=3e-7)
    ends = gelus.gelu(np.array([np.inf, 100, -100, np.nan], "float32"), approximate=False)
    np.testing.assert_array_equal(ends, [np.inf, 100, 0, np.nan])
    v = np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3)
    exact = wide / (1 + np.exp(-2 * v))
    np.testing.assert_allclose(gelus.gelu(x, approximate=True), exact, rtol=3e-5, atol=1e-38)
    slope = 1 / (1 + np.exp(-2 * v)) + exact / (1 + np.exp(2 * v)) * 2 * np.sqrt(2 / np.pi) * (
        1 + 3 * 0.044715 * wide**2
    )
    found = gelus.gelu_back(np.ones_like(x), x, approximate=True)
    np.testing.assert_allclose(found, slope, rtol=1e-5, atol=1e-6)
    tier.set_tier(None)


def test_empty_rows():
    x, nothing = np.ones((5, 0), np.float32), np.ones(0, np.float32)
    y, saved = rows.layer_norm(x, nothing, nothing, epsilon=1e-3)
    d, *others = rows.layer_norm_back(x, x, nothing, *saved, needed=(True,) * 3)
    assert y.shape == d.shape == (5, 0)
    assert [v.shape for v in others] == [(0,), (0,)]


@pytest.mark.parametrize("size", [200_000, 7])
def test_slopes_by_rows_of_any_length(size):
    x = normal(3, size)
    y, slope = np.empty_like(x), np.empty_like(x)
    tier.set_tier("numpy")
    try:
        work = gelus.with_slope_by_rows(x, y, slope, approximate=False)
        for at in work.slices:
            work(at)
        expected, (expected_slope,) = gelus.with_slope(x, approximate=False)
    finally:
        tier.set_tier(None)
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_array_equal(slope, expected_slope)


@pytest.mark.parametrize("sizes", [range(1, 300), [1000, 1024, 4099, 1 << 14]])
def test_the_sum_of_all_elements_has_numpys_bits(sizes):
    for size in sizes:
        x, y = 100 * normal(size), np.empty((), "float32")
        rows.total_task(size, 1)(x, y)
        assert y == np.add.reduce(x)
        rows.total_task(size, size)(x, y)
        assert y == np.mean(x, dtype="float32")
