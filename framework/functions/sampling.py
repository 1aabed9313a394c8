"""TensorFlow's random functions. Each call uses its own Philox stream (see `core/random.py`)."""

from typing import Any

import numpy as np

from framework.core import dtypes, random
from framework.core.argument_types import DTypeLike, ShapeLike, TensorLike
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.operations import always, operation
from framework.core.promotion import floating
from framework.core.random import set_seed as _set_seed
from framework.core.tensor import Tensor
from framework.functions.creation import sizes
from framework.ops import elementwise, movement, reduction


def set_seed(seed: Any) -> None:
    """Seed the global generator: `seed` determines all later draws.

    >>> import framework as tf
    >>> tf.random.set_seed(1)
    >>> a = tf.random.normal([2])
    >>> tf.random.set_seed(1)
    >>> bool(tf.reduce_all(a == tf.random.normal([2])))
    True
    """
    if not hasattr(seed, "__index__"):
        raise InvalidArgumentError(f"set_seed: `seed` must be an int, got {seed!r}.")
    _set_seed(int(seed))


def source_of(seed):
    """Return the generator for `seed`, which is kept between calls; for None the global one."""
    return random.global_generator() if seed is None else random.seeded(int(seed))


def once(seed, what):
    """Return the source of random numbers for one call of a stateless function with `seed`."""
    found = np.asarray(seed)
    if found.shape != (2,) or found.dtype.kind not in "iu":
        raise InvalidArgumentError(f"{what}: `seed` must be two integers, got {seed!r}.")
    return random.Stateless(int(found[0]), int(found[1]))


def float_dtype(dtype, what):
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise InvalidArgumentError(f"{what}: expected a floating dtype, got {dtype}.")
    return dtype


def located(source, distribution, shape, dtype, mean, stddev, what):
    """Draw numbers with a mean and a standard deviation; both get gradients if they are tensors."""
    dtype, shape = float_dtype(dtype, what), sizes(shape, what)
    if isinstance(mean, (int, float)) and isinstance(stddev, (int, float)):
        return random.draw(source, distribution, shape, dtype, float(mean), float(stddev))
    unit = random.draw(source, distribution, shape, dtype)
    mean, stddev = tensor(mean, dtype), tensor(stddev, dtype)
    return elementwise.add(elementwise.multiply(unit, stddev), mean)


def between(source, shape, dtype, low, high, what):
    dtype, shape = dtypes.as_dtype(dtype), sizes(shape, what)
    if dtype.is_integer:
        if high is None:
            raise InvalidArgumentError(f"{what}: `maxval` is required for integers.")
        low, high = int(low), int(high)
        if low >= high:
            raise InvalidArgumentError(f"{what}: minval={low} must be below maxval={high}.")
        return random.draw(source, "integers", shape, dtype, low, high)
    high = 1.0 if high is None else high
    dtype = float_dtype(dtype, what)
    if isinstance(low, (int, float)) and isinstance(high, (int, float)):
        return random.draw(source, "uniform", shape, dtype, float(low), float(high))
    low, high = tensor(low, dtype), tensor(high, dtype)
    return located(source, "uniform", shape, dtype, low, high - low, what)


@operation
def normal(
    shape: ShapeLike, mean: TensorLike = 0.0, stddev: TensorLike = 1.0,
    dtype: DTypeLike = dtypes.float32, seed: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Draw normally distributed numbers.

    Args:
        shape: the shape of the result.
        mean, stddev: numbers, arrays, or tensors of this dtype, that broadcast to `shape`.
        dtype: a floating dtype.
        seed: an int that seeds a separate generator; None for the global generator.
    """
    return located(source_of(seed), "normal", shape, dtype, mean, stddev, "normal")


@operation
def truncated_normal(
    shape: ShapeLike, mean: TensorLike = 0.0, stddev: TensorLike = 1.0,
    dtype: DTypeLike = dtypes.float32, seed: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Draw normal numbers within two standard deviations of the mean."""
    source = source_of(seed)
    return located(source, "truncated_normal", shape, dtype, mean, stddev, "truncated_normal")


@operation
def uniform(
    shape: ShapeLike, minval: TensorLike = 0, maxval: TensorLike = None,
    dtype: DTypeLike = dtypes.float32, seed: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Draw uniform numbers from `minval` to below `maxval`, by default 1.

    >>> import framework as tf
    >>> tf.random.uniform([2, 3], 0, 10, dtype=tf.int32).shape
    TensorShape([2, 3])
    """
    return between(source_of(seed), shape, dtype, minval, maxval, "uniform")


@operation
def stateless_normal(
    shape: ShapeLike, seed: Any, mean: TensorLike = 0.0, stddev: TensorLike = 1.0,
    dtype: DTypeLike = dtypes.float32, name: str | None = None, alg: Any = "auto_select",
) -> Tensor:  # fmt: skip
    """Draw normal numbers determined by `seed`, two integers."""
    source = once(seed, "stateless_normal")
    return located(source, "normal", shape, dtype, mean, stddev, "stateless_normal")


@operation
def stateless_truncated_normal(
    shape: ShapeLike, seed: Any, mean: TensorLike = 0.0, stddev: TensorLike = 1.0,
    dtype: DTypeLike = dtypes.float32, name: str | None = None, alg: Any = "auto_select",
) -> Tensor:  # fmt: skip
    """Draw truncated normal numbers determined by `seed`, two integers."""
    what = "stateless_truncated_normal"
    return located(once(seed, what), "truncated_normal", shape, dtype, mean, stddev, what)


@operation
def stateless_uniform(
    shape: ShapeLike, seed: Any, minval: TensorLike = 0, maxval: TensorLike = None,
    dtype: DTypeLike = dtypes.float32, name: str | None = None, alg: Any = "auto_select",
) -> Tensor:  # fmt: skip
    """Draw uniform numbers determined by `seed`, two integers."""
    source = once(seed, "stateless_uniform")
    return between(source, shape, dtype, minval, maxval, "stateless_uniform")


@always
def shuffle(value: TensorLike, seed: Any = None, name: str | None = None) -> Tensor:
    """Shuffle the rows of `value`."""
    x = tensor(value)
    if not x.ndim:
        raise ShapeError("shuffle: expected a tensor of rank 1 or more, got a 0-d tensor.")
    keys = random.draw(source_of(seed), "uniform", (x.shape[0],), dtypes.float64)
    return movement.gather(x, movement.argsort(keys, axis=0), axis=0)


@always
def categorical(
    logits: TensorLike, num_samples: Any, dtype: DTypeLike = None, seed: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Draw classes with the probabilities softmax(logits), for each row of `logits`.

    Args:
        logits: of shape (rows, classes).
        num_samples: the number of draws for each row.
        dtype: by default int64.
        seed: as in `normal`.

    Returns:
        A tensor of shape (rows, num_samples).
    """
    return drawn_classes(source_of(seed), logits, num_samples, dtype or dtypes.int64, "categorical")


@always
def stateless_categorical(
    logits: TensorLike, num_samples: Any, seed: Any, dtype: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Draw classes as `categorical` does, determined by `seed`, two integers."""
    what = "stateless_categorical"
    return drawn_classes(once(seed, what), logits, num_samples, dtype, what)


def drawn_classes(source, logits, num_samples, dtype, what):
    """Draw classes by the maximum of logits + Gumbel noise (Gumbel 1954)."""
    logits = floating(logits, what)
    if logits.ndim != 2:
        raise ShapeError(f"{what}: `logits` must have shape (rows, classes), got {logits.shape}.")
    rows, classes = logits.shape
    if logits.dtype.size < 4:  # 16-bit floats cannot represent the tail of the Gumbel noise
        logits = cast(logits, dtype=np.dtype(np.float32))
    unit = random.draw(source, "uniform", (rows, int(num_samples), classes), logits.dtype)
    # at 0 the Gumbel noise would be infinite
    unit = elementwise.maximum(unit, np.finfo(unit.dtype.np).tiny)
    noise = elementwise.negative(elementwise.log(elementwise.negative(elementwise.log(unit))))
    noisy = elementwise.add(movement.expand_axes(logits, (1,)), noise)
    return reduction.argmax(noisy, axis=2, dtype=dtypes.as_dtype(dtype).np)


# ---- seeds of stateless draws --------------------------------------------------------------------


@operation
def split(seed: TensorLike, num: Any = 2, alg: Any = "auto_select") -> Tensor:
    """Return `num` new seeds of shape (num, 2) for stateless functions, all different.

    Args:
        seed: two integers.
        num: how many seeds.
        alg: ignored; the algorithm is always Philox.

    >>> import framework as tf
    >>> tf.random.split([1, 2], num=3).shape
    TensorShape([3, 2])
    """
    seed = tensor(seed)
    return random.draw(once(seed, "split"), "bits", (int(num), 2), seed.dtype)


@operation
def fold_in(seed: TensorLike, data: TensorLike, alg: Any = "auto_select") -> Tensor:
    """Return a new seed of two integers, determined by `seed` and the integer `data`.

    >>> import framework as tf
    >>> a, b = tf.random.fold_in([1, 2], 0), tf.random.fold_in([1, 2], 1)
    >>> bool(tf.reduce_all(a == b))
    False
    """
    seed, data = tensor(seed), tensor(data)
    if data.ndim or not data.dtype.is_integer:
        raise InvalidArgumentError(
            f"fold_in: `data` must be one integer, got {data.dtype} of shape {data.shape}."
        )
    first = random.draw(once(seed, "fold_in"), "bits", (), data.dtype)
    return movement.stack(first, data, axis=0)
