"""Regression losses: Keras functions, and classes of the same names."""

import numpy as np

from framework.core.argument_types import Axis, TensorLike
from framework.core.axes import one_axis
from framework.core.dtypes import epsilon
from framework.core.tensor import Tensor
from framework.losses.base import FormulaLoss, formula
from framework.ops.elementwise import absolute, log, log1p, maximum, minimum, softplus, square
from framework.ops.losses import in_32_bits, matched, mean_of_last, sum_of
from framework.ops.norm import unit

__all__ = [
    "CosineSimilarity", "Huber", "LogCosh", "MeanAbsoluteError", "MeanAbsolutePercentageError",
    "MeanSquaredError", "MeanSquaredLogarithmicError", "Poisson", "cosine_similarity", "huber",
    "log_cosh", "mean_absolute_error", "mean_absolute_percentage_error", "mean_squared_error",
    "mean_squared_logarithmic_error", "poisson",
]  # fmt: skip


@formula("mse")
@in_32_bits
def mean_squared_error(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """The mean of the squared difference, over the last axis.

    Example:
        >>> mean_squared_error([[0.0, 1.0], [2.0, 3.0]], [[1.0, 1.0], [2.0, 4.0]]).numpy()
        array([0.5, 0.5], dtype=float32)
    """
    y_true, y_pred = matched(y_true, y_pred, "mean_squared_error")
    return mean_of_last(square(y_pred - y_true))


class MeanSquaredError(FormulaLoss, formula=mean_squared_error):
    """The mean of the squared difference."""


@formula("mae")
@in_32_bits
def mean_absolute_error(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """The mean of the absolute difference, over the last axis.

    Example:
        >>> mean_absolute_error([[0.0, 1.0], [2.0, 3.0]], [[1.0, 1.0], [2.0, 4.0]]).numpy()
        array([0.5, 0.5], dtype=float32)
    """
    y_true, y_pred = matched(y_true, y_pred, "mean_absolute_error")
    return mean_of_last(absolute(y_pred - y_true))


class MeanAbsoluteError(FormulaLoss, formula=mean_absolute_error):
    """The mean of the absolute difference."""


@formula("mape")
@in_32_bits
def mean_absolute_percentage_error(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """The mean of the absolute difference, as a percentage of the label, over the last axis.

    Example:
        >>> mean_absolute_percentage_error([[1.0, 2.0]], [[2.0, 2.0]]).numpy()
        array([50.], dtype=float32)
    """
    y_true, y_pred = matched(y_true, y_pred, "mean_absolute_percentage_error")
    share = absolute((y_pred - y_true) / maximum(absolute(y_true), epsilon()))
    return mean_of_last(share) * 100.0


class MeanAbsolutePercentageError(FormulaLoss, formula=mean_absolute_percentage_error):
    """The mean of the absolute difference, as a percentage of the label."""


@formula("msle")
@in_32_bits
def mean_squared_logarithmic_error(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """The mean of the squared difference of log(1 + value), over the last axis.

    Example:
        >>> mean_squared_logarithmic_error([[1.0, 2.0]], [[2.0, 2.0]]).numpy()
        array([0.08220098], dtype=float32)
    """
    y_true, y_pred = matched(y_true, y_pred, "mean_squared_logarithmic_error")
    least = epsilon()
    return mean_of_last(square(log1p(maximum(y_pred, least)) - log1p(maximum(y_true, least))))


class MeanSquaredLogarithmicError(FormulaLoss, formula=mean_squared_logarithmic_error):
    """The mean of the squared difference of log(1 + value)."""


@formula()
@in_32_bits
def huber(y_true: TensorLike, y_pred: TensorLike, delta: TensorLike = 1.0) -> Tensor:
    """Half the squared error up to an error of `delta`, linear beyond, averaged over the last axis.

    Huber 1964, "Robust Estimation of a Location Parameter".

    Args:
        delta: the error at which the quadratic part ends.

    Example:
        >>> huber([[0.0, 0.0]], [[0.5, 3.0]]).numpy()
        array([1.3125], dtype=float32)
    """
    y_true, y_pred = matched(y_true, y_pred, "huber")
    error = absolute(y_pred - y_true)
    near = minimum(error, delta)
    return mean_of_last(square(near) * 0.5 + (error - near) * delta)


class Huber(FormulaLoss, formula=huber):
    """Half the squared error up to an error of `delta`, linear beyond (Huber 1964)."""

    delta: float = 1.0
    name = "huber_loss"


@formula("logcosh")
@in_32_bits
def log_cosh(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """The mean of log(cosh(y_pred - y_true)), over the last axis.

    Computed as error + log(1 + exp(-2 error)) - log 2, which does not overflow.

    Example:
        >>> log_cosh([[0.0, 0.0]], [[1.0, 3.0]]).numpy()
        array([1.3715546], dtype=float32)
    """
    y_true, y_pred = matched(y_true, y_pred, "log_cosh")
    error = y_pred - y_true
    return mean_of_last(error + softplus(error * -2.0) - _LOG_2)


_LOG_2 = float(np.log(2.0))


class LogCosh(FormulaLoss, formula=log_cosh):
    """The mean of log(cosh(error)): quadratic near 0, linear for large errors."""


@formula()
@in_32_bits
def poisson(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """The mean of y_pred - y_true * log(y_pred), over the last axis.

    Example:
        >>> poisson([[1.0, 0.0]], [[1.0, 2.0]]).numpy()
        array([1.5], dtype=float32)
    """
    y_true, y_pred = matched(y_true, y_pred, "poisson")
    return mean_of_last(y_pred - y_true * log(y_pred + epsilon()))


class Poisson(FormulaLoss, formula=poisson):
    """The mean of y_pred - y_true * log(y_pred): the negative Poisson log-likelihood + constant."""


@formula()
def cosine_similarity(y_true: TensorLike, y_pred: TensorLike, axis: Axis = -1) -> Tensor:
    """Minus the cosine of the angle between labels and predictions along `axis`.

    Args:
        axis: the axis of the vectors.

    Example:
        >>> cosine_similarity([[0.0, 1.0]], [[1.0, 1.0]]).numpy()
        array([-0.70710677], dtype=float32)
    """
    return -cosine(y_true, y_pred, axis)


def cosine(y_true, y_pred, axis=-1):
    """Return the cosine of the angle between the vectors along `axis`; 0 for a zero vector.

    Args:
        axis: the axis of the vectors.
    """
    y_true, y_pred = matched(y_true, y_pred, "cosine_similarity")
    axis = one_axis(axis, y_pred.ndim, "cosine_similarity")
    least = epsilon() ** 2
    return sum_of(unit(y_true, (axis,), least) * unit(y_pred, (axis,), least), axis)


class CosineSimilarity(FormulaLoss, formula=cosine_similarity):
    """Minus the cosine of the angle between labels and predictions: -1 for equal directions."""

    axis: int = -1
