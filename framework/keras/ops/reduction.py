"""Functions of keras.ops that reduce axes, such as sums, maxima and argmax.

>>> from framework import keras
>>> keras.ops.sum([[1.0, 2.0], [3.0, 4.0]], axis=-1).numpy()
array([3., 7.], dtype=float32)
"""

from typing import Any

import numpy as np

from framework.core.argument_types import Axis, DTypeLike, TensorLike
from framework.core.axes import all_axes, one_axis
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.errors import ShapeError
from framework.core.promotion import promote
from framework.core.tensor import Tensor
from framework.functions import reduction as tf
from framework.functions.wrappers import Rule
from framework.keras.ops.argument_conversion import as_dtype, floating, summed_dtype
from framework.keras.ops.wrappers import KerasWrappers, floats, truths
from framework.ops import elementwise, movement
from framework.ops import reduction as ops
from framework.ops.casting import like, widened
from framework.ops.complex import is_complex, squared_size


def _summed(x):
    x = tensor(x)
    return as_dtype(x, summed_dtype(x.dtype))


keras = KerasWrappers(__name__)

sum = keras.reduction(tf.reduce_sum, rule=Rule(_summed, "fc"), name="sum")
mean = keras.reduction(tf.reduce_mean, "the mean {over}; integers give a float", floats, "mean")
any = keras.reduction(tf.reduce_any, "whether any element is not 0, {over}", truths, "any")
all = keras.reduction(tf.reduce_all, "whether all elements are not 0, {over}", truths, "all")
logsumexp = keras.reduction(tf.reduce_logsumexp, rule=floats, name="logsumexp")


def prod(
    x: TensorLike, axis: Axis = None, keepdims: bool = False, dtype: DTypeLike = None,
) -> Tensor:  # fmt: skip
    """Return the product over the axes in `axis`."""
    x = _summed(x) if dtype is None else as_dtype(x, dtype)
    return ops.reduce_prod(x, axis=all_axes(axis, x.ndim, "prod"), keepdims=bool(keepdims))


def var(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the variance (the divisor is n, not n - 1)."""
    x = floating(x)
    variance = _variance(x, axis, keepdims, "var")
    return variance if is_complex(x) else like(variance, x)


def _variance(x, axis, keepdims, what):
    x, axis = widened(x), all_axes(axis, x.ndim, what)
    centre = ops.reduce_mean(x, axis=axis, keepdims=True)
    return ops.reduce_mean(squared_size(x - centre), axis=axis, keepdims=bool(keepdims))


def std(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the standard deviation; where it is 0, its gradient is 0."""
    x = floating(x)
    deviation = elementwise.root(_variance(x, axis, keepdims, "std"))
    return deviation if is_complex(x) else like(deviation, x)


def average(x: TensorLike, axis: Axis = None, weights: TensorLike = None) -> Tensor:
    """Return the mean, weighted by `weights` if given."""
    if weights is None:
        return mean(x, axis)
    x, weights = promote(floating(x), weights)
    if tuple(weights.shape) != tuple(x.shape):
        axis = one_axis(axis, x.ndim, "average")
        if weights.ndim != 1 or weights.shape[0] != x.shape[axis]:
            raise ShapeError(
                f"average: `weights` of shape {tuple(weights.shape)} do not fit x of shape "
                f"{tuple(x.shape)} along axis {axis}: expected that shape, or one weight for each "
                "position of the axis."
            )
        shape = [1] * x.ndim
        shape[axis] = weights.shape[0]
        weights = movement.reshape(weights, shape=tuple(shape))
    axes = all_axes(axis, x.ndim, "average")
    total = ops.reduce_sum(x * weights, axis=axes, keepdims=False)
    return elementwise.divide(total, ops.reduce_sum(weights, axis=axes, keepdims=False))


def max(x: TensorLike, axis: Axis = None, keepdims: bool = False, initial: Any = None) -> Tensor:
    """Return the largest element over the axes in `axis`, or `initial` if that is larger."""
    x = tensor(x)
    found = ops.reduce_max(x, axis=all_axes(axis, x.ndim, "max"), keepdims=bool(keepdims))
    return found if initial is None else elementwise.maximum(found, as_dtype(initial, x.dtype))


def min(x: TensorLike, axis: Axis = None, keepdims: bool = False, initial: Any = None) -> Tensor:
    """Return the smallest element over the axes in `axis`, or `initial` if that is smaller."""
    x = tensor(x)
    found = ops.reduce_min(x, axis=all_axes(axis, x.ndim, "min"), keepdims=bool(keepdims))
    return found if initial is None else elementwise.minimum(found, as_dtype(initial, x.dtype))


def amax(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the largest element over the axes in `axis`."""
    return max(x, axis, keepdims)


def amin(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the smallest element over the axes in `axis`."""
    return min(x, axis, keepdims)


def ptp(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the difference of the largest and the smallest element."""
    return elementwise.subtract(max(x, axis, keepdims), min(x, axis, keepdims))


def count_nonzero(x: TensorLike, axis: Axis = None) -> Tensor:
    """Count the nonzero elements over the axes in `axis`, in int32."""
    return sum(cast(as_dtype(x, "bool"), dtype=np.dtype(np.int32)), axis)


def argmax(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the int32 index of the largest element along `axis`; None flattens first."""
    return _position(ops.argmax, x, axis, keepdims, "argmax")


def argmin(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the int32 index of the smallest element along `axis`; None flattens first."""
    return _position(ops.argmin, x, axis, keepdims, "argmin")


def _position(op, x, axis, keepdims, what):
    x = tensor(x)
    rank = x.ndim
    if axis is None:
        found = op(movement.reshape(x, shape=(-1,)), axis=0, dtype=np.dtype(np.int32))
        return movement.reshape(found, shape=(1,) * rank) if keepdims else found
    axis = one_axis(axis, rank, what)
    found = op(x, axis=axis, dtype=np.dtype(np.int32))
    return movement.expand_axes(found, (axis,)) if keepdims else found


def cumsum(x: TensorLike, axis: Axis = None, dtype: DTypeLike = None) -> Tensor:
    """Return the cumulative sum along `axis`; None flattens first."""
    x = tensor(x)
    if dtype is not None or x.dtype.is_bool:
        x = as_dtype(x, "int32" if dtype is None else dtype)
    if axis is None:
        x, axis = movement.reshape(x, shape=(-1,)), 0
    return ops.cumsum(x, axis=one_axis(axis, x.ndim, "cumsum"), reverse=False)


def moments(
    x: TensorLike, axes: Axis, keepdims: bool = False, synchronized: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the mean and the variance over `axes`."""
    return mean(x, axes, keepdims), var(x, axes, keepdims)
