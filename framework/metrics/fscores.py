"""F-scores: the weighted harmonic mean of precision and recall."""

from typing import Annotated

from framework.core.cast import cast
from framework.core.configurable import Resolved, one_of
from framework.core.dtypes import epsilon
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.shared_fields import ComputeDtype, Name
from framework.metrics.base import Metric, metrics, on_tensors, operand
from framework.metrics.confusion import add_counts, add_to, fitting_weights, state_dtype
from framework.ops.elementwise import absolute, greater, greater_equal, logical_and
from framework.ops.losses import shape_of
from framework.ops.reduction import reduce_max, reduce_mean, reduce_sum

__all__ = ["F1Score", "FBetaScore"]

_COUNTS = ("true_positives", "false_positives", "false_negatives", "intermediate_weights")


def _beta(value):
    if not isinstance(value, float) or value <= 0:
        raise InvalidArgumentError("expected a Python float > 0")
    return value


def _threshold(value):
    if value is not None and (not isinstance(value, float) or not 0 < value <= 1):
        raise InvalidArgumentError("expected a Python float in (0, 1], or None")
    return value


Average = Annotated[str | None, one_of(None, "micro", "macro", "weighted")]
Beta = Annotated[float, Resolved("a float > 0", _beta)]
Threshold = Annotated[float | None, Resolved("a float in (0, 1] or None", _threshold)]


@metrics.add("fbeta_score")
class FBetaScore(Metric, direction="up"):
    """(1 + beta²) precision recall / (beta² precision + recall), for each class.

    Args:
        average: None for one score per class, "micro" for the score of all classes together,
            "macro" for the mean over classes, "weighted" for the mean weighted by label counts.
        beta: the weight of recall relative to precision.
        threshold: predictions above it are positive; None: only the largest of each row is.
        name, dtype: as in `Metric`.

    Example:
        >>> metric = FBetaScore(beta=2.0, threshold=0.5)
        >>> metric([[1, 1], [1, 0]], [[0.2, 0.7], [0.6, 0.6]]).numpy().round(4)
        array([0.5556, 0.8333], dtype=float32)
    """

    average: Average = None
    beta: Beta = 1.0
    threshold: Threshold = None
    name: Name = "fbeta_score"
    dtype: ComputeDtype = None

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Update the counts with one batch.

        Args:
            y_true: labels, 0 or 1, of shape (batch, classes).
            y_pred: predictions of the same shape.
            sample_weight: one weight per sample, or one per value.
        """
        tensors, dtype = on_tensors(), state_dtype(self)
        y_true, y_pred = operand(y_true, dtype, tensors), operand(y_pred, dtype, tensors)
        s, t = shape_of(y_true), shape_of(y_pred)
        if len(s) != 2 or len(t) != 2 or s[1] != t[1] or t[1] is None:
            raise ShapeError(
                f"{self.name} expects 2D inputs with shape (batch_size, output_dim). Received "
                f"input shapes: y_pred.shape={t} and y_true.shape={s}."
            )
        if not self.variables:
            add_counts(self, _COUNTS, () if self.average == "micro" else (t[1],))
        if self.threshold is None:
            best = reduce_max(y_pred, axis=(1,), keepdims=True)
            positive = logical_and(greater_equal(y_pred, best), greater(absolute(y_pred), 1e-9))
        else:
            positive = greater(y_pred, self.threshold)
        positive = cast(positive, dtype=dtype.np)
        axes = (0, 1) if self.average == "micro" else (0,)
        weights = 1.0
        if sample_weight is not None:
            weights = fitting_weights(operand(sample_weight, dtype, tensors), t, self.name)
        values = (
            positive * y_true, positive * (1.0 - y_true), (1.0 - positive) * y_true, y_true,
        )  # fmt: skip
        for variable, value in zip(self.variables, values, strict=True):
            add_to(variable, reduce_sum(value * weights, axis=axes, keepdims=False))

    def result(self):
        """Return the score, one per class if `average` is None."""
        if not self.variables:
            return 0.0
        tp, fp, fn, of_labels = (variable.read() for variable in self.variables)
        precision, recall = tp / (tp + fp + epsilon()), tp / (tp + fn + epsilon())
        square = self.beta**2
        mean = precision * recall / (square * precision + recall + epsilon())
        score = mean * (1.0 + square)
        if self.average == "weighted":
            share = of_labels / (reduce_sum(of_labels, axis=(0,), keepdims=False) + epsilon())
            return reduce_sum(score * share, axis=(0,), keepdims=False)
        return reduce_mean(score, axis=(0,), keepdims=False) if self.average == "macro" else score


@metrics.add()
class F1Score(FBetaScore, left_out=("beta",)):
    """2 precision recall / (precision + recall), for each class.

    Args:
        average: None for one score per class, "micro" for the score of all classes together,
            "macro" for the mean over classes, "weighted" for the mean weighted by label counts.
        threshold: predictions above it are positive; None: only the largest of each row is.
        name, dtype: as in `Metric`.

    Example:
        >>> metric = F1Score(threshold=0.5)
        >>> metric([[1, 1], [1, 0]], [[0.2, 0.7], [0.6, 0.6]]).numpy().round(4)
        array([0.6667, 0.6667], dtype=float32)
    """

    name: Name = "f1_score"
