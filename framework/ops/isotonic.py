"""Isotonic regression along the last axis."""

import numpy as np

from framework.core.op import Op
from framework.ops.movement import reshape
from framework.ops.segment import segment_sum, segment_take


def _isotonic(x):
    """Return the nearest non-increasing sequence of each row, and the block index of each element.

    Adjacent violators are pooled into their mean (Best & Chakravarti 1990).
    """
    rows = x.reshape(-1, x.shape[-1])
    y, steps = np.empty_like(rows), np.empty(rows.shape, np.int32)
    for row, values in enumerate(rows.astype(np.float64).tolist()):
        totals, counts = [], []
        for value in values:
            total, count = value, 1
            # Merge adjacent blocks until the means of the blocks decrease.
            while counts and totals[-1] * count <= total * counts[-1]:
                total, count = total + totals.pop(), count + counts.pop()
            totals.append(total)
            counts.append(count)
        y[row] = np.repeat(np.divide(totals, counts), counts)
        steps[row] = np.repeat(np.arange(len(counts)), counts)
    return y.reshape(x.shape), steps.reshape(x.shape)


def _backward(g, y):
    """Return the cotangent's mean over each block, because the result is the mean of each block."""
    (g, _), (_, steps) = g, y
    shape = tuple(g.shape)
    rows, size = (int(np.prod(shape[:-1])), shape[-1])
    starts = (np.arange(rows) * size).reshape(*shape[:-1], 1)
    ids = reshape(steps + starts.astype(np.int64), shape=(-1,))
    flat = reshape(g, shape=(-1,))
    totals = segment_sum(flat, ids, count=rows * size)
    counts = segment_sum(flat * 0 + 1, ids, count=rows * size)
    means = segment_take(totals, ids) / segment_take(counts, ids)
    return (reshape(means, shape=shape),)


isotonic = Op(
    "isotonic", _isotonic, outputs=2, backward=_backward,
    infer=lambda x: [(x.shape, x.dtype), (x.shape, np.dtype(np.int32))],
)  # fmt: skip
