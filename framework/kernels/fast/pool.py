"""Pooling of float32 over windows of up to three spatial axes; flat arrays, channels last.

A `window` is an array of six rows with three numbers each: the sizes of x, the numbers of
positions, the window's size, strides, padding before, and dilations. Each function computes the
examples from `first` to `last`, so that threads can share a batch. All channels of a window's pixel
are processed at once.
"""

import numpy as np

from framework.kernels.fast.elementwise import load, store
from framework.kernels.fast.jit import kernel
from framework.kernels.fast.routine import routine

_f = np.float32


@routine(python=True)
def max_pool_pairs(x, first, last, height, width, channels, y, chosen):
    """Write the maxima of adjacent 2 × 2 windows to y, and their indices to `chosen`.

    Of equal pixels, the first one is chosen.
    """
    rows, columns = height // 2, width // 2
    for place in range(first * rows, last * rows):
        image, i = place // rows, place % rows
        upper = (image * height + 2 * i) * width * channels
        lower = upper + width * channels
        out = place * columns * channels
        for _ in range(columns):
            for c in range(channels):
                b = load(x, upper + channels + c, 0)
                best = load(x, upper + c, 0)
                number = np.uint8(1) if b > best else np.uint8(0)
                best = b if b > best or b != b else best
                b = load(x, lower + c, 0)
                number = np.uint8(2) if b > best else number
                best = b if b > best or b != b else best
                b = load(x, lower + channels + c, 0)
                number = np.uint8(3) if b > best else number
                best = b if b > best or b != b else best
                store(y, out + c, best, 1)
                store(chosen, out + c, number, 2)
            upper += 2 * channels
            lower += 2 * channels
            out += channels


@kernel
def put_pairs(g, chosen, first, last, height, width, channels, d):
    """Write g to the chosen pixels of 2 × 2 windows of d, and 0 to the others of the window."""
    rows, columns = height // 2, width // 2
    for place in range(first * rows, last * rows):
        image, i = place // rows, place % rows
        upper = (image * height + 2 * i) * width * channels
        lower = upper + width * channels
        out = place * columns * channels
        for _ in range(columns):
            for c in range(channels):
                value, number = load(g, out + c, 0), load(chosen, out + c, 1)
                store(d, upper + c, value if number == np.uint8(0) else _f(0), 2)
                store(d, upper + channels + c, value if number == np.uint8(1) else _f(0), 2)
                store(d, lower + c, value if number == np.uint8(2) else _f(0), 2)
                store(d, lower + channels + c, value if number == np.uint8(3) else _f(0), 2)
            upper += 2 * channels
            lower += 2 * channels
            out += channels


@kernel(forceinline=True)
def _first(window, place, axis):
    """Return the first pixel of a window, along an axis, that is not on padding."""
    before = window[4, axis] - place * window[3, axis]
    return (before + window[5, axis] - 1) // window[5, axis] if before > 0 else 0


@kernel(forceinline=True)
def _end(window, place, axis):
    """Return one more than the last pixel of a window, along an axis, that is not on padding."""
    room = window[0, axis] + window[4, axis] - place * window[3, axis]
    inside = (room + window[5, axis] - 1) // window[5, axis] if room > 0 else 0
    return min(window[2, axis], inside)


@kernel(forceinline=True)
def _start(window, place, axis):
    """Return the index at which a window begins along an axis; negative if it begins on padding."""
    return place * window[3, axis] - window[4, axis]


@kernel
def max_pool(x, first, last, window, channels, y, chosen):
    """Write the maximum of each window to y, and its index within the window to `chosen`.

    Of equal pixels, the first one is chosen.
    """
    (_, high, wide), (deep, rows, columns) = window[0], window[1]
    (_, size_v, size_w), (step_u, step_v, step_w) = window[2], window[5]
    out = first * deep * rows * columns * channels
    for image in range(first, last):
        for i in range(deep):
            u0, u1, top = _first(window, i, 0), _end(window, i, 0), _start(window, i, 0)
            for j in range(rows):
                v0, v1, left = _first(window, j, 1), _end(window, j, 1), _start(window, j, 1)
                for k in range(columns):
                    w0, w1 = _first(window, k, 2), _end(window, k, 2)
                    begin = _start(window, k, 2)
                    name = np.uint8((u0 * size_v + v0) * size_w + w0)
                    for c in range(channels):
                        store(y, out + c, _f(-np.inf), 1)
                        store(chosen, out + c, name, 2)
                    for u in range(u0, u1):
                        for v in range(v0, v1):
                            row = (image * window[0, 0] + top + u * step_u) * high
                            row = (row + left + v * step_v) * wide + begin
                            for w in range(w0, w1):
                                at = (row + w * step_w) * channels
                                name = np.uint8((u * size_v + v) * size_w + w)
                                for c in range(channels):
                                    x_c, best = load(x, at + c, 0), load(y, out + c, 1)
                                    before = load(chosen, out + c, 2)
                                    store(chosen, out + c, name if x_c > best else before, 2)
                                    better = x_c > best or x_c != x_c
                                    store(y, out + c, x_c if better else best, 1)
                    out += channels


@kernel
def put(g, chosen, first, last, window, channels, d):
    """Add each element of g to its window's chosen pixel in d, which must contain zeros."""
    (_, high, wide), (deep, rows, columns) = window[0], window[1]
    (_, size_v, size_w), (step_u, step_v, step_w) = window[2], window[5]
    out = first * deep * rows * columns * channels
    for image in range(first, last):
        for i in range(deep):
            u0, u1, top = _first(window, i, 0), _end(window, i, 0), _start(window, i, 0)
            for j in range(rows):
                v0, v1, left = _first(window, j, 1), _end(window, j, 1), _start(window, j, 1)
                for k in range(columns):
                    w0, w1 = _first(window, k, 2), _end(window, k, 2)
                    begin = _start(window, k, 2)
                    for u in range(u0, u1):
                        for v in range(v0, v1):
                            row = (image * window[0, 0] + top + u * step_u) * high
                            row = (row + left + v * step_v) * wide + begin
                            for w in range(w0, w1):
                                at = (row + w * step_w) * channels
                                name = np.uint8((u * size_v + v) * size_w + w)
                                for c in range(channels):
                                    value = load(g, out + c, 0)
                                    value = value if load(chosen, out + c, 1) == name else _f(0)
                                    store(d, at + c, load(d, at + c, 2) + value, 2)
                    out += channels


@kernel
def window_sum(x, first, last, window, channels, y):
    """Write the sum of each window to y."""
    (_, high, wide), (deep, rows, columns) = window[0], window[1]
    step_u, step_v, step_w = window[5]
    out = first * deep * rows * columns * channels
    for image in range(first, last):
        for i in range(deep):
            u0, u1, top = _first(window, i, 0), _end(window, i, 0), _start(window, i, 0)
            for j in range(rows):
                v0, v1, left = _first(window, j, 1), _end(window, j, 1), _start(window, j, 1)
                for k in range(columns):
                    w0, w1 = _first(window, k, 2), _end(window, k, 2)
                    begin = _start(window, k, 2)
                    for c in range(channels):
                        store(y, out + c, _f(0), 1)
                    for u in range(u0, u1):
                        for v in range(v0, v1):
                            row = (image * window[0, 0] + top + u * step_u) * high
                            row = (row + left + v * step_v) * wide + begin
                            for w in range(w0, w1):
                                at = (row + w * step_w) * channels
                                for c in range(channels):
                                    total = load(y, out + c, 1) + load(x, at + c, 0)
                                    store(y, out + c, total, 1)
                    out += channels


@kernel
def window_spread(g, first, last, window, channels, d):
    """Add each element of g to all pixels of its window in d, which must contain zeros."""
    (_, high, wide), (deep, rows, columns) = window[0], window[1]
    step_u, step_v, step_w = window[5]
    out = first * deep * rows * columns * channels
    for image in range(first, last):
        for i in range(deep):
            u0, u1, top = _first(window, i, 0), _end(window, i, 0), _start(window, i, 0)
            for j in range(rows):
                v0, v1, left = _first(window, j, 1), _end(window, j, 1), _start(window, j, 1)
                for k in range(columns):
                    w0, w1 = _first(window, k, 2), _end(window, k, 2)
                    begin = _start(window, k, 2)
                    for u in range(u0, u1):
                        for v in range(v0, v1):
                            row = (image * window[0, 0] + top + u * step_u) * high
                            row = (row + left + v * step_v) * wide + begin
                            for w in range(w0, w1):
                                at = (row + w * step_w) * channels
                                for c in range(channels):
                                    total = load(d, at + c, 1) + load(g, out + c, 0)
                                    store(d, at + c, total, 1)
                    out += channels


def warm():
    """Compile all kernels of this module ahead of time, by calls on tiny inputs."""
    x, y, chosen = np.ones(8, _f), np.empty(2, _f), np.empty(2, np.uint8)
    max_pool_pairs(x, 0, 1, 2, 2, 2, y, chosen)
    put_pairs(y, chosen, 0, 1, 2, 2, 2, x)
    window = np.array([[1, 2, 2], [1, 1, 1], [1, 2, 2], [1, 2, 2], [0, 0, 0], [1, 1, 1]])
    max_pool(x, 0, 1, window, 2, y, chosen)
    put(y, chosen, 0, 1, window, 2, x)
    window_sum(x, 0, 1, window, 2, y)
    window_spread(y, 0, 1, window, 2, x)
