"""CSVLogger: writes a line to a CSV file after each epoch."""

import csv
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from framework.training.callbacks.base import Callback


class CSVLogger(Callback):
    """Writes each epoch's logs to a CSV file; the file is complete at any time during training.

    Args:
        filename: a path.
        separator: the string between values.
        append: append to an existing file, with its columns, instead of overwriting it. When a run
            is resumed, lines that were written after the last saved state are dropped.
        batch: write a line per batch instead of a line per epoch: epoch, batch number and the
            loss of the batch.

    Example:
        >>> CSVLogger("training.csv", append=True).sep
        ','
    """

    def __init__(
        self, filename: Any, separator: Any = ",", append: bool = False, batch: bool = False,
    ):  # fmt: skip
        self.sep, self.filename, self.append = separator, Path(filename), append
        self.keys = None
        record = self._framework
        record.file = record.writer = record.resumed = None
        record.epoch, record.by_batch = 0, batch
        record.release = partial(_close, self)
        record.position, record.resume = partial(_position, self), partial(_resume, self)
        if batch:
            record.needs = frozenset({"loss"})
            # This hook is set only if needed, because callbacks with a batch hook are called at
            # every batch.
            self.on_train_batch_end = partial(_write_batch, self)

    def on_train_begin(self, logs: Any = None) -> None:
        self.keys = None
        record = self._framework
        if record.resumed is not None and self.filename.exists():
            _continue(self, **record.resumed)
            return
        has_header = self.append and self.filename.exists() and self.filename.stat().st_size > 0
        if has_header:
            with self.filename.open(newline="") as file:
                self.keys = next(csv.reader(file, delimiter=self.sep))[1:]
        mode = "a" if self.append else "w"
        record.file, record.writer = self.filename.open(mode, newline=""), None
        record.heading = not has_header
        if has_header:
            _end_line(self)

    def on_epoch_begin(self, epoch: Any, logs: Any = None) -> None:
        self._framework.epoch = epoch

    def on_epoch_end(self, epoch: Any, logs: Any = None) -> None:
        logs = logs or {}
        if self._framework.by_batch:
            return
        if self.keys is None:
            self.keys = sorted(logs)
            if not any(key.startswith("val_") for key in self.keys):
                # a later epoch may add validation results, which need columns
                self.keys += [f"val_{key}" for key in self.keys]
        _write(self, epoch, logs)

    def on_train_end(self, logs: Any = None) -> None:
        _close(self)


def _close(logger):
    record = logger._framework
    if record.file is not None:
        record.file.close()
    record.file = record.writer = None


def _end_line(logger):
    """Add the missing line break if a run was killed while it wrote the last line of the file."""
    with logger.filename.open("rb") as file:
        file.seek(-1, 2)
        if file.read(1) not in b"\r\n":
            logger._framework.file.write("\r\n")


def _position(logger):
    """Return where a resumed run continues the file: its size, the columns, and the last epoch."""
    record = logger._framework
    if record.file is None:
        return None
    record.file.flush()
    return {
        "size": record.file.tell(), "keys": logger.keys, "heading": record.writer is None and
        record.heading, "epoch": record.epoch,
    }  # fmt: skip


def _resume(logger, position):
    fields = ("size", "keys", "heading", "epoch")
    logger._framework.resumed = position and {name: position[name] for name in fields}


def _continue(logger, size, keys, heading, epoch):
    """Open the file of an interrupted run and drop the lines after the saved state."""
    record = logger._framework
    record.file, record.writer = logger.filename.open("r+", newline=""), None
    record.file.truncate(size)
    record.file.seek(0, 2)
    record.heading, record.epoch, logger.keys, record.resumed = heading, epoch, keys, None


def _write_batch(logger, batch, logs=None):
    own, logger.keys = logger._framework, ["batch", "loss"]
    _write(logger, own.epoch, {"batch": batch, "loss": own.step.loss})


def _write(logger, epoch, logs):
    record = logger._framework
    if record.writer is None:
        record.writer = csv.writer(record.file, delimiter=logger.sep)
        if record.heading:
            record.writer.writerow(["epoch", *logger.keys])
    record.writer.writerow([epoch, *(_text(logs.get(key, "NA")) for key in logger.keys)])
    record.file.flush()


def _text(value):
    if np.ndim(value) == 0:
        return value
    return '"[' + ", ".join(map(str, np.ravel(value))) + ']"'
