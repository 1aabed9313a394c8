"""The area under a curve of true and false positives."""

from typing import Annotated, Any

import numpy as np

from framework.core.configurable import Resolved
from framework.core.dtypes import epsilon
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.shared_fields import ComputeDtype, Name
from framework.metrics.base import Metric, metrics
from framework.metrics.confusion import (
    add_counts,
    add_to,
    counts_at,
    even_thresholds,
    prepared,
)
from framework.ops.elementwise import (
    clip,
    divide_no_nan,
    equal,
    greater,
    log,
    logical_and,
    maximum,
    minimum,
    select,
    sigmoid,
)
from framework.ops.losses import shape_of
from framework.ops.movement import getitem
from framework.ops.reduction import reduce_mean, reduce_sum

__all__ = ["AUC"]


def _one_of(*names):
    def resolve(value):
        value = getattr(value, "value", value)
        found = {str(name).lower(): name for name in names}.get(str(value).lower())
        if found is None:
            raise InvalidArgumentError(f"expected one of {', '.join(map(repr, names))}")
        return found

    return Resolved(f"one of {names}", resolve)


def _count_or_none(value):
    if value is not None and (isinstance(value, bool) or not hasattr(value, "__index__")):
        raise InvalidArgumentError(f"expected an int, got {type(value).__name__}")
    return value if value is None else int(value)


def _weights(value):
    return None if value is None else np.asarray(value, float).tolist()


Curve = Annotated[str, _one_of("ROC", "PR", "PRGAIN")]
Summation = Annotated[str, _one_of("interpolation", "majoring", "minoring")]
Weights = Annotated[Any, Resolved("a list of numbers or None", _weights)]


@metrics.add()
class AUC(Metric, direction="up"):
    """The area under a curve, approximated from counts at some thresholds.

    The curve "ROC" plots the true positive rate against the false positive rate, "PR" precision
    against recall (Davis & Goadrich 2006), "PRGAIN" precision gain against recall gain (Flach &
    Kull 2015).

    Args:
        num_thresholds: the number of thresholds, at least 2, evenly spaced from 0 to 1; None
            is possible with `thresholds`.
        curve: "ROC", "PR" or "PRGAIN".
        summation_method: "interpolation", or "majoring" or "minoring" for the larger or smaller
            height of each interval. With "PR", the counts are interpolated.
        name, dtype: as in `Metric`.
        thresholds: the thresholds between 0 and 1, instead of `num_thresholds`.
        multi_label: whether each column of y_pred, (batch, labels), has a curve; the result is the
            mean of their areas.
        num_labels: the number of columns; None: known from the first update.
        label_weights: weights of labels in the mean of areas; without `multi_label`, of values.
        from_logits: whether y_pred holds logits instead of probabilities.

    Example:
        >>> AUC(num_thresholds=3)([0, 0, 1, 1], [0.0, 0.5, 0.3, 0.9]).numpy()
        np.float32(0.75)
    """

    num_thresholds: Annotated[int, Resolved("an integer > 1", _count_or_none)] = 200
    curve: Curve = "ROC"
    summation_method: Summation = "interpolation"
    name: Name = None
    dtype: ComputeDtype = None
    thresholds: Any = None
    multi_label: bool = False
    num_labels: int = None
    label_weights: Weights = None
    from_logits: bool = False

    def __post_init__(self):
        super().__post_init__()
        self.init_thresholds = self.thresholds
        if self.thresholds is None:
            if self.num_thresholds is None or self.num_thresholds <= 1:
                raise InvalidArgumentError(
                    f"AUC: num_thresholds={self.num_thresholds}: expected an integer > 1"
                )
            inner = even_thresholds(self.num_thresholds)[1:-1]
        else:
            self.init_thresholds = inner = sorted(float(t) for t in self.thresholds)
            self.num_thresholds = len(inner) + 2
        self.thresholds = [-epsilon(), *inner, 1.0 + epsilon()]
        if self.num_labels and not self.multi_label:
            raise InvalidArgumentError("AUC: num_labels needs multi_label=True")
        if not self.multi_label:
            add_counts(self, _NAMES, (self.num_thresholds,))
        elif self.num_labels:
            add_counts(self, _NAMES, (self.num_thresholds, self.num_labels))

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Update the counts with one batch.

        Args:
            y_true: labels, 0 or 1, in the shape of y_pred.
            y_pred: probabilities (or logits); (batch, labels) with `multi_label`.
            sample_weight: one weight per sample or one per value.
        """
        y_true, y_pred, weights = prepared(self, y_true, y_pred, sample_weight)
        shape = shape_of(y_pred)
        if self.multi_label and (len(shape) != 2 or self.num_labels not in (None, shape[1])):
            raise ShapeError(
                f"{self.name}: y_pred of shape {shape}: expected rank 2 when multi_label=True, "
                f"(batch, {self.num_labels or 'labels'})."
            )
        if not self.variables:
            add_counts(self, _NAMES, (self.num_thresholds, shape[1]))
        y_pred = clip(sigmoid(y_pred) if self.from_logits else y_pred, 0.0, 1.0)
        if self.label_weights is not None and not self.multi_label:
            given = np.asarray(self.label_weights, self.dtype.np)
            weights = given + y_pred * 0 if weights is None else weights * given
        counts = counts_at(self, y_true, y_pred, weights, self.thresholds, self.multi_label)
        for variable in self.variables:
            add_to(variable, counts[variable.name])

    def result(self):
        """Return the area so far."""
        if not self.variables:
            return np.float32(0.0)
        tp, fp, tn, fn = (variable.read() for variable in self.variables)
        areas = _areas(tp, fp, tn, fn, self.curve, self.summation_method)
        if not self.multi_label:
            return areas
        if self.label_weights is None:
            return reduce_mean(areas, axis=(0,), keepdims=False)
        weights = np.asarray(self.label_weights, self.dtype.np)
        total = reduce_sum(areas * weights, axis=(0,), keepdims=False)
        return divide_no_nan(total, weights.sum())

    def get_config(self):
        """Return the constructor's arguments; thresholds only if they were given."""
        config = {**super().get_config(), "thresholds": self.init_thresholds}
        if config["thresholds"] is None:
            del config["thresholds"]
        return config


_NAMES = ("true_positives", "false_positives", "true_negatives", "false_negatives")


def _low(x):
    """Return, for each interval between thresholds, the value at its lower threshold."""
    return getitem(x, index=(slice(None, -1),))


def _high(x):
    return getitem(x, index=(slice(1, None),))


def _sum(x):
    return reduce_sum(x, axis=(0,), keepdims=False)


def _areas(tp, fp, tn, fn, curve, method):
    if curve == "PR" and method == "interpolation":
        return _interpolated_precision(tp, fp, fn)
    recall = divide_no_nan(tp, tp + fn)
    if curve == "ROC":
        x, y = divide_no_nan(fp, fp + tn), recall
    elif curve == "PR":
        x, y = recall, divide_no_nan(tp, tp + fp)
    else:
        odds = divide_no_nan(tp + fn, tn + fp)
        none = equal(tp, 0.0)
        x = maximum(select(none, 0.0, 1.0 - odds * divide_no_nan(fn, tp)), 0.0)
        y = select(none, 1.0, 1.0 - odds * divide_no_nan(fp, tp))
    if method == "interpolation":
        heights = (_low(y) + _high(y)) / 2.0
    else:
        heights = (minimum if method == "minoring" else maximum)(_low(y), _high(y))
    return _sum((_low(x) - _high(x)) * heights)


def _interpolated_precision(tp, fp, fn):
    """Return the area with counts that are linear between thresholds (Davis & Goadrich 2006).

    Between two thresholds TP = intercept + slope * P, so the integral of TP / P over the recall is
    slope * (ΔTP + intercept * log(P_low / P_high)) / (TP + FN).
    """
    p = tp + fp
    gained = _low(tp) - _high(tp)
    slope = divide_no_nan(gained, maximum(_low(p) - _high(p), 0.0))
    intercept = _high(tp) - slope * _high(p)
    both = logical_and(greater(_low(p), 0.0), greater(_high(p), 0.0))
    ratio = select(both, divide_no_nan(_low(p), _high(p)), 1.0)
    terms = slope * (gained + intercept * log(ratio))
    return _sum(divide_no_nan(terms, maximum(_high(tp) + _high(fn), 0.0)))
