"""Convolution and its gradients, by the algorithm that is fastest for the arrays.

The functions compute what `im2col` documents. im2col in NumPy handles every case; the other
algorithms require float32. Without groups they are im2col in Numba (`fast/im2col.py`), the direct
algorithm (`fast/conv.py`, for windows with stride 1 over wide images), and Winograd's (`winograd`
in NumPy, `fast/winograd.py` in Numba, for 3 × 3 windows with stride 1 and many channels).
`depthwise` is for one channel per group, `pointwise` for 1 × 1 convolutions of few pixels.
"""

import math

import numpy as np

from framework.core.errors import InvalidArgumentError, suggest
from framework.kernels import choose, depthwise, im2col, pointwise, tier, windows, winograd
from framework.kernels.contiguous import contiguous
from framework.kernels.sums import added

ALGORITHMS = ("auto", "direct", "winograd2", "winograd4", "im2col")

_algorithm = "auto"
# A Numba kernel is used for at least this many multiply-adds; for fewer, NumPy is faster.
_SMALL = 2e5
# With at least this many multiply-adds, Winograd's algorithm in NumPy is faster than im2col.
_LARGE = 1e7
_CHANNELS = 16  # With at least this many channels and filters, Winograd's algorithm is faster.
# The direct algorithm computes row by row; it is used if output rows have at least this width.
_LINE = 24
# The direct algorithm is used if its matrix products have at least this many columns (channels or
# filters).
_FEW = 24
# The largest tile size m of Winograd's algorithm (m × m outputs) that "auto" uses. In
# benchmarks/conv_accuracy.py, m = 4 is 1.4 × faster than m = 2, and the loss after twelve steps is
# as close to direct convolution's.
_OUTPUTS = 4


def set_conv_algorithm(name="auto"):
    """Set the algorithm of all later convolutions, and return the previous choice.

    Args:
        name: "auto"; "direct"; "winograd2" or "winograd4", Winograd's F(2 × 2, 3 × 3) and F(4 × 4,
            3 × 3) for 3 × 3 windows without strides, direct for others; "im2col". Without Numba,
            and for volumes, "direct" is "im2col". Winograd's algorithm rounds differently: its
            largest error, relative to the largest output, is about 1e-6 instead of 3e-7. An input
            that is not finite, or far larger than the others, also affects neighboring outputs
            whose windows do not contain it.
    """
    global _algorithm
    if name not in ALGORITHMS:
        raise InvalidArgumentError(
            f"set_conv_algorithm: expected one of {ALGORITHMS}, got {name!r}"
            f"{suggest(str(name), ALGORITHMS)}"
        )
    before, _algorithm = _algorithm, name
    return before


def conv(x, w, *, strides, padding, dilations, groups, out=None):
    """Return the convolution: at each position the sum of window pixels times kernel (not flipped).

    `out`, here and in the functions below, is a contiguous array for the first result.
    """
    window = {"strides": strides, "padding": padding, "dilations": dilations}
    return windows.into(_conv(x, w, window, groups, out=out), out)


def conv_bias(x, w, b, *, strides, padding, dilations, groups, relu, out=None):
    """Return `conv` plus one bias per filter; `relu` applies ReLU."""
    window = {"strides": strides, "padding": padding, "dilations": dilations}
    return windows.into(_conv(x, w, window, groups, b, relu, out), out)


def _conv(x, w, window, groups, bias=None, relu=False, out=None):
    if pointwise.suits(x, w.dtype, w.shape[:-2], window, groups):
        return pointwise.conv(x, w, bias, relu, out)
    call = _call(x, w, w.shape[:-2], groups, **window)
    if call is not None and (bias is None or bias.dtype == np.float32):
        padding = windows.amounts(window["padding"], x.shape[1:-1], call.given, *call.moves)
        places = windows.output_sizes(x.shape[1:-1], call.given, padding=padding, **_moves(window))
        if call.pays(w.size * len(x), places):
            y = call.conv(x, w, padding, places, bias, relu, out)
            if y is not None:
                return y.reshape(len(x), *places, w.shape[-1])
    elif groups == x.shape[-1]:
        y = _depthwise(x, w, window, groups, bias, relu, out)
        if y is not None:
            return y
    return im2col.conv(x, w, **window, groups=groups, bias=bias, relu=relu, out=out)


def _depthwise(x, w, window, groups, bias, relu, out):
    """Return the depthwise convolution by Numba kernels; None if they do not support it."""
    size, given = w.shape[:-2], {"strides": window["strides"], "dilations": window["dilations"]}
    places = windows.output_sizes(x.shape[1:-1], size, padding=window["padding"], **given)
    fast = depthwise.library(x, w, size, places, groups, window, w.shape[-1])
    if fast is None or (bias is not None and bias.dtype != np.float32):
        return None
    return depthwise.conv(fast, x, w, window, places, bias, relu, out)


def conv_input(g, w, *, sizes, strides, padding, dilations, groups, out=None):
    """Return the gradient of sum(g * conv(x, w)) with respect to x, of spatial `sizes`."""
    window = {"strides": strides, "padding": padding, "dilations": dilations}
    needed = (True, False, False)
    return _back(g, None, None, w, sizes, w.shape[:-2], window, groups, needed, out)[0]


def conv_kernel(x, g, *, size, strides, padding, dilations, groups):
    """Return the gradient of sum(g * conv(x, w)) with respect to w, whose windows have `size`."""
    window = {"strides": strides, "padding": padding, "dilations": dilations}
    sizes = x.shape[1:-1]
    return _back(g, None, x, None, sizes, size, window, groups, (False, True, False))[1]


def conv_bias_back(g, x, w, y, *, strides, padding, dilations, groups, relu, needed, out=None):
    """Return those gradients of sum(g * conv_bias(x, w, b)) for x, w and b that are needed."""
    window = {"strides": strides, "padding": padding, "dilations": dilations}
    gate = y if relu else None
    gradients = _back(g, gate, x, w, x.shape[1:-1], w.shape[:-2], window, groups, needed, out)
    return tuple(d for d, wanted in zip(gradients, needed, strict=True) if wanted)


def _back(g, gate, x, w, sizes, size, window, groups, needed, out=None):
    """Return the gradients with respect to x, w and the bias, or None if not needed."""
    to_x, to_w, to_b = needed
    if pointwise.suits(g, (w if x is None else x).dtype, size, window, groups):
        return pointwise.back(g, gate, x if to_w else None, w if to_x else None, to_b, out)
    by_x = by_w = by_b = None
    call = _call(g, w if x is None else x, size, groups, **window)
    channels = w.shape[-2] if x is None else x.shape[-1]
    if call is not None and (to_x or to_w) and call.pays(g.size * channels, size):
        padding = windows.amounts(window["padding"], sizes, call.given, *call.moves)
        given = x if to_w else None, w if to_x else None
        by_x, by_w, by_b = call.back(g, gate, *given, padding, sizes, to_b, out)
    elif groups == (groups * channels if x is None else channels):
        g, gate, by_x, by_w = _depthwise_back(
            g, gate, x if to_w else None, w if to_x else None, sizes, size, window, groups, out
        )
    window |= {"groups": groups, "gate": gate}
    if to_x and by_x is None:
        by_x = im2col.conv_input(g, w, sizes=sizes, **window, out=out)
    if to_w and by_w is None:
        by_w, by_b = im2col.conv_kernel(x, g, size=size, **window, sums=to_b)
    if to_b and by_b is None:
        d = g if gate is None else choose.masked(g, gate > 0)
        by_b = added(d, tuple(range(g.ndim - 1)))
    return by_x if by_x is None else windows.into(by_x, out), by_w, by_b


def _depthwise_back(g, gate, x, w, sizes, size, window, groups, out):
    """Return (g, gate, gradient for x, gradient for w) of a depthwise convolution by Numba kernels.

    A gradient is None if the argument it needs (w for x, x for w) is None, or if the kernels do not
    support the convolution. If they do, g is returned with the gate applied, and the gate as None.
    """
    fast = depthwise.library(
        g, w if x is None else x, size, g.shape[1:-1], groups, window, g.shape[-1]
    )
    by_x = by_w = None
    if fast is not None:
        g, gate = g if gate is None else choose.masked(g, gate > 0), None
        if w is not None:
            by_x = depthwise.conv_input(fast, g, w, sizes, groups, window, out)
        if x is not None:
            by_w = depthwise.conv_kernel(fast, x, g, size, window)
    return g, gate, by_x, by_w


def _moves(window):
    return {"strides": window["strides"], "dilations": window["dilations"]}


def patches(x, w, *, strides, padding, dilations, groups):
    """Return Winograd's parameters for a `conv` in Numba; None if another algorithm computes it.

    Args:
        x, w: objects with a shape and a dtype.

    Returns:
        m (a patch has m × m outputs), the padding (above, left), and y's spatial size.
    """
    window = {"strides": strides, "padding": padding, "dilations": dilations}
    call = _call(x, w, w.shape[:-2], groups, **window)
    if call is None or call.fast is None or len(call.given) != 2:
        return None
    padding = windows.amounts(padding, x.shape[1:-1], call.given, strides, dilations)
    places = windows.output_sizes(x.shape[1:-1], call.given, strides, padding, dilations)
    if not call.pays(math.prod(w.shape) * x.shape[0], places):
        return None
    m = call._patches(padding, *w.shape[-2:], places)
    return (m, (padding[0][0], padding[1][0]), places) if m else None


def _call(a, b, size, groups, *, strides, padding, dilations):
    """Return a _ConvCall for these arrays; None if only NumPy's im2col can compute them."""
    if groups != 1 or a.dtype != np.float32 or b.dtype != np.float32:
        return None
    return _ConvCall(tier.library("conv"), tuple(size), tuple(strides), tuple(dilations))


def _planar(a, axis=1):
    """Return contiguous `a` with two spatial axes, of which `axis` is the first."""
    a = contiguous(a)
    return a if a.ndim == 4 else a.reshape(*a.shape[:axis], 1, *a.shape[axis:])


def _least(places):
    """Return the m of Winograd's F(m × m, 3 × 3) with the fewest multiplications; 0 for direct.

    Args:
        places: the height and width of the output.
    """
    height, width = places
    counts = {0: 9 * height * width}
    for m in (2, 4)[: _OUTPUTS // 2]:
        counts[m] = (m + 2) ** 2 * -(-height // m) * -(-width // m)
    return min(counts, key=counts.get)


class _ConvCall:
    """One convolution by an algorithm other than NumPy's im2col, with one or two spatial axes.

    Without Numba, only Winograd's algorithm exists; methods return None where im2col is faster.
    """

    def __init__(self, fast, size, strides, dilations):
        one = (1,) * (2 - len(size))
        self.fast, self.one = fast, one
        self.given, self.moves = size, (strides, dilations)
        self.size, self.strides, self.dilations = one + size, one + strides, one + dilations

    def pays(self, pairs, places):
        """Return whether to use another algorithm than NumPy's im2col: it is faster, or was chosen.

        Args:
            pairs, places: `pairs` times the product of `places` is the number of multiply-adds.
        """
        number = pairs * math.prod(places)
        least = _LARGE if self.fast is None else _SMALL
        return number > 0 and (number >= least or _algorithm != "auto")

    def _wide(self, padding, sizes):
        return ((0, 0),) * len(self.one) + tuple(padding), self.one + tuple(sizes)

    def _window(self, padding, sizes):
        (top, bottom), (left, right) = padding
        height, width = sizes[0] + top + bottom, sizes[1] + left + right
        return self.fast.ConvWindow(
            *self.size, *self.strides, *self.dilations, top, left, height, width
        )  # fmt: skip

    def _patches(self, padding, channels, filters, places):
        """Return the m of Winograd's m × m outputs, 0 for other algorithms."""
        if (
            _algorithm in ("direct", "im2col")
            or self.size != (3, 3)
            or max(self.strides + self.dilations) > 1
            or max(p for pair in padding for p in pair) > 2
        ):
            return 0
        m = {"winograd2": 2, "winograd4": 4}.get(_algorithm)
        if m is None:
            m = _least(places) if min(channels, filters) >= _CHANNELS else 0
        return m

    def _direct(self, columns, places):
        """Return whether to use the direct algorithm instead of im2col.

        Args:
            columns: the number of columns of its matrix products: channels or filters.
        """
        if len(self.size) > 2 or _algorithm == "im2col":
            return False
        if _algorithm != "auto":
            return all(1 in pair for pair in zip(self.strides, self.dilations, strict=True))
        return (
            self.size != (1, 1)
            and max(self.strides) == 1
            and places[-1] >= _LINE
            and columns >= _FEW
        )

    def conv(self, x, w, padding, places, bias, relu, out):
        given = tuple(map(tuple, padding)), tuple(places)
        padding, places = self._wide(padding, places)
        m = self._patches(padding, *w.shape[-2:], places)
        before = padding[0][0], padding[-1][0]
        if self.fast is None:
            return winograd.conv(x, w, before, places, m, bias, relu, out) if m else None
        bias = self.fast.NO_BIAS if bias is None else contiguous(bias)
        if not m and not self._direct(w.shape[-1], places):
            x, w = contiguous(x), contiguous(w)
            return tier.library("im2col").conv(x, w, self.moves, *given, bias, relu, out)
        x, w, out = _planar(x), _planar(w, 0), None if out is None else _planar(out)
        if m:
            fast, options = tier.library("winograd"), {"bias": bias, "relu": relu, "out": out}
            return fast.conv(x, w, before, places, m, **options)[0]
        return self.fast.conv(x, w, self._window(padding, x.shape[1:3]), places, bias, relu, out)

    def back(self, g, gate, x, w, padding, sizes, sums, out):
        """Return the gradients for x (if w is given), and for w and the bias (if x is given)."""
        channels = w.shape[-2] if x is None else x.shape[-1]
        given, (padding, wide) = padding, self._wide(padding, sizes)
        m = self._patches(padding, channels, g.shape[-1], g.shape[1:-1])
        before = padding[0][0], padding[-1][0]
        if self.fast is None:
            if not m:
                return None, None, None
            return winograd.back(g, gate, before, m, x=x, w=w, sizes=sizes, sums=sums, out=out)
        columns = g.shape[-1] if w is None else min(channels, g.shape[-1])
        if not m and not self._direct(columns, wide):
            return self._back(g, gate, x, w, tuple(map(tuple, given)), sizes, sums, out)
        g, gate = _planar(g), self.fast.NO_GATE if gate is None else _planar(gate)
        x, w = None if x is None else _planar(x), None if w is None else _planar(w, 0)
        out = None if out is None else _planar(out)
        if m:
            x = (len(g), *wide, channels) if x is None else x
            fast = tier.library("winograd_back")
            return fast.conv_back(g, gate, x, w, before, g.shape[1:3], m, sums=sums, out=out)
        window, by_x = self._window(padding, wide), None
        if w is not None:
            by_x = self.fast.conv_input(g, w, wide, window, gate, out)
            by_x = by_x.reshape(len(g), *sizes, channels)
        if x is None:
            return by_x, None, None
        by_w, by_b = self.fast.conv_kernel(x, g, window, gate, sums=sums)
        return by_x, by_w.reshape(*self.given, channels, g.shape[3]), by_b

    def _back(self, g, gate, x, w, padding, sizes, sums, out):
        """Compute the gradients that `back` returns, by im2col in Numba."""
        fast, by_x, by_w, by_b = tier.library("im2col"), None, None, None
        g, gate = contiguous(g), fast.NOTHING if gate is None else contiguous(gate)
        if w is not None:
            w = contiguous(w)
            by_x = fast.conv_input(g, w, tuple(sizes), self.moves, padding, gate, out)
        if x is not None:
            x = contiguous(x)
            by_w, by_b = fast.conv_kernel(x, g, self.given, self.moves, padding, gate, sums=sums)
        return by_x, by_w, by_b
