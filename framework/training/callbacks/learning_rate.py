"""LearningRateScheduler and ReduceLROnPlateau: callbacks that change the learning rate."""

import inspect
import itertools
from typing import Any

from framework.core.errors import InvalidArgumentError
from framework.optimizers.asking import inside, is_several, scale_rates, several
from framework.training.callbacks.base import Callback
from framework.training.callbacks.monitor import Monitor, is_better, value_in

_AS_GOOD_AS = 1 + 1e-6
"""The relative tolerance when rates are compared, because rates are stored as float32."""


class LearningRateScheduler(Callback):
    """Sets the learning rate before each epoch.

    Args:
        schedule: `schedule(epoch, rate)` or `schedule(epoch)`, which returns the new rate.
        verbose: 1 prints the new rate.

    The epoch's logs have the rate as "learning_rate". Each optimizer of a `MultiOptimizer` has
    its own rate, logged as "learning_rate_" and the optimizer's name.

    Example:
        >>> halving = LearningRateScheduler(lambda epoch, rate: rate * 0.5)
    """

    def __init__(self, schedule: Any, verbose: Any = 0):
        if not callable(schedule):
            raise InvalidArgumentError(
                f"LearningRateScheduler: schedule must be a function of (epoch, rate), got "
                f"{schedule!r}."
            )
        self.schedule, self.verbose = schedule, verbose
        self._framework.takes_rate = _takes_two(schedule)

    def on_epoch_begin(self, epoch: Any, logs: Any = None) -> None:
        for name, optimizer in _rated(self).items():
            rate = _new_rate(self, epoch, float(optimizer.learning_rate))
            optimizer.learning_rate = rate
            if self.verbose > 0:
                print(f"\nEpoch {epoch + 1}: {_words(name)} is {rate:.6g}.")

    def on_epoch_end(self, epoch: Any, logs: Any = None) -> None:
        if logs is not None:
            logs.update(_rates(self))


class ReduceLROnPlateau(Monitor):
    """Reduces the learning rate when a logged value stops improving.

    Args:
        monitor: the name of the value in the logs.
        factor: the number, less than 1, that the rate is multiplied by.
        patience: epochs without improvement after which the rate is reduced.
        verbose: 1 prints each reduction.
        mode: "min", "max" or "auto": which direction is better.
        min_delta: a smaller change does not count as an improvement.
        cooldown: epochs to wait after a reduction.
        min_lr: the lowest rate.

    If the optimizer has a schedule, it continues with its rates multiplied by the factor; rates of
    parameter groups are multiplied, too. Each optimizer of a `MultiOptimizer` has its own rate,
    logged as "learning_rate_" and the optimizer's name.

    Example:
        >>> ReduceLROnPlateau(factor=0.5, patience=2).factor
        0.5
    """

    def __init__(
        self, monitor: Any = "val_loss", factor: Any = 0.1, patience: int = 10, verbose: Any = 0,
        mode: Any = "auto", min_delta: Any = 1e-4, cooldown: Any = 0, min_lr: Any = 0.0,
        **kwargs: Any,
    ):  # fmt: skip
        if kwargs:
            raise TypeError(
                f"ReduceLROnPlateau has no argument {next(iter(kwargs))!r}. It takes monitor, "
                "factor, patience, verbose, mode, min_delta, cooldown and min_lr."
            )
        super().__init__(monitor, mode, min_delta)
        if factor >= 1.0:
            raise InvalidArgumentError(
                f"ReduceLROnPlateau: factor must be less than 1, got {factor!r}."
            )
        self.factor, self.patience, self.verbose = factor, patience, verbose
        self.cooldown, self.min_lr = cooldown, min_lr
        self._framework.saves = ("best", "cooldown_counter", "wait")
        _reset(self)

    def on_train_begin(self, logs: Any = None) -> None:
        super().on_train_begin(logs)
        _reset(self)

    def in_cooldown(self):
        return self.cooldown_counter > 0

    def on_epoch_end(self, epoch: Any, logs: Any = None) -> None:
        logs = {} if logs is None else logs
        logs.update(_rates(self))
        current = value_in(self, logs)
        if current is None:
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if is_better(self, current, self.best):
            self.best = current
            self.wait = 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience:
                _reduce(self, epoch)


def _new_rate(callback, epoch, rate):
    takes_rate = callback._framework.takes_rate
    new = callback.schedule(epoch, rate) if takes_rate else callback.schedule(epoch)
    if isinstance(new, bool) or not hasattr(new, "__float__"):
        raise InvalidArgumentError(
            f"LearningRateScheduler: schedule({epoch}, rate) must return a number, got {new!r}."
        )
    return float(new)


def _reset(callback):
    callback.best = None
    callback.cooldown_counter = callback.wait = 0


def _reduce(callback, epoch):
    """Multiply the rates above `min_lr` by `factor`."""
    for name, optimizer in _rated(callback).items():
        rate = float(optimizer.learning_rate)
        if rate <= callback.min_lr * _AS_GOOD_AS:
            continue
        new = max(rate * callback.factor, callback.min_lr)
        scale_rates(optimizer, new / rate)
        if callback.verbose > 0:
            print(f"\nEpoch {epoch + 1}: reducing {_words(name)} to {new:.6g}.")
        callback.cooldown_counter = callback.cooldown
        callback.wait = 0


def _rates(callback):
    """Return the current learning rates by their names in the logs."""
    return {name: float(o.learning_rate) for name, o in _rated(callback).items()}


def _words(name):
    """Return a phrase for messages about the rate that is named `name` in the logs."""
    _, _, whose = name.partition("learning_rate_")
    return f"the learning rate of {whose!r}" if whose else "the learning rate"


def _rated(callback):
    """Return {name of the learning rate in the logs: optimizer} for the model's optimizers."""
    optimizer = getattr(callback.model, "optimizer", None)
    optimizer = inside(optimizer)
    if not is_several(optimizer) and hasattr(optimizer, "learning_rate"):
        return {"learning_rate": optimizer}
    by_name = {}
    for part in _several(optimizer, callback.model):
        name, number = f"learning_rate_{part.name}", itertools.count(1)
        unique = name
        while unique in by_name:
            unique = f"{name}_{next(number)}"
        by_name[unique] = part
    if not by_name:
        raise InvalidArgumentError(
            f"{type(callback).__name__}: the model's optimizer has no learning rate to change."
        )
    return by_name


def _several(optimizer, model):
    """Return the optimizers of a `MultiOptimizer`; an empty list for any other optimizer."""
    if is_several(optimizer) and not several(optimizer) and model.built:
        optimizer.build(model)  # building calls the user's function that chooses the optimizers
    return several(optimizer)


def _takes_two(function):
    """Return whether a function takes two positional arguments, or has no signature."""
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        return False
    except ValueError:  # some builtin functions have no signature to inspect
        return True
    return True
