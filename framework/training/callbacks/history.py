"""History: the logs of every epoch."""

from functools import partial

from framework.training.callbacks.base import Callback


class History(Callback):
    """What `fit` returns: `history.history["loss"]` is the list of each epoch's loss.

    It is filled as training goes on, so it is complete up to an interruption.

    Args:
        batch: keep each batch's own loss too, in `history.batches["loss"]`; an epoch's logs, and
            those of its batches, are means so far.
    """

    def __init__(self, batch=False):
        self.epoch = []
        self.history = {}
        self.batches = {}
        if batch:
            self._framework.needs = frozenset({"loss"})
            self.on_train_batch_end = partial(_keep_loss, self)  # nobody else listens to batches

    def on_train_begin(self, logs=None):
        self.epoch = []

    def on_epoch_end(self, epoch, logs=None):
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)

    def __repr__(self):
        return f"<History: {len(self.epoch)} epochs of {', '.join(self.history)}>"


def complete(history, epoch, logs):
    """Take in the epoch, unless that is done: a callback before it was interrupted."""
    if history.epoch[-1:] != [epoch]:
        history.on_epoch_end(epoch, logs)


def _keep_loss(history, batch, logs=None):
    history.batches.setdefault("loss", []).append(history._framework.step.loss)
