"""History: the logs of every epoch."""

from functools import partial
from typing import Any

from framework.training.callbacks.base import Callback


class History(Callback):
    """The logs of training; `fit` returns it. `history.history["loss"]` has each epoch's loss.

    `history` is extended after each epoch, so after an interruption it holds all finished epochs.

    Args:
        batch: also keep each batch's own loss in `history.batches["loss"]`. (The logs of epochs
            and batches are running means.)
    """

    def __init__(self, batch: bool = False):
        self.epoch: list[int] = []
        self.history: dict[str, list[Any]] = {}
        self.batches: dict[str, list[Any]] = {}
        self._framework.saves = ("epoch", "history", "batches")
        if batch:
            self._framework.needs = frozenset({"loss"})
            # This hook is set only if needed, because callbacks with a batch hook are called at
            # every batch.
            self.on_train_batch_end = partial(_keep_loss, self)

    def on_train_begin(self, logs: Any = None) -> None:
        self.epoch = []

    def on_epoch_end(self, epoch: Any, logs: Any = None) -> None:
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)

    def plot(self, names: Any = None, ax: Any = None) -> Any:
        """Draw the logs by epoch with matplotlib and return the list of axes.

        A value and its validation counterpart, such as "loss" and "val_loss", share one plot.

        Args:
            names: names of logs, without "val_"; None for all.
            ax: axes to draw into, one for each name; None creates a figure.

        Raises:
            ImportError: matplotlib is missing; `print(history)` needs nothing.
            ValueError: a name is unknown, or `ax` has another number of axes.
        """
        from framework.training.history_report import plot

        return plot(self, names, ax)

    def __str__(self):
        from framework.training.history_report import lines

        return "\n".join([repr(self), *lines(self)])

    def _repr_html_(self):
        from framework.training.history_report import history_html

        return history_html(self)

    def __repr__(self):
        return f"<History: {len(self.epoch)} epochs of {', '.join(self.history)}>"


def complete(history, epoch, logs):
    """Append the epoch's logs if an error of another callback kept `history` from doing so."""
    if history.epoch[-1:] != [epoch]:
        history.on_epoch_end(epoch, logs)


def _keep_loss(history, batch, logs=None):
    history.batches.setdefault("loss", []).append(history._framework.step.loss)
