"""Diagonal: rows of a scaled identity matrix, stored as the diagonal."""

import numpy as np

from framework.core.operand import Operand
from framework.core.tensor import Tensor
from framework.ops.elementwise import gated, multiply
from framework.ops.movement import broadcast_to, getitem, reshape, transpose


class Diagonal(Operand):
    """Rows of zeros except that row i has `scale[..., start + i]` at position `start + i`.

    Such rows are the cotangents of a vector's elements. An elementwise product changes the scale,
    and a product with a matrix scales the matrix's rows. Other ops convert a Diagonal to dense
    rows.

    Args:
        start, stop: the range of rows of the identity matrix.
        shape: the shape of a row; its last axis is that of the identity.
        dtype: a NumPy dtype.
        scale: the factors, an array with the shape of a row; None for ones.
    """

    __slots__ = ("_scale", "dtype", "shape", "start", "stop")

    def __init__(self, start, stop, shape, dtype, scale=None):
        self.start, self.stop, self.dtype, self._scale = start, stop, dtype, scale
        self.shape = (stop - start, *shape)

    def dense(self):
        """Return all rows of the scaled identity matrix as an array or a tensor."""
        *lead, size = self.shape[1:]
        eye = identity(self.start, self.stop, size, self.dtype)
        eye = eye.reshape(len(eye), *(1,) * len(lead), size)
        if self._scale is None:
            return np.broadcast_to(eye, self.shape)
        return multiply(eye, self._scale)

    def _op_call(self, op, args, attrs):
        if (scaled := _SCALED.get(op.name)) is not None:
            found = scaled(op, *args)
            if found is not None:
                return found
        return op(*[a.dense() if type(a) is Diagonal else a for a in args], **attrs)

    def _scaled(self, op, other):
        """Return the rows times an operand, elementwise; None if the product is not diagonal."""
        shape = self.shape[1:]
        if not isinstance(other, (np.ndarray, Tensor)) or tuple(other.shape) != shape:
            return None
        ones = self._scale
        if ones is None:
            ones = np.broadcast_to(np.ones((), self.dtype), shape)
        return Diagonal(self.start, self.stop, shape, self.dtype, op(ones, other))

    def product(self, matrix, transposed):
        """Return the product of every row with one matrix, or with its transpose."""
        count, *lead, size = self.shape
        if transposed:
            matrix = transpose(matrix, perm=(1, 0))
        rows, scale = matrix, self._scale
        if count != size:
            rows = getitem(rows, index=(slice(self.start, self.stop),))
        if type(rows) is np.ndarray:
            rows = np.ascontiguousarray(rows)
        columns = rows.shape[1]
        rows = reshape(rows, shape=(count, *(1,) * len(lead), columns))
        if scale is None:
            return broadcast_to(rows, shape=(count, *lead, columns))
        scale = transpose(scale, perm=(len(lead), *range(len(lead))))
        if count != size:
            scale = getitem(scale, index=(slice(self.start, self.stop),))
        return multiply(reshape(scale, shape=(count, *lead, 1)), rows)


def identity(start, stop, size, dtype):
    """Return the rows `start` to `stop` of the identity matrix, shape (stop - start, size)."""
    eye = np.zeros((stop - start, size), dtype)
    eye.reshape(-1)[start :: size + 1] = 1
    return eye


def _product(op, a, b):
    return a._scaled(op, b) if type(a) is Diagonal else b._scaled(op, a)


def _gated(op, g, on):
    return g._scaled(op, on) if type(g) is Diagonal else None


_SCALED = {multiply.name: _product, gated.name: _gated}
