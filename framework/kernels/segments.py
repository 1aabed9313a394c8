"""Sums, products, minima and maxima of each segment's rows; rows with negative ids are ignored."""

import math

import numpy as np

from framework.core.dtypes import as_dtype
from framework.core.numpy_warnings import no_warnings
from framework.kernels.scatter import scatter_add


def rows_of(x, ids):
    """Return `x` with the axes of `ids` flattened into one, and `ids` flattened, as intp."""
    flat = ids.reshape(-1).astype(np.intp, copy=False)
    return x.reshape(ids.size, *x.shape[ids.ndim :]), flat


def _kept(x, ids):
    """Return `x` and `ids` as `rows_of` does, without the rows whose id is negative."""
    x, ids = rows_of(x, ids)
    if ids.size and ids.min() < 0:
        kept = ids >= 0
        return x[kept], ids[kept]
    return x, ids


def segment_sum(x, ids, *, count):
    x, ids = _kept(x, ids)
    return scatter_add(x, ids, shape=(count, *x.shape[1:]), axis=0)


def segment_take(x, ids):
    """Return x[ids[k]] for each k, zeros for negative ids: the adjoint of `segment_sum`."""
    taken = np.take(x, np.maximum(ids, 0), 0) if len(x) else np.zeros((*ids.shape, *x.shape[1:]))
    if ids.size and ids.min() < 0:
        taken[ids < 0] = 0
    return taken.astype(x.dtype, copy=False)


def over(ufunc, first):
    """Return an op's forward function that reduces the rows of each segment by `ufunc`, starting
    from `first(dtype)`."""

    @no_warnings
    def forward(x, ids, *, count):
        x, ids = _kept(x, ids)
        width = math.prod(x.shape[1:])
        y = np.full(count * width, first(x.dtype), x.dtype)
        places = (ids[:, None] * width + np.arange(width)).reshape(-1)
        ufunc.at(y, places, np.ascontiguousarray(x).reshape(-1))
        return y.reshape(count, *x.shape[1:])

    return forward


def lowest(dtype):
    """Return the lowest finite number of a dtype."""
    return as_dtype(dtype).min


def highest(dtype):
    """Return the largest finite number of a dtype."""
    return as_dtype(dtype).max
