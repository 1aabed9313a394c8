"""Layer normalization, root-mean-square normalization, and softmax.

The normalizations treat arrays as (rows, size) and normalize each row; softmax supports any axis.
The Numba kernels (`fast/rows.py`) support float32 rows of up to 65,536 elements, because their sums
would lose digits in longer rows.
"""

import numpy as np

from framework.core.numpy_warnings import no_warnings
from framework.kernels import blas, blocks, threads, tier
from framework.kernels.kernel_task import KernelTask, bits
from framework.kernels.sums import added
from framework.kernels.windows import halves, wide_enough

_UFUNCS = 18  # A normalization costs about as much as this many ufuncs.
# The Numba kernels are used for at least this many elements; with fewer, NumPy takes about 10 µs.
_FAST = 2048
_LONGEST = 1 << 16  # The Numba kernels support rows of up to this many elements.
SUMMED = 64  # Each partial sum of the gradients of gamma and beta covers this many rows.
_FLOAT = np.dtype(np.float32)

# For at least _MANY rows of at most _SHORT elements, NumPy computes the maxima on the transposed
# array, in 20 instead of 60 ns per row.
_SHORT, _MANY = 32, 32


def as_rows(x, size):
    """Return `x` as a contiguous array (rows, size)."""
    return np.ascontiguousarray(x).reshape(-1 if size else 0, size)


def _vector(v, dtype):
    """Return `v` as a contiguous array with one axis, of this dtype."""
    if v.ndim == 1 and v.dtype is dtype and v.flags.c_contiguous:
        return v
    return np.ascontiguousarray(v.reshape(-1).astype(dtype, copy=False))


def shares(size):
    """Return whether NumPy's normalization of `size` elements is divided among threads."""
    return size * _UFUNCS >= blocks.LEAST


def _by_rows(work, x, finish=None):
    """Return RowBlocks that call `work(slice)` for rows of `x`; sizes alone determine blocks."""
    step = max(blocks.size(x.size, _UFUNCS) // max(x.shape[1], 1), 1)
    return blocks.RowBlocks(len(x), step, work, True, finish)


def _do(by_rows, x):
    """Run the RowBlocks `by_rows` on the rows of `x`, on several threads if that is faster."""
    # Limit BLAS to one thread, because its threads would compete with the package's threads.
    with blas.limited(1):
        if shares(x.size):
            threads.run(by_rows, by_rows.slices)
        else:
            by_rows(slice(0, len(x)))
    if by_rows.finish is not None:
        by_rows.finish()


def _adding(work, x, sums):
    """Return RowBlocks that call `work(slice, partial)`, which writes a block's sums to `partial`.

    Afterwards the sums of all blocks are added up in `sums`.
    """
    plain = _by_rows(None, x)
    partial = np.zeros((max(len(plain.slices), 1), len(sums), x.shape[1]), x.dtype)

    def finish():
        for total, parts in zip(sums, np.add.reduce(partial, axis=0), strict=True):
            total[...] = parts.reshape(total.shape)

    return _by_rows(lambda at: work(at, partial[at.start // plain.step]), x, finish)


def is_fast(dtype, count, size, loaded=False):
    """Return whether a Numba kernel computes `count` elements in rows of `size`.

    Args:
        loaded: whether Numba is imported already; a few elements are not worth the import.
    """
    if not ((dtype is _FLOAT or dtype == _FLOAT) and 0 < size <= _LONGEST and count):
        return False
    if count < _FAST and not loaded and tier.tier() != "numba":
        return False
    return tier.library("rows") is not None


# The KernelTasks that run the Numba kernels: work that the package's waiting threads share.
# `fast/rows.py` documents each task's arrays and their order.
_TOGETHER = 8  # The number of rows per chunk is a multiple of this, as in matrix products.
# estimated times per element, in seconds
_NORM, _NORM_BACK, _SOFTMAX, _SOFTMAX_BACK = 5e-10, 8e-10, 1.2e-9, 8e-10


def norm_task(name, rows, size, epsilon):
    """Return the KernelTask "layer_norm" or "rms_norm"."""
    return KernelTask("rows", name, (size, bits(epsilon)), rows, _TOGETHER, rows * size * _NORM)


def norm_back_task(name, rows, size, needed):
    """Return the KernelTask "layer_norm_back" or "rms_norm_back".

    Args:
        needed: whether the task computes x's cotangent.
    """
    return KernelTask("rows", name, (size, int(needed)), rows, SUMMED, rows * size * _NORM_BACK)


def sums_of(rows):
    """Return how many partial sums a task writes for `rows` rows; `added_task` adds these up."""
    return -(-rows // SUMMED)


def added_task(rows, size):
    return KernelTask("rows", "added_rows", (rows, size), size, 32, rows * size * 1e-10)


def total_task(size, count):
    """Return the KernelTask that computes sum(x) / count of `size` elements in NumPy's order."""
    return KernelTask("rows", "pairwise", (size, count), 1, 1, size * 2e-10)


def _empty_sums(rows, size, count):
    """Return `count` uninitialized arrays, into which a task can write partial sums over rows."""
    return [np.empty((sums_of(rows), size), _FLOAT) for _ in range(count)]


def _added(sums):
    total = np.empty(sums.shape[1], _FLOAT)
    added_task(*sums.shape)(sums, total)
    return total


# ---- layer normalization -------------------------------------------------------------------------


@no_warnings
def layer_norm(x, gamma, beta, *, epsilon):
    """Return rows of the size of `gamma` with mean 0 and variance 1, times gamma plus beta.

    Each row's mean and 1 / sqrt(variance + epsilon) are returned too, for the backward pass.
    """
    narrow, dtype = x.dtype, wide_enough(x.dtype)
    rows = as_rows(x.astype(dtype, copy=False), gamma.size)
    gamma, beta = _vector(gamma, dtype), _vector(beta, dtype)
    y = np.empty_like(rows)
    mean, rstd = np.empty(len(rows), dtype), np.empty(len(rows), dtype)
    if is_fast(dtype, rows.size, rows.shape[1]):
        norm_task("layer_norm", *rows.shape, epsilon)(rows, gamma, beta, y, mean, rstd)
    else:
        _do(layer_norm_by_rows(rows, gamma, beta, y, mean, rstd, epsilon=epsilon), rows)
    return y.reshape(x.shape).astype(narrow, copy=False), (mean, rstd)


def layer_norm_by_rows(x, gamma, beta, y, mean, rstd, *, epsilon):
    """Return RowBlocks of `layer_norm` in NumPy; contiguous y, mean and rstd are outputs."""
    size, dtype = gamma.size, x.dtype
    x, y = as_rows(x, size), as_rows(y, size)
    n, ones = dtype.type(size), np.ones(size, dtype)

    def work(at):
        out = y[at]
        mean[at] = (x[at] @ ones) / n
        np.subtract(x[at], mean[at, None], out=out)
        rstd[at] = 1 / np.sqrt(np.vecdot(out, out) / n + dtype.type(epsilon))
        out *= rstd[at, None]
        out *= gamma
        out += beta

    return _by_rows(work, x)


@no_warnings
def layer_norm_back(g, x, gamma, mean, rstd, *, needed):
    """Return the cotangents of x, gamma and beta that are needed."""
    narrow, dtype = x.dtype, mean.dtype
    size = gamma.size
    g, rows = (as_rows(a.astype(dtype, copy=False), size) for a in (g, x))
    flat = _vector(gamma, dtype)
    d = np.empty_like(rows)
    if is_fast(dtype, rows.size, size):
        sums = _empty_sums(*rows.shape, 2)
        vectors = flat, np.ascontiguousarray(mean), np.ascontiguousarray(rstd)
        task = norm_back_task("layer_norm_back", *rows.shape, needed[0])
        task(g, rows, *vectors, d, *sums)
        d_gamma, d_beta = map(_added, sums)
    else:
        d_gamma, d_beta = np.empty_like(flat), np.empty_like(flat)
        given = g, rows, flat, mean, rstd
        _do(layer_norm_back_by_rows(*given, d, d_gamma, d_beta, needed=needed), rows)
    all_d = d.reshape(x.shape), d_gamma.reshape(gamma.shape), d_beta.reshape(gamma.shape)
    return tuple(v.astype(narrow, copy=False) for v, n in zip(all_d, needed, strict=True) if n)


def layer_norm_back_by_rows(g, x, gamma, mean, rstd, d, d_gamma, d_beta, *, needed):
    """Return RowBlocks of `layer_norm_back` in NumPy; contiguous d, d_gamma, d_beta are outputs."""
    size, dtype = gamma.size, x.dtype
    g, x, d, gamma = as_rows(g, size), as_rows(x, size), as_rows(d, size), gamma.reshape(-1)
    n, ones = dtype.type(size), np.ones(len(x), dtype)

    def work(at, sums):
        out, own, scale = d[at], g[at], rstd[at]
        centred = x[at] - mean[at, None]
        np.multiply(own, centred, out=out)
        np.matmul(scale, out, out=sums[0])
        np.matmul(ones[: len(own)], own, out=sums[1])
        if needed[0]:
            # The formula is d = (g gamma - mean(g gamma) - normal * mean(g gamma normal)) * rstd.
            centred *= ((out @ gamma) * scale * scale / n)[:, None]
            centred += ((own @ gamma) / n)[:, None]
            np.multiply(own, gamma, out=out)
            out -= centred
            out *= scale[:, None]

    return _adding(work, x, (d_gamma, d_beta))


# ---- root-mean-square normalization --------------------------------------------------------------


@no_warnings
def rms_norm(x, scale, *, epsilon):
    """Return rows of the size of `scale` divided by their root mean square, times scale.

    Each row's 1 / sqrt(mean square + epsilon) is returned too, for the backward pass.
    """
    narrow, dtype = x.dtype, wide_enough(x.dtype)
    rows = as_rows(x.astype(dtype, copy=False), scale.size)
    scale = _vector(scale, dtype)
    y = np.empty_like(rows)
    rstd = np.empty(len(rows), dtype)
    if is_fast(dtype, rows.size, rows.shape[1]):
        norm_task("rms_norm", *rows.shape, epsilon)(rows, scale, y, rstd)
    else:
        n = dtype.type(rows.shape[1])

        def work(at):
            rstd[at] = 1 / np.sqrt(np.vecdot(rows[at], rows[at]) / n + dtype.type(epsilon))
            np.multiply(rows[at], rstd[at, None], out=y[at])
            y[at] *= scale

        _do(_by_rows(work, rows), rows)
    return y.reshape(x.shape).astype(narrow, copy=False), (rstd,)


@no_warnings
def rms_norm_back(g, x, scale, rstd, *, needed):
    """Return the cotangents of x and scale that are needed."""
    narrow, dtype = x.dtype, rstd.dtype
    size = scale.size
    g, rows = (as_rows(a.astype(dtype, copy=False), size) for a in (g, x))
    flat = _vector(scale, dtype)
    d = np.empty_like(rows)
    if is_fast(dtype, rows.size, size):
        (sums,) = _empty_sums(*rows.shape, 1)
        own = np.ascontiguousarray(rstd)
        task = norm_back_task("rms_norm_back", *rows.shape, needed[0])
        task(g, rows, flat, own, d, sums)
        d_scale = _added(sums)
    else:
        n = dtype.type(size)

        def work(at, sums):
            out, own = d[at], rstd[at]
            np.multiply(g[at], rows[at], out=out)
            np.matmul(own, out, out=sums[0])
            if needed[0]:
                rest = rows[at] * ((out @ flat) * own * own / n)[:, None]
                np.multiply(g[at], flat, out=out)
                out -= rest
                out *= own[:, None]

        d_scale = np.empty_like(flat)
        _do(_adding(work, rows, (d_scale,)), rows)
    all_d = d.reshape(x.shape), d_scale.reshape(scale.shape)
    return tuple(v.astype(narrow, copy=False) for v, n in zip(all_d, needed, strict=True) if n)


# ---- softmax -------------------------------------------------------------------------------------


def softmax_task(name, rows, size):
    each = _SOFTMAX_BACK if name == "softmax_back" else _SOFTMAX
    return KernelTask("rows", name, (size,), rows, _TOGETHER, rows * size * each)


def _fast_softmax(name, arrays, axis):
    """Return the result of the Numba kernel `name`, or None if it does not support the arrays."""
    x = arrays[0]
    if axis != x.ndim - 1 or not is_fast(x.dtype, x.size, x.shape[-1]):
        return None
    size, y = x.shape[-1], np.empty(x.shape, _FLOAT)
    softmax_task(name, x.size // size, size)(*map(np.ascontiguousarray, arrays), y)
    return y


def exponentials(x, axis):
    """Return exp(x - max(x)) and x - max(x)."""
    shifted = x - _highest(x, axis % x.ndim)
    return np.exp(shifted), shifted


def _highest(x, axis):
    """Return the maximum along an axis, with keepdims."""
    size, last = x.shape[axis], x.ndim - 1
    # np.maximum.reduce without `initial` raises an error for an empty axis.
    if not x.size:
        return np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf)
    if axis != last or size > _SHORT or x.size < _MANY * size:
        return np.maximum.reduce(x, axis=axis, keepdims=True)
    columns = np.ascontiguousarray(x.reshape(-1, size).T)
    return np.maximum.reduce(columns, axis=0).reshape(*x.shape[:-1], 1)


@no_warnings
def softmax(x, *, axis):
    """Return exp(x) / sum(exp(x)) along `axis`."""
    if wide := halves(x):
        return softmax(*wide, axis=axis).astype(x.dtype)
    y = _fast_softmax("softmax", (x,), axis)
    if y is not None:
        return y
    e, _ = exponentials(x, axis)
    e /= added(e, (axis,), keepdims=True)
    return e


@no_warnings
def softmax_back(g, p, *, axis):
    """Return p * (g - sum(g * p)): the cotangent of the input of a softmax with result p."""
    if wide := halves(g, p):
        return softmax_back(*wide, axis=axis).astype(g.dtype)
    found = _fast_softmax("softmax_back", (g, p), axis) if g.dtype == p.dtype else None
    if found is not None:
        return found
    d = g * p
    total = added(d, (axis,), keepdims=True)
    d -= p * total
    return d


@no_warnings
def log_softmax(x, *, axis):
    """Return x - log(sum(exp(x))) along `axis`."""
    if wide := halves(x):
        return log_softmax(*wide, axis=axis).astype(x.dtype)
    y = _fast_softmax("log_softmax", (x,), axis)
    if y is not None:
        return y
    e, shifted = exponentials(x, axis)
    shifted -= np.log(added(e, (axis,), keepdims=True))
    return shifted


@no_warnings
def log_softmax_back(g, p, *, axis):
    """Return g - exp(p) * sum(g): the cotangent of the input of a log_softmax with result p."""
    if wide := halves(g, p):
        return log_softmax_back(*wide, axis=axis).astype(g.dtype)
    d = _fast_softmax("log_softmax_back", (g, p), axis) if g.dtype == p.dtype else None
    if d is not None:
        return d
    return g - np.exp(p) * added(g, (axis,), keepdims=True)
