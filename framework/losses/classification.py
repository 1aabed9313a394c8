"""Classification and distribution losses: Keras functions, and classes of the same names."""

import warnings
from typing import Annotated, Any

from framework.core.argument_types import Axis, TensorLike
from framework.core.axes import one_axis
from framework.core.configurable import Resolved
from framework.core.dtypes import epsilon
from framework.core.errors import InvalidArgumentError
from framework.core.tensor import Tensor
from framework.losses.base import FormulaLoss, ReductionField, formula
from framework.ops.elementwise import (
    clip,
    equal,
    log,
    logical_or,
    maximum,
    negative,
    not_equal,
    select,
    square,
)
from framework.ops.losses import (
    alike,
    class_indices,
    in_32_bits,
    matched,
    mean_of_last,
    one_label_each,
    shape_of,
    sigmoid_cross_entropy,
    sum_of,
    with_mask,
)
from framework.ops.movement import expand_axes, reshape, take_along_axis, transpose
from framework.ops.reduction import reduce_all, reduce_max, reduce_mean
from framework.ops.rows import softmax_cross_entropy, sparse_softmax_cross_entropy

__all__ = [
    "BinaryCrossentropy", "CategoricalCrossentropy", "CategoricalHinge", "Hinge",
    "KLDivergence", "SparseCategoricalCrossentropy", "SquaredHinge", "binary_crossentropy",
    "categorical_crossentropy", "categorical_hinge", "hinge", "kl_divergence",
    "sparse_categorical_crossentropy", "squared_hinge",
]  # fmt: skip


def _fraction(value):
    if not hasattr(value, "__float__") or not 0 <= float(value) <= 1:
        raise InvalidArgumentError("expected a number in [0, 1]")
    return float(value)


Fraction = Annotated[float, Resolved("a number in [0, 1]", _fraction)]

# ---- cross-entropies -----------------------------------------------------------------------------


def within(p):
    """Clip probabilities to stay away from 0 and 1, where a logarithm would be infinite."""
    least = epsilon()
    return clip(p, least, 1.0 - least)


def smoothed(y_true, label_smoothing, classes):
    """Spread the fraction `label_smoothing` of each label evenly over the classes."""
    if not label_smoothing:
        return y_true
    return y_true * (1.0 - label_smoothing) + label_smoothing / classes


def warn_of_one_class(shape, axis, what):
    if shape[axis] == 1:
        warnings.warn(
            f"{what}: y_pred of shape {shape} has one class: the loss is always 0. "
            "For two classes predict two values, or one value with binary_crossentropy.",
            SyntaxWarning, stacklevel=3,
        )  # fmt: skip


def axis_last(x, axis):
    """Move the non-negative `axis` of `x` to the end."""
    last = x.ndim - 1
    if axis == last:
        return x
    return transpose(x, perm=(*(i for i in range(last + 1) if i != axis), axis))


@formula("bce")
@in_32_bits
def binary_crossentropy(
    y_true: TensorLike, y_pred: TensorLike, from_logits: bool = False, label_smoothing: Any = 0.0,
    axis: Axis = -1,
) -> Tensor:  # fmt: skip
    """The cross-entropy of binary labels, averaged over `axis`.

    Args:
        from_logits: whether y_pred holds logits instead of probabilities.
        label_smoothing: the fraction of each label that is spread evenly over the classes.
        axis: the axis of the mean.

    Example:
        >>> binary_crossentropy([[0.0], [1.0]], [[0.0], [2.0]], from_logits=True).numpy()
        array([0.6931472, 0.126928 ], dtype=float32)
    """
    y_true, y_pred = alike(y_true, y_pred, "binary_crossentropy")
    axis = one_axis(axis, y_pred.ndim, "binary_crossentropy")
    y_true = smoothed(y_true, label_smoothing, 2)
    if from_logits:
        losses = sigmoid_cross_entropy(y_pred, y_true)
    else:
        losses = binary_cross_entropy(y_true, y_pred)
    return reduce_mean(losses, axis=(axis,), keepdims=False)


def binary_cross_entropy(y_true, y_pred):
    p = within(y_pred)
    return negative(y_true * log(p) + (1.0 - y_true) * log(1.0 - p))


class BinaryCrossentropy(FormulaLoss, formula=binary_crossentropy):
    """The cross-entropy of binary labels, averaged over `axis`."""

    from_logits: bool = False
    label_smoothing: Fraction = 0.0
    axis: int = -1


CLASSES = "integer class per prediction{}; for one-hot labels use categorical_crossentropy"
ONE_HOT = "; for integer class labels use sparse_categorical_crossentropy, or one-hot encode them"


@formula()
@in_32_bits
def categorical_crossentropy(
    y_true: TensorLike, y_pred: TensorLike, from_logits: bool = False, label_smoothing: Any = 0.0,
    axis: Axis = -1,
) -> Tensor:  # fmt: skip
    """The cross-entropy of one-hot labels, or of distributions over classes.

    Args:
        from_logits: whether y_pred holds logits instead of probabilities.
        label_smoothing: the fraction of each label that is spread evenly over the classes.
        axis: the axis of the classes.

    Example:
        >>> categorical_crossentropy([[0.0, 1.0]], [[0.0, 0.0]], from_logits=True).numpy()
        array([0.6931472], dtype=float32)
    """
    what = "categorical_crossentropy"
    y_true, y_pred = alike(y_true, y_pred, what, ONE_HOT)
    axis = one_axis(axis, y_pred.ndim, what)
    warn_of_one_class(shape_of(y_pred), axis, what)
    y_true = smoothed(y_true, label_smoothing, y_pred.shape[axis])
    if from_logits:
        return softmax_cross_entropy(axis_last(y_pred, axis), axis_last(y_true, axis))
    p = within(y_pred / sum_of(y_pred, axis, keepdims=True))
    return negative(sum_of(y_true * log(p), axis))


class CategoricalCrossentropy(FormulaLoss, formula=categorical_crossentropy):
    """The cross-entropy of one-hot labels, or of distributions over classes."""

    from_logits: bool = False
    label_smoothing: Fraction = 0.0
    axis: int = -1


@formula(casts_labels=False)
def sparse_categorical_crossentropy(
    y_true: TensorLike, y_pred: TensorLike, from_logits: bool = False, ignore_class: Any = None,
    axis: Axis = -1,
) -> Tensor:  # fmt: skip
    """The cross-entropy of integer labels, which are class indices.

    Args:
        y_true: the class indices, of shape (...,) or (..., 1) for y_pred of (..., classes).
        from_logits: whether y_pred holds logits instead of probabilities.
        ignore_class: a label whose elements are ignored, such as -1 or 255 for "unlabeled".
        axis: the axis of the classes.

    Example:
        >>> logits = [[0.0, 0.0], [0.0, 2.0]]
        >>> sparse_categorical_crossentropy([1, 0], logits, from_logits=True).numpy()
        array([0.6931472, 2.126928 ], dtype=float32)
    """
    what = "sparse_categorical_crossentropy"
    axis = one_axis(axis, y_pred.ndim, what)
    labels = one_label_each(y_true, shape_of(y_pred), axis, what, CLASSES)
    y_pred = axis_last(y_pred, axis)
    if ignore_class is None:
        return _cross_entropy_of_class(labels, y_pred, from_logits)
    counts = not_equal(labels, ignore_class)
    labels = select(counts, labels, 0)
    y_pred = select(expand_axes(counts, (counts.ndim,)), y_pred, 0.0)
    losses = select(counts, _cross_entropy_of_class(labels, y_pred, from_logits), 0.0)
    return with_mask(losses, counts)


@in_32_bits
def _cross_entropy_of_class(labels, y_pred, from_logits):
    last = y_pred.ndim - 1
    labels = class_indices(labels, classes=shape_of(y_pred)[last])
    if from_logits:
        return sparse_softmax_cross_entropy(y_pred, labels)
    chosen = take_along_axis(y_pred, expand_axes(labels, (last,)), axis=last)
    p = within(chosen / sum_of(y_pred, last, keepdims=True))
    return negative(reshape(log(p), shape=shape_of(labels)))


class SparseCategoricalCrossentropy(FormulaLoss, formula=sparse_categorical_crossentropy):
    """The cross-entropy of integer labels, which are class indices."""

    from_logits: bool = False
    ignore_class: int | None = None
    reduction: ReductionField = "sum_over_batch_size"
    axis: int = -1


@formula("kld", "kullback_leibler_divergence")
@in_32_bits
def kl_divergence(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """The Kullback-Leibler divergence: the sum of y_true * log(y_true / y_pred) over the last axis.

    Example:
        >>> kl_divergence([[0.0, 1.0]], [[0.5, 0.5]]).numpy()
        array([0.69314563], dtype=float32)
    """
    y_true, y_pred = matched(y_true, y_pred, "kl_divergence")
    y_true, y_pred = clip(y_true, epsilon(), 1.0), clip(y_pred, epsilon(), 1.0)
    return sum_of(y_true * log(y_true / y_pred))


class KLDivergence(FormulaLoss, formula=kl_divergence):
    """The Kullback-Leibler divergence: the sum of y_true * log(y_true / y_pred)."""


# ---- margins -------------------------------------------------------------------------------------


def _signed(y_true):
    """Map labels to -1 and 1 if all of them are 0 or 1; return other labels unchanged."""
    binary = logical_or(equal(y_true, 0), equal(y_true, 1))
    all_binary = reduce_all(binary, axis=tuple(range(y_true.ndim)), keepdims=False)
    return select(all_binary, y_true * 2.0 - 1.0, y_true)


def _shortfall(y_true, y_pred, what):
    y_true, y_pred = matched(y_true, y_pred, what)
    return maximum(1.0 - _signed(y_true) * y_pred, 0.0)


@formula()
@in_32_bits
def hinge(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """The mean of max(1 - y_true * y_pred, 0); labels are -1 and 1, or 0 and 1.

    Example:
        >>> hinge([[0.0, 1.0]], [[0.5, 0.5]]).numpy()
        array([1.], dtype=float32)
    """
    return mean_of_last(_shortfall(y_true, y_pred, "hinge"))


class Hinge(FormulaLoss, formula=hinge):
    """The mean of max(1 - y_true * y_pred, 0); labels are -1 and 1, or 0 and 1."""


@formula()
@in_32_bits
def squared_hinge(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """The mean of max(1 - y_true * y_pred, 0)²; labels are -1 and 1, or 0 and 1.

    Example:
        >>> squared_hinge([[0.0, 1.0]], [[0.5, 0.5]]).numpy()
        array([1.25], dtype=float32)
    """
    return mean_of_last(square(_shortfall(y_true, y_pred, "squared_hinge")))


class SquaredHinge(FormulaLoss, formula=squared_hinge):
    """The mean of max(1 - y_true * y_pred, 0)²; labels are -1 and 1, or 0 and 1."""


@formula()
@in_32_bits
def categorical_hinge(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """max(1 + best wrong score - right score, 0), for one-hot labels.

    Example:
        >>> categorical_hinge([[0.0, 1.0]], [[0.5, 1.0]]).numpy()
        array([0.5], dtype=float32)
    """
    y_true, y_pred = matched(y_true, y_pred, "categorical_hinge")
    right = sum_of(y_true * y_pred)
    wrong = reduce_max((1.0 - y_true) * y_pred, axis=(y_pred.ndim - 1,), keepdims=False)
    return maximum(wrong - right + 1.0, 0.0)


class CategoricalHinge(FormulaLoss, formula=categorical_hinge):
    """max(1 + best wrong score - right score, 0), for one-hot labels."""
