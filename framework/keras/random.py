"""keras.random: draws from the global generator or a SeedGenerator; with an int always the same."""

from framework.core import dtypes as _dtypes, random as _random
from framework.core.axes import one_axis as _one_axis
from framework.core.doors import tensor as _tensor
from framework.core.errors import InvalidArgumentError as _InvalidArgumentError
from framework.core.operations import always as _always, operation as _operation
from framework.core.random import SeedGenerator as SeedGenerator
from framework.functions.neural import dropped as _dropped
from framework.functions.sampling import drawn_classes as _drawn_classes
from framework.keras.ops.door import floating as _floating, ints as _ints
from framework.ops import movement as _movement


def _source(seed):
    if seed is None:
        return _random.global_generator()
    if isinstance(seed, SeedGenerator):
        return seed
    if isinstance(seed, bool) or not hasattr(seed, "__index__"):
        raise _InvalidArgumentError(
            f"`seed` must be an int, a keras.random.SeedGenerator or None, got {seed!r}."
        )
    return _random.Stateless(seed)


def _drawn(distribution, shape, dtype, seed, a, b):
    dtype = _dtypes.floatx() if dtype is None else _dtypes.as_dtype(dtype)
    return _random.draw(_source(seed), distribution, _ints(shape), dtype, a, b)


@_operation
def uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
    """Numbers from `minval` to below `maxval`, all equally likely.

    Args:
        shape: of the result.
        minval, maxval: numbers.
        dtype: floatx where None.
        seed: an int for the same numbers at each call, a SeedGenerator, or None.

    >>> from framework import keras
    >>> a, b = keras.random.uniform((2,), seed=1), keras.random.uniform((2,), seed=1)
    >>> bool(keras.ops.all(a == b))
    True
    """
    return _drawn("uniform", shape, dtype, seed, float(minval), float(maxval))


@_operation
def normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normally distributed numbers."""
    return _drawn("normal", shape, dtype, seed, float(mean), float(stddev))


@_operation
def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normal numbers; what lies beyond two standard deviations is drawn again."""
    return _drawn("truncated_normal", shape, dtype, seed, float(mean), float(stddev))


@_operation
def randint(shape, minval, maxval, dtype="int32", seed=None):
    """Integers from `minval` to below `maxval`, all equally likely."""
    if not _dtypes.as_dtype(dtype).is_integer:
        raise _InvalidArgumentError(f"randint: `dtype` must be an integer one, got {dtype!r}.")
    return _drawn("integers", shape, dtype, seed, int(minval), int(maxval))


@_always
def categorical(logits, num_samples, dtype="int32", seed=None):
    """Class numbers drawn with probabilities softmax(`logits`), `num_samples` for each row."""
    return _drawn_classes(_source(seed), _floating(logits), num_samples, dtype, "categorical")


@_always
def dropout(inputs, rate, noise_shape=None, seed=None):
    """Each element 0 with probability `rate`, otherwise divided by 1 - `rate`."""
    return _dropped(_source(seed), _floating(inputs), rate, noise_shape)


@_always
def shuffle(x, axis=0, seed=None):
    """The slices of `x` along `axis` in a random order."""
    x = _tensor(x)
    axis = _one_axis(axis, x.ndim, "shuffle")
    keys = _random.draw(_source(seed), "uniform", (x.shape[axis],), _dtypes.float64)
    return _movement.gather(x, _movement.argsort(keys, axis=0), axis=axis)
