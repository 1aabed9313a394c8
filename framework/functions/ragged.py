"""tf.ragged: functions on tensors whose rows differ in length (see `ops/ragged_tensor.py`)."""

from typing import Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import Axis, DTypeLike, ShapeLike, TensorLike
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError
from framework.core.tensor import Tensor
from framework.ops import movement
from framework.ops.ragged_tensor import RaggedTensor
from framework.ops.segment import segment_take


def nested(values, row_splits, shape):
    """Return rows as a RaggedTensor whose leading axes have the sizes `shape`.

    Args:
        values: the elements of all rows.
        row_splits: the positions where rows begin, and the end of the last row.
        shape: sizes whose product is the number of rows; () returns a single row as a tensor.
    """
    if not shape:
        return values
    made = RaggedTensor(values, row_splits)
    for axis in np.arange(len(shape) - 1, 0, -1).tolist():
        rows = int(np.prod(shape[:axis]))
        made = RaggedTensor(made, tensor(np.arange(rows + 1, dtype=np.int64) * shape[axis]))
    return made


def constant(
    pylist: Any, dtype: DTypeLike = None, ragged_rank: int | None = None,
    inner_shape: ShapeLike = None, name: str | None = None, row_splits_dtype: Any = dtypes.int64,
) -> Any:  # fmt: skip
    """Return a RaggedTensor for nested lists; a tensor for a number.

    Args:
        pylist: nested lists; all elements are at the same depth.
        dtype: the dtype of the elements.
        ragged_rank: how many axes are ragged; by default all but those of `inner_shape`.
        inner_shape: the shape of one value; None for the axes that `ragged_rank` does not count.
        row_splits_dtype: ignored: row splits are int64.

    >>> constant([[1, 2], [], [3]]).to_list()
    [[1, 2], [], [3]]
    """
    if not isinstance(pylist, (list, tuple, np.ndarray)):
        return tensor(pylist, dtype)
    depth = _depth(pylist)
    inner = () if inner_shape is None else tuple(inner_shape)
    rank = max(1, depth - 1 - len(inner)) if ragged_rank is None else ragged_rank
    if depth <= 1 and not ragged_rank:
        return tensor(list(pylist), dtype)
    lengths, rows = [], list(pylist)
    while len(lengths) < rank:
        if any(not isinstance(row, (list, tuple, np.ndarray)) for row in rows):
            raise InvalidArgumentError(
                "ragged.constant: all scalar values must have the same nesting depth."
            )
        lengths.append([len(row) for row in rows])
        rows = [value for row in rows for value in row]
    if depth - 1 - rank <= 0 and any(isinstance(v, (list, tuple)) for v in rows):
        raise InvalidArgumentError(
            "ragged.constant: all scalar values must have the same nesting depth."
        )
    if not rows:
        kind = dtypes.as_dtype(dtype or dtypes.float32)
        rows = Tensor(np.zeros((0, *inner), kind.np))
    return RaggedTensor.from_nested_row_lengths(tensor(rows, dtype), lengths)


def _depth(value):
    """Return the depth of nested lists; an empty list has depth 1."""
    if isinstance(value, np.ndarray):
        return value.ndim
    if not isinstance(value, (list, tuple)):
        return 0
    return 1 + max(map(_depth, value), default=0)


def range(
    starts: TensorLike, limits: TensorLike = None, deltas: TensorLike = 1, dtype: DTypeLike = None,
    name: str | None = None, row_splits_dtype: Any = dtypes.int64,
) -> RaggedTensor:  # fmt: skip
    """Return a row of evenly spaced integers for each start, limit and step.

    >>> range([2, 0, 3]).to_list()
    [[0, 1], [], [0, 1, 2]]
    """
    if limits is None:
        starts, limits = 0, starts
    given = np.broadcast_arrays(*(np.asarray(tensor(v)) for v in (starts, limits, deltas)))
    rows = [np.arange(*each) for each in zip(*(np.atleast_1d(g).tolist() for g in given))]
    wanted = dtypes.as_dtype(dtype).np if dtype is not None else given[1].dtype
    values = np.concatenate([np.zeros(0, wanted), *rows]).astype(wanted)
    return RaggedTensor.from_row_lengths(values, list(map(len, rows)))


def stack(values: Any, axis: Axis = 0, name: str | None = None) -> Any:
    """Return tensors, ragged or not, as the rows of one ragged tensor.

    >>> stack([[1, 2], [3]]).to_list()
    [[1, 2], [3]]
    """
    if axis != 0:
        raise InvalidArgumentError(f"ragged.stack: axis: expected 0, got {axis!r}.")
    parts = [v if isinstance(v, RaggedTensor) else tensor(v) for v in values]
    if any(isinstance(p, RaggedTensor) or p.ndim > 1 for p in parts):
        parts = [p if isinstance(p, RaggedTensor) else RaggedTensor.from_tensor(p) for p in parts]
        lengths = [len(p) for p in parts]
    else:
        lengths = [p.shape[0] if p.ndim else 1 for p in parts]
        parts = [p if p.ndim else movement.reshape(p, shape=(1,)) for p in parts]
    return RaggedTensor.from_row_lengths(joined(parts, 0), lengths)


def joined(parts, axis):
    """Concatenate ragged tensors along axis 0 (more rows) or 1 (longer rows)."""
    if not any(isinstance(p, RaggedTensor) for p in parts):
        return movement.concat(*parts, axis=axis)
    parts = [p if isinstance(p, RaggedTensor) else RaggedTensor.from_tensor(p) for p in parts]
    axis += parts[0].ndim if axis < 0 else 0
    values = [p.values for p in parts]
    if axis > 1:
        return parts[0].with_values(joined(values, axis - 1))
    whole = RaggedTensor.from_row_lengths(
        joined(values, 0), np.concatenate([np.diff(np.asarray(p.row_splits)) for p in parts])
    )
    if axis == 0:
        return whole
    rows = len(parts[0])
    if any(len(p) != rows for p in parts):
        raise InvalidArgumentError(
            f"concat: expected equal numbers of rows, got {[len(p) for p in parts]}."
        )
    order = np.arange(len(parts) * rows).reshape(len(parts), rows).T.reshape(-1)
    lengths = sum(np.diff(np.asarray(p.row_splits)) for p in parts)
    return RaggedTensor.from_row_lengths(whole._rows(order).values, lengths)


def tiled(x, multiples):
    """Repeat a ragged tensor `multiples[i]` times along axis i."""
    first, second, *inner = multiples
    if any(n != 1 for n in inner):
        deep, below = isinstance(x.values, RaggedTensor), [1, *inner]
        values = tiled(x.values, below) if deep else _repeated(x.values, below)
        x = x.with_values(values)
    for axis, count in ((1, second), (0, first)):
        if count == 0:
            lengths = [0] * (len(x) if axis == 1 else 0)
            x = RaggedTensor.from_row_lengths(x.values[:0], lengths)
        elif count > 1:
            x = joined([x] * count, axis)
    return x


def _repeated(x, multiples):
    for axis, count in enumerate(multiples):
        if count != 1:
            x = movement.concat(*[x] * count, axis=axis) if count else movement.gather(
                x, Tensor(np.zeros(0, np.int64)), axis=axis
            )  # fmt: skip
    return x


def reversed_rows(x, axis):
    """Reverse a ragged tensor along axes, ints from 0."""
    if 0 in axis:
        x = x._rows(np.arange(len(x))[::-1])
    if 1 in axis:
        x = x[:, ::-1]
    below = tuple(n - 1 for n in axis if n > 1)
    if not below:
        return x
    deep = isinstance(x.values, RaggedTensor)
    return x.with_values(
        reversed_rows(x.values, below) if deep else movement.flip(x.values, axis=below)
    )


def boolean_mask(data: Any, mask: Any, name: str | None = None) -> RaggedTensor:
    """Return the elements where `mask`, whose rows are as long as those of `data`, is true.

    >>> boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]]).to_list()
    [[1], [3, 4]]
    """
    data, mask = (v if isinstance(v, RaggedTensor) else RaggedTensor.from_tensor(v)
                  for v in (data, mask))  # fmt: skip
    kept = np.asarray(mask.flat_values)
    counts = np.bincount(mask.value_rowids().array, kept, len(data)).astype(np.int64)
    values = segment_take(data.values, Tensor(np.flatnonzero(kept)))
    return RaggedTensor.from_row_lengths(values, counts)


def map_flat_values(op: Any, *args: Any, **kwargs: Any) -> Any:
    """Apply `op` to the elements of ragged tensors, whose row lengths must match.

    >>> map_flat_values(lambda x: x * 2, constant([[1], [2, 3]])).to_list()
    [[2], [4, 6]]
    """
    given = [v for v in (*args, *kwargs.values()) if isinstance(v, RaggedTensor)]
    if not given:
        return op(*args, **kwargs)

    def flat(value):
        return value.flat_values if isinstance(value, RaggedTensor) else value

    made = op(*map(flat, args), **{k: flat(v) for k, v in kwargs.items()})
    return given[0].with_flat_values(made)


def row_splits_to_segment_ids(
    splits: TensorLike, name: str | None = None, out_type: Any = None
) -> Tensor:
    """Return the row index of each value, given the row splits.

    >>> row_splits_to_segment_ids([0, 2, 2, 3]).numpy()
    array([0, 0, 2])
    """
    lengths = np.diff(np.asarray(tensor(splits), np.int64))
    return Tensor(np.repeat(np.arange(len(lengths)), lengths))


def segment_ids_to_row_splits(
    segment_ids: TensorLike, num_segments: Any = None, out_type: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the row splits, given the row index of each value.

    >>> segment_ids_to_row_splits([0, 0, 2]).numpy()
    array([0, 2, 2, 3])
    """
    ids = np.asarray(tensor(segment_ids), np.int64)
    return RaggedTensor.from_value_rowids(ids, ids, num_segments).row_splits
