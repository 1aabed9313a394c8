"""Reductions of keras.ops that leave out NaN, and quantiles.

A slice with only NaN has the sum 0, the product 1, and NaN as any other result.

>>> from framework import keras
>>> keras.ops.nanmean([1.0, float("nan"), 3.0]).numpy()
np.float32(2.0)
"""

import math
from typing import Any

import numpy as np

from framework.core import nest
from framework.core.argument_types import Axis, DTypeLike, TensorLike
from framework.core.axes import all_axes, one_axis
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError
from framework.core.operations import operation
from framework.core.tensor import Tensor
from framework.keras.ops import reduction as plain
from framework.keras.ops.argument_conversion import as_dtype, floating
from framework.ops import elementwise, movement
from framework.ops import reduction as ops
from framework.ops.casting import like, widened


def _without_nan(x, value):
    """Return `x` with `value` instead of NaN."""
    x = tensor(x)
    if not x.dtype.is_floating:
        return x
    return elementwise.select(elementwise.is_nan(x), np.asarray(value, x.dtype.np), x)


def _nan_where(condition, x):
    return elementwise.select(condition, np.asarray(math.nan, x.dtype.np), x)


def _only_nan(x, axis, keepdims):
    return ops.reduce_all(elementwise.is_nan(x), axis=axis, keepdims=bool(keepdims))


def nansum(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the sum over the axes in `axis`, ignoring NaN."""
    return plain.sum(_without_nan(x, 0), axis, keepdims)


def nanprod(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the product over the axes in `axis`, ignoring NaN."""
    return plain.prod(_without_nan(x, 1), axis, keepdims)


def nancumsum(x: TensorLike, axis: Axis = None, dtype: DTypeLike = None) -> Tensor:
    """Return the cumulative sum along `axis`, with NaN as 0; None flattens first."""
    return plain.cumsum(_without_nan(x, 0), axis, dtype)


def nancumprod(x: TensorLike, axis: Axis = None, dtype: DTypeLike = None) -> Tensor:
    """Return the cumulative product along `axis`, with NaN as 1; None flattens first."""
    return cumprod(_without_nan(x, 1), axis, dtype)


def cumprod(x: TensorLike, axis: Axis = None, dtype: DTypeLike = None) -> Tensor:
    """Return the cumulative product along `axis`; None flattens first."""
    x = tensor(x)
    if dtype is not None or x.dtype.is_bool:
        x = as_dtype(x, "int32" if dtype is None else dtype)
    if axis is None:
        x, axis = movement.reshape(x, shape=(-1,)), 0
    return ops.cumprod(x, axis=one_axis(axis, x.ndim, "cumprod"), reverse=False)


def nanmax(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the largest element over the axes in `axis`, ignoring NaN."""
    return _nan_extreme(plain.max, x, axis, keepdims, -math.inf, "nanmax")


def nanmin(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the smallest element over the axes in `axis`, ignoring NaN."""
    return _nan_extreme(plain.min, x, axis, keepdims, math.inf, "nanmin")


def _nan_extreme(extreme, x, axis, keepdims, instead, what):
    x = tensor(x)
    found = extreme(_without_nan(x, instead), axis, keepdims)
    if not x.dtype.is_floating:
        return found
    return _nan_where(_only_nan(x, all_axes(axis, x.ndim, what), keepdims), found)


def nanmean(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the mean over the axes in `axis`, ignoring NaN."""
    x = floating(x)
    axis = all_axes(axis, x.ndim, "nanmean")
    return like(_nan_mean(widened(x), axis, keepdims), x)


def _nan_mean(x, axis, keepdims):
    return _mean_of_numbers(_without_nan(x, 0), x, axis, keepdims)


def _mean_of_numbers(y, x, axis, keepdims):
    """Return the sum of `y` divided by the number of elements of `x` that are not NaN."""
    total = ops.reduce_sum(y, axis=axis, keepdims=bool(keepdims))
    numbers = as_dtype(elementwise.logical_not(elementwise.is_nan(x)), x.dtype)
    count = ops.reduce_sum(numbers, axis=axis, keepdims=bool(keepdims))
    mean = elementwise.divide(total, elementwise.maximum(count, 1.0))
    return _nan_where(elementwise.equal(count, 0), mean)


def nanvar(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the variance over the axes in `axis`, ignoring NaN (divisor: the count of numbers)."""
    x = floating(x)
    return like(_nan_variance(widened(x), axis, keepdims, "nanvar"), x)


def nanstd(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the standard deviation, ignoring NaN; where it is 0, its gradient is 0."""
    x = floating(x)
    return like(elementwise.root(_nan_variance(widened(x), axis, keepdims, "nanstd")), x)


def _nan_variance(x, axis, keepdims, what):
    axis = all_axes(axis, x.ndim, what)
    centred = _without_nan(x, 0) - _nan_mean(x, axis, True)
    centred = elementwise.masked(centred, elementwise.logical_not(elementwise.is_nan(x)))
    return _mean_of_numbers(elementwise.square(centred), x, axis, keepdims)


def nanargmax(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the int32 index of the largest element along `axis`, or -1 if all are NaN."""
    return _nan_position(plain.argmax, x, axis, keepdims, -math.inf, "nanargmax")


def nanargmin(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the int32 index of the smallest element along `axis`, or -1 if all are NaN."""
    return _nan_position(plain.argmin, x, axis, keepdims, math.inf, "nanargmin")


def _nan_position(position, x, axis, keepdims, instead, what):
    x = tensor(x)
    found = position(_without_nan(x, instead), axis, keepdims)
    if not x.dtype.is_floating:
        return found
    none = _only_nan(x, all_axes(axis, x.ndim, what), keepdims)
    return elementwise.select(none, np.int32(-1), found)


# ---- quantiles -----------------------------------------------------------------------------------

_METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


@operation
def quantile(
    x: TensorLike, q: TensorLike, axis: Axis = None, method: Any = "linear", keepdims: bool = False,
) -> Tensor:  # fmt: skip
    """Return the numbers below which the fractions `q` of the elements lie.

    Args:
        x: a tensor; integers become floats. A slice with NaN has the quantile NaN.
        q: fractions from 0 to 1, of any shape; their axes come first in the result.
        axis: the axes to reduce, by default all.
        method: the value between two elements: "linear" interpolation, their "midpoint", or the
            "lower", "higher" or "nearest" of both.
        keepdims: keep the reduced axes with size 1.

    >>> from framework import keras
    >>> keras.ops.quantile([1.0, 2.0, 4.0], [0.5, 0.75]).numpy()
    array([2., 3.], dtype=float32)
    """
    x = floating(x)
    rows, axes = _rows(x, axis, "quantile")
    missing = ops.reduce_any(elementwise.is_nan(rows), axis=(rows.ndim - 1,), keepdims=False)
    count = np.asarray(rows.shape[-1] - 1, np.float32)
    found = _at_fractions(rows, q, count, method, "quantile")
    return _with_axes(_nan_where(missing, found), x, q, axes, keepdims)


@operation
def nanquantile(
    x: TensorLike, q: TensorLike, axis: Axis = None, method: Any = "linear", keepdims: bool = False,
) -> Tensor:  # fmt: skip
    """Return the `quantile` of the elements that are not NaN; NaN if there are none."""
    x = floating(x)
    rows, axes = _rows(x, axis, "nanquantile")
    here = as_dtype(elementwise.logical_not(elementwise.is_nan(rows)), "float32")
    count = ops.reduce_sum(here, axis=(rows.ndim - 1,), keepdims=False)
    found = _at_fractions(rows, q, elementwise.maximum(count - 1, 0.0), method, "nanquantile")
    found = _nan_where(elementwise.equal(count, 0), found)
    return _with_axes(found, x, q, axes, keepdims)


def _rows(x, axis, what):
    """Return `x` with the reduced axes merged into the last one, and these axes."""
    axes = all_axes(axis, x.ndim, what)
    rest = tuple(i for i in range(x.ndim) if i not in axes)
    moved = movement.transpose(x, perm=rest + axes)
    return movement.reshape(moved, shape=(*(x.shape[i] for i in rest), -1)), axes


def _at_fractions(rows, q, last, method, what):
    """Return the quantiles of the rows, the axis of `q` first.

    Args:
        last: the index of the largest element: one for all rows, or one for each row.
    """
    if method not in _METHODS:
        raise InvalidArgumentError(f"{what}: `method` must be one of {_METHODS}, got {method!r}.")
    plain_numbers = q.ravel().tolist() if isinstance(q, np.ndarray) else nest.flatten(q)
    for fraction in plain_numbers:
        if isinstance(fraction, (int, float)) and not 0 <= fraction <= 1:
            raise InvalidArgumentError(f"{what}: q: expected numbers from 0 to 1, got {fraction}.")
    ordered = movement.take_along_axis(
        rows, movement.argsort(rows, axis=rows.ndim - 1), axis=rows.ndim - 1
    )
    fractions = movement.reshape(as_dtype(q, "float32"), shape=(-1,) + (1,) * (rows.ndim - 1))
    place = fractions * last
    low, high = elementwise.floor(place), elementwise.ceil(place)
    if method == "nearest":
        low = high = elementwise.ceil(place - 0.5)
    elif method != "linear":
        low, high = {"lower": (low, low), "higher": (high, high), "midpoint": (low, high)}[method]
    below, above = (_taken(ordered, at) for at in (low, high))
    if method in ("nearest", "lower", "higher"):
        return below
    share = as_dtype(place - low if method == "linear" else 0.5, rows.dtype)
    mixed = below * (1 - share) + above * share
    # if both neighbors are the same infinite element, `mixed` is NaN because of inf * 0
    return elementwise.select(elementwise.equal(low, high), below, mixed)


def _taken(ordered, places):
    """Return the elements of the rows at `places`, whose shape is (fractions, rows or 1, ...)."""
    last = ordered.ndim - 1
    places = as_dtype(places, "int32")
    shape = (places.shape[0], *ordered.shape[:-1])
    places = movement.transpose(
        movement.broadcast_to(places, shape=shape), perm=(*range(1, last + 1), 0)
    )
    found = movement.take_along_axis(ordered, places, axis=last)
    return movement.transpose(found, perm=(last, *range(last)))


def _with_axes(found, x, q, axes, keepdims):
    """Return the quantiles with the axes of `q` first, and the reduced axes if they are kept."""
    shape = tuple(found.shape[1:])
    if keepdims:
        shape = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
    return movement.reshape(found, shape=(*tensor(q).shape, *shape))


def percentile(
    x: TensorLike, q: TensorLike, axis: Axis = None, method: Any = "linear", keepdims: bool = False,
) -> Tensor:  # fmt: skip
    """Return the `quantile` at `q` percent."""
    return quantile(x, _fractions(q), axis, method, keepdims)


def nanpercentile(
    x: TensorLike, q: TensorLike, axis: Axis = None, method: Any = "linear", keepdims: bool = False,
) -> Tensor:  # fmt: skip
    """Return the `nanquantile` at `q` percent."""
    return nanquantile(x, _fractions(q), axis, method, keepdims)


def _fractions(q):
    return elementwise.divide(floating(q), 100.0)


def median(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the median over the axes in `axis`; for an even count, the mean of the middle two."""
    return quantile(x, 0.5, axis, keepdims=keepdims)


def nanmedian(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the median of the elements that are not NaN."""
    return nanquantile(x, 0.5, axis, keepdims=keepdims)
