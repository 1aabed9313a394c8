"""Flip and shift float32 images of a batch, each in one pass over the pixels."""

import numpy as np

from framework.kernels.fast.jit import kernel

# Indices are unsigned: for a signed index, Numba would check at each access whether it is negative.
_index = np.uint64
_COLORS = _index(3)


@kernel
def flip(array, flips, result):
    """Copy images to `result`; reverse those selected by `flips` along axis 2.

    Args:
        array, result: (batch, rows, columns, channels), C-contiguous.
        flips: booleans (batch,).
    """
    images, rows, columns, channels = array.shape
    step = _index(channels)
    width = _index(columns) * step
    size = _index(rows) * width
    source, target = array.reshape(-1), result.reshape(-1)
    for i in range(images):
        first = _index(i) * size
        if not flips[i]:
            for at in range(first, first + size):
                target[at] = source[at]
            continue
        for row in range(first, first + size, width):
            opposite = row + width
            if step == _COLORS:  # For three channels, copies without a loop take half the time.
                for at in range(row, row + width, _COLORS):
                    opposite -= _COLORS
                    target[at] = source[opposite]
                    target[at + _index(1)] = source[opposite + _index(1)]
                    target[at + _index(2)] = source[opposite + _index(2)]
                continue
            for at in range(row, row + width, step):
                opposite -= step
                for channel in range(step):
                    target[at + channel] = source[opposite + channel]


@kernel
def shift(array, result, rows, columns, fill):
    """Write the visible part of each image to its new place in `result`, and `fill` around it.

    Args:
        array: (batch, height, width * channels), C-contiguous.
        result: (batch, new height, new width * channels), C-contiguous.
        rows: ints (batch, 3): the first row of the result with pixels of the image, the row after
            the last, and the distance from a row of the result to the row of the image that it
            shows.
        columns: the same for positions in a row.
        fill: a number of the images' dtype.
    """
    images, height, width = result.shape
    old_height, old_width = array.shape[1:]
    source, target = array.reshape(-1), result.reshape(-1)
    for i in range(images):
        top, bottom, down = rows[i]
        left, right, across = columns[i]
        for row in range(height):
            start = (i * height + row) * width
            if row < top or row >= bottom:
                _fill(target, start, start + width, fill)
                continue
            seen = _index((i * old_height + row + down) * old_width + left + across)
            first = _index(start + left)
            for at in range(_index(right - left)):
                target[first + at] = source[seen + at]
            _fill(target, start, start + left, fill)
            _fill(target, start + right, start + width, fill)


@kernel(forceinline=True)
def _fill(target, start, end, value):
    for at in range(_index(start), _index(end)):
        target[at] = value


def warm():
    """Compile the kernels ahead of time, by calls on a tiny batch."""
    images, place = np.zeros((1, 1, 1, 1), np.float32), np.array([[0, 1, 0]])
    flip(images, np.array([True]), images.copy())
    shift(images[0], images[0].copy(), place, place, np.float32(0))
