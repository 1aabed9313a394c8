"""tf.experimental.numpy.random: NumPy's random functions, seeded by `tf.random.set_seed`."""

from typing import Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import DTypeLike, TensorLike
from framework.core.numpy_rule import default_float
from framework.experimental.numpy.conversion import asarray
from framework.functions import distributions, sampling


def seed(s: Any) -> None:
    """Set the global seed."""
    sampling.set_seed(int(s))


def _shape(size):
    return () if size is None else tuple(np.asarray(size).reshape(-1).tolist())


def randn(*args: int) -> Any:
    """Draw standard normal numbers; the arguments are the shape of the result."""
    return sampling.normal(args, dtype=dtypes.as_dtype(default_float()))


def standard_normal(size: Any = None) -> Any:
    """Draw standard normal numbers in the shape `size`."""
    return randn(*_shape(size))


def uniform(low: TensorLike = 0.0, high: TensorLike = 1.0, size: Any = None) -> Any:
    """Draw uniform numbers from `low` to below `high`."""
    dtype = dtypes.as_dtype(default_float())
    low, high = asarray(low, dtype), asarray(high, dtype)
    shape = np.broadcast_shapes(tuple(low.shape), tuple(high.shape)) if size is None else size
    return sampling.uniform(_shape(shape), dtype=dtype) * (high - low) + low


def rand(*size: int) -> Any:
    """Draw uniform numbers from 0 to below 1; the arguments are the shape of the result."""
    return uniform(size=size)


def random(size: Any = None) -> Any:
    """Draw uniform numbers from 0 to below 1 in the shape `size`."""
    return uniform(size=_shape(size))


def randint(
    low: Any, high: Any = None, size: Any = None, dtype: DTypeLike = np.int64,
) -> Any:  # fmt: skip
    """Draw integers from [low, high), or from [0, low) if `high` is None."""
    first, last = (0, low) if high is None else (low, high)
    made = sampling.uniform(_shape(size), int(first), int(last), dtype=dtypes.int64)
    return asarray(made, dtype)


def poisson(lam: TensorLike = 1.0, size: Any = None) -> Any:
    """Draw int64 numbers from Poisson distributions with the means `lam`."""
    lam = asarray(lam, np.float64)
    shape = tuple(lam.shape) if size is None else _shape(size)
    # `distributions.poisson` appends the shape of lam to `counts`, so `counts` leaves it out
    counts = tuple(shape)[: len(shape) - lam.ndim]
    return distributions.poisson(counts, lam, dtype=dtypes.int64)
