"""Attention: NumPy and Numba against each other and against the plain formula; memory; threads."""

import tracemalloc

import numpy as np
import pytest

from framework.kernels import attention, kernel_task, threads, tier

SIZES = {  # batch, rows, keys, heads, width, width of the values
    "one": (1, 1, 1, 1, 1, 1),
    "odd": (2, 7, 5, 3, 5, 9),
    "around a block": (1, 33, 65, 2, 31, 33),
    "more rows than keys": (2, 100, 37, 1, 8, 40),
    "several blocks": (1, 150, 290, 2, 16, 16),
}
MASKS = ("none", "causal", "mask", "mask causal", "bias", "bias causal", "shared")


def made(sizes, kind, seed=0):
    """Arguments of `forward`, and a cotangent of its output."""
    rng = np.random.default_rng(seed)
    batch, rows, keys, heads, width, wide = sizes
    q, k, v, g = (
        rng.standard_normal((batch, n, heads, w)).astype(np.float32)
        for n, w in ((rows, width), (keys, width), (keys, wide), (rows, wide))
    )
    bias = mask = None
    if "mask" in kind:
        mask = rng.random((batch, 1, rows, keys)) > 0.5
        mask[0, 0, 0] = False
    if "bias" in kind:
        bias = rng.standard_normal((1, heads, 1, keys)).astype(np.float32)
    if kind == "shared":
        mask = rng.random((1, heads, rows, 1)) > 0.3
        bias = rng.standard_normal((batch, 1, 1, 1)).astype(np.float32)
    return (q, k, v, bias, mask), {"scale": 0.4, "causal": "causal" in kind}, g


def both_ways(arguments, attributes, g):
    """Output and gradients."""
    out, saved = attention.forward(*arguments, **attributes)
    needed = (True, True, True, False)
    grads = attention.backward(g, *arguments, out, *saved, **attributes, needed=needed)
    return out, *grads


def formula(q, k, v, bias, mask, g, scale, causal):
    """Return the same in float64, computing all scores at once."""
    q, k, v, g = (np.float64(x) for x in (q, k, v, g))
    s = np.einsum("bthd,bshd->bhts", q, k) * scale
    s = s if bias is None else s + bias
    seen = np.broadcast_to(True if mask is None else mask, s.shape)
    seen = seen & np.tri(*s.shape[2:], dtype=bool) if causal else seen
    s = np.where(seen, s, attention.lowest(np.float32))
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    d_p = np.einsum("bthd,bshd->bhts", g, v)
    d = p * (d_p - (p * d_p).sum(-1, keepdims=True)) * seen
    return (
        np.einsum("bhts,bshd->bthd", p, v), np.einsum("bhts,bshd->bthd", d, k) * scale,
        np.einsum("bhts,bthd->bshd", d, q) * scale, np.einsum("bhts,bthd->bshd", p, g),
    )  # fmt: skip


def agree(found, expected, tolerance=3e-6):
    for f, e in zip(found, expected, strict=True):
        assert f.shape == e.shape
        np.testing.assert_allclose(f, e, rtol=0, atol=tolerance * max(1, np.abs(e).max()))


@pytest.fixture(params=["numpy", "numba"])
def form(request, change):
    if request.param == "numba":
        pytest.importorskip("numba")
        if tier.library("attention") is None:
            pytest.skip("the tier is without Numba")
    change(attention, _FAST=0 if request.param == "numba" else np.inf)
    return request.param


@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("sizes", SIZES)
def test_numpy_and_numba_agree_with_the_formula(sizes, kind, form):
    arguments, attributes, g = made(SIZES[sizes], kind)
    agree(both_ways(arguments, attributes, g), formula(*arguments, g, **attributes))


def test_the_block_size_does_not_change_results(change):
    change(attention, _FAST=np.inf)
    arguments, attributes, g = made(SIZES["odd"], "mask causal")
    whole = both_ways(arguments, attributes, g)
    for size in (1, 40, 70, 300):
        change(attention, _BLOCK=size)
        agree(both_ways(arguments, attributes, g), whole)


def test_a_row_without_any_allowed_key_is_the_mean(form):
    (q, k, v, _, mask), attributes, g = made(SIZES["odd"], "mask causal")
    out, d_q, _, d_v = both_ways((q, k, v, None, mask), attributes, g)
    np.testing.assert_allclose(out[0, 0], v[0].mean(0), rtol=1e-5)
    assert not d_q[0, 0].any()
    only = np.zeros_like(mask)
    *_, d_v = both_ways((q, k, v, None, only), attributes, g)
    mean = np.broadcast_to(g.sum(1, keepdims=True) / k.shape[1], d_v.shape)
    np.testing.assert_allclose(d_v, mean, rtol=1e-4, atol=1e-6)


def test_no_keys_give_zeros(form):
    (q, k, v, *_), attributes, g = made((2, 3, 0, 2, 4, 5), "none")
    out, d_q, d_k, d_v = both_ways((q, k, v, None, None), attributes, g)
    assert out.shape == (2, 3, 2, 5)
    assert not out.any()
    assert not d_q.any()
    assert d_k.shape == k.shape
    assert d_v.shape == v.shape


def test_nan_and_infinities_stay_in_their_rows(form):
    (q, k, v, *_), attributes, _ = made(SIZES["odd"], "none")
    clean, _ = attention.forward(q, k, v, None, None, **attributes)
    q[0, 2, 1, 0] = np.nan
    bias = np.zeros((1, 1, 7, 5), np.float32)
    bias[0, 0, 4] = -np.inf
    with np.errstate(invalid="ignore"):
        out, _ = attention.forward(q, k, v, bias, None, **attributes)
    broken = np.zeros(out.shape[:3], bool)
    broken[0, 2, 1] = broken[:, 4] = True
    np.testing.assert_array_equal(np.isnan(out).all(-1), broken)
    np.testing.assert_array_equal(np.isnan(out).any(-1), broken)
    np.testing.assert_allclose(out[~broken], clean[~broken], rtol=1e-5, atol=1e-6)


def test_large_scores_do_not_overflow(form):
    (q, k, v, *_), attributes, g = made(SIZES["odd"], "none")
    found = both_ways((q * 300, k, v, None, None), attributes, g)
    agree(found, formula(q * 300, k, v, None, None, g, **attributes), 2e-4)


@pytest.mark.parametrize("shift", [-1000, -60, -15, 15, 19, 21, 90, 1000])
def test_scores_of_any_size(form, shift):
    """The same added to all scores of a row changes nothing, if only one row has it or all."""
    (q, k, v, *_), attributes, g = made(SIZES["odd"], "none")
    expected = both_ways((q, k, v, None, None), attributes, g)
    for rows in (slice(3, 4), slice(None)):
        bias = np.zeros((1, 1, 7, 5), np.float32)
        bias[:, :, rows] = shift
        agree(both_ways((q, k, v, bias, None), attributes, g), expected, 1e-4)


def test_views_give_the_results_of_copies(form):
    (q, k, v, *_), attributes, g = made(SIZES["odd"], "none")
    expected = both_ways((q, k, v, None, None), attributes, g)
    views = [np.asfortranarray(x) for x in (q, k, v)]
    views[0].flags.writeable = False
    before = [x.copy() for x in views]
    agree(both_ways((*views, None, None), attributes, np.asfortranarray(g)), expected)
    for x, b in zip(views, before, strict=True):
        np.testing.assert_array_equal(x, b)


def test_threads_do_not_change_a_bit(form, change):
    change(kernel_task, _LEAST=1e-9)
    kernel_task._template.cache_clear()
    arguments, attributes, g = made((3, 20, 20, 3, 8, 8), "causal")
    found = []
    for n in (1, 3):
        threads.set_count(n)
        try:
            found.append(both_ways(arguments, attributes, g))
        finally:
            threads.set_count(None)
    for one, several in zip(*found, strict=True):
        np.testing.assert_array_equal(one, several)


def peak(length):
    """Return the peak memory in bytes of a forward and backward pass beyond its inputs."""
    arguments, attributes, g = made((1, length, length, 1, 4, 4), "none")
    tracemalloc.start()
    both_ways(arguments, attributes, g)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def test_memory_grows_with_the_length_and_not_with_its_square(form, change):
    change(attention, _BLOCK=2**14)
    peak(64)  # memory allocated once
    assert peak(2048) < 6 * peak(512) + 2**17
    assert peak(2048) < 2048**2 * 4 / 8  # of the scores alone
