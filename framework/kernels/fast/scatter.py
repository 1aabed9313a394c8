"""Scatter-add, which adds in the order of the values, for `kernels/scatter.py`."""

import numpy as np

from framework.kernels.fast.jit import kernel


@kernel
def add_rows(result, rows, values, size):
    """Compute result[rows[i]] += values[i] for rows of `size` elements; all arrays are flat."""
    for i in range(rows.size):
        start = rows[i] * size
        target = result[start : start + size]
        source = values[i * size : (i + 1) * size]
        for j in range(size):
            target[j] += source[j]


@kernel
def add_at(result, places, values):
    """Compute result[places[i]] += values[i]; all arrays are flat."""
    for i in range(places.size):
        result[places[i]] += values[i]


def warm():
    """Compile `add_rows` and `add_at` ahead of time, for float32."""
    x, places = np.zeros(2, np.float32), np.zeros(1, np.intp)
    add_rows(x, places, x, 2)
    add_at(x, places, x[:1])
