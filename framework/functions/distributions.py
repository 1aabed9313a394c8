"""Random numbers from distributions whose parameters are tensors: gamma, Poisson, binomial."""

from typing import Any

import numpy as np

from framework.core import dtypes, random
from framework.core.argument_types import DTypeLike, ShapeLike, TensorLike
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.operations import always
from framework.core.tensor import Tensor
from framework.functions.creation import sizes
from framework.functions.sampling import float_dtype, once, source_of
from framework.ops import elementwise


@always
def gamma(
    shape: ShapeLike, alpha: TensorLike, beta: TensorLike = None, dtype: DTypeLike = dtypes.float32,
    seed: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Draw gamma distributed numbers: an array of `shape` for each pair of parameters.

    Args:
        shape: the shape of the numbers for one pair.
        alpha: the shape parameters, above 0, without gradient.
        beta: the rates (inverse scales), which broadcast with `alpha` and have gradients; by
            default 1.
        dtype: a floating dtype.
        seed: an int that seeds a separate generator; None for the global generator.

    Returns:
        A tensor of shape `shape` + the broadcast shape of `alpha` and `beta`.

    >>> import framework as tf
    >>> tf.random.gamma([10], alpha=[0.5, 1.5]).shape
    TensorShape([10, 2])
    """
    alpha, beta = _rates(alpha, beta, dtype, "gamma")
    shape = sizes(shape, "gamma") + np.broadcast_shapes(alpha.shape, beta.shape)
    return _gamma_numbers(source_of(seed), shape, alpha, beta, dtype, "gamma")


@always
def stateless_gamma(
    shape: ShapeLike, seed: Any, alpha: TensorLike, beta: TensorLike = None,
    dtype: DTypeLike = dtypes.float32, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Draw gamma distributed numbers determined by `seed`.

    Args:
        shape: the shape of the result, to which `alpha` and `beta` broadcast.
        seed: two integers.
        alpha, beta, dtype: as in `gamma`.
    """
    what = "stateless_gamma"
    alpha, beta = _rates(alpha, beta, dtype, what)
    shape = shape_for(shape, what, alpha=alpha, beta=beta)
    return _gamma_numbers(once(seed, what), shape, alpha, beta, dtype, what)


def _rates(alpha, beta, dtype, what):
    dtype = float_dtype(dtype, what)
    return tensor(alpha, dtype), tensor(1.0 if beta is None else beta, dtype)


def _gamma_numbers(source, shape, alpha, beta, dtype, what):
    concentrations = parameter(alpha, what, "alpha", low=0, open_low=True)
    unit = random.draw(source, "gamma", shape, dtype, concentrations)
    # as in TensorFlow, results are never 0, because the logarithm of 0 is -inf
    tiny = np.finfo(unit.dtype.np).tiny
    return elementwise.maximum(elementwise.divide(unit, beta), tiny)


@always
def poisson(
    shape: ShapeLike, lam: TensorLike, dtype: DTypeLike = dtypes.float32, seed: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Draw Poisson distributed numbers, an array of `shape` for each rate.

    Args:
        shape: the shape of the numbers for one rate.
        lam: the rates, at least 0.
        dtype: the dtype of the result.
        seed: an int that seeds a separate generator; None for the global generator.

    Returns:
        A tensor of shape `shape` + the shape of `lam`.

    >>> import framework as tf
    >>> tf.random.poisson([10], lam=[0.5, 1.5]).shape
    TensorShape([10, 2])
    """
    rates = parameter(lam, "poisson", "lam", low=0)
    shape = sizes(shape, "poisson") + rates.shape
    return random.draw(source_of(seed), "poisson", shape, dtype, rates)


@always
def stateless_poisson(
    shape: ShapeLike, seed: Any, lam: TensorLike, dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Draw Poisson distributed numbers determined by `seed`.

    Args:
        shape: the shape of the result, to which `lam` broadcasts.
        seed: two integers.
        lam, dtype: as in `poisson`.
    """
    what = "stateless_poisson"
    rates = parameter(lam, what, "lam", low=0)
    return random.draw(once(seed, what), "poisson", shape_for(shape, what, lam=rates), dtype, rates)


@always
def stateless_binomial(
    shape: ShapeLike, seed: Any, counts: TensorLike, probs: TensorLike,
    output_dtype: DTypeLike = dtypes.int32, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Draw the numbers of successes in `counts` trials with probability `probs`.

    Args:
        shape: the shape of the result, to which `counts` and `probs` broadcast.
        seed: two integers, which determine the result.
        counts: the numbers of trials, at least 0.
        probs: the probabilities, from 0 to 1.
        output_dtype: the dtype of the result.

    >>> import framework as tf
    >>> tf.random.stateless_binomial([3], seed=[1, 2], counts=10, probs=[0.0, 1.0, 1.0]).numpy()
    array([ 0, 10, 10], dtype=int32)
    """
    what = "stateless_binomial"
    return binomial_numbers(once(seed, what), shape, counts, probs, output_dtype, what)


def binomial_numbers(source, shape, counts, probs, dtype, what):
    """Draw binomial numbers from a source of random numbers."""
    counts = parameter(counts, what, "counts", low=0)
    probs = parameter(probs, what, "probs", low=0, high=1)
    shape = shape_for(shape, what, counts=counts, probs=probs)
    return random.draw(source, "binomial", shape, dtype, counts, probs)


def parameter(value, what, name, low, high=np.inf, open_low=False):
    """Return a distribution's parameter as an array; raise an error if it is out of range."""
    array = np.asarray(tensor(value)).astype(np.float64)
    good = (array > low if open_low else array >= low) & (array <= high)
    if not good.all():
        range_ = f"above {low}" if open_low else f"at least {low}"
        range_ += f" and at most {high}" if np.isfinite(high) else ""
        raise InvalidArgumentError(
            f"{what}: `{name}` must be {range_}, got {array[~good].flat[0]}."
        )
    return array


def shape_for(shape, what, **parameters):
    """Return `shape` as a tuple; raise an error if the parameters do not broadcast to it."""
    shape = sizes(shape, what)
    shapes = {name: tuple(p.shape) for name, p in parameters.items()}
    try:
        fits = np.broadcast_shapes(shape, *shapes.values()) == shape
    except ValueError:
        fits = False
    if not fits:
        given = ", ".join(f"{name} {s}" for name, s in shapes.items())
        raise ShapeError(f"{what}: parameters of shapes {given} do not broadcast to shape={shape}.")
    return shape
