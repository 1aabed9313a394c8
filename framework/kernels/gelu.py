"""gelu, x times the normal distribution function Φ(x), and its slope; exact and by tanh.

In float32 the exact form goes by the tail of the distribution, which loses no digits where Φ is
small, and shares its exponential with the density φ that the slope needs:

    t = Φ(-|x|) = exp(-x²/2) W(u),  u = (|x| - 5) / (|x| + 5);  gelu(x) = max(x, 0) - |x| t

W is a Chebyshev interpolant in powers, fitted with relative error 2.6e-8. In float64: by erf.
"""

import itertools
import math

import numpy as np

from framework.core.quiet import quiet
from framework.kernels import threads, tier
from framework.kernels.erf import erf, polynomial
from framework.kernels.windows import halves

_FAST = 2048  # elements from which on Numba's form is used
_SHARED = 1 << 20  # elements from which on two threads are faster than one
_BLOCK = 1 << 15  # elements; the scratch of a block stays in the cache

CENTER, END = 5.0, 14.5  # beyond END the tail is 0 beside any x
TAIL = (
    0.0002215880176, 0.000222705592, -0.00242819716, 0.008978833284, -0.02340361488, 0.04785793796,
    -0.08088480136, 0.1160686753, -0.1434575295, 0.0769193058,
)  # fmt: skip

_CUBIC, _INNER, _DENSITY = 0.044715, math.sqrt(2 / math.pi), 1 / math.sqrt(2 * math.pi)


@quiet
def gelu(x, *, approximate):
    """x times the normal distribution function of x, or its tanh approximation."""
    if wide := halves(x):
        return gelu(*wide, approximate=approximate).astype(x.dtype)
    found = _fast("gelu_tanh" if approximate else "gelu", x)
    if found is not None:
        return found
    if approximate:
        return x * (np.tanh(_INNER * (x + x * x * x * _CUBIC)) + 1) * 0.5
    if x.dtype == np.float32:
        return _by_blocks(_gelu_block, x)
    return x * (erf(x * math.sqrt(0.5)) + 1) * 0.5


@quiet
def gelu_back(g, x, *, approximate):
    """g times the slope of gelu at x."""
    if wide := halves(g, x):
        return gelu_back(*wide, approximate=approximate).astype(g.dtype)
    if g.dtype == x.dtype and g.shape == x.shape:
        found = _fast("gelu_tanh_back" if approximate else "gelu_back", g, x)
        if found is not None:
            return found
    squared = x * x
    if approximate:
        t = np.tanh(_INNER * (x + x * squared * _CUBIC))
        slope = (t + 1) + x * (1 - t * t) * (squared * (3 * _CUBIC) + 1) * _INNER
        return g * (slope * 0.5)
    if x.dtype == np.float32:
        return g * _by_blocks(_slope_block, x)
    slope = (erf(x * math.sqrt(0.5)) + 1) * 0.5
    return g * (slope + x * np.exp(squared * -0.5) * _DENSITY)


def _fast(name, *arrays):
    """What the fast function of this name gives for the arrays, element by element; or None."""
    x = arrays[0]
    if x.dtype != np.float32 or x.size < _FAST:
        return None
    library = tier.library("rows")
    if library is None:
        return None
    y = np.empty(x.shape, np.float32)
    flat, out = [np.ascontiguousarray(a).reshape(-1) for a in arrays], y.reshape(-1)
    function = getattr(library, name)
    count = threads.count() if x.size >= _SHARED else 1
    edges = [x.size * i // count for i in range(count + 1)]
    threads.run(lambda part: function(*flat, *part, out), list(itertools.pairwise(edges)))
    return y


def _by_blocks(function, x):
    flat = np.ascontiguousarray(x).reshape(-1)
    y = np.empty_like(flat)
    for start in range(0, flat.size, _BLOCK):
        function(flat[start : start + _BLOCK], y[start : start + _BLOCK])
    return y.reshape(x.shape)


def _tail(x):
    """|x|, no more than END; exp(-x²/2) and Φ(-|x|)."""
    size = np.abs(x)
    if not np.maximum.reduce(size) <= END:  # NaN, too
        np.minimum(size, np.float32(END), out=size)  # 4 times as slow as a product
    e = size * size
    e *= np.float32(-0.5)
    np.exp(e, out=e)
    u = size + np.float32(CENTER)
    np.divide(size - np.float32(CENTER), u, out=u)
    tail = polynomial(TAIL, u)
    tail *= e
    return size, e, tail


def _gelu_block(x, out):
    size, _, tail = _tail(x)
    np.maximum(x, np.float32(0), out=out)
    tail *= size
    out -= tail


def _slope_block(x, out):
    size, e, tail = _tail(x)
    np.subtract(np.float32(0.5), tail, out=tail)
    size *= np.float32(_DENSITY)
    size *= e
    tail += size  # the slope is 1/2 and that, for x < 0 less that
    np.copysign(tail, x, out=out)
    out += np.float32(0.5)
