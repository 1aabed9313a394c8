"""EarlyStopping: stops training when a logged value stops improving."""

from typing import Any

from framework.training.callbacks.monitor import Monitor, is_better, value_in


class EarlyStopping(Monitor):
    """Stops training when the monitored value has not improved for `patience` epochs.

    Args:
        monitor: the name of the value in the logs.
        min_delta: a smaller change does not count as an improvement.
        patience: epochs without improvement after which training stops.
        verbose: 1 prints a line when training stops or weights are restored.
        mode: "min", "max" or "auto": which direction is better.
        baseline: training also stops if the value is not better than this for `patience` epochs.
        restore_best_weights: restore the weights of the best epoch at the end, even if training
            was not stopped early.
        start_from_epoch: the number of epochs before monitoring starts.

    Example:
        >>> EarlyStopping(monitor="loss", patience=3).patience
        3
    """

    def __init__(
        self, monitor: Any = "val_loss", min_delta: Any = 0, patience: int = 0, verbose: Any = 0,
        mode: Any = "auto", baseline: Any = None, restore_best_weights: bool = False,
        start_from_epoch: Any = 0,
    ):  # fmt: skip
        super().__init__(monitor, mode, min_delta)
        self.patience, self.verbose, self.baseline = patience, verbose, baseline
        self.restore_best_weights, self.start_from_epoch = restore_best_weights, start_from_epoch
        self._framework.saves = ("wait", "stopped_epoch", "best", "best_weights", "best_epoch")
        _reset(self)

    def on_train_begin(self, logs: Any = None) -> None:
        super().on_train_begin(logs)
        _reset(self)

    def on_epoch_end(self, epoch: Any, logs: Any = None) -> None:
        current = value_in(self, logs)
        if current is None or epoch < self.start_from_epoch:
            return
        if self.restore_best_weights and self.best_weights is None:
            _keep(self, epoch)  # kept as the best weights until the monitored value improves
        self.wait += 1
        if is_better(self, current, self.best):
            self.best = current
            self.best_epoch = epoch
            if self.restore_best_weights:
                _keep(self, epoch)
            if self.baseline is None or is_better(self, current, self.baseline):
                self.wait = 0
            return
        if self.wait >= self.patience and epoch > 0:
            self.stopped_epoch = epoch
            self.model.stop_training = True

    def on_train_end(self, logs: Any = None) -> None:
        if self.stopped_epoch > 0 and self.verbose > 0:
            print(f"Epoch {self.stopped_epoch + 1}: early stopping")
        if self.restore_best_weights and self.best_weights is not None:
            if self.verbose > 0:
                print(f"Restoring the weights of the best epoch: {self.best_epoch + 1}.")
            self.model.set_weights(self.best_weights)


def _reset(callback):
    callback.wait = callback.stopped_epoch = callback.best_epoch = 0
    callback.best = callback.best_weights = None


def _keep(callback, epoch):
    callback.best_weights = callback.model.get_weights()
    callback.best_epoch = epoch
