"""Flip and shift images of a batch by copies; by Numba in one pass, otherwise image by image.

Pixels are only copied, so both results are bitwise equal.
"""

import math

import numpy as np

from framework.kernels.deferred import Deferred

_kernel = Deferred("pixel_copies", 1 << 27)


def flipped(array, flips, axis):
    """Return a copy in which the images selected by `flips` are reversed along `axis`.

    Args:
        array: (batch, ...).
        flips: booleans (batch,).
        axis: a positive int.
    """
    fast = _library(array)
    if fast is None:
        result, order = array.copy(), np.arange(array.shape[axis] - 1, -1, -1)
        for i in np.flatnonzero(flips).tolist():
            # `take` allocates a buffer with mode="raise", but not with "clip".
            array[i].take(order, axis - 1, result[i], "clip")
        return result
    result = np.empty(array.shape, array.dtype)
    parts = len(array), -1, array.shape[axis], math.prod(array.shape[axis + 1 :])
    fast.flip(array.reshape(parts), flips, result.reshape(parts))
    return result


def shifted(array, rows, columns, size, fill):
    """Return images of a new size, to which the visible part of each image is moved.

    Args:
        array: (batch, height, width, channels).
        rows: ints (batch, 3): the first row of the result with pixels of the image, the row after
            the last, and the distance from a row of the result to the row of the image that it
            shows.
        columns: the same for columns.
        size: the (height, width) of the result.
        fill: the value of pixels outside the visible part.
    """
    fast = _library(array)
    shape = len(array), *size, array.shape[3]
    if fast is not None:
        result = np.empty(shape, array.dtype)
        flat = (array.reshape(*array.shape[:2], -1), result.reshape(*shape[:2], -1))
        fast.shift(*flat, rows, columns * shape[3], array.dtype.type(fill))
        return result
    result = np.full(shape, fill, array.dtype)
    moves = zip(result, array, rows.tolist(), columns.tolist())
    for y, image, (top, bottom, down), (left, right, across) in moves:
        seen = image[top + down : bottom + down, left + across : right + across]
        y[top:bottom, left:right] = seen
    return result


def _library(array):
    """Return the module of Numba kernels, or None if NumPy should copy."""
    if array.dtype != np.float32 or not array.size or not array.flags.c_contiguous:
        return None
    return _kernel.library(array.size)
