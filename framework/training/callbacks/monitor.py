"""Monitor: which of two values of a metric is better."""

import re

import numpy as np

from framework.core.errors import InvalidArgumentError
from framework.losses import Loss, losses
from framework.training.callbacks.base import Callback
from framework.training.checks import warn

_UP = ("acc", "accuracy", "auc", "precision", "recall", "f1", "r2", "iou")
_DOWN = ("loss", "error", "mse", "mae", "rmse", "crossentropy", "ce")


class Monitor(Callback):
    """Base of callbacks that watch a value in the logs.

    Args:
        monitor: its name.
        mode: "min" or "max": which is better; "auto" tells by the metric, or by a word in its name
            such as "loss" or "accuracy".
        min_delta: what counts as better must be so by more than this.

    Raises:
        ValueError: as training begins, where "auto" cannot tell.
    """

    def __init__(self, monitor="val_loss", mode="auto", min_delta=0.0):
        if mode not in ("auto", "min", "max"):
            raise InvalidArgumentError(
                f'{type(self).__name__}: mode must be "auto", "min" or "max", got {mode!r}.'
            )
        self.monitor, self.mode = monitor, mode
        self.min_delta = abs(min_delta)
        self.monitor_op = None  # np.less or np.greater, once it is known
        self._told = False

    def on_train_begin(self, logs=None):
        self.set_mode()

    def set_mode(self):
        """Find out which direction is better."""
        up = self._goes_up() if self.mode == "auto" else self.mode == "max"
        self.monitor_op = np.greater if up else np.less

    def _goes_up(self):
        name = self.monitor.removeprefix("val_")
        words = re.split(r"[^a-z0-9]+", name.lower())
        if words[-1] == "loss":
            return False
        for metric in sorted(self._metrics(), key=lambda metric: -len(metric.name)):
            # in the logs an output's name may stand before it, a number behind it
            if re.fullmatch(rf"(.*_)?{re.escape(metric.name)}(_\d+)?", name):
                direction = _direction_of(metric)
                if direction is not None:
                    return direction == "up"
        up, down = ([word for word in words if word in known] for known in (_UP, _DOWN))
        if bool(up) == bool(down):
            raise InvalidArgumentError(
                f"{type(self).__name__}: monitor={self.monitor!r} does not tell whether more of it "
                'is better, or less. Pass mode="max" or mode="min".'
            )
        return bool(up)

    def _metrics(self):
        for metric in getattr(self.model, "metrics", ()):
            yield from getattr(metric, "metrics", (metric,))

    def is_better(self, value, than):
        """Whether `value` is better than the best one so far, None where there is none."""
        if self.monitor_op is None:
            self.set_mode()
        if than is None:
            return True
        margin = self.min_delta if self.monitor_op is np.less else -self.min_delta
        return bool(self.monitor_op(value + margin, than))

    def value_in(self, logs):
        """The watched value; None, with one warning, where the logs do not have it."""
        value = (logs or {}).get(self.monitor)
        if value is None and not self._told:
            self._told = True
            warn(
                f"{type(self).__name__} watches {self.monitor!r}, which the logs do not have: they "
                f"have {', '.join(logs or ())}."
            )
        return value


def _direction_of(metric):
    """What the metric says, "up" or "down", or None; the mean of a loss goes down."""
    function = getattr(metric, "_fn", None)
    if isinstance(function, Loss) or function in losses.by_name.values():
        return "down"
    return getattr(metric, "_direction", None)
