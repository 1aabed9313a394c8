"""The constructors of RaggedTensor: from row splits, lengths, ids, tensors and sparse tensors."""

from typing import Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import TensorLike
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError
from framework.ops import movement
from framework.ops.segment import segment_take

_tensor = tensor


def length_of(values):
    """Return the number of rows of `values`, a tensor or RaggedTensor."""
    return len(values) if hasattr(values, "row_splits") else tensor(values).shape[0]


class RaggedConstructors:
    """Base class of RaggedTensor with the class methods that construct one."""

    __slots__ = ()

    @classmethod
    def from_row_splits(
        cls, values: Any, row_splits: TensorLike, name: str | None = None, validate: bool = True,
    ):  # fmt: skip
        """Return rows that begin at the indices `row_splits[:-1]` and end at `row_splits[1:]`.

        >>> import framework as tf
        >>> tf.RaggedTensor.from_row_splits([3, 1, 4], [0, 2, 2, 3]).to_list()
        [[3, 1], [], [4]]
        """
        make: Any = cls
        made = make(values, row_splits)
        if validate:
            ends = np.asarray(made.row_splits)
            count = made.values.shape[0]
            wrong = ends.ndim != 1 or not len(ends) or ends[0] or ends[-1] != count
            if wrong or np.any(np.diff(ends) < 0):
                raise InvalidArgumentError(
                    f"from_row_splits: row_splits: expected ascending integers from 0 to {count}, "
                    f"the number of values, got {ends.tolist()}."
                )
        return made

    @classmethod
    def from_row_lengths(
        cls, values: Any, row_lengths: TensorLike, name: str | None = None, validate: bool = True,
    ):  # fmt: skip
        """Return a ragged tensor whose rows have the lengths `row_lengths`."""
        lengths = np.asarray(tensor(row_lengths), np.int64)
        return cls.from_row_splits(values, np.concatenate([[0], np.cumsum(lengths)]))

    @classmethod
    def from_row_starts(
        cls, values: Any, row_starts: TensorLike, name: str | None = None, validate: bool = True,
    ):  # fmt: skip
        """Return rows that begin at the indices `row_starts`; the last has the remaining values."""
        starts = np.asarray(tensor(row_starts), np.int64)
        return cls.from_row_splits(values, np.append(starts, length_of(values)))

    @classmethod
    def from_row_limits(
        cls, values: Any, row_limits: TensorLike, name: str | None = None, validate: bool = True,
    ):  # fmt: skip
        """Return rows that end at the indices `row_limits`; the first row begins at index 0."""
        limits = np.asarray(tensor(row_limits), np.int64)
        return cls.from_row_splits(values, np.concatenate([[0], limits]))

    @classmethod
    def from_value_rowids(
        cls, values: Any, value_rowids: TensorLike, nrows: Any = None, name: str | None = None,
        validate: bool = True,
    ):  # fmt: skip
        """Return `nrows` rows; row i consists of the values with id i. The ids must ascend."""
        ids = np.asarray(tensor(value_rowids), np.int64)
        if np.any(np.diff(ids) < 0):
            raise InvalidArgumentError(
                "from_value_rowids: value_rowids: expected ascending ids, "
                "got a smaller id after a larger one. Sort the values by "
                "their ids."
            )
        count = int(ids[-1]) + 1 if nrows is None and len(ids) else int(nrows or 0)
        return cls.from_row_lengths(values, np.bincount(ids, minlength=count))

    @classmethod
    def from_uniform_row_length(
        cls, values: Any, uniform_row_length: Any, nrows: Any = None, validate: bool = True,
        name: str | None = None,
    ):  # fmt: skip
        """Return a ragged tensor whose rows all have the length `uniform_row_length`."""
        length, count = int(uniform_row_length), length_of(values)
        rows = count // length if length else int(nrows or 0)
        return cls.from_row_lengths(values, [length] * rows)

    @classmethod
    def from_nested_row_splits(
        cls, flat_values: Any, nested_row_splits: Any, name: str | None = None,
        validate: bool = True,
    ):  # fmt: skip
        """Return rows of rows; `nested_row_splits` lists the splits, the outermost axis first."""
        for splits in reversed(list(nested_row_splits)):
            flat_values = cls.from_row_splits(flat_values, splits)
        return flat_values

    @classmethod
    def from_nested_row_lengths(
        cls, flat_values: Any, nested_row_lengths: Any, name: str | None = None,
        validate: bool = True,
    ):  # fmt: skip
        """Return rows of rows; `nested_row_lengths` lists the lengths, the outermost axis first."""
        for lengths in reversed(list(nested_row_lengths)):
            flat_values = cls.from_row_lengths(flat_values, lengths)
        return flat_values

    @classmethod
    def from_tensor(
        cls, tensor: TensorLike, lengths: Any = None, padding: Any = None, ragged_rank: int = 1,
        name: str | None = None, row_splits_dtype: Any = dtypes.int64,
    ):  # fmt: skip
        """Return the rows of a tensor, cut to `lengths`, or without the `padding` at their ends.

        >>> import framework as tf
        >>> tf.RaggedTensor.from_tensor([[1, 0], [2, 3]], padding=0).to_list()
        [[1], [2, 3]]
        """
        x = _tensor(tensor)
        if ragged_rank != 1:
            raise InvalidArgumentError(
                "from_tensor: ragged_rank: expected 1, the only rank supported."
            )
        rows, width = x.shape[:2]
        if lengths is None and padding is not None:
            kept = np.asarray(x) != np.asarray(padding)
            kept = kept.reshape(rows, width, -1).any(-1)
            lengths = np.where(kept, np.arange(1, width + 1), 0).max(1, initial=0)
        counts = np.full(rows, width) if lengths is None else np.asarray(_tensor(lengths))
        places = np.flatnonzero(np.arange(width) < counts[:, None])
        flat = movement.reshape(x, shape=(rows * width, *x.shape[2:]))
        return cls.from_row_lengths(segment_take(flat, _tensor(places)), np.minimum(counts, width))

    @classmethod
    def from_sparse(
        cls, st_input: Any, name: str | None = None, row_splits_dtype: Any = dtypes.int64,
    ):  # fmt: skip
        """Return the rows of a sparse matrix; each row's elements must fill its first columns."""
        indices = np.asarray(st_input.indices)
        made = cls.from_value_rowids(st_input.values, indices[:, 0], st_input.shape[0])
        expected = np.arange(len(indices)) - np.asarray(made.row_splits)[indices[:, 0]]
        if not np.array_equal(indices[:, 1], expected):
            raise InvalidArgumentError(
                "from_sparse: SparseTensor is not right-ragged: expected the elements of each row "
                "in its first columns, got a row with a gap."
            )
        return made
