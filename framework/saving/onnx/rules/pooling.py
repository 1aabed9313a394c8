"""Translation rules for pooling ops."""

import math

import numpy as np

from framework.kernels.pool import window_count as counted
from framework.saving.onnx.rules import rule
from framework.saving.onnx.rules.contraction import (
    channels_first,
    channels_last,
    window_attributes,
)
from framework.saving.onnx.rules.operands import number
from framework.saving.onnx.sizes import known, product


@rule("max_pool")
def max_pool(b, x, *, size, strides, padding, dilations):
    window = window_attributes(x.shape[1:-1], size, strides, padding, dilations)
    wide = (
        x if x.dtype.kind == "f" else b.cast(x, np.float64 if x.dtype.itemsize > 2 else np.float32)
    )
    y = channels_last(b, b("MaxPool", channels_first(b, wide), **window), x.rank)
    return b.cast(y, x.dtype)


@rule("max_index")
def max_index(b, x, *, size, strides, padding, dilations):
    """Return MaxPool's indices into the whole tensor modulo the number of pixels of an image."""
    window = window_attributes(x.shape[1:-1], size, strides, padding, dilations)
    _, places = b("MaxPool", channels_first(b, x), outputs=2, **window)
    places.dtype = np.dtype(np.int64)
    pixels = b.squeeze(b.size(product(x.shape[1:-1])), 0)
    places = b("Mod", channels_last(b, places, x.rank), pixels)
    return b.reshape(places, b.call.outputs[0].shape)


@rule("window_sum")
def window_sum(b, x, *, size, strides, padding, dilations):
    """Return the mean times the window's size; a `divide` that follows merges both to one mean."""
    window = window_attributes(x.shape[1:-1], size, strides, padding, dilations)
    if all(d == 1 for d in dilations):
        del window["dilations"]
    elif b.opset < 19:
        b.refuse("average pooling with dilations needs opset_version=19")
    before = channels_first(b, x)

    def mean(with_padding):
        y = b("AveragePool", before, count_include_pad=int(with_padding), **window)
        return channels_last(b, y, x.rank)

    def divided(divisor):
        """Return the mean if `divisor` is the number of elements of each window, else None."""
        if type(divisor) in (int, float):
            return mean(True) if divisor == math.prod(size) else None
        note = getattr(divisor, "note", None)
        return mean(False) if note == ("window_count", (size, strides, padding)) else None

    if "auto_pad" in window:  # runtimes disagree on whether the mean includes automatic padding
        total = b("Mul", mean(False), _counts(b, x, size, window))
    else:
        total = b("Mul", mean(True), number(b, math.prod(size), x))
    total.note = "window_sum", divided
    return total


def _counts(b, x, size, window):
    """Return the number of pixels of each window inside the input, for unknown input sizes."""
    spatial = x.shape[1:-1]
    ones = b.fill(1, (1, 1, *spatial), x.dtype)
    kernel = b.constant(np.ones((1, 1, *size)), x.dtype)
    return channels_last(b, b("Conv", ones, kernel, **window), x.rank)


@rule("window_count")
def window_count(b, x, *, size, strides, padding, dilations):
    spatial = x.shape[1:-1]
    given = {"size": size, "strides": strides, "padding": padding, "dilations": dilations}
    if known(spatial):
        ones = np.ones((1, *spatial, 1), x.dtype)
        counts = b.constant(counted(ones, **given))
    else:
        counts = _counts(b, x, size, window_attributes(spatial, size, strides, padding, dilations))
    counts.note = "window_count", (size, strides, padding)
    return counts
