"""The derivatives of `winograd.conv`, by the transposed algorithm on the same patches.

The output gradient is transformed once. Its products with the transformed patches are the gradient
with respect to the transformed weights; its products with the transformed weights are the gradient
with respect to the transformed patches, which is summed where patches overlap.
"""

import numpy as np

from framework.kernels import threads
from framework.kernels.fast import scratch
from framework.kernels.fast.conv import (
    NO_GATE,
    add_places,
    added,
    parts,
    place,
)
from framework.kernels.fast.elementwise import load, store
from framework.kernels.fast.jit import kernel
from framework.kernels.fast.micro import WIDTH, panel, turn
from framework.kernels.fast.routine import routine
from framework.kernels.fast.target import LANES
from framework.kernels.fast.transforms import (
    add_patch_2,
    add_patch_4,
    outputs_back_2,
    outputs_back_4,
    weights_back_2,
    weights_back_4,
)
from framework.kernels.fast.winograd import grid, memory, patches, spread_images, up, weights

# With at most this many weights per point of a patch, a single pass computes both gradients.
_APART = 128 * 128
_NOTHING = np.empty(0, np.float32)
_ALL = np.empty((0, 0, 0, 0), np.uint8)


@kernel
def transpose(w, turned, first, last):
    """Swap the channel and filter axes of a 3 × 3 kernel, for the channels `first` to `last`."""
    _, _, channels, filters = w.shape
    source, target = w.reshape(-1), turned.reshape(-1)
    for cell in range(9):
        here, there = (cell * channels + first) * filters, cell * filters * channels + first
        turn(target, there, channels, source, here, filters, last - first, filters)


@routine
def place_pairs(g, gate, chosen, n, wide, width, depth):
    """Copy image n of g to the chosen pixels of 2 × 2 blocks of `wide`; set the others to 0.

    The gate is NO_GATE or an array like g: pixels become 0 where it is not positive.
    """
    _, rows, columns, filters = g.shape
    gated = gate.size > 0
    flat, cells = g.reshape(-1), chosen.reshape(-1)
    gates = gate.reshape(-1) if gated else flat
    source, zero = n * rows * columns * filters, np.float32(0)
    for i in range(rows):
        upper = 2 * i * width * depth
        lower = upper + width * depth
        for _ in range(columns):
            for f in range(filters):
                value, number = load(flat, source + f, 0), load(cells, source + f, 1)
                value = zero if gated and not load(gates, source + f, 0) > zero else value
                store(wide, upper + f, value if number == np.uint8(0) else zero, 2)
                store(wide, upper + depth + f, value if number == np.uint8(1) else zero, 2)
                store(wide, lower + f, value if number == np.uint8(2) else zero, 2)
                store(wide, lower + depth + f, value if number == np.uint8(3) else zero, 2)
            source += filters
            upper += 2 * depth
            lower += 2 * depth


@routine
def spread_gradients(
    g, gate, chosen, first, last, wide, height, width, p, row, plane, depth, m, sums
):  # fmt: skip
    """Compute the cotangent of the products, p[point][patch][filter], from the output gradient.

    Args:
        gate: see `conv.place`.
        chosen: an array like g if g is the cotangent of max-pooled outputs, else empty.
        sums: receives the sum of g over all positions; empty if it is not needed.

    Returns:
        the number of patches.
    """
    side, strips = m + 2, height // m
    at = 0
    for strip in range(first, last):
        i = strip % strips * m
        if i == 0:
            if chosen.size:
                place_pairs(g, gate, chosen, strip // strips, wide, width, depth)
            else:
                place(g, gate, strip // strips, wide, 0, 0, width, depth)
            if sums.size:
                add_places(wide, 0, height * width, depth, sums)
        for j in range(0, width, m):
            source = (i * width + j) * depth
            for f in range(0, depth, LANES):
                if m == 4:
                    outputs_back_4(
                        p, at + f, side * plane, plane, wide, source + f, width * depth, depth
                    )  # fmt: skip
                else:
                    outputs_back_2(
                        p, at + f, side * plane, plane, wide, source + f, width * depth, depth
                    )  # fmt: skip
            at += row
    return at // row


@routine
def gather_images(v, row, plane, x, first, last, wide, top, left, height, width, depth, m):
    """Compute the cotangent of the images from that of the transformed patches of some strips.

    The strips of an image are consecutive: a strip adds to the rows of `wide` that it shares with
    the previous strip. Rows that no later strip reaches are written to x.
    """
    side, strips = m + 2, (height - 2) // m
    at = 0
    for strip in range(first, last):
        i = strip % strips * m
        for k in range((i + min(i, 2)) * width * depth, (i + side) * width * depth):
            store(wide, k, np.float32(0), 0)
        for j in range(0, width - 2, m):
            target = (i * width + j) * depth
            for c in range(0, depth, LANES):
                if m == 4:
                    add_patch_4(
                        wide, target + c, width * depth, depth, v, at + c, side * plane, plane
                    )  # fmt: skip
                else:
                    add_patch_2(
                        wide, target + c, width * depth, depth, v, at + c, side * plane, plane
                    )  # fmt: skip
            at += row
        end = i + m if i + side < height else height
        _take(wide, x, strip // strips, i, end, top, left, width, depth)


@routine
def _take(wide, x, n, first, last, top, left, width, depth):
    """Copy the rows `first` to `last` of a padded image to image n of x, without the padding."""
    _, height, across, channels = x.shape
    pieces, length = (1, across * channels) if channels == depth else (across, channels)
    for i in range(max(first, top), min(last, top + height)):
        target = (n * height + i - top) * across * channels
        for j in range(pieces):
            source = (i * width + left + j) * depth
            for k in range(length):
                store(x, target + k, load(wide, source + k, 0), 1)
            target += length


@kernel
def multiply_back(
    x, g, gate, chosen, turned, u, d, m, block, first, last, wide, wide_d, top, left, height, width,
    wide_g, v, v_row, v_plane, p, p_row, p_plane, depth, depth_g, sums,
):  # fmt: skip
    """Compute the gradients from the strips `first` to `last`, transforming g once.

    Args:
        turned: panels of transposed transformed weights, from filters to channels.
        u: receives the cotangent of the transformed weights, u[point][channel][filter]; or empty.
        d: receives the cotangent of x; or empty.
        v: scratch for the transformed patches of x, and then for their cotangent.
    """
    panels = (depth + WIDTH - 1) // WIDTH
    for start in range(first, last, block):
        stop = min(start + block, last)
        if u.size:
            spread_images(
                x, start, stop, wide, top, left, height, width, v, v_row, v_plane, depth, m
            )  # fmt: skip
        count = spread_gradients(
            g, gate, chosen, start, stop, wide_g, height - 2, width - 2, p, p_row, p_plane, depth_g,
            m, sums,
        )  # fmt: skip
        for s in range((m + 2) * (m + 2)):
            if u.size:
                for j in range(0, depth_g, WIDTH):
                    panel(
                        u, s * depth * depth_g + j, depth_g, v, s * v_plane, 1, v_row, p,
                        s * p_plane + j, p_row, count, 1, 0, 0, int(start > first), depth,
                        min(WIDTH, depth_g - j),
                    )  # fmt: skip
            if d.size:
                for j in range(panels):
                    panel(
                        v, s * v_plane + j * WIDTH, v_row, p, s * p_plane, p_row, 1, turned,
                        (s * panels + j) * depth_g * WIDTH, WIDTH, depth_g, 1, 0, 0, 0,
                        count, min(WIDTH, depth - j * WIDTH),
                    )  # fmt: skip
        if d.size:
            gather_images(
                v, v_row, v_plane, d, start, stop, wide_d, top, left, height, width, depth, m
            )  # fmt: skip


@kernel
def gather_weights(us, depth, depth_g, w, m, first, last, part):
    """Compute the cotangent of the weights of some channels from that of the transformed weights.

    us[thread][point · channel · filter] is summed over the threads, into us[0].
    """
    rows, columns, channels, filters = w.shape
    flat, side, plane = w.reshape(-1), m + 2, depth * depth_g
    whole = side * side * plane
    for c in range(first, last):
        for s in range(side * side):
            at = s * plane + c * depth_g
            for n in range(1, us.shape[0]):
                for f in range(depth_g):
                    total = load(us, at + f, 0) + load(us, n * whole + at + f, 1)
                    store(us, at + f, total, 0)
        for f in range(0, filters, LANES):
            here = min(LANES, filters - f)
            at, column = c * filters + f, channels * filters
            target, start, step = (flat, at, column) if here == LANES else (part, 0, LANES)
            source = c * depth_g + f
            if m == 4:
                weights_back_4(target, start, 3 * step, step, us, source, side * plane, plane)
            else:
                weights_back_2(target, start, 3 * step, step, us, source, side * plane, plane)
            if here < LANES:
                for cell in range(rows * columns):
                    for k in range(here):
                        store(flat, cell * column + at + k, load(part, cell * LANES + k, 2), 3)


def conv_back(g, gate, x, w, padding, places, m, *, chosen=None, sums=False, out=None):
    """Return the cotangents of x, the weights and a bias; None for those that are not needed.

    Args:
        g, gate: the cotangent of y, and `conv.NO_GATE` or an array like g: g counts as 0 where the
            gate is not positive.
        x: the images, or their shape if the cotangent of the weights is not needed.
        w: the weights, or None if the cotangent of x is not needed.
        places: the spatial size of y.
        chosen: the indices of the maxima if y is max-pooled, else None.
        sums: whether the cotangent of a bias is needed.
        out: an array for the cotangent of x.
    """
    by_w = isinstance(x, np.ndarray)
    batch, *sizes, channels = x.shape if by_w else x
    filters = g.shape[3]
    if by_w and w is not None and channels * filters > _APART:
        how = {"chosen": chosen}
        by_x, _, _ = conv_back(g, gate, x.shape, w, padding, places, m, **how, out=out)
        return by_x, *conv_back(g, gate, x, None, padding, places, m, **how, sums=sums)[1:]
    depth, depth_g = up(channels, LANES), up(filters, LANES)
    size = (m + 2) ** 2 * depth * depth_g
    height, width, strips, across = grid(places, m)
    block = patches(channels, filters) // across or 1
    ranges = parts(batch, 2 * batch * strips * across * size)
    turned = _NOTHING if w is None else weights(_transposed(w), m)
    u = scratch.take("winograd.gradient", len(ranges) * size * by_w).reshape(len(ranges), -1)
    d = NO_GATE if w is None else out
    if d is None:
        d = np.empty((batch, *sizes, channels), np.float32)
    totals = [np.zeros(filters if sums else 0, np.float32) for _ in ranges]

    def part(i):
        first, last = ranges[i]
        wide, *planes = memory(height, width, depth, depth_g, block, m)
        wide_d = scratch.take("winograd.wide_d", height * width * depth)
        wide_g = scratch.take("winograd.wide_g", (height - 2) * (width - 2) * depth_g)
        wide_g.fill(0)
        multiply_back(
            x if by_w else NO_GATE, g, gate, _ALL if chosen is None else chosen, turned, u[i], d, m,
            block, first * strips, last * strips, wide, wide_d, *padding, height, width, wide_g,
            *planes, depth, depth_g, totals[i],
        )  # fmt: skip

    threads.run(part, range(len(ranges)))
    return (
        None if w is None else d,
        _gathered(u, (3, 3, channels, filters), m) if by_w else None,
        added(totals) if sums else None,
    )


def _gathered(u, shape, m):
    """Return the cotangent of the weights from each thread's cotangent of transformed weights."""
    w = np.empty(shape, np.float32)
    depth, depth_g = (up(n, LANES) for n in shape[2:])

    def gather(part):
        room = scratch.take("winograd.part", 9 * LANES)
        gather_weights(u, depth, depth_g, w, m, *part, room)

    threads.run(gather, parts(shape[2], 0, 5 * w.size))
    return w


def _transposed(w):
    _, _, channels, filters = w.shape
    found = np.empty((3, 3, filters, channels), np.float32)
    threads.run(lambda part: transpose(w, found, *part), parts(channels, 0, 2 * w.size))
    return found


def warm():
    """Compile all kernels ahead of time; m is an argument at run time, so one call suffices."""
    x, w = np.zeros((1, 4, 4, 2), np.float32), np.zeros((3, 3, 2, 3), np.float32)
    y = np.zeros((1, 2, 2, 3), np.float32)
    conv_back(y, y, x, w, (0, 0), (2, 2), 2, sums=True)
