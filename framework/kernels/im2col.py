"""Convolution of any number of spatial axes and its two derivatives, by im2col and products.

Arrays are channels-last: x (batch, *spatial, channels), w (*size, channels / groups, filters),
y (batch, *places, filters). Group i of the filters sees group i of the channels. The windows of a
few images at a time are laid out as rows of a matrix, so that they stay in the cache.
"""

import math

import numpy as np

from framework.kernels import windows

_BLOCK = 1 << 19  # numbers of windows laid out at a time: 2 MB


def conv(x, w, *, strides, padding, dilations, groups):
    """y: at each place the window's cells times the kernel's, added up (no flip)."""
    dtype = x.dtype
    x, w = _added_up_in(x, w)
    *size, inner, filters = w.shape
    places = windows.output_sizes(x.shape[1:-1], size, strides, padding, dilations)
    padding = windows.amounts(padding, x.shape[1:-1], size, strides, dilations)
    wide = windows.padded(x, padding)
    shape = (len(x), *places, filters)
    if inner == 1 and groups > 1:
        y = _depthwise(wide, w, strides, dilations, places)
        return y.reshape(shape).astype(dtype, copy=False)
    y, rows = np.empty(shape, x.dtype), _rows(w, groups)
    for images in _blocks(len(x), math.prod(places) * math.prod(size) * x.shape[-1]):
        columns = _columns(wide[images], size, strides, dilations, places, groups)
        part = y[images]
        if groups == 1:
            np.matmul(columns, rows, out=part.reshape(-1, filters))
        else:
            part[...] = _joined(np.matmul(columns, rows), part.shape)
    return y.astype(dtype, copy=False)


def conv_input(g, w, *, sizes, strides, padding, dilations, groups):
    """The x, of spatial `sizes`, whose `conv` with `w` gives y: sum(g * y)'s derivative by x."""
    dtype = g.dtype
    g, w = _added_up_in(g, w)
    *size, inner, _ = w.shape
    places = g.shape[1:-1]
    padding = windows.amounts(padding, sizes, size, strides, dilations)
    if groups == 1 and set(strides) == {1}:
        axes = zip(size, dilations, padding, sizes, places, strict=True)
        back = [((k - 1) * d - before, n - m + before) for k, d, (before, _), n, m in axes]
        if all(before >= 0 and after >= 0 for before, after in back):
            turned = np.flip(w, range(len(size))).swapaxes(-1, -2)
            options = {"strides": strides, "padding": back, "dilations": dilations, "groups": 1}
            return conv(g, turned, **options).astype(dtype, copy=False)
    wide = np.zeros((g.shape[0], *windows.widened(sizes, padding), inner * groups), g.dtype)
    if inner == 1 and groups > 1:
        multiplier = w.shape[-1] // groups
        split = g.reshape(*g.shape[:-1], groups, multiplier)
        for offsets, index in windows.cells(size, strides, dilations, places):
            wide[index] += (split * w[offsets].reshape(groups, multiplier)).sum(-1)
    else:
        rows = _rows(w, groups).swapaxes(-1, -2)
        for images in _blocks(len(g), math.prod(places) * math.prod(size) * inner * groups):
            columns, part = _matmul(_split(g[images], groups), rows), wide[images]
            shape = (len(part), *places, *size, inner * groups)
            columns = _joined_cells(columns, shape, groups)
            for offsets, index in windows.cells(size, strides, dilations, places):
                part[index] += columns[(..., *offsets, slice(None))]
    return windows.unpadded(wide, sizes, padding).astype(dtype, copy=False)


def conv_kernel(x, g, *, size, strides, padding, dilations, groups):
    """The derivative of sum(g * conv(x, w)) by w, whose windows have `size`."""
    dtype = x.dtype
    x, g = _added_up_in(x, g)
    places = g.shape[1:-1]
    channels, filters = x.shape[-1], g.shape[-1]
    padding = windows.amounts(padding, x.shape[1:-1], size, strides, dilations)
    wide = windows.padded(x, padding)
    if channels == groups > 1:
        split = g.reshape(*g.shape[:-1], groups, filters // groups)
        w = np.empty((*size, 1, filters), g.dtype)
        axes = tuple(range(g.ndim - 1))
        for offsets, index in windows.cells(size, strides, dilations, places):
            w[offsets] = (wide[index][..., None] * split).sum(axes).reshape(1, filters)
        return w.astype(dtype, copy=False)
    found = 0
    for images in _blocks(len(x), math.prod(places) * math.prod(size) * channels):
        columns = _columns(wide[images], size, strides, dilations, places, groups)
        found += _matmul(columns.swapaxes(-1, -2), _split(g[images], groups))
    if groups > 1:  # (groups, cells, filters)
        found = np.moveaxis(found, 0, 1)
    shape = (*size, channels // groups, filters)
    return np.ascontiguousarray(found.reshape(shape), dtype)


def _blocks(batch, each):
    """Slices of the batch, at least one, whose images together have so many numbers of windows."""
    step = max(_BLOCK // max(each, 1), 1)
    return [slice(i, i + step) for i in range(0, max(batch, 1), step)]


def _added_up_in(*arrays):
    dtype = windows.wide_enough(arrays[0].dtype)
    return [a.astype(dtype, copy=False) for a in arrays]


def _matmul(a, b):
    return np.dot(a, b) if a.ndim == 2 else np.matmul(a, b)


def _columns(wide, size, strides, dilations, places, groups):
    """The windows as rows, (places, cells); of several groups (group, places, cells)."""
    found = windows.view(wide, size, strides, dilations, places)
    rows, n = wide.shape[0] * math.prod(places), math.prod(size)
    if groups == 1:
        return found.reshape(rows, n * wide.shape[-1])
    split = found.reshape(rows, n, groups, wide.shape[-1] // groups)
    return np.moveaxis(split, 2, 0).reshape(groups, rows, n * split.shape[-1])


def _rows(w, groups):
    """The kernel as (cells, filters); of several groups (group, cells, filters)."""
    flat = w.reshape(math.prod(w.shape[:-1]), w.shape[-1])
    if groups == 1:
        return flat
    return np.moveaxis(flat.reshape(len(flat), groups, w.shape[-1] // groups), 1, 0)


def _split(g, groups):
    """(places, filters); of several groups (group, places, filters)."""
    rows = math.prod(g.shape[:-1])
    if groups == 1:
        return g.reshape(rows, g.shape[-1])
    return np.moveaxis(g.reshape(rows, groups, g.shape[-1] // groups), 1, 0)


def _joined(y, shape):
    """What `_split` has split, in `shape`."""
    return np.moveaxis(y, 0, 1).reshape(shape)


def _joined_cells(columns, shape, groups):
    """What `_columns` has split, in `shape`: (batch, *places, *size, channels)."""
    if groups == 1:
        return columns.reshape(shape)
    inner = shape[-1] // groups
    split = columns.reshape(groups, columns.shape[1], columns.shape[2] // inner, inner)
    return np.moveaxis(split, 0, 2).reshape(shape)


def _depthwise(wide, w, strides, dilations, places):
    """One channel for each group: shifted inputs times numbers, without a product of matrices."""
    channels = wide.shape[-1]
    multiplier = w.shape[-1] // channels
    y = np.zeros((wide.shape[0], *places, channels, multiplier), wide.dtype)
    for offsets, index in windows.cells(w.shape[:-2], strides, dilations, places):
        y += wide[index][..., None] * w[offsets].reshape(channels, multiplier)
    return y
