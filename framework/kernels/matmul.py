"""The product of two matrices: NumPy's BLAS, or blocks around the micro-kernel for larger ones.

OpenBLAS shares products of more than `ALONE` multiplications among threads. That gains nothing up
to `LEAST` (64 × 128 × 128 takes 16 µs instead of 13), and where another process holds a core its
threads wait for each other, 8 to 40 ms. So it works alone here, and in as many threads as it takes
by itself from there to `SHARED`. Larger products are divided among the threads that share all
else, with OpenBLAS alone on each: its own threads wait for the next product for some 20 ms at full
speed, and whoever wants their CPU meanwhile gets half of it. Where Numba's kernels want it they are
not woken at all: a network with one product of 128 × 3136 × 16 in OpenBLAS's threads takes a third
longer.

Where Numba is, those products are ours: on one thread 5 to 15 % faster than OpenBLAS from
64 × 256 × 128 on, and shared by `fast/crew.py` in 2 µs.
"""

import math
import sys

import numpy as np

from framework.kernels import blas, threads, tier
from framework.kernels.products import LEAST

ALONE = 1 << 18
SHARED = 1 << 25  # 300 µs on one thread: handing over costs 40
_FLOAT = np.dtype(np.float32)
_WHOLE = 16  # rows or columns, of which a thread's part has a whole number


def dot(a, b, out=None):
    """a @ b of two matrices; where Numba computes it, its bits do not depend on the threads.

    Args:
        out: a contiguous array of the right shape and dtype for the result; a new one where None.
    """
    multiplications = len(a) * b.size
    if multiplications <= ALONE:
        return np.dot(a, b, out)
    return _large(a, b, out, multiplications)


def _large(a, b, out, multiplications):
    if multiplications >= LEAST:
        fast = _library(multiplications)
        if fast is not None and _are_float32(a, b, out):
            prepared = fast.prepared(a, b)
            if prepared.suits:
                return prepared.dot(a, b, out)
        if multiplications >= SHARED and threads.count() > 1 and _is_plain(a, b):
            return _shared(a, b, out)
        if fast is None or a.dtype != np.float32:
            return np.dot(a, b, out)
    return alone(np.dot, a, b, out)


def _is_plain(a, b):
    return a.dtype == b.dtype and a.dtype.char in "fd" and blas.controls() is not None


def _shared(a, b, out):
    """a @ b, a part of its longer side on each thread."""
    out = np.empty((len(a), b.shape[1]), a.dtype) if out is None else out
    several(((a, b, out, ()),))
    return out


def shares(multiplications):
    """Whether a product of so many is divided among threads as NumPy's."""
    if multiplications < SHARED or threads.count() == 1 or not tier.without_numba():
        return False
    return blas.controls() is not None


def several(tasks):
    """Products that do not need each other, and what follows each element by element.

    Handing over takes as long as a fifth of a product, so they are handed over at once; and what
    follows finds its part in the cache.

    Args:
        tasks: (a, b, out, following) for out = a @ b, float32 or float64, `out` contiguous, of any
            shape; each that follows, (ufunc, operand), changes `out`. An operand is a row, or of
            the shape of `out`, or a pair of matrices whose product is.
    """
    parts = []
    for task in map(_flat, tasks):
        a, b, out, following = task
        if len(a) * b.size >= SHARED and threads.count() > 1 and _is_plain(a, b):
            size = max(out.shape)
            step = -(-size // (threads.count() * _WHOLE)) * _WHOLE
            parts += [(task, slice(i, i + step)) for i in range(0, size, step)]
            continue
        dot(a, b, out)
        for ufunc, x in following:
            ufunc(out, dot(*x) if type(x) is tuple else x, out)
    if parts:
        parts.sort(key=_work, reverse=True)  # of those that are done last none takes long
        with blas.limited(1):
            threads.run(lambda part: _part(*part), parts)


def _flat(task):
    """A task with its result, and what follows, as matrices."""
    a, b, out, following = task
    shape = len(a), b.shape[1]
    given = [x if type(x) is tuple or x.ndim == 1 else x.reshape(shape) for _, x in following]
    return a, b, out.reshape(shape), [(u, x) for (u, _), x in zip(following, given, strict=True)]


def _work(part):
    (_, b, out, following), at = part
    depths = [len(b)] + [len(x[1]) for _, x in following if type(x) is tuple]
    return (at.stop - at.start) * min(out.shape) * sum(depths)


def _part(task, at):
    """Some rows of a task, or columns where there are more of them."""
    a, b, out, following = task
    by_rows = len(a) >= b.shape[1]
    rows, columns = (at, slice(None)) if by_rows else (slice(None), at)
    part = out[rows, columns]
    np.matmul(a[rows], b[:, columns], out=part)
    for ufunc, x in following:
        if type(x) is tuple:
            operand = np.matmul(x[0][rows], x[1][:, columns])
        else:
            operand = x[columns] if x.ndim == 1 else x[rows, columns]
        ufunc(part, operand, part)


# Multiplications to be done by BLAS before Numba is loaded for products alone. Loading takes some
# 0.4 s: a short program, or the first steps of a long one, should not wait for it.
_before_loading = 30_000_000_000


def _library(multiplications):
    global _before_loading
    if _before_loading > 0 and "numba" not in sys.modules and tier.tier() == "auto":
        _before_loading -= multiplications
        return None
    return tier.library("matmul")


def stacked(a, b):
    """a @ b of stacks of matrices, whose leading axes broadcast."""
    if ALONE < math.prod(a.shape[-2:]) * b.shape[-1] < LEAST:
        return alone(np.matmul, a, b)
    return np.matmul(a, b)


def _are_float32(a, b, out):
    """Whether the dtypes, and `out`, are what Numba's form takes."""
    return (
        a.dtype == b.dtype == _FLOAT
        and a.flags.aligned
        and b.flags.aligned
        and (out is None or (out.dtype == _FLOAT and out.flags.c_contiguous))
    )


_unasked = object()
_controls = _unasked


def alone(product, *arrays):
    """np.dot or np.matmul of these, on this thread."""
    global _controls
    if _controls is _unasked:
        _controls = blas.controls() if threads.count() > 1 else None
    if _controls is None:
        return product(*arrays)
    get, put = _controls
    before = get()
    if before == 1:
        return product(*arrays)
    put(1)
    try:
        return product(*arrays)
    finally:
        put(before)
