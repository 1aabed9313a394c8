"""Functions of keras.random whose parameters are tensors: beta, binomial and gamma."""

from typing import Any

from framework.core import dtypes, random
from framework.core.argument_types import DTypeLike, ShapeLike, TensorLike
from framework.core.operations import always
from framework.core.tensor import Tensor
from framework.functions.distributions import binomial_numbers, parameter, shape_for
from framework.keras.functions.drawing import source_of
from framework.keras.ops.argument_conversion import ints


def _default(dtype):
    return dtypes.floatx() if dtype is None else dtypes.as_dtype(dtype)


@always
def gamma(
    shape: ShapeLike, alpha: TensorLike, dtype: DTypeLike = None, seed: Any = None,
) -> Tensor:  # fmt: skip
    """Draw gamma distributed numbers of scale 1.

    Args:
        shape: the shape of the result, to which `alpha` broadcasts.
        alpha: the shape parameters, above 0, without gradient.
        dtype: by default floatx.
        seed: an int for the same numbers at each call, a SeedGenerator, or None.

    >>> from framework import keras
    >>> keras.random.gamma((3, 2), alpha=[0.5, 2.0]).shape
    TensorShape([3, 2])
    """
    alpha = parameter(alpha, "gamma", "alpha", low=0, open_low=True)
    shape = shape_for(ints(shape), "gamma", alpha=alpha)
    return random.draw(source_of(seed), "gamma", shape, _default(dtype), alpha)


@always
def beta(
    shape: ShapeLike, alpha: TensorLike, beta: TensorLike, dtype: DTypeLike = None,
    seed: Any = None,
) -> Tensor:  # fmt: skip
    """Draw beta distributed numbers, from 0 to 1.

    Args:
        shape: the shape of the result, to which `alpha` and `beta` broadcast.
        alpha, beta: the parameters, above 0, without gradient.
        dtype, seed: as in `gamma`.
    """
    given = {"alpha": alpha, "beta": beta}
    a, b = (parameter(v, "beta", name, low=0, open_low=True) for name, v in given.items())
    shape = shape_for(ints(shape), "beta", alpha=a, beta=b)
    return random.draw(source_of(seed), "beta", shape, _default(dtype), a, b)


@always
def binomial(
    shape: ShapeLike, counts: TensorLike, probabilities: TensorLike, dtype: DTypeLike = None,
    seed: Any = None,
) -> Tensor:  # fmt: skip
    """Draw the numbers of successes in `counts` trials.

    Args:
        shape: the shape of the result, to which `counts` and `probabilities` broadcast.
        counts: the numbers of trials, at least 0.
        probabilities: the probabilities of a success, from 0 to 1.
        dtype, seed: as in `gamma`.

    >>> from framework import keras
    >>> keras.random.binomial((2,), 10, [0.0, 1.0]).numpy()
    array([ 0., 10.], dtype=float32)
    """
    source, dtype = source_of(seed), _default(dtype)
    return binomial_numbers(source, ints(shape), counts, probabilities, dtype, "binomial")
