"""Rows of different lengths: what functions of strings return that split them."""

import itertools
from typing import Any, NamedTuple

import numpy as np

from framework.core.conversion import tensor
from framework.core.tensor import Tensor


class Ragged(NamedTuple):
    """Rows of different lengths, as TensorFlow's RaggedTensor stores them.

    Args:
        values: the elements of all rows, a tensor or a Ragged.
        row_splits: int64, where each row begins in `values`, then where the last one ends.

    Example:
        >>> import framework as tf
        >>> tf.strings.split(["a b", "c"]).to_list()
        [[b'a', b'b'], [b'c']]
    """

    values: Any
    row_splits: Any

    @property
    def dtype(self):
        """The dtype of the elements."""
        return self.values.dtype

    @property
    def flat_values(self):
        """The elements of all rows in one tensor."""
        return self.values.flat_values if isinstance(self.values, Ragged) else self.values

    @property
    def nested_row_splits(self):
        """The row splits of this axis and of those inside."""
        inner = self.values.nested_row_splits if isinstance(self.values, Ragged) else ()
        return (self.row_splits, *inner)

    def row_lengths(self) -> Tensor:
        """Return the length of each row, int64."""
        return self.row_splits[1:] - self.row_splits[:-1]

    def to_list(self) -> list:
        """Return nested lists of the elements."""
        ends = np.asarray(self.row_splits).tolist()
        inner = self.values
        rows = inner.to_list() if isinstance(inner, Ragged) else np.asarray(inner).tolist()
        return [rows[a:b] for a, b in itertools.pairwise(ends)]

    def to_tensor(self, default_value: Any = None) -> Tensor:
        """Return a tensor in which shorter rows end in `default_value`: zeros, or empty strings."""
        dtype = self.flat_values.dtype
        if default_value is None:
            default_value = b"" if dtype == "string" else 0
        values = self.values.to_tensor(default_value) if isinstance(self.values, Ragged) \
            else self.values  # fmt: skip
        values, ends = np.asarray(values), np.asarray(self.row_splits)
        lengths = np.diff(ends)
        shape = (len(lengths), int(lengths.max(initial=0)), *values.shape[1:])
        made = np.full(shape, default_value, values.dtype)
        for row, begin, length in zip(made, ends, lengths):
            row[:length] = values[begin : begin + length]
        return tensor(made)


def nested(values, row_splits, shape):
    """Return rows in the axes of `shape`, which has as many elements as there are rows.

    Args:
        values: the elements of all rows.
        row_splits: where rows begin.
        shape: of one element or none for a single row, which is a tensor.
    """
    if not shape:
        return values
    made = Ragged(values, row_splits)
    for axis in range(len(shape) - 1, 0, -1):
        rows = int(np.prod(shape[:axis]))
        made = Ragged(made, tensor(np.arange(rows + 1, dtype=np.int64) * shape[axis]))
    return made
