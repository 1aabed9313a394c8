"""Sums, means, products, minima and maxima of the rows of each segment."""

from typing import Any

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.tensor import Tensor
from framework.functions.wrappers import number
from framework.ops import elementwise, movement
from framework.ops import segment as ops

# ---- sorted ids: the last one determines the number of segments ----------------------------------


def _sorted(data, segment_ids, what):
    """Convert and check the operands; return data, ids and the number of segments."""
    x, ids = number(data, what), _integers(segment_ids, what)
    if ids.ndim != 1 or x.ndim < 1 or len(ids) != x.shape[0]:
        raise ShapeError(
            f"{what}: `segment_ids` must be 1-d with one id for each row of `data`; got shape "
            f"{ids.shape} for data of shape {x.shape}."
        )
    numbers = np.asarray(ids)
    if numbers.size and (numbers[0] < 0 or np.any(numbers[1:] < numbers[:-1])):
        raise InvalidArgumentError(
            f"{what}: `segment_ids` must be non-negative and ascending: segment ids are not "
            f"increasing. For other ids use unsorted_{what}."
        )
    return x, ids, int(numbers[-1]) + 1 if numbers.size else 0


def _integers(segment_ids, what):
    ids = tensor(segment_ids)
    if not ids.dtype.is_integer and ids.shape != (0,):
        raise DTypeError(f"{what}: `segment_ids` must be integers, got {ids.dtype}.")
    return ids if ids.dtype.is_integer else cast(ids, dtype=np.dtype(np.int32))


@operation
def segment_sum(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Return the sum of the rows of each segment; 0 for an empty segment.

    Args:
        data: a tensor.
        segment_ids: the segment of each row, from 0, in ascending order.

    >>> import framework as tf
    >>> tf.math.segment_sum([1, 2, 4], [0, 0, 1]).numpy()
    array([3, 4], dtype=int32)
    """
    x, ids, count = _sorted(data, segment_ids, "segment_sum")
    return ops.segment_sum(x, ids, count=count)


@operation
def segment_mean(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Return the mean of the rows of each segment; 0 for an empty segment."""
    x, ids, count = _sorted(data, segment_ids, "segment_mean")
    mean = _mean(x, ids, count)
    return mean if mean.dtype == x.dtype else cast(mean, dtype=x.dtype.np)


@operation
def segment_max(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Return the maximum of each segment; 0 for an empty segment. Ties share the gradient."""
    x, ids, count = _sorted(data, segment_ids, "segment_max")
    return ops.where_empty(ops.segment_max(x, ids, count=count), ids, count, 0)


@operation
def segment_min(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Return the minimum of each segment; 0 for an empty segment. Ties share the gradient."""
    x, ids, count = _sorted(data, segment_ids, "segment_min")
    return ops.where_empty(ops.segment_min(x, ids, count=count), ids, count, 0)


@operation
def segment_prod(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Return the product of the rows of each segment; 1 for an empty segment."""
    x, ids, count = _sorted(data, segment_ids, "segment_prod")
    return ops.segment_prod(x, ids, count=count)


# ---- unsorted ------------------------------------------------------------------------------------


def _unsorted(data, segment_ids, num_segments, what):
    x, ids, count = number(data, what), _integers(segment_ids, what), int(num_segments)
    if x.shape[: ids.ndim] != ids.shape:
        raise ShapeError(
            f"{what}: the shape of `data`, {x.shape}, must begin with that of `segment_ids`, "
            f"{ids.shape}."
        )
    ids = movement.within(ids, what=f"{what}: `segment_ids`", size=count, negative=True)
    return x, ids, count


def _mean(x, ids, count):
    """Return the mean of each segment; integers are divided as float64."""
    dtype = x.dtype.np if x.dtype.is_inexact else np.dtype(np.float64)
    total = cast(ops.segment_sum(x, ids, count=count), dtype=dtype)
    return elementwise.divide(total, _divisor(x, ids, count, dtype))


def _divisor(x, ids, count, dtype):
    sizes = elementwise.maximum(ops.segment_sizes(ids, count, dtype), np.ones((), dtype))
    return movement.reshape(sizes, shape=(count, *(1,) * (x.ndim - ids.ndim)))


@operation
def unsorted_segment_sum(
    data: TensorLike, segment_ids: TensorLike, num_segments: Any, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the sum of the rows of each segment; 0 for an empty segment.

    Args:
        data: a tensor.
        segment_ids: the segments, in the shape of the leading axes of `data`; rows with negative
            ids are left out.
        num_segments: the number of segments of the result.

    >>> import framework as tf
    >>> tf.math.unsorted_segment_sum([1, 2, 4], [1, 0, 1], 3).numpy()
    array([2, 5, 0], dtype=int32)
    """
    x, ids, count = _unsorted(data, segment_ids, num_segments, "unsorted_segment_sum")
    return ops.segment_sum(x, ids, count=count)


@operation
def unsorted_segment_mean(
    data: TensorLike, segment_ids: TensorLike, num_segments: Any, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the mean of the rows of each segment; 0 if empty. Integers give float64."""
    return _mean(*_unsorted(data, segment_ids, num_segments, "unsorted_segment_mean"))


@operation
def unsorted_segment_sqrt_n(
    data: TensorLike, segment_ids: TensorLike, num_segments: Any, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the sum of the rows of each segment divided by the square root of their number."""
    x, ids, count = _unsorted(data, segment_ids, num_segments, "unsorted_segment_sqrt_n")
    dtype = x.dtype.np if x.dtype.is_inexact else np.dtype(np.float64)
    total = cast(ops.segment_sum(x, ids, count=count), dtype=dtype)
    return elementwise.divide(total, elementwise.sqrt(_divisor(x, ids, count, dtype)))


@operation
def unsorted_segment_max(
    data: TensorLike, segment_ids: TensorLike, num_segments: Any, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the maximum of each segment; the dtype's lowest number for an empty segment."""
    x, ids, count = _unsorted(data, segment_ids, num_segments, "unsorted_segment_max")
    return ops.segment_max(x, ids, count=count)


@operation
def unsorted_segment_min(
    data: TensorLike, segment_ids: TensorLike, num_segments: Any, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the minimum of each segment; the dtype's highest number for an empty segment."""
    x, ids, count = _unsorted(data, segment_ids, num_segments, "unsorted_segment_min")
    return ops.segment_min(x, ids, count=count)


@operation
def unsorted_segment_prod(
    data: TensorLike, segment_ids: TensorLike, num_segments: Any, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the product of the rows of each segment; 1 for an empty segment."""
    x, ids, count = _unsorted(data, segment_ids, num_segments, "unsorted_segment_prod")
    return ops.segment_prod(x, ids, count=count)
