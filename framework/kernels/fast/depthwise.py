"""Depthwise convolution of images: each channel has its own window.

Arrays are float32 and contiguous: x (batch, height, width, channels), w (rows, columns, channels),
y (batch, height, width, channels). A work item is a block of channels of one image. It is computed
in bands, groups of rows that are copied, with padding, to scratch memory that stays in the cache.
`strips` has the inner loops.
"""

import itertools
from typing import NamedTuple

import numpy as np

from framework.kernels import threads
from framework.kernels.fast import scratch
from framework.kernels.fast.conv import ConvWindow, _lattice, added
from framework.kernels.fast.elementwise import load, store
from framework.kernels.fast.jit import kernel
from framework.kernels.fast.routine import routine
from framework.kernels.fast.strips import TAPS, strip_1, strip_2, strip_4, strip_8, taps
from framework.kernels.fast.target import LANES

# A band uses this many elements of scratch memory: 256 KB, half of a small L2 cache.
_BAND = 1 << 16
_BLOCK = 128  # A block has about this many channels.
# One thread alone computes up to this many multiply-adds, which take about 100 µs.
_ALONE = 1 << 20


class DepthwiseWork(NamedTuple):
    """How a depthwise convolution is divided into work items and bands.

    Attributes:
        rows, columns, down, right, row_step, column_step, top, left: the window, its strides, its
            dilations, and the padding before the image, negative if the image is cropped.
        height, width, channels: the sizes of the image.
        high, wide: the numbers of rows and of columns of window positions.
        block, blocks: the number of channels per block, a multiple of LANES, and the number of
            blocks.
        band: the number of rows of window positions per band.
        band_width: the number of pixels per row of a band.
    """

    rows: int
    columns: int
    down: int
    right: int
    row_step: int
    column_step: int
    top: int
    left: int
    height: int
    width: int
    channels: int
    high: int
    wide: int
    block: int
    blocks: int
    band: int
    band_width: int


def _work(window, sizes, channels, places):
    """Return the DepthwiseWork of a ConvWindow over images of `sizes`, at `places` positions."""
    vectors = -(-channels // LANES)
    blocks = -(-vectors * LANES // _BLOCK)
    block = -(-vectors // blocks) * LANES
    line = (places[1] - 1) * window.right + (window.columns - 1) * window.column_step + 1
    lines = _BAND // (line * block) - (window.rows - 1) * window.row_step - 1
    band = min(max(lines // window.down + 1, 1), places[0])
    return DepthwiseWork(
        *window[:8], *sizes, channels, *places, block, -(-vectors * LANES // block), band, line
    )


@routine
def copy_band(x, n, first_row, first_column, lines, across, height, width, channels, first, here,
              block, band):  # fmt: skip
    """Copy channels [first, first + here) of image n to `band`, (lines, across, block).

    The band begins at a row and a column of the image, either of which may lie outside the image;
    elements outside are 0.
    """
    whole = here == channels and here == block
    before, after = max(-first_column, 0), min(width - first_column, across)
    for i in range(lines):
        row, at = first_row + i, i * across * block
        if row < 0 or row >= height or after <= before:
            for k in range(at, at + across * block):
                store(band, k, np.float32(0), 1)
            continue
        for k in range(at, at + before * block):
            store(band, k, np.float32(0), 1)
        for k in range(at + after * block, at + across * block):
            store(band, k, np.float32(0), 1)
        source = ((n * height + row) * width + first_column + before) * channels + first
        target = at + before * block
        if whole:
            for k in range((after - before) * block):
                store(band, target + k, load(x, source + k, 0), 1)
        else:
            for _ in range(before, after):
                for k in range(here):
                    store(band, target + k, load(x, source + k, 0), 1)
                for k in range(here, block):
                    store(band, target + k, np.float32(0), 1)
                source, target = source + channels, target + block


@routine
def _line(y, y_at, y_step, a, a_at, a_step, a_row, a_column, w, w_at, w_row, w_column, b, b_at,
          rows, columns, least, number):  # fmt: skip
    """Compute `number` neighboring outputs, each for a vector of channels; see `strips`."""
    j = 0
    while j + 8 <= number:
        strip_8(
            y, y_at + j * y_step, y_step, a, a_at + j * a_step, a_step, a_row, a_column, w, w_at,
            w_row, w_column, b, b_at, rows, columns, least,
        )  # fmt: skip
        j += 8
    if j + 4 <= number:
        strip_4(
            y, y_at + j * y_step, y_step, a, a_at + j * a_step, a_step, a_row, a_column, w, w_at,
            w_row, w_column, b, b_at, rows, columns, least,
        )  # fmt: skip
        j += 4
    if j + 2 <= number:
        strip_2(
            y, y_at + j * y_step, y_step, a, a_at + j * a_step, a_step, a_row, a_column, w, w_at,
            w_row, w_column, b, b_at, rows, columns, least,
        )  # fmt: skip
        j += 2
    if j < number:
        strip_1(
            y, y_at + j * y_step, y_step, a, a_at + j * a_step, a_step, a_row, a_column, w, w_at,
            w_row, w_column, b, b_at, rows, columns, least,
        )  # fmt: skip


@kernel
def multiply(
    x, packed, bias, least, work, first, last, y, y_image, y_row, y_place, y_at, band, part
):
    """Compute the outputs of the work items from `first` to `last`.

    Args:
        x: flat images.
        packed: the weights (blocks, rows · columns, block), bias: (blocks, block); flat.
        least: the minimum of each output: 0 for ReLU, else -inf.
        work: a DepthwiseWork; item n · blocks + b is block b of image n.
        y, y_image, y_row, y_place, y_at: the flat outputs, the strides of images, rows and
            positions, and the offset of the first position.
        band, part: scratch for a band, and for one vector per position of a row.
    """
    (rows, columns, down, right, row_step, column_step, top, left, height, width, channels, high,
     wide, block, blocks, band_rows, across) = work  # fmt: skip
    cells = rows * columns
    line = across * block
    for item in range(first, last):
        n, b = item // blocks, item % blocks
        first_channel = b * block
        here = min(block, channels - first_channel)
        for i in range(0, high, band_rows):
            some = min(band_rows, high - i)
            lines = (some - 1) * down + (rows - 1) * row_step + 1
            copy_band(
                x, n, i * down - top, -left, lines, across, height, width, channels,
                first_channel, here, block, band,
            )  # fmt: skip
            for k in range(some):
                at = y_at + n * y_image + (i + k) * y_row + first_channel
                for c in range(0, here, LANES):
                    if c + LANES <= here:
                        _line(
                            y, at + c, y_place, band, k * down * line + c, right * block,
                            row_step * line, column_step * block, packed, b * cells * block + c,
                            columns * block, block, bias, b * block + c, rows, columns, least, wide,
                        )  # fmt: skip
                        continue
                    _line(
                        part, 0, LANES, band, k * down * line + c, right * block,
                        row_step * line, column_step * block, packed, b * cells * block + c,
                        columns * block, block, bias, b * block + c, rows, columns, least, wide,
                    )  # fmt: skip
                    for j in range(wide):
                        for m in range(here - c):
                            y[at + c + j * y_place + m] = part[j * LANES + m]


@kernel
def multiply_turned(x, g, work, cells, chunks, first, last, w, band, band_g):
    """Add the weight gradients of the work items from `first` to `last` to w.

    Args:
        g: the flat cotangent of the outputs.
        cells: the offsets of the window's pixels in a band, `chunks` · TAPS numbers.
        first, last: the range of work items; item b · batch + n is block b of image n.
        w: (blocks, chunks · TAPS, block), flat.
    """
    height, width, channels, block = work.height, work.width, work.channels, work.block
    high, wide, across, down = work.high, work.wide, work.band_width, work.down
    batch = g.size // (high * wide * channels)
    line = across * block
    for item in range(first, last):
        b, n = item // batch, item % batch
        first_channel = b * block
        here = min(block, channels - first_channel)
        for i in range(0, high, work.band):
            some = min(work.band, high - i)
            lines = (some - 1) * down + (work.rows - 1) * work.row_step + 1
            copy_band(
                x, n, i * down - work.top, -work.left, lines, across, height, width, channels,
                first_channel, here, block, band,
            )  # fmt: skip
            copy_band(
                g, n, i, 0, some, wide, high, wide, channels, first_channel, here, block, band_g
            )
            for c in range(0, here, LANES):
                for p in range(chunks):
                    taps(
                        w, (b * chunks + p) * TAPS * block + c, block, band, c, down * line,
                        work.right * block, cells, p * TAPS, band_g, c, wide * block, block, some,
                        wide,
                    )  # fmt: skip


def _packed(w, work):
    """Return weights (rows, columns, channels) as (blocks, rows · columns, block), flat."""
    rows = w.shape[0] * w.shape[1]
    whole = np.zeros((rows, work.blocks * work.block), np.float32)
    whole[:, : work.channels] = w.reshape(rows, work.channels)
    return whole.reshape(rows, work.blocks, work.block).swapaxes(0, 1).reshape(-1)


def _run(x, w, work, target, bias=None, relu=False):
    """Run `multiply` for all work items, on threads if that is faster."""
    packed, vector = _packed(w, work), np.zeros(work.blocks * work.block, np.float32)
    if bias is not None:
        vector[: work.channels] = bias
    least, flat = np.float32(0 if relu else -np.inf), x.reshape(-1)
    lines = (work.band - 1) * work.down + (work.rows - 1) * work.row_step + 1

    def part(items):
        band = scratch.take("depthwise.band", lines * work.band_width * work.block)
        line = scratch.take("depthwise.line", work.wide * LANES)
        multiply(flat, packed, vector, least, work, *items, *target, band, line)

    threads.run(part, _ranges(len(x) * work.blocks, len(x), work))


def _ranges(items, batch, work):
    """Divide the work items into ranges, one per thread."""
    total = batch * work.high * work.wide * work.channels * work.rows * work.columns
    number = min(threads.count(), items) if total > _ALONE else 1
    ends = [items * i // number for i in range(number + 1)]
    return list(itertools.pairwise(ends))


def conv(x, w, window, places, bias=None, relu=False, out=None):
    """Return the convolution of x by w (rows, columns, channels), plus a bias."""
    channels = x.shape[3]
    y = np.empty((len(x), *places, channels), np.float32) if out is None else out
    work = _work(window, x.shape[1:3], channels, places)
    row = places[1] * channels
    _run(x, w, work, (y.reshape(-1), places[0] * row, row, channels, 0), bias, relu)
    return y


def conv_input(g, w, sizes, window, out=None):
    """Return the images' cotangent, of spatial `sizes`, from g, the outputs' cotangent.

    With stride s, every s-th pixel of an axis lies under the same window pixels. The cotangent of
    each such lattice of pixels is a convolution of g with stride 1, by these window pixels in
    reverse order.
    """
    rows, columns, down, right, row_step, column_step, top, left = window[:8]
    channels = g.shape[3]
    x = np.empty((len(g), *sizes, channels), np.float32) if out is None else out
    flat, (height, width) = x.reshape(-1), sizes
    for i in range(min(down, height)):
        for j in range(min(right, width)):
            in_rows = _lattice(i, rows, down, row_step, top, height)
            in_columns = _lattice(j, columns, right, column_step, left, width)
            if not in_rows.cells or not in_columns.cells:
                x[:, i::down, j::right] = 0
                continue
            view = ConvWindow(
                in_rows.cells, in_columns.cells, 1, 1, in_rows.step, in_columns.step,
                in_rows.before, in_columns.before, 0, 0,
            )  # fmt: skip
            cells = w[in_rows.last :: in_rows.apart][: in_rows.cells]
            cells = cells[:, in_columns.last :: in_columns.apart][:, : in_columns.cells]
            places = in_rows.places, in_columns.places
            work = _work(view, g.shape[1:3], channels, places)
            steps = height * width, down * width, right, i * width + j
            _run(g, cells, work, (flat, *(step * channels for step in steps)))
    return x


def conv_kernel(x, g, window):
    """Return the cotangent of the weights (rows, columns, channels)."""
    channels, places = x.shape[3], g.shape[1:3]
    work = _work(window, x.shape[1:3], channels, places)
    number = window.rows * window.columns
    chunks = -(-number // TAPS)
    of_rows = np.arange(window.rows) * window.row_step * work.band_width
    of_columns = np.arange(window.columns) * window.column_step
    cells = (of_rows[:, None] + of_columns).reshape(-1) * work.block
    cells = np.r_[cells, np.zeros(chunks * TAPS - number, np.int64)].astype(np.int64)
    lines = (work.band - 1) * work.down + (work.rows - 1) * work.row_step + 1
    ranges = _ranges(work.blocks * len(x), len(x), work)
    gradients = [np.zeros(work.blocks * chunks * TAPS * work.block, np.float32) for _ in ranges]
    flat, flat_g = x.reshape(-1), g.reshape(-1)

    def part(i):
        band = scratch.take("depthwise.band", lines * work.band_width * work.block)
        band_g = scratch.take("depthwise.band_g", work.band * work.wide * work.block)
        multiply_turned(flat, flat_g, work, cells, chunks, *ranges[i], gradients[i], band, band_g)

    threads.run(part, range(len(ranges)))
    whole = added(gradients).reshape(work.blocks, chunks * TAPS, work.block)[:, :number]
    whole = whole.swapaxes(0, 1).reshape(number, -1)[:, :channels]
    return np.ascontiguousarray(whole).reshape(window.rows, window.columns, channels)


def warm():
    """Compile the kernels ahead of time; the same ones serve calls without a bias."""
    x, w = np.zeros((1, 4, 4, 2), np.float32), np.zeros((3, 3, 2), np.float32)
    window = ConvWindow(3, 3, 1, 1, 1, 1, 1, 1, 6, 6)
    y = conv(x, w, window, (4, 4))
    conv_input(y, w, (4, 4), window)
    conv_kernel(x, y, window)
