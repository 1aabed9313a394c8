"""Gather and scatter by index tuples, dynamic partition and stitch, strided slices."""

import math
from typing import Any

import numpy as np

from framework.core.argument_types import Axis, ShapeLike, TensorLike
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.promotion import strict_all
from framework.core.tensor import Tensor
from framework.functions.creation import sizes
from framework.ops import elementwise, movement, scatter, segment
from framework.ops.counting import unravel_index as _unravel_index
from framework.ops.slices import gather_rows

_POLICIES = {"": False, "DEFAULT": False, "ERROR": False, "IGNORE": True}


def _ignores(policy, what):
    if policy not in _POLICIES:
        raise InvalidArgumentError(
            f"{what}: bad_indices_policy must be one of {list(_POLICIES)}, got {policy!r}."
        )
    return _POLICIES[policy]


def _places(indices, shape, what, policy=""):
    """Convert index tuples to positions in the flattened leading axes of a tensor."""
    indices = tensor(indices)
    if not indices.dtype.is_integer:
        raise DTypeError(f"{what}: `indices` must be integers, got {indices.dtype}.")
    if indices.ndim < 1 or indices.shape[-1] > len(shape):
        depth = indices.shape[-1] if indices.ndim else 0
        raise ShapeError(
            f"{what}: index innermost dimension length must be <= params rank; saw: {depth} vs. "
            f"{len(shape)}: index tuples in the last axis of `indices` of shape {indices.shape} do "
            f"not fit a tensor of shape {tuple(shape)}."
        )
    front = tuple(shape[: indices.shape[-1]])
    return scatter.places(indices, shape=front, what=what, ignore=_ignores(policy, what))


@operation
def gather_nd(
    params: TensorLike, indices: TensorLike, batch_dims: Any = 0, name: str | None = None,
    bad_indices_policy: Any = "",
) -> Tensor:  # fmt: skip
    """Return the elements or slices of `params` at the index tuples in the last axis of `indices`.

    Args:
        params: a tensor.
        indices: integers >= 0.
        batch_dims: the number of leading axes that `params` and `indices` share; tuples index the
            axes after them.
        bad_indices_policy: "" or "ERROR"; "IGNORE" returns zeros for indices out of range.

    >>> import framework as tf
    >>> tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]).numpy()
    array([2, 3], dtype=int32)
    """
    x, indices = tensor(params), tensor(indices)
    batch = tuple(x.shape[:batch_dims])
    if tuple(indices.shape[:batch_dims]) != batch:
        raise ShapeError(
            f"gather_nd: the first {batch_dims} sizes of shapes {x.shape} and {indices.shape} "
            "differ."
        )
    inner = tuple(x.shape[batch_dims:])
    places = _places(indices, inner, "gather_nd", bad_indices_policy)
    depth = indices.shape[-1]
    if depth == 1 and not batch_dims and not _ignores(bad_indices_policy, "gather_nd"):
        # the gradient of `gather_rows` is IndexedSlices, like that of TensorFlow's `gather_nd`
        return gather_rows(x, places)
    size = math.prod(inner[:depth])
    if batch_dims:
        starts = np.arange(math.prod(batch)) * size
        starts = starts.reshape(*batch, *(1,) * (places.ndim - batch_dims))
        places = elementwise.select(elementwise.less(places, 0), places, places + starts)
    flat = movement.reshape(x, shape=(math.prod(batch) * size, *inner[depth:]))
    return segment.segment_take(flat, places)


@operation
def scatter_nd(
    indices: TensorLike, updates: TensorLike, shape: ShapeLike, bad_indices_policy: Any = "",
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Add `updates` to zeros of `shape` at the index tuples in the last axis of `indices`.

    Args:
        indices: integers >= 0; updates at equal index tuples add up.
        updates: the elements or slices.
        shape: the shape of the result.
        bad_indices_policy: "" or "ERROR"; "IGNORE" skips indices out of range.

    >>> import framework as tf
    >>> tf.scatter_nd([[1], [1]], [2, 3], [3]).numpy()
    array([0, 5, 0], dtype=int32)
    """
    shape = sizes(shape, "scatter_nd")
    return _sum(indices, tensor(updates), shape, bad_indices_policy, "scatter_nd")


def _sum(indices, updates, shape, policy, what):
    places, flat = _rows(indices, updates, shape, what, policy)
    depth = len(shape) - (flat.ndim - 1)
    total = segment.segment_sum(flat, places, count=math.prod(shape[:depth]))
    return movement.reshape(total, shape=tuple(shape))


def _rows(indices, updates, shape, what, policy=""):
    """Return flattened positions, and the updates with one row per position."""
    indices = tensor(indices)
    places = _places(indices, shape, what, policy)
    inner = tuple(shape[indices.shape[-1] :])
    if tuple(updates.shape) != (*places.shape, *inner):
        raise ShapeError(
            f"{what}: expected `updates` of shape {(*places.shape, *inner)} for indices of shape "
            f"{indices.shape} into a tensor of shape {tuple(shape)}, got {updates.shape}."
        )
    n = math.prod(places.shape)
    return movement.reshape(places, shape=(n,)), movement.reshape(updates, shape=(n, *inner))


@operation
def tensor_scatter_nd_add(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: Any = "",
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return `tensor` with `updates` added at the index tuples in the last axis of `indices`.

    >>> import framework as tf
    >>> tf.tensor_scatter_nd_add([1, 2, 3], [[0], [0]], [10, 20]).numpy()
    array([31,  2,  3], dtype=int32)
    """
    x, updates = strict_all(tensor, updates)
    how = bad_indices_policy, "tensor_scatter_nd_add"
    if x.dtype.is_integer:
        return x + _sum(indices, updates, x.shape, *how)
    # Subtracting lets elements without updates keep their sign: -0.0 + 0.0 is 0.0, but -0.0 - 0.0
    # is -0.0.
    return x - _sum(indices, -updates, x.shape, *how)


@operation
def tensor_scatter_nd_sub(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: Any = "",
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return `tensor` with `updates` subtracted at the index tuples in `indices`."""
    x, updates = strict_all(tensor, updates)
    return x - _sum(indices, updates, x.shape, bad_indices_policy, "tensor_scatter_nd_sub")


@operation
def tensor_scatter_nd_update(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return `tensor` with `updates` at the index tuples in `indices`; the last update wins.

    >>> import framework as tf
    >>> tf.tensor_scatter_nd_update([1, 2, 3], [[0]], [10]).numpy()
    array([10,  2,  3], dtype=int32)
    """
    return _by_rows(scatter.row_update, tensor, indices, updates, "", "tensor_scatter_nd_update")


@operation
def tensor_scatter_nd_max(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: Any = "",
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return `tensor` with max(element, update) at the index tuples in `indices`.

    Elements equal to the maximum share its gradient.
    """
    return _by_rows(
        scatter.row_max, tensor, indices, updates, bad_indices_policy, "tensor_scatter_nd_max"
    )


@operation
def tensor_scatter_nd_min(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: Any = "",
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return `tensor` with min(element, update) at the index tuples in `indices`."""
    return _by_rows(
        scatter.row_min, tensor, indices, updates, bad_indices_policy, "tensor_scatter_nd_min"
    )


def _by_rows(op, x, indices, updates, policy, what):
    x, updates = strict_all(x, updates)
    shape = tuple(x.shape)
    places, updates = _rows(indices, updates, shape, what, policy)
    if _ignores(policy, what):
        kept = np.flatnonzero(np.asarray(places) >= 0)
        places, updates = (movement.gather(v, kept, axis=0) for v in (places, updates))
    inner = tuple(updates.shape[1:])
    rows = movement.reshape(x, shape=(math.prod(shape[: len(shape) - len(inner)]), *inner))
    return movement.reshape(op(rows, places, updates), shape=shape)


# ---- partition and stitch ------------------------------------------------------------------------


@operation
def dynamic_partition(
    data: TensorLike, partitions: Any, num_partitions: Any, name: str | None = None,
) -> list[Tensor]:  # fmt: skip
    """Split the rows of `data` into a list: part i has the rows whose entry in `partitions` is i.

    Args:
        data: a tensor.
        partitions: integers, in the shape of the leading axes of `data`.
        num_partitions: the number of parts.

    >>> import framework as tf
    >>> [part.numpy().tolist() for part in tf.dynamic_partition([1, 2, 3], [0, 1, 0], 2)]
    [[1, 3], [2]]
    """
    x, parts, count = tensor(data), tensor(partitions), int(num_partitions)
    if x.shape[: parts.ndim] != parts.shape:
        raise ShapeError(
            f"dynamic_partition: the shape of `data`, {x.shape}, must begin with that of "
            f"`partitions`, {parts.shape}."
        )
    parts = movement.within(parts, what="dynamic_partition: `partitions`", size=count)
    places = scatter.partition_places(movement.reshape(parts, shape=(-1,)), count=count)
    rows = _as_rows(x, parts.ndim)
    return [movement.gather(rows, at, axis=0) for at in places]


def _as_rows(x, rank):
    """Merge the first `rank` axes of `x`."""
    return movement.reshape(x, shape=(math.prod(x.shape[:rank]), *x.shape[rank:]))


@operation
def dynamic_stitch(indices: TensorLike, data: TensorLike, name: str | None = None) -> Tensor:
    """Merge the rows of several tensors into one tensor, at the rows `indices`.

    Args:
        indices: a list of integer tensors.
        data: a list of tensors whose leading axes are those of the indices. Of several rows with
            the same index the last one counts; rows without an index are zeros.

    >>> import framework as tf
    >>> tf.dynamic_stitch([[0, 2], [1]], [[1, 3], [2]]).numpy()
    array([1, 2, 3], dtype=int32)
    """
    what = "dynamic_stitch: `indices`"
    indices = [movement.within(tensor(i), what=what) for i in indices]
    data = list(strict_all(*data))
    if len(indices) != len(data) or not data:
        raise InvalidArgumentError(
            "dynamic_stitch: expected one tensor of indices per tensor of data, got "
            f"{len(indices)} and {len(data)}."
        )
    for i, x in zip(indices, data):
        if x.shape[: i.ndim] != i.shape or x.shape[i.ndim :] != data[0].shape[indices[0].ndim :]:
            raise ShapeError(
                f"dynamic_stitch: data of shape {x.shape} does not fit indices of shape {i.shape}."
            )
    rows = [_as_rows(x, i.ndim) for i, x in zip(indices, data)]
    return segment.segment_take(movement.concat(*rows, axis=0), scatter.stitch_places(*indices))


# ---- positions -----------------------------------------------------------------------------------


@operation
def unravel_index(indices: TensorLike, dims: Axis, name: str | None = None) -> Tensor:
    """Convert positions in a flattened tensor of shape `dims` to indices along each axis.

    >>> import framework as tf
    >>> tf.unravel_index([2, 5], [3, 3]).numpy()
    array([[0, 1],
           [2, 2]], dtype=int32)
    """
    indices = tensor(indices)
    if indices.ndim > 1:
        raise ShapeError(f"unravel_index: `indices` must be 0-d or 1-d, got {indices.shape}.")
    return _unravel_index(indices, dims=sizes(dims, "unravel_index"))


@operation
def strided_slice(
    input_: Any, begin: Any, end: Any, strides: Any = None, begin_mask: Any = 0, end_mask: Any = 0,
    ellipsis_mask: Any = 0, new_axis_mask: Any = 0, shrink_axis_mask: Any = 0, var: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return `input_[begin:end:strides, ...]`; bit masks change the meaning of single entries.

    Args:
        input_: a tensor.
        begin, end, strides: ints, one for each indexed axis; by default `strides` are 1.
        begin_mask, end_mask: bit i means that begin[i] or end[i] is ignored.
        ellipsis_mask, new_axis_mask: bit i means that entry i is `...` or a new axis.
        shrink_axis_mask: bit i means that entry i is the index begin[i]; its axis is removed.
        var: the variable that holds `input_`, for assignment to the slice:
            `strided_slice(v, ..., var=v).assign(values)`, as `v[...].assign(values)`.

    >>> import framework as tf
    >>> tf.strided_slice([1, 2, 3, 4], [0], [4], [2]).numpy()
    array([1, 3], dtype=int32)
    """
    begin, end = sizes(begin, "strided_slice"), sizes(end, "strided_slice")
    steps = (1,) * len(begin) if strides is None else sizes(strides, "strided_slice")
    if not len(begin) == len(end) == len(steps) or 0 in steps:
        raise InvalidArgumentError(
            f"strided_slice: begin={begin}, end={end} and strides={steps} must have the same "
            "length, and strides must not be 0."
        )

    def entry(i):
        bit = 1 << i
        if ellipsis_mask & bit:
            return Ellipsis
        if new_axis_mask & bit:
            return None
        if shrink_axis_mask & bit:
            return begin[i]
        first = None if begin_mask & bit else begin[i]
        return slice(first, None if end_mask & bit else end[i], steps[i])

    index = tuple(entry(i) for i in range(len(begin)))
    return movement.getitem(tensor(input_), index=index) if var is None else var[index]
