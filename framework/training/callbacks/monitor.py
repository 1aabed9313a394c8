"""Monitor: the base class of callbacks that compare a logged value between epochs."""

import re
from typing import Any

import numpy as np

from framework.core.errors import InvalidArgumentError
from framework.losses import Loss, losses
from framework.metrics import MeanMetricWrapper, Metric
from framework.training.callbacks.base import Callback
from framework.training.usage_warnings import warn

_UP = ("acc", "accuracy", "auc", "precision", "recall", "f1", "r2", "iou")
_DOWN = ("loss", "error", "mse", "mae", "rmse", "crossentropy", "ce")


class Monitor(Callback):
    """Base class of callbacks that monitor a value in the logs.

    Args:
        monitor: the name of the value.
        mode: "min" or "max": which direction is better; "auto" decides by the metric, or by a
            word in its name such as "loss" or "accuracy".
        min_delta: a smaller change does not count as an improvement.

    Raises:
        ValueError: at the start of training, if "auto" cannot decide.
    """

    def __init__(self, monitor: Any = "val_loss", mode: Any = "auto", min_delta: Any = 0.0):
        if mode not in ("auto", "min", "max"):
            raise InvalidArgumentError(
                f'{type(self).__name__}: mode must be "auto", "min" or "max", got {mode!r}.'
            )
        self.monitor, self.mode = monitor, mode
        self.min_delta = abs(min_delta)
        self.monitor_op = None  # becomes np.less or np.greater when training starts
        self._framework.warned = False

    def on_train_begin(self, logs: Any = None) -> None:
        _set_mode(self)


def _set_mode(callback):
    """Set `monitor_op` to the comparison that means "better"."""
    up = _goes_up(callback) if callback.mode == "auto" else callback.mode == "max"
    callback.monitor_op = np.greater if up else np.less


def _goes_up(callback):
    name = callback.monitor.removeprefix("val_")
    words = re.split(r"[^a-z0-9]+", name.lower())
    if words[-1] == "loss":
        return False
    for metric in sorted(_metrics(callback), key=lambda metric: -len(metric.name)):
        # In logs, a metric's name may have an output's name as prefix and a number as suffix.
        if re.fullmatch(rf"(.*_)?{re.escape(metric.name)}(_\d+)?", name):
            direction = _direction_of(metric)
            if direction is not None:
                return direction == "up"
    up, down = ([word for word in words if word in known] for known in (_UP, _DOWN))
    if bool(up) == bool(down):
        raise InvalidArgumentError(
            f'{type(callback).__name__}: monitor={callback.monitor!r}: mode="auto" cannot tell '
            'whether higher or lower is better. Pass mode="max" or mode="min".'
        )
    return bool(up)


def _metrics(callback):
    for metric in getattr(callback.model, "metrics", ()):
        yield from (
            (metric,) if isinstance(metric, Metric) else getattr(metric, "metrics", (metric,))
        )


def is_better(callback, value, than):
    """Return whether `value` is better than `than`; None means that there is no value yet."""
    if callback.monitor_op is None:
        _set_mode(callback)
    if than is None:
        return True
    margin = callback.min_delta if callback.monitor_op is np.less else -callback.min_delta
    return bool(callback.monitor_op(value + margin, than))


def value_in(callback, logs):
    """Return the monitored value; None, with one warning, if the logs do not have it."""
    value = (logs or {}).get(callback.monitor)
    if value is None and not callback._framework.warned:
        callback._framework.warned = True
        warn(
            f"{type(callback).__name__} monitors {callback.monitor!r}, but the logs do not have "
            f"this value. They have {', '.join(logs or ())}."
        )
    return value


def _direction_of(metric):
    """Return "up" or "down": whether higher or lower values of a metric are better, else None."""
    function = metric._fn if isinstance(metric, MeanMetricWrapper) else None
    if isinstance(function, Loss) or function in losses.by_name.values():
        return "down"
    # Keras's metrics have the attribute `_direction`
    direction = getattr(metric, "_direction", None)
    if direction is None and isinstance(metric, Metric):
        return type(metric)._framework.direction
    return direction
