"""Compilation: the optimizer, losses and metrics that `model.compile` builds from its arguments."""

import weakref

import numpy as np

from framework import losses, metrics, optimizers
from framework.core.configurable import serialize_value
from framework.core.errors import InvalidArgumentError
from framework.metrics import Mean
from framework.optimizers.asking import bind, rules_of
from framework.training.accumulation import Accumulator
from framework.training.compiled_loss import CompiledLoss
from framework.training.compiled_metrics import CompiledMetrics
from framework.training.snapshot import parts_of


class Compilation:
    """The optimizer, losses and metrics of one call of `compile`."""

    def __init__(
        self, model, optimizer, loss, loss_weights, metrics, weighted_metrics, accumulate,
    ):  # fmt: skip
        model_ref = weakref.ref(model)  # no reference cycle, so the model is freed at once

        def names():
            return output_names_of(model_ref())

        def find_layer(i):
            return output_layer(model_ref(), i)

        self.optimizer = optimizer_of(optimizer)
        self.accumulator = accumulator_of(accumulate, self.optimizer, "compile")
        self.loss = CompiledLoss(loss, loss_weights, names, track=True, find_layer=find_layer)
        self.metrics = CompiledMetrics(metrics, weighted_metrics, names)
        self.has_metrics = bool(self.metrics)
        if model.built and rules_of(self.optimizer) is not None:
            bind(self.optimizer, model)
        self.loss_tracker = Mean(name="loss")
        self.step = None

    @property
    def all_metrics(self):
        own = [self.metrics] if self.has_metrics else []
        return [self.loss_tracker, *own, *self.loss.trackers]


def optimizer_of(optimizer):
    """Return the optimizer for a name, a config or an instance."""
    resolved = optimizers.get(optimizer)
    if not hasattr(resolved, "apply_gradients"):
        raise InvalidArgumentError(
            f"optimizer: expected a name or a keras.optimizers.Optimizer, got {optimizer!r}."
        )
    return resolved


def scaling_of(optimizer, model, auto):
    """Return the optimizer, wrapped in a LossScaleOptimizer if `auto` and the policy is float16."""
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


def output_names_of(model):
    """Return the names of the model's output layers, None if they are unknown."""
    names = getattr(model, "output_names", None)  # a user's class may define it, as in Keras
    if isinstance(names, (list, tuple)) and names:
        return list(names)
    stack = _stack_of(model)
    return [stack[-1].name] if stack else None


def _stack_of(model):
    """Return the layers of a Sequential model; an empty tuple for any other layer or model."""
    return getattr(getattr(model, "_framework", None), "stack", ())


def output_layer(model, i):
    """Return the layer that computes output `i`, None if it is unknown."""
    stack = _stack_of(model)
    if stack:
        layer = stack[-1]
    elif getattr(getattr(model, "_framework", None), "graph", None) is not None:
        layer = model.outputs[i].origin[0]
    else:
        return None
    return output_layer(layer, 0) or layer


def check_count(name, value, least=0, method="fit"):
    """Raise InvalidArgumentError unless `value` is an int >= `least`."""
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__") or value < least:
        raise InvalidArgumentError(f"{method}: {name} must be an int >= {least}, got {value!r}.")
