"""Means and variances: plain, weighted, or from sums accumulated over batches."""

import math
from typing import Any

import numpy as np

from framework.core.argument_types import Axis, TensorLike
from framework.core.axes import all_axes
from framework.core.conversion import tensor
from framework.core.operations import operation
from framework.core.promotion import floating, strict, strict_all
from framework.core.tensor import Tensor
from framework.ops import elementwise, movement, reduction
from framework.ops.casting import like, widened


def moments(
    x: TensorLike, axes: Axis, shift: Any = None, keepdims: bool = False, name: str | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the mean and the variance over `axes`.

    Args:
        x: a tensor.
        axes: an int or a list of ints.
        shift: ignored.
        keepdims: keep the axes with size 1.
    """
    source = tensor(x)
    # the mean of integers is truncated to an integer, as in TensorFlow
    x = widened(source) if source.dtype.is_inexact else source
    axes, keepdims = all_axes(axes, x.ndim, "moments"), bool(keepdims)
    mean = reduction.reduce_mean(x, axis=axes, keepdims=True)
    variance = reduction.reduce_mean(elementwise.square(x - mean), axis=axes, keepdims=keepdims)
    if not keepdims:
        mean = movement.reshape(mean, shape=tuple(variance.shape))
    return like(mean, source), like(variance, source)


@operation
def weighted_moments(
    x: TensorLike, axes: Axis, frequency_weights: Any, keepdims: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the weighted mean and variance over `axes`.

    Args:
        x: a tensor.
        axes: an int or a list of ints.
        frequency_weights: a number or tensor that broadcasts to the shape of `x`.
        keepdims: keep the axes with size 1.

    >>> import framework as tf
    >>> mean, variance = tf.nn.weighted_moments([1.0, 5.0], [0], [3.0, 1.0])
    >>> mean.numpy(), variance.numpy()
    (np.float32(2.0), np.float32(3.0))
    """
    x = floating(x, "weighted_moments")
    x, weights = strict_all(x, frequency_weights)
    weights = movement.broadcast_to(weights, shape=tuple(x.shape))
    axes, keepdims = all_axes(axes, x.ndim, "weighted_moments"), bool(keepdims)
    total = reduction.reduce_sum(weights, axis=axes, keepdims=True)
    mean = reduction.reduce_sum(weights * x, axis=axes, keepdims=True) / total
    squares = weights * elementwise.square(x - mean)
    variance = reduction.reduce_sum(squares, axis=axes, keepdims=True) / total
    if keepdims:
        return mean, variance
    shape = tuple(n for i, n in enumerate(x.shape) if i not in axes)
    return movement.reshape(mean, shape=shape), movement.reshape(variance, shape=shape)


@operation
def sufficient_statistics(
    x: TensorLike, axes: Axis, shift: Any = None, keepdims: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Return the sums for `normalize_moments`; they can be added up over batches.

    Args:
        x: a tensor.
        axes: an int or a list of ints.
        shift: None, or a number to subtract from `x` first, for precision.
        keepdims: keep the axes with size 1.

    Returns:
        (count of elements, sum of x - shift, sum of (x - shift)², shift as a tensor or None).
    """
    x = floating(x, "sufficient_statistics")
    axes, keepdims = all_axes(axes, x.ndim, "sufficient_statistics"), bool(keepdims)
    count = Tensor(np.asarray(math.prod(x.shape[i] for i in axes), x.dtype.np))
    if shift is not None:
        x, shift = strict_all(x, shift)
        x = elementwise.subtract(x, shift)
    total = reduction.reduce_sum(x, axis=axes, keepdims=keepdims)
    squares = reduction.reduce_sum(elementwise.square(x), axis=axes, keepdims=keepdims)
    return count, total, squares, shift


@operation
def normalize_moments(
    counts: TensorLike, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the mean and the variance from the results of `sufficient_statistics`.

    >>> import framework as tf
    >>> x = tf.constant([1.0, 2.0, 6.0])
    >>> mean, variance = tf.nn.normalize_moments(*tf.nn.sufficient_statistics(x, [0], shift=2.0))
    >>> mean.numpy(), variance.numpy()
    (np.float32(3.0), np.float32(4.6666665))
    """
    mean_ss, variance_ss = strict(mean_ss, variance_ss)
    moved = elementwise.divide(*strict(mean_ss, counts))
    mean = moved if shift is None else elementwise.add(*strict(moved, shift))
    mean_square = elementwise.divide(*strict(variance_ss, counts))
    return mean, elementwise.subtract(mean_square, elementwise.square(moved))
