"""Convolution of any size, stride and dilation as matrix products over blocks of windows (im2col).

Arrays are float32 and flat: x (batch, *spatial, channels), w (*size, channels, filters),
y (batch, *places, filters). With the windows as rows of a matrix P, and w and y as matrices with
one column per filter,

    y = P w        the cotangent of w is Pᵀ g        the cotangent of P is g wᵀ

where g is the cotangent of y. The cotangent of x adds the elements of each row of g wᵀ to the
pixels of its window. Only a block of rows of P exists at a time, in the cache.
"""

import numpy as np

from framework.kernels import threads
from framework.kernels.choose import masked
from framework.kernels.fast import scratch
from framework.kernels.fast.conv import (
    NO_BIAS,
    add_places,
    added,
    finish,
    parts,
)
from framework.kernels.fast.jit import kernel
from framework.kernels.fast.layout import APART, gather, layout, scatter, unwiden, widen
from framework.kernels.fast.micro import WIDTH, pack, panel
from framework.kernels.fast.routine import routine
from framework.kernels.fast.target import LANES

FEW = WIDTH * 3 // 4  # with fewer filters than this, the matrix products are too narrow to be fast
NOTHING = np.empty(0, np.float32)


@kernel
def multiply(x, packed, layout, first, last, y, filters, bias, relu, wide, rows):
    """Compute the output y of the images `first` to `last`."""
    places, runs, length = layout.lines.size * layout.across, layout.runs.size, layout.length
    stride = layout.together * length + APART
    for n in range(first, last, layout.group):
        images = min(layout.group, last - n)
        source, start = x, n * layout.image
        if wide.size:
            widen(x, n, images, layout, wide)
            source, start = wide, 0
        for p in range(0, images * places, layout.block):
            here = min(layout.block, images * places - p)
            at = (n * places + p) * filters
            for r in range(0, runs, layout.together):
                some = min(layout.together, runs - r)
                a, a_at, a_row = source, start + p * length, length
                if not layout.plain:
                    gather(source, start, layout, r, some, p, here, rows, stride)
                    a, a_at, a_row = rows, 0, stride
                for j in range(0, filters, WIDTH):
                    panel(
                        y, at + j, filters, a, a_at, a_row, 1, packed,
                        (j * runs + r * WIDTH) * length, WIDTH, some * length, 1, 0, 0,
                        int(r > 0), here, min(WIDTH, filters - j),
                    )  # fmt: skip
            if bias.size or relu:
                finish(y, at, filters, here, bias, 0, filters, relu)


@routine
def _panels(g, gate, at, number, filters, packed):
    """Pack rows of g, with the gate applied, into panels (panels, number, WIDTH).

    The padding of the panels is not written.
    """
    for j in range(0, filters, WIDTH):
        here = min(WIDTH, filters - j)
        for i in range(number):
            start = at + i * filters + j
            source = g[start : start + here]
            target = packed[j * number + i * WIDTH : j * number + i * WIDTH + here]
            if gate.size:
                cut = gate[start : start + here]
                for k in range(here):
                    target[k] = source[k] if cut[k] > np.float32(0) else np.float32(0)
            else:
                for k in range(here):
                    target[k] = source[k]


@routine
def _add_rows(packed, number, filters, sums):
    """Add up the packed rows, and add the result to `sums`."""
    part = np.zeros(WIDTH, np.float32)
    for j in range(0, filters, WIDTH):
        here = min(WIDTH, filters - j)
        part[:] = np.float32(0)
        for i in range(number):
            row = packed[j * number + i * WIDTH : j * number + (i + 1) * WIDTH]
            for k in range(WIDTH):
                part[k] += row[k]
        for k in range(here):
            sums[j + k] += part[k]


@kernel
def multiply_turned(x, g, gate, layout, first, last, w, filters, sums, wide, rows, packed):
    """Add the weight gradient of the images from `first` to `last` to w, and g's sum to `sums`."""
    places, runs, length = layout.lines.size * layout.across, layout.runs.size, layout.length
    stride = layout.together * length + APART
    for n in range(first, last, layout.group):
        images = min(layout.group, last - n)
        source, start = x, n * layout.image
        if wide.size:
            widen(x, n, images, layout, wide)
            source, start = wide, 0
        for p in range(0, images * places, layout.block):
            here = min(layout.block, images * places - p)
            _panels(g, gate, (n * places + p) * filters, here, filters, packed)
            if sums.size:
                _add_rows(packed, here, filters, sums)
            for r in range(0, runs, layout.together):
                some = min(layout.together, runs - r)
                a, a_at, a_step = source, start + p * length, length
                if not layout.plain:
                    gather(source, start, layout, r, some, p, here, rows, stride)
                    a, a_at, a_step = rows, 0, stride
                for j in range(0, filters, WIDTH):
                    panel(
                        w, r * length * filters + j, filters, a, a_at, 1, a_step, packed,
                        j * here, WIDTH, here, 1, 0, 0, 1, some * length,
                        min(WIDTH, filters - j),
                    )  # fmt: skip


@kernel
def pack_turned(w, layout, filters, packed):
    """Pack wᵀ into panels, separately for each block of a window's contiguous runs."""
    for r in range(0, layout.runs.size, layout.together):
        columns = min(layout.together, layout.runs.size - r) * layout.length
        panels = (columns + WIDTH - 1) // WIDTH
        size = panels * filters * WIDTH
        part = packed[:size].reshape(panels, filters, WIDTH)
        pack(w, r * layout.length * filters, 1, filters, filters, columns, part)
        packed = packed[size:]


@kernel
def multiply_back(g, gate, packed, layout, first, last, x, filters, wide, rows, gated):
    """Write the cotangent of the images `first` to `last` to x.

    If `wide` is empty, x must be all zeros before the call.
    """
    places, runs, length = layout.lines.size * layout.across, layout.runs.size, layout.length
    stride = layout.together * length + APART
    for n in range(first, last, layout.group):
        images = min(layout.group, last - n)
        target, start = x, n * layout.image
        if wide.size:
            wide[:] = np.float32(0)
            target, start = wide, 0
        for p in range(0, images * places, layout.block):
            here = min(layout.block, images * places - p)
            a, a_at = g, (n * places + p) * filters
            if gate.size:
                size = here * filters
                source, cut = g[a_at : a_at + size], gate[a_at : a_at + size]
                for k in range(size):
                    gated[k] = source[k] if cut[k] > np.float32(0) else np.float32(0)
                a, a_at = gated, 0
            at = 0
            for r in range(0, runs, layout.together):
                some = min(layout.together, runs - r)
                c, c_at, c_row = rows, 0, stride
                if layout.plain:
                    c, c_at, c_row = x, (n * places + p) * length, length
                for j in range(0, some * length, WIDTH):
                    panel(
                        c, c_at + j, c_row, a, a_at, filters, 1, packed, at, WIDTH, filters, 1,
                        0, 0, 0, here, min(WIDTH, some * length - j),
                    )  # fmt: skip
                    at += filters * WIDTH
                if not layout.plain:
                    scatter(rows, stride, layout, r, some, p, here, target, start)
        if wide.size:
            unwiden(wide, n, images, layout, x)


def _wide(given, padding, short):
    """Return zeroed scratch for a group of padded images; empty if the images need no copy."""
    if not short and not any(map(any, padding)):
        return NOTHING
    wide = scratch.take("im2col.wide", given.group * given.image + LANES)
    wide.fill(0)
    return wide


def _rows(given):
    size = given.block * (given.together * given.length + APART) + LANES
    return scratch.take("im2col.rows", size)


def _opposite(size, moves, padding, channels, filters):
    """Return the padding of a convolution whose input gradient is this convolution, if faster.

    With stride 1, a convolution is the input gradient of a convolution by the flipped window. With
    few filters, the matrix products of that gradient have more columns and are faster. Otherwise
    return None.
    """
    strides, dilations = moves
    if filters >= FEW or filters >= channels or set(strides) != {1}:
        return None
    reach = [(k - 1) * d for k, d in zip(size, dilations, strict=True)]
    back = [(r - before, r - after) for r, (before, after) in zip(reach, padding, strict=True)]
    return tuple(back) if all(min(pair) >= 0 for pair in back) else None


def _turned(w):
    """Return the weights for `_opposite`: flipped windows, with channels and filters swapped."""
    return np.ascontiguousarray(np.flip(w, range(w.ndim - 2)).swapaxes(-1, -2))


def conv(x, w, moves, padding, places, bias=NO_BIAS, relu=False, out=None):
    """Return the convolution of x by w, of spatial size `places`, plus the bias.

    Args:
        moves: the strides and the dilations.
        padding: ((before, after), ...).
        relu: whether to apply ReLU.
        out: an array for y.
    """
    *size, channels, filters = w.shape
    back = _opposite(size, moves, padding, channels, filters)
    if back:
        y = _products(x, _turned(w), places, moves, back, out=out)
        if bias.size:
            y += bias
        return np.maximum(y, np.float32(0), out=y) if relu else y
    return _windows(x, w, moves, padding, places, bias, relu, out)


def conv_input(g, w, sizes, moves, padding, gate=NOTHING, out=None):
    """Return the cotangent of the images, of spatial `sizes`, from g, the cotangent of y.

    Here g is set to 0 where the gate is not positive.
    """
    *size, channels, filters = w.shape
    back = _opposite(size, moves, padding, channels, filters)
    if back:
        g = masked(g, gate > 0) if gate.size else g
        return _windows(g, _turned(w), moves, back, sizes, out=out)
    return _products(g, w, sizes, moves, padding, gate, out)


def conv_kernel(x, g, size, moves, padding, gate=NOTHING, *, sums=False):
    """Return the cotangents of the weights and of a bias (or None) from g, the cotangent of y,
    which is set to 0 where the gate is not positive."""
    back = _opposite(size, moves, padding, x.shape[-1], g.shape[-1])
    if back:
        g = masked(g, gate > 0) if gate.size else g
        w = _turned(_turned_windows(g, x, size, moves, back)[0])
        return w, _sums(g) if sums else None
    return _turned_windows(x, g, size, moves, padding, gate, sums=sums)


def _sums(g):
    """Return the cotangent of the bias: the sum of g per filter."""
    sums, each = np.zeros(g.shape[-1], np.float32), g.size // max(len(g), 1)
    flat = g.reshape(-1)
    for n in range(len(g)):
        add_places(flat, n * each, each // sums.size, sums.size, sums)
    return sums


def _windows(x, w, moves, padding, places, bias=NO_BIAS, relu=False, out=None):
    """Return y = P w, where the rows of P are windows."""
    *size, channels, filters = w.shape
    given = layout(x.shape[1:-1], tuple(size), *moves, padding, places, channels)
    depth = given.runs.size * given.length
    packed = scratch.take("im2col.packed", -(-filters // WIDTH) * depth * WIDTH)
    pack(w.reshape(-1), 0, filters, 1, depth, filters, packed.reshape(-1, depth, WIDTH))
    y = np.empty((len(x), *places, filters), np.float32) if out is None else out
    arrays, flat = (x.reshape(-1), packed, given), y.reshape(-1)

    def part(_, images):
        wide = _wide(given, padding, given.length < LANES and not given.plain)
        multiply(*arrays, *images, flat, filters, bias, relu, wide, _rows(given))

    _share(len(x), given, filters, part)
    return y


def _products(g, w, sizes, moves, padding, gate=NOTHING, out=None):
    """Return the cotangent of x: add each row of g wᵀ to its window."""
    *size, channels, filters = w.shape
    given = layout(sizes, tuple(size), *moves, padding, g.shape[1:-1], channels)
    panels = -(-given.together * given.length // WIDTH) * -(-given.runs.size // given.together)
    packed = scratch.take("im2col.packed", panels * filters * WIDTH)
    pack_turned(w.reshape(-1), given, filters, packed)
    x = np.empty((len(g), *sizes, channels), np.float32) if out is None else out
    if not given.plain and not any(map(any, padding)):
        x.fill(0)
    arrays, flat = (g.reshape(-1), gate.reshape(-1), packed, given), x.reshape(-1)

    def part(_, images):
        gated = scratch.take("im2col.gated", given.block * filters if gate.size else 0)
        multiply_back(
            *arrays, *images, flat, filters, _wide(given, padding, False), _rows(given), gated
        )  # fmt: skip

    _share(len(g), given, filters, part)
    return x


def _turned_windows(x, g, size, moves, padding, gate=NOTHING, *, sums=False):
    """Return Pᵀ g, the cotangent of the weights, and the sum of g (None if not needed)."""
    channels, filters = x.shape[-1], g.shape[-1]
    given = layout(x.shape[1:-1], tuple(size), *moves, padding, g.shape[1:-1], channels)
    number = threads.count()
    gradients = [np.zeros((*size, channels, filters), np.float32) for _ in range(number)]
    totals = [np.zeros(filters if sums else 0, np.float32) for _ in range(number)]
    arrays = x.reshape(-1), g.reshape(-1), gate.reshape(-1), given

    def part(i, images):
        wide = _wide(given, padding, given.length < LANES and not given.plain)
        packed = scratch.take("im2col.panels", -(-filters // WIDTH) * WIDTH * given.block)
        w = gradients[i].reshape(-1)
        multiply_turned(
            *arrays, *images, w, filters, totals[i], wide, _rows(given), packed
        )  # fmt: skip

    used = _share(len(x), given, filters, part)
    return added(gradients[:used]), added(totals[:used]) if sums else None


def _share(batch, given, filters, work):
    """Call work(i, range) for ranges of the batch, in threads; return the number of ranges."""
    places = batch * given.lines.size * given.across
    ranges = parts(batch, 2 * places * given.runs.size * given.length * filters)
    threads.run(lambda i: work(i, ranges[i]), range(len(ranges)))
    return len(ranges)


def warm():
    """Compile the kernels ahead of time; the same ones serve calls without padding or bias."""
    x, w = np.zeros((1, 4, 4, 2), np.float32), np.zeros((3, 3, 2, 3), np.float32)
    moves, padding = ((2, 2), (1, 1)), ((0, 1), (0, 1))
    y = conv(x, w, moves, padding, (2, 2), np.zeros(3, np.float32), relu=True)
    conv_input(y, w, (4, 4), moves, padding, y)
    conv_kernel(x, y, (3, 3), moves, padding, y, sums=True)
