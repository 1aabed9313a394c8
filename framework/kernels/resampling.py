"""Weighted sums of an array's slices along one axis: for resizing one axis of an image.

A resampling is a pair (rows, weights) of arrays of shape (taps, size): the new slice i is the sum
over k of weights[k, i] times the old slice rows[k, i]. `weights` is None for one tap of weight 1.
"""

import numpy as np

from framework.core.numpy_warnings import no_warnings

MOST_TAPS, FEW = 4, 16
"""With more than MOST_TAPS taps, along an axis before fewer than FEW channels, one matrix product
is faster than a sum of slices: with 6 taps of 224 columns of 3 channels, 41 ms instead of 79."""


@no_warnings
def resampled(x, axis, rows, weights):
    """Return the weighted sums of the slices of `x` along `axis`, in the dtype of `x`."""
    if weights is None:
        return np.take(x, rows[0], axis)
    few = axis == x.ndim - 2 and x.shape[-1] < FEW
    if few and len(rows) > MOST_TAPS and x.dtype in (np.float32, np.float64):
        return _product(x, axis, matrix(rows, weights, x.shape[axis]).astype(x.dtype))
    shape = (-1, *(1,) * (x.ndim - 1 - axis))
    total = None
    for taken, weight in zip(rows, weights.astype(x.dtype)):
        part = np.take(x, taken, axis)
        part *= weight.reshape(shape)
        total = part if total is None else np.add(total, part, out=total)
    return total


@no_warnings
def between(x, axis, rows, share):
    """Return x[rows[0]] + share * (x[rows[1]] - x[rows[0]]); rows select slices along `axis`."""
    low, high = (np.take(x, taken, axis) for taken in rows)
    high -= low
    high *= share.astype(x.dtype).reshape(-1, *(1,) * (x.ndim - 1 - axis))
    return np.add(low, high, out=low)


def matrix(rows, weights, n):
    """Return the resampling (rows, weights) of `n` slices as a matrix of shape (size, n)."""
    dense = np.zeros((rows.shape[1], n))
    np.add.at(dense, (np.arange(rows.shape[1]), rows), 1 if weights is None else weights)
    return dense


def _product(x, axis, dense):
    """Return the resampled slices by one matrix product; `axis` is the axis before the channels."""
    rows = np.ascontiguousarray(x.swapaxes(-1, -2)).reshape(-1, dense.shape[1])
    y = np.matmul(rows, np.ascontiguousarray(dense.T))
    y = y.reshape(*x.shape[:axis], x.shape[-1], len(dense))
    return np.ascontiguousarray(y.swapaxes(-1, -2))


@no_warnings
def filtered(x, axis, weights, before, after):
    """Return weighted sums of neighboring slices; beyond the first and last slice there are zeros.

    Args:
        weights: numbers; the first one is the weight of the slice that is `before` positions before
            the new slice.
        before, after: the number of zero slices before the first and after the last slice.
    """
    n = x.shape[axis]
    size = max(n + before + after - len(weights) + 1, 0)
    lead = (slice(None),) * axis
    y = np.zeros((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype)
    for shift, weight in enumerate(weights, -before):
        low, high = max(-shift, 0), min(n - shift, size)
        if weight and low < high:
            part = x[(*lead, slice(low + shift, high + shift))]
            y[(*lead, slice(low, high))] += part if weight == 1 else part * x.dtype.type(weight)
    return y


def transposed(rows, weights, n):
    """Return the resampling whose matrix is the transpose; it has `n` new slices."""
    taps, size = rows.shape
    order = np.argsort(rows, axis=None, kind="stable")
    new = rows.ravel()[order]
    rank = np.arange(taps * size) - np.searchsorted(new, new)
    back = np.zeros((max(rank.max(initial=-1) + 1, 1), n), int)
    factors = np.zeros(back.shape)
    back[rank, new] = np.tile(np.arange(size), taps)[order]
    factors[rank, new] = 1 if weights is None else weights.ravel()[order]
    return back, factors
