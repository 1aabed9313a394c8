"""Convolution and its two derivatives: the form that is fastest for the arrays at hand.

See `im2col` for what the functions compute. There are three forms: im2col (NumPy), which does every
case; direct (Numba), for float32, one or two spatial axes and no groups; and Winograd's (Numba),
for 3 × 3 windows without strides over many channels.
"""

import math

import numpy as np

from framework.core.errors import InvalidArgumentError, suggest
from framework.kernels import im2col, tier, windows

ALGORITHMS = ("auto", "direct", "winograd2", "winograd4", "im2col")

_algorithm = "auto"
_SMALL = 2e5  # multiplications and additions that NumPy does before a Numba kernel has begun
_CHANNELS = 16  # from which on Winograd's transforms pay
# Which of Winograd's forms "auto" takes: in benchmarks/conv_accuracy.py the losses of twelve steps
# with F(4 × 4) are as close to direct convolution's as those with F(2 × 2), at 0.65 of the time.
_OUTPUTS = 4


def set_conv_algorithm(name="auto"):
    """Choose how convolutions are computed from now on; gives the choice that was in force.

    Args:
        name: "auto"; "direct"; "winograd2" or "winograd4", Winograd's F(2 × 2, 3 × 3) and
            F(4 × 4, 3 × 3) for 3 × 3 windows without strides, direct for others; "im2col". Without
            Numba all are "im2col". Winograd's forms add up in another order: their largest error,
            relative to the largest output, is about 1e-6, that of the others 3e-7.
    """
    global _algorithm
    if name not in ALGORITHMS:
        raise InvalidArgumentError(
            f"set_conv_algorithm: expected one of {ALGORITHMS}, got {name!r}"
            f"{suggest(str(name), ALGORITHMS)}"
        )
    before, _algorithm = _algorithm, name
    return before


def conv(x, w, *, strides, padding, dilations, groups):
    """y: at each place the window's cells times the kernel's, added up (no flip)."""
    size = w.shape[:-2]
    if groups == 1 and (call := _call(x, w, size, strides, dilations)):
        padding = windows.amounts(padding, x.shape[1:-1], size, strides, dilations)
        places = windows.output_sizes(x.shape[1:-1], size, strides, padding, dilations)
        if _worth(w.size * len(x), places):
            y = call.conv(_planar(x), _planar(w, 0), padding, places)
            return y.reshape(len(x), *places, w.shape[-1])
    return im2col.conv(
        x, w, strides=strides, padding=padding, dilations=dilations, groups=groups
    )  # fmt: skip


def conv_input(g, w, *, sizes, strides, padding, dilations, groups):
    """The x, of spatial `sizes`, whose `conv` with `w` gives y: sum(g * y)'s derivative by x."""
    size = w.shape[:-2]
    if groups == 1 and (call := _call(g, w, size, strides, dilations)):
        padding = windows.amounts(padding, sizes, size, strides, dilations)
        if _worth(w.size * len(g), g.shape[1:-1]):
            x = call.conv_input(_planar(g), _planar(w, 0), padding, sizes)
            return x.reshape(len(g), *sizes, w.shape[-2])
    return im2col.conv_input(
        g, w, sizes=sizes, strides=strides, padding=padding, dilations=dilations, groups=groups
    )  # fmt: skip


def conv_kernel(x, g, *, size, strides, padding, dilations, groups):
    """The derivative of sum(g * conv(x, w)) by w, whose windows have `size`."""
    if groups == 1 and (call := _call(x, g, size, strides, dilations)):
        padding = windows.amounts(padding, x.shape[1:-1], size, strides, dilations)
        if _worth(g.size * x.shape[-1], size):
            w = call.conv_kernel(_planar(x), _planar(g), padding)
            return w.reshape(*size, x.shape[-1], g.shape[-1])
    return im2col.conv_kernel(
        x, g, size=size, strides=strides, padding=padding, dilations=dilations, groups=groups
    )  # fmt: skip


def _call(a, b, size, strides, dilations):
    """The Numba forms for such arrays and windows; None where there are none."""
    if (
        len(size) > 2
        or a.dtype != np.float32
        or b.dtype != np.float32
        or _algorithm == "im2col"
        or any(s > 1 and d > 1 for s, d in zip(strides, dilations, strict=True))
    ):
        return None
    fast = tier.library("conv")
    return fast and _Call(fast, size, strides, dilations)


def _worth(pairs, places):
    number = pairs * math.prod(places)
    return number > 0 and (number >= _SMALL or _algorithm != "auto")


def _planar(a, axis=1):
    """`a`, contiguous and writable, with two spatial axes, from `axis` on."""
    a = np.ascontiguousarray(a)
    if not a.flags.writeable:  # Numba would compile every kernel once more for such arrays
        a = a.copy()
    return a if a.ndim == 4 else a.reshape(*a.shape[:axis], 1, *a.shape[axis:])


class _Call:
    """The Numba forms, called with attributes of two axes."""

    def __init__(self, fast, size, strides, dilations):
        one = (1,) * (2 - len(size))
        self.fast, self.one = fast, one
        self.size, self.strides, self.dilations = one + size, one + strides, one + dilations

    def _planar(self, padding, sizes):
        return ((0, 0),) * len(self.one) + tuple(padding), self.one + tuple(sizes)

    def _window(self, padding, sizes):
        (top, bottom), (left, right) = padding
        height, width = sizes[0] + top + bottom, sizes[1] + left + right
        return self.fast.Window(
            *self.size, *self.strides, *self.dilations, top, left, height, width
        )  # fmt: skip

    def _patches(self, padding, channels, filters):
        """The m of Winograd's m × m outputs, 0 for the direct form; and its module."""
        if (
            _algorithm == "direct"
            or self.size != (3, 3)
            or max(self.strides + self.dilations) > 1
            or max(p for pair in padding for p in pair) > 2
        ):
            return 0, None
        if _algorithm == "auto" and min(channels, filters) < _CHANNELS:
            return 0, None
        m = {"winograd2": 2, "winograd4": 4}.get(_algorithm, _OUTPUTS)
        return m, tier.library("winograd")

    def conv(self, x, w, padding, places):
        padding, places = self._planar(padding, places)
        m, winograd = self._patches(padding, *w.shape[2:])
        if m:
            return winograd.conv(x, w, (padding[0][0], padding[1][0]), places, m)
        return self.fast.conv(x, w, self._window(padding, x.shape[1:3]), places)

    def conv_input(self, g, w, padding, sizes):
        padding, sizes = self._planar(padding, sizes)
        m, winograd = self._patches(padding, *w.shape[2:])
        if m:
            back = (2 - padding[0][0], 2 - padding[1][0])
            return winograd.conv(g, w, back, sizes, m, turned=True)
        return self.fast.conv_input(g, w, sizes, self._window(padding, sizes))

    def conv_kernel(self, x, g, padding):
        padding, _ = self._planar(padding, ())
        m, winograd = self._patches(padding, x.shape[3], g.shape[3])
        if m:
            return winograd.conv_kernel(x, g, (padding[0][0], padding[1][0]), m)
        return self.fast.conv_kernel(x, g, self._window(padding, x.shape[1:3]))
