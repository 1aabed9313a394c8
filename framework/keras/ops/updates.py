"""Functions of keras.ops that replace, add or reduce the parts of tensors at indices.

>>> from framework import keras
>>> keras.ops.slice_update([0, 0, 0, 0], [1], [5, 6]).numpy().tolist()
[0, 5, 6, 0]
"""

import math
from typing import Any

import numpy as np

from framework.core.argument_types import ShapeLike, TensorLike
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.tensor import Tensor
from framework.functions import scattering, segments
from framework.keras.ops import reduction as reductions
from framework.keras.ops.argument_conversion import as_dtype
from framework.ops import elementwise, movement

# ---- updates -------------------------------------------------------------------------------------


def scatter(indices: TensorLike, values: TensorLike, shape: ShapeLike) -> Tensor:
    """Return zeros of `shape` with `values` added at `indices`.

    Args:
        indices: integers of shape (n, k): n positions along the first k axes.
        values: of shape (n, *shape[k:]).
        shape: the shape of the result.
    """
    return scattering.scatter_nd(indices, values, shape)


@operation
def scatter_update(
    inputs: TensorLike, indices: TensorLike, updates: TensorLike, reduction: Any = None,
) -> Tensor:  # fmt: skip
    """Return `inputs` with the elements at `indices` replaced by `updates`, or combined with them.

    Args:
        inputs: a tensor.
        indices: integers of shape (n, k): n positions along the first k axes; negative ones count
            from the end.
        updates: of shape (n, *inputs.shape[k:]).
        reduction: None to replace elements, or "add", "max", "min" or "mul" to combine them with
            all updates at their index.
    """
    x = tensor(inputs)
    updates, places = as_dtype(updates, x.dtype), tensor(indices)
    sizes = np.asarray(tuple(x.shape)[: places.shape[-1]], places.dtype.np)
    places = elementwise.select(elementwise.less(places, 0), places + sizes, places)
    if reduction == "mul":
        return x * _products(x, places, updates)
    function = _UPDATES.get(reduction)
    if function is None:
        raise InvalidArgumentError(
            "scatter_update: `reduction` must be None, 'add', 'max', 'min' or 'mul', got "
            f"{reduction!r}."
        )
    return function(x, places, updates)


_UPDATES = {
    None: scattering.tensor_scatter_nd_update,
    "add": scattering.tensor_scatter_nd_add,
    "max": scattering.tensor_scatter_nd_max,
    "min": scattering.tensor_scatter_nd_min,
}


def _products(x, places, updates):
    """Return the product of the updates of each element of `x`, or 1 where there are no updates."""
    depth = places.shape[-1]
    sizes = tuple(x.shape)[:depth]
    steps = np.cumprod((*sizes[1:], 1)[::-1])[::-1].astype(places.dtype.np)
    rows = movement.reshape(elementwise.multiply(places, steps), shape=(-1, depth))
    flat = reductions.sum(rows, 1)
    rest = tuple(x.shape)[depth:]
    products = segments.unsorted_segment_prod(
        movement.reshape(updates, shape=(-1, *rest)), flat, math.prod(sizes)
    )
    return movement.reshape(products, shape=tuple(x.shape))


@operation
def slice_update(inputs: TensorLike, start_indices: TensorLike, updates: TensorLike) -> Tensor:
    """Return `inputs` with the block that begins at `start_indices` replaced by `updates`.

    Args:
        inputs: a tensor.
        start_indices: a position along each axis. A block that would end outside `inputs` is moved
            inside.
        updates: a tensor of the same rank, not larger along any axis.
    """
    x = tensor(inputs)
    updates = as_dtype(updates, x.dtype)
    starts = np.asarray(tensor(start_indices)).reshape(-1).tolist()
    sizes = list(zip(x.shape, updates.shape))
    if len(starts) != x.ndim or updates.ndim != x.ndim or any(n < m for n, m in sizes):
        raise ShapeError(
            f"slice_update: updates of shape {tuple(updates.shape)} at {starts} do not fit into "
            f"shape {tuple(x.shape)}."
        )
    firsts = [min(max(s + n * (s < 0), 0), n - m) for s, (n, m) in zip(starts, sizes)]
    block = tuple(slice(first, first + m) for first, (_, m) in zip(firsts, sizes))
    shape = tuple(x.shape)
    inside = np.zeros(shape, bool)
    inside[block] = True
    return elementwise.select(inside, movement.put(updates, shape=shape, index=block), x)


# ---- segments ------------------------------------------------------------------------------------


@operation
def segment_sum(
    data: TensorLike, segment_ids: TensorLike, num_segments: Any = None, sorted: bool = False,
) -> Tensor:  # fmt: skip
    """Return the sum of the rows of each segment; 0 for an empty segment.

    Args:
        data: a tensor.
        segment_ids: the segment of each row, a vector; rows with ids outside of 0 to `num_segments`
            - 1 are left out.
        num_segments: the number of segments, by default the largest id + 1.
        sorted: ignored.

    >>> from framework import keras
    >>> keras.ops.segment_sum([1, 2, 4], [1, 0, 1], 3).numpy().tolist()
    [2, 5, 0]
    """
    return segments.unsorted_segment_sum(*_segments(data, segment_ids, num_segments))


@operation
def segment_prod(
    data: TensorLike, segment_ids: TensorLike, num_segments: Any = None, sorted: bool = False,
) -> Tensor:  # fmt: skip
    """Return the product of the rows of each segment; 1 for an empty segment; see `segment_sum`."""
    return segments.unsorted_segment_prod(*_segments(data, segment_ids, num_segments))


@operation
def segment_max(
    data: TensorLike, segment_ids: TensorLike, num_segments: Any = None, sorted: bool = False,
) -> Tensor:  # fmt: skip
    """Return the maximum of the rows of each segment; -inf for an empty segment; see `segment_sum`.

    For integers, an empty segment has the smallest number of the dtype.
    """
    x, ids, count = _segments(data, segment_ids, num_segments)
    if x.dtype.is_bool:
        return as_dtype(segments.unsorted_segment_max(as_dtype(x, "uint8"), ids, count), "bool")
    return _or_infinite(segments.unsorted_segment_max(x, ids, count), ids, count, -math.inf)


@operation
def segment_min(
    data: TensorLike, segment_ids: TensorLike, num_segments: Any = None, sorted: bool = False,
) -> Tensor:  # fmt: skip
    """Return the minimum of the rows of each segment; inf for an empty segment; see `segment_sum`.

    For integers, an empty segment has the largest number of the dtype.
    """
    x, ids, count = _segments(data, segment_ids, num_segments)
    if x.dtype.is_bool:
        return as_dtype(segments.unsorted_segment_min(as_dtype(x, "uint8"), ids, count), "bool")
    return _or_infinite(segments.unsorted_segment_min(x, ids, count), ids, count, math.inf)


def _segments(data, segment_ids, num_segments):
    """Return the rows, the segment of each (-1 if out of range), and the number of segments."""
    x, ids = tensor(data), tensor(segment_ids)
    if not ids.dtype.is_integer or ids.ndim != 1:
        raise InvalidArgumentError(
            f"`segment_ids` must be a vector of integers, got dtype {ids.dtype}, shape "
            f"{tuple(ids.shape)}."
        )
    if num_segments is None:
        count = int(np.max(np.asarray(ids), initial=-1)) + 1
    else:
        count = int(num_segments)
    outside = elementwise.less(ids, 0) | elementwise.greater_equal(ids, count)
    return x, elementwise.select(outside, np.asarray(-1, ids.dtype.np), ids), count


def _or_infinite(found, ids, count, value):
    """Return the segments' extremes `found`, with `value` for empty segments."""
    if not found.dtype.is_floating:
        return found
    rows = segments.unsorted_segment_sum(as_dtype(elementwise.equal(ids, ids), "int32"), ids, count)
    empty = movement.reshape(elementwise.equal(rows, 0), shape=(count,) + (1,) * (found.ndim - 1))
    return elementwise.select(empty, np.asarray(value, found.dtype.np), found)
