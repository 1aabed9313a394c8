"""Pooling with Keras's arguments ("valid" or "same", channels first or last); adaptive pooling."""

import math

import numpy as np

from framework.core.cast import cast
from framework.core.dtypes import floatx
from framework.core.errors import ShapeError
from framework.kernels.windows import output_sizes
from framework.ops.contraction import matmul
from framework.ops.movement import gather, reshape, transpose
from framework.ops.reduction import reduce_max


def floating(x):
    """Return `x`, cast to floatx if it holds integers."""
    return x if x.dtype.is_inexact else cast(x, dtype=floatx().np)


def _last(x, first):
    """Return `x` with its channels moved to the last axis if they come first."""
    return transpose(x, perm=(0, *range(2, x.ndim), 1)) if first else x


def _restored(y, first):
    """Return `y`, which has channels last, in the layout of the caller: channels first or last."""
    return transpose(y, perm=(0, y.ndim - 1, *range(1, y.ndim - 1))) if first else y


def slide(op, x, *, size, strides, padding, first, what):
    """Apply a pooling op to windows of `x`.

    Args:
        size, strides: one int for each spatial axis.
        padding: "valid" or "same".
        first: whether the channels come before the spatial axes.
        what: the caller's name, for the error.

    Raises:
        ShapeError: a window is larger than the spatial axes.
    """
    x = _last(x, first)
    window = {
        "size": size,
        "strides": strides,
        "padding": "SAME" if padding == "same" else ((0, 0),) * len(size),
        "dilations": (1,) * len(size),
    }
    spatial = tuple(x.shape[1:-1])
    if any(places == 0 and n for n, places in zip(spatial, output_sizes(spatial, **window))):
        raise ShapeError(
            f"{what}: a window of pool_size={size} does not fit into spatial axes of sizes "
            f"{spatial}. Use padding='same' or a smaller window."
        )
    return _restored(op(x, **window), first)


# ---- adaptive pooling: the output's sizes are arguments ------------------------------------------


def _adaptive(along):
    def pool(x, *, sizes, first, what):
        """Pool to the spatial sizes `sizes`; the windows of an axis differ in size by at most 1."""
        y = _last(x, first)
        if None in y.shape[1:-1]:
            raise ShapeError(
                f"{what} needs inputs whose spatial sizes are known, got shape {tuple(x.shape)}."
            )
        for axis, places in enumerate(sizes, 1):
            y = along(y, axis, _edges(y.shape[axis], places))
        return _restored(y, first)

    return pool


def _edges(size, places):
    """Return the start and the end of the window of each output position."""
    return [(i * size // places, -(-(i + 1) * size // places)) for i in range(places)]


def _largest(x, axis, edges):
    longest = max(end - start for start, end in edges)
    index = [[min(start + k, end - 1) for k in range(longest)] for start, end in edges]
    return reduce_max(gather(x, np.array(index), axis=axis), axis=(axis + 1,), keepdims=False)


def _mean(x, axis, edges):
    """Average windows by one matrix product: (positions, size) times (batch, size, inner size)."""
    x, shape = floating(x), tuple(x.shape)
    weights = np.zeros((len(edges), shape[axis]), x.dtype.np)
    for row, (start, end) in zip(weights, edges):
        row[start:end] = 1 / (end - start)
    if x.ndim == 3:
        return matmul(weights, x)
    lead = -1 if shape[0] is None else math.prod(shape[:axis])
    rows = reshape(x, shape=(lead, shape[axis], math.prod(shape[axis + 1 :])))
    batch = -1 if shape[0] is None else shape[0]
    wanted = (batch, *shape[1:axis], len(edges), *shape[axis + 1 :])
    return reshape(matmul(weights, rows), shape=wanted)


adaptive_max, adaptive_mean = _adaptive(_largest), _adaptive(_mean)
