"""Sums as products with ones without Numba: BLAS has them sooner than NumPy's `add.reduce`.

That takes 0.8 µs before it adds anything, a product of vectors 0.3; the sums over the rows of
2048 × 128 numbers take 15 µs instead of 51, those of 64 rows of 10 numbers 0.8 instead of 2.

Numba's loops add rows up one after the other as `add.reduce` does, so that a step by plans has the
bits of one by a tape. BLAS takes several at once; where there may be loops, nobody asks it.
"""

import functools
import math

import numpy as np

from framework.kernels import tier
from framework.kernels.matmul import alone

# Numbers that BLAS adds up without losing more digits than NumPy, which adds up long rows in parts.
# (Over rows neither does.)
MOST = 1 << 12
LEAST_SHARED = 9216  # numbers from which on OpenBLAS shares a sum among its threads


def as_product(shape, dtype, axis):
    """(before, count, after): how an array is seen for its sum over the sorted axes to be a product
    with `count` ones; None where it is none. `before` or `after` is 1."""
    return _seen(shape, dtype, axis) if tier.without_numba() else None


@functools.lru_cache(maxsize=512)
def _seen(shape, dtype, axis):
    if dtype.char not in "fd" or not axis or axis[-1] - axis[0] != len(axis) - 1:
        return None
    parts = shape[: axis[0]], shape[axis[0] : axis[-1] + 1], shape[axis[-1] + 1 :]
    before, count, after = map(math.prod, parts)
    if not before * count * after or (before > 1 and after > 1) or (after == 1 and count > MOST):
        return None
    return before, count, after


@functools.lru_cache(maxsize=64)
def _ones(count, dtype):
    return np.ones(count, dtype)


def dot(a, b, out=None):
    """np.dot of a matrix and a vector, on this thread."""
    return alone(np.dot, a, b, out)


def added(x, axis, keepdims=False):
    """The sum over a sorted tuple of axes, in the array's own dtype."""
    sizes = _seen(x.shape, x.dtype, axis) if tier.without_numba() else None
    if sizes is None:
        return np.add.reduce(x, axis=axis, keepdims=keepdims, dtype=x.dtype)
    before, count, after = sizes
    ones = _ones(count, x.dtype) if count <= MOST else np.ones(count, x.dtype)
    if count == 1:  # as plans have it, which leave such sums out: -0.0 stays -0.0
        y = x.reshape(before * after if x.size > 1 else ()).copy()
    elif before == after == 1:
        y = x.reshape(-1).dot(ones)
    else:
        factors = (ones, x.reshape(count, after)) if after > 1 else (x.reshape(before, count), ones)
        y = (np.dot if x.size < LEAST_SHARED else dot)(*factors)
    if keepdims or len(axis) + y.ndim != x.ndim:
        places = enumerate(x.shape)
        y = y.reshape([1 if i in axis else n for i, n in places if keepdims or i not in axis])
    return y
