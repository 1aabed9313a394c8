"""The loss of label sequences not aligned with the inputs, as a function and a class."""

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.cast import cast
from framework.core.operations import operation
from framework.core.tensor import Tensor
from framework.losses.base import FormulaLoss, formula
from framework.ops.ctc import of_logits
from framework.ops.elementwise import not_equal
from framework.ops.losses import in_32_bits, refuse, shape_of
from framework.ops.reduction import reduce_sum

__all__ = ["CTC", "ctc"]

_BLANK = 0


@formula(casts_labels=False)
@in_32_bits
# a single op for functional models, in which the numbers of labels and steps may be unknown
@operation
def ctc(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """Connectionist temporal classification: -log of the probability of all alignments together.

    Graves et al. 2006, "Connectionist Temporal Classification: Labelling Unsegmented Sequence Data
    with Recurrent Neural Networks". Class 0 is the blank. Labels that do not fit into the steps
    have a loss of about 100,000.

    Args:
        y_true: integer classes of shape (batch, labels), padded at the end with 0.
        y_pred: logits of shape (batch, steps, classes).

    Example:
        >>> logits = [[[0.0, 2.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 2.0]]]
        >>> ctc([[1, 2]], logits).numpy().round(4)
        array([0.4233], dtype=float32)
    """
    s, t = shape_of(y_true), shape_of(y_pred)
    if len(s) != 2 or len(t) != 3:
        refuse(
            "ctc", s, t, "expected labels of shape (batch, labels) and logits of shape (batch, "
            "steps, classes)",
        )  # fmt: skip
    labels = cast(y_true, dtype=np.dtype(np.int64))
    counts = cast(not_equal(labels, _BLANK), dtype=labels.dtype)
    label_length = reduce_sum(counts, axis=(1,), keepdims=False)
    return of_logits(y_pred, labels, label_length, label_length * 0 + t[1], _BLANK)


class CTC(FormulaLoss, formula=ctc):
    """Connectionist temporal classification (Graves et al. 2006); class 0 is the blank."""
