"""Batch normalisation: accuracy of its sums, and Numba against NumPy."""

import math

import numpy as np
import pytest

from framework.kernels import norm, threads, tier

_rng = np.random.default_rng(6)
SHAPES = [(1000, 3), (131, 17), (7, 5, 3, 64), (5, 1000), (4099, 1), (2, 3)]


@pytest.fixture(params=[1, 2, 3])
def numba(request, change):
    pytest.importorskip("numba")
    change(norm, _FAST=1)
    change(norm, _SHARED=1)
    change(norm, _PART=500)
    change(threads, count=lambda: request.param)
    tier.set_tier("numba")
    yield
    tier.set_tier(None)


def arrays(shape):
    n = shape[-1]
    x = (_rng.normal(size=shape) * 2 + _rng.normal(size=n) * 5).astype("float32")
    vectors = [_rng.normal(size=n).astype("float32") for _ in range(4)]
    return x, _rng.normal(size=shape).astype("float32"), *vectors


def reference(x, g, gamma, beta, g_mean, g_variance, epsilon):
    """Return all results in float64 by NumPy, which the tests of the op table check."""
    x, g, gamma, beta, g_mean, g_variance = (
        np.asarray(a, "float64") for a in (x, g, gamma, beta, g_mean, g_variance)
    )
    axis = x.ndim - 1
    outputs, saved = norm.batch_norm(x, gamma, beta, axis=axis, epsilon=epsilon)
    found = norm.batch_norm_back(
        g, g_mean, g_variance, x, gamma, *saved, axis=axis, needed=(True,) * 3
    )
    return outputs, saved, found


@pytest.mark.parametrize("shape", SHAPES)
def test_numpy_and_numba_agree(numba, shape):
    x, g, gamma, beta, g_mean, g_variance = arrays(shape)
    expected, saved, cotangents = reference(x, g, gamma, beta, g_mean, g_variance, 1e-2)
    outputs, own = norm.batch_norm(x, gamma, beta, axis=len(shape) - 1, epsilon=1e-2)
    for found, right in zip((*outputs, *own), (*expected, *saved), strict=True):
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, right, rtol=3e-6, atol=3e-6)
    found = norm.batch_norm_back(
        g, g_mean, g_variance, x, gamma, *own, axis=len(shape) - 1, needed=(True,) * 3
    )
    for d, right in zip(found, cotangents, strict=True):
        np.testing.assert_allclose(d, right, rtol=1e-5, atol=1e-5 * max(1, np.abs(right).max()))


def cut_and_back(shape, relu):
    """y cut at 0 (and 6), its cotangents, and the same of two steps: cut, and what passed."""
    x, g, gamma, beta, *means = arrays(shape)
    x, gamma, most = np.round(x), gamma * np.float32(relu), np.inf if relu is True else 6.0
    axis = len(shape) - 1
    (plain, *_), saved = norm.batch_norm(x, gamma, beta, axis=axis, epsilon=1e-2)
    (y, *_), own = norm.batch_norm(x, gamma, beta, axis=axis, epsilon=1e-2, relu=relu)
    np.testing.assert_array_equal(y, np.clip(plain, 0, most))
    options = {"axis": axis, "needed": (True,) * 3}
    found = norm.batch_norm_back(g, *means, x, gamma, *own, beta, **options, most=most)
    passed = g * ((y > 0) & (y < most))
    return found, norm.batch_norm_back(passed, *means, x, gamma, *saved, **options)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_backward_pass_recomputes_the_relu_mask(numba, shape):
    for d, right in zip(*cut_and_back(shape, True), strict=True):
        np.testing.assert_allclose(d, right, rtol=1e-6, atol=1e-6 * max(1, np.abs(right).max()))


@pytest.mark.parametrize("shape", SHAPES)
def test_numpy_recomputes_the_relu_mask_to_the_last_bit(shape):
    tier.set_tier("numpy")
    for d, right in zip(*cut_and_back(shape, True), strict=True):
        np.testing.assert_array_equal(d, right)
    tier.set_tier(None)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_out_receives_the_results(numba, axis, dtype):
    x, g = (_rng.normal(size=(12, 6, 4)).astype(dtype) for _ in range(2))
    gamma, beta, *means = (_rng.normal(size=x.shape[axis]).astype(dtype) for _ in range(4))
    out, options = np.empty_like(x), {"axis": axis, "epsilon": 1e-2}
    (y, *_), saved = norm.batch_norm(x, gamma, beta, **options)
    (found, *_), _ = norm.batch_norm(x, gamma, beta, **options, out=out)
    assert found is out
    np.testing.assert_array_equal(found, y)
    options = {"axis": axis, "needed": (True,) * 3}
    for cut in (None, beta):
        args = *means, x, gamma, *saved, cut
        expected = norm.batch_norm_back(g, *args, **options)
        for place in (out, g.copy()):
            given = g if place is out else place
            got = norm.batch_norm_back(given, *args, **options, out=place)
            assert got[0] is place
            for a, b in zip(got, expected, strict=True):
                np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("cut", [False, True])
def test_any_number_of_threads_gives_the_same_bits(change, cut):
    pytest.importorskip("numba")
    change(norm, _SHARED=1 << 12)
    change(norm, _PART=1 << 11)
    tier.set_tier("numba")
    x, g, gamma, beta, *means = arrays((301, 65))
    found = []
    for count in (1, 2, 3):
        change(threads, count=lambda count=count: count)
        outputs, saved = norm.batch_norm(x, gamma, beta, axis=1, epsilon=1e-2, relu=cut)
        back = norm.batch_norm_back(
            g, *means, x, gamma, *saved, beta if cut else None, axis=1, needed=(True,) * 3
        )
        found.append([*outputs, *saved, *back])
    tier.set_tier(None)
    for others in found[1:]:
        for a, b in zip(found[0], others, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("shift", [0, 100, 3000])
@pytest.mark.parametrize("drift", [0, 1])
def test_statistics_are_exact_to_a_millionth(numba, shift, drift):
    rows = np.arange(60_000)[:, None] / 60_000 * drift * 50
    x = (_rng.normal(size=(60_000, 4)) + shift + rows).astype("float32")
    mean, variance = norm.moments(x[:, :, None])
    exact = x.astype("float64")
    np.testing.assert_allclose(mean, exact.mean(0), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(variance, exact.var(0), rtol=1e-6)


def test_an_outlier_in_the_first_row_loses_no_digits(numba):
    x = _rng.normal(size=(20_000, 2)).astype("float32")
    x[0] = 1e4
    _, variance = norm.moments(x[:, :, None])
    np.testing.assert_allclose(variance, x.astype("float64").var(0), rtol=1e-6)


def test_nan_and_infinities_stay_in_their_channel(numba):
    x = _rng.normal(size=(500, 3)).astype("float32")
    x[7, 0], x[9, 1] = np.nan, np.inf
    ones, zeros = np.ones(3, "float32"), np.zeros(3, "float32")
    (y, mean, _), _ = norm.batch_norm(x, ones, zeros, axis=1, epsilon=1e-3)
    assert np.isnan(y[:, :2]).all()
    assert np.isfinite(y[:, 2]).all()
    assert np.isnan(mean[0])


def test_inputs_are_not_changed(numba):
    given = arrays((300, 5))
    before = [a.copy() for a in given]
    x, g, gamma, beta, g_mean, g_variance = given
    outputs, saved = norm.batch_norm(x, gamma, beta, axis=1, epsilon=1e-2)
    norm.batch_norm_back(g, g_mean, g_variance, x, gamma, *saved, axis=1, needed=(True,) * 3)
    assert not any(np.shares_memory(a, b) for a in outputs for b in saved)
    for a, b in zip(given, before, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("shift", [0, 100])
def test_numpys_statistics_are_exact_to_a_millionth(shift):
    x = (_rng.normal(size=(60_000, 4)) + shift).astype("float32")
    tier.set_tier("numpy")
    mean, variance = norm.moments(x[:, :, None])
    tier.set_tier(None)
    np.testing.assert_allclose(mean, x.astype("float64").mean(0), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(variance, x.astype("float64").var(0), rtol=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
def test_relu6(numba, shape):
    for d, right in zip(*cut_and_back(shape, 6), strict=True):
        scale = max(1, np.abs(right).max(), math.prod(shape) ** 0.5)  # of a sum's rounding
        np.testing.assert_allclose(d, right, rtol=1e-6, atol=1e-6 * scale)
    tier.set_tier("numpy")
    for d, right in zip(*cut_and_back(shape, 6), strict=True):
        np.testing.assert_array_equal(d, right)
