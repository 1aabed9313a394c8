"""ProgbarLogger: shows the progress of training."""

from typing import Any

from framework.training.callbacks.base import Callback
from framework.training.progress import progress_for


class ProgbarLogger(Callback):
    """Shows each epoch's progress and metrics; `fit` adds one unless `verbose=0`."""

    def __init__(self):
        record = self._framework
        record.lazy_logs = True  # so logs are computed only when the bar is redrawn
        record.display, record.training = None, False

    def on_train_begin(self, logs: Any = None) -> None:
        self._framework.training = True
        _begin(self, (self.params or {}).get("epochs"))

    def on_train_end(self, logs: Any = None) -> None:
        self._framework.training = False
        close(self)

    def on_epoch_begin(self, epoch: Any, logs: Any = None) -> None:
        self._framework.display.begin(epoch, self.params.get("steps"))

    def on_train_batch_end(self, batch: Any, logs: Any = None) -> None:
        self._framework.display.batch(_lazy(logs), _done(self, batch))

    def on_epoch_end(self, epoch: Any, logs: Any = None) -> None:
        self._framework.display.end(_lazy(logs)())

    def on_test_begin(self, logs: Any = None) -> None:
        if not self._framework.training:
            _begin(self, None)
            self._framework.display.begin(0, (self.params or {}).get("steps"))

    def on_test_batch_end(self, batch: Any, logs: Any = None) -> None:
        if not self._framework.training:
            self._framework.display.batch(_lazy(logs), _done(self, batch))

    def on_test_end(self, logs: Any = None) -> None:
        if not self._framework.training:
            self._framework.display.end(_lazy(logs)())
            close(self)

    def on_predict_begin(self, logs: Any = None) -> None:
        ProgbarLogger.on_test_begin(self)

    def on_predict_batch_end(self, batch: Any, logs: Any = None) -> None:
        self._framework.display.batch(dict, _done(self, batch))

    def on_predict_end(self, logs: Any = None) -> None:
        self._framework.display.end({})
        close(self)


def _lazy(logs):
    return logs if callable(logs) else lambda: logs or {}


def _begin(logger, epochs):
    verbose = (logger.params or {}).get("verbose", 1)
    logger._framework.display = progress_for(1 if verbose == 0 else verbose, epochs)


def _done(logger, batch):
    """Return the number of finished batches, at most the number of steps."""
    steps = (logger.params or {}).get("steps")
    return batch + 1 if steps is None else min(batch + 1, steps)


def close(logger):
    """Close the bar, also after an interruption."""
    if logger._framework.display is not None:
        logger._framework.display.close()
