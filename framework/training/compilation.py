"""Compilation: what `compile` made of its arguments."""

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
from framework.training.rewind import parts_of


class Compilation:
    """The optimizer, losses and metrics of one `compile`."""

    def __init__(
        self, model, optimizer, loss, loss_weights, metrics, weighted_metrics, accumulate,
    ):  # fmt: skip
        held = weakref.ref(model)  # not the model itself: what is in no cycle is freed at once

        def names():
            return output_names_of(held())

        def find_layer(i):
            return output_layer(held(), i)

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
    """An optimizer from a name, a config or an instance."""
    found = optimizers.get(optimizer)
    if not hasattr(found, "apply_gradients"):
        raise InvalidArgumentError(
            f"optimizer: expected a name or a keras.optimizers.Optimizer, got {optimizer!r}."
        )
    return found


def scaling_of(optimizer, model, auto):
    """The optimizer, within a LossScaleOptimizer where float16 needs it and `auto` is set."""
    scaler = getattr(optimizers, "LossScaleOptimizer", None)
    if not auto or scaler is None or isinstance(optimizer, scaler):
        return optimizer
    name = getattr(getattr(model, "dtype_policy", None), "name", "")
    return scaler(optimizer) if name == "mixed_float16" else optimizer


def accumulator_of(accumulate, optimizer, where):
    """An Accumulator for `accumulate=`, or None.

    Raises:
        ValueError: no int >= 1, or the optimizer accumulates by itself.
    """
    if accumulate is None:
        return None
    made = Accumulator(accumulate)
    every = [getattr(o, "gradient_accumulation_steps", None) for o in parts_of(optimizer)]
    if own := next(filter(None, every), None):
        raise InvalidArgumentError(
            f"{where}: accumulate={accumulate} and the optimizer's "
            f"gradient_accumulation_steps={own} cannot be used together. accumulate=k is one batch "
            "k times as large; the optimizer's takes the mean of k gradients. Leave one out."
        )
    return made if made.every > 1 else None


def config_of(arguments):
    """The arguments of a `compile` as a config that JSON can hold."""
    return {name: serialize_value(value) for name, value in arguments.items()}


def arguments_in(config):
    """The arguments that `config_of` described."""
    made = dict(config)
    made["optimizer"] = optimizers.get(made["optimizer"])
    for name, get in (
        ("loss", losses.get), ("metrics", metrics.get), ("weighted_metrics", metrics.get)
    ):  # fmt: skip
        made[name] = _made(made.get(name), get)
    return made


def _made(value, get):
    if isinstance(value, dict):
        if "class_name" in value:
            return get(value)
        return {key: _made(part, get) for key, part in value.items()}
    return [_made(part, get) for part in value] if isinstance(value, list) else value


def output_names_of(model):
    """The names of the layers that make the model's outputs, None where that is not known."""
    names = getattr(model, "output_names", None)  # Keras takes a user's own too
    if isinstance(names, (list, tuple)) and names:
        return list(names)
    stack = _stack_of(model)
    return [stack[-1].name] if stack else None


def _stack_of(model):
    """The layers of a Sequential model; nothing of any other layer or model."""
    return getattr(getattr(model, "_framework", None), "stack", ())


def output_layer(model, i):
    """The layer that makes output `i`, None where that is not known."""
    stack = _stack_of(model)
    if stack:
        layer = stack[-1]
    elif getattr(getattr(model, "_framework", None), "graph", None) is not None:
        layer = model.outputs[i].origin[0]
    else:
        return None
    return output_layer(layer, 0) or layer


def check_count(name, value, least=0, method="fit"):
    """An error unless it is an int, at least `least`."""
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__") or value < least:
        raise InvalidArgumentError(f"{method}: {name} must be an int >= {least}, got {value!r}.")
