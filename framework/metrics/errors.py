"""Metrics that average a loss: regression errors, cross-entropies and others."""

from typing import Any

from framework.core.argument_types import TensorLike
from framework.core.shared_fields import ComputeDtype, Name
from framework.losses import classification as classes
from framework.losses import regression as errors
from framework.metrics.base import metrics, on_tensors, operand
from framework.metrics.reduction import Mean, MeanOfLoss, accumulate, call_on_tensors
from framework.ops.elementwise import sqrt, square
from framework.ops.losses import floating, matched

__all__ = [
    "BinaryCrossentropy", "CategoricalCrossentropy", "CategoricalHinge", "CosineSimilarity",
    "Hinge", "KLDivergence", "LogCoshError", "MeanAbsoluteError", "MeanAbsolutePercentageError",
    "MeanSquaredError", "MeanSquaredLogarithmicError", "Poisson", "RootMeanSquaredError",
    "SparseCategoricalCrossentropy", "SquaredHinge",
]  # fmt: skip


class MeanSquaredError(MeanOfLoss, formula=errors.mean_squared_error):
    """The mean squared difference."""


@metrics.add("rmse")
class RootMeanSquaredError(Mean, direction="down"):
    """The root of the mean squared difference.

    Args:
        name, dtype: as in `Metric`.

    Example:
        >>> RootMeanSquaredError()([[0.0, 1.0]], [[1.0, 2.0]]).numpy()
        np.float32(1.0)
    """

    name: Name = "root_mean_squared_error"
    dtype: ComputeDtype = None

    def update_state(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: Any = None,
    ) -> None:  # fmt: skip
        """Update the state with one batch; weights are one per sample or one per value."""
        tensors, dtype = on_tensors(), self.dtype
        y_true, y_pred = operand(y_true, dtype, tensors), operand(y_pred, dtype, tensors)
        y_true, y_pred = matched(y_true, y_pred, self.name)
        accumulate(self, square(y_pred - y_true), sample_weight, None, tensors)

    def result(self) -> Any:
        """Return the root of the mean so far."""
        return sqrt(super().result())


class MeanAbsoluteError(MeanOfLoss, formula=errors.mean_absolute_error):
    """The mean absolute difference."""


class MeanAbsolutePercentageError(MeanOfLoss, formula=errors.mean_absolute_percentage_error):
    """The mean absolute difference, as a percentage of the label."""


class MeanSquaredLogarithmicError(MeanOfLoss, formula=errors.mean_squared_logarithmic_error):
    """The mean squared difference of log(1 + value)."""


class LogCoshError(MeanOfLoss, formula=errors.log_cosh):
    """The mean of log(cosh(error))."""

    name = "logcosh"


class CosineSimilarity(MeanOfLoss, formula=errors.cosine, direction="up"):
    """The mean cosine of the angle between labels and predictions."""

    axis: int = -1


class Poisson(MeanOfLoss, formula=errors.poisson):
    """The mean of y_pred - y_true * log(y_pred)."""


class KLDivergence(MeanOfLoss, formula=classes.kl_divergence):
    """The mean Kullback-Leibler divergence of y_pred from y_true."""


class Hinge(MeanOfLoss, formula=classes.hinge):
    """The mean of max(1 - y_true * y_pred, 0); labels are -1 and 1, or 0 and 1."""


class SquaredHinge(MeanOfLoss, formula=classes.squared_hinge):
    """The mean of max(1 - y_true * y_pred, 0)²; labels are -1 and 1, or 0 and 1."""


class CategoricalHinge(MeanOfLoss, formula=classes.categorical_hinge):
    """The mean of max(1 + best wrong score - right score, 0), for one-hot labels."""


class BinaryCrossentropy(MeanOfLoss, formula=classes.binary_crossentropy):
    """The mean cross-entropy of binary labels."""

    from_logits: bool = False
    label_smoothing: float = 0


class CategoricalCrossentropy(MeanOfLoss, formula=classes.categorical_crossentropy):
    """The mean cross-entropy of one-hot labels."""

    from_logits: bool = False
    label_smoothing: float = 0
    axis: int = -1


class SparseCategoricalCrossentropy(MeanOfLoss, formula=classes.sparse_categorical_crossentropy):
    """The mean cross-entropy of integer labels, which are class indices.

    Labels equal to `ignore_class` are left out if there are sample weights. Without weights, as in
    Keras, they count as losses of 0.
    """

    from_logits: bool = False
    ignore_class: int | None = None
    axis: int = -1

    def values(self, y_true: TensorLike, y_pred: TensorLike):
        y_pred = floating(y_pred)
        if self.ignore_class is None:
            return self.loss(y_true, y_pred)
        # The operands must be tensors: the loss attaches the mask of ignored elements to its
        # result.
        return call_on_tensors(self.loss, y_true, y_pred)
