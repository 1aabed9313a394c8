"""Warnings about legal but probably unintended uses: logits as probabilities, unseen classes."""

import sys
import warnings

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
_PACKAGE = __name__.partition(".")[0] + "."
_SQUASHING = ("sigmoid", "softmax")


def check_logits(loss, y_pred, layer=None):
    """Warn if a cross-entropy receives logits instead of probabilities, or the reverse.

    Args:
        loss: a Loss; only cross-entropies are checked.
        y_pred: a batch of the model's outputs, a tensor.
        layer: the layer that computed `y_pred`, or None if unknown.
    """
    kind, from_logits = _kind(loss)
    if kind is None or type(y_pred) is not Tensor or not y_pred.array.size:
        return
    array = y_pred.array.astype(np.float32, copy=False)
    if not np.isfinite(array).all():
        return
    outside = bool((array < -1e-3).any() or (array > 1 + 1e-3).any())
    sums_to_one = bool(np.abs(array.sum(getattr(loss, "axis", -1)) - 1).max() < 1e-2)
    where, activation = _described(layer)
    if not from_logits:
        if outside:
            symptom = f"the outputs{where} range from {array.min():.4g} to {array.max():.4g}"
        elif kind is _CLASSES and not sums_to_one and array.shape[-1] > 1:
            symptom = f"the rows of the outputs{where} do not sum to 1"
        else:
            return
        remedy = "softmax" if kind is _CLASSES else "sigmoid"
        warn(
            f"The loss {loss.name!r} expects probabilities (from_logits=False), but {symptom}: "
            f"they look like logits. Use from_logits=True in the loss, or "
            f'activation="{remedy}" in the last layer.'
        )
    elif activation in _SQUASHING and not outside:
        warn(
            f"The loss {loss.name!r} expects logits (from_logits=True), but the outputs{where} are "
            f"probabilities, computed by {activation}. Use from_logits=False in the loss, or a "
            "last layer without activation."
        )
    elif layer is None and kind is _CLASSES and not outside and sums_to_one and array.ndim > 1:
        warn(
            f"The loss {loss.name!r} expects logits (from_logits=True), but the outputs look like "
            "probabilities: they lie in [0, 1] and their rows sum to 1. Use from_logits=False in "
            "the loss, or outputs without softmax."
        )


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


def _described(layer):
    """Return (" of layer 'dense_1'", the name of the layer's activation)."""
    if layer is None:
        return "", None
    activation = getattr(layer, "activation", None)
    name = getattr(activation, "__name__", None)
    if name is None and type(layer).__name__.lower() in _SQUASHING:
        name = type(layer).__name__.lower()
    return f" of layer {layer.name!r}", name


def check_unseen_classes(y_train, y_held_out):
    """Warn if the rows of `validation_split` have classes that the training rows lack."""
    y_train, y_held_out = np.asarray(y_train), np.asarray(y_held_out)
    flat = y_train.ndim == 1 or (y_train.ndim == 2 and y_train.shape[1] == 1)
    if y_train.dtype.kind not in "iub" or not flat:
        return
    unseen = np.setdiff1d(y_held_out, y_train)
    seen = np.unique(y_train)
    if not unseen.size or seen.size > max(20, len(y_train) // 10):
        return  # many distinct integers: probably counts, not classes
    warn(
        "validation_split takes the last rows without shuffling, and these rows have classes that "
        f"the training rows do not have: {_listed(unseen.tolist())}. Are the rows sorted by "
        "class? Shuffle them first, or pass validation_data."
    )


def _listed(items):
    """Return the first five items as a text."""
    return ", ".join(map(repr, items[:5])) + (", ..." if len(items) > 5 else "")


def check_left_out(model, count):
    """Warn that an overridden train_step did not read the model's own losses."""
    layers = model._flatten_layers(include_self=False)
    names = [layer.name for layer in layers if layer._framework.losses]
    names += [v.path for v in model.trainable_weights if getattr(v, "regularizer", None)]
    sources = f" (of {_listed(names)})" if names else ""
    warn(
        f"{type(model).__name__}.train_step does not add the {count} "
        f"loss{'es' if count > 1 else ''} of the model's layers{sources}, so regularizers and "
        "add_loss() have no effect. Write loss += sum(self.losses), or use self.compute_loss(...)."
    )


def check_scalar_metric(name):
    """Warn that a metric function returns one number per batch, not one per row."""
    warn(
        f"The metric {name!r} returns one number per batch. The logged value is the mean of these "
        "numbers, weighted by rows; it equals the metric over all data only if the metric is a "
        "mean over rows. Return one value per row, or use a keras.metrics class."
    )


def warn(message):
    """Warn with the line of the user's code as the place of the warning."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)
