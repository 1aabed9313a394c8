"""The product of two matrices: NumPy's BLAS, or blocks around the micro-kernel for larger ones.

OpenBLAS shares products of more than `ALONE` multiplications among threads. That gains nothing up
to `PAYS` (64 × 128 × 128 takes 16 µs instead of 13), and where another process holds a core its
threads wait for each other, 8 to 40 ms. So it works alone here, and in as many threads as it takes
by itself from there to `SHARED`. Larger products are divided among the threads that share all
else, with OpenBLAS alone on each: its own threads wait for the next product for some 20 ms at full
speed, and whoever wants their CPU meanwhile gets half of it. Where Numba's kernels want it they are
not woken at all: a network with one product of 128 × 3136 × 16 in OpenBLAS's threads takes a third
longer.

Where Numba is, those products are ours: on one thread 5 to 15 % faster than OpenBLAS from
64 × 256 × 128 on, and shared by `fast/team.py` in 2 µs. Plans take smaller ones up too, so as to do
all of a step in one call. One by one they are OpenBLAS's, but in the tier "numba", where ops have
the bits that plans have.
"""

import sys

import numpy as np

from framework.kernels import blas, threads, tier
from framework.kernels.blocks import RowBlocks
from framework.kernels.products import LEAST, PAYS

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
    if multiplications <= ALONE and (multiplications < LEAST or tier.tier() != "numba"):
        return np.dot(a, b, out)
    return _large(a, b, out, multiplications)


def _large(a, b, out, multiplications):
    if multiplications >= (LEAST if tier.tier() == "numba" else PAYS):
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
    several((((a, b, out, ()),),))
    return out


def shares(multiplications):
    """Whether a product of so many is divided among threads as NumPy's."""
    if multiplications < SHARED or threads.count() == 1 or not tier.without_numba():
        return False
    return blas.controls() is not None


def several(lanes):
    """Products and what else is done by rows, in lanes that do not need each other.

    Handing over takes as long as a fifth of a product, so all is handed over at once. In a lane
    each task needs the same rows of those before it and no others: a thread takes its rows through
    all of them, and finds in the cache what it has just written.

    Args:
        lanes: of tasks: a `blocks.RowBlocks`, or a product (a, b, out, following) for out = a @ b,
            float32 or float64, `out` contiguous, of any shape; each that follows, (ufunc, operand),
            changes `out`. An operand is a row, or of the shape of `out`, or a pair of matrices
            whose product is. Where a lane has several tasks, products are no wider than high.
    """
    parts, ends = [], []
    for tasks in lanes:
        *before, lane = _pieces([t if type(t) is RowBlocks else _flat(t) for t in tasks])
        for piece in before:
            several((piece,))
        slices = _slices(lane)
        if slices is None:
            for task in lane:
                _alone(task)
        else:
            parts += [(lane, at) for at in slices]
            ends += [task.finish for task in lane if type(task) is RowBlocks and task.finish]
    if parts:
        parts.sort(key=_work, reverse=True)  # of those that are done last none takes long
        with blas.limited(1):
            threads.run(lambda part: _part(*part), parts)
    for end in ends:
        end()


def _flat(task):
    """A product with its result, and what follows, as matrices."""
    a, b, out, following = task
    shape = len(a), b.shape[1]
    given = [x if type(x) is tuple or x.ndim == 1 else x.reshape(shape) for _, x in following]
    return a, b, out.reshape(shape), [(u, x) for (u, _), x in zip(following, given, strict=True)]


def _pieces(lane):
    """The lane as lanes to be done one after the other: what may not be begun where products are
    has one of its own."""
    starts, pieces = [at.start for at in _slices(lane) or ()], [[]]
    for task in lane:
        if type(task) is RowBlocks and not all(map(task.may_begin, starts)):
            pieces += [[task], []]
        else:
            pieces[-1].append(task)
    return [piece for piece in pieces if piece]


def _slices(lane):
    """The rows, or columns of a product alone, that a thread takes at a time; None where this is no
    work for several."""
    products = [task for task in lane if type(task) is not RowBlocks]
    if not products:
        return lane[0].slices
    for a, b, _, _ in products:
        if len(a) * b.size < SHARED or threads.count() == 1 or not _is_plain(a, b):
            return None
    size = max(products[0][2].shape)
    step = -(-size // (threads.count() * _WHOLE)) * _WHOLE
    return [slice(start, start + step) for start in range(0, size, step)]


def _alone(task):
    """A task, one thread's or as `dot` shares it."""
    if type(task) is RowBlocks:
        several(((task,),))
        return
    a, b, out, following = task
    dot(a, b, out)
    for ufunc, x in following:
        ufunc(out, dot(*x) if type(x) is tuple else x, out)


def _work(part):
    """About how many multiplications it is, of matrices alone."""
    lane, at = part
    total = 0
    for task in lane:
        if type(task) is not RowBlocks:
            _, b, out, following = task
            total += min(out.shape) * sum(
                [len(b)] + [len(x[1]) for _, x in following if type(x) is tuple]
            )
    return (at.stop - at.start) * total


def _part(lane, at):
    """Some rows of a lane, or columns of a product alone where there are more of them."""
    for task in lane:
        if type(task) is RowBlocks:
            task(at)
        else:
            _product(*task, at)


def _product(a, b, out, following, at):
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
    """a @ b of stacks of matrices, whose leading axes broadcast; threads share large stacks."""
    (rows, depth), columns = a.shape[-2:], b.shape[-1]
    large = a.size * columns >= SHARED or rows * b.size >= SHARED
    if large and threads.count() > 1 and _is_plain(a, b):
        leading = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        if leading and max(leading) > 1:
            return _shared_stack(a, b, (*leading, rows, columns))
    if ALONE < rows * depth * columns < PAYS:
        return alone(np.matmul, a, b)
    return np.matmul(a, b)


def _shared_stack(a, b, shape):
    """a @ b, some of the longest leading axis on each thread."""
    out = np.empty(shape, a.dtype)
    a, b = (x.reshape((1,) * (len(shape) - x.ndim) + x.shape) for x in (a, b))
    length = max(shape[:-2])
    axis = shape.index(length)
    step = -(-length // (2 * threads.count()))  # twice: one thread may come late

    def part(start):
        at = (slice(None),) * axis + (slice(start, start + step),)
        np.matmul(*(x[at] if x.shape[axis] > 1 else x for x in (a, b)), out=out[at])

    with blas.limited(1):
        threads.run(part, range(0, length, step))
    return out


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
        _controls = blas.controls()
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
