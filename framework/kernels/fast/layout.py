"""Copy windows of images into the rows of a matrix (im2col), and add such rows back (col2im).

Arrays are float32 and flat. Tables of offsets define what is copied, so one function serves all
strides, dilations and numbers of spatial axes.
"""

import functools
import math
from typing import NamedTuple

import numpy as np

from framework.kernels.fast.jit import kernel
from framework.kernels.fast.micro import ROWS, move_lanes
from framework.kernels.fast.routine import routine
from framework.kernels.fast.target import LANES

_DEPTH = 576  # A block of runs covers about this many elements of each window.
_BLOCK = 16 * ROWS  # A block has at most this many windows.
# Rows are followed by this many elements of padding, because adjacent rows could share cache sets.
APART = 16


class Layout(NamedTuple):
    """Offsets of windows in a padded image, all counted in elements.

    Attributes:
        lines: the offsets of the lines (rows along the last axis) of window positions.
        across: the number of positions per line.
        step: the distance from one position to the next.
        runs: the offsets of a window's contiguous runs from its first element.
        length: the length of a run.
        together: the number of runs per block.
        image: the size of the padded image.
        inner, inner_length: the offset in the padded image of each line of the image, and the
            length of a line.
        group: the number of images that are processed at a time.
        block: the number of windows that are processed at a time.
        plain: whether windows are single pixels, so that the images already are the matrix.
    """

    lines: np.ndarray
    across: int
    step: int
    runs: np.ndarray
    length: int
    together: int
    image: int
    inner: np.ndarray
    inner_length: int
    group: int
    block: int
    plain: bool


@functools.lru_cache(maxsize=256)
def layout(sizes, size, strides, dilations, padding, places, channels):
    """Return the Layout of windows; arguments except `channels` have one entry per axis."""
    wide = [n + sum(p) for n, p in zip(sizes, padding, strict=True)]
    steps = [math.prod(wide[axis + 1 :]) * channels for axis in range(len(wide))]
    apart = [d * s for d, s in zip(dilations, steps, strict=True)]
    moves = [d * s for d, s in zip(strides, steps, strict=True)]
    before = sum(p[0] * s for p, s in zip(padding, steps, strict=True))
    runs, length = _sums(size, apart), channels
    if dilations[-1] == 1 and size[-1] * channels <= _DEPTH:
        runs, length = _sums(size[:-1], apart), size[-1] * channels
    number = math.prod(places)
    group = max(_BLOCK // max(number, 1), 1)
    blocks = -(-group * number // _BLOCK)
    block = -(-group * number // (blocks * ROWS)) * ROWS
    return Layout(
        _sums(places[:-1], moves), places[-1], moves[-1], runs, length,
        min(max(_DEPTH // length, 1), runs.size), math.prod(wide) * channels,
        _sums(sizes[:-1], steps) + before, sizes[-1] * channels, group, block,
        tuple(sizes) == tuple(wide) == tuple(places),
    )  # fmt: skip


def _sums(numbers, steps):
    """Return i * steps[0] + j * steps[1] + ... for all i < numbers[0], j < numbers[1], ..."""
    total = np.zeros(1, np.int64)
    for number, step in zip(numbers, steps):
        total = (total[:, None] + np.arange(number) * step).reshape(-1)
    return total


@kernel(forceinline=True)
def _copy(source, source_at, target, target_at, length):
    """Copy `length` adjacent elements; at least LANES elements are copied."""
    for k in range(0, length - LANES, LANES):
        move_lanes(target, target_at + k, source, source_at + k)
    last = max(length - LANES, 0)
    move_lanes(target, target_at + last, source, source_at + last)


@routine
def widen(x, n, images, layout, wide):
    """Copy `images` images of x, from image n on, into the padded images `wide`."""
    lines = layout.inner.size
    for i in range(images):
        for line in range(lines):
            start = ((n + i) * lines + line) * layout.inner_length
            at = i * layout.image + layout.inner[line]
            source = x[start : start + layout.inner_length]
            target = wide[at : at + layout.inner_length]
            for k in range(layout.inner_length):
                target[k] = source[k]


@routine
def unwiden(wide, n, images, layout, x):
    """Copy the padded images `wide` without their padding to x, from image n on."""
    lines = layout.inner.size
    for i in range(images):
        for line in range(lines):
            start = ((n + i) * lines + line) * layout.inner_length
            at = i * layout.image + layout.inner[line]
            source = wide[at : at + layout.inner_length]
            target = x[start : start + layout.inner_length]
            for k in range(layout.inner_length):
                target[k] = source[k]


@routine
def gather(wide, start, layout, first_run, runs, first, number, rows, stride):
    """Copy `runs` contiguous runs of each of `number` windows, from `first` on, into `rows`."""
    lines, across, length = layout.lines, layout.across, layout.length
    line, place = first // across, first % across
    image, line = line // lines.size, line % lines.size
    for i in range(number):
        source = start + image * layout.image + lines[line] + place * layout.step
        target = i * stride
        for r in range(first_run, first_run + runs):
            _copy(wide, source + layout.runs[r], rows, target, length)
            target += length
        place += 1
        if place == across:
            place, line = 0, line + 1
            if line == lines.size:
                line, image = 0, image + 1


@routine
def scatter(rows, stride, layout, first_run, runs, first, number, wide, start):
    """Add each row to the elements of the image from which `gather` would fill the row."""
    lines, across, length = layout.lines, layout.across, layout.length
    line, place = first // across, first % across
    image, line = line // lines.size, line % lines.size
    for i in range(number):
        base = start + image * layout.image + lines[line] + place * layout.step
        at = i * stride
        for r in range(first_run, first_run + runs):
            target = base + layout.runs[r]
            source, into = rows[at : at + length], wide[target : target + length]
            for k in range(length):
                into[k] += source[k]
            at += length
        place += 1
        if place == across:
            place, line = 0, line + 1
            if line == lines.size:
                line, image = 0, image + 1
