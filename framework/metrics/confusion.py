"""Metrics of true and false positives and negatives at thresholds."""

from typing import Annotated, Any

import numpy as np

from framework.core.cast import cast
from framework.core.configurable import Resolved
from framework.core.dtypes import as_dtype
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.shared_fields import ComputeDtype, Name
from framework.core.symbolic import KerasTensor
from framework.metrics.base import Metric, metrics, on_tensors, operand
from framework.ops.counting import bincount, searchsorted
from framework.ops.elementwise import (
    divide_no_nan,
    greater_equal,
    negative,
    not_equal,
    select,
)
from framework.ops.losses import alike, shape_of
from framework.ops.movement import argsort, broadcast_to, expand_axes, getitem, one_hot, reshape
from framework.ops.reduction import cumsum, reduce_max, reduce_sum

__all__ = [
    "FalseNegatives", "FalsePositives", "Precision", "PrecisionAtRecall", "Recall",
    "RecallAtPrecision", "SensitivityAtSpecificity", "SpecificityAtSensitivity", "TrueNegatives",
    "TruePositives",
]  # fmt: skip

_COUNTS = ("true_positives", "false_positives", "true_negatives", "false_negatives")
_INT64 = np.dtype(np.int64)


def state_dtype(metric):
    """Return the dtype of counts: at least 32 bits, because in float16 2,048 + 1 is 2,048."""
    return metric.dtype if metric.dtype.np.itemsize > 2 else as_dtype("float32")


def add_to(variable, value):
    """Add a value to a variable of a metric, except in a symbolic call."""
    if not isinstance(value, KerasTensor):
        variable.assign_add(cast(value, dtype=variable.array.dtype))


def _thresholds(value):
    if value is None:
        return None
    several = isinstance(value, (list, tuple, np.ndarray))
    given = list(value) if several else [value]
    if any(t is None or not 0 <= t <= 1 for t in given):
        raise InvalidArgumentError("expected numbers in [0, 1]: Threshold values must be in [0, 1]")
    return [float(t) for t in given] if several else float(given[0])


def _fraction(value):
    if not hasattr(value, "__float__") or not 0 <= float(value) <= 1:
        raise InvalidArgumentError("expected a number in the range [0, 1]")
    return float(value)


def _count(value):
    if not hasattr(value, "__index__") or value <= 0:
        raise InvalidArgumentError("expected an integer > 0")
    return int(value)


Thresholds = Annotated[Any, Resolved("a number in [0, 1], a list of them or None", _thresholds)]
Fraction = Annotated[float, Resolved("a number in [0, 1]", _fraction)]
Count = Annotated[int, Resolved("an integer > 0", _count)]


def even_thresholds(count):
    """Return `count` thresholds from 0 to 1.

    >>> even_thresholds(3), even_thresholds(1)
    ([0.0, 0.5, 1.0], [0.5])
    """
    return [0.5] if count == 1 else [i / (count - 1) for i in range(count)]


def fitting_weights(weights, shape, name):
    """Broadcast weights, one per sample or one per value, to `shape`."""
    given = shape_of(weights)
    if len(given) == len(shape) + 1 and given[-1] == 1:
        weights = reshape(weights, shape=given[:-1])
    elif given:
        weights = expand_axes(weights, tuple(range(len(given), len(shape))))
    try:
        return broadcast_to(weights, shape=shape)
    except ValueError:
        raise ShapeError(
            f"{name}: sample_weight of shape {given} does not fit predictions of shape "
            f"{tuple(shape)}: pass one weight per sample or one per value."
        ) from None


def counts_at(metric, y_true, y_pred, weights, thresholds, columns=False):
    """Return (true positives, false positives, true negatives, false negatives) by threshold.

    Predictions are sorted into the intervals between thresholds by one search and one weighted
    count. A prediction is positive at the thresholds below it; NaN is positive at none.

    Args:
        y_true, y_pred: arrays or tensors of one shape; labels other than 0 are positive.
        weights: weights of the same shape, or None.
        thresholds: a list of numbers, in any order.
        columns: whether to count each column of y_pred separately.
    """
    thresholds = np.asarray(thresholds, getattr(y_pred.dtype, "np", y_pred.dtype))
    order = np.argsort(-thresholds, kind="stable")
    width = y_pred.shape[-1] if columns else 1
    # `place` is the number of thresholds >= the prediction; at all other thresholds, the
    # prediction is positive.
    place = searchsorted(-thresholds[order], negative(y_pred), side="right", dtype=_INT64)
    cell = place * 2 + cast(not_equal(y_true, 0), dtype=_INT64)
    if columns:
        cell = cell * width + np.arange(width)
    rows = len(thresholds) + 1
    flat = [x if x is None else reshape(x, shape=(-1,)) for x in (cell, weights)]
    sums = bincount(
        *flat, size=rows * 2 * width, per_row=False, binary=False, dtype=np.dtype(np.float64)
    )
    sums = cumsum(reshape(sums, shape=(rows, 2, width)), axis=0, reverse=False)
    everything = getitem(sums, index=(slice(-1, None),))
    positive = getitem(sums, index=(np.argsort(order),))
    rest = everything - positive
    parts = [getitem(x, index=(slice(None), i)) for x in (positive, rest) for i in (1, 0)]
    if not columns:
        parts = [reshape(x, shape=(rows - 1,)) for x in parts]
    tp, fp, fn, tn = parts
    return dict(zip(_COUNTS, (tp, fp, tn, fn), strict=True))


def prepared(metric, y_true, y_pred, sample_weight):
    """Return labels, predictions and weights in the dtype of the counts and in one shape."""
    tensors, dtype = on_tensors(), state_dtype(metric)
    y_true, y_pred = operand(y_true, dtype, tensors), operand(y_pred, dtype, tensors)
    y_true, y_pred = alike(y_true, y_pred, metric.name)
    if sample_weight is not None:
        sample_weight = operand(sample_weight, dtype, tensors)
        sample_weight = fitting_weights(sample_weight, shape_of(y_pred), metric.name)
    return y_true, y_pred, sample_weight


def _of_class(metric, class_id, *operands):
    classes = shape_of(operands[0])
    if len(classes) < 2 or not -classes[-1] <= class_id < classes[-1]:
        raise ShapeError(
            f"{metric.name}: class_id={class_id} does not fit y_pred of shape {classes}: expected "
            "a 2D array of shape (num_samples, num_classes) with this class."
        )
    return [x if x is None else getitem(x, index=(..., class_id)) for x in operands]


def _only_best(y_pred, k):
    """Return the predictions, with -inf instead of all but the `k` largest of each row."""
    last, classes = y_pred.ndim - 1, shape_of(y_pred)[-1]
    best = getitem(argsort(y_pred, axis=last, descending=True), index=(..., slice(k)))
    chosen = one_hot(best, depth=classes, dtype=_INT64)
    chosen = reduce_sum(chosen, axis=(chosen.ndim - 2,), keepdims=False)
    return select(not_equal(chosen, 0), y_pred, -np.inf)


class CountsAtThresholds(Metric, counts=None):
    """The base class of metrics whose state is some of the four counts at `thresholds`.

    A metric with a single count has one variable, `accumulator`; the class argument `counts` says
    which count it is.
    """

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Update the counts with one batch.

        Args:
            y_true: labels, 0 or 1, in the shape of y_pred.
            y_pred: predictions; with thresholds in [0, 1], probabilities.
            sample_weight: one weight per sample or one per value.
        """
        y_true, y_pred, weights = prepared(self, y_true, y_pred, sample_weight)
        if getattr(self, "top_k", None) is not None:
            y_pred = _only_best(y_pred, self.top_k)
        if getattr(self, "class_id", None) is not None:
            y_pred, y_true, weights = _of_class(self, self.class_id, y_pred, y_true, weights)
        counts = counts_at(self, y_true, y_pred, weights, self.thresholds)
        for variable in self.variables:
            add_to(variable, counts[type(self)._framework.counts or variable.name])

    def get_config(self):
        """Return the constructor's arguments, with the thresholds as they were given."""
        config = super().get_config()
        if "thresholds" in config:
            config["thresholds"] = self.init_thresholds
        return config


def add_counts(metric, names, shape):
    """Create a count variable for each of these names."""
    for name in names:
        setattr(metric, name, metric.add_variable(shape, "zeros", state_dtype(metric), name=name))


def share(part, rest):
    """Return part / (part + rest) for two variables, or 0 where both are 0."""
    part = part.read()
    return divide_no_nan(part, part + rest.read())


def _keep_thresholds(metric, default):
    metric.init_thresholds = given = metric.thresholds
    given = default if given is None else given
    metric.thresholds = given if isinstance(given, list) else [given]


def _by_threshold(metric, values):
    return getitem(values, index=(0,)) if len(metric.thresholds) == 1 else values


# ---- counts --------------------------------------------------------------------------------------


class OneCount(CountsAtThresholds):
    """The base class of metrics of one count, such as true positives."""

    thresholds: Thresholds = None
    name: Name = None
    dtype: ComputeDtype = None

    def __post_init__(self):
        super().__post_init__()
        _keep_thresholds(self, 0.5)
        add_counts(self, ["accumulator"], (len(self.thresholds),))

    def result(self):
        """Return the count, one per threshold if there are several."""
        return _by_threshold(self, self.accumulator.read())


@metrics.add()
class TruePositives(OneCount, counts="true_positives"):
    """The number, or the total weight, of positive predictions with the label 1.

    Args:
        thresholds: a number in [0, 1] or a list of them; predictions above it are positive. None
            means 0.5.
        name, dtype: as in `Metric`.

    Example:
        >>> TruePositives()([0, 1, 1, 1], [0.0, 0.9, 0.4, 0.8]).numpy()
        np.float32(2.0)
    """


@metrics.add()
class FalsePositives(OneCount, counts="false_positives"):
    """The number, or the total weight, of positive predictions with the label 0.

    Args:
        thresholds: a number in [0, 1] or a list of them; predictions above it are positive. None
            means 0.5.
        name, dtype: as in `Metric`.

    Example:
        >>> FalsePositives(thresholds=[0.5, 0.9])([0, 0, 1], [0.6, 1.0, 0.4]).numpy()
        array([2., 1.], dtype=float32)
    """


@metrics.add()
class TrueNegatives(OneCount, counts="true_negatives"):
    """The number, or the total weight, of negative predictions with the label 0.

    Args:
        thresholds: a number in [0, 1] or a list of them; predictions above it are positive. None
            means 0.5.
        name, dtype: as in `Metric`.

    Example:
        >>> TrueNegatives()([0, 0, 1], [0.6, 0.2, 0.4]).numpy()
        np.float32(1.0)
    """


@metrics.add()
class FalseNegatives(OneCount, counts="false_negatives"):
    """The number, or the total weight, of negative predictions with the label 1.

    Args:
        thresholds: a number in [0, 1] or a list of them; predictions above it are positive. None
            means 0.5.
        name, dtype: as in `Metric`.

    Example:
        >>> FalseNegatives()([0, 1, 1], [0.6, 0.2, 0.4]).numpy()
        np.float32(2.0)
    """


# ---- precision and recall ------------------------------------------------------------------------


class ShareOfCounts(CountsAtThresholds, direction="up"):
    """The base class of precision and recall, which are fractions of counts."""

    thresholds: Thresholds = None
    top_k: int = None
    class_id: int = None
    name: Name = None
    dtype: ComputeDtype = None

    def __post_init__(self):
        super().__post_init__()
        _keep_thresholds(self, 0.5 if self.top_k is None else float(np.finfo(np.float32).min))

    def result(self):
        """Return the fraction, one per threshold if there are several; 0 without samples."""
        return _by_threshold(self, share(*self.variables))


@metrics.add()
class Precision(ShareOfCounts):
    """The fraction of positive predictions with the label 1: TP / (TP + FP).

    Args:
        thresholds: a number in [0, 1] or a list of them; predictions above it are positive. None
            means 0.5, or with `top_k` no threshold.
        top_k: only this many largest predictions of each row can be positive.
        class_id: the only class to evaluate, an index of the last axis; all if None.
        name, dtype: as in `Metric`.

    Example:
        >>> Precision()([0, 1, 1, 1], [0.9, 0.2, 0.8, 0.7]).numpy().round(4)
        np.float32(0.6667)
    """

    def __post_init__(self):
        super().__post_init__()
        add_counts(self, ["true_positives", "false_positives"], (len(self.thresholds),))


@metrics.add()
class Recall(ShareOfCounts):
    """The fraction of the samples with label 1 that are predicted positive: TP / (TP + FN).

    Args:
        thresholds: a number in [0, 1] or a list of them; predictions above it are positive. None
            means 0.5, or with `top_k` no threshold.
        top_k: only this many largest predictions of each row can be positive.
        class_id: the only class to evaluate, an index of the last axis; all if None.
        name, dtype: as in `Metric`.

    Example:
        >>> Recall()([0, 1, 1, 1, 1], [0.9, 0.2, 0.8, 0.7, 0.6]).numpy()
        np.float32(0.75)
    """

    def __post_init__(self):
        super().__post_init__()
        add_counts(self, ["true_positives", "false_negatives"], (len(self.thresholds),))


# ---- the best rate where another rate is high enough ---------------------------------------------


class BestShare(CountsAtThresholds, direction="up"):
    """The base class of metrics: the best rate at thresholds where another rate is high enough."""

    def __post_init__(self):
        super().__post_init__()
        self.thresholds = even_thresholds(self.num_thresholds)
        add_counts(self, _COUNTS, (len(self.thresholds),))


def _largest(limit, limited, shares):
    """Return the largest of `shares` where `limited` is at least `limit`; 0 if it never is."""
    return reduce_max(
        select(greater_equal(limited, limit), shares, 0.0), axis=(0,), keepdims=False
    )  # fmt: skip


@metrics.add()
class SensitivityAtSpecificity(BestShare):
    """The largest sensitivity, TP / (TP + FN), at thresholds with enough specificity.

    These are the thresholds at which TN / (TN + FP) is at least `specificity`.

    Args:
        specificity: a number in [0, 1].
        num_thresholds: the number of thresholds, evenly spaced from 0 to 1.
        class_id: the only class to evaluate, an index of the last axis; all if None.
        name, dtype: as in `Metric`.

    Example:
        >>> SensitivityAtSpecificity(0.5)([0, 0, 0, 1, 1], [0.0, 0.3, 0.8, 0.3, 0.8]).numpy()
        np.float32(0.5)
    """

    specificity: Fraction
    num_thresholds: Count = 200
    class_id: int = None
    name: Name = None
    dtype: ComputeDtype = None

    def result(self):
        """Return the largest value; 0 if no threshold meets the requirement."""
        limited = share(self.true_negatives, self.false_positives)
        return _largest(self.specificity, limited, share(self.true_positives, self.false_negatives))


@metrics.add()
class SpecificityAtSensitivity(BestShare):
    """The largest specificity, TN / (TN + FP), at thresholds with enough sensitivity.

    These are the thresholds at which TP / (TP + FN) is at least `sensitivity`.

    Args:
        sensitivity: a number in [0, 1].
        num_thresholds: the number of thresholds, evenly spaced from 0 to 1.
        class_id: the only class to evaluate, an index of the last axis; all if None.
        name, dtype: as in `Metric`.

    Example:
        >>> SpecificityAtSensitivity(0.5)([0, 0, 0, 1, 1], [0.0, 0.3, 0.8, 0.3, 0.8]).numpy()
        np.float32(0.6666667)
    """

    sensitivity: Fraction
    num_thresholds: Count = 200
    class_id: int = None
    name: Name = None
    dtype: ComputeDtype = None

    def result(self):
        """Return the largest value; 0 if no threshold meets the requirement."""
        limited = share(self.true_positives, self.false_negatives)
        return _largest(self.sensitivity, limited, share(self.true_negatives, self.false_positives))


@metrics.add()
class PrecisionAtRecall(BestShare):
    """The largest precision, TP / (TP + FP), at thresholds with enough recall.

    These are the thresholds at which TP / (TP + FN) is at least `recall`.

    Args:
        recall: a number in [0, 1].
        num_thresholds: the number of thresholds, evenly spaced from 0 to 1.
        class_id: the only class to evaluate, an index of the last axis; all if None.
        name, dtype: as in `Metric`.

    Example:
        >>> PrecisionAtRecall(0.5)([0, 0, 0, 1, 1], [0.0, 0.3, 0.8, 0.3, 0.8]).numpy()
        np.float32(0.5)
    """

    recall: Fraction
    num_thresholds: Count = 200
    class_id: int = None
    name: Name = None
    dtype: ComputeDtype = None

    def result(self):
        """Return the largest value; 0 if no threshold meets the requirement."""
        limited = share(self.true_positives, self.false_negatives)
        return _largest(self.recall, limited, share(self.true_positives, self.false_positives))


@metrics.add()
class RecallAtPrecision(BestShare):
    """The largest recall, TP / (TP + FN), at thresholds with enough precision.

    These are the thresholds at which TP / (TP + FP) is at least `precision`.

    Args:
        precision: a number in [0, 1].
        num_thresholds: the number of thresholds, evenly spaced from 0 to 1.
        class_id: the only class to evaluate, an index of the last axis; all if None.
        name, dtype: as in `Metric`.

    Example:
        >>> RecallAtPrecision(0.5)([0, 0, 0, 1, 1], [0.0, 0.3, 0.8, 0.3, 0.8]).numpy()
        np.float32(1.0)
    """

    precision: Fraction
    num_thresholds: Count = 200
    class_id: int = None
    name: Name = None
    dtype: ComputeDtype = None

    def result(self):
        """Return the largest value; 0 if no threshold meets the requirement."""
        limited = share(self.true_positives, self.false_positives)
        return _largest(self.precision, limited, share(self.true_positives, self.false_negatives))
