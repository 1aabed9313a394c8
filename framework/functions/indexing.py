"""Functions that select elements by position, by condition or by order."""

from typing import Any

import numpy as np

from framework.core.argument_types import Axis, DTypeLike, TensorLike
from framework.core.axes import one_axis
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.dtypes import as_dtype, bool_
from framework.core.errors import DTypeError, InvalidArgumentError, OutOfRangeError, ShapeError
from framework.core.operations import operation
from framework.core.promotion import strict
from framework.core.tensor import Tensor
from framework.functions.creation import sizes
from framework.ops import elementwise
from framework.ops import movement as ops
from framework.ops.ragged_tensor import RaggedTensor
from framework.ops.slices import gather_rows

# These second names are needed because functions and parameters below are named `slice` and
# `tensor`.
_slice, _tensor = slice, tensor


def where(
    condition: TensorLike, x: TensorLike = None, y: TensorLike = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return `x` where `condition` is true, `y` elsewhere; without x and y, the indices of True.

    >>> import framework as tf
    >>> tf.where([True, False], [1, 2], [3, 4]).numpy()
    array([1, 4], dtype=int32)
    >>> tf.where([False, True]).numpy()
    array([[1]])
    """
    condition = tensor(condition)
    if x is None and y is None:
        return _positions(condition)
    if x is None or y is None:
        raise InvalidArgumentError("where: expected both x and y, or neither.")
    if not condition.dtype.is_bool:
        raise DTypeError(f"where: `condition` must hold booleans, got {condition.dtype}.")
    return elementwise.select(condition, *strict(x, y))


@operation
def _positions(condition):
    return Tensor(np.argwhere(np.asarray(condition)).astype(np.int64))


@operation
def gather(
    params: TensorLike, indices: TensorLike, validate_indices: Any = None, axis: Axis = None,
    batch_dims: Any = 0, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the slices of `params` at `indices` along `axis`.

    Along axis 0, the gradient of a watched tensor or variable `params` is IndexedSlices.

    Args:
        params: a tensor.
        indices: integers of any shape, from 0 to size - 1.
        validate_indices: ignored; indices are always checked.
        axis: an int; by default `batch_dims`.
        batch_dims: the number of leading axes that `params` and `indices` share; a negative one
            counts from the rank of `indices`. `axis` is not one of them.

    Raises:
        OutOfRangeError: an index lies outside the axis.

    >>> import framework as tf
    >>> tf.gather([10, 20, 30], [2, 0]).numpy()
    array([30, 10], dtype=int32)
    """
    x = params
    if not (type(x) is type(indices) is Tensor):
        if isinstance(x, RaggedTensor) or isinstance(indices, RaggedTensor):
            return _ragged_gather(x, indices, axis, batch_dims)
        x, indices = tensor(x), tensor(indices)
    if not indices.dtype.is_integer:
        raise DTypeError(f"gather: `indices` must be integers, got {indices.dtype}.")
    axis = one_axis(batch_dims if axis is None else axis, x.ndim, "gather")
    if batch_dims:
        batch_dims = _batch_dims(batch_dims, indices.ndim, axis)
    indices = ops.within(indices, what="gather: `indices`", size=x.shape[axis])
    if batch_dims:
        return _batch_gather(x, indices, axis, batch_dims)
    return ops.gather(x, indices, axis=axis) if axis else gather_rows(x, indices)


def _ragged_gather(x, indices, axis, batch_dims) -> Any:
    """Gather rows of a ragged tensor, or rows at ragged indices."""
    if batch_dims or axis:
        raise InvalidArgumentError(
            "gather: for ragged tensors, expected axis=0 and batch_dims=0, got axis="
            f"{axis} and batch_dims={batch_dims}. Pad with to_tensor() first."
        )
    if isinstance(indices, RaggedTensor):
        found = gather(x, indices.flat_values)
        return indices._with_parts((*indices.nested_row_splits, found))
    at = _tensor(indices)
    within = ops.within(at, what="gather: `indices`", size=len(x))
    rows = x._rows(np.asarray(within).reshape(-1))
    for size in at.shape[:0:-1]:
        rows = RaggedTensor.from_uniform_row_length(rows, size)
    return rows if at.ndim else rows[0]


def _batch_dims(batch_dims, rank, axis):
    """Return `batch_dims`, counted from the front, or raise InvalidArgumentError."""
    found = int(batch_dims)
    if not -rank <= found <= rank:
        raise InvalidArgumentError(
            f"gather: expected batch_dims from {-rank} to {rank}, because `indices` has {rank} "
            f"axes, got {found}."
        )
    found = found + rank if found < 0 else found
    if axis < found:
        raise InvalidArgumentError(
            f"gather: batch_dims ({found}) must be less than or equal to axis ({axis}), which is "
            "not one of the batch axes."
        )
    return found


def _batch_gather(x, indices, axis, batch_dims):
    """Gather with batch axes: merge them and `axis` into one axis, and gather along that."""
    batch = tuple(x.shape[:batch_dims])
    if tuple(indices.shape[:batch_dims]) != batch:
        raise ShapeError(
            f"gather: the first {batch_dims} sizes of shapes {x.shape} and {indices.shape} differ."
        )
    front = (*range(batch_dims), axis)
    moved = ops.transpose(x, perm=(*front, *(i for i in range(x.ndim) if i not in front)))
    rest = tuple(moved.shape[batch_dims + 1 :])
    size, rows = x.shape[axis], int(np.prod(batch))
    flat = ops.reshape(moved, shape=(rows * size, *rest))
    starts = (np.arange(rows) * size).reshape(*batch, *(1,) * (indices.ndim - batch_dims))
    places = elementwise.add(indices, Tensor(starts.astype(indices.dtype.np)))
    found = ops.gather(flat, places, axis=0)
    between = axis - batch_dims  # the number of axes of x between the batch axes and `axis`
    inner = indices.ndim - batch_dims
    order = (
        *range(batch_dims),
        *range(indices.ndim, indices.ndim + between),
        *range(batch_dims, batch_dims + inner),
        *range(indices.ndim + between, found.ndim),
    )
    return ops.transpose(found, perm=order)


@operation
def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """Return the block of shape `size` that starts at `begin`; -1 in `size` goes to the end.

    >>> import framework as tf
    >>> tf.slice([[1, 2, 3], [4, 5, 6]], [0, 1], [2, -1]).numpy()
    array([[2, 3],
           [5, 6]], dtype=int32)
    """
    x, begin, size = tensor(input_), sizes(begin, "slice"), sizes(size, "slice")
    if not len(begin) == len(size) == x.ndim:
        raise ShapeError(
            f"slice: expected {x.ndim} entries in `begin` and `size`, got {len(begin)} and "
            f"{len(size)}."
        )
    ends = [n if s == -1 else b + s for b, s, n in zip(begin, size, x.shape)]
    if any(b < 0 or e > n or e < b for b, e, n in zip(begin, ends, x.shape)):
        raise OutOfRangeError(f"slice: begin={begin}, size={size} exceed the shape {x.shape}.")
    return ops.getitem(x, index=tuple(_slice(b, e) for b, e in zip(begin, ends)))


@operation
def boolean_mask(
    tensor: TensorLike, mask: TensorLike, axis: Axis = None, name: str | None = "boolean_mask",
) -> Tensor:  # fmt: skip
    """Return the elements or slices where `mask`, along the axes from `axis` on, is true.

    >>> import framework as tf
    >>> tf.boolean_mask([1, 2, 3], [True, False, True]).numpy()
    array([1, 3], dtype=int32)
    """
    x, mask = _tensor(tensor), np.asarray(_tensor(mask))
    axis = 0 if axis is None else one_axis(axis, x.ndim, "boolean_mask")
    if not mask.ndim:
        raise InvalidArgumentError("boolean_mask: `mask` must not be 0-d.")
    covered = tuple(x.shape[axis : axis + mask.ndim])
    if mask.dtype.kind != "b" or covered != mask.shape:
        raise ShapeError(
            f"boolean_mask: `mask` must be booleans of shape {covered}, got {mask.dtype} of shape "
            f"{mask.shape}."
        )
    flat = (*x.shape[:axis], mask.size, *x.shape[axis + mask.ndim :])
    return ops.gather(ops.reshape(x, shape=flat), np.flatnonzero(mask), axis=axis)


@operation
def sequence_mask(
    lengths: Any, maxlen: Any = None, dtype: DTypeLike = bool_, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return a mask that is true at the first `lengths` positions of a new axis of size `maxlen`.

    >>> import framework as tf
    >>> tf.sequence_mask([1, 2]).numpy()
    array([[ True, False],
           [ True,  True]])
    """
    lengths = np.asarray(tensor(lengths))
    longest = (lengths.max() if lengths.size else 0) if maxlen is None else int(maxlen)
    return Tensor((np.arange(longest) < lengths[..., None]).astype(as_dtype(dtype).np))


# ---- order ---------------------------------------------------------------------------------------


def argsort(
    values: TensorLike, axis: Axis = -1, direction: Any = "ASCENDING", stable: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the indices, int32, that sort along `axis`; the sort is always stable.

    >>> import framework as tf
    >>> tf.argsort([3, 1, 2]).numpy()
    array([1, 2, 0], dtype=int32)
    """
    if direction not in ("ASCENDING", "DESCENDING"):
        raise InvalidArgumentError(
            f"argsort: `direction` must be 'ASCENDING' or 'DESCENDING', got {direction!r}."
        )
    x = tensor(values)
    axis = one_axis(axis, x.ndim, "argsort")
    order = ops.argsort(x, axis=axis, descending=direction == "DESCENDING")
    return cast(order, dtype=np.dtype(np.int32))


def sort(
    values: TensorLike, axis: Axis = -1, direction: Any = "ASCENDING", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Sort the elements along `axis`."""
    x = tensor(values)
    axis = one_axis(axis, x.ndim, "sort")
    return ops.take_along_axis(x, argsort(x, axis, direction), axis=axis)
