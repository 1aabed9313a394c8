"""Direct convolution over images: the micro-kernel multiplies window rows by the weights.

Arrays are float32 and contiguous: x (batch, height, width, channels), w (rows, columns, channels,
filters), y (batch, height, width, filters). A `ConvWindow` describes the window.
"""

import itertools
from typing import NamedTuple

import numpy as np

from framework.kernels import threads
from framework.kernels.fast import scratch
from framework.kernels.fast.elementwise import load, store
from framework.kernels.fast.jit import kernel
from framework.kernels.fast.micro import WIDTH, panel, turn
from framework.kernels.fast.routine import routine


class ConvWindow(NamedTuple):
    """The window of a convolution, its strides and dilations, and the size of the padded images.

    Attributes:
        rows, columns: the size of the window.
        down, right: the strides.
        row_step, column_step: the dilations.
        top, left: the padding before the image.
        height, width: the size of the padded image.
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


NO_GATE = np.empty((0, 0, 0, 0), np.float32)
NO_BIAS = np.empty(0, np.float32)


@routine
def place(x, gate, n, wide, top, left, width, channels):
    """Copy image n into the flat padded image `wide`, which has rows of `width` pixels.

    The padding is not written. The gate is NO_GATE or an array like x: elements become 0 where the
    gate is not positive.
    """
    _, rows, across, inner = x.shape
    gated, zero = gate.size > 0, np.float32(0)
    pieces, length = (1, across * inner) if inner == channels else (across, inner)
    source = n * rows * across * inner
    for i in range(rows):
        for j in range(pieces):
            target = ((i + top) * width + left + j) * channels
            if gated:
                for k in range(length):
                    value = load(x, source + k, 0)
                    positive = load(gate, source + k, 1) > zero
                    store(wide, target + k, value if positive else zero, 2)
            else:
                for k in range(length):
                    store(wide, target + k, load(x, source + k, 0), 2)
            source += length


@routine
def finish(y, start, distance, number, bias, first, here, relu):
    """Add bias[first:first + here] to y at `number` positions; then apply ReLU if `relu`."""
    zero = np.float32(0)
    for i in range(number):
        at = start + i * distance
        if bias.size:
            for k in range(here):
                store(y, at + k, load(y, at + k, 0) + load(bias, first + k, 1), 0)
        if relu:
            for k in range(here):
                value = load(y, at + k, 0)
                store(y, at + k, zero if value < zero else value, 0)


@routine(python=True)
def add_places(flat, start, number, channels, sums):
    """Add each channel's sum over the `number` positions of one image to `sums`."""
    part = np.empty(channels, np.float32)
    for k in range(channels):
        part[k] = np.float32(0)
    for i in range(0, number - 3, 4):
        at = start + i * channels
        for k in range(channels):
            a, b = load(flat, at + k, 0), load(flat, at + channels + k, 0)
            c, d = load(flat, at + 2 * channels + k, 0), load(flat, at + 3 * channels + k, 0)
            store(part, k, load(part, k, 1) + ((a + b) + (c + d)), 1)
    for i in range(number // 4 * 4, number):
        for k in range(channels):
            part[k] += flat[start + i * channels + k]
    for k in range(sums.size):
        sums[k] += part[k]


@kernel
def pack(w, packed):
    """Pack weights into panels (panels, rows · columns · channels, WIDTH), padded with zeros."""
    filters, depth = w.shape[3], packed.shape[1]
    for j in range(packed.shape[0]):
        here = min(WIDTH, filters - j * WIDTH)
        for k in range(depth):
            source, target = k * filters + j * WIDTH, (j * depth + k) * WIDTH
            for n in range(here):
                store(packed, target + n, load(w, source + n, 0), 1)
            for n in range(here, WIDTH):
                store(packed, target + n, np.float32(0), 1)


@kernel
def pack_turned(w, first_row, row_step, first_column, column_step, rows, columns, packed):
    """Pack transposed weights for the backward pass: (panels, rows · columns · filters, WIDTH).

    The panels contain `rows` rows of the window (first_row, first_row + row_step, ...) and likewise
    `columns` columns; channels and filters are transposed.
    """
    _, across, channels, filters = w.shape
    flat, flat_panels, depth = w.reshape(-1), packed.reshape(-1), packed.shape[1]
    for j in range(packed.shape[0]):
        here = min(WIDTH, channels - j * WIDTH)
        for r in range(rows):
            for q in range(columns):
                row, column = first_row + r * row_step, first_column + q * column_step
                start = ((row * across + column) * channels + j * WIDTH) * filters
                at = (r * columns + q) * filters
                turn(
                    flat_panels,
                    (j * depth + at) * WIDTH,
                    WIDTH,
                    flat,
                    start,
                    filters,
                    here,
                    filters,
                )
                for f in range(at, at + filters):
                    for n in range(here, WIDTH):
                        packed[j, f, n] = np.float32(0)


@kernel
def multiply(
    x, gate, packed, wide, window, first, last, y, filters, y_image, y_row, y_place, y_at, sizes,
    bias, relu,
):  # fmt: skip
    """Compute the convolution of the images `first` to `last`, and write it to the flat array y.

    Args:
        x, gate: (batch, height, width, channels), see `place`.
        packed: panels of weights (panels, rows · columns · channels, WIDTH).
        wide: scratch for one padded image, with zero padding; empty without padding and gate.
        window: a ConvWindow.
        filters, y_image, y_row, y_place, y_at: the number of filters; the strides of images, rows
            and positions in y; the offset of the first position.
        sizes: the numbers of rows and of columns of output positions.
        bias, relu: a bias to add, or empty; whether to apply ReLU.
    """
    rows, columns, down, right, row_step, column_step, top, left, _, width = window
    _, inner_height, inner_width, channels = x.shape
    flat, weights = x.reshape(-1), packed.reshape(-1)
    depth = rows * columns * channels
    together = column_step == 1  # Without dilation, a row of a window is contiguous in memory.
    for n in range(first, last):
        a, start = flat, n * inner_height * inner_width * channels
        if wide.size:
            place(x, gate, n, wide, top, left, width, channels)
            a, start = wide, 0
        for j in range(packed.shape[0]):
            here = min(WIDTH, filters - j * WIDTH)
            for i in range(sizes[0]):
                at = y_at + n * y_image + i * y_row + j * WIDTH
                source = start + i * down * width * channels
                if together:
                    panel(
                        y, at, y_place, a, source, right * channels, 1, weights,
                        j * depth * WIDTH, WIDTH, columns * channels, rows,
                        row_step * width * channels, columns * channels * WIDTH, 0, sizes[1],
                        here,
                    )  # fmt: skip
                else:
                    for r in range(rows):
                        panel(
                            y, at, y_place, a, source + r * row_step * width * channels,
                            right * channels, 1, weights,
                            (j * depth + r * columns * channels) * WIDTH, WIDTH, channels, columns,
                            column_step * channels, channels * WIDTH, int(r > 0), sizes[1], here,
                        )  # fmt: skip
                if bias.size or relu:
                    finish(y, at, y_place, sizes[1], bias, j * WIDTH, here, relu)


@kernel
def multiply_turned(x, g, gate, wide, wide_g, window, first, last, w, sums):
    """Add the weight gradient of the images `first` to `last` to w: sums of window pixels times g.

    Args:
        gate: the gate of g, see `place`.
        wide_g: scratch for a copy of one image of g, because the micro-kernel does not read g in
            memory order.
        sums: receives the sum of g over all positions; empty if it is not needed.
    """
    rows, columns, down, right, row_step, column_step, top, left, _, width = window
    _, inner_height, inner_width, channels = x.shape
    _, height, across, filters = g.shape
    flat, weights = x.reshape(-1), w.reshape(-1)
    groups = 1 if column_step == 1 else columns
    together = columns // groups * channels
    for n in range(first, last):
        a, start = flat, n * inner_height * inner_width * channels
        if wide.size:
            place(x, x[:0], n, wide, top, left, width, channels)
            a, start = wide, 0
        place(g, gate, n, wide_g, 0, 0, across, filters)
        if sums.size:
            add_places(wide_g, 0, height * across, filters, sums)
        for j in range(0, filters, WIDTH):
            here = min(WIDTH, filters - j)
            for r in range(rows):
                for q in range(groups):
                    source = start + (r * row_step * width + q * column_step) * channels
                    panel(
                        weights, (r * columns + q) * channels * filters + j, filters, a, source,
                        1, right * channels, wide_g, j, filters, across, height,
                        down * width * channels, across * filters, 1, together, here,
                    )  # fmt: skip


def conv(x, w, window, places, bias=NO_BIAS, relu=False, out=None):
    """Return x convolved with w, of spatial size `places`, plus the bias; apply ReLU if `relu`."""
    filters = w.shape[3]
    packed = scratch.take("conv.packed", _panels(w.shape, filters) * WIDTH)
    packed = packed.reshape(-(-filters // WIDTH), -1, WIDTH)
    pack(w, packed)
    y = np.empty((len(x), *places, filters), np.float32) if out is None else out
    distances = (places[0] * places[1], places[1], 1)
    target = (y.reshape(-1), filters, distances, 0, places)
    _multiply(x, NO_GATE, packed, window, target, bias, relu)
    return y


def _panels(shape, columns):
    """Return the number of rows (of WIDTH elements) that the panels of a weight matrix have."""
    return -(-columns // WIDTH) * (shape[0] * shape[1] * shape[2] * shape[3] // columns)


def _multiply(x, gate, packed, window, target, bias=NO_BIAS, relu=False):
    y, filters, distances, y_at, sizes = target
    distances = [d * filters for d in distances]

    def part(images):
        wide = _wide(x, window, "conv.wide", len(gate))
        multiply(
            x, gate, packed, wide, window, *images, y, filters, *distances, y_at, sizes, bias, relu
        )  # fmt: skip

    places = len(x) * sizes[0] * sizes[1]
    threads.run(part, parts(len(x), 2 * places * packed.size, x.size + places * filters))


def _wide(x, window, name, gated=0):
    """Return zeroed scratch for one padded image, or an empty array if neither padded nor gated."""
    if x.shape[1:3] == (window.height, window.width) and not gated:
        return np.empty(0, np.float32)
    wide = scratch.take(name, window.height * window.width * x.shape[3])
    wide.fill(0)
    return wide


def parts(batch, operations, moved=0):
    """Divide a batch into ranges, one per thread; with few operations, return a single range.

    Args:
        moved: the number of elements read and written, which may take longer than the operations.
    """
    many = max(operations, moved * _MOVE) > _ALONE
    number = min(threads.count(), batch) if many else 1
    ends = [batch * i // number for i in range(number + 1)]
    return list(itertools.pairwise(ends))


_ALONE = 5e7  # One thread alone computes up to this many operations, which take about 200 µs.
_MOVE = 40  # Loading one element from memory costs as much as this many operations.


def conv_input(g, w, sizes, window, gate=NO_GATE, out=None):
    """Return the cotangent of the images, of spatial `sizes`, from g, the cotangent of y.

    Here g is set to 0 where the gate is not positive.

    With stride s, every s-th pixel of an axis lies under the same window pixels. The cotangent of
    each such lattice of pixels is a convolution of g with stride 1, by these window pixels in
    reverse order.
    """
    rows, columns, down, right, row_step, column_step, top, left = window[:8]
    channels = w.shape[2]
    x = np.empty((len(g), *sizes, channels), np.float32) if out is None else out
    flat = x.reshape(-1)
    for i in range(min(down, sizes[0])):
        for j in range(min(right, sizes[1])):
            in_rows = _lattice(i, rows, down, row_step, top, sizes[0])
            in_columns = _lattice(j, columns, right, column_step, left, sizes[1])
            if not in_rows.cells or not in_columns.cells:
                x[:, i::down, j::right] = 0
                continue
            view = ConvWindow(
                in_rows.cells, in_columns.cells, 1, 1, in_rows.step, in_columns.step,
                in_rows.before, in_columns.before, in_rows.length, in_columns.length,
            )  # fmt: skip
            lattices = (in_rows, in_columns)
            _back(g, gate, w, view, lattices, flat, sizes, (i, j), (down, right))
    return x


class _Lattice(NamedTuple):
    """One axis of a lattice (see `conv_input`): its window pixels, and the padding of g for them.

    Attributes:
        last: the last window pixel that covers the lattice; the reverse order begins with it.
        cells: the number of window pixels that cover the lattice.
        apart: the distance from one window pixel to the next in reverse order, negative.
        step: the distance in g between the elements for one window pixel and for the next.
        before: the padding before g; negative if g is cropped.
        length: the size of g with its padding.
        places: the number of image pixels in the lattice.
    """

    last: int
    cells: int
    apart: int
    step: int
    before: int
    length: int
    places: int


def _lattice(phase, cells, stride, dilation, before, size):
    """Return the lattice of the pixels phase, phase + stride, ... of an axis of `size` pixels."""
    places = -(-(size - phase) // stride)
    if stride == 1:
        reach = (cells - 1) * dilation
        return _Lattice(cells - 1, cells, -1, dilation, reach - before, places + reach, places)
    # the first window pixel that covers pixels of this phase
    first = (phase + before) % stride
    count = max(-(-(cells - first) // stride), 0)
    last = first + (count - 1) * stride
    # For the first pixel, g is read from index -padding on.
    padding = -((phase + before - last) // stride)
    return _Lattice(last, count, -stride, 1, padding, places + count - 1, places)


def _back(g, gate, w, view, lattices, x, sizes, phase, strides):
    """Compute the cotangent of the pixels of one lattice, for `conv_input`."""
    down, across = lattices
    filters, channels = w.shape[3], w.shape[2]
    depth = view.rows * view.columns * filters
    panels = -(-channels // WIDTH)
    packed = scratch.take("conv.packed", panels * depth * WIDTH).reshape(panels, depth, WIDTH)
    pack_turned(
        w, down.last, down.apart, across.last, across.apart, view.rows, view.columns, packed
    )  # fmt: skip
    g, gate, view = _cut(g, gate, view)
    distances = (sizes[0] * sizes[1], strides[0] * sizes[1], strides[1])
    at = (phase[0] * sizes[1] + phase[1]) * channels
    places = (down.places, across.places)
    _multiply(g, gate, packed, view, (x, channels, distances, at, places))


def _cut(g, gate, view):
    """Return g, gate and view; where the padding is negative, g and gate are cropped instead."""
    for axis, before, length in ((1, view.top, view.height), (2, view.left, view.width)):
        start, stop = max(-before, 0), min(length - before, g.shape[axis])
        if start or stop < g.shape[axis]:
            index = [slice(None)] * 4
            index[axis] = slice(start, max(stop, start))
            g = np.ascontiguousarray(g[tuple(index)])
            gate = np.ascontiguousarray(gate[tuple(index)]) if len(gate) else gate
    return g, gate, view._replace(top=max(view.top, 0), left=max(view.left, 0))


def conv_kernel(x, g, window, gate=NO_GATE, *, sums=False):
    """Return the cotangents of the weights and of a bias (or None) from g, the cotangent of y,
    which is set to 0 where the gate is not positive."""
    shape = (window.rows, window.columns, x.shape[3], g.shape[3])
    work = 2 * g.size * window.rows * window.columns * x.shape[3]
    ranges = parts(len(x), work, x.size + g.size + gate.size)
    gradients = [np.zeros(shape, np.float32) for _ in ranges]
    totals = [np.zeros(shape[3] if sums else 0, np.float32) for _ in ranges]

    def part(i):
        wide = _wide(x, window, "conv.wide")
        wide_g = scratch.take("conv.wide_g", g[0].size)
        multiply_turned(x, g, gate, wide, wide_g, window, *ranges[i], gradients[i], totals[i])

    threads.run(part, range(len(ranges)))
    return added(gradients), added(totals) if sums else None


def added(arrays):
    """Add the other arrays to the first one, in order, and return it."""
    for array in arrays[1:]:
        arrays[0] += array
    return arrays[0]


def warm():
    """Compile the kernels ahead of time; the same ones serve calls without padding or bias."""
    x, w = np.zeros((1, 4, 4, 2), np.float32), np.zeros((3, 3, 2, 3), np.float32)
    window = ConvWindow(3, 3, 1, 1, 1, 1, 0, 0, 4, 4)
    y = conv(x, w, window, (2, 2), np.zeros(3, np.float32), relu=True)
    conv_input(y, w, (4, 4), window, y)
    conv_kernel(x, y, window, y, sums=True)
