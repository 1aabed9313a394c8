"""Depthwise convolution over one or two axes in Numba (`fast/depthwise.py`).

Without Numba, or with three spatial axes, im2col computes depthwise convolutions.
"""

import math

import numpy as np

from framework.kernels import tier, windows
from framework.kernels.contiguous import contiguous

# The Numba kernels are used for at least this many multiply-adds; for fewer, NumPy is faster.
_SMALL = 3e4


def library(a, b, size, places, groups, window, filters):
    """Return the module of Numba kernels if they support a convolution, else None.

    Args:
        a, b: two of the convolution's arrays (images, weights, outputs).
        size, places: the sizes of the window and of the output.
        window: strides, padding and dilations.
        filters: the number of filters.
    """
    if groups == 1 or a.dtype != np.float32 or b.dtype != np.float32 or len(size) > 2:
        return None
    moves = zip(window["strides"], window["dilations"], strict=True)
    if any(min(pair) > 1 for pair in moves):
        return None
    if len(a) * math.prod(places) * math.prod(size) * filters < _SMALL:
        return None
    return tier.library("depthwise")


def conv(fast, x, w, window, places, bias, relu, out):
    """Return the depthwise convolution plus the bias; `relu` applies ReLU."""
    channels, filters = x.shape[-1], w.shape[-1]
    x = contiguous(x if filters == channels else np.repeat(x, filters // channels, axis=-1))
    view = _view(fast, x.shape[1:-1], w.shape[:-2], window)
    out = None if out is None else _planar(out)
    y = fast.conv(_planar(x), _planar(w, 0)[:, :, 0], view, _pair(places), bias, relu, out)
    return y.reshape(len(x), *places, filters)


def conv_input(fast, g, w, sizes, channels, window, out):
    """Return the gradient of a depthwise convolution for x, which has the spatial `sizes`."""
    view, filters = _view(fast, sizes, w.shape[:-2], window), w.shape[-1]
    out = None if out is None or filters != channels else _planar(out)
    x = fast.conv_input(_planar(contiguous(g)), _planar(w, 0)[:, :, 0], _pair(sizes), view, out)
    x = x.reshape(len(g), *sizes, filters)
    if filters == channels:
        return x
    return x.reshape(*x.shape[:-1], channels, filters // channels).sum(-1)


def conv_kernel(fast, x, g, size, window):
    """Return the gradient of a depthwise convolution for w, of spatial size `size`."""
    channels, filters = x.shape[-1], g.shape[-1]
    x = contiguous(x if filters == channels else np.repeat(x, filters // channels, axis=-1))
    view = _view(fast, x.shape[1:-1], size, window)
    w = fast.conv_kernel(_planar(x), _planar(contiguous(g)), view)
    return w.reshape(*size, 1, filters)


def _view(fast, sizes, size, window):
    """Return a ConvWindow over two axes; before a single axis, one of size 1 is inserted."""
    strides, dilations = window["strides"], window["dilations"]
    padding = windows.amounts(window["padding"], sizes, size, strides, dilations)
    before = [pair[0] for pair in padding]
    wide = [n + sum(pair) for n, pair in zip(sizes, padding, strict=True)]
    if len(sizes) == 1:
        sizes = [(1, *size), (1, *strides), (1, *dilations), (0, *before), (1, *wide)]
    else:
        sizes = [size, strides, dilations, before, wide]
    return fast.ConvWindow(*(n for pair in sizes for n in pair))


def _pair(sizes):
    return tuple(sizes) if len(sizes) == 2 else (1, *sizes)


def _planar(a, axis=1):
    """Return `a` with two spatial axes from `axis` on; insert one of size 1 if needed."""
    return a if a.ndim == 4 else a.reshape(*a.shape[:axis], 1, *a.shape[axis:])
