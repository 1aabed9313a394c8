"""RaggedTensor: rows of different lengths, stored as elements and the indices where rows begin.

Elementwise functions are applied to the flat values, and reductions of rows are segment ops, so
gradients flow to the values.
"""

import itertools
from typing import Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import TensorLike
from framework.core.cast import cast
from framework.core.composite import Composite
from framework.core.conversion import tensor
from framework.core.dtypes import Shape
from framework.core.errors import InvalidArgumentError, OutOfRangeError, ShapeError
from framework.core.promotion import strict
from framework.core.tensor import Tensor
from framework.ops import elementwise, movement, operators, segment
from framework.ops.ragged_constructors import RaggedConstructors, length_of
from framework.ops.segment import segment_take
from framework.ops.sparse_tensor import SparseTensor

_INT64 = np.dtype(np.int64)


def _ends(x):
    """Return the row splits as an array; a trace notes that Python has read their values."""
    return np.asarray(x.row_splits)


class RaggedTensor(RaggedConstructors, Composite):
    """Rows of different lengths; rows can be ragged themselves.

    Create one with `tf.ragged.constant`, `from_row_splits` or a similar method.

    Args:
        values: the elements of all rows, a tensor or a RaggedTensor.
        row_splits: int64, where each row begins in `values`, then where the last one ends.

    Example:
        >>> import framework as tf
        >>> x = tf.ragged.constant([[1, 2], [], [3]])
        >>> x.shape, x.row_lengths().numpy().tolist()
        (TensorShape([3, None]), [2, 0, 1])
        >>> tf.reduce_sum(x, axis=1).numpy()
        array([3, 0, 3], dtype=int32)
    """

    __slots__ = ("__weakref__", "_keras_mask", "row_splits", "values")

    def __init__(self, values: Any, row_splits: TensorLike):
        splits = tensor(row_splits)
        if splits.dtype is not dtypes.int64:
            splits = cast(splits, dtype=_INT64)
        self.values = values if isinstance(values, RaggedTensor) else tensor(values)
        self.row_splits = splits

    # ---- parts and sizes ----

    def _parts(self):
        return (*self.nested_row_splits, self.flat_values)

    def _static(self):
        return self.ragged_rank

    def _with_parts(self, parts):
        *splits, values = parts
        for each in reversed(splits):
            made = object.__new__(RaggedTensor)
            made.values, made.row_splits = values, each
            values = made
        return values

    def __reduce__(self):
        return RaggedTensor, (self.values, self.row_splits)

    @property
    def dtype(self):
        """The dtype of the elements."""
        return self.values.dtype

    @property
    def shape(self):
        """The shape, with None for sizes that differ between rows."""
        inner = self.values.shape
        return Shape((len(self), None, *inner[1:]))

    @property
    def ndim(self):
        return self.values.ndim + 1

    @property
    def ragged_rank(self):
        """The number of ragged axes."""
        return 1 + getattr(self.values, "ragged_rank", 0)

    @property
    def flat_values(self):
        """The elements of all rows in one tensor."""
        return self.values.flat_values if isinstance(self.values, RaggedTensor) else self.values

    @property
    def nested_row_splits(self):
        """The row splits of this ragged axis and of those inside it."""
        inner = self.values.nested_row_splits if isinstance(self.values, RaggedTensor) else ()
        return (self.row_splits, *inner)

    @property
    def uniform_row_length(self):
        """The length of all rows if it is known; always None, because rows may differ."""

    def get_shape(self) -> Shape:
        """Return the shape, with None for sizes that differ between rows."""
        return self.shape

    def nrows(self, out_type: Any = None, name: str | None = None) -> Tensor:
        """Return the number of rows, int64."""
        return Tensor(np.asarray(len(self), np.int64))

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """Return the length of each row, int64; for axis=2, of the inner rows."""
        if axis > 1:
            return self.with_values(self.values.row_lengths(axis - 1))
        return self.row_splits[1:] - self.row_splits[:-1]

    def nested_row_lengths(self, name: str | None = None) -> tuple:
        """Return the lengths of rows, from the outermost axis inwards."""
        return tuple(splits[1:] - splits[:-1] for splits in self.nested_row_splits)

    def row_starts(self, name: str | None = None) -> Tensor:
        """Return the index at which each row begins in the values."""
        return self.row_splits[:-1]

    def row_limits(self, name: str | None = None) -> Tensor:
        """Return the index at which each row ends in the values (exclusive)."""
        return self.row_splits[1:]

    def value_rowids(self, name: str | None = None) -> Tensor:
        """Return for each value the index of its row, int64."""
        lengths = np.diff(_ends(self))
        return Tensor(np.repeat(np.arange(len(lengths)), lengths))

    def bounding_shape(
        self, axis: Any = None, name: str | None = None, out_type: Any = None
    ) -> Any:
        """Return the smallest shape that holds all rows, int64; with `axis`, one of its sizes."""
        sizes = [int(np.diff(np.asarray(s)).max(initial=0)) for s in self.nested_row_splits]
        shape = np.array([len(self), *sizes, *self.flat_values.shape[1:]], np.int64)
        return Tensor(shape if axis is None else np.asarray(shape[axis]))

    def with_values(self, new_values: Any) -> Any:
        """Return a ragged tensor of the same row lengths with other values."""
        return RaggedTensor(new_values, self.row_splits)

    def with_flat_values(self, new_values: Any) -> Any:
        """Return a ragged tensor with other elements; rows and inner rows keep their lengths."""
        return self._with_parts((*self.nested_row_splits, tensor(new_values)))

    def with_row_splits_dtype(self, dtype: Any):
        """Return this tensor unchanged, because row splits are always int64."""
        return self

    # ---- conversion to other forms ----

    def to_list(self) -> list:
        """Return nested lists of the elements."""
        ends, inner = _ends(self).tolist(), self.values
        rows = inner.to_list() if isinstance(inner, RaggedTensor) else np.asarray(inner).tolist()
        return [rows[a:b] for a, b in itertools.pairwise(ends)]

    def numpy(self) -> Any:
        """Return an array of rows; an object array of arrays if the rows differ in length."""
        rows = [np.asarray(row) if type(row) is Tensor else row.numpy() for row in self]
        if len({row.shape for row in rows}) <= 1:
            return np.asarray(rows)
        made = np.empty(len(rows), object)
        made[:] = rows
        return made

    def to_tensor(
        self, default_value: Any = None, name: str | None = None, shape: Any = None
    ) -> Any:
        """Return a tensor in which shorter rows end in `default_value`: zeros, or empty strings.

        Args:
            default_value: one element; None for zero.
            shape: the shape of the result, to which rows are cut or padded; a size of None stands
                for the smallest size that holds all rows.
        """
        wanted = [None] * self.ndim if shape is None else list(shape)
        values = self.values
        if isinstance(values, RaggedTensor):
            values = values.to_tensor(default_value, shape=[None, *wanted[2:]])
        if default_value is None:
            default_value = b"" if values.dtype is dtypes.string else 0
        lengths = np.diff(_ends(self))
        rows = len(lengths) if wanted[0] is None else int(wanted[0])
        width = int(lengths.max(initial=0)) if wanted[1] is None else int(wanted[1])
        places = np.full((rows, width), length_of(values), np.int64)
        inside = np.arange(width) < lengths[:rows, None]
        starts = _ends(self)[:-1][:rows, None] + np.arange(width)
        places[: len(inside)] = np.where(inside, starts, length_of(values))
        last = movement.broadcast_to(tensor(default_value, values.dtype),
                                     shape=(1, *values.shape[1:]))  # fmt: skip
        filled = movement.concat(values, last, axis=0)
        return movement.gather(filled, Tensor(places), axis=0)

    def to_sparse(self, name: str | None = None) -> SparseTensor:
        """Return a sparse tensor of the elements."""
        if isinstance(self.values, RaggedTensor):
            inner = self.values.to_sparse()
            first = inner.indices.array[:, 0]
            rest, values, sizes = inner.indices.array[:, 1:], inner.values, inner.shape[1:]
        else:
            count = self.values.shape[0]
            first, rest = np.arange(count), np.zeros((count, 0), np.int64)
            values, sizes = self.values, ()
        rows = self.value_rowids().array[first]
        columns = first - _ends(self)[rows]
        shape = (len(self), self.bounding_shape(1).item(), *sizes)
        return SparseTensor(Tensor(np.column_stack([rows, columns, rest])), values, shape)

    # ---- indexing ----

    def __len__(self) -> int:
        return self.row_splits.shape[0] - 1

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        first, *rest = key if isinstance(key, tuple) else (key,)
        if isinstance(first, slice):
            rows = np.arange(len(self))[first]
            made = self if first == slice(None) else self._rows(rows)
            return made._within(rest) if rest else made
        index = int(first)
        index += len(self) if index < 0 else 0
        if not 0 <= index < len(self):
            raise OutOfRangeError(
                f"RaggedTensor: row {first} is out of range for {len(self)} rows."
            )
        start, end = _ends(self)[index : index + 2].tolist()
        row = self.values[start:end]
        return row[tuple(rest)] if rest else row

    def _within(self, rest):
        """Return the part of each row that `rest` selects, an index of all axes but the first."""
        first, *inner = rest
        if not isinstance(first, slice):
            raise InvalidArgumentError(
                "RaggedTensor: an index of a ragged axis must be a slice: rows differ in length."
            )
        lengths = np.diff(_ends(self))
        picked = [np.arange(n)[first] + s for n, s in zip(lengths, _ends(self))]
        flat = np.concatenate([np.zeros(0, int), *picked]).astype(np.int64)
        values = self.values
        values = values._rows(flat) if isinstance(values, RaggedTensor) else segment_take(
            values, Tensor(flat))  # fmt: skip
        if inner:
            values = values[(slice(None), *inner)]
        return RaggedTensor.from_row_lengths(values, list(map(len, picked)))

    def _rows(self, numbers):
        """Return the rows at these positions."""
        ends = _ends(self)
        lengths = np.diff(ends)[numbers]
        taken = np.arange(lengths.sum()) + np.repeat(
            ends[numbers] - (np.cumsum(lengths) - lengths), lengths
        )
        values = self.values
        values = values._rows(taken) if isinstance(values, RaggedTensor) else segment_take(
            values, Tensor(taken))  # fmt: skip
        return RaggedTensor.from_row_lengths(values, lengths)

    # ---- elementwise functions and reductions ----

    def _mapped(self, op):
        return self.with_flat_values(op(self.flat_values))

    def _combined(self, op, x, y):
        return combined(op, x, y)

    def _reduced(self, name, axis, keepdims):
        """Return a reduction, such as `tf.reduce_sum`, over the rows or within each row."""
        if axis is None:
            return _REDUCTIONS[name](self.flat_values)
        axis = int(axis) + (self.ndim if int(axis) < 0 else 0)
        if axis > 1:
            return self.with_values(
                self.values._reduced(name, axis - 1, keepdims)
                if isinstance(self.values, RaggedTensor)
                else _REDUCTIONS[name](self.values, axis=axis - 1, keepdims=keepdims)
            )
        if isinstance(self.values, RaggedTensor):
            raise InvalidArgumentError(
                f"{name}: with several ragged axes, only the innermost axis can be reduced."
            )
        lengths = np.diff(_ends(self))
        if axis == 0:
            ids = np.concatenate([np.zeros(0, int), *map(np.arange, lengths)])
            count = int(lengths.max(initial=0))
        else:
            ids, count = self.value_rowids().array, len(lengths)
        made = _by_segment(name, self.values, Tensor(ids.astype(np.int64)), count)
        return movement.expand_axes(made, (axis,)) if keepdims else made

    def __repr__(self):
        return f"<tf.RaggedTensor {_text(self.numpy())}>"

    __str__ = __repr__


def _text(x):
    """Return the text of an array as NumPy prints it, but with commas; elements can be arrays."""
    if not isinstance(x, np.ndarray):
        return str(x)
    return np.array2string(x, separator=", ", formatter={"all": _text})


def _lazy(name):
    def reduction(x, **options):
        from importlib import import_module

        return getattr(import_module("framework.functions.reduction"), name)(x, **options)

    return reduction


_REDUCTIONS = {
    name: _lazy(name) for name in (
        "reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod", "reduce_any",
        "reduce_all",
    )
}  # fmt: skip


def _by_segment(name, x, ids, count):
    """Return, for each id, the reduction `name` of the values with this id."""
    if name == "reduce_sum":
        return segment.segment_sum(x, ids, count=count)
    if name == "reduce_mean":
        whole = x if x.dtype.is_inexact else cast(x, dtype=np.dtype(np.float64))
        total = segment.segment_sum(whole, ids, count=count)
        sizes = segment.segment_sizes(ids, count, whole.dtype.np)
        sizes = movement.reshape(sizes, shape=(count, *(1,) * (x.ndim - 1)))
        return elementwise.divide(total, sizes)
    if name in ("reduce_any", "reduce_all"):
        numbers = cast(x, dtype=np.dtype(np.int32))
        if name == "reduce_any":
            return elementwise.not_equal(segment.segment_sum(numbers, ids, count=count), 0)
        return elementwise.not_equal(segment.segment_prod(numbers, ids, count=count), 0)
    ops = {"reduce_max": segment.segment_max, "reduce_min": segment.segment_min,
           "reduce_prod": segment.segment_prod}  # fmt: skip
    return ops[name](x, ids, count=count)


def combined(op, x, y, convert=strict):
    """Return the result of an elementwise op of two operands, at least one of which is ragged.

    The other operand has rows of the same lengths, or is a number, a tensor of shape (rows, 1), or
    a tensor of the shape of one element.
    """
    name = getattr(op, "name", None) or op.__name__
    ragged = x if isinstance(x, RaggedTensor) else y
    flat = []
    for value in (x, y):
        if isinstance(value, RaggedTensor):
            same = len(value.nested_row_splits) == len(ragged.nested_row_splits) and all(
                np.array_equal(a, b)
                for a, b in zip(value.nested_row_splits, ragged.nested_row_splits)
            )
            if not same:
                raise InvalidArgumentError(
                    f"{name}: expected ragged tensors with rows of equal lengths, got "
                    f"{x!r} and {y!r}."
                )
            flat.append(value.flat_values)
        elif np.ndim(value) > 1 and np.shape(value)[0] == len(ragged):
            column = tensor(value)
            if column.shape[1] != 1 or ragged.ragged_rank > 1:
                raise ShapeError(
                    f"{name}: a tensor combined with a ragged one must have shape (rows, 1, ...), "
                    f"got {column.shape}."
                )
            rows = movement.reshape(column, shape=(column.shape[0], *column.shape[2:]))
            flat.append(segment_take(rows, ragged.value_rowids()))
        else:
            flat.append(value)
    return ragged.with_flat_values(op(*convert(*flat)))


def _add_operators():
    for name in (*operators.ARITHMETIC, *operators.COMPARISONS):
        if name == "matmul":
            continue

        def operator(self, other, name=name):
            function = getattr(Tensor, f"__{name}__")
            return combined(_Called(name, function), self, other, lambda a, b: (a, b))

        def reflected(self, other, name=name):
            function = getattr(Tensor, f"__{name}__")
            return combined(_Called(name, function), other, self, lambda a, b: (a, b))

        setattr(RaggedTensor, f"__{name}__", operator)
        if name in operators.ARITHMETIC:
            setattr(RaggedTensor, f"__r{name}__", reflected)
    for name in ("neg", "abs", "invert"):
        setattr(RaggedTensor, f"__{name}__",
                lambda self, name=name: self.with_flat_values(
                    getattr(Tensor, f"__{name}__")(self.flat_values)))  # fmt: skip


class _Called:
    """An operator of Tensor as a function with a name; at least one of its operands is a tensor."""

    def __init__(self, name, function):
        self.name, self._function = name, function

    def __call__(self, a, b):
        return self._function(a if isinstance(a, Tensor) else tensor(a, b.dtype), b)


_add_operators()
RaggedTensor.__eq__ = lambda self, other: combined(
    _Called("equal", Tensor.__eq__), self, other, lambda a, b: (a, b))  # fmt: skip
RaggedTensor.__ne__ = lambda self, other: combined(
    _Called("not_equal", Tensor.__ne__), self, other, lambda a, b: (a, b))  # fmt: skip
RaggedTensor.__hash__ = None
