"""Functions that train, evaluate and update metrics on one batch of a compiled model."""

import inspect
from functools import partial

from framework.core.errors import InvalidArgumentError
from framework.core.internal_state import builtin
from framework.training.inputs import layer_loss, rows_of
from framework.training.step import TrainingStep


def require_compiled(model, method):
    """Return the model's `Compilation`; raise an error if it is not compiled."""
    if model._framework.training is None:
        raise InvalidArgumentError(
            f"{method}: the model {model.name!r} is not compiled yet. Call "
            'model.compile(optimizer="adam", loss="...") first.'
        )
    return model._framework.training


def compiled_step(model):
    """Return the compiled model's `TrainingStep`, built at the first call."""
    training = require_compiled(model, "fit")
    if training.step is None:
        own_loss = overrides(model, "compute_loss")
        own_metrics = overrides(model, "compute_metrics")
        matched = training.has_metrics and not own_metrics
        training.step = TrainingStep(
            model, own_loss_function(model, True), training.optimizer,
            partial(update_metrics, model), accumulator=training.accumulator,
            compute_parts=None if own_loss else parts_of(model, training.loss),
            metrics=(training.metrics,) if matched else (), reports=own_metrics,
        )  # fmt: skip
    return training.step


def own_loss_function(model, training):
    """Return `model.compute_loss` as a function; pass `training` only if it is a parameter."""
    compute = model.compute_loss
    parameters = inspect.signature(compute).parameters
    takes = "training" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    more = {"training": training} if takes else {}

    def compute_loss(x, y, y_pred, sample_weight):
        return compute(x, y, y_pred, sample_weight, **more)

    return compute_loss


def parts_of(model, loss):
    """Return a function for [(kind, weight, loss)] of a batch, including the layers' losses."""

    def compute_parts(x, y, y_pred, sample_weight):
        parts = [] if loss.losses is None else loss.parts(y, y_pred, sample_weight)
        rows = float(rows_of(x))
        for part in model.losses:
            by_row = part.array.ndim and part.array.shape[0] == rows
            total = parts[0][2] if parts else None
            weight = ("sum", 1.0) if by_row else ("rows", rows)
            parts.append((*weight, layer_loss(part, total)))
        if not parts:
            raise no_loss(model)
        return parts

    return compute_parts


def overrides(model, method):
    """Return whether the model's class overrides this method of the Trainer."""
    return getattr(type(model), method) is not getattr(builtin(model), method)


def update_metrics(model, x, y, y_pred, sample_weight, loss):
    """Update the metrics; return the logs of an overridden `compute_metrics`, otherwise None."""
    training = model._framework.training
    training.loss_tracker.update_state(loss, sample_weight=rows_of(x))
    if overrides(model, "compute_metrics"):
        return model.compute_metrics(x, y, y_pred, sample_weight)
    if training.has_metrics:
        training.metrics.update_state(y, y_pred, sample_weight)
    return None


def evaluate_batch(model, x, y, sample_weight):
    """Evaluate one batch: update the metrics without training."""
    y_pred = model(x, training=False)
    loss = own_loss_function(model, False)(x, y, y_pred, sample_weight)
    return update_metrics(model, x, y, y_pred, sample_weight, loss)


def no_loss(model):
    """Return the error for a model without any loss."""
    return InvalidArgumentError(
        f"fit: the model {model.name!r} has no loss: compile was called with loss=None, and no "
        "layer calls add_loss(). Pass a loss to compile."
    )
