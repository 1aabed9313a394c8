"""The product of two matrices: BLAS for small ones, the micro-kernel for larger ones with Numba.

OpenBLAS uses threads for products of more than `ALONE` multiplications. Up to `PAYS` this saves no
time (64 × 128 × 128 takes 16 µs instead of 13), and if another process holds a core, OpenBLAS's
threads wait 8 to 400 ms for each other. So OpenBLAS uses one thread up to `SHARED`. Larger products
are divided among the package's own threads, each with OpenBLAS on one thread, because OpenBLAS's
threads spin for some 20 ms after a product, which takes half of the CPU from other threads. With
Numba, OpenBLAS's threads are never used: a single product of 128 × 3136 × 16 on them would slow a
network down by a third.

With Numba, products from `PAYS` on use the micro-kernel, which on one thread is 5 to 15 % faster
than OpenBLAS from 64 × 256 × 128 on, and which `fast/team.py` shares in 2 µs. Compiled plans use
the micro-kernel for smaller products too, to run a whole training step in one call. Single ops use
OpenBLAS for small products, except in the tier "numba", where ops must round exactly as plans do.
"""

import sys

import numpy as np

from framework.kernels import blas, threads, tier
from framework.kernels.blocks import RowBlocks
from framework.kernels.products import LEAST, PAYS

ALONE = 1 << 18  # OpenBLAS by itself uses one thread for up to this many multiplications.
# Threads share products of at least this many multiplications (300 µs), because sharing takes 40
# µs.
SHARED = 1 << 25
_FLOAT = np.dtype(np.float32)
_WHOLE = 16  # The number of rows or columns that a thread computes is a multiple of this.


def dot(a, b, out=None):
    """Return a @ b of two matrices; with Numba it is bitwise equal for any number of threads.

    Args:
        out: a contiguous array of the right shape and dtype for the result; None creates one.
    """
    if len(b) == 1 and _is_scaling(a, b):
        return np.multiply(a, b, out)
    multiplications = len(a) * b.size
    if multiplications <= ALONE and (multiplications < LEAST or tier.tier() != "numba"):
        return np.dot(a, b, out)
    return _large(a, b, out, multiplications)


def _is_scaling(a, b):
    """Return whether one factor of a product is 1 × 1.

    `np.dot` returns 0 if this factor is 0 and an element of the other one is infinite or NaN.
    """
    return a.shape[1] == 1 and (len(a) == 1 or b.shape[1] == 1)


def _large(a, b, out, multiplications):
    if multiplications >= (LEAST if tier.tier() == "numba" else PAYS):
        fast = _library(multiplications)
        if fast is not None and _are_float32(a, b, out):
            prepared = fast.prepared(a, b)
            if prepared.suits:
                return prepared.dot(a, b, out)
        if multiplications >= SHARED:
            plain = threads.count() > 1 and _is_plain(a, b)
            return _shared(a, b, out) if plain else np.dot(a, b, out)
    return alone(np.dot, a, b, out)


def _is_plain(a, b):
    return a.dtype == b.dtype and a.dtype.char in "fd" and blas.controls() is not None


def _shared(a, b, out):
    """Return a @ b, computed by threads: the longer side of the result is divided among them."""
    out = np.empty((len(a), b.shape[1]), a.dtype) if out is None else out
    several((((a, b, out, ()),),))
    return out


def shares(multiplications):
    """Return whether threads share a product of this size; False if a Numba kernel is used."""
    if multiplications < SHARED or threads.count() == 1 or not tier.without_numba():
        return False
    return blas.controls() is not None


def several(lanes):
    """Run independent chains of products and row-wise tasks on several threads.

    Handing work to another thread takes a fifth of the time of a product, so all chains are handed
    over at once. A task reads, from earlier tasks of its chain, only the rows that it computes
    itself. So a thread runs all tasks of a chain on its rows, and finds in its cache what it has
    just written.

    Args:
        lanes: the chains, lists of tasks. A task is a `blocks.RowBlocks`, or (a, b, out,
            following): a product out = a @ b, float32 or float64, `out` contiguous, of any shape,
            followed by ufuncs: each (ufunc, operand) in `following` updates `out`. An operand is a
            row, an array of the shape of `out`, or a pair of matrices whose product has this shape.
            In a chain of several tasks, products must not have more columns than rows.
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
        # Start the longest parts first, so that all threads finish at about the same time.
        parts.sort(key=_work, reverse=True)
        with blas.limited(1):
            threads.run(lambda part: _part(*part), parts)
    for end in ends:
        end()


def _flat(task):
    """Return a product task with its result and operands reshaped to matrices."""
    a, b, out, following = task
    shape = len(a), b.shape[1]
    given = [x if type(x) is tuple or x.ndim == 1 else x.reshape(shape) for _, x in following]
    return a, b, out.reshape(shape), [(u, x) for (u, _), x in zip(following, given, strict=True)]


def _pieces(lane):
    """Split a chain into chains that run in sequence.

    RowBlocks whose blocks do not end where the slices of the products end become a separate chain.
    """
    starts, pieces = [at.start for at in _slices(lane) or ()], [[]]
    for task in lane:
        if type(task) is RowBlocks and not all(map(task.may_begin, starts)):
            pieces += [[task], []]
        else:
            pieces[-1].append(task)
    return [piece for piece in pieces if piece]


def _slices(lane):
    """Return the slices of rows that threads compute, or None if a single thread runs the chain.

    For a single product with more columns than rows, they are slices of columns.
    """
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
    """Run one task on this thread; `dot` may still divide a matrix product among threads."""
    if type(task) is RowBlocks:
        several(((task,),))
        return
    a, b, out, following = task
    dot(a, b, out)
    for ufunc, x in following:
        ufunc(out, dot(*x) if type(x) is tuple else x, out)


def _work(part):
    """Return the approximate number of multiplications of a (chain, slice)."""
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
    """Run a slice of a chain: rows, or columns of a single product with more columns than rows."""
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


# In the tier "auto", BLAS computes the first products. Numba is imported only after this many
# multiplications, because the import takes 0.4 s, too long for a short program.
_before_loading = 30_000_000_000


def _library(multiplications):
    global _before_loading
    if _before_loading > 0 and "numba" not in sys.modules and tier.tier() == "auto":
        _before_loading -= multiplications
        return None
    return tier.library("matmul")


def stacked(a, b):
    """Return a @ b of stacks of matrices, which broadcast; threads share large stacks."""
    (rows, depth), columns = a.shape[-2:], b.shape[-1]
    large = a.size * columns >= SHARED or rows * b.size >= SHARED
    if large and threads.count() > 1 and _is_plain(a, b):
        leading = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        if leading and max(leading) > 1:
            return _shared_stack(a, b, (*leading, rows, columns))
    if ALONE < rows * depth * columns < SHARED:
        return alone(np.matmul, a, b)
    return np.matmul(a, b)


def _shared_stack(a, b, shape):
    """Return a @ b, computed by threads: the longest leading axis is divided among them."""
    out = np.empty(shape, a.dtype)
    a, b = (x.reshape((1,) * (len(shape) - x.ndim) + x.shape) for x in (a, b))
    length = max(shape[:-2])
    axis = shape.index(length)
    # Each thread gets two parts, so that others can take the second part of a slow thread.
    step = -(-length // (2 * threads.count()))

    def part(start):
        at = (slice(None),) * axis + (slice(start, start + step),)
        np.matmul(*(x[at] if x.shape[axis] > 1 else x for x in (a, b)), out=out[at])

    with blas.limited(1):
        threads.run(part, range(0, length, step))
    return out


def _are_float32(a, b, out):
    """Return whether the Numba kernel supports the arrays: float32, in a layout it can read."""
    return (
        a.dtype == b.dtype == _FLOAT
        and a.flags.aligned
        and b.flags.aligned
        and (out is None or (out.dtype == _FLOAT and out.flags.c_contiguous))
    )


_unasked = object()
_controls = _unasked


def alone(product, *arrays):
    """Return product(*arrays), np.dot or np.matmul, computed on this thread only."""
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
