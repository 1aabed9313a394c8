"""Convolution by 3 × 3 windows without strides, by Winograd's F(2 × 2, 3 × 3) and F(4 × 4, 3 × 3).

See `toom_cook` for the formula, and `fast/winograd.py` for Numba's form. Here everything but copies
is a product of matrices: a patch is a column of (m + 2)² numbers, whose transform M S Mᵀ is a
product with M ⊗ M, all patches and channels at once; then follows one product (patches, channels)
(channels, filters) for each of the (m + 2)² places of a patch.

The arrays of a block of images are planes, (places of a patch, patches · channels). The derivatives
are the same products transposed, and share what is computed of g.
"""

import functools
import math

import numpy as np

from framework.kernels import blas, toom_cook
from framework.kernels.choose import masked
from framework.kernels.share import blocks, share

_PLANE = 1 << 13  # numbers of a plane: a block's arrays stay near the cache,
_ROWS = 64  # and as many patches of one at least, for which the windows are read once
_TOTAL = 1 << 18  # numbers of products that are added up at a time
_SKEW = 16  # planes a multiple of 4096 bytes apart would all fall into the same lines


class _Transforms:
    """The products for outputs of m × m."""

    def __init__(self, m):
        self.m, self.places = m, (m + 2) ** 2
        b, g, a = (getattr(toom_cook, f"{letter}{m}") for letter in "BGA")
        self.patches, self.windows, self.outputs = map(_twice, (b, g, a))
        self.with_bias = np.c_[self.outputs, np.ones(m * m, np.float32)]  # a plane more

    def transformed(self, w):
        """The windows of w, (places, channels, filters)."""
        with blas.limited(1):  # its own threads, once awake, take the CPU from ours for a while
            return (self.windows @ w.reshape(9, -1)).reshape(self.places, *w.shape[2:])

    def back(self, d):
        """The derivative by w from that by `transformed`'s result."""
        shape = (3, 3, *d.shape[1:])
        with blas.limited(1):
            return (self.windows.T @ d.reshape(self.places, -1)).reshape(shape)


def _twice(matrix):
    return np.kron(matrix, matrix).astype(np.float32)


_transforms = functools.cache(_Transforms)


def conv(x, w, before, places, m, bias=None, relu=False, out=None):
    """y of spatial sizes `places`; plus a bias and cut at 0 with `relu`.

    Args:
        before: how many zeros are in front of x's rows and columns.
        m: 2 or 4, the side of the outputs of a patch.
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
    """The derivatives of sum(g * conv(x, w)) by x, w and the bias: None those not asked for.

    Args:
        gate: None, or y: g counts where y is positive.
        x: given where the one by w is asked for.
        w: given, with the spatial `sizes` of x, where the one by x is.
        sums: whether the one by the bias is asked for.
        out: an array for the one by x.
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

    found = share(work, len(g), 9 * channels * g.size)
    by_w = None if x is None else sum(f[0] for f in found)
    return by_x, by_w, np.asarray(sum(f[1] for f in found)) if sums else None


def _add_products(v, z, total):
    """Add to `total` the products of v, transposed, and z, some places of a patch at a time."""
    step = max(_TOTAL // total[0].size, 1)
    for i in range(0, len(total), step):
        some = slice(i, i + step)
        total[some] += np.matmul(v[some].swapaxes(1, 2), z[some])


def _sum(d):
    """The sum of each filter: BLAS is faster at it than a sum over rows."""
    rows = d.reshape(-1, d.shape[-1])
    return np.ones(len(rows), d.dtype) @ rows


class _ImageBlock:
    """What is done with some images, and the memory for it, for one thread.

    Attributes:
        images: how many there are at a time, at most.
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
        """The patches of x, transformed: (places, patches, channels)."""
        side = self.form.m + 2
        batch, channels, (rows, columns) = len(x), self.channels, self.tiles
        wide = self._framed("x", x, self.before, 2)
        image, row, column, one = wide.strides
        patches = np.lib.stride_tricks.as_strided(
            wide, (side, side, batch, rows, columns, channels),
            (row, column, image, self.form.m * row, self.form.m * column, one), writeable=False,
        )  # fmt: skip
        found = self._planes("one", side * side, batch * self.number * channels)
        np.copyto(found.reshape(patches.shape), patches)
        return self._product(self.form.patches, found, "other", channels)

    def put(self, v, u, bias, relu, y):
        """The outputs of the products of v and u, into y."""
        form, (_, number, _) = self.form, v.shape
        given = form.outputs if bias is None else form.with_bias
        planes = self._planes("one", given.shape[1], number * self.filters)
        planes = planes.reshape(-1, number, self.filters)
        np.matmul(v, u, out=planes[: form.places])
        if bias is not None:
            planes[form.places] = bias
        found = self._product(given, planes.reshape(len(planes), -1), "other", self.filters)
        whole = self._whole(y)
        tiles = _tiled(whole, form.m)
        found = found.reshape(tiles.shape)
        if relu:
            np.maximum(found, 0, out=tiles)
        else:
            np.copyto(tiles, found)
        if whole is not y:
            np.copyto(y, whole[:, : y.shape[1], : y.shape[2]])

    def spread_back(self, g):
        """What `put` makes of products, transposed: (places, patches, filters)."""
        whole = self._framed("g", g, (0, 0), 0)
        tiles = _tiled(whole, self.form.m)
        found = self._planes("one", self.form.m**2, tiles[0, 0].size)
        np.copyto(found.reshape(tiles.shape), tiles)
        return self._product(self.form.outputs.T, found, "z", self.filters)

    def put_back(self, z, u, x):
        """What `spread` makes of x, transposed, of the products of z and u."""
        m, batch, (top, left) = self.form.m, len(x), self.before
        planes = self._planes("other", self.form.places, z.shape[1] * self.channels)
        np.matmul(z, u, out=planes.reshape(-1, z.shape[1], self.channels))
        found = self._product(self.form.patches.T, planes, "one", self.channels)
        found = found.reshape(m + 2, m + 2, batch, *self.tiles, self.channels)
        sizes = [(n + 1) * m for n in self.tiles]
        wide = self._array("dx", (batch, *sizes, self.channels))
        wide[:, -m:], wide[:, :, -m:] = 0, 0
        # a patch reaches two rows and two columns into the tiles behind its own
        for down in (0, m):
            for right in (0, m):
                tiles = wide[:, down : sizes[0] - m + down, right : sizes[1] - m + right]
                part = found[down : down + m, right : right + m]
                tiles = _tiled(tiles, m)[: len(part), : part.shape[1]]
                if down or right:
                    np.add(tiles, part, out=tiles)
                else:
                    np.copyto(tiles, part)
        np.copyto(x, wide[:, top : top + self.height, left : left + self.width])

    def _product(self, matrix, planes, name, channels):
        found = self._planes(name, len(matrix), planes.shape[1])
        np.matmul(matrix, planes, out=found)
        return found.reshape(len(matrix), -1, channels)

    def _framed(self, name, x, before, extra):
        """x in zeros, as large as whole tiles and `extra` cells; x itself where it is that."""
        sizes = [n * self.form.m + extra for n in self.tiles]
        if list(x.shape[1:3]) == sizes:
            return x
        top, left = before
        wide = self._array(name, (len(x), *sizes, x.shape[3]), zero=True)
        wide[:, top : top + x.shape[1], left : left + x.shape[2]] = x
        return wide

    def _whole(self, y):
        """y, or where its tiles reach beyond it, memory for all of them."""
        sizes = [n * self.form.m for n in self.tiles]
        return (
            y if list(y.shape[1:3]) == sizes else self._array("whole", (len(y), *sizes, y.shape[3]))
        )

    def _planes(self, name, number, size):
        return self._array(name, (number, size + _SKEW))[:, :size]

    def _array(self, name, shape, zero=False):
        """Memory under that name: what it holds stays as it is, but for the first time."""
        size = math.prod(shape)
        memory = self._memory.get(name)
        if memory is None or memory.size < size:
            memory = self._memory[name] = (np.zeros if zero else np.empty)(size, np.float32)
        return memory[:size].reshape(shape)


def _tiled(x, m):
    """(batch, rows · m, columns · m, channels) as (m, m, batch, rows, columns, channels)."""
    batch, height, width, channels = x.shape
    tiles = x.reshape(batch, height // m, m, width // m, m, channels)
    return tiles.transpose(2, 4, 0, 1, 3, 5)
