"""Monitor: which of two values of a metric is better."""

import numpy as np

from framework.core.errors import InvalidArgumentError
from framework.training.callbacks.base import Callback
from framework.training.checks import warn

_UP = ("acc", "accuracy", "auc", "precision", "recall", "f1", "r2", "iou", "top_k")


class Monitor(Callback):
    """Base of callbacks that watch a value in the logs.

    Args:
        monitor: its name.
        mode: "min" or "max": which is better; "auto" tells by the metric, or by its name.
        min_delta: what counts as better must be so by more than this.
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

    def set_mode(self):
        """Find out which direction is better."""
        up = self._goes_up() if self.mode == "auto" else self.mode == "max"
        self.monitor_op = np.greater if up else np.less

    def _goes_up(self):
        name = self.monitor.removeprefix("val_")
        if name == "loss" or name.endswith("_loss"):
            return False
        for metric in self._metrics():
            if metric.name == name or name.endswith(f"_{metric.name}"):
                direction = getattr(metric, "_direction", None)
                if direction is not None:
                    return direction == "up"
        return any(name == word or name.endswith(word) or f"{word}_" in name for word in _UP)

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
