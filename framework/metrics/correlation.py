"""Correlations of labels and predictions, and the coefficient of determination."""

import warnings
from typing import Annotated

from framework.core.argument_types import Axis, TensorLike
from framework.core.axes import one_axis
from framework.core.cast import cast
from framework.core.configurable import Resolved, one_of
from framework.core.conversion import tensor
from framework.core.dtypes import as_dtype, epsilon
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.formula import public
from framework.core.shared_fields import ComputeDtype, Name
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Tensor
from framework.metrics.base import Metric, metrics, on_tensors, operand
from framework.metrics.confusion import add_to, fitting_weights
from framework.metrics.reduction import MeanOfLoss
from framework.ops.elementwise import is_inf, select, sqrt, square
from framework.ops.losses import floats, in_32_bits, matched, same_rank, shape_of
from framework.ops.reduction import reduce_mean, reduce_sum

__all__ = [
    "ConcordanceCorrelation", "PearsonCorrelation", "R2Score", "concordance_correlation",
    "pearson_correlation",
]  # fmt: skip


def _operands(y_true, y_pred):
    return floats(tensor(y_true), tensor(y_pred))


def _moments(y_true, y_pred, axis, what):
    """Return the means, variances and the covariance along `axis`."""
    y_true, y_pred = matched(y_true, y_pred, what)
    axes = (one_axis(axis, y_pred.ndim, what),)

    def mean(x):
        return reduce_mean(x, axis=axes, keepdims=True)

    means = mean(y_true), mean(y_pred)
    true, pred = y_true - means[0], y_pred - means[1]
    parts = *means, mean(square(true)), mean(square(pred)), mean(true * pred)
    return [reduce_sum(x, axis=axes, keepdims=False) for x in parts]


@public(_operands)
@in_32_bits
def pearson_correlation(y_true: TensorLike, y_pred: TensorLike, axis: Axis = -1) -> Tensor:
    """The covariance divided by both standard deviations, along `axis`; NaN if one is 0.

    Args:
        axis: the axis along which a correlation is computed.

    Example:
        >>> pearson_correlation([[0.0, 1.0, 0.5]], [[0.1, 0.9, 0.2]]).numpy().round(4)
        array([0.9177], dtype=float32)
    """
    _, _, of_true, of_pred, both = _moments(y_true, y_pred, axis, "pearson_correlation")
    return both / (sqrt(of_true) * sqrt(of_pred))


class PearsonCorrelation(MeanOfLoss, formula=pearson_correlation, direction="up"):
    """The mean of Pearson's correlations along `axis`."""

    axis: int = -1


@public(_operands)
@in_32_bits
def concordance_correlation(y_true: TensorLike, y_pred: TensorLike, axis: Axis = -1) -> Tensor:
    """2 covariance / (both variances + the squared difference of the means), along `axis`.

    Lin 1989, "A concordance correlation coefficient to evaluate reproducibility".

    Args:
        axis: the axis along which a correlation is computed.

    Example:
        >>> concordance_correlation([[0.0, 1.0, 0.5]], [[0.1, 0.9, 0.2]]).numpy().round(4)
        array([0.8791], dtype=float32)
    """
    true, pred, *variances, both = _moments(y_true, y_pred, axis, "concordance_correlation")
    return both * 2.0 / (variances[0] + variances[1] + square(true - pred) + epsilon())


class ConcordanceCorrelation(MeanOfLoss, formula=concordance_correlation, direction="up"):
    """The mean of the concordance correlations along `axis` (Lin 1989)."""

    axis: int = -1


def _not_negative(value):
    if not hasattr(value, "__index__") or value < 0:
        raise InvalidArgumentError("expected an integer >= 0")
    return int(value)


Aggregation = Annotated[
    str | None, one_of(None, "uniform_average", "variance_weighted_average")
]  # fmt: skip
NotNegative = Annotated[int, Resolved("an integer >= 0", _not_negative)]


@metrics.add()
class R2Score(Metric, direction="up"):
    """1 - the squared error divided by the variance of the labels, for each output.

    Sums are kept in float64: in float32 the variance of labels far from 0 would be lost.

    Args:
        class_aggregation: "uniform_average" for the mean over outputs, "variance_weighted_average"
            for the mean weighted by the labels' variances, None for one score per output.
        num_regressors: the number of features, for the adjusted score; 0: no adjustment.
        name, dtype: as in `Metric`.

    Example:
        >>> R2Score()([[1.0], [4.0], [3.0]], [[2.0], [4.0], [4.0]]).numpy().round(4)
        np.float32(0.5714)
    """

    class_aggregation: Aggregation = "uniform_average"
    num_regressors: NotNegative = 0
    name: Name = "r2_score"
    dtype: ComputeDtype = None

    def __post_init__(self):
        super().__post_init__()
        self.num_samples = self.add_variable((), "zeros", "float32", name="num_samples")

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Update the sums with one batch.

        Args:
            y_true: labels of shape (batch, outputs).
            y_pred: predictions of the same shape.
            sample_weight: one weight per sample or one per value.
        """
        tensors, dtype = on_tensors(), as_dtype("float64")
        y_true, y_pred = operand(y_true, dtype, tensors), operand(y_pred, dtype, tensors)
        y_true, y_pred = same_rank(y_true, y_pred)
        s, t = shape_of(y_true), shape_of(y_pred)
        if len(s) != 2 or len(t) != 2 or s[1] != t[1] or t[1] is None:
            raise ShapeError(
                f"{self.name} expects 2D inputs with shape (batch_size, output_dim). Received "
                f"input shapes: y_pred.shape={t} and y_true.shape={s}."
            )
        if len(self.variables) == 1:
            for attribute, name in _SUMS.items():
                variable = self.add_variable((t[1],), "zeros", "float64", name=name)
                setattr(self, attribute, variable)
        weights = y_true * 0.0 + 1.0
        if sample_weight is not None:
            weights = fitting_weights(operand(sample_weight, dtype, tensors), t, self.name)
        weighted = y_true * weights
        values = (weighted * y_true, weighted, square(y_true - y_pred) * weights, weights)
        for variable, value in zip(self.variables[1:], values, strict=True):
            add_to(variable, reduce_sum(value, axis=(0,), keepdims=False))
        if not isinstance(y_pred, KerasTensor):
            self.num_samples.assign_add(float(t[0] * t[1]))

    def result(self):
        """Return the score, one per output if `class_aggregation` is None."""
        if len(self.variables) == 1:
            return 0.0
        squares, total, errors, count = (variable.read() for variable in self.variables[1:])
        variance = squares - total * (total / count)
        scores = 1.0 - errors / variance
        scores = select(is_inf(scores), 0.0, scores)
        if self.class_aggregation == "uniform_average":
            scores = reduce_mean(scores, axis=(0,), keepdims=False)
        elif self.class_aggregation is not None:
            summed = reduce_sum(variance * scores, axis=(0,), keepdims=False)
            scores = summed / reduce_sum(variance, axis=(0,), keepdims=False)
        if self.num_regressors:
            scores = _adjusted(scores, float(self.num_samples), self.num_regressors)
        return cast(scores, dtype=self.dtype.np)


# maps attributes of R2Score to the names of their variables, as in Keras
_SUMS = {"squared_sum": "squared_sum", "sum": "sum", "total_mse": "residual", "count": "count"}


def _adjusted(scores, samples, regressors):
    if regressors >= samples - 1:
        warnings.warn(
            f"R2Score: the adjusted score needs more than num_regressors + 1 = {regressors + 1} "
            f"samples, got {samples:.0f}. The result is the unadjusted score.",
            stacklevel=3,
        )
        return scores
    return 1.0 - (1.0 - scores) * ((samples - 1.0) / (samples - regressors - 1.0))
