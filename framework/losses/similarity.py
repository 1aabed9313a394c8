"""Losses of embeddings, which compare the samples of a batch with each other."""

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.tensor import Tensor
from framework.losses.base import FormulaLoss, formula
from framework.ops.casting import like
from framework.ops.contraction import matmul
from framework.ops.elementwise import (
    equal,
    greater,
    logical_and,
    logical_not,
    maximum,
    not_equal,
    select,
    softplus,
)
from framework.ops.losses import in_32_bits, one_label_each, refuse, shape_of, with_mask
from framework.ops.movement import expand_axes
from framework.ops.reduction import cumsum, reduce_logsumexp

__all__ = ["Circle", "circle"]


def _labels(labels, embeddings, what):
    """Return one int64 label per embedding; raise ShapeError if the shapes do not fit."""
    shape = shape_of(embeddings)
    if len(shape) != 2:
        refuse(what, shape_of(labels), shape, "expected embeddings of shape (batch, size)")
    labels = one_label_each(labels, shape, 1, what, "integer label per embedding{}")
    return cast(labels, dtype=np.dtype(np.int64))


def _positions(labels):
    """Return 0, 1, 2, ... as a cumulative sum, because the batch size may be unknown."""
    return cumsum(labels * 0 + 1, axis=0, reverse=False)


@formula(casts_labels=False)
@in_32_bits
def circle(
    y_true: TensorLike, y_pred: TensorLike, ref_labels: TensorLike = None,
    ref_embeddings: TensorLike = None, remove_diagonal: bool = True, gamma: float = 80,
    margin: float = 0.4,
) -> Tensor:  # fmt: skip
    """The circle loss of each embedding against all others of the batch.

    log(1 + Σ exp(gamma αn (sn - margin)) Σ exp(-gamma αp (sp - 1 + margin))) over the cosine
    similarities sp with equal labels and sn with other labels; αp = max(1 + margin - sp, 0) and
    αn = max(sn + margin, 0) are differentiated too. An embedding without others of its own
    label, or without others of different labels, has the loss 0, and means ignore it.
    Sun et al. 2020, "Circle Loss: A Unified Perspective of Pair Similarity Optimization".

    Args:
        y_true: integer labels of shape (batch,) or (batch, 1).
        y_pred: embeddings with an L2 norm of 1, of shape (batch, size).
        ref_labels, ref_embeddings: the embeddings to compare with; those of the batch if None.
        remove_diagonal: whether not to compare each embedding with the one at its own position.
        gamma: the scale of similarities.
        margin: the relaxation of the optima 1 and 0.

    Example:
        >>> embeddings = [[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]]
        >>> circle([0, 0, 1], embeddings, gamma=2.0).numpy().round(4)
        array([0.4518, 0.7763, 0.    ], dtype=float32)
    """
    labels = other_labels = _labels(y_true, y_pred, "circle")
    others = y_pred if ref_embeddings is None else like(tensor(ref_embeddings), y_pred)
    if ref_labels is not None:
        other_labels = _labels(tensor(ref_labels), others, "circle: ref_labels")
    distance = maximum(1.0 - matmul(y_pred, others, transpose_b=True), 0.0)
    same = equal(expand_axes(labels, (1,)), expand_axes(other_labels, (0,)))
    other = logical_not(same)
    if remove_diagonal:
        rows, columns = _positions(labels), _positions(other_labels)
        elsewhere = not_equal(expand_axes(rows, (1,)), expand_axes(columns, (0,)))
        same = logical_and(same, elsewhere)
    positive = (distance + margin) * (distance - margin) * gamma
    negative = maximum(1.0 + margin - distance, 0.0) * (1.0 - margin - distance) * gamma
    losses = softplus(_log_sum(positive, same) + _log_sum(negative, other))
    return with_mask(losses, greater(losses, 0.0))


def _log_sum(x, pairs):
    return reduce_logsumexp(select(pairs, x, -np.inf), axis=(1,), keepdims=False)


class Circle(FormulaLoss, formula=circle):
    """The circle loss of each embedding against all others of the batch (Sun et al. 2020)."""

    gamma: float = 80.0
    margin: float = 0.4
    remove_diagonal: bool = True
