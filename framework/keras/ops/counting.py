"""Functions of keras.ops that count, search and select elements.

>>> from framework import keras
>>> keras.ops.bincount([1, 1, 3]).numpy()
array([0, 2, 0, 1], dtype=int32)
"""

from typing import Any

import numpy as np

from framework.core.argument_types import Axis, ShapeLike, TensorLike
from framework.core.axes import one_axis
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.promotion import promote
from framework.core.tensor import Tensor
from framework.functions import counting as tf
from framework.keras.ops import arrays
from framework.keras.ops.argument_conversion import as_dtype, floating, ints
from framework.ops import counting, elementwise, movement
from framework.ops import reduction as ops

# ---- counting ------------------------------------------------------------------------------------


@operation
def bincount(
    x: TensorLike, weights: TensorLike = None, minlength: Any = 0, sparse: Any = False,
) -> Tensor:  # fmt: skip
    """Count the occurrences of each integer 0, 1, 2, ..., in each row of a matrix.

    Args:
        x: non-negative integers, of rank 1 or 2.
        weights: the numbers to add instead of 1 for each element; the result then has this dtype.
        minlength: the least length of the result.
        sparse: ignored.
    """
    x = tensor(x)
    if x.dtype.is_bool or x.dtype.np.kind == "u":
        x = as_dtype(x, "int64")
    if x.ndim not in (1, 2):
        raise ShapeError(f"bincount: expected rank 1 or 2, got shape {tuple(x.shape)}.")
    return tf.bincount(x, weights, minlength, axis=-1 if x.ndim == 2 else None)


@operation
def histogram(x: TensorLike, bins: Any = 10, range: Any = None) -> tuple[Tensor, Tensor]:
    """Count the elements in intervals of equal width.

    Args:
        x: a tensor.
        bins: the number of intervals.
        range: (lowest, highest); by default the smallest and the largest element.

    Returns:
        The counts and the edges of the intervals, in one floating dtype. The last interval includes
        its upper edge.
    """
    x = movement.reshape(floating(x), shape=(-1,))
    if not isinstance(bins, (int, np.integer)) or bins < 1:
        raise InvalidArgumentError(f"histogram: `bins` must be a positive int, got {bins!r}.")
    if range is None and x.shape[0] != 0:
        low, high = (f(x, axis=(0,), keepdims=False) for f in (ops.reduce_min, ops.reduce_max))
    else:
        low, high = (as_dtype(v, x.dtype) for v in ((0.0, 1.0) if range is None else range))
    flat = elementwise.equal(low, high)
    low, high = elementwise.select(flat, low - 0.5, low), elementwise.select(flat, high + 0.5, high)
    edges = arrays.linspace(low, high, int(bins) + 1)
    inside = elementwise.logical_and(
        elementwise.greater_equal(x, low), elementwise.less_equal(x, high)
    )
    inner = movement.getitem(edges, index=(slice(1, -1),))
    places = counting.searchsorted(inner, x, side="right", dtype=np.dtype(np.int32))
    places = elementwise.select(inside, places, np.int32(bins))
    counts = counting.bincount(
        places, None, size=int(bins), per_row=False, binary=False, dtype=np.dtype(np.int32)
    )
    return as_dtype(counts, edges.dtype), edges


# ---- searching -----------------------------------------------------------------------------------


@operation
def searchsorted(sorted_sequence: TensorLike, values: TensorLike, side: Any = "left") -> Tensor:
    """Return the int32 indices at which to insert `values` into a sorted vector.

    Args:
        sorted_sequence: a vector in ascending order.
        values: a tensor.
        side: insert "left" or "right" of equal elements.
    """
    if side not in ("left", "right"):
        raise InvalidArgumentError(f"searchsorted: `side` must be 'left' or 'right', got {side!r}.")
    edges, values = promote(sorted_sequence, values)
    if edges.ndim != 1:
        raise ShapeError(
            f"searchsorted: `sorted_sequence` must be a vector, got shape {tuple(edges.shape)}."
        )
    return counting.searchsorted(edges, values, side=side, dtype=np.dtype(np.int32))


def digitize(x: TensorLike, bins: TensorLike) -> Tensor:
    """Return for each element the number of ascending `bins` that are not above it, int32."""
    return searchsorted(bins, x, "right")


@operation
def isin(
    x1: TensorLike, x2: TensorLike, assume_unique: bool = False, invert: bool = False,
) -> Tensor:  # fmt: skip
    """Return whether each element of x1 is in x2 (`invert`: is not); NaN is in no tensor.

    `assume_unique` is ignored.
    """
    x1, x2 = promote(x1, x2)
    flat = movement.reshape(x2, shape=(-1,))
    if flat.shape[0] == 0:
        found = elementwise.not_equal(x1, x1)
        return elementwise.logical_not(found) if invert else elementwise.logical_and(found, False)
    ordered = arrays.sort(flat)
    at = counting.searchsorted(ordered, x1, side="left", dtype=np.dtype(np.int32))
    at = elementwise.minimum(at, flat.shape[0] - 1)
    found = elementwise.equal(movement.gather(ordered, at, axis=0), x1)
    return elementwise.logical_not(found) if invert else found


@operation
def unravel_index(indices: TensorLike, shape: ShapeLike) -> tuple[Tensor, ...]:
    """Return the coordinates of positions in a flattened array of `shape`, an array per axis."""
    x, sizes = tensor(indices), ints(shape)
    x = elementwise.select(elementwise.less(x, 0), x + int(np.prod(sizes)), x)
    return tuple(movement.unstack(counting.unravel_index(x, dims=sizes), axis=0))


@operation
def argpartition(x: TensorLike, kth: Any, axis: Axis = -1) -> Tensor:
    """Return int32 indices that put the `kth` element along `axis` where sorting would put it.

    Elements before it are not larger, elements after it not smaller; here all are sorted.
    """
    x = arrays.ravel(x) if axis is None else tensor(x)
    axis = one_axis(-1 if axis is None else axis, x.ndim, "argpartition")
    size = x.shape[axis]
    if not -size <= kth < size:
        raise InvalidArgumentError(f"argpartition: kth={kth} is out of range for size {size}.")
    return arrays.argsort(x, axis)


# ---- selection -----------------------------------------------------------------------------------


def select(condlist: Any, choicelist: Any, default: TensorLike = 0) -> Tensor:
    """Return, for each element, that of the first choice whose condition is True, or `default`.

    Args:
        condlist: a list of boolean tensors.
        choicelist: a list of tensors, one for each condition.
        default: a tensor or number.
    """
    if len(condlist) != len(choicelist) or not len(condlist):
        raise InvalidArgumentError(
            f"select: expected a condition for each choice, got {len(condlist)} and "
            f"{len(choicelist)}."
        )
    *choices, found = promote(*choicelist, default)
    for condition, choice in reversed(list(zip(condlist, choices))):
        found = elementwise.select(as_dtype(condition, "bool"), choice, found)
    return found


@operation
def unique(
    x: TensorLike, sorted: bool = True, return_index: bool = False, return_inverse: bool = False,
    return_counts: bool = False, axis: Axis = None, size: Any = None, fill_value: Any = None,
) -> Any:  # fmt: skip
    """Return the distinct elements, or slices along `axis`, in ascending order.

    Args:
        x: a tensor; None as `axis` flattens it.
        sorted: ignored; the elements are always sorted.
        return_index: return the position of the first occurrence of each, too.
        return_inverse: return the position of each element among the distinct ones, too.
        return_counts: return the number of occurrences of each, too.
        axis: an int.
        size: the number of results; further results are left out, missing ones are `fill_value` (by
            default the first result) with the count 0.
        fill_value: a number.

    Returns:
        A tensor, or a tuple with the other results, int32.
    """
    x = tensor(x)
    if axis is not None:
        axis = one_axis(axis, x.ndim, "unique")
    first, inverse, counts = counting.distinct(
        x, axis=axis, length=None if size is None else int(size)
    )
    found = movement.gather(arrays.ravel(x) if axis is None else x, first, axis=axis or 0)
    if size is not None and fill_value is not None:
        there = elementwise.greater(counts, 0)
        there = movement.reshape(there, shape=(-1,) + (1,) * (found.ndim - 1 - (axis or 0)))
        found = elementwise.select(there, found, as_dtype(fill_value, x.dtype))
    wanted = ((first, return_index), (inverse, return_inverse), (counts, return_counts))
    others = [y for y, w in wanted if w]
    return (found, *others) if others else found


@operation
def in_top_k(targets: TensorLike, predictions: TensorLike, k: Any) -> Tensor:
    """Return whether each row's target is among its `k` largest predictions; ties are included.

    The result is False if the target is not a class or its prediction is not finite.
    """
    targets, predictions = tensor(targets), floating(predictions)
    classes = predictions.shape[-1]
    inside = elementwise.logical_and(
        elementwise.greater_equal(targets, 0), elementwise.less(targets, classes)
    )
    places = movement.expand_axes(elementwise.select(inside, targets, 0), (targets.ndim,))
    last = predictions.ndim - 1
    chosen = movement.take_along_axis(predictions, places, axis=last)
    larger = as_dtype(elementwise.greater(predictions, chosen), "int32")
    found = elementwise.less(ops.reduce_sum(larger, axis=(last,), keepdims=False), int(k))
    finite = elementwise.is_finite(movement.reshape(chosen, shape=tuple(targets.shape)))
    known = elementwise.logical_and(inside, finite)
    none = ops.reduce_any(elementwise.is_nan(predictions), axis=(last,), keepdims=False)
    return elementwise.logical_and(found, elementwise.logical_and(known, ~none))
