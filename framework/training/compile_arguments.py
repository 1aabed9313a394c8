"""Conversion of the arguments of `compile`: names, configs and functions to objects, and back."""

from collections.abc import Mapping

import numpy as np

from framework import losses, metrics, optimizers
from framework.core import nest
from framework.core.configurable import serialize_value
from framework.core.errors import FrameworkError, InvalidArgumentError
from framework.metrics.base import operand
from framework.ops.losses import shape_of
from framework.ops.movement import broadcast_to
from framework.training.accumulation import Accumulator
from framework.training.output_matching import name_of
from framework.training.snapshot import parts_of
from framework.training.usage_warnings import check_scalar_metric

LOSSES_BY_SHAPE = ("crossentropy", "ce")
METRICS_BY_SHAPE = {
    "accuracy": "accuracy", "acc": "accuracy", "crossentropy": "crossentropy", "ce": "crossentropy"
}  # fmt: skip
"""Names whose class follows from the shapes of the first batch."""


def optimizer_of(optimizer):
    """Return the optimizer for a name, a config or an instance."""
    resolved = optimizers.get(optimizer)
    if not hasattr(resolved, "apply_gradients"):
        raise InvalidArgumentError(
            f"optimizer: expected a name or a keras.optimizers.Optimizer, got {optimizer!r}."
        )
    return resolved


def scaling_of(optimizer, model, auto):
    """Return the optimizer; if `auto` and the model's dtype policy is "mixed_float16", wrap it in a
    LossScaleOptimizer."""
    scaler = getattr(optimizers, "LossScaleOptimizer", None)
    if not auto or scaler is None or isinstance(optimizer, scaler):
        return optimizer
    name = getattr(getattr(model, "dtype_policy", None), "name", "")
    return scaler(optimizer) if name == "mixed_float16" else optimizer


def accumulator_of(accumulate, optimizer, where):
    """Return an Accumulator for the argument `accumulate`; None if it is None or 1.

    Raises:
        ValueError: `accumulate` is not an int >= 1, or the optimizer itself accumulates.
    """
    if accumulate is None:
        return None
    accumulator = Accumulator(accumulate)
    steps = [getattr(o, "gradient_accumulation_steps", None) for o in parts_of(optimizer)]
    if own := next(filter(None, steps), None):
        raise InvalidArgumentError(
            f"{where}: accumulate={accumulate} and the optimizer's "
            f"gradient_accumulation_steps={own} cannot be used together. accumulate=k acts as one "
            "batch k times as large; gradient_accumulation_steps=k applies the mean of k "
            "gradients. Remove one of them."
        )
    return accumulator if accumulator.every > 1 else None


def losses_from(loss):
    """Return the nest with names, functions and configs replaced by losses."""
    if loss is None:
        return None
    if is_loss(loss):
        if isinstance(loss, str) and loss.lower() in LOSSES_BY_SHAPE:
            return loss
        try:
            return _with_name(losses.as_loss(loss), loss)
        except FrameworkError as error:
            raise type(error)(f"loss: {error}") from None
    if isinstance(loss, Mapping):
        return {key: losses_from(part) for key, part in loss.items()}
    return [losses_from(part) for part in loss]


def _with_name(loss, given):
    """Return `loss`; if the user passed a function or its name, the loss gets this name."""
    resolved = losses.get(given)
    if not isinstance(resolved, losses.Loss):
        loss.name = given if isinstance(given, str) else name_of(resolved)
    return loss


def checked_loss_weights(loss_weights):
    for weight in nest.flatten(loss_weights):
        if weight is not None and (
            isinstance(weight, (str, bool)) or not hasattr(weight, "__float__")
        ):
            raise InvalidArgumentError(
                f"loss_weights: expected a number, or a list or dict of numbers, got {weight!r}."
            )
    return loss_weights


def is_loss(given):
    """Return whether `given` is a single loss instead of a nest of losses."""
    return not isinstance(given, (list, tuple)) and (
        not isinstance(given, Mapping) or "class_name" in given
    )


def metrics_from(given, argument):
    """Return the nest with names, functions and configs replaced by metrics."""
    if given is None:
        return None
    if not nest.is_nested(given) or (isinstance(given, Mapping) and "class_name" in given):
        raise InvalidArgumentError(
            f"{argument}: expected a list of metrics, or a list, dict or nest of such lists that "
            f"matches the outputs, got {given!r}. Write {argument}=[{given!r}]."
        )
    return _each_metric_from(given, argument)


def _each_metric_from(given, argument):
    if isinstance(given, Mapping) and "class_name" not in given:
        return {key: _each_metric_from(part, argument) for key, part in given.items()}
    if isinstance(given, (list, tuple)):
        return [_each_metric_from(part, argument) for part in given]
    if given is None or (isinstance(given, str) and given.lower() in METRICS_BY_SHAPE):
        return given
    try:
        metric = metrics.get(given)
    except FrameworkError as error:
        raise type(error)(f"{argument}: {error}") from None
    if isinstance(metric, metrics.Metric):
        if isinstance(given, str):
            metric.name = given  # logs show the name as the user wrote it
        return metric
    if hasattr(metric, "update_state"):
        return metric
    if not callable(metric):
        raise InvalidArgumentError(
            f"{argument}: expected a name, a Metric or a function metric(y_true, y_pred), got "
            f"{given!r}."
        )
    return FunctionMetric(metric, name=given if isinstance(given, str) else name_of(metric))


class FunctionMetric(metrics.MeanMetricWrapper):
    """A user's function as a metric; a result of one number per batch is weighted by its rows."""

    _scalars = 0

    def values(self, y_true, y_pred):
        values = super().values(y_true, y_pred)
        if np.ndim(values):
            return values
        self._scalars += 1
        # warn: the mean of the batches' values can differ from the metric computed over all rows
        if self._scalars == 2:
            check_scalar_metric(self.name)
        values = operand(values, self.dtype, not isinstance(y_pred, np.ndarray))
        return broadcast_to(values, shape=shape_of(y_pred)[:1])


def config_of(arguments):
    """Return the arguments of `compile` as a JSON-serializable config."""
    return {name: serialize_value(value) for name, value in arguments.items()}


def arguments_in(config):
    """Return the arguments of `compile` from a config that `config_of` returned."""
    arguments = dict(config)
    arguments["optimizer"] = optimizers.get(arguments["optimizer"])
    for name, get in (
        ("loss", losses.get), ("metrics", metrics.get), ("weighted_metrics", metrics.get)
    ):  # fmt: skip
        arguments[name] = _deserialized(arguments.get(name), get)
    return arguments


def _deserialized(value, get):
    if isinstance(value, dict):
        if "class_name" in value:
            return get(value)
        return {key: _deserialized(part, get) for key, part in value.items()}
    return [_deserialized(part, get) for part in value] if isinstance(value, list) else value
