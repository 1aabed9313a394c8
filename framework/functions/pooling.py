"""Pooling over one to three spatial axes; moving blocks of pixels into channels or the batch."""

import math
from typing import Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import DTypeLike, ShapeLike, TensorLike
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.tensor import Tensor
from framework.functions import windows
from framework.functions.creation import sizes
from framework.ops import elementwise, movement
from framework.ops import pool as ops

_KINDS = {"MAX": ops.max_pool, "AVG": ops.mean_pool}


def pool(
    input: TensorLike, window_shape: ShapeLike, pooling_type: Any, strides: Any = None,
    padding: Any = "VALID", data_format: Any = None, dilations: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Pool over one, two or three spatial axes.

    Args:
        input: of shape (batch, *spatial, channels).
        window_shape: an int, or one for each spatial axis.
        pooling_type: "MAX" or "AVG". The mean does not count padding.
        strides: an int, or one for each spatial axis; by default 1.
        padding: "VALID"; "SAME", for outputs of size ceil(input / stride); or a pair (before,
            after) for each axis of the input, (0, 0) for batch and channels.
        data_format: "NWC", "NHWC", "NDHWC", or channels first: "NCW", "NCHW", "NCDHW".
        dilations: the spacing of the window's elements: an int, or one for each spatial axis.

    >>> import framework as tf
    >>> tf.nn.pool([[[1.0], [5.0], [2.0]]], [2], "MAX").numpy().ravel()
    array([5., 5.], dtype=float32)
    """
    if pooling_type not in _KINDS:
        raise InvalidArgumentError(
            f"pool: `pooling_type` must be 'MAX' or 'AVG', got {pooling_type!r}."
        )
    x = tensor(input)
    n = x.ndim - 2
    strides = 1 if strides is None else strides
    return _pooled(
        _KINDS[pooling_type], n, x, window_shape, strides, padding, data_format, dilations, "pool"
    )


def max_pool(
    input: TensorLike, ksize: Any, strides: Any, padding: Any, data_format: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the maximum of each window, over the spatial axes of `input`.

    Args:
        input: of shape (batch, *spatial, channels).
        ksize: the window's size: an int, or one for each spatial axis.
        strides, padding, data_format: as in `pool`.

    The first of equal maxima gets the gradient.
    """
    x = tensor(input)
    return _pooled(
        ops.max_pool, x.ndim - 2, x, ksize, strides, padding, data_format, None, "max_pool"
    )


def avg_pool(
    input: TensorLike, ksize: Any, strides: Any, padding: Any, data_format: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the mean of each window, ignoring padding; the arguments are those of `max_pool`."""
    x = tensor(input)
    return _pooled(
        ops.mean_pool, x.ndim - 2, x, ksize, strides, padding, data_format, None, "avg_pool"
    )


def _of_rank(name, op, n, layout, sort):
    def pooling(input, ksize, strides, padding, data_format=layout, name=None):
        return _pooled(op, n, tensor(input), ksize, strides, padding, data_format, None, what)

    what = pooling.__name__ = pooling.__qualname__ = name
    axes = {1: "one spatial axis", 2: "two spatial axes", 3: "three spatial axes"}[n]
    pooling.__doc__ = f"Apply `{sort}` over {axes} of an input of shape {layout}."
    return pooling


max_pool1d = _of_rank("max_pool1d", ops.max_pool, 1, "NWC", "max_pool")
max_pool2d = _of_rank("max_pool2d", ops.max_pool, 2, "NHWC", "max_pool")
max_pool3d = _of_rank("max_pool3d", ops.max_pool, 3, "NDHWC", "max_pool")
avg_pool1d = _of_rank("avg_pool1d", ops.mean_pool, 1, "NWC", "avg_pool")
avg_pool2d = _of_rank("avg_pool2d", ops.mean_pool, 2, "NHWC", "avg_pool")
avg_pool3d = _of_rank("avg_pool3d", ops.mean_pool, 3, "NDHWC", "avg_pool")


def _pooled(op, n, x, ksize, strides, padding, data_format, dilations, what):
    first, window = _window(n, x, ksize, strides, padding, data_format, dilations, what)
    return windows.restored(op(windows.last(x, first), **window), first)


def _window(n, x, ksize, strides, padding, data_format, dilations, what):
    if not 1 <= n <= 3 or x.ndim != n + 2:
        axes = f"{n} spatial axes" if 1 <= n <= 3 else "one to three spatial axes"
        raise ShapeError(
            f"{what}: `input` must have shape (batch, {axes}, channels), got {x.shape}."
        )
    first = windows.channels_first(data_format, n, what)
    size = windows.per_axis(ksize, n, first, what, "ksize")
    padding = windows.amounts(padding, n, first, what)
    if padding != "SAME" and any(max(p) >= k for p, k in zip(padding, size)):
        raise InvalidArgumentError(
            f"{what}: expected padding smaller than the window {size}, since a window cannot lie "
            f"in the padding alone; got {padding}."
        )
    window = {
        "size": size,
        "strides": windows.per_axis(strides, n, first, what, "strides"),
        "padding": padding,
        "dilations": windows.per_axis(
            1 if dilations is None else dilations, n, first, what, "dilations"
        ),
    }
    windows.check_room(tuple(x.shape[2:] if first else x.shape[1:-1]), **window, what=what)
    return first, window


@operation
def max_pool_with_argmax(
    input: TensorLike, ksize: Any, strides: Any, padding: Any, data_format: Any = "NHWC",
    output_dtype: DTypeLike = dtypes.int64, include_batch_in_index: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the result of `max_pool2d`, and the positions of the maxima.

    Args:
        input: of shape (batch, height, width, channels).
        ksize, strides, padding: as in `max_pool`.
        data_format: "NHWC".
        output_dtype: the dtype of the positions, int64 or int32.
        include_batch_in_index: count positions over the whole batch instead of each image.

    Returns:
        (maxima, positions), of one shape; a position is (y * width + x) * channels + channel.
    """
    what = "max_pool_with_argmax"
    x = tensor(input)
    if data_format != "NHWC":
        raise InvalidArgumentError(f"{what}: `data_format` must be 'NHWC', got {data_format!r}.")
    _, window = _window(2, x, ksize, strides, padding, data_format, None, what)
    y = ops.max_pool(x, **window)
    batch, *spatial, channels = x.shape
    index = ops.max_index(x, **window) * channels + Tensor(np.arange(channels))
    if include_batch_in_index:
        starts = np.arange(batch)[:, None, None] * (math.prod(spatial) * channels)
        index = elementwise.add(index, Tensor(starts))
    index = movement.reshape(index, shape=windows.free(y.shape))
    return y, cast(index, dtype=dtypes.as_dtype(output_dtype).np)


# ---- blocks --------------------------------------------------------------------------------------


@operation
def space_to_depth(
    input: TensorLike, block_size: Any, data_format: Any = "NHWC", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Move each block of `block_size` x `block_size` pixels into the channels of one pixel.

    >>> import framework as tf
    >>> tf.nn.space_to_depth([[[[1], [2]], [[3], [4]]]], 2).numpy()
    array([[[[1, 2, 3, 4]]]], dtype=int32)
    """
    x, first, b = _blocks(input, block_size, data_format, "space_to_depth")
    batch, height, width, channels = x.shape
    if height % b or width % b:
        raise ShapeError(
            f"space_to_depth: block_size={b} does not divide height {height} and width {width}."
        )
    split = movement.reshape(
        x, shape=windows.free((batch, height // b, b, width // b, b, channels))
    )
    moved = movement.transpose(split, perm=(0, 1, 3, 2, 4, 5))
    y = movement.reshape(
        moved, shape=windows.free((batch, height // b, width // b, b * b * channels))
    )
    return windows.restored(y, first)


@operation
def depth_to_space(
    input: TensorLike, block_size: Any, data_format: Any = "NHWC", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Move the channels of each pixel into a block of `block_size` x `block_size` pixels."""
    x, first, b = _blocks(input, block_size, data_format, "depth_to_space")
    batch, height, width, channels = x.shape
    if channels % (b * b):
        raise ShapeError(
            f"depth_to_space: expected channels in a multiple of block_size² = {b * b}, got "
            f"{channels}."
        )
    inner = channels // (b * b)
    split = movement.reshape(x, shape=windows.free((batch, height, width, b, b, inner)))
    moved = movement.transpose(split, perm=(0, 1, 3, 2, 4, 5))
    y = movement.reshape(moved, shape=windows.free((batch, height * b, width * b, inner)))
    return windows.restored(y, first)


def _blocks(input, block_size, data_format, what):
    x, b = tensor(input), int(block_size)
    if x.ndim != 4:
        raise ShapeError(
            f"{what}: `input` must have shape (batch, height, width, channels), got {x.shape}."
        )
    if b < 2:
        raise InvalidArgumentError(f"{what}: `block_size` must be at least 2, got {b}.")
    first = windows.channels_first(data_format, 2, what)
    return windows.last(x, first), first, b


@operation
def space_to_batch(
    input: TensorLike, block_shape: ShapeLike, paddings: Any, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Move blocks into the batch: the pixels (i, j) of all blocks become one image.

    Args:
        input: of shape (batch, *spatial, ...).
        block_shape: the block's size along each of the first spatial axes.
        paddings: a pair (before, after) for each of these axes: zeros to add first.

    Returns:
        A tensor of shape (batch * product of block_shape, *padded spatial / block_shape, ...).
    """
    x = tensor(input)
    blocks = sizes(block_shape, "space_to_batch")
    n = len(blocks)
    pairs = tuple(tuple(int(p) for p in pair) for pair in np.asarray(tensor(paddings)).tolist())
    if x.ndim < n + 1 or len(pairs) != n:
        raise ShapeError(
            f"space_to_batch: expected {n} spatial axes and {n} paddings for block_shape={blocks}, "
            f"got an input of shape {x.shape} and paddings={pairs}."
        )
    rest = x.ndim - n - 1
    x = movement.pad(x, widths=((0, 0), *pairs, *((0, 0),) * rest))
    batch, *spatial = x.shape[: n + 1]
    if any(size % b for size, b in zip(spatial, blocks)):
        raise ShapeError(
            f"space_to_batch: block_shape={blocks} does not divide the padded sizes {spatial}."
        )
    tail = tuple(x.shape[n + 1 :])
    split = [part for size, b in zip(spatial, blocks) for part in (size // b, b)]
    x = movement.reshape(x, shape=(batch, *split, *tail))
    inside, across = range(2, 2 * n + 1, 2), range(1, 2 * n, 2)
    moved = movement.transpose(x, perm=(*inside, 0, *across, *range(2 * n + 1, x.ndim)))
    outer = tuple(size // b for size, b in zip(spatial, blocks))
    return movement.reshape(moved, shape=(batch * math.prod(blocks), *outer, *tail))


@operation
def batch_to_space(
    input: TensorLike, block_shape: ShapeLike, crops: Any, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Move the batch into blocks of pixels, and crop: the inverse of `space_to_batch`.

    Args:
        input: of shape (batch * product of block_shape, *spatial, ...).
        block_shape: the block's size along each of the first spatial axes.
        crops: a pair (before, after) for each of these axes: the pixels to remove.

    >>> import framework as tf
    >>> tf.batch_to_space([[[1]], [[3]], [[2]], [[4]]], [2, 2], [[0, 0], [0, 0]]).numpy().tolist()
    [[[1, 3], [2, 4]]]
    """
    x, what = tensor(input), "batch_to_space"
    blocks = sizes(block_shape, what)
    n, count = len(blocks), math.prod(blocks)
    pairs = tuple(tuple(int(p) for p in pair) for pair in np.asarray(tensor(crops)).tolist())
    if x.ndim < n + 1 or len(pairs) != n:
        raise ShapeError(
            f"{what}: expected {n} spatial axes and {n} crops for block_shape={blocks}, got an "
            f"input of shape {x.shape} and crops={pairs}."
        )
    batch, *spatial = x.shape[: n + 1]
    if batch % count:
        raise ShapeError(
            f"{what}: Input batch dimension ({batch}) is not divisible by product of block sizes "
            f"({count})."
        )
    grown = [size * b for size, b in zip(spatial, blocks)]
    for axis, (size, pair) in enumerate(zip(grown, pairs)):
        if min(pair) < 0 or size - sum(pair) < 0:
            raise ShapeError(
                f"{what}: cropped_shape[{axis}]={size - sum(pair)} must be non-negative, got "
                f"crops={pair} of {size} pixels."
            )
    tail = tuple(x.shape[n + 1 :])
    x = movement.reshape(x, shape=(*blocks, batch // count, *spatial, *tail))
    pixels = [axis for k in range(n) for axis in (n + 1 + k, k)]
    x = movement.transpose(x, perm=(n, *pixels, *range(2 * n + 1, x.ndim)))
    x = movement.reshape(x, shape=(batch // count, *grown, *tail))
    kept = [slice(before, size - after) for size, (before, after) in zip(grown, pairs)]
    return movement.getitem(x, index=(slice(None), *kept))
