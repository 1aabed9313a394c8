"""Focal and robust cross-entropies, which weight examples differently: functions and classes."""

from typing import Annotated, Any

import numpy as np

from framework.core.argument_types import Axis, TensorLike
from framework.core.axes import one_axis
from framework.core.configurable import Resolved
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError
from framework.core.tensor import Tensor
from framework.losses.base import FormulaLoss, formula
from framework.losses.classification import (
    CLASSES,
    ONE_HOT,
    Fraction,
    axis_last,
    binary_cross_entropy,
    smoothed,
    warn_of_one_class,
    within,
)
from framework.ops.elementwise import expm1, log, maximum, negative, power, sigmoid
from framework.ops.losses import (
    alike,
    class_indices,
    in_32_bits,
    one_label_each,
    shape_of,
    sigmoid_cross_entropy,
    sum_of,
)
from framework.ops.movement import expand_axes, reshape, take_along_axis
from framework.ops.reduction import reduce_mean
from framework.ops.rows import log_softmax

__all__ = [
    "BinaryFocalCrossentropy", "CategoricalFocalCrossentropy",
    "CategoricalGeneralizedCrossEntropy", "binary_focal_crossentropy",
    "categorical_focal_crossentropy", "categorical_generalized_cross_entropy",
]  # fmt: skip


def _open_fraction(value):
    if not hasattr(value, "__float__") or not 0 < float(value) < 1:
        raise InvalidArgumentError("expected a number in the open interval (0, 1)")
    return float(value)


def _weights(value):
    if hasattr(value, "__float__") and not getattr(value, "ndim", 0):
        return float(value)
    return np.asarray(value, float).tolist()


OpenFraction = Annotated[float, Resolved("a number in (0, 1)", _open_fraction)]
Weights = Annotated[Any, Resolved("a number or a list of numbers", _weights)]

# Bases of powers are clipped to at least this: the derivative of x**a at 0 is infinite if a < 1.
_TINY = float(np.finfo(np.float32).tiny)


@formula()
@in_32_bits
def binary_focal_crossentropy(
    y_true: TensorLike, y_pred: TensorLike, apply_class_balancing: bool = False,
    alpha: float = 0.25, gamma: float = 2.0, from_logits: bool = False,
    label_smoothing: Any = 0.0, axis: Axis = -1,
) -> Tensor:  # fmt: skip
    """The binary cross-entropy times (1 - p)**gamma, averaged over `axis`.

    p is the predicted probability of the label, so easy examples count less. Lin et al. 2017,
    "Focal Loss for Dense Object Detection". The loss of large logits is exact, because they are not
    rounded to probabilities.

    Args:
        y_true, y_pred: arrays of one shape; the result has this shape without `axis`, and the
            dtype of y_pred.
        apply_class_balancing: whether class 1 counts `alpha` times and class 0 `1 - alpha` times.
        alpha: the weight of class 1.
        gamma: how much easy examples are weighted down; 0 gives the cross-entropy.
        from_logits: whether y_pred holds logits instead of probabilities.
        label_smoothing: the fraction of each label that is spread evenly over the classes.
        axis: the axis of the mean.

    Example:
        >>> binary_focal_crossentropy([[0.0, 1.0]], [[0.1, 0.4]]).numpy()
        array([0.16545913], dtype=float32)
    """
    y_true, y_pred = alike(y_true, y_pred, "binary_focal_crossentropy")
    axis = one_axis(axis, y_pred.ndim, "binary_focal_crossentropy")
    y_true = smoothed(y_true, label_smoothing, 2)
    if from_logits:
        losses = sigmoid_cross_entropy(y_pred, y_true)
        p, not_p = sigmoid(y_pred), sigmoid(negative(y_pred))
    else:
        losses, p, not_p = binary_cross_entropy(y_true, y_pred), y_pred, 1.0 - y_pred
    missed = y_true * not_p + (1.0 - y_true) * p
    losses = power(maximum(missed, _TINY), gamma) * losses
    if apply_class_balancing:
        losses = (y_true * alpha + (1.0 - y_true) * (1.0 - alpha)) * losses
    return reduce_mean(losses, axis=(axis,), keepdims=False)


class BinaryFocalCrossentropy(FormulaLoss, formula=binary_focal_crossentropy):
    """The binary cross-entropy times (1 - p)**gamma (Lin et al. 2017)."""

    apply_class_balancing: bool = False
    alpha: float = 0.25
    gamma: float = 2.0
    from_logits: bool = False
    label_smoothing: Fraction = 0.0
    axis: int = -1


@formula()
@in_32_bits
def categorical_focal_crossentropy(
    y_true: TensorLike, y_pred: TensorLike, alpha: Any = 0.25, gamma: float = 2.0,
    from_logits: bool = False, label_smoothing: Any = 0.0, axis: Axis = -1,
) -> Tensor:  # fmt: skip
    """The cross-entropy of one-hot labels, each class times alpha (1 - p)**gamma.

    p is the predicted probability of the class. Lin et al. 2017, "Focal Loss for Dense Object
    Detection".

    Args:
        y_true, y_pred: arrays of one shape; the result has this shape without `axis`, and the
            dtype of y_pred.
        alpha: the weight of all classes, or one weight per class.
        gamma: how much easy examples are weighted down; 0 gives `alpha` times the cross-entropy.
        from_logits: whether y_pred holds logits instead of probabilities.
        label_smoothing: the fraction of each label that is spread evenly over the classes.
        axis: the axis of the classes.

    Example:
        >>> categorical_focal_crossentropy([[0.0, 1.0]], [[0.4, 0.6]]).numpy()
        array([0.02043302], dtype=float32)
    """
    what = "categorical_focal_crossentropy"
    y_true, y_pred = alike(y_true, y_pred, what, ONE_HOT)
    axis = one_axis(axis, y_pred.ndim, what)
    warn_of_one_class(shape_of(y_pred), axis, what)
    y_true = axis_last(smoothed(y_true, label_smoothing, y_pred.shape[axis]), axis)
    y_pred = axis_last(y_pred, axis)
    if from_logits:
        log_p = log_softmax(y_pred, axis=y_pred.ndim - 1)
        not_p = negative(expm1(log_p))
    else:
        p = within(y_pred / sum_of(y_pred, keepdims=True))
        log_p, not_p = log(p), 1.0 - p
    weights = power(maximum(not_p, _TINY), gamma)
    if not isinstance(alpha, (int, float)):
        alpha = tensor(alpha, y_pred.dtype, casts=True)
    return negative(sum_of(weights * alpha * (y_true * log_p)))


class CategoricalFocalCrossentropy(FormulaLoss, formula=categorical_focal_crossentropy):
    """The cross-entropy of one-hot labels, times alpha (1 - p)**gamma (Lin et al. 2017)."""

    alpha: Weights = 0.25
    gamma: float = 2.0
    from_logits: bool = False
    label_smoothing: Fraction = 0.0
    axis: int = -1


@formula(casts_labels=False)
@in_32_bits
def categorical_generalized_cross_entropy(
    y_true: TensorLike, y_pred: TensorLike, q: float
) -> Tensor:
    """(1 - p**q) / q for the probability p of the label: robust against wrong labels.

    Zhang & Sabuncu 2018, "Generalized Cross Entropy Loss for Training Deep Neural Networks with
    Noisy Labels". Between the cross-entropy (q near 0) and the absolute error (q near 1).

    Args:
        y_true: the class indices, of shape (...,) or (..., 1) for y_pred of (..., classes).
        y_pred: probabilities, with the classes on the last axis.
        q: a number between 0 and 1.

    Example:
        >>> categorical_generalized_cross_entropy([1, 0], [[0.3, 0.7], [0.2, 0.8]], q=0.5).numpy()
        array([0.32667994, 1.1055728 ], dtype=float32)
    """
    what, last = "categorical_generalized_cross_entropy", y_pred.ndim - 1
    labels = one_label_each(y_true, shape_of(y_pred), last, what, CLASSES)
    labels = class_indices(labels, classes=shape_of(y_pred)[last])
    chosen = take_along_axis(y_pred, expand_axes(labels, (last,)), axis=last)
    p = reshape(chosen, shape=shape_of(labels))
    return (1.0 - power(maximum(p, _TINY), q)) / q


class CategoricalGeneralizedCrossEntropy(
    FormulaLoss, formula=categorical_generalized_cross_entropy
):
    """(1 - p**q) / q for the probability p of the label (Zhang & Sabuncu 2018)."""

    q: OpenFraction = 0.5
