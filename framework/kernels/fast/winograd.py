"""Convolution by 3 × 3 windows with stride 1, by Winograd's F(2 × 2, 3 × 3) and F(4 × 4, 3 × 3).

Images are cut into overlapping patches of side m + 2. In the transformed space the convolution is
one matrix product (patches, channels) (channels, filters) for each of the (m + 2)² points of a
patch: 2.25 times (m = 2) or 4 times (m = 4) fewer multiplications than direct convolution. The
largest errors are about 1e-6 of the largest output, instead of 3e-7 for direct convolution.

Arrays are float32 and contiguous as in `conv`. Scratch memory pads channels to whole vectors, and
images to whole patches; it holds a few images, so that a block stays in the cache.
"""

import numpy as np

from framework.kernels import threads
from framework.kernels.fast import scratch
from framework.kernels.fast.conv import (
    NO_BIAS,
    finish,
    parts,
    place,
)
from framework.kernels.fast.elementwise import load, store
from framework.kernels.fast.jit import kernel
from framework.kernels.fast.micro import WIDTH, panel
from framework.kernels.fast.pool import max_pool_pairs
from framework.kernels.fast.routine import routine
from framework.kernels.fast.target import LANES
from framework.kernels.fast.transforms import (
    outputs_2,
    outputs_4,
    patch_2,
    patch_4,
    weights_2,
    weights_4,
)

_PATCHES = 32  # Number of patches that are transformed at a time, few enough to stay in the cache.
# With at least this many weights per point of a patch, a block has 2 * _PATCHES patches.
_MANY = 64 * 64
# Rows and planes are padded by this many elements, because if they were 4096 bytes apart, they
# would share cache sets.
_SKEW = 16


@kernel
def spread_weights(w, u, m, depth, first, last, part):
    """Transform the weights of the channels `first` to `last` into panels u[point][panel][channel].

    Args:
        u: flat, ((m + 2)², panels, depth, WIDTH), with zero padding.
        depth: the number of channels with padding.
        part: scratch of 9 · LANES elements.
    """
    _, _, channels, filters = w.shape
    flat = w.reshape(-1)
    side = m + 2
    plane = (filters + WIDTH - 1) // WIDTH * depth * WIDTH
    for f in range(0, filters, LANES):
        for c in range(first, last):
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


@routine
def spread_images(
    x, first, last, wide, top, left, height, width, v, row, plane, depth, m
):  # fmt: skip
    """Transform the patches of some strips into v[point][patch][channel]; return their number.

    A strip is a row of patches. The strips of an image are consecutive: the first one copies the
    image into `wide`, from which the others read.
    """
    side, strips = m + 2, (height - 2) // m
    at = 0
    for strip in range(first, last):
        i = strip % strips * m
        if i == 0:
            place(x, x[:0], strip // strips, wide, top, left, width, depth)
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


@routine
def gather_outputs(
    p, p_row, plane, y, chosen, pairs, height, width, filters, first, last, m, part, strip_y, bias,
    relu,
):  # fmt: skip
    """Compute the outputs of some strips from the products p[point][patch][filter].

    Args:
        y: flat, of images of `height` × `width`.
        chosen: with `pairs`, y receives the maxima of 2 × 2 outputs and `chosen` the indices of
            their pixels, as in `pool.max_pool_pairs`; `strip_y` is scratch for one strip.
        part: scratch for the outputs of one patch, which may extend beyond the image.
        bias, relu: a bias to add, or empty; whether to apply ReLU.
    """
    side, strips = m + 2, (height + m - 1) // m
    flat = strip_y if pairs else y
    source = 0
    for strip in range(first, last):
        image, i = strip // strips, strip % strips * m
        rows = min(m, height - i)
        begin = 0 if pairs else (image * height + i) * width * filters
        for j in range(0, width, m):
            at = begin + j * filters
            whole = rows == m and j + m <= width
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
                    for a in range(rows):
                        for b in range(min(m, width - j)):
                            for k in range(here):
                                value = load(part, (a * m + b) * LANES + k, 0)
                                store(flat, at + f + (a * width + b) * filters + k, value, 1)
            source += p_row
        if bias.size or relu:
            finish(flat, begin, filters, rows * width, bias, 0, filters, relu)
        if pairs:
            out = (image * (height // 2) + i // 2) * (width // 2) * filters
            max_pool_pairs(strip_y, 0, 1, rows, width, filters, y[out:], chosen[out:])


@kernel
def multiply(
    x, u, y, chosen, pairs, places, filters, m, block, first, last, wide, top, left, height, width,
    v, v_row, v_plane, p, p_row, p_plane, depth, part, strip_y, bias, relu,
):  # fmt: skip
    """Write y for the strips from `first` to `last`, `block` of them at a time."""
    panels = (filters + WIDTH - 1) // WIDTH
    for start in range(first, last, block):
        stop = min(start + block, last)
        count = spread_images(
            x, start, stop, wide, top, left, height, width, v, v_row, v_plane, depth, m
        )  # fmt: skip
        for s in range((m + 2) * (m + 2)):
            for j in range(panels):
                panel(
                    p, s * p_plane + j * WIDTH, p_row, v, s * v_plane, v_row, 1, u,
                    (s * panels + j) * depth * WIDTH, WIDTH, depth, 1, 0, 0, 0, count,
                    WIDTH,
                )  # fmt: skip
        gather_outputs(
            p, p_row, p_plane, y, chosen, pairs, *places, filters, start, stop, m, part, strip_y,
            bias, relu,
        )  # fmt: skip


def conv(x, w, padding, places, m, *, bias=NO_BIAS, relu=False, pairs=False, out=None):
    """Return (y, chosen): y of spatial size `places`, by patches with m × m outputs.

    Args:
        padding: (above, left).
        bias, relu: a bias to add; whether to apply ReLU.
        pairs: whether to apply 2 × 2 max pooling; `chosen` then holds the indices of the maxima,
            else it is None.
        out: an array for y.
    """
    channels, filters = w.shape[2:]
    depth, panels = up(channels, LANES), -(-filters // WIDTH)
    side, size = (m + 2) ** 2, panels * depth * WIDTH
    u = weights(w, m)
    shape = (len(x), *(n // 2 for n in places), filters) if pairs else (len(x), *places, filters)
    y = np.empty(shape, np.float32) if out is None else out
    chosen = np.empty(shape if pairs else 0, np.uint8)
    if not y.size:
        return y, chosen if pairs else None
    height, width, strips, across = grid(places, m)
    block = patches(channels, filters) // across or 1

    def part(images):
        wide, *planes = memory(height, width, depth, panels * WIDTH, block, m)
        first, last = images
        room = scratch.take("winograd.part", m * m * LANES)
        strip_y = scratch.take("winograd.strip", m * places[1] * filters if pairs else 0)
        multiply(
            x, u, y.reshape(-1), chosen.reshape(-1), pairs, places, filters, m, block,
            first * strips, last * strips, wide, *padding, height, width, *planes, depth, room,
            strip_y, bias, relu,
        )  # fmt: skip

    threads.run(part, parts(len(x), 2 * len(x) * strips * across * size * side))
    return y, chosen if pairs else None


def weights(w, m):
    """Return the transformed weights in panels, see `spread_weights`."""
    channels, filters = w.shape[2:]
    depth = up(channels, LANES)
    u = scratch.take("winograd.u", (m + 2) ** 2 * up(filters, WIDTH) * depth)
    if depth != channels or filters % WIDTH:
        u.fill(0)

    def spread(part):
        room = scratch.take("winograd.part", 9 * LANES)
        spread_weights(w, u, m, depth, *part, room)

    threads.run(spread, parts(channels, 0, 5 * w.size))
    return u


def patches(channels, filters):
    """Return how many patches are transformed and multiplied at a time."""
    return _PATCHES * (1 + (channels * filters >= _MANY))


def grid(places, m):
    """Return (height, width) of the padded image, its strips, and the patches per strip."""
    height, width = (up(n, m) + 2 for n in places)
    return height, width, (height - 2) // m, (width - 2) // m


def up(n, step):
    return -(-n // step) * step


def memory(height, width, depth, depth_g, block, m):
    """Return scratch for a padded image, for transformed patches and for products, with strides."""
    wide = scratch.take("winograd.wide", height * width * depth)
    wide.fill(0)
    planes = []
    for name, channels in (("winograd.v", depth), ("winograd.p", depth_g)):
        row = channels + _SKEW
        plane = block * ((width - 2) // m) * row + _SKEW
        planes += [scratch.take(name, (m + 2) ** 2 * plane), row, plane]
    return wide, *planes


def warm():
    """Compile all kernels ahead of time; m is an argument at run time, so one call suffices."""
    x, w = np.zeros((1, 4, 4, 2), np.float32), np.zeros((3, 3, 2, 3), np.float32)
    conv(x, w, (0, 0), (2, 2), 2, bias=np.zeros(3, np.float32), relu=True)
