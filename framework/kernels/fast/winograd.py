"""Convolution by 3 × 3 windows without strides, by Winograd's F(2 × 2, 3 × 3) and F(4 × 4, 3 × 3).

Images are taken apart into overlapping patches of side m + 2; in the transformed space the
convolution is one product of matrices (patches, channels) (channels, filters) for each of the
(m + 2)² places of a patch. Multiplications are 2.25 times (m = 2) or 4 times (m = 4) fewer than
directly; the largest errors are about 1e-6 of the largest output, directly 3e-7.

Arrays are float32 and contiguous as in `conv`. Channels are padded to whole vectors in scratch
memory, patches to whole ones; a few images at a time, so that a block stays in the cache.
"""

import numpy as np

from framework.kernels import threads
from framework.kernels.fast import scratch
from framework.kernels.fast.conv import (
    NO_BIAS,
    NO_GATE,
    ONE,
    STEP,
    ZERO,
    add_places,
    added,
    finish,
    parts,
    place,
)
from framework.kernels.fast.jit import kernel
from framework.kernels.fast.micro import WIDTH, panel
from framework.kernels.fast.target import LANES
from framework.kernels.fast.transforms import (
    outputs_2,
    outputs_4,
    outputs_back_2,
    outputs_back_4,
    patch_2,
    patch_4,
    weights_2,
    weights_4,
    weights_back_2,
    weights_back_4,
)

_PATCHES = 32  # at a time, so that their transforms stay in the cache
_SKEW = 16  # rows and planes a multiple of 4096 bytes apart would all fall into the same lines


@kernel
def turn(w, turned, first, last):
    """The window turned by 180°, its channels and filters transposed, for some of the channels."""
    _, _, channels, filters = w.shape
    source, target = w.reshape(-1), turned.reshape(-1)
    for cell in range(9):
        for c in range(first, last, 16):
            for f in range(0, filters, 16):
                for i in range(c, min(c + 16, last)):
                    for j in range(f, min(f + 16, filters)):
                        target[((8 - cell) * filters + j) * channels + i] = source[
                            (cell * channels + i) * filters + j
                        ]


@kernel
def spread_weights(w, u, m, depth, first, last, part):
    """Transformed weights of the channels `first` to `last`, in panels u[place][panel][channel].

    Args:
        u: flat, ((m + 2)², panels, depth, WIDTH), zero where there is no channel or filter.
        depth: channels with their padding.
        part: scratch of 9 · LANES numbers.
    """
    _, _, channels, filters = w.shape
    flat = w.reshape(-1)
    side = m + 2
    plane = (filters + WIDTH - 1) // WIDTH * depth * WIDTH
    for c in range(first, last):
        for f in range(0, filters, LANES):
            source, at, column = flat, c * filters + f, channels * filters
            if f + LANES > filters:
                for cell in range(9):
                    for lane in range(LANES):
                        inside = f + lane < filters
                        part[cell * LANES + lane] = (
                            flat[cell * column + at + lane] if inside else np.float32(0)
                        )
                source, at, column = part, 0, LANES
            target = ((f // WIDTH) * depth + c) * WIDTH + f % WIDTH
            if m == 4:
                weights_4(u, target, side * plane, plane, source, at, 3 * column, column)
            else:
                weights_2(u, target, side * plane, plane, source, at, 3 * column, column)


@kernel
def spread_images(
    x, gate, first, last, wide, top, left, height, width, v, row, plane, depth, m
):  # fmt: skip
    """Transformed patches of some strips, v[place][patch][channel]; how many patches there are.

    A strip is a row of patches; those of an image follow each other, and images do. The first of an
    image puts the image into `wide`, where the following ones find it.
    """
    side, strips = m + 2, (height - 2) // m
    at = 0
    for strip in range(first, last):
        i = strip % strips * m
        if i == 0:
            place(x, gate, strip // strips, wide, top, left, width, depth)
        for j in range(0, width - 2, m):
            source = (i * width + j) * depth
            for c in range(0, depth, LANES):
                if m == 4:
                    patch_4(
                        v, at + c, side * plane, plane, wide, source + c, width * depth, depth
                    )  # fmt: skip
                else:
                    patch_2(
                        v, at + c, side * plane, plane, wide, source + c, width * depth, depth
                    )  # fmt: skip
            at += row
    return at // row


@kernel
def spread_gradients(g, gate, first, last, wide, height, width, p, row, plane, depth, m, sums):
    """The gradient by the products from that by the outputs, p[place][patch][filter].

    The sum over all places is added to `sums`, which is empty where it is not wanted.
    """
    side, strips = m + 2, height // m
    at = 0
    for strip in range(first, last):
        i = strip % strips * m
        if i == 0:
            place(g, gate, strip // strips, wide, ZERO, ZERO, width, depth)
            if sums.size:
                add_places(wide, ZERO, height * width, depth, sums)
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


@kernel
def gather_outputs(p, p_row, plane, y, first, last, m, part, bias, relu):
    """The outputs of some strips from the products p[place][patch][filter].

    `part` is scratch for the outputs of one patch, of which some may lie outside of the image. The
    bias is added, if any, and y is cut at 0 for `relu`.
    """
    _, height, width, filters = y.shape
    flat = y.reshape(-1)
    side, strips = m + 2, (height + m - 1) // m
    source = 0
    for strip in range(first, last):
        i = strip % strips * m
        begin = (strip // strips * height + i) * width * filters
        for j in range(0, width, m):
            at = begin + j * filters
            whole = i + m <= height and j + m <= width
            for f in range(0, filters, LANES):
                target, start, row, column = flat, at + f, width * filters, filters
                inside = whole and f + LANES <= filters
                if not inside:
                    target, start, row, column = part, 0, m * LANES, LANES
                if m == 4:
                    outputs_4(target, start, row, column, p, source + f, side * plane, plane)
                else:
                    outputs_2(target, start, row, column, p, source + f, side * plane, plane)
                if not inside:
                    here = min(LANES, filters - f)
                    for a in range(min(m, height - i)):
                        for b in range(min(m, width - j)):
                            for k in range(here):
                                flat[at + f + (a * width + b) * filters + k] = part[
                                    (a * m + b) * LANES + k
                                ]
            source += p_row
        if bias.size or relu:
            finish(flat, begin, filters, min(m, height - i) * width, bias, ZERO, filters, relu)


@kernel
def multiply(
    x, gate, u, y, m, block, first, last, wide, top, left, height, width, v, v_row, v_plane, p,
    p_row, p_plane, depth, part, bias, relu,
):  # fmt: skip
    """Fill y for the strips from `first` to `last`, `block` of them at a time."""
    filters = y.shape[3]
    panels = (filters + WIDTH - 1) // WIDTH
    for start in range(first, last, block):
        stop = min(start + block, last)
        count = spread_images(
            x, gate, start, stop, wide, top, left, height, width, v, v_row, v_plane, depth, m
        )  # fmt: skip
        for s in range((m + 2) * (m + 2)):
            for j in range(panels):
                panel(
                    p, s * p_plane + j * WIDTH, p_row, v, s * v_plane, v_row, ONE, u,
                    (s * panels + j) * depth * WIDTH, STEP, depth, ONE, ZERO, ZERO, ZERO, count,
                    STEP,
                )  # fmt: skip
        gather_outputs(p, p_row, p_plane, y, start, stop, m, part, bias, relu)


@kernel
def multiply_turned(
    x, g, gate, u, m, block, first, last, wide, top, left, height, width, wide_g, v, v_row,
    v_plane, p, p_row, p_plane, depth, depth_g, sums,
):  # fmt: skip
    """Add to u[place][channel][filter] what the strips from `first` to `last` give."""
    for start in range(first, last, block):
        stop = min(start + block, last)
        count = spread_images(
            x, x[:0], start, stop, wide, top, left, height, width, v, v_row, v_plane, depth, m
        )  # fmt: skip
        spread_gradients(
            g, gate, start, stop, wide_g, height - 2, width - 2, p, p_row, p_plane, depth_g, m,
            sums,
        )  # fmt: skip
        for s in range((m + 2) * (m + 2)):
            for j in range(0, depth_g, WIDTH):
                panel(
                    u, s * depth * depth_g + j, depth_g, v, s * v_plane, ONE, v_row, p,
                    s * p_plane + j, p_row, count, ONE, ZERO, ZERO, ONE, depth,
                    min(WIDTH, depth_g - j),
                )  # fmt: skip


@kernel
def gather_weights(u, depth, depth_g, w, m, first, last, part):
    """The gradient by the weights of some channels from that by the transformed ones."""
    _, _, channels, filters = w.shape
    flat = w.reshape(-1)
    side, plane = m + 2, depth * depth_g
    for c in range(first, last):
        for f in range(0, filters, LANES):
            here = min(LANES, filters - f)
            at, column = c * filters + f, channels * filters
            target, start, step = (flat, at, column) if here == LANES else (part, 0, LANES)
            source = c * depth_g + f
            if m == 4:
                weights_back_4(target, start, 3 * step, step, u, source, side * plane, plane)
            else:
                weights_back_2(target, start, 3 * step, step, u, source, side * plane, plane)
            if here < LANES:
                for cell in range(9):
                    for k in range(here):
                        flat[cell * column + at + k] = part[cell * LANES + k]


def conv(x, w, padding, places, m, *, turned=False, gate=NO_GATE, bias=NO_BIAS, relu=False):
    """y, of spatial size `places`, by patches with m × m outputs.

    Args:
        padding: (above, left).
        turned: w is the window of the convolution whose input gradient is wanted: x is the gradient
            by its outputs.
        gate: see `conv.place`.
        bias, relu: added to y, and whether y is cut at 0 then.
    """
    if turned:
        w = _turned(w)
    channels, filters = w.shape[2:]
    depth, panels = _up(channels, LANES), -(-filters // WIDTH)
    side, size = (m + 2) ** 2, panels * depth * WIDTH
    u = scratch.take("winograd.u", side * size)
    if depth != channels or filters % WIDTH:
        u.fill(0)

    def spread(part):
        room = scratch.take("winograd.part", 9 * LANES)
        spread_weights(w, u, m, depth, *part, room)

    threads.run(spread, parts(channels, 100 * w.size))
    y = np.empty((len(x), *places, filters), np.float32)
    height, width = (_up(n, m) + 2 for n in places)
    strips, across = (height - 2) // m, (width - 2) // m  # patches of an image
    block = max(1, _PATCHES // across)

    def part(images):
        wide, *planes = _room(height, width, depth, panels * WIDTH, block, m)
        first, last = images
        room = scratch.take("winograd.part", m * m * LANES)
        multiply(
            x, gate, u, y, m, block, first * strips, last * strips, wide, *padding, height, width,
            *planes, depth, room, bias, relu,
        )  # fmt: skip

    threads.run(part, parts(len(x), 2 * len(x) * strips * across * size * side))
    return y


def conv_kernel(x, g, padding, m, gate=NO_GATE, *, sums=False):
    """The gradient by the window's weights, given that by y, gated where wanted; and by a bias."""
    channels, filters = x.shape[3], g.shape[3]
    depth, depth_g = _up(channels, LANES), _up(filters, LANES)
    side = (m + 2) ** 2
    height, width = (_up(n, m) + 2 for n in g.shape[1:3])
    strips, across = (height - 2) // m, (width - 2) // m
    block = max(1, _PATCHES // across)
    ranges = parts(len(x), 2 * len(x) * strips * across * side * depth * depth_g)
    found = [scratch.take(f"winograd.u{i}", side * depth * depth_g) for i in range(len(ranges))]
    totals = [np.zeros(filters if sums else 0, np.float32) for _ in ranges]

    def part(i):
        u, (first, last) = found[i], ranges[i]
        u.fill(0)
        wide, *planes = _room(height, width, depth, depth_g, block, m)
        wide_g = scratch.take("winograd.wide_g", (height - 2) * (width - 2) * depth_g)
        wide_g.fill(0)
        multiply_turned(
            x, g, gate, u, m, block, first * strips, last * strips, wide, *padding, height, width,
            wide_g, *planes, depth, depth_g, totals[i],
        )  # fmt: skip

    threads.run(part, range(len(ranges)))
    total = added(found)
    w = np.empty((3, 3, channels, filters), np.float32)

    def gather(part):
        room = scratch.take("winograd.part", 9 * LANES)
        gather_weights(total, depth, depth_g, w, m, *part, room)

    threads.run(gather, parts(channels, 100 * w.size))
    return w, added(totals) if sums else None


def _up(n, step):
    return -(-n // step) * step


def _turned(w):
    _, _, channels, filters = w.shape
    found = np.empty((3, 3, filters, channels), np.float32)
    threads.run(lambda part: turn(w, found, *part), parts(channels, 100 * w.size))
    return found


def _room(height, width, depth, depth_g, block, m):
    """A padded image, and for a block transformed patches and products with their distances."""
    wide = scratch.take("winograd.wide", height * width * depth)
    wide.fill(0)
    planes = []
    for name, channels in (("winograd.v", depth), ("winograd.p", depth_g)):
        row = channels + _SKEW
        plane = block * ((width - 2) // m) * row + _SKEW
        planes += [scratch.take(name, (m + 2) ** 2 * plane), row, plane]
    return wide, *planes


def warm():
    """Compile all kernels; m is known when they run."""
    x, w = np.zeros((1, 4, 4, 2), np.float32), np.zeros((3, 3, 2, 3), np.float32)
    y = conv(x, w, (0, 0), (2, 2), 2, bias=np.zeros(3, np.float32), relu=True)
    conv(y, w, (2, 2), (4, 4), 2, turned=True, gate=y)
    conv_kernel(x, y, (0, 0), 2, y, sums=True)
