"""Functions of keras.random: draws from the global generator, a SeedGenerator or a seed."""

from typing import Any

from framework.core import dtypes, random
from framework.core.argument_types import Axis, DTypeLike, ShapeLike, TensorLike
from framework.core.axes import one_axis
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError
from framework.core.operations import always, operation
from framework.core.random import SeedGenerator
from framework.core.tensor import Tensor
from framework.functions.neural import dropped
from framework.functions.sampling import drawn_classes
from framework.keras.ops.argument_conversion import floating, ints
from framework.ops import movement


def source_of(seed):
    if seed is None:
        return random.global_generator()
    if isinstance(seed, SeedGenerator):
        return seed
    if isinstance(seed, bool) or not hasattr(seed, "__index__"):
        raise InvalidArgumentError(
            f"`seed` must be an int, a keras.random.SeedGenerator or None, got {seed!r}."
        )
    return random.Stateless(seed)


def _drawn(distribution, shape, dtype, seed, a, b):
    dtype = dtypes.floatx() if dtype is None else dtypes.as_dtype(dtype)
    return random.draw(source_of(seed), distribution, ints(shape), dtype, a, b)


@operation
def uniform(
    shape: ShapeLike, minval: TensorLike = 0.0, maxval: TensorLike = 1.0, dtype: DTypeLike = None,
    seed: Any = None,
) -> Tensor:  # fmt: skip
    """Draw uniformly distributed numbers from `minval` to below `maxval`.

    Args:
        shape: the shape of the result.
        minval, maxval: numbers.
        dtype: by default floatx.
        seed: an int for the same numbers at each call, a SeedGenerator, or None.

    >>> from framework import keras
    >>> a, b = keras.random.uniform((2,), seed=1), keras.random.uniform((2,), seed=1)
    >>> bool(keras.ops.all(a == b))
    True
    """
    return _drawn("uniform", shape, dtype, seed, float(minval), float(maxval))


@operation
def normal(
    shape: ShapeLike, mean: TensorLike = 0.0, stddev: TensorLike = 1.0, dtype: DTypeLike = None,
    seed: Any = None,
) -> Tensor:  # fmt: skip
    """Draw normally distributed numbers."""
    return _drawn("normal", shape, dtype, seed, float(mean), float(stddev))


@operation
def truncated_normal(
    shape: ShapeLike, mean: TensorLike = 0.0, stddev: TensorLike = 1.0, dtype: DTypeLike = None,
    seed: Any = None,
) -> Tensor:  # fmt: skip
    """Draw normal numbers within two standard deviations of the mean."""
    return _drawn("truncated_normal", shape, dtype, seed, float(mean), float(stddev))


@operation
def randint(
    shape: ShapeLike, minval: TensorLike, maxval: TensorLike, dtype: DTypeLike = "int32",
    seed: Any = None,
) -> Tensor:  # fmt: skip
    """Draw uniformly distributed integers from `minval` to below `maxval`."""
    if not dtypes.as_dtype(dtype).is_integer:
        raise InvalidArgumentError(f"randint: `dtype` must be an integer dtype, got {dtype!r}.")
    return _drawn("integers", shape, dtype, seed, int(minval), int(maxval))


@always
def categorical(
    logits: TensorLike, num_samples: Any, dtype: DTypeLike = "int32", seed: Any = None,
) -> Tensor:  # fmt: skip
    """Draw classes with the probabilities softmax(`logits`), `num_samples` for each row."""
    return drawn_classes(source_of(seed), floating(logits), num_samples, dtype, "categorical")


@always
def dropout(
    inputs: TensorLike, rate: Any, noise_shape: ShapeLike = None, seed: Any = None
) -> Tensor:
    """Set each element to 0 with probability `rate`; divide the others by 1 - `rate`."""
    return dropped(source_of(seed), floating(inputs), rate, noise_shape)


@always
def shuffle(x: TensorLike, axis: Axis = 0, seed: Any = None) -> Tensor:
    """Shuffle the slices of `x` along `axis`."""
    x = tensor(x)
    axis = one_axis(axis, x.ndim, "shuffle")
    keys = random.draw(source_of(seed), "uniform", (x.shape[axis],), dtypes.float64)
    return movement.gather(x, movement.argsort(keys, axis=0), axis=axis)
