"""Rows of a sparse tensor by index, with the interface of an array for datasets and `fit`."""

import math

import numpy as np

from framework.core.errors import ShapeError
from framework.core.tensor import Tensor
from framework.ops.sparse_tensor import SparseTensor


class SparseRows:
    """A sparse tensor with those methods of an array that `Rows` needs.

    `rows[i, ...]` is one row and `rows[numbers]` are several, as SparseTensors.
    """

    __slots__ = ("_indices", "_starts", "_values", "shape")

    def __init__(self, x):
        self.shape = tuple(x.shape)
        if not self.shape:
            raise ShapeError("expected a sparse tensor with rows, got one of shape ().")
        indices, values = x.indices.array, x.values.array
        order = np.argsort(indices[:, 0], kind="stable")
        self._indices, self._values = indices[order], values[order]
        self._starts = np.searchsorted(self._indices[:, 0], np.arange(self.shape[0] + 1))

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def dtype(self):
        return self._values.dtype

    @property
    def nbytes(self):
        return self._values.nbytes + self._indices.nbytes

    def cast(self, dtype):
        """Return the rows with the values in another dtype."""
        made = object.__new__(SparseRows)
        made.shape, made._indices, made._starts = self.shape, self._indices, self._starts
        made._values = self._values.astype(dtype, copy=False)
        return made

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, numbers):
        if numbers is None:  # array[None] adds an axis of size 1 in front
            indices = np.column_stack([np.zeros(len(self._indices), np.int64), self._indices])
            return SparseRows(_sparse(indices, self._values, (1, *self.shape)))
        if isinstance(numbers, tuple):  # datasets select row i by the index (i, ...)
            i = numbers[0]
            part = slice(self._starts[i], self._starts[i + 1])
            return _sparse(self._indices[part, 1:], self._values[part], self.shape[1:])
        if isinstance(numbers, slice):
            numbers = np.arange(*numbers.indices(self.shape[0]))
        firsts, counts = self._starts[numbers], np.diff(self._starts)[numbers]
        rows = np.repeat(np.arange(len(numbers)), counts)
        ends = np.cumsum(counts)
        taken = np.arange(len(rows)) + np.repeat(firsts - (ends - counts), counts)
        indices = self._indices[taken]
        indices[:, 0] = rows
        return _sparse(indices, self._values[taken], (len(numbers), *self.shape[1:]))

    def parts(self, numbers, size):
        """Yield the rows, `size` at a time."""
        for start in range(0, len(numbers), size):
            yield self(numbers[start : start + size])

    def __call__(self, numbers):
        return self[np.asarray(numbers)]


def _sparse(indices, values, shape):
    return SparseTensor(Tensor(indices), Tensor(values), shape)


def stacked(elements):
    """Stack sparse tensors of equal rank along a new axis 0; other axes get the largest size."""
    counts = [len(x.values) for x in elements]
    rows = np.repeat(np.arange(len(elements)), counts)
    indices = np.concatenate([x.indices.array for x in elements])
    values = np.concatenate([x.values.array for x in elements])
    shape = np.max([tuple(x.shape) for x in elements], axis=0).tolist()
    return _sparse(np.column_stack([rows, indices]), values, (len(elements), *shape))


def joined_rows(parts):
    """Return the rows of several sparse tensors as one tensor."""
    starts = np.cumsum([0, *(x.shape[0] for x in parts)])
    indices = [x.indices.array.copy() for x in parts]
    for array, start in zip(indices, starts):
        array[:, 0] += start
    values = np.concatenate([x.values.array for x in parts])
    return _sparse(np.concatenate(indices), values, (int(starts[-1]), *parts[0].shape[1:]))


def from_matrix(matrix):
    """Convert a SciPy sparse matrix to a SparseTensor."""
    coordinates = matrix.tocoo()
    coordinates.sum_duplicates()
    indices = np.stack(coordinates.coords if hasattr(coordinates, "coords") else
                       (coordinates.row, coordinates.col), axis=1)  # fmt: skip
    shape = tuple(map(int, coordinates.shape))
    order = np.argsort(indices @ [math.prod(shape[i + 1 :]) for i in range(len(shape))])
    return _sparse(indices[order].astype(np.int64), np.asarray(coordinates.data)[order], shape)
