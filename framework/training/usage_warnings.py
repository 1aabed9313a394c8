"""Warnings about legal but probably unintended uses; those about data are in `mistakes/`."""

import sys
import threading
import warnings
from contextlib import contextmanager

import numpy as np

_PACKAGE = __name__.partition(".")[0] + "."


def check_unseen_classes(y_train, y_held_out):
    """Warn if the rows of `validation_split` have classes that the training rows lack."""
    y_train, y_held_out = np.asarray(y_train), np.asarray(y_held_out)
    flat = y_train.ndim == 1 or (y_train.ndim == 2 and y_train.shape[1] == 1)
    if y_train.dtype.kind not in "iub" or not flat:
        return
    unseen = np.setdiff1d(y_held_out, y_train)
    seen = np.unique(y_train)
    if not unseen.size or seen.size > max(20, len(y_train) // 10):
        return  # integers with many distinct values are probably counts instead of classes
    warn(
        "validation_split takes the last rows without shuffling, and these rows have classes that "
        f"the training rows do not have: {_listed(unseen.tolist())}. Are the rows sorted by "
        "class? Shuffle them first, or pass validation_data."
    )


def _listed(items):
    """Return the first five items as text."""
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


def check_frozen(model):
    """Warn that a model has no trainable weights."""
    if model.weights:
        layers = [layer.name for layer in model._flatten_layers(include_self=False)]
        frozen = f": all {len(model.weights)} are frozen, in the layers {_listed(layers)}"
        remedy = "Set `trainable = True` on the model or on a layer, then call compile again."
    else:
        frozen, remedy = "", "Add a layer with weights."
    warn(
        f"The model {model.name!r} has no trainable weights{frozen}, so training changes nothing. "
        f"{remedy}"
    )


def check_scalar_metric(name):
    """Warn that a metric function returns one number per batch, not one per row."""
    warn(
        f"The metric {name!r} returns one number per batch. The logged value is the mean of these "
        "numbers, weighted by rows; it equals the metric over all data only if the metric is a "
        "mean over rows. Return one value per row, or use a keras.metrics class."
    )


_muted = threading.local()


@contextmanager
def no_warnings():
    """Turn usage warnings off in this thread during a `with` block: a report prints them."""
    _muted.on = True
    try:
        yield
    finally:
        _muted.on = False


def warn(message):
    """Issue a warning that points at the line of the user's code."""
    if getattr(_muted, "on", False):
        return
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)
