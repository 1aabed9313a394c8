"""keras.ops: pooling, and normalization by the root mean square."""

from typing import Any

from framework.core.argument_types import Axis, TensorLike
from framework.core.axes import all_axes
from framework.core.conversion import tensor
from framework.core.dtypes import epsilon as _epsilon
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.program_settings import data_format_of
from framework.core.promotion import promote
from framework.core.tensor import Tensor
from framework.keras.ops.argument_conversion import floating
from framework.ops import elementwise as _e
from framework.ops import movement as _m
from framework.ops import pool as _pool
from framework.ops import reduction as _r
from framework.ops import windowed
from framework.ops.casting import like, widened


def _operand(inputs, data_format, what):
    """Return the tensor, its number of spatial axes, and whether its channels come first."""
    x = tensor(inputs)
    axes = x.ndim - 2
    if not 1 <= axes <= 3:
        raise ShapeError(
            f"{what}: `inputs` must have a batch, one to three spatial axes and channels, got "
            f"shape {tuple(x.shape)}."
        )
    return x, axes, data_format_of(data_format, f"{what}: ") == "channels_first"


def _sizes(value, axes, what, name):
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,) * axes
    if len(values) != axes or any(not hasattr(n, "__index__") or n < 1 for n in values):
        raise InvalidArgumentError(
            f"{what}: `{name}` must be a positive integer or {axes} of them, got {value!r}."
        )
    return tuple(int(n) for n in values)


def _slide(op, inputs, pool_size, strides, padding, data_format, what):
    x, axes, first = _operand(inputs, data_format, what)
    if not isinstance(padding, str) or padding.lower() not in ("valid", "same"):
        raise InvalidArgumentError(f"{what}: `padding` must be 'valid' or 'same', got {padding!r}.")
    return windowed.slide(
        op, x, size=_sizes(pool_size, axes, what, "pool_size"),
        strides=_sizes(pool_size if strides is None else strides, axes, what, "strides"),
        padding=padding.lower(), first=first, what=what,
    )  # fmt: skip


def max_pool(
    inputs: TensorLike, pool_size: Any, strides: Any = None, padding: Any = "valid",
    data_format: Any = None,
) -> Tensor:  # fmt: skip
    """Return the largest element of each sliding window.

    Args:
        inputs: (batch, spatial axes, channels).
        pool_size: an int, or one for each spatial axis.
        strides: likewise; by default `pool_size`.
        padding: "valid" or "same".
        data_format: "channels_last" or "channels_first".

    >>> import numpy as np
    >>> from framework import keras
    >>> keras.ops.max_pool(np.arange(4.0).reshape(1, 4, 1), 2).numpy().ravel()
    array([1., 3.])
    """
    return _slide(_pool.max_pool, inputs, pool_size, strides, padding, data_format, "max_pool")


def average_pool(
    inputs: TensorLike, pool_size: Any, strides: Any = None, padding: Any = "valid",
    data_format: Any = None,
) -> Tensor:  # fmt: skip
    """Return the mean of each window, ignoring padding; the arguments are those of `max_pool`."""
    x = floating(inputs)
    return _slide(_pool.mean_pool, x, pool_size, strides, padding, data_format, "average_pool")


def _adapted(pool, inputs, output_size, data_format, what):
    x, axes, first = _operand(inputs, data_format, what)
    sizes = _sizes(output_size, axes, what, "output_size")
    return pool(x, sizes=sizes, first=first, what=what)


@operation
def adaptive_max_pool(inputs: TensorLike, output_size: Any, data_format: Any = None) -> Tensor:
    """Return the largest element of each of `output_size` evenly spread windows.

    Args:
        output_size: an int, or one for each spatial axis.
        data_format: "channels_last" or "channels_first".
    """
    pool = windowed.adaptive_max
    return _adapted(pool, inputs, output_size, data_format, "adaptive_max_pool")


@operation
def adaptive_average_pool(inputs: TensorLike, output_size: Any, data_format: Any = None) -> Tensor:
    """Return the mean of each of `output_size` evenly spread windows."""
    pool = windowed.adaptive_mean
    return _adapted(pool, inputs, output_size, data_format, "adaptive_average_pool")


def rms_normalization(
    x: TensorLike, scale: TensorLike = None, axis: Axis = -1, epsilon: Any = None,
) -> Tensor:  # fmt: skip
    """Return x divided by its root mean square along `axis`, times `scale`.

    >>> from framework import keras
    >>> keras.ops.rms_normalization([3.0, -3.0]).numpy().round(3)
    array([ 1., -1.], dtype=float32)
    """
    x = floating(x)
    axes = all_axes(axis, x.ndim, "rms_normalization")
    wide = widened(x)
    mean = _r.reduce_mean(_e.square(wide), axis=axes, keepdims=True)
    y = wide * _e.rsqrt(mean + (_epsilon() if epsilon is None else epsilon))
    if scale is not None:
        scale = tensor(scale)
        if scale.ndim == len(axes):
            shape = tuple(n if i in axes else 1 for i, n in enumerate(x.shape))
            scale = _m.reshape(scale, shape=shape)
        y = _e.multiply(*promote(y, scale))
    return like(y, x)
