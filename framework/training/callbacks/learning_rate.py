"""Callbacks that change the learning rate."""

from framework.core.errors import InvalidArgumentError
from framework.training.callbacks.base import Callback
from framework.training.callbacks.monitor import Monitor


class LearningRateScheduler(Callback):
    """Sets the learning rate before each epoch.

    Args:
        schedule: `schedule(epoch, rate)`, or `schedule(epoch)`: the new rate.
        verbose: 1 prints it.

    The logs of the epoch hold it as "learning_rate".

    Example:
        >>> halving = LearningRateScheduler(lambda epoch, rate: rate * 0.5)
    """

    def __init__(self, schedule, verbose=0):
        if not callable(schedule):
            raise InvalidArgumentError(
                f"LearningRateScheduler: schedule must be a function of (epoch, rate), got "
                f"{schedule!r}."
            )
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch, logs=None):
        optimizer = _optimizer_of(self)
        rate = float(optimizer.learning_rate)
        try:
            rate = self.schedule(epoch, rate)
        except TypeError:
            rate = self.schedule(epoch)
        if isinstance(rate, bool) or not hasattr(rate, "__float__"):
            raise InvalidArgumentError(
                f"LearningRateScheduler: schedule({epoch}, rate) must give a number, got {rate!r}."
            )
        optimizer.learning_rate = float(rate)
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1}: the learning rate is {float(rate):.6g}.")

    def on_epoch_end(self, epoch, logs=None):
        if logs is not None:
            logs["learning_rate"] = float(self.model.optimizer.learning_rate)


class ReduceLROnPlateau(Monitor):
    """Reduces the learning rate when a value gets no better.

    Args:
        monitor: the value's name in the logs.
        factor: what the rate is multiplied by, less than 1.
        patience: epochs without improvement after which it is reduced.
        verbose: 1 prints what happens.
        mode: "min", "max" or "auto".
        min_delta: less than this does not count as better.
        cooldown: epochs to wait after a reduction.
        min_lr: the rate is not reduced below this.

    Where the optimizer has a schedule it goes on, its rates multiplied; groups' rates are too.

    Example:
        >>> ReduceLROnPlateau(factor=0.5, patience=2).factor
        0.5
    """

    def __init__(
        self, monitor="val_loss", factor=0.1, patience=10, verbose=0, mode="auto",
        min_delta=1e-4, cooldown=0, min_lr=0.0, **kwargs,
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
        self._reset()

    def _reset(self):
        self.best = None
        self.cooldown_counter = self.wait = 0

    def on_train_begin(self, logs=None):
        self._reset()
        self.monitor_op = None

    def in_cooldown(self):
        return self.cooldown_counter > 0

    def on_epoch_end(self, epoch, logs=None):
        logs = {} if logs is None else logs
        rate = float(_optimizer_of(self).learning_rate)
        logs["learning_rate"] = rate
        current = self.value_in(logs)
        if current is None:
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self.is_better(current, self.best):
            self.best = current
            self.wait = 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience and rate > self.min_lr:
                self._reduce(epoch, rate)

    def _reduce(self, epoch, rate):
        optimizer = _optimizer_of(self)
        new = max(rate * self.factor, self.min_lr)
        getattr(optimizer, "inner_optimizer", optimizer).scale_learning_rate(new / rate)
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1}: reducing the learning rate to {new:.6g}.")
        self.cooldown_counter = self.cooldown
        self.wait = 0


def _optimizer_of(callback):
    optimizer = getattr(callback.model, "optimizer", None)
    if not hasattr(optimizer, "learning_rate"):
        raise InvalidArgumentError(
            f"{type(callback).__name__}: the model's optimizer has no learning rate to change."
        )
    return optimizer
