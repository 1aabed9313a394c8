"""CSVLogger: a line of a file for each epoch."""

import csv
from pathlib import Path

import numpy as np

from framework.training.callbacks.base import Callback


class CSVLogger(Callback):
    """Writes each epoch's logs to a CSV file, readable while training goes on.

    Args:
        filename: a path.
        separator: between the values.
        append: go on with an existing file in place of writing it anew.
        batch: write a line for each batch in place of one for each epoch: epoch, number of the
            batch, and its own loss.

    Example:
        >>> CSVLogger("training.csv", append=True).sep
        ','
    """

    def __init__(self, filename, separator=",", append=False, batch=False):
        self.sep, self.filename, self.append = separator, Path(filename), append
        self.keys = None
        self._file = self._writer = None
        self._epoch = 0
        self._by_batch = batch
        if batch:
            self.needs = frozenset({"loss"})
            self.on_train_batch_end = self._write_batch  # nobody else listens to batches

    def on_train_begin(self, logs=None):
        going_on = self.append and self.filename.exists() and self.filename.stat().st_size > 0
        self.keys = None
        if going_on:
            with self.filename.open(newline="") as file:
                self.keys = next(csv.reader(file, delimiter=self.sep))[1:]
        mode = "a" if self.append else "w"
        self._file = self.filename.open(mode, newline="")
        self._heading = not going_on
        self._writer = None

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch = epoch

    def _write_batch(self, batch, logs=None):
        self.keys = ["batch", "loss"]
        self._write(self._epoch, {"batch": batch, "loss": self.step.loss})

    def on_epoch_end(self, epoch, logs=None):
        logs = logs or {}
        if self._by_batch:
            return
        if self.keys is None:
            self.keys = sorted(logs)
            if not any(key.startswith("val_") for key in self.keys):
                self.keys += [f"val_{key}" for key in self.keys]  # a later epoch may have them
        self._write(epoch, logs)

    def _write(self, epoch, logs):
        if self._writer is None:
            self._writer = csv.writer(self._file, delimiter=self.sep)
            if self._heading:
                self._writer.writerow(["epoch", *self.keys])
        self._writer.writerow([epoch, *(_text(logs.get(key, "NA")) for key in self.keys)])
        self._file.flush()

    def on_train_end(self, logs=None):
        if self._file is not None:
            self._file.close()
        self._file = self._writer = None


def _text(value):
    if np.ndim(value) == 0:
        return value
    return '"[' + ", ".join(map(str, np.ravel(value))) + ']"'
