"""Convolution over any number of spatial axes and its gradients, by im2col and matrix products.

Arrays are channels-last: x (batch, *spatial, channels), w (*size, channels / groups, filters), y
(batch, *places, filters). The filters of group i use the channels of group i. The windows of a few
images at a time are copied to the rows of a matrix that fits in the cache; threads divide the batch
among them.
"""

import math

import numpy as np

from framework.kernels import windows
from framework.kernels.choose import masked, zeros
from framework.kernels.share import blocks, share
from framework.kernels.sums import added

# A thread copies windows of this many elements in total, 2 MB, before it multiplies them.
_BLOCK = 1 << 19
# Windows are copied pixel by pixel (each pixel of all windows at once) if there are at most this
# many channels, else window by window.
_FEW = 4


def conv(
    x, w, *, strides, padding, dilations, groups, bias=None, relu=False, gate=None, out=None
):  # fmt: skip
    """Return the convolution: at each position the sum of window pixels times kernel (not flipped).

    Args:
        bias: one number per filter, which is added to y, or None.
        relu: whether to apply ReLU after adding the bias.
        gate: None, or an array like x: x counts as 0 where it is not positive.
        out: an array that may be used for y.
    """
    dtype, wide_dtype = x.dtype, windows.wide_enough(x.dtype)
    w = w.astype(wide_dtype, copy=False)
    *size, inner, filters = w.shape
    places = windows.output_sizes(x.shape[1:-1], size, strides, padding, dilations)
    padding = windows.amounts(padding, x.shape[1:-1], size, strides, dilations)
    given = out is not None and dtype == wide_dtype
    y = out if given else np.empty((len(x), *places, filters), wide_dtype)
    layout = _Im2colLayout(size, strides, dilations, places, groups, x.shape[-1])
    layout.ones = bias is not None and groups == 1
    rows = _rows(w, groups) if not layout.ones else np.r_[_rows(w, 1), bias[None].astype(w.dtype)]

    def work(first, last):
        for images in layout.blocks(first, last):
            part = y[images]
            wide = windows.padded(_gated(x, gate, images), padding)
            if inner == 1 and groups > 1:
                layout.depthwise(wide, w, part)
            elif groups == 1:
                np.matmul(layout.columns(wide), rows, out=part.reshape(-1, filters))
            else:
                part[...] = _joined(np.matmul(layout.columns(wide), rows), part.shape)
            if bias is not None and not layout.ones:
                part += bias
            if relu:
                np.maximum(part, zeros[part.dtype], out=part)

    share(work, len(x), layout.each * len(x) * max(filters // groups, 1))
    return y.astype(dtype, copy=False)


def conv_input(g, w, *, sizes, strides, padding, dilations, groups, gate=None, out=None):
    """Return the gradient of sum(g * conv(x, w)) with respect to x, of spatial `sizes`.

    Args:
        gate: None, or an array like g: g counts as 0 where it is not positive.
        out: an array that may be used for the result.
    """
    *size, inner, _ = w.shape
    places = g.shape[1:-1]
    padding = windows.amounts(padding, sizes, size, strides, dilations)
    # With fewer channels, `layout.add` below is faster than this convolution by the flipped window.
    if groups == 1 and set(strides) == {1} and inner > _FEW:
        axes = zip(size, dilations, padding, sizes, places, strict=True)
        back = [((k - 1) * d - before, n - m + before) for k, d, (before, _), n, m in axes]
        if all(before >= 0 and after >= 0 for before, after in back):
            turned = np.flip(w, range(len(size))).swapaxes(-1, -2)
            options = {"strides": strides, "padding": back, "dilations": dilations, "groups": 1}
            return conv(g, turned, **options, gate=gate, out=out)
    dtype, w = g.dtype, w.astype(windows.wide_enough(g.dtype), copy=False)
    x = np.zeros((len(g), *windows.widened(sizes, padding), inner * groups), w.dtype)
    layout = _Im2colLayout(size, strides, dilations, places, groups, inner * groups)
    rows = _rows(w, groups).swapaxes(-1, -2)

    def work(first, last):
        for images in layout.blocks(first, last):
            part, d = x[images], _gated(g, gate, images)
            if inner == 1 and groups > 1:
                layout.depthwise_back(d, w, part)
            else:
                layout.add(np.matmul(_split(d, groups), rows), part)

    share(work, len(g), layout.each * len(g) * max(w.shape[-1] // groups, 1))
    return windows.unpadded(x, sizes, padding).astype(dtype, copy=False)


def conv_kernel(
    x, g, *, size, strides, padding, dilations, groups, gate=None, sums=False
):  # fmt: skip
    """Return the gradients of sum(g * conv(x, w)) with respect to w, of window `size`, and a bias.

    Args:
        gate: None, or an array like g: g counts as 0 where it is not positive.
        sums: whether to compute the gradient with respect to a bias; else it is None.
    """
    dtype, places = x.dtype, g.shape[1:-1]
    channels, filters = x.shape[-1], g.shape[-1]
    padding = windows.amounts(padding, x.shape[1:-1], size, strides, dilations)
    layout = _Im2colLayout(size, strides, dilations, places, groups, channels)
    layout.ones = sums and groups == 1
    each_alone = channels == groups > 1

    def work(first, last):
        by_w, by_b = 0, 0
        for images in layout.blocks(first, last):
            d = _gated(g, gate, images)
            wide = windows.padded(_gated(x, None, images), padding)
            if each_alone:
                by_w = by_w + layout.depthwise_kernel(wide, d)
            else:
                columns = layout.columns(wide).swapaxes(-1, -2)
                by_w = by_w + np.matmul(columns, _split(d, groups))
            if sums and not layout.ones:
                by_b = by_b + added(d, tuple(range(d.ndim - 1)))
        return by_w, by_b

    work_size = layout.each * len(x) * max(filters // groups, 1)
    by_w, by_b = map(sum, zip(*share(work, len(x), work_size), strict=True))
    if layout.ones:
        by_w, by_b = by_w[:-1], by_w[-1]
    # by_w: (groups, window elements, filters)
    if groups > 1 and not each_alone:
        by_w = np.moveaxis(by_w, 0, 1)
    by_w = by_w.reshape(*size, channels // groups, filters)
    return np.ascontiguousarray(by_w, dtype), by_b.astype(dtype, copy=False) if sums else None


def _gated(g, gate, images):
    """Return g[images], 0 where the gate is not positive, in the dtype used for sums."""
    part = g[images] if gate is None else masked(g[images], gate[images] > 0)
    return part.astype(windows.wide_enough(g.dtype), copy=False)


class _Im2colLayout:
    """How windows of images are laid out as the rows of a matrix.

    Attributes:
        each: the number of elements of one image's windows.
        ones: whether each row ends with a 1, so that the bias is the last row of weights.
    """

    ones = False

    def __init__(self, size, strides, dilations, places, groups, channels):
        self.size, self.moves, self.places = tuple(size), (strides, dilations), tuple(places)
        self.groups, self.channels = groups, channels
        self.cells = math.prod(size) * channels
        self.each = math.prod(places) * self.cells

    def blocks(self, first, last):
        """Return slices of the batch; an empty batch gets one, so that it has a result too."""
        step = max(_BLOCK // max(self.each, 1), 1)
        return blocks(first, last, step) or [slice(first, last)]

    def columns(self, wide):
        """Return windows as matrix rows, (positions, elements) or (group, positions, elements)."""
        view = windows.view(wide, self.size, *self.moves, self.places)
        rows = len(wide) * math.prod(self.places)
        if self.groups > 1:
            inner = self.channels // self.groups
            split = view.reshape(rows, math.prod(self.size), self.groups, inner)
            return np.moveaxis(split, 2, 0).reshape(self.groups, rows, self.cells // self.groups)
        if self.channels <= _FEW:
            columns = np.empty((self.cells + self.ones, rows), wide.dtype).T
            cells, middle = view.ndim - 1 - len(self.size), columns[:, : self.cells].T
            order = (*range(cells, view.ndim), *range(cells))
            view = view.transpose(order)
            np.copyto(middle.reshape(view.shape), view)
        else:
            columns = np.empty((rows, self.cells + self.ones), wide.dtype)
            np.copyto(columns[:, : self.cells].reshape(view.shape), view)
        if self.ones:
            columns[:, -1] = 1
        return columns

    def add(self, columns, x):
        """Add the matrix rows to the windows of x: the adjoint of `columns`."""
        shape = (len(x), *self.places, *self.size, self.channels)
        if self.groups > 1:
            inner = self.channels // self.groups
            split = columns.reshape(self.groups, columns.shape[1], math.prod(self.size), inner)
            columns = np.moveaxis(split, 0, 2)
        columns = columns.reshape(shape)
        for offsets, index in self._cells():
            x[index] += columns[(..., *offsets, slice(None))]

    # With one channel per group, shifted images times weights replace the matrix product.

    def depthwise(self, wide, w, y):
        """Write the depthwise convolution to y."""
        split = y.reshape(*y.shape[:-1], self.groups, w.shape[-1] // self.groups)
        split[...] = 0
        for offsets, index in self._cells():
            split += wide[index][..., None] * w[offsets].reshape(self.groups, -1)

    def depthwise_back(self, g, w, x):
        """Add the gradient of the depthwise convolution with respect to its images to x."""
        split = g.reshape(*g.shape[:-1], self.groups, w.shape[-1] // self.groups)
        for offsets, index in self._cells():
            x[index] += (split * w[offsets].reshape(self.groups, -1)).sum(-1)

    def depthwise_kernel(self, wide, g):
        """Return the gradient of the depthwise convolution with respect to w, (*size, 1,
        filters)."""
        filters, axes = g.shape[-1], tuple(range(g.ndim - 1))
        split = g.reshape(*g.shape[:-1], self.groups, filters // self.groups)
        w = np.empty((*self.size, 1, filters), g.dtype)
        for offsets, index in self._cells():
            w[offsets] = (wide[index][..., None] * split).sum(axes).reshape(1, filters)
        return w

    def _cells(self):
        return windows.cells(self.size, *self.moves, self.places)


def _rows(w, groups):
    """Return w as (window elements, filters), with groups as (group, window elements, filters)."""
    flat = w.reshape(math.prod(w.shape[:-1]), w.shape[-1])
    if groups == 1:
        return flat
    return np.moveaxis(flat.reshape(len(flat), groups, w.shape[-1] // groups), 1, 0)


def _split(g, groups):
    """Return g as (positions, filters), or as (group, positions, filters) if there are groups."""
    rows = math.prod(g.shape[:-1])
    if groups == 1:
        return g.reshape(rows, g.shape[-1])
    return np.moveaxis(g.reshape(rows, groups, g.shape[-1] // groups), 1, 0)


def _joined(y, shape):
    """Return y in `shape`: the inverse of `_split`."""
    return np.moveaxis(y, 0, 1).reshape(shape)
