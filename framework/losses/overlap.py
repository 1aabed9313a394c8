"""Segmentation losses, which measure how two masks overlap, as functions and classes."""

import operator
from typing import Annotated, Any

from framework.core.argument_types import Axis, TensorLike
from framework.core.axes import all_axes
from framework.core.configurable import Resolved
from framework.core.dtypes import epsilon
from framework.core.errors import InvalidArgumentError
from framework.core.shared_fields import ComputeDtype, Name
from framework.core.tensor import Tensor
from framework.losses.base import FormulaLoss, ReductionField, formula
from framework.ops.losses import alike, in_32_bits
from framework.ops.reduction import reduce_sum

__all__ = ["Dice", "Tversky", "dice", "tversky"]


def _axes(value):
    if value is None:
        return None
    try:
        if isinstance(value, (list, tuple)):
            return tuple(operator.index(axis) for axis in value)
        return operator.index(value)
    except TypeError:
        raise InvalidArgumentError("expected an int, a list of ints or None") from None


Axes = Annotated[Any, Resolved("an int, a list of ints or None", _axes)]


def _operands(y_true, y_pred, axis, what):
    """Return operands of one shape and a function that sums over `axis`."""
    y_true, y_pred = alike(y_true, y_pred, what)
    axes = all_axes(axis, y_pred.ndim, what)
    return y_true, y_pred, lambda x: reduce_sum(x, axis=axes, keepdims=False)


@formula()
@in_32_bits
def dice(y_true: TensorLike, y_pred: TensorLike, axis: Axis = None) -> Tensor:
    """1 - 2 |A ∩ B| / (|A| + |B|) of labels A and predictions B.

    Milletari et al. 2016, "V-Net: Fully Convolutional Neural Networks for Volumetric Medical Image
    Segmentation".

    Args:
        y_true, y_pred: arrays of one shape with values from 0 to 1.
        axis: the axes that each loss sums over, such as (1, 2, 3) for a loss per sample; None: all.

    Example:
        >>> dice([[0.0, 1.0], [1.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]], axis=1).numpy().round(4)
        array([0.    , 0.3333], dtype=float32)
    """
    y_true, y_pred, total = _operands(y_true, y_pred, axis, "dice")
    both = total(y_true * y_pred)
    return 1.0 - 2.0 * both / (total(y_true) + total(y_pred) + epsilon())


class Dice(FormulaLoss, formula=dice):
    """1 - 2 |A ∩ B| / (|A| + |B|) of labels A and predictions B (Milletari et al. 2016)."""

    reduction: ReductionField = "sum_over_batch_size"
    name: Name = None
    axis: Axes = None
    dtype: ComputeDtype = None


@formula()
@in_32_bits
def tversky(
    y_true: TensorLike, y_pred: TensorLike, alpha: float = 0.5, beta: float = 0.5,
    axis: Axis = None,
) -> Tensor:  # fmt: skip
    """1 - |A ∩ B| / (|A ∩ B| + alpha |A \\ B| + beta |B \\ A|) of labels A and predictions B.

    Salehi et al. 2017, "Tversky loss function for image segmentation using 3D fully convolutional
    deep networks". With both weights 0.5 it is the Dice loss.

    Args:
        y_true, y_pred: arrays of one shape with values from 0 to 1.
        alpha: the weight of labels that are not predicted.
        beta: the weight of predictions that are not labels.
        axis: the axes that each loss sums over, such as (1, 2, 3) for a loss per sample; None: all.

    Example:
        >>> tversky([[0.0, 1.0]], [[0.5, 0.5]], alpha=1.0, axis=1).numpy().round(4)
        array([0.6], dtype=float32)
    """
    y_true, y_pred, total = _operands(y_true, y_pred, axis, "tversky")
    both = total(y_true * y_pred)
    missed = total(y_true * (1.0 - y_pred))
    wrong = total((1.0 - y_true) * y_pred)
    return 1.0 - both / (both + missed * alpha + wrong * beta + epsilon())


class Tversky(FormulaLoss, formula=tversky):
    """1 - |A ∩ B| / (|A ∩ B| + alpha |A \\ B| + beta |B \\ A|) (Salehi et al. 2017)."""

    alpha: float = 0.5
    beta: float = 0.5
    reduction: ReductionField = "sum_over_batch_size"
    name: Name = None
    axis: Axes = None
    dtype: ComputeDtype = None
