"""Checks whether outputs, targets and loss fit together, on the first batch."""

from typing import NamedTuple

import numpy as np

from framework import losses
from framework.core.tensor import Tensor
from framework.losses.base import LossFunctionWrapper

_BINARY = (losses.BinaryCrossentropy,)
_CLASSES = (losses.CategoricalCrossentropy, losses.SparseCategoricalCrossentropy)
_FUNCTIONS = {
    losses.binary_crossentropy: _BINARY,
    losses.categorical_crossentropy: _CLASSES,
    losses.sparse_categorical_crossentropy: _CLASSES,
}
_REGRESSION = (
    losses.MeanSquaredError, losses.MeanAbsoluteError, losses.Huber, losses.LogCosh,
    losses.MeanSquaredLogarithmicError, losses.MeanAbsolutePercentageError,
)  # fmt: skip
_SQUASHING = ("sigmoid", "softmax")
_RANGES = {
    "relu": (0, np.inf), "relu6": (0, 6), "softplus": (0, np.inf), "exponential": (0, np.inf),
    "sigmoid": (0, 1), "hard_sigmoid": (0, 1), "softmax": (0, 1), "tanh": (-1, 1),
    "softsign": (-1, 1), "hard_tanh": (-1, 1),
}  # fmt: skip
"""The smallest and the largest output of an activation, by name."""
_SLACK = 1e-3


class Output(NamedTuple):
    """An output of a model on a batch, with its target and loss."""

    loss: object
    kind: object  # the kind of loss that `loss_kind` returns, or None
    from_logits: bool
    y_true: object  # the targets as an array, or None
    y_pred: np.ndarray
    where: str  # a phrase for messages, such as " of layer 'dense_1'", or ""
    activation: object  # the name of the activation of the output's layer, or None


def output_mistakes(loss, y_true, y_pred, layer=None):
    """Return messages about mistakes in one output of a batch.

    Args:
        loss: a Loss.
        y_true, y_pred: the targets, a tensor or None, and the outputs, a tensor.
        layer: the layer that computed `y_pred`, or None if unknown.
    """
    if type(y_pred) is not Tensor or not y_pred.array.size or y_pred.array.dtype.kind not in "fV":
        return []
    array = y_pred.array.astype(np.float32, copy=False)
    if not np.isfinite(array).all():
        return []
    kind, from_logits = _kind(loss)
    labels = y_true.array if type(y_true) is Tensor and y_true.array.dtype.kind in "fiub" else None
    output = Output(loss, kind, from_logits, labels, array, *_described(layer))
    # softmax of one unit also causes the other mistakes, so only this one is reported
    one = _softmax_of_one_unit(output)
    if one:
        return [one]
    found = (_logits(output), _labels_outside(output), _unreachable(output), _broadcast(output))
    return [message for message in found if message]


def _kind(loss):
    if isinstance(loss, _BINARY):
        return _BINARY, loss.from_logits
    if isinstance(loss, _CLASSES):
        return _CLASSES, loss.from_logits
    if not isinstance(loss, LossFunctionWrapper):
        return None, False
    fn = loss.fn
    kind = _FUNCTIONS.get(fn) if callable(fn) and fn.__hash__ else None
    return kind, loss._fn_kwargs.get("from_logits", False)


def loss_kind(loss):
    """Return "classes", "binary", "squared" or "absolute" for a loss; None for any other."""
    kind, _ = _kind(loss)
    if kind is not None:
        return "classes" if kind is _CLASSES else "binary"
    if isinstance(loss, losses.MeanSquaredError):
        return "squared"
    return "absolute" if isinstance(loss, losses.MeanAbsoluteError) else None


def _described(layer):
    """Return (" of layer 'dense_1'", the name of the layer's activation)."""
    if layer is None:
        return "", None
    activation = getattr(layer, "activation", None)
    name = getattr(activation, "__name__", None)
    if name is None and type(layer).__name__.lower() in _RANGES:
        name = type(layer).__name__.lower()
    return f" of layer {layer.name!r}", name


def _softmax_of_one_unit(output):
    if output.activation != "softmax" or output.y_pred.shape[-1] != 1:
        return None
    return (
        f"The output{output.where} is always 1: it has one unit, and softmax divides it by itself. "
        'For two classes use one unit with activation="sigmoid" and the loss '
        '"binary_crossentropy", for more classes one unit per class.'
    )


def _logits(output):
    """Return a message if logits are used as probabilities or the reverse, else None."""
    array, where, kind, loss = output.y_pred, output.where, output.kind, output.loss
    if kind is None:
        return None
    outside = bool((array < -_SLACK).any() or (array > 1 + _SLACK).any())
    sums_to_one = bool(np.abs(array.sum(getattr(loss, "axis", -1)) - 1).max() < 1e-2)
    if not output.from_logits:
        if outside:
            symptom = f"the outputs{where} range from {array.min():.4g} to {array.max():.4g}"
        elif kind is _CLASSES and not sums_to_one and array.shape[-1] > 1:
            symptom = f"the rows of the outputs{where} do not sum to 1"
        else:
            return None
        if output.activation == "sigmoid" and kind is _CLASSES:
            return (
                f"The loss {loss.name!r} expects the probabilities of classes that exclude each "
                f'other, but {symptom}: they are computed by sigmoid. Use activation="softmax" '
                'in this layer. If a row can have several labels, use "binary_crossentropy".'
            )
        remedy = "softmax" if kind is _CLASSES else "sigmoid"
        return (
            f"The loss {loss.name!r} expects probabilities (from_logits=False), but {symptom}: "
            f"they look like logits. Use from_logits=True in the loss, or "
            f'activation="{remedy}" in the last layer.'
        )
    if output.activation in _SQUASHING and not outside:
        return (
            f"The loss {loss.name!r} expects logits (from_logits=True), but the outputs{where} are "
            f"probabilities, computed by {output.activation}. Use from_logits=False in the loss, "
            "or a last layer without activation."
        )
    if not where and kind is _CLASSES and not outside and sums_to_one and array.ndim > 1:
        return (
            f"The loss {loss.name!r} expects logits (from_logits=True), but the outputs look like "
            "probabilities: they lie in [0, 1] and their rows sum to 1. Use from_logits=False in "
            "the loss, or outputs without softmax."
        )
    return None


def _labels_outside(output):
    """Return a message if labels of a binary cross-entropy are not in [0, 1], else None."""
    labels = output.y_true
    if output.kind is not _BINARY or labels is None or not labels.size:
        return None
    low, high = labels.min(), labels.max()
    if low >= -_SLACK and high <= 1 + _SLACK:
        return None
    return (
        f"y: the loss {output.loss.name!r} expects labels from 0 to 1, but y has values from "
        f"{low:.4g} to {high:.4g}. Map the two classes to 0 and 1, as by (y == {high:.4g}); for "
        'class numbers use "sparse_categorical_crossentropy" and one unit per class.'
    )


def _unreachable(output):
    """Return a message if targets lie outside the range of the last activation, else None."""
    targets = output.y_true
    if output.activation not in _RANGES or not isinstance(output.loss, _REGRESSION):
        return None
    low, high = _RANGES[output.activation]
    if targets is None or targets.size < 4:
        return None
    outside = (targets < low - _SLACK) | (targets > high + _SLACK)
    if outside.mean() < 0.9:
        return None
    bounds = f"from {low} to {high}" if np.isfinite(high) else f"of at least {low}"
    return (
        f"The activation {output.activation!r}{output.where} gives only values {bounds}, but y has "
        f"values from {targets.min():.4g} to {targets.max():.4g}. Leave out the activation of the "
        "last layer, or scale y into this range."
    )


def _broadcast(output):
    """Return a message if targets of one column are compared with several columns, else None."""
    if output.y_true is None or not isinstance(output.loss, _REGRESSION):
        return None
    expected, got = output.y_pred.shape, output.y_true.shape
    if len(expected) < 2 or len(got) != len(expected) or 1 not in {expected[-1], got[-1]}:
        return None
    if expected[-1] == got[-1]:
        return None
    return (
        f"y has the shape {got}, but the outputs{output.where} have {expected}: the loss "
        f"{output.loss.name!r} repeats the single column. Give the last layer "
        f"{got[-1]} unit{'s' * (got[-1] > 1)}, or y one column per unit."
    )


def metric_mistakes(metrics, y_true):
    """Return messages if `metrics` include "accuracy" but the targets are not classes."""
    wanted = [name for name in metrics if isinstance(name, str) and name.lower() in _ACCURACIES]
    if not wanted or type(y_true) is not Tensor or y_true.array.dtype.kind != "f":
        return []
    labels = y_true.array
    fractions = (labels != np.floor(labels)).mean() if labels.size else 0
    # fractions from 0 to 1 may be probabilities of classes
    if fractions < 0.5 or (labels.min() >= 0 and labels.max() <= 1):
        return []
    message = (
        f"metrics: {wanted[0]!r} compares classes, but y has numbers such as "
        f"{labels.ravel()[0]:.4g}, so it is almost always 0. For a regression use 'mae' or "
        "'r2_score'."
    )
    return [message]


_ACCURACIES = ("accuracy", "acc")
