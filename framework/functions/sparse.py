"""Functions of tf.sparse that create sparse tensors, change their shape or select elements.

>>> import framework as tf
>>> x = tf.sparse.from_dense([[0, 3, 0], [0, 0, 4]])
>>> tf.sparse.to_dense(tf.sparse.transpose(x)).numpy().tolist()
[[0, 0], [3, 0], [0, 4]]
"""

import itertools
import math
from typing import Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import Axis, DTypeLike, ShapeLike, TensorLike
from framework.core.axes import one_axis
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.tensor import Tensor
from framework.functions.indexing import boolean_mask, where
from framework.ops import movement, slices
from framework.ops import sparse_tensor as ops
from framework.ops.counting import unravel_index
from framework.ops.segment import segment_take
from framework.ops.sparse_tensor import SparseTensor, as_sparse, flat_places

_INT64 = np.dtype(np.int64)


def sparse(indices, values, shape):
    """Return a SparseTensor; `shape` is a sequence of ints."""
    return SparseTensor(indices, values, tuple(shape))


def taken(x, rows, shape=None, indices=None):
    """Return a SparseTensor of the stored elements of `x` at the positions `rows`."""
    indices = x.indices if indices is None else indices
    made = segment_take(indices, rows), segment_take(x.values, rows)
    return sparse(*made, x.shape if shape is None else shape)


def _order(flat):
    return tensor(np.argsort(np.asarray(flat), kind="stable"))


def from_dense(tensor: TensorLike, name: str | None = None) -> SparseTensor:
    """Return a SparseTensor of the elements that are not zero (or not empty strings).

    >>> import framework as tf
    >>> tf.sparse.from_dense([0, 5]).indices.numpy()
    array([[1]])
    """
    dense = _tensor(tensor)
    nothing = b"" if dense.dtype is dtypes.string else np.zeros((), dense.dtype.np)
    indices = where(dense != nothing)
    flat = movement.reshape(dense, shape=(math.prod(dense.shape),))
    made = sparse(indices, Tensor(np.zeros(len(indices))), dense.shape)
    return made.with_values(segment_take(flat, flat_places(made)))


_tensor = tensor


def to_dense(
    sp_input: Any, default_value: Any = None, validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Convert a SparseTensor to a dense tensor.

    Args:
        sp_input: a SparseTensor; its indices are in row-major order, without repetition.
        default_value: the value of the other elements; 0, "" or False if None.
        validate_indices: False for indices in any order; values of equal indices then add up.

    >>> import framework as tf
    >>> tf.sparse.to_dense(tf.SparseTensor([[1]], [5], [3]), default_value=-1).numpy()
    array([-1,  5, -1], dtype=int32)
    """
    return ops.to_dense(as_sparse(sp_input, "to_dense"), default_value, validate_indices)


def eye(
    num_rows: Any, num_columns: Any = None, dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> SparseTensor:  # fmt: skip
    """Return ones on the diagonal of a matrix.

    >>> import framework as tf
    >>> tf.sparse.eye(2).indices.numpy().tolist()
    [[0, 0], [1, 1]]
    """
    rows = int(num_rows)
    columns = rows if num_columns is None else int(num_columns)
    places = np.arange(min(rows, columns), dtype=np.int64)
    ones = np.ones(len(places), dtypes.as_dtype(dtype).np)
    return sparse(np.stack([places, places], 1), ones, (rows, columns))


def reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """Return the elements in row-major order of their indices."""
    x = as_sparse(sp_input, "reorder")
    return taken(x, _order(flat_places(x, "reorder")))


def reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """Return the same elements in a larger shape, or in the smallest possible shape.

    Args:
        sp_input: a SparseTensor.
        new_shape: the shape; None for the smallest.
    """
    x = as_sparse(sp_input, "reset_shape")
    if new_shape is None:
        shape = np.asarray(x.indices).max(0, initial=-1) + 1
    else:
        shape = _ints(new_shape)
        if len(shape) != x.ndim or any(a < b for a, b in zip(shape, x.shape)):
            raise InvalidArgumentError(
                f"reset_shape: new_shape: expected sizes >= those of {x.shape}, got {tuple(shape)}."
            )
    return sparse(x.indices, x.values, shape)


def _ints(shape):
    return np.asarray(tensor(shape)).reshape(-1).tolist()


def reshape(sp_input: Any, shape: ShapeLike, name: str | None = None) -> SparseTensor:
    """Return the tensor in another shape; one size may be -1, which is inferred."""
    x, given = as_sparse(sp_input, "reshape"), _ints(shape)
    size, rest = math.prod(x.shape), math.prod(n for n in given if n != -1)
    if given.count(-1) == 1 and rest and size % rest == 0:
        given[given.index(-1)] = size // rest
    if any(n < 0 for n in given) or math.prod(given) != size:
        raise InvalidArgumentError(
            f"reshape: shape: {_ints(shape)} does not fit a sparse tensor of shape {x.shape}."
        )
    return sparse(unraveled(flat_places(x, "reshape"), given), x.values, given)


def unraveled(flat, shape):
    """Convert positions in a flattened tensor of `shape` to rows of indices."""
    if not len(flat):
        return Tensor(np.zeros((0, len(shape)), np.int64))
    return movement.transpose(unravel_index(flat, dims=np.asarray(shape, np.int64)), perm=(1, 0))


def expand_dims(sp_input: Any, axis: Axis = None, name: str | None = None) -> SparseTensor:
    """Return the tensor with a new axis of size 1 at position `axis`, by default at the end."""
    x = as_sparse(sp_input, "expand_dims")
    axis = one_axis(-1 if axis is None else axis, x.ndim + 1, "expand_dims")
    zeros = Tensor(np.zeros((len(x.values), 1), np.int64))
    indices = movement.concat(x.indices[:, :axis], zeros, x.indices[:, axis:], axis=1)
    return sparse(indices, x.values, (*x.shape[:axis], 1, *x.shape[axis:]))


def transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> SparseTensor:
    """Permute the axes, by default to reverse order; the indices are sorted.

    >>> import framework as tf
    >>> tf.sparse.transpose(tf.SparseTensor([[0, 2]], [1], [1, 3])).shape
    TensorShape([3, 1])
    """
    x = as_sparse(sp_input, "transpose")
    perm = list(range(x.ndim))[::-1] if perm is None else _ints(perm)
    if sorted(perm) != list(range(x.ndim)):
        raise InvalidArgumentError(
            f"transpose: perm: expected a permutation of {list(range(x.ndim))}, got {perm}."
        )
    columns = movement.stack(*(x.indices[:, axis] for axis in perm), axis=1)
    return reorder(sparse(columns, x.values, [x.shape[axis] for axis in perm]))


def concat(
    axis: Axis, sp_inputs: Any, expand_nonconcat_dims: bool = False, name: str | None = None,
) -> SparseTensor:  # fmt: skip
    """Concatenate sparse tensors along `axis`; the indices are sorted.

    Args:
        axis: the axis.
        sp_inputs: a list of SparseTensors.
        expand_nonconcat_dims: enlarge the other sizes to the largest instead of raising an error.
    """
    xs = [as_sparse(x, "concat") for x in sp_inputs]
    if not xs:
        raise InvalidArgumentError("concat: sp_inputs: expected at least one SparseTensor.")
    axis = one_axis(axis, xs[0].ndim, "concat")
    shapes = [list(x.shape) for x in xs]
    for shape in shapes:
        if len(shape) != len(shapes[0]) or (not expand_nonconcat_dims and any(
            a != b for i, (a, b) in enumerate(zip(shape, shapes[0])) if i != axis
        )):  # fmt: skip
            raise ShapeError(
                f"concat: expected shapes that differ in axis {axis} only, got {shapes}. "
                "expand_nonconcat_dims=True enlarges them."
            )
    shape = np.max(shapes, axis=0).tolist()
    starts = [0, *itertools.accumulate(s[axis] for s in shapes)]
    shape[axis] = starts[-1]
    indices = []
    for x, start in zip(xs, starts):
        offset = np.zeros(x.ndim, np.int64)
        offset[axis] = start
        indices.append(x.indices + Tensor(offset))
    values = movement.concat(*(x.values for x in xs), axis=0)
    return reorder(sparse(movement.concat(*indices, axis=0), values, shape))


def split(
    sp_input: Any = None, num_split: Any = None, axis: Axis = None, name: str | None = None,
) -> list[SparseTensor]:  # fmt: skip
    """Return `num_split` parts along `axis`; if sizes differ, the first parts are larger."""
    x = as_sparse(sp_input, "split")
    axis, count = one_axis(axis, x.ndim, "split"), int(num_split)
    size = x.shape[axis]
    if not 1 <= count <= size:
        raise InvalidArgumentError(
            f"split: num_split: expected 1 to {size}, the size of axis {axis}, got {count}."
        )
    begin, parts = [0] * x.ndim, []
    for n in range(count):
        sizes = list(x.shape)
        sizes[axis] = size // count + (n < size % count)
        parts.append(slice(x, begin, sizes))
        begin[axis] += sizes[axis]
    return parts


def slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """Return the part that begins at `start`, with at most `size` elements along each axis.

    >>> import framework as tf
    >>> x = tf.sparse.from_dense([[1, 0, 2], [0, 3, 0]])
    >>> tf.sparse.to_dense(tf.sparse.slice(x, [0, 1], [2, 2])).numpy().tolist()
    [[0, 2], [3, 0]]
    """
    x, start, size = as_sparse(sp_input, "slice"), _ints(start), _ints(size)
    if len(start) != x.ndim or len(size) != x.ndim or min([*start, *size], default=0) < 0:
        raise InvalidArgumentError(
            f"slice: start and size: expected {x.ndim} integers >= 0 each, got {start}, {size}."
        )
    start = np.minimum(start, x.shape)
    end = np.minimum(start + size, x.shape)
    indices = np.asarray(x.indices)
    inside = ((indices >= start) & (indices < end)).all(1)
    shifted = x.indices - Tensor(start.astype(np.int64))
    return taken(x, tensor(np.flatnonzero(inside)), end - start, shifted)


def retain(sp_input: Any, to_retain: TensorLike) -> SparseTensor:
    """Return the elements for which the 1-d booleans `to_retain` are true."""
    x, kept = as_sparse(sp_input, "retain"), tensor(to_retain)
    if kept.shape != x.values.shape or not kept.dtype.is_bool:
        raise ShapeError(
            f"retain: to_retain: expected {len(x.values)} booleans, one per element, got shape "
            f"{kept.shape} and dtype {kept.dtype}."
        )
    return sparse(boolean_mask(x.indices, kept), boolean_mask(x.values, kept), x.shape)


def fill_empty_rows(
    sp_input: Any, default_value: Any, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """Add an element to column 0 of each empty row; also return which rows were empty.

    Args:
        sp_input: a SparseTensor.
        default_value: the value of the new elements.
    """
    x = as_sparse(sp_input, "fill_empty_rows")
    rows = np.asarray(x.indices)[:, 0]
    empty = np.bincount(rows, minlength=x.shape[0]) == 0
    added = np.zeros((int(empty.sum()), x.ndim), np.int64)
    added[:, 0] = np.flatnonzero(empty)
    values = tensor(default_value, x.dtype)
    values = movement.broadcast_to(values, shape=(len(added),))
    order = np.argsort(np.concatenate([rows, added[:, 0]]), kind="stable")
    indices = movement.concat(x.indices, Tensor(added), axis=0)
    filled = sparse(indices, movement.concat(x.values, values, axis=0), x.shape)
    return taken(filled, tensor(order)), tensor(empty)


def to_indicator(sp_input: Any, vocab_size: Any, name: str | None = None) -> Tensor:
    """Return booleans (..., vocab_size) that tell which ids each row of the last axis contains."""
    x, size = as_sparse(sp_input, "to_indicator"), int(vocab_size)
    if not x.dtype.is_integer:
        raise DTypeError(f"to_indicator: expected integers, got {x.dtype}.")
    numbers, indices = np.asarray(x.values), np.asarray(x.indices)
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < size:
        raise InvalidArgumentError(
            f"to_indicator: expected ids from 0 to vocab_size - 1 = {size - 1}, got "
            f"{numbers.min()} to {numbers.max()}."
        )
    made = np.zeros((*x.shape[:-1], size), bool)
    made[(*indices[:, :-1].T, numbers)] = True
    return tensor(made)


def mask(a: slices.IndexedSlices, mask_indices: TensorLike, name: str | None = None) -> Any:
    """Return IndexedSlices without the slices whose index is in `mask_indices`."""
    kept = tensor(~np.isin(np.asarray(a.indices), np.asarray(tensor(mask_indices))))
    return slices.IndexedSlices(
        boolean_mask(a.values, kept), boolean_mask(a.indices, kept), a.dense_shape
    )
