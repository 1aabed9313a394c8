"""ProgbarLogger: shows how far training is."""

from framework.training.callbacks.base import Callback
from framework.training.progress import progress_for


class ProgbarLogger(Callback):
    """Shows each epoch's progress and metrics; `fit` adds one unless `verbose=0`."""

    _lazy_logs = True  # it takes a function, and asks it only when the bar is drawn anew

    def __init__(self):
        self._display = None
        self._training = False

    def _begin(self, epochs):
        verbose = (self.params or {}).get("verbose", 1)
        self._display = progress_for(1 if verbose == 0 else verbose, epochs)

    def on_train_begin(self, logs=None):
        self._training = True
        self._begin((self.params or {}).get("epochs"))

    def on_train_end(self, logs=None):
        self._training = False
        self.close()

    def on_epoch_begin(self, epoch, logs=None):
        self._display.begin(epoch, self.params.get("steps"))

    def on_train_batch_end(self, batch, logs=None):
        self._display.batch(_asked(logs), self._done(batch))

    def on_epoch_end(self, epoch, logs=None):
        self._display.end(_asked(logs)())

    def on_test_begin(self, logs=None):
        if not self._training:
            self._begin(None)
            self._display.begin(0, (self.params or {}).get("steps"))

    def on_test_batch_end(self, batch, logs=None):
        if not self._training:
            self._display.batch(_asked(logs), self._done(batch))

    def on_test_end(self, logs=None):
        if not self._training:
            self._display.end(_asked(logs)())
            self.close()

    def on_predict_begin(self, logs=None):
        self.on_test_begin()

    def on_predict_batch_end(self, batch, logs=None):
        self._display.batch(dict, self._done(batch))

    def on_predict_end(self, logs=None):
        self._display.end({})
        self.close()

    def _done(self, batch):
        """How many batches are done; the last of a group may be beyond the last there is."""
        steps = (self.params or {}).get("steps")
        return batch + 1 if steps is None else min(batch + 1, steps)

    def close(self):
        """Take the bar away, also when training was interrupted."""
        if self._display is not None:
            self._display.close()


def _asked(logs):
    return logs if callable(logs) else lambda: logs or {}
