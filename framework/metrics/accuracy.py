"""Accuracy metrics, and the functions of the same names."""

from collections.abc import Callable

import numpy as np

from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.dtypes import Shape, as_dtype, floatx
from framework.core.errors import ShapeError
from framework.core.formula import F, public
from framework.core.shared_fields import ComputeDtype, Name
from framework.metrics.reduction import MeanOfFunction
from framework.ops.elementwise import equal, greater, is_nan, less, select
from framework.ops.losses import class_indices, label_form, matched, shape_of
from framework.ops.movement import expand_axes, getitem, reshape, take_along_axis
from framework.ops.reduction import argmax, reduce_any, reduce_sum

__all__ = [
    "Accuracy", "BinaryAccuracy", "CategoricalAccuracy", "SparseCategoricalAccuracy",
    "SparseTopKCategoricalAccuracy", "TopKCategoricalAccuracy", "binary_accuracy",
    "categorical_accuracy", "sparse_categorical_accuracy", "sparse_top_k_categorical_accuracy",
    "top_k_categorical_accuracy",
]  # fmt: skip


def matches(*aliases) -> Callable[[F], F]:
    """Return a decorator: it makes a public function from a formula, with 0 and 1 for booleans."""
    return public(lambda y_true, y_pred: (tensor(y_true), tensor(y_pred)), _as_numbers, aliases)


def _as_numbers(right):
    return cast(right, dtype=as_dtype(floatx()).np)


class MeanOfMatches(MeanOfFunction, direction="up"):
    """The base class of accuracies, which are fractions of correct predictions."""


@matches("acc")
def accuracy(y_true, y_pred):
    """Return 1 where the prediction equals the label, else 0."""
    y_true, y_pred = matched(y_true, y_pred, "accuracy")
    return equal(y_true, y_pred)


class Accuracy(MeanOfMatches, formula=accuracy):
    """The fraction of predictions that equal the labels."""


@matches()
def binary_accuracy(y_true, y_pred, threshold=0.5):
    """Return 1 where `y_pred > threshold` equals the label (0 or 1), else 0.

    Args:
        threshold: predictions above it count as 1.

    Example:
        >>> binary_accuracy([[1], [0]], [[0.7], [0.6]]).numpy()
        array([[1.],
               [0.]], dtype=float32)
    """
    y_true, y_pred = matched(y_true, y_pred, "binary_accuracy")
    return equal(y_true, greater(y_pred, threshold))


class BinaryAccuracy(MeanOfMatches, formula=binary_accuracy):
    """The fraction of predictions on the correct side of `threshold`; labels are 0 and 1."""

    threshold: float = 0.5


@matches()
def categorical_accuracy(y_true, y_pred):
    """Return 1 where the largest prediction has the index of the one-hot label, else 0.

    Example:
        >>> categorical_accuracy([[0, 1], [1, 0]], [[0.2, 0.8], [0.4, 0.6]]).numpy()
        array([1., 0.], dtype=float32)
    """
    _require_same_shape(y_true, y_pred, "categorical_accuracy")
    return equal(_best(y_true), _best(y_pred))


class CategoricalAccuracy(MeanOfMatches, formula=categorical_accuracy):
    """The fraction of samples whose largest prediction is the label; labels are one-hot."""


@matches()
def sparse_categorical_accuracy(y_true, y_pred):
    """Return 1 where the largest prediction has the class index `y_true`, else 0.

    Example:
        >>> sparse_categorical_accuracy([1, 0], [[0.2, 0.8], [0.4, 0.6]]).numpy()
        array([1., 0.], dtype=float32)
    """
    labels = _class_labels(y_true, y_pred, "sparse_categorical_accuracy")
    right = equal(labels, _best(y_pred))
    shape = shape_of(right)
    return reshape(right, shape=shape[:-1]) if len(shape) > 1 and shape[-1] == 1 else right


class SparseCategoricalAccuracy(MeanOfMatches, formula=sparse_categorical_accuracy):
    """The fraction of samples whose largest prediction is the label; labels are class indices."""


@matches()
def top_k_categorical_accuracy(y_true, y_pred, k=5):
    """Return 1 where the class of the one-hot label is among the `k` largest predictions, else 0.

    Args:
        k: how many of the largest predictions to consider.

    Example:
        >>> top_k_categorical_accuracy([[0, 1, 0]], [[0.3, 0.2, 0.5]], k=2).numpy()
        array([0.], dtype=float32)
    """
    _require_same_shape(y_true, y_pred, "top_k_categorical_accuracy")
    return _among_best(_best(y_true), y_pred, k)


class TopKCategoricalAccuracy(MeanOfMatches, formula=top_k_categorical_accuracy):
    """The fraction of samples with the label among the `k` largest predictions (one-hot labels)."""

    k: int = 5
    name: Name = None
    dtype: ComputeDtype = None


@matches()
def sparse_top_k_categorical_accuracy(y_true, y_pred, k=5, from_sorted_ids=False):
    """Return 1 where the class index `y_true` is among the `k` largest predictions, else 0.

    Args:
        k: how many of the largest predictions to consider.
        from_sorted_ids: whether y_pred holds class indices, the most likely first.

    Example:
        >>> sparse_top_k_categorical_accuracy([0], [[0.3, 0.2, 0.5]], k=2).numpy()
        array([1.], dtype=float32)
    """
    labels = _class_labels(y_true, y_pred, "sparse_top_k_categorical_accuracy")
    if from_sorted_ids:
        first = getitem(y_pred, index=(..., slice(k)))
        hits = equal(expand_axes(labels, (labels.ndim,)), first)
        right = reduce_any(hits, axis=(hits.ndim - 1,), keepdims=False)
    else:
        right = _among_best(class_indices(labels, classes=shape_of(y_pred)[-1]), y_pred, k)
    return reshape(right, shape=shape_of(y_true))


class SparseTopKCategoricalAccuracy(MeanOfMatches, formula=sparse_top_k_categorical_accuracy):
    """The fraction of samples with the label among the `k` largest predictions (class indices)."""

    k: int = 5
    name: Name = None
    dtype: ComputeDtype = None
    from_sorted_ids: bool = False


def accuracy_for(y_true_shape, y_pred_shape):
    """Return the metric class that "accuracy" means for labels and predictions of these shapes.

    >>> accuracy_for((8,), (8, 10)).__name__, accuracy_for((8, 1), (8, 1)).__name__
    ('SparseCategoricalAccuracy', 'BinaryAccuracy')
    """
    return {
        "binary": BinaryAccuracy,
        "categorical": CategoricalAccuracy,
        "sparse_categorical": SparseCategoricalAccuracy,
    }[label_form(y_true_shape, y_pred_shape)]


# ---- parts of the formulas ----------------------------------------------------------------------


def _best(x):
    return argmax(x, axis=x.ndim - 1, dtype=np.int64)


def _among_best(labels, y_pred, k):
    """Return whether fewer than `k` scores are higher than the score of the label.

    NaN counts as the lowest score.
    """
    last = y_pred.ndim - 1
    score = take_along_axis(y_pred, expand_axes(labels, (last,)), axis=last)
    if getattr(y_pred.dtype, "np", y_pred.dtype).kind not in "biu":
        score = select(is_nan(score), -np.inf, score)
    higher = reduce_sum(
        cast(greater(y_pred, score), dtype=np.dtype(np.int64)), axis=(last,), keepdims=False
    )
    return less(higher, k)


def _class_labels(y_true, y_pred, name):
    """Return the class indices in the shape of `y_pred` without its last axis."""
    given = shape = shape_of(y_true)
    expected = shape_of(y_pred)[:-1]
    if len(given) == y_pred.ndim and given[-1] == 1:
        shape = given[:-1]
        y_true = reshape(y_true, shape=shape)
    if shape != expected and not Shape(shape).is_compatible_with(expected):
        raise ShapeError(
            f"{name}: y_true of shape {given} does not fit y_pred of shape {shape_of(y_pred)}: "
            f"expected one class index per prediction, shape {expected}."
        )
    return y_true


def _require_same_shape(y_true, y_pred, name):
    s, t = shape_of(y_true), shape_of(y_pred)
    if s != t and not Shape(s).is_compatible_with(t):
        raise ShapeError(
            f"{name}: y_true of shape {s} does not fit y_pred of shape {t}: expected one-hot "
            "labels; for class indices use the metric of the same name with the prefix sparse_."
        )
