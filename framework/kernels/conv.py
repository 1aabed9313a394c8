"""Convolution and its two derivatives: the form that is fastest for the arrays at hand.

See `im2col` for what the functions compute. There are three forms: im2col (NumPy), which does every
case; direct (Numba), for float32, one or two spatial axes and no groups; and Winograd's (Numba),
for 3 × 3 windows without strides over many channels.
"""

import math

import numpy as np

from framework.core.errors import InvalidArgumentError, suggest
from framework.kernels import choose, im2col, tier, windows

ALGORITHMS = ("auto", "direct", "winograd2", "winograd4", "im2col")

_algorithm = "auto"
_SMALL = 2e5  # multiplications and additions that NumPy does before a Numba kernel has begun
_CHANNELS = 16  # from which on Winograd's transforms pay
# The largest m of Winograd's m × m outputs that "auto" takes: benchmarks/conv_accuracy.py finds the
# losses of twelve steps by m = 4 as close to direct convolution's as by m = 2, in 0.7 of the time.
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
    window = {"strides": strides, "padding": padding, "dilations": dilations}
    y = _conv(x, w, window, groups)
    return im2col.conv(x, w, **window, groups=groups) if y is None else y


def conv_bias(x, w, b, *, strides, padding, dilations, groups, relu):
    """`conv`, plus a bias of the filters, cut at 0 with `relu`."""
    window = {"strides": strides, "padding": padding, "dilations": dilations}
    y = _conv(x, w, window, groups, b, relu)
    if y is None:
        y = im2col.conv(x, w, **window, groups=groups)
        y += b
        if relu:
            np.maximum(y, 0, out=y)
    return y


def _conv(x, w, window, groups, bias=None, relu=False):
    """y by Numba, None where that is not to be."""
    call = _call(x, w, w.shape[:-2], groups, **window)
    if call is None or (bias is not None and bias.dtype != np.float32):
        return None
    padding = windows.amounts(window["padding"], x.shape[1:-1], call.given, *call.moves)
    places = windows.output_sizes(x.shape[1:-1], call.given, padding=padding, **_moves(window))
    if not _worth(w.size * len(x), places):
        return None
    y = call.conv(_planar(x), _planar(w, 0), padding, places, bias, relu)
    return y.reshape(len(x), *places, w.shape[-1])


def conv_input(g, w, *, sizes, strides, padding, dilations, groups):
    """The x, of spatial `sizes`, whose `conv` with `w` gives y: sum(g * y)'s derivative by x."""
    window = {"strides": strides, "padding": padding, "dilations": dilations}
    x = _conv_input(g, None, w, sizes, window, groups)
    return im2col.conv_input(g, w, sizes=sizes, **window, groups=groups) if x is None else x


def _conv_input(g, gate, w, sizes, window, groups):
    call = _call(g, w, w.shape[:-2], groups, **window)
    if call is None or not _worth(w.size * len(g), g.shape[1:-1]):
        return None
    padding = windows.amounts(window["padding"], sizes, call.given, *call.moves)
    x = call.conv_input(_planar(g), _gate(gate), _planar(w, 0), padding, sizes)
    return x.reshape(len(g), *sizes, w.shape[-2])


def conv_kernel(x, g, *, size, strides, padding, dilations, groups):
    """The derivative of sum(g * conv(x, w)) by w, whose windows have `size`."""
    window = {"strides": strides, "padding": padding, "dilations": dilations}
    found = _conv_kernel(x, g, None, size, window, groups)
    if found is None:
        return im2col.conv_kernel(x, g, size=size, **window, groups=groups)
    return found[0]


def _conv_kernel(x, g, gate, size, window, groups, sums=False):
    call = _call(x, g, size, groups, **window)
    if call is None or not _worth(g.size * x.shape[-1], size):
        return None
    padding = windows.amounts(window["padding"], x.shape[1:-1], size, *call.moves)
    w, b = call.conv_kernel(_planar(x), _planar(g), _gate(gate), padding, sums)
    return w.reshape(*size, x.shape[-1], g.shape[-1]), b


def conv_bias_back(g, x, w, y, *, strides, padding, dilations, groups, relu, needed):
    """The derivatives of sum(g * conv_bias(x, w, b)) by x, w and b, of those that are needed."""
    window = {"strides": strides, "padding": padding, "dilations": dilations}
    to_x, to_w, to_b = needed
    size, gate, found = w.shape[:-2], y if relu else None, []
    by_x = _conv_input(g, gate, w, x.shape[1:-1], window, groups) if to_x else None
    by_w = _conv_kernel(x, g, gate, size, window, groups, to_b) if to_w else None
    plain = (to_x and by_x is None) or ((to_w or to_b) and by_w is None)
    if plain and relu:
        g = choose.masked(g, y > 0)
    if to_x:
        if by_x is None:
            by_x = im2col.conv_input(g, w, sizes=x.shape[1:-1], **window, groups=groups)
        found.append(by_x)
    if to_w:
        if by_w is None:
            by_w = im2col.conv_kernel(x, g, size=size, **window, groups=groups), None
        found.append(by_w[0])
    if to_b:
        by_b = by_w[1] if by_w else None
        found.append(np.add.reduce(g, axis=tuple(range(g.ndim - 1))) if by_b is None else by_b)
    return tuple(found)


def _moves(window):
    return {"strides": window["strides"], "dilations": window["dilations"]}


def _gate(y):
    return None if y is None else _planar(y)


def _call(a, b, size, groups, *, strides, padding, dilations):
    """The Numba forms for such arrays and windows; None where there are none."""
    if (
        groups != 1
        or len(size) > 2
        or a.dtype != np.float32
        or b.dtype != np.float32
        or _algorithm == "im2col"
        or any(s > 1 and d > 1 for s, d in zip(strides, dilations, strict=True))
    ):
        return None
    fast = tier.library("conv")
    return fast and _Call(fast, tuple(size), strides, dilations)


def _worth(pairs, places):
    number = pairs * math.prod(places)
    return number > 0 and (number >= _SMALL or _algorithm != "auto")


def _contiguous(a):
    """Contiguous and writable: Numba would compile every kernel once more for other arrays."""
    a = np.ascontiguousarray(a)
    return a if a.flags.writeable else a.copy()


def _planar(a, axis=1):
    """`a`, contiguous, with two spatial axes, from `axis` on."""
    a = _contiguous(a)
    return a if a.ndim == 4 else a.reshape(*a.shape[:axis], 1, *a.shape[axis:])


def _least(places):
    """The m by which the fewest multiplications give images of so many places; 0 is direct."""
    height, width = places
    counts = {0: 9 * height * width}
    for m in (2, 4)[: _OUTPUTS // 2]:
        counts[m] = (m + 2) ** 2 * -(-height // m) * -(-width // m)
    return min(counts, key=counts.get)


class _Call:
    """The Numba forms, called with attributes of two axes."""

    def __init__(self, fast, size, strides, dilations):
        one = (1,) * (2 - len(size))
        self.fast, self.one = fast, one
        self.given, self.moves = size, (strides, dilations)
        self.size, self.strides, self.dilations = one + size, one + strides, one + dilations

    def _planar(self, padding, sizes):
        return ((0, 0),) * len(self.one) + tuple(padding), self.one + tuple(sizes)

    def _window(self, padding, sizes):
        (top, bottom), (left, right) = padding
        height, width = sizes[0] + top + bottom, sizes[1] + left + right
        return self.fast.Window(
            *self.size, *self.strides, *self.dilations, top, left, height, width
        )  # fmt: skip

    def _patches(self, padding, channels, filters, places):
        """The m of Winograd's m × m outputs, 0 for the direct form; and its module."""
        if (
            _algorithm == "direct"
            or self.size != (3, 3)
            or max(self.strides + self.dilations) > 1
            or max(p for pair in padding for p in pair) > 2
        ):
            return 0, None
        m = {"winograd2": 2, "winograd4": 4}.get(_algorithm)
        if m is None:
            m = _least(places) if min(channels, filters) >= _CHANNELS else 0
        return m, m and tier.library("winograd")

    def conv(self, x, w, padding, places, bias, relu):
        padding, places = self._planar(padding, places)
        bias = self.fast.NO_BIAS if bias is None else _contiguous(bias)
        m, winograd = self._patches(padding, *w.shape[2:], places)
        if m:
            top, left = padding[0][0], padding[1][0]
            return winograd.conv(x, w, (top, left), places, m, bias=bias, relu=relu)
        return self.fast.conv(x, w, self._window(padding, x.shape[1:3]), places, bias, relu)

    def conv_input(self, g, gate, w, padding, sizes):
        padding, sizes = self._planar(padding, sizes)
        gate = self.fast.NO_GATE if gate is None else gate
        m, winograd = self._patches(padding, *w.shape[2:], sizes)
        if m:
            back = (2 - padding[0][0], 2 - padding[1][0])
            return winograd.conv(g, w, back, sizes, m, turned=True, gate=gate)
        return self.fast.conv_input(g, w, sizes, self._window(padding, sizes), gate)

    def conv_kernel(self, x, g, gate, padding, sums):
        padding, _ = self._planar(padding, ())
        gate = self.fast.NO_GATE if gate is None else gate
        m, winograd = self._patches(padding, x.shape[3], g.shape[3], g.shape[1:3])
        if m:
            top, left = padding[0][0], padding[1][0]
            return winograd.conv_kernel(x, g, (top, left), m, gate, sums=sums)
        return self.fast.conv_kernel(
            x, g, self._window(padding, x.shape[1:3]), gate, sums=sums
        )  # fmt: skip
