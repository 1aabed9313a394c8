"""Cross-entropy between logits, along the last axis, and integer labels.

The Numba kernels (`fast/rows.py`) are used where `rows.is_fast` allows it.
"""

import functools

import numpy as np

from framework.core.numpy_warnings import no_warnings
from framework.kernels import rows as kernels
from framework.kernels.kernel_task import KernelTask
from framework.kernels.sums import added

# estimated times, in seconds: per element, and per row
_SECONDS = {"sparse_cross_entropy": (1.5e-9, 1e-8), "sparse_cross_entropy_back": (3e-10, 4e-9)}
_FEW = 4096  # Index offsets are cached and reused for arrays of at most this many rows.
_LABEL = np.dtype(np.int64)


def task(name, rows, size):
    """Return the KernelTask "sparse_cross_entropy" or "sparse_cross_entropy_back"."""
    of_number, of_row = _SECONDS[name]
    return KernelTask("rows", name, (size,), rows, 8, rows * (size * of_number + of_row))


@no_warnings
def sparse(logits, labels):
    """Return (losses, saved): each row's loss is log(sum(exp(x))) - x[label].

    `saved`, for the backward pass, is exp(x - max(x)) and its sum.

    Args:
        labels: integers in the shape of `logits` without its last axis, checked by the caller.
    """
    if _is_fast(logits, labels):
        e, total, losses = _empty(logits.shape), _empty(labels.shape), _empty(labels.shape)
        given = np.ascontiguousarray(logits), np.ascontiguousarray(labels)
        work = task("sparse_cross_entropy", labels.size, logits.shape[-1])
        work(*given, losses, e, total)
        return losses, (e, total)
    e, shifted = kernels.exponentials(logits, -1)
    total = added(e, (e.ndim - 1,))
    return np.log(total) - shifted.take(_places(labels, shifted.shape[-1])), (e, total)


@no_warnings
def sparse_back(g, labels, e, total):
    """Return g * (softmax(x) - one_hot(label)): the cotangent of the logits."""
    if _is_fast(e, labels) and g.dtype == e.dtype:
        d = _empty(e.shape)
        given = map(np.ascontiguousarray, (g, labels, e, total))
        task("sparse_cross_entropy_back", labels.size, e.shape[-1])(*given, d)
        return d
    # `e` may be in Fortran order, but the result must be in C order.
    d = np.ascontiguousarray(e * np.true_divide(g, total)[..., None])
    d.reshape(-1)[_places(labels, d.shape[-1])] -= g
    return d


def _is_fast(logits, labels):
    return labels.dtype == _LABEL and kernels.is_fast(logits.dtype, logits.size, logits.shape[-1])


def _empty(shape):
    return np.empty(shape, np.float32)


def _places(labels, classes):
    """Return, for logits in C order, the flat index of each row's element at its label."""
    starts = _starts if labels.size <= _FEW else _starts.__wrapped__
    return starts(labels.size, classes).reshape(labels.shape) + labels


@functools.lru_cache(maxsize=16)
def _starts(rows, classes):
    return np.arange(0, rows * classes, classes or 1)
