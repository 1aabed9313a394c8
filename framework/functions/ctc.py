"""Connectionist temporal classification, with TensorFlow's signatures."""

from typing import Any

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, ShapeError
from framework.core.operations import operation
from framework.core.promotion import floating
from framework.core.tensor import Tensor
from framework.ops import ctc as ops
from framework.ops import movement
from framework.ops.casting import like, widened


@operation
def ctc_loss(
    labels: TensorLike, logits: TensorLike, label_length: TensorLike, logit_length: TensorLike,
    logits_time_major: bool = True, unique: Any = None, blank_index: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the loss of label sequences without an alignment to the steps. Graves et al. 2006.

    Args:
        labels: integers (batch, labels); those after `label_length` are ignored.
        logits: of shape (steps, batch, classes), or (batch, steps, classes) if
            `logits_time_major` is False.
        label_length: the number of labels of each sequence, integers (batch,).
        logit_length: the number of steps of each sequence, integers (batch,).
        logits_time_major: whether the first axis of `logits` is the time.
        unique: ignored; the loss is as fast without it.
        blank_index: the class of the blank, by default 0; negative ones count from the last.

    >>> import framework as tf
    >>> logits = tf.zeros([3, 1, 4])
    >>> tf.nn.ctc_loss([[1, 2]], logits, [2], [3]).numpy().round(4)
    array([2.5494], dtype=float32)
    """
    x, labels = floating(logits, "ctc_loss"), tensor(labels)
    if x.ndim != 3 or labels.ndim != 2:
        raise ShapeError(
            "ctc_loss: expected `logits` of rank 3 and `labels` of rank 2, got shapes "
            f"{x.shape} and {labels.shape}."
        )
    if not labels.dtype.is_integer:
        raise DTypeError(f"ctc_loss: `labels` must be integers, got {labels.dtype}.")
    if logits_time_major:
        x = movement.transpose(x, perm=(1, 0, 2))
    blank = 0 if blank_index is None else int(blank_index)
    blank = blank + x.shape[-1] if blank < 0 else blank
    loss = ops.of_logits(widened(x), labels, tensor(label_length), tensor(logit_length), blank)
    return like(loss, x)


@operation
def ctc_unique_labels(labels: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return the different labels of each row, and the position of each label among them.

    Args:
        labels: integers (batch, labels).

    Returns:
        int64 of the labels' shape, 0 behind the last different label, and int32 of their shape.

    >>> import framework as tf
    >>> labels, positions = tf.nn.ctc_unique_labels([[3, 4, 4, 3]])
    >>> labels.numpy().tolist(), positions.numpy().tolist()
    ([[3, 4, 0, 0]], [[0, 1, 1, 0]])
    """
    array = np.asarray(tensor(labels))
    if array.ndim != 2 or array.dtype.kind not in "iu":
        raise ShapeError(
            f"ctc_unique_labels: expected integers of rank 2, got {array.dtype} of shape "
            f"{array.shape}."
        )
    different, places = np.zeros(array.shape, np.int64), np.zeros(array.shape, np.int32)
    for row, values in enumerate(array):
        _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
        order = np.argsort(first)
        different[row, : len(first)] = values[first[order]]
        places[row] = np.argsort(order)[inverse.reshape(-1)]
    return Tensor(different), Tensor(places)
