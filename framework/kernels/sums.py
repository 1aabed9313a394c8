"""Sums as BLAS products with ones, without Numba: faster than NumPy's `add.reduce`.

A call of `add.reduce` takes 0.8 µs, a product of vectors 0.3 µs. The sum of the rows of a
2048 × 128 matrix takes 15 µs instead of 51, of a 64 × 10 matrix 0.8 µs instead of 2.

With Numba these products are not used: loop kernels add rows in the order of `add.reduce`, so that
compiled plans round exactly as eager ops do, whereas BLAS adds several rows at once.
"""

import functools
import math

import numpy as np

from framework.kernels import tier
from framework.kernels.matmul import alone

# BLAS sums rows of up to this many elements as accurately as NumPy's pairwise sum. Columns have no
# limit, because NumPy does not sum them pairwise.
MOST = 1 << 12
_reduce = np.add.reduce
LEAST_SHARED = 9216  # OpenBLAS uses its threads for a matrix of at least this many elements.


def as_product(shape, dtype, axis):
    """Return the shape in which a sum over sorted axes is a product with ones, or None.

    The shape is (before, count, after), for `count` ones; `before` or `after` is 1.
    """
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
    """Return np.dot of a matrix and a vector, computed on this thread only."""
    return alone(np.dot, a, b, out)


def added(x, axis, keepdims=False):
    """Return the sum over a sorted tuple of axes, in the array's dtype.

    16-bit floats are added up in float32.
    """
    if x.itemsize == 2 and x.dtype.kind not in "iu":
        return np.asarray(added(x.astype(np.float32), axis, keepdims)).astype(x.dtype)
    sizes = _seen(x.shape, x.dtype, axis) if tier.without_numba() else None
    if sizes is None:
        y = _reduce(x, axis, x.dtype, None, keepdims)
        # Each sum has one element; copy it to keep -0.0.
        return x.reshape(y.shape).copy() if y.size == x.size else y
    before, count, after = sizes
    ones = _ones(count, x.dtype) if count <= MOST else np.ones(count, x.dtype)
    # Copy to keep -0.0, as compiled plans do; a product may not keep it.
    if count == 1:
        y = x.reshape(before * after if x.size > 1 else ()).copy()
    elif before == after == 1:
        y = x.reshape(-1).dot(ones)
    else:
        factors = (ones, x.reshape(count, after)) if after > 1 else (x.reshape(before, count), ones)
        y = (np.dot if x.size < LEAST_SHARED else dot)(*factors)
    if keepdims or len(axis) + y.ndim != x.ndim:
        return y.reshape(_reduced(x.shape, axis, keepdims))
    return y


def _reduced(shape, axis, keepdims):
    return [1 if i in axis else n for i, n in enumerate(shape) if keepdims or i not in axis]
