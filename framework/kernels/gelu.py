"""gelu(x) = x Φ(x) with the normal distribution function Φ, and its derivative; exact, or by tanh.

In float32 the exact form uses the tail of the distribution, which loses no digits where Φ is small,
and shares its exponential with the density φ, which the derivative needs:

    t = Φ(-|x|) = exp(-x²/2) W(u),  u = (|x| - 5) / (|x| + 5);  gelu(x) = max(x, 0) - |x| t

W is a Chebyshev interpolant in powers with relative error 2.6e-8. In float64 gelu uses erf.

The tanh approximation, x (1 + tanh(v)) / 2, is computed as x sigmoid(2v), the same function:
1 + tanh(v) loses all digits where v is below -9.
"""

import math
from functools import partial

import numpy as np

from framework.core.numpy_warnings import no_warnings
from framework.kernels import blocks, tier
from framework.kernels.erf import erf, polynomial
from framework.kernels.kernel_task import KernelTask
from framework.kernels.windows import halves

_FAST = 2048  # The Numba kernels are used for at least this many elements.
# Chunks are multiples of _UNIT elements. An element takes about _SECONDS on one thread.
_UNIT, _SECONDS = 512, 1.2e-9
_UFUNCS = 32  # gelu costs about as much as this many ufuncs.

# |x| is clipped to END, above which the tail Φ(-|x|) has no effect on the result
CENTER, END = 5.0, 14.5
TAIL = (
    0.0002215880176, 0.000222705592, -0.00242819716, 0.008978833284, -0.02340361488, 0.04785793796,
    -0.08088480136, 0.1160686753, -0.1434575295, 0.0769193058,
)  # fmt: skip

_SIGN = np.array(-(1 << 31), np.int32)
_ZERO = np.zeros((), np.float32)
_CUBIC, _INNER, _DENSITY = 0.044715, math.sqrt(2 / math.pi), 1 / math.sqrt(2 * math.pi)
_NUMBERS = {n: np.array(n, np.float32) for n in (END, CENTER, -0.5, 0.5, _DENSITY)}


@no_warnings
def gelu(x, *, approximate):
    """Return gelu(x) = x Φ(x) with the normal distribution Φ, or its tanh approximation."""
    if wide := halves(x):
        return gelu(*wide, approximate=approximate).astype(x.dtype)
    y = _fast("gelu_tanh" if approximate else "gelu", x)
    if y is not None:
        return y
    if approximate:
        return _made_by_blocks(_gelu_tanh_block, x)
    if x.dtype == np.float32:
        return _made_by_blocks(_gelu_block, x)
    return x * (erf(x * math.sqrt(0.5)) + 1) * 0.5


@no_warnings
def gelu_back(g, x, *, approximate):
    """Return g times the derivative of gelu at x."""
    if wide := halves(g, x):
        return gelu_back(*wide, approximate=approximate).astype(g.dtype)
    if g.dtype != x.dtype or g.shape != x.shape:
        return g * gelu_back(np.ones_like(x), x, approximate=approximate)
    d = _fast("gelu_tanh_back" if approximate else "gelu_back", g, x)
    if d is not None:
        return d
    if approximate:
        return _made_by_blocks(_tanh_back_block, g, x)
    if x.dtype == np.float32:
        return _made_by_blocks(_back_block, g, x)
    slope = (erf(x * math.sqrt(0.5)) + 1) * 0.5
    return g * (slope + x * np.exp(x * x * -0.5) * _DENSITY)


def slope(x, *, approximate):
    """Return the derivative of gelu at x; g times it is bitwise equal to `gelu_back`."""
    return gelu_back(np.ones_like(x), x, approximate=approximate)


def _fast(name, *arrays):
    """Return the result of the Numba kernel `name`, or None if it does not support the arrays."""
    x = arrays[0]
    if x.dtype != np.float32 or x.size < _FAST or tier.library("rows") is None:
        return None
    y = np.empty(x.shape, np.float32)
    KernelTask("rows", name, (), x.size, _UNIT, x.size * _SECONDS)(
        *map(np.ascontiguousarray, arrays), y
    )
    return y


def shares(x):
    """Return whether `with_slope` takes little longer than `gelu` (they share most NumPy calls)."""
    return x.dtype == np.float32 and tier.without_numba()


@no_warnings
def with_slope(x, *, approximate, out=None):
    """Return gelu(x), and a tuple to save for the backward pass: (its derivative,).

    g times the derivative is bitwise equal to `gelu_back`.

    Args:
        out: a contiguous array for gelu of x; None creates one.
    """
    out = np.empty(x.shape, x.dtype) if out is None else out
    if shares(x):
        slope = np.empty(x.shape, x.dtype)
        _by_blocks(_tanh_both_block if approximate else _both_block, x, out, slope)
    else:
        out[...] = gelu(x, approximate=approximate)
        slope = gelu_back(np.ones_like(x), x, approximate=approximate)
    return out, (slope,)


def with_slope_by_rows(x, out, slope, *, approximate):
    """Return RowBlocks of `with_slope` in NumPy; `out` and `slope` are contiguous float32."""
    size, function = max(x.shape[-1], 1), _tanh_both_block if approximate else _both_block
    arrays = [a.reshape(-1) for a in (np.ascontiguousarray(x), out, slope)]
    block = blocks.size(x.size, _UFUNCS)

    def work(at):
        # A row may be longer than a block, so loop over blocks.
        for start in range(at.start * size, at.stop * size, block):
            _block(function, arrays, start, min(start + block, at.stop * size))

    return blocks.RowBlocks(x.size // size, max(block // size, 1), work)


def shared(size):
    """Return whether NumPy's gelu of `size` elements is divided among threads."""
    return size * _UFUNCS >= blocks.LEAST


def _made_by_blocks(function, *arrays):
    """Return a new array `out` that `function(*arrays, out, scratch)` has filled block by block."""
    out = np.empty(arrays[0].shape, arrays[0].dtype)
    _by_blocks(function, *arrays, out)
    return out


def _by_blocks(function, *arrays):
    """Call `function(*arrays, scratch)` block by block; the output arrays are contiguous."""
    flat = [np.ascontiguousarray(a).reshape(-1) for a in arrays]
    blocks.run(partial(_block, function, flat), flat[0].size, _UFUNCS)


def _block(function, arrays, start, stop):
    kinds = (arrays[0].dtype,) * 3
    scratch = blocks.take(kinds)
    function(*[a[start:stop] for a in arrays], [a[: stop - start] for a in scratch])
    blocks.give(kinds, scratch)


def _tail(x, out, scratch):
    """Write Φ(-|x|) to `out`; return min(|x|, END) and exp(-x²/2), stored in scratch."""
    size, e, u = scratch
    np.abs(x, size)
    # `not <=` is also true if there is a NaN, `>` would not be.
    if not np.maximum.reduce(size, initial=0.0) <= END:
        # np.minimum takes 4 times as long as np.multiply, so skip it if possible.
        np.minimum(size, _NUMBERS[END], out=size)
    np.add(size, _NUMBERS[CENTER], e)
    np.subtract(size, _NUMBERS[CENTER], u)
    np.divide(u, e, u)
    polynomial(TAIL, u, out)
    np.multiply(size, size, e)
    np.multiply(e, _NUMBERS[-0.5], e)
    np.exp(e, e)
    np.multiply(out, e, out)
    return size, e


def _gelu_block(x, out, scratch):
    size, spare = _tail(x, out, scratch)
    _value(x, out, size, spare, out)


def _value(x, tail, size, spare, out):
    np.multiply(tail, size, out)
    # np.maximum of two arrays is 5 times as fast as np.maximum(x, 0).
    np.maximum(x, blocks.full(_ZERO)[: len(x)], out=spare)
    np.subtract(spare, out, out)


def _back_block(g, x, out, scratch):
    _slope(x, out, *_tail(x, out, scratch))
    np.multiply(out, g, out)


def _both_block(x, y, slope, scratch):
    size, e = _tail(x, slope, scratch)
    _value(x, slope, size, scratch[2], y)
    _slope(x, slope, size, e)


def _slope(x, tail, size, e):
    """Replace the tail Φ(-|x|) in the array `tail` by the derivative of gelu at x."""
    np.subtract(_NUMBERS[0.5], tail, tail)
    np.multiply(size, _NUMBERS[_DENSITY], size)
    np.multiply(size, e, size)
    # From here on, the derivative is 1/2 + tail for x >= 0, else 1/2 - tail.
    np.add(tail, size, tail)
    bits, sign = tail.view(np.int32), e.view(np.int32)
    np.bitwise_and(x.view(np.int32), _SIGN, sign)
    np.bitwise_xor(bits, sign, bits)  # The xor flips signs; np.copysign would take 3 times as long.
    np.add(tail, _NUMBERS[0.5], tail)


def _sigmoid(x, s, squared):
    """Write x² to `squared`, and the sigmoid of gelu's tanh approximation to `s`."""
    one = x.dtype.type(1)
    np.multiply(x, x, squared)
    np.multiply(squared, x.dtype.type(_CUBIC), s)
    np.add(s, one, s)
    np.multiply(s, x, s)
    np.multiply(s, x.dtype.type(-2 * _INNER), s)
    np.exp(s, s)
    np.add(s, one, s)
    np.reciprocal(s, s)


def _gelu_tanh_block(x, out, scratch):
    _sigmoid(x, out, scratch[2])
    np.multiply(out, x, out)


def _tanh_back_block(g, x, out, scratch):
    s, rest, squared = scratch
    _sigmoid(x, s, squared)
    _tanh_slope(x, s, rest, squared)
    np.multiply(s, g, out)


def _tanh_both_block(x, y, slope, scratch):
    _, rest, squared = scratch
    _sigmoid(x, slope, squared)
    np.multiply(slope, x, y)
    _tanh_slope(x, slope, rest, squared)


def _tanh_slope(x, s, rest, squared):
    """Replace the sigmoid in the array `s` by the derivative of gelu's tanh approximation at x."""
    np.multiply(squared, x.dtype.type(6 * _CUBIC * _INNER), squared)
    np.add(squared, x.dtype.type(2 * _INNER), squared)
    np.multiply(squared, x, squared)
    np.subtract(x.dtype.type(1), s, rest)
    np.multiply(rest, s, rest)
    # From here on, `squared` holds x times the derivative of the sigmoid.
    np.multiply(squared, rest, squared)
    np.add(s, squared, s)
