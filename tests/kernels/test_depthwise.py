"""Depthwise convolution in Numba against im2col in NumPy, for many sizes."""

import itertools

import numpy as np
import pytest

from framework.kernels import conv as kernels
from framework.kernels import depthwise, im2col, threads, tier, windows

pytest.importorskip("numba")

rng = np.random.default_rng(4)


@pytest.fixture(autouse=True, params=[1, 2])
def _by_numba(request, change):
    """Use Numba for all sizes, on one and two threads, with small bands and blocks on two."""
    tier.set_tier("numba")
    change(depthwise, _SMALL=0)
    change(threads, _count=request.param)
    if request.param == 2:
        change(tier.library("depthwise"), _ALONE=0, _BAND=1 << 8, _BLOCK=32)
    yield
    tier.set_tier(None)


def real(*shape):
    return rng.standard_normal(shape, np.float32)


def close(found, expected):
    assert found.shape == expected.shape
    assert found.dtype == np.float32
    scale = max(np.abs(expected).max(initial=0), 1e-30)
    assert np.abs(found - expected).max(initial=0) / scale < 1e-5


def expected_of(x, w, g, bias, window):
    """y with bias and ReLU, and the three gradients, in float64 by NumPy."""
    x, w = x.astype("f8"), w.astype("f8")
    y = np.maximum(im2col.conv(x, w, **window) + bias, 0)
    d = np.where(y > 0, g, 0).astype("f8")
    by_x = im2col.conv_input(d, w, sizes=x.shape[1:-1], **window)
    by_w = im2col.conv_kernel(x, d, size=w.shape[:-2], **window)[0]
    return y, by_x, by_w, d.sum(tuple(range(d.ndim - 1)))


MOVES = [((1, 1), (1, 1)), ((2, 1), (1, 1)), ((2, 3), (1, 1)), ((1, 1), (2, 1)), ((1, 2), (3, 1))]
PADDINGS = ["SAME", ((0, 0), (0, 0)), ((1, 2), (0, 3)), ((3, 0), (1, 1))]
CASES = list(itertools.product(MOVES, PADDINGS))


@pytest.mark.parametrize("shape", [(2, 7, 9, 5), (3, 6, 5, 33), (1, 12, 11, 48), (2, 3, 3, 80)])
@pytest.mark.parametrize("size", [(1, 1), (3, 3), (2, 5), (7, 7)])
@pytest.mark.parametrize("multiplier", [1, 2])
def test_every_window(shape, size, multiplier, change):
    numpy = im2col.conv, im2col.conv_input, im2col.conv_kernel
    x, w = real(*shape), real(*size, 1, shape[-1] * multiplier)
    bias = real(w.shape[-1])
    for (strides, dilations), padding in CASES if multiplier == 1 else CASES[:6]:
        window = {"strides": strides, "dilations": dilations, "padding": padding}
        places = windows.output_sizes(shape[1:-1], size, **window)
        if 0 in places or any(min(pair) > 1 for pair in zip(strides, dilations, strict=True)):
            continue
        window["groups"] = shape[-1]
        g = real(shape[0], *places, w.shape[-1])
        change(im2col, conv=numpy[0], conv_input=numpy[1], conv_kernel=numpy[2])
        y, *gradients = expected_of(x, w, g, bias, window)
        change(im2col, conv=None, conv_input=None, conv_kernel=None)  # an error if NumPy computed
        found = kernels.conv_bias(x, w, bias, **window, relu=True)
        close(found, y)
        every = (True, True, True)
        back = kernels.conv_bias_back(g, x, w, found, **window, relu=True, needed=every)
        for each, expected in zip(back, gradients, strict=True):
            close(each, expected)


def test_one_axis_and_results_written_into_given_arrays():
    x, w = real(3, 20, 24), real(5, 1, 24)
    window = {"strides": (1,), "dilations": (2,), "padding": "SAME", "groups": 24}
    out = np.empty_like(x)
    y = kernels.conv(x, w, **window, out=out)
    assert np.shares_memory(y, out)
    close(y, im2col.conv(x.astype("f8"), w.astype("f8"), **window))
    by_x = kernels.conv_input(x, w, sizes=(20,), **window, out=np.empty_like(x))
    close(by_x, im2col.conv_input(x.astype("f8"), w.astype("f8"), sizes=(20,), **window))
    by_w = kernels.conv_kernel(x, y, size=(5,), **window)
    expected, _ = im2col.conv_kernel(x.astype("f8"), y.astype("f8"), size=(5,), **window)
    close(by_w, expected)


def test_a_number_that_is_not_finite_stays_in_its_channel_and_its_windows():
    x, w = real(1, 6, 6, 20), np.ones((3, 3, 1, 20), np.float32)
    x[0, 1, 1, 17] = np.nan
    y = kernels.conv_bias(
        x, w, np.zeros(20, np.float32), strides=(1, 1), padding="SAME", dilations=(1, 1),
        groups=20, relu=True,
    )  # fmt: skip
    rows, columns, channels = np.nonzero(np.isnan(y[0]))
    assert set(channels) == {17}
    assert set(zip(rows.tolist(), columns.tolist(), strict=True)) == {
        (i, j) for i in range(3) for j in range(3)
    }
