"""Convolution by 3 × 3 windows with stride 1, by Winograd's F(2 × 2, 3 × 3) and F(4 × 4, 3 × 3).

See `toom_cook` for the formula, and `fast/winograd.py` for the Numba kernels. In NumPy, every step
except copies is a matrix product. A patch is a column of (m + 2)² elements; a product with M ⊗ M
computes the transform M S Mᵀ of all patches and channels at once. A product (patches, channels)
(channels, filters) follows for each of the (m + 2)² points of a patch.

The arrays of a block of images are planes, (points of a patch, patches · channels). The gradients
are the transposes of these products, and both use the same transform of g.
"""

import functools
import math

import numpy as np

from framework.kernels import blas, toom_cook
from framework.kernels.choose import masked
from framework.kernels.share import blocks, share

# A plane has about this many elements, so that a block's arrays stay in the cache.
_PLANE = 1 << 13
# A block has at least this many patches, because each block reads all weights from memory.
_ROWS = 64
_TOTAL = 1 << 18  # Products are added to the sum in groups of about this many elements.
# Planes get this much padding, because planes k · 4096 bytes apart would share cache sets.
_SKEW = 16


class _Transforms:
    """The transform matrices for m × m outputs."""

    def __init__(self, m):
        self.m, self.places = m, (m + 2) ** 2
        b, g, a = (getattr(toom_cook, f"{letter}{m}") for letter in "BGA")
        self.patches, self.windows, self.outputs = map(_twice, (b, g, a))
        # the output transform with a further column, which adds the bias
        self.with_bias = np.c_[self.outputs, np.ones(m * m, np.float32)]

    def transformed(self, w):
        """Return the transformed windows of w, (points, channels, filters)."""
        # Limit BLAS to one thread: its threads would take CPU time from this package's threads.
        with blas.limited(1):
            return (self.windows @ w.reshape(9, -1)).reshape(self.places, *w.shape[2:])

    def back(self, d):
        """Return the gradient of w, given `d`, the gradient of the result of `transformed`."""
        shape = (3, 3, *d.shape[1:])
        with blas.limited(1):
            return (self.windows.T @ d.reshape(self.places, -1)).reshape(shape)


def _twice(matrix):
    return np.kron(matrix, matrix).astype(np.float32)


_transforms = functools.cache(_Transforms)


def conv(x, w, before, places, m, bias=None, relu=False, out=None):
    """Return y of spatial size `places`, plus a bias; `relu` applies ReLU.

    Args:
        before: the padding (above, left).
        m: 2 or 4; a patch has m × m outputs.
        out: an array for y.
    """
    form = _transforms(m)
    u, y = form.transformed(w), out
    if out is None:
        y = np.empty((len(x), *places, w.shape[3]), np.float32)

    def work(first, last):
        block = _ImageBlock(form, x.shape, before, y.shape)
        for images in blocks(first, last, block.images):
            block.put(block.spread(x[images]), u, bias, relu, y[images])

    share(work, len(x), w.size * y[..., 0].size)
    return y


def back(g, gate, before, m, *, x=None, w=None, sizes=None, sums=False, out=None):
    """Return the gradients of sum(g * conv(x, w)) with respect to x, w and the bias, or None.

    Args:
        gate: None, or y: g counts as 0 where y is not positive.
        x: None if the gradient of w is not requested.
        w: None if the gradient of x is not requested; else `sizes` is the spatial size of x.
        sums: whether the gradient of the bias is requested.
        out: an array for the gradient of x.
    """
    form = _transforms(m)
    channels = w.shape[2] if x is None else x.shape[3]
    shape = (len(g), *(x.shape[1:3] if sizes is None else sizes), channels)
    by_x = u = None
    if w is not None:
        by_x = np.empty(shape, np.float32) if out is None else out
        u = form.transformed(w.swapaxes(2, 3))

    def work(first, last):
        block, by_u, by_b = _ImageBlock(form, shape, before, g.shape), None, 0
        if x is not None:
            by_u = np.zeros((form.places, channels, g.shape[3]), np.float32)
        for images in blocks(first, last, block.images):
            d = g[images] if gate is None else masked(g[images], gate[images] > 0)
            if sums:
                by_b += _sum(d)
            z = block.spread_back(d)
            if x is not None:
                _add_products(block.spread(x[images]), z, by_u)
            if w is not None:
                block.put_back(z, u, by_x[images])
        return None if x is None else form.back(by_u), by_b

    results = share(work, len(g), 9 * channels * g.size)
    by_w = None if x is None else sum(f[0] for f in results)
    return by_x, by_w, np.asarray(sum(f[1] for f in results)) if sums else None


def _add_products(v, z, total):
    """Add the products vᵀ z to `total`, for some points of a patch at a time."""
    step = max(_TOTAL // total[0].size, 1)
    for i in range(0, len(total), step):
        some = slice(i, i + step)
        total[some] += np.matmul(v[some].swapaxes(1, 2), z[some])


def _sum(d):
    """Return the sum per filter, by a BLAS product, which is faster than a sum over rows."""
    rows = d.reshape(-1, d.shape[-1])
    return np.ones(len(rows), d.dtype) @ rows


class _ImageBlock:
    """The computations on a block of images, with scratch memory, for one thread.

    Attributes:
        images: the largest number of images of a block.
    """

    def __init__(self, form, x_shape, before, y_shape):
        _, self.height, self.width, self.channels = x_shape
        *_, filters = self.y_shape = y_shape
        self.form, self.before, self.filters = form, before, filters
        self.tiles = [-(-n // form.m) for n in y_shape[1:3]]
        self.number = math.prod(self.tiles)
        each = self.number * max(self.channels, filters)
        least = -(-_ROWS // max(self.number, 1))
        self.images = max(_PLANE // max(each, 1), least, 1)
        self._memory = {}

    def spread(self, x):
        """Cut x into patches and return their transforms, (points, patches, channels)."""
        side = self.form.m + 2
        batch, channels, (rows, columns) = len(x), self.channels, self.tiles
        wide = self._framed("x", x, self.before, 2)
        image, row, column, one = wide.strides
        patches = np.lib.stride_tricks.as_strided(
            wide, (side, side, batch, rows, columns, channels),
            (row, column, image, self.form.m * row, self.form.m * column, one), writeable=False,
        )  # fmt: skip
        planes = self._planes("one", side * side, batch * self.number * channels)
        np.copyto(planes.reshape(patches.shape), patches)
        return self._product(self.form.patches, planes, "other", channels)

    def put(self, v, u, bias, relu, y):
        """Multiply transformed patches v by transformed weights u, and write the outputs to y."""
        form, (_, number, _) = self.form, v.shape
        given = form.outputs if bias is None else form.with_bias
        planes = self._planes("one", given.shape[1], number * self.filters)
        planes = planes.reshape(-1, number, self.filters)
        np.matmul(v, u, out=planes[: form.places])
        if bias is not None:
            planes[form.places] = bias
        outputs = self._product(given, planes.reshape(len(planes), -1), "other", self.filters)
        whole = self._whole(y)
        tiles = _tiled(whole, form.m)
        outputs = outputs.reshape(tiles.shape)
        if relu:
            np.maximum(outputs, 0, out=tiles)
        else:
            np.copyto(tiles, outputs)
        if whole is not y:
            np.copyto(y, whole[:, : y.shape[1], : y.shape[2]])

    def spread_back(self, g):
        """Apply the transpose of `put`'s transform to g: (points, patches, filters)."""
        whole = self._framed("g", g, (0, 0), 0)
        tiles = _tiled(whole, self.form.m)
        planes = self._planes("one", self.form.m**2, tiles[0, 0].size)
        np.copyto(planes.reshape(tiles.shape), tiles)
        return self._product(self.form.outputs.T, planes, "z", self.filters)

    def put_back(self, z, u, x):
        """Apply the transpose of `spread` to the products of z and u, and write the result to x."""
        m, batch, (top, left) = self.form.m, len(x), self.before
        planes = self._planes("other", self.form.places, z.shape[1] * self.channels)
        np.matmul(z, u, out=planes.reshape(-1, z.shape[1], self.channels))
        patches = self._product(self.form.patches.T, planes, "one", self.channels)
        patches = patches.reshape(m + 2, m + 2, batch, *self.tiles, self.channels)
        sizes = [(n + 1) * m for n in self.tiles]
        wide = self._array("dx", (batch, *sizes, self.channels))
        wide[:, -m:], wide[:, :, -m:] = 0, 0
        # Patches overlap: each extends two rows and two columns into the next tiles.
        for down in (0, m):
            for right in (0, m):
                tiles = wide[:, down : sizes[0] - m + down, right : sizes[1] - m + right]
                part = patches[down : down + m, right : right + m]
                tiles = _tiled(tiles, m)[: len(part), : part.shape[1]]
                if down or right:
                    np.add(tiles, part, out=tiles)
                else:
                    np.copyto(tiles, part)
        np.copyto(x, wide[:, top : top + self.height, left : left + self.width])

    def _product(self, matrix, planes, name, channels):
        product = self._planes(name, len(matrix), planes.shape[1])
        np.matmul(matrix, planes, out=product)
        return product.reshape(len(matrix), -1, channels)

    def _framed(self, name, x, before, extra):
        """Return x, zero-padded if necessary to a multiple of the tile size plus `extra` pixels."""
        sizes = [n * self.form.m + extra for n in self.tiles]
        if list(x.shape[1:3]) == sizes:
            return x
        top, left = before
        wide = self._array(name, (len(x), *sizes, x.shape[3]), zero=True)
        wide[:, top : top + x.shape[1], left : left + x.shape[2]] = x
        return wide

    def _whole(self, y):
        """Return y, or scratch memory for all tiles if they extend beyond y."""
        sizes = [n * self.form.m for n in self.tiles]
        return (
            y if list(y.shape[1:3]) == sizes else self._array("whole", (len(y), *sizes, y.shape[3]))
        )

    def _planes(self, name, number, size):
        return self._array(name, (number, size + _SKEW))[:, :size]

    def _array(self, name, shape, zero=False):
        """Return the scratch memory of this name, created on first use (with zeros if `zero`)."""
        size = math.prod(shape)
        memory = self._memory.get(name)
        if memory is None or memory.size < size:
            memory = self._memory[name] = (np.zeros if zero else np.empty)(size, np.float32)
        return memory[:size].reshape(shape)


def _tiled(x, m):
    """View (batch, rows · m, columns · m, channels) as (m, m, batch, rows, columns, channels)."""
    batch, height, width, channels = x.shape
    tiles = x.reshape(batch, height // m, m, width // m, m, channels)
    return tiles.transpose(2, 4, 0, 1, 3, 5)
