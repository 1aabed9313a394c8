"""Counting, searching and unique elements."""

from typing import Any, NamedTuple

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import Axis, DTypeLike, TensorLike
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.promotion import strict_all
from framework.core.tensor import Tensor
from framework.ops import counting as ops
from framework.ops import elementwise, movement, reduction


class Unique(NamedTuple):
    """The result of `unique`."""

    y: Tensor
    idx: Tensor


class UniqueWithCounts(NamedTuple):
    """The result of `unique_with_counts`."""

    y: Tensor
    idx: Tensor
    count: Tensor


@operation
def unique(x: TensorLike, out_idx: DTypeLike = dtypes.int32, name: str | None = None) -> Unique:
    """Return the distinct elements of a vector by first occurrence, and each element's index.

    >>> import framework as tf
    >>> y, idx = tf.unique([3, 1, 3])
    >>> y.numpy().tolist(), idx.numpy().tolist()
    ([3, 1], [0, 1, 0])
    """
    return Unique(*_unique(x, out_idx, "unique")[:2])


@operation
def unique_with_counts(
    x: TensorLike, out_idx: DTypeLike = dtypes.int32, name: str | None = None,
) -> UniqueWithCounts:  # fmt: skip
    """Return the results of `unique`, and the count of each distinct element."""
    return UniqueWithCounts(*_unique(x, out_idx, "unique_with_counts"))


def _unique(x, out_idx, what):
    x = tensor(x)
    if x.ndim != 1:
        raise ShapeError(f"{what}: expected a 1-d tensor, got shape {x.shape}. Reshape it to [-1].")
    return ops.unique(x, dtype=dtypes.as_dtype(out_idx).np)


@operation
def searchsorted(
    sorted_sequence: Any, values: TensorLike, side: Any = "left",
    out_type: DTypeLike = dtypes.int32, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the indices at which to insert `values` into a sorted sequence, along the last axis.

    Args:
        sorted_sequence: numbers in ascending order along the last axis.
        values: a tensor with the same leading axes.
        side: insert "left" or "right" of equal elements.
        out_type: tf.int32 or tf.int64.

    >>> import framework as tf
    >>> tf.searchsorted([1, 3, 5], [0, 3, 6]).numpy()
    array([0, 1, 3], dtype=int32)
    """
    if side not in ("left", "right"):
        raise InvalidArgumentError(f"searchsorted: `side` must be 'left' or 'right', got {side!r}.")
    x, values = strict_all(sorted_sequence, values)
    if not x.ndim or not values.ndim or x.shape[:-1] != values.shape[:-1]:
        raise ShapeError(
            "searchsorted: `sorted_sequence` and `values` must have rank 1 or more and equal "
            f"leading axes, got shapes {x.shape} and {values.shape}."
        )
    return ops.searchsorted(x, values, side=side, dtype=dtypes.as_dtype(out_type).np)


@operation
def bincount(
    arr: Any, weights: TensorLike = None, minlength: Any = None, maxlength: Any = None,
    dtype: DTypeLike = dtypes.int32, name: str | None = None, axis: Axis = None,
    binary_output: bool = False,
) -> Tensor:  # fmt: skip
    """Count the occurrences of each integer 0, 1, 2, ...

    Args:
        arr: non-negative integers.
        weights: the number to add for each element instead of 1, in the shape of `arr`; the result
            has the dtype of `weights`.
        minlength, maxlength: the least and largest length of the result; larger integers are left
            out.
        dtype: the dtype of the result if `weights` is None.
        axis: None or 0 to count over all elements; -1 for each row along the last axis.
        binary_output: return 1 for every integer that occurs.

    >>> import framework as tf
    >>> tf.math.bincount([1, 1, 3]).numpy()
    array([0, 2, 0, 1], dtype=int32)
    """
    x = tensor(arr)
    if not x.dtype.is_integer:
        x = _no_integers(x)
    if axis not in (None, 0, -1):
        raise InvalidArgumentError(f"bincount: `axis` must be None, 0 or -1, got {axis!r}.")
    if weights is not None:
        weights = tensor(weights)
        if binary_output or weights.shape != x.shape:
            raise InvalidArgumentError(
                f"bincount: `weights` must have the shape {x.shape}, got {weights.shape}, and be "
                f"None with binary_output=True, got binary_output={binary_output}."
            )
    size = max(int(np.asarray(x).max(initial=-1)) + 1, int(minlength or 0))
    size = size if maxlength is None else min(size, int(maxlength))
    wanted = dtypes.as_dtype(dtype) if weights is None else weights.dtype
    return ops.bincount(
        x, weights, size=size, per_row=axis == -1, binary=bool(binary_output), dtype=wanted.np
    )


def _no_integers(x):
    if x.array.size:
        raise DTypeError(f"bincount: `arr` must hold integers, got {x.dtype}.")
    # accept an empty list, although it converts to a float32 tensor
    return cast(x, dtype=np.dtype(np.int32))


@operation
def histogram_fixed_width_bins(
    values: TensorLike, value_range: TensorLike, nbins: Any = 100, dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the index of each value's bin, among `nbins` equal bins over `value_range`.

    Args:
        values: numbers; those outside the range are in the first or the last bin.
        value_range: two numbers of the dtype of `values`, the lower first.
        nbins: the number of bins.
        dtype: tf.int32 or tf.int64.

    >>> import framework as tf
    >>> tf.histogram_fixed_width_bins([-1.0, 0.5, 2.5, 9.0], [0.0, 5.0], nbins=5).numpy()
    array([0, 0, 2, 4], dtype=int32)
    """
    what, count = "histogram_fixed_width_bins", int(nbins)
    x, edges = strict_all(tensor(values), value_range)
    if count < 1:
        raise InvalidArgumentError(f"{what}: nbins {count} must > 0.")
    if edges.shape != (2,):
        raise ShapeError(f"{what}: `value_range` must be two numbers, got shape {edges.shape}.")
    wide = np.dtype(np.float64)
    low, high = (cast(movement.getitem(edges, index=(i,)), dtype=wide) for i in (0, 1))
    share = (cast(x, dtype=wide) - low) / (high - low)
    place = elementwise.minimum(elementwise.maximum(share * count, 0.0), count - 1)
    return cast(elementwise.floor(place), dtype=dtypes.as_dtype(dtype).np)


@operation
def histogram_fixed_width(
    values: TensorLike, value_range: TensorLike, nbins: Any = 100, dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return how many values are in each bin; see `histogram_fixed_width_bins`.

    >>> import framework as tf
    >>> tf.histogram_fixed_width([-1.0, 0.5, 2.5, 9.0], [0.0, 5.0], nbins=5).numpy()
    array([2, 0, 1, 0, 1], dtype=int32)
    """
    bins = histogram_fixed_width_bins(values, value_range, nbins)
    flat = movement.reshape(bins, shape=(-1,))
    wanted = dtypes.as_dtype(dtype).np
    return ops.bincount(flat, None, size=int(nbins), per_row=False, binary=False, dtype=wanted)


@operation
def confusion_matrix(
    labels: TensorLike, predictions: TensorLike, num_classes: TensorLike = None,
    weights: TensorLike = None, dtype: DTypeLike = dtypes.int32, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Count the samples of each class (row) that were predicted as each class (column).

    Args:
        labels, predictions: classes, integers from 0; axes of size 1 apart, of the same shape.
        num_classes: by default the largest integer plus 1.
        weights: the number to add for each sample instead of 1.
        dtype: the dtype of the result.

    >>> import framework as tf
    >>> tf.math.confusion_matrix([0, 1, 1], [0, 1, 0]).numpy()
    array([[1, 0],
           [1, 1]], dtype=int32)
    """
    labels, predictions = (
        cast(movement.reshape(tensor(v), shape=(-1,)), dtype=np.dtype(np.int64))
        for v in (labels, predictions)
    )
    if labels.shape != predictions.shape:
        raise ShapeError(
            f"confusion_matrix: expected one label per prediction, got {labels.shape[0]} labels "
            f"and {predictions.shape[0]} predictions."
        )
    pair = {"labels": labels, "predictions": predictions}
    lowest = min(int(np.asarray(v).min(initial=0)) for v in pair.values())
    largest = max(int(np.asarray(v).max(initial=-1)) for v in pair.values())
    size = largest + 1 if num_classes is None else int(num_classes)
    if lowest < 0 or largest >= size:
        wrong = next(k for k, v in pair.items() if (v.array < 0).any() or (v.array >= size).any())
        raise InvalidArgumentError(
            f"confusion_matrix: `{wrong}` must lie from 0 to {size - 1}, got {lowest} to {largest}."
        )
    if weights is not None:
        weights = movement.reshape(tensor(weights), shape=(-1,))
        weights = cast(weights, dtype=dtypes.as_dtype(dtype).np)
    counts = ops.bincount(
        labels * size + predictions, weights, size=size * size, per_row=False, binary=False,
        dtype=dtypes.as_dtype(dtype).np,
    )  # fmt: skip
    return movement.reshape(counts, shape=(size, size))


@operation
def invert_permutation(x: TensorLike, name: str | None = None) -> Tensor:
    """Return the inverse of the permutation `x`: y[x[i]] = i.

    >>> import framework as tf
    >>> tf.math.invert_permutation([2, 0, 1]).numpy()
    array([1, 2, 0], dtype=int32)
    """
    x = tensor(x)
    if x.ndim != 1 or not x.dtype.is_integer:
        raise ShapeError(
            f"invert_permutation: expected 1-d integers, got {x.dtype} of shape {x.shape}."
        )
    return ops.invert_permutation(x)


# ---- order ---------------------------------------------------------------------------------------


def is_non_decreasing(x: TensorLike, name: str | None = None) -> Tensor:
    """Return whether no element is smaller than its predecessor, as a 0-d boolean."""
    return _pairs_are(elementwise.greater_equal, x)


def is_strictly_increasing(x: TensorLike, name: str | None = None) -> Tensor:
    """Return whether every element is larger than its predecessor, as a 0-d boolean."""
    return _pairs_are(elementwise.greater, x)


def _pairs_are(compare, x):
    flat = movement.reshape(tensor(x), shape=(-1,))
    later = movement.getitem(flat, index=(slice(1, None),))
    earlier = movement.getitem(flat, index=(slice(None, -1),))
    return reduction.reduce_all(compare(later, earlier), axis=(0,), keepdims=False)
