"""Cross-entropy of logits and class numbers, rows of logits in the last axis.

Numba's form (`fast/rows.py`) takes what `rows.is_fast` allows.
"""

import functools

import numpy as np

from framework.core.quiet import quiet
from framework.kernels import rows as kernels
from framework.kernels.kernel_task import KernelTask
from framework.kernels.sums import added

_SECONDS = {"sparse_cross_entropy": (1.5e-9, 1e-8), "sparse_cross_entropy_back": (3e-10, 4e-9)}
_FEW = 4096  # labels: where their rows begin is kept
_LABEL = np.dtype(np.int64)


def task(name, rows, size):
    """Of "sparse_cross_entropy" or "sparse_cross_entropy_back"."""
    of_number, of_row = _SECONDS[name]
    return KernelTask("rows", name, (size,), rows, 8, rows * (size * of_number + of_row))


@quiet
def sparse(logits, labels):
    """log(sum(exp(x))) - x[label] of each row; saved: exp(x - max(x)) and its sum.

    Args:
        labels: integers in the shape of `logits` without its last axis; who calls has checked them.
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


@quiet
def sparse_back(g, labels, e, total):
    """g * (softmax(x) - one at the label): the cotangent of the logits."""
    if _is_fast(e, labels) and g.dtype == e.dtype:
        d = _empty(e.shape)
        given = map(np.ascontiguousarray, (g, labels, e, total))
        task("sparse_cross_entropy_back", labels.size, e.shape[-1])(*given, d)
        return d
    d = np.ascontiguousarray(e * np.true_divide(g, total)[..., None])  # `e` may lie otherwise
    d.reshape(-1)[_places(labels, d.shape[-1])] -= g
    return d


def _is_fast(logits, labels):
    return labels.dtype == _LABEL and kernels.is_fast(logits.dtype, logits.size, logits.shape[-1])


def _empty(shape):
    return np.empty(shape, np.float32)


def _places(labels, classes):
    """Where in the array, if it lies in C order, each row has the element at its label."""
    starts = _starts if labels.size <= _FEW else _starts.__wrapped__
    return starts(labels.size, classes).reshape(labels.shape) + labels


@functools.lru_cache(maxsize=16)
def _starts(rows, classes):
    return np.arange(0, rows * classes, classes or 1)
