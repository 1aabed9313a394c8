"""Convolution without Numba: Winograd's algorithm and im2col in blocks, on one and two threads."""

import itertools

import numpy as np
import pytest

from framework.kernels import conv as kernels
from framework.kernels import im2col, share, threads, tier, winograd

rng = np.random.default_rng(5)
ONCE = {"strides": (1, 1), "dilations": (1, 1)}


@pytest.fixture(autouse=True)
def _numpy():
    algorithm = kernels.set_conv_algorithm("auto")
    tier.set_tier("numpy")
    yield
    kernels.set_conv_algorithm(algorithm)
    tier.set_tier(None)


@pytest.fixture(params=[1, 2, 3])
def small_blocks(request, change):
    """Use blocks of two or three images, and one part per thread for any amount of work."""
    change(threads, _count=request.param)
    change(share, _LEAST=0)
    change(im2col, _BLOCK=1 << 12)
    change(winograd, _PLANE=1 << 8)
    change(winograd, _ROWS=1)
    change(winograd, _TOTAL=1 << 4)


def real(*shape):
    return rng.standard_normal(shape, np.float32)


def double(a):
    return None if a is None else a.astype("f8")


def close(found, expected, tolerance=1e-5):
    assert found.shape == expected.shape
    assert found.dtype == np.float32
    assert found.flags.writeable
    error = np.abs(found - expected).max(initial=0) / max(np.abs(expected).max(initial=0), 1e-30)
    assert error < tolerance


def naive(x, w, padding, strides, dilations, groups=1):
    """Return y in float64, pixel by pixel of the window."""
    wide = np.pad(double(x), ((0, 0), *padding, (0, 0)))
    inner, filters = w.shape[-2:]
    each = filters // groups
    reach = [(k - 1) * d + 1 for k, d in zip(w.shape, dilations, strict=False)]
    places = [(n - r) // s + 1 for n, r, s in zip(wide.shape[1:-1], reach, strides, strict=True)]
    y = np.zeros((len(x), *places, filters))
    for cell in itertools.product(*map(range, w.shape[:-2])):
        index = tuple(
            slice(o * d, o * d + (n - 1) * s + 1, s)
            for o, d, n, s in zip(cell, dilations, places, strides, strict=True)
        )
        shown = wide[(slice(None), *index)]
        for i in range(groups):
            part = shown[..., i * inner : (i + 1) * inner]
            y[..., i * each : (i + 1) * each] += part @ double(
                w[cell][:, i * each : (i + 1) * each]
            )
    return y


def by_single_numbers(x, w, b, d, window, groups, padding):
    """Return the gradients of sum(d * conv): d times the convolution of each unit input."""

    def total(x, w):
        moves = (window["strides"], window["dilations"])
        return np.sum(d * naive(x, w, padding, *moves, groups))

    ones = []
    for given, others in ((x, lambda e: (e, w)), (w, lambda e: (x, e))):
        found = np.zeros(given.shape)
        for place in np.ndindex(given.shape):
            unit = np.zeros(given.shape)
            unit[place] = 1
            found[place] = total(*others(unit))
        ones.append(found)
    return *ones, d.sum(tuple(range(d.ndim - 1))) if b is not None else None


SHAPES = [  # batch, height, width, channels, filters
    (7, 6, 6, 3, 5), (5, 7, 9, 4, 3), (6, 5, 4, 17, 16), (1, 12, 11, 2, 7), (3, 3, 3, 16, 1),
]  # fmt: skip
PADDINGS = ["SAME", ((1, 2), (0, 2)), ((2, 0), (1, 1)), ((2, 2), (2, 2)), ((0, 0), (0, 0))]


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("algorithm", ["winograd2", "winograd4", "im2col"])
def test_windows_of_three_by_three(algorithm, shape, relu, small_blocks):
    kernels.set_conv_algorithm(algorithm)
    *shape, filters = shape
    x, w, b = real(*shape), real(3, 3, shape[-1], filters), real(filters)
    for padding in PADDINGS:
        window = {**ONCE, "padding": padding, "groups": 1}
        amounts = ((1, 1), (1, 1)) if padding == "SAME" else padding
        expected = naive(x, w, amounts, (1, 1), (1, 1))
        close(kernels.conv(x, w, **window), expected)
        y = kernels.conv_bias(x, w, b, **window, relu=relu)
        close(y, np.maximum(expected + b, 0) if relu else expected + b)
        g = real(*y.shape) + 1  # sums that do not cancel
        d = double(g * (y > 0) if relu else g)
        by_x = im2col.conv_input(d, double(w), sizes=x.shape[1:3], **window)
        by_w, by_b = im2col.conv_kernel(double(x), d, size=(3, 3), **window, sums=True)
        for needed in itertools.product([False, True], repeat=3):
            found = kernels.conv_bias_back(g, x, w, y, **window, relu=relu, needed=needed)
            wanted = [e for e, n in zip((by_x, by_w, by_b), needed, strict=True) if n]
            for one, expected in zip(found, wanted, strict=True):
                close(one, expected)


WINDOWS = {  # x, w, groups, strides, dilations, padding
    "few channels": ((4, 6, 5, 1), (3, 2, 1, 3), 1, (1, 1), (1, 1), ((1, 1), (0, 1))),
    "strides": ((3, 7, 6, 5), (3, 3, 5, 2), 1, (2, 3), (1, 1), ((1, 0), (2, 1))),
    "dilated": ((3, 6, 6, 2), (2, 3, 2, 2), 1, (1, 1), (2, 2), ((2, 1), (0, 0))),
    "groups": ((3, 5, 4, 6), (2, 2, 3, 4), 2, (1, 1), (1, 1), ((0, 1), (1, 0))),
    "each channel alone": ((3, 5, 4, 3), (2, 3, 1, 6), 3, (2, 1), (1, 1), ((1, 1), (1, 1))),
    "steps": ((4, 9, 6), (3, 6, 2), 1, (2,), (1,), ((2, 0),)),
    "volumes": ((2, 3, 4, 3, 2), (2, 2, 1, 2, 2), 1, (1, 2, 1), (1, 1, 1), ((1, 0),) * 3),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_other_windows(name, small_blocks):
    x, w, groups, strides, dilations, padding = WINDOWS[name]
    x, w, b = real(*x), real(*w), real(w[-1])
    window = {"strides": strides, "dilations": dilations, "padding": padding, "groups": groups}
    expected = naive(x, w, padding, strides, dilations, groups)
    close(kernels.conv(x, w, **window), expected)
    y = kernels.conv_bias(x, w, b, **window, relu=True)
    close(y, np.maximum(expected + b, 0))
    g = real(*y.shape)
    expected = by_single_numbers(x, w, b, double(g * (y > 0)), window, groups, padding)
    found = kernels.conv_bias_back(g, x, w, y, **window, relu=True, needed=(True, True, True))
    for one, other in zip(found, expected, strict=True):
        close(one, other)


def test_large_arrays_choose_winograd(change):
    called = []
    conv = winograd.conv
    change(winograd, conv=lambda *a: called.append(a[0].shape) or conv(*a))
    window = {**ONCE, "padding": "SAME", "groups": 1}
    shapes = [(1, 3, 3, 16, 16), (8, 16, 16, 3, 32), (8, 16, 16, 32, 32)]
    for *shape, filters in shapes:
        kernels.conv(real(*shape), real(3, 3, shape[-1], filters), **window)
    x, w = real(8, 16, 16, 32), real(5, 5, 32, 32)
    kernels.conv(x, w, **window)
    kernels.conv(double(x), double(w[:3, :3]), **window)
    assert called == [(8, 16, 16, 32)]


@pytest.mark.parametrize("algorithm", ["winograd2", "winograd4", "im2col"])
def test_empty_batch(algorithm, small_blocks):
    kernels.set_conv_algorithm(algorithm)
    for groups in (1, 2, 16):
        window = {**ONCE, "padding": "SAME", "groups": groups}
        x, w = real(0, 8, 8, 16), real(3, 3, 16 // groups, 16)
        y = kernels.conv_bias(x, w, real(16), **window, relu=True)
        assert y.shape == (0, 8, 8, 16)
        found = kernels.conv_bias_back(y, x, w, y, **window, relu=True, needed=(True,) * 3)
        assert [d.shape for d in found] == [x.shape, w.shape, (16,)]
        assert not any(d.any() for d in found)


@pytest.mark.parametrize("algorithm", ["winograd4", "im2col"])
def test_any_number_of_threads_gives_the_same_bits(algorithm, change):
    kernels.set_conv_algorithm(algorithm)
    x, w, b = real(16, 12, 12, 24), real(3, 3, 24, 40), real(40)
    window, found = {**ONCE, "padding": "SAME", "groups": 1, "relu": True}, []
    for count in (1, 2, 3):
        change(threads, _count=count)
        y = kernels.conv_bias(x, w, b, **window)
        found.append((y, *kernels.conv_bias_back(y, x, w, y, **window, needed=(True,) * 3)))
    for others in zip(*found, strict=True):
        for other in others[1:]:
            np.testing.assert_array_equal(other, others[0])


@pytest.mark.parametrize("algorithm", ["winograd4", "im2col"])
def test_half_precision_is_summed_in_single(algorithm, small_blocks):
    kernels.set_conv_algorithm(algorithm)
    x, w = (real(3, 6, 6, 40).astype("f2") for _ in range(2))
    w, window = w[:, :3, :3].transpose(1, 2, 3, 0).copy(), {**ONCE, "padding": "SAME", "groups": 1}
    y = kernels.conv(x, w, **window)
    assert y.dtype == np.float16
    expected = naive(x, w, ((1, 1), (1, 1)), (1, 1), (1, 1))
    rounding = 2.0**-11  # of a float16, relative
    np.testing.assert_allclose(y, expected, rtol=rounding, atol=5e-3)


def test_gates_stop_infinities(small_blocks):
    kernels.set_conv_algorithm("winograd4")
    window = {**ONCE, "padding": "SAME", "groups": 1}
    x, w = real(2, 8, 8, 3), real(3, 3, 3, 5)
    y = kernels.conv_bias(x, w, real(5), **window, relu=True)
    g = np.where(y > 0, real(*y.shape), np.float32(np.inf))
    needed = (True, True, True)
    found = kernels.conv_bias_back(g, x, w, y, **window, relu=True, needed=needed)
    assert all(np.isfinite(d).all() for d in found)
