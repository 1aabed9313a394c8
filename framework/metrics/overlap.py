"""Intersection over union of labeled and predicted classes."""

import warnings
from typing import Annotated, Any

import numpy as np

from framework.core.axes import one_axis
from framework.core.cast import cast
from framework.core.configurable import Resolved
from framework.core.dtypes import as_dtype, epsilon, floatx
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.shared_fields import ComputeDtype, Name
from framework.metrics.base import Metric, metrics, on_tensors, operand
from framework.metrics.confusion import add_to, fitting_weights
from framework.ops.counting import bincount
from framework.ops.elementwise import (
    greater,
    greater_equal,
    less,
    logical_and,
    not_equal,
    select,
)
from framework.ops.linalg import diagonal
from framework.ops.losses import shape_of
from framework.ops.movement import getitem, reshape
from framework.ops.reduction import argmax, reduce_sum

__all__ = ["BinaryIoU", "IoU", "MeanIoU", "OneHotIoU", "OneHotMeanIoU"]

_INT64 = np.dtype(np.int64)


def _ids(value):
    return [int(number) for number in value]


def _state(value):
    return ComputeDtype.__metadata__[0].resolve("int32" if value in (None, "int") else value)


ClassIds = Annotated[Any, Resolved("a list of classes", _ids)]
StateDtype = Annotated[Any, Resolved("a dtype, a policy or None", _state)]


class OverlapOfClasses(Metric, direction="up"):
    """The base class of metrics from a confusion matrix: labels in rows, predictions in columns."""

    def __post_init__(self):
        super().__post_init__()
        if not hasattr(self, "target_class_ids"):
            self.target_class_ids = list(range(self.num_classes))
        if max(self.target_class_ids, default=0) >= self.num_classes:
            raise InvalidArgumentError(
                f"{type(self).__name__}: Target class id {max(self.target_class_ids)} is out of "
                f"range, which is [0, {self.num_classes})."
            )
        self.total_cm = self.add_variable(
            (self.num_classes,) * 2, "zeros", self.dtype, name="total_confusion_matrix"
        )

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Update the confusion matrix with one batch; classes out of range are ignored.

        Args:
            y_true: class indices, or one-hot labels.
            y_pred: class indices, or one score per class.
            sample_weight: one weight per sample or one per value; truncated if `dtype` is an
                integer.
        """
        tensors = on_tensors()
        y_true = self._classes(y_true, getattr(self, "sparse_y_true", False), tensors)
        y_pred = self._classes(y_pred, getattr(self, "sparse_y_pred", True), tensors)
        _count(self, y_true, y_pred, sample_weight, tensors)

    def _classes(self, y, sparse, tensors):
        y = operand(y, None, tensors)
        if not sparse:
            y = argmax(y, axis=one_axis(self.axis, y.ndim, self.name), dtype=_INT64)
        return cast(y, dtype=_INT64)

    def result(self):
        """Return the mean over the target classes that occurred."""
        dtype = self.dtype if self.dtype.np.kind == "f" else as_dtype(floatx())
        matrix = cast(self.total_cm.read(), dtype=dtype.np)
        both = diagonal(matrix)
        rows, columns = (reduce_sum(matrix, axis=(axis,), keepdims=False) for axis in (0, 1))
        either = rows + columns - both
        ids = np.array(self.target_class_ids, np.int64)
        both, either = getitem(both, index=(ids,)), getitem(either, index=(ids,))
        counts = cast(greater(either, 1e-9), dtype=dtype.np)
        shares = both / (either + epsilon()) * counts
        found, number = (reduce_sum(x, axis=(0,), keepdims=False) for x in (shares, counts))
        return found / (number + epsilon())


def _count(metric, y_true, y_pred, sample_weight, tensors):
    n, shape = metric.num_classes, shape_of(y_true)
    weights = None
    if sample_weight is not None:
        weights = operand(sample_weight, None, tensors)
        kinds = [getattr(x.dtype, "np", x.dtype).kind for x in (weights, metric.total_cm.array)]
        if kinds == ["f", "i"] and not isinstance(sample_weight, (list, tuple, float)):
            warnings.warn(
                f"{metric.name}: sample_weight is a float, but dtype is an integer: weights are "
                "truncated. Pass integer weights or dtype='float32'.",
                stacklevel=4,
            )
        weights = cast(weights, dtype=metric.total_cm.array.dtype)
        size = np.prod(shape_of(weights), dtype=int) if None not in shape_of(weights) else -1
        if weights.ndim and None not in shape and size == np.prod(shape, dtype=int):
            weights = reshape(weights, shape=(-1,))
        else:
            weights = reshape(fitting_weights(weights, shape, metric.name), shape=(-1,))
    y_true, y_pred = reshape(y_true, shape=(-1,)), reshape(y_pred, shape=(-1,))
    if None not in (*shape_of(y_true), *shape_of(y_pred)) and shape_of(y_true) != shape_of(y_pred):
        raise ShapeError(
            f"{metric.name}: expected one label per prediction, got {shape_of(y_true)[0]} labels "
            f"and {shape_of(y_pred)[0]} predictions."
        )
    counts = logical_and(
        logical_and(greater_equal(y_true, 0), less(y_true, n)),
        logical_and(greater_equal(y_pred, 0), less(y_pred, n)),
    )
    ignored = getattr(metric, "ignore_class", None)
    if ignored is not None:
        counts = logical_and(counts, not_equal(y_true, ignored))
    cell = select(counts, y_true * n + y_pred, n * n)
    found = bincount(
        cell, weights, size=n * n, per_row=False, binary=False, dtype=metric.total_cm.array.dtype
    )
    add_to(metric.total_cm, reshape(found, shape=(n, n)))


@metrics.add()
class IoU(OverlapOfClasses):
    """The mean of TP / (TP + FP + FN) over some classes.

    Args:
        num_classes: the number of classes.
        target_class_ids: the classes to average over.
        name, dtype: as in `Metric`; the state is int32 if `dtype` is None.
        ignore_class: a label whose elements are ignored.
        sparse_y_true, sparse_y_pred: whether y_true and y_pred hold class indices; otherwise the
            largest value along `axis` gives the class.
        axis: the axis of the classes.

    Example:
        >>> IoU(num_classes=2, target_class_ids=[0])([0, 0, 1, 1], [0, 1, 0, 1]).numpy().round(4)
        np.float32(0.3333)
    """

    num_classes: int
    target_class_ids: ClassIds
    name: Name = None
    dtype: StateDtype = None
    ignore_class: int = None
    sparse_y_true: bool = True
    sparse_y_pred: bool = True
    axis: int = -1


@metrics.add()
class MeanIoU(OverlapOfClasses):
    """The mean of TP / (TP + FP + FN) over all classes that occur.

    Args:
        num_classes: the number of classes.
        name, dtype: as in `Metric`; the state is int32 if `dtype` is None.
        ignore_class: a label whose elements are ignored.
        sparse_y_true, sparse_y_pred: whether y_true and y_pred hold class indices; otherwise the
            largest value along `axis` gives the class.
        axis: the axis of the classes.

    Example:
        >>> MeanIoU(num_classes=2)([0, 0, 1, 1], [0, 1, 0, 1]).numpy().round(4)
        np.float32(0.3333)
    """

    num_classes: int
    name: Name = None
    dtype: StateDtype = None
    ignore_class: int = None
    sparse_y_true: bool = True
    sparse_y_pred: bool = True
    axis: int = -1


@metrics.add()
class OneHotIoU(OverlapOfClasses):
    """`IoU` of one-hot labels.

    Args:
        num_classes: the number of classes.
        target_class_ids: the classes to average over.
        name, dtype: as in `Metric`; the state is int32 if `dtype` is None.
        ignore_class: a label whose elements are ignored.
        sparse_y_pred: whether y_pred holds class indices.
        axis: the axis of the classes.

    Example:
        >>> y_true, y_pred = [[0, 1], [1, 0]], [[0.2, 0.8], [0.4, 0.6]]
        >>> OneHotIoU(num_classes=2, target_class_ids=[1])(y_true, y_pred).numpy().round(4)
        np.float32(0.5)
    """

    num_classes: int
    target_class_ids: ClassIds
    name: Name = None
    dtype: StateDtype = None
    ignore_class: int = None
    sparse_y_pred: bool = False
    axis: int = -1


@metrics.add()
class OneHotMeanIoU(OverlapOfClasses):
    """`MeanIoU` of one-hot labels.

    Args:
        num_classes: the number of classes.
        name, dtype: as in `Metric`; the state is int32 if `dtype` is None.
        ignore_class: a label whose elements are ignored.
        sparse_y_pred: whether y_pred holds class indices.
        axis: the axis of the classes.

    Example:
        >>> OneHotMeanIoU(num_classes=2)([[0, 1], [1, 0]], [[0.2, 0.8], [0.4, 0.6]]).numpy()
        np.float32(0.25)
    """

    num_classes: int
    name: Name = None
    dtype: StateDtype = None
    ignore_class: int = None
    sparse_y_pred: bool = False
    axis: int = -1


@metrics.add()
class BinaryIoU(OverlapOfClasses):
    """The mean of TP / (TP + FP + FN) over the classes 0 and 1, or one of them.

    Args:
        target_class_ids: the classes to average over.
        threshold: predictions of at least this value are class 1.
        name, dtype: as in `Metric`; the state is int32 if `dtype` is None.

    Example:
        >>> BinaryIoU(threshold=0.3)([0, 1, 0, 1], [0.1, 0.2, 0.4, 0.7]).numpy().round(4)
        np.float32(0.3333)
    """

    target_class_ids: ClassIds = (0, 1)
    threshold: float = 0.5
    name: Name = None
    dtype: StateDtype = None

    def __post_init__(self):
        self.num_classes = 2
        super().__post_init__()

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Update the confusion matrix with one batch of labels 0 and 1 and predictions."""
        tensors = on_tensors()
        y_true = cast(operand(y_true, None, tensors), dtype=_INT64)
        y_pred = operand(y_pred, as_dtype("float32"), tensors)
        y_pred = cast(greater_equal(y_pred, np.float32(self.threshold)), dtype=_INT64)
        _count(self, y_true, y_pred, sample_weight, tensors)
