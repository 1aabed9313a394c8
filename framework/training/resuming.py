"""Saving: saves the whole state of a running `fit` in a file, so that a new process can continue.

A run that is killed and started again ends with exactly the results of an uninterrupted run: the
state contains weights, optimizer slots, metrics, accumulated gradients, the states of random
generators, callbacks and history, and the position in the data.
"""

import re
import sys
import time
from contextlib import suppress
from datetime import timedelta
from functools import partial
from pathlib import Path

import numpy as np

from framework.core import nest
from framework.core.errors import InvalidArgumentError, LoadError, MissingModelError
from framework.core.stored import set_variable
from framework.core.tensor import Tensor
from framework.data.batches import as_batch
from framework.optimizers.asking import state_of as state_of_optimizer
from framework.saving.states import read_state, write_state
from framework.training.batch_plans import as_tensors
from framework.training.callbacks.base import Callback
from framework.training.callbacks.history import History
from framework.training.callbacks.saved_state import (
    matched,
    packed,
    restore_states,
    states_of,
    unpacked,
)
from framework.training.random_state import random_state, set_random_state
from framework.training.training_step import overrides

FILE = "training.state"
KIND = "training"

_UNITS = {"s": 1, "sec": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hour": 3600}


def interval_of(value, name="save_every"):
    """Return ("epochs" | "batches" | "seconds" | "never", number) of the argument `save_every`."""
    if value == "epoch":
        return "epochs", 1
    if value is None or value is False:
        return "never", 0
    if isinstance(value, timedelta) and value.total_seconds() >= 0:
        return "seconds", value.total_seconds()
    if isinstance(value, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+?)s?\s*", value)
        unit = found and _UNITS.get(found[2], _UNITS.get(f"{found[2]}s"))
        if unit:
            return "seconds", float(found[1]) * unit
    elif not isinstance(value, bool) and hasattr(value, "__index__") and value >= 1:
        return "batches", int(value)
    raise InvalidArgumentError(
        f'{name}: expected a number of batches, a time such as "5 min" or "30 s", or "epoch", got '
        f"{value!r}."
    )


class Saving:
    """Saves the state of one `fit`, and restores it when `fit` starts.

    Args:
        model: the model.
        feed, validation: the `Feed`s of `fit`; `validation` may be None.
        accumulator: an `Accumulator`, or None.
        step: the `TrainingStep` of `fit`; None for a user's own.
        folder: the folder of the state file; it is created if missing.
        every: how often to save: a result of `interval_of`.
        keeps_history: whether the history of earlier runs is continued.
        keeps_previous: whether the previous state is kept, too, in case the last file is damaged.
        deletes: whether the state is deleted when `fit` ends.
    """

    def __init__(
        self, model, feed, validation, accumulator, step, folder, every, keeps_history=True,
        keeps_previous=False, deletes=False,
    ):  # fmt: skip
        self._model, self._feed, self._validation = model, feed, validation
        self._accumulator, self._step = accumulator, step
        self._folder, (self._unit, self._every) = Path(folder), every
        self._keeps_history, self._keeps_previous = keeps_history, keeps_previous
        self._deletes = deletes
        self._callbacks = None
        self._batches, self._written, self._time = 0, None, time.monotonic()
        self._file = self._values = None
        feed.tracks = True

    @property
    def _path(self):
        return self._folder / FILE

    @property
    def _previous(self):
        return self._folder / f"{FILE}.previous"

    # ---- restoring ----

    def open(self, callbacks):
        """Open the state file if it exists; called before any callback's hook."""
        self._callbacks = callbacks.callbacks
        self._file = self._read()
        if self._file is None:
            return
        self._values = self._file.values
        with self._checked():
            _check_steps(self._values["steps"], self._feed.steps)
            for callback, state in matched(self._callbacks, self._values["logs_of"]):
                if isinstance(callback, Callback) and callback._framework.resume:
                    callback._framework.resume(unpacked(state, self._file.array))

    def _read(self):
        """Return the contents of the latest state file that is not damaged."""
        if self._keeps_previous and self._previous.exists():
            with suppress(LoadError):
                return read_state(self._path, KIND)
            return read_state(self._previous, KIND)
        with suppress(MissingModelError):
            return read_state(self._path, KIND)
        return None

    def start(self, initial_epoch):
        """Restore a state that was saved between epochs; return (the first epoch, its logs)."""
        if self._values is None:
            return initial_epoch, {}
        with self._checked():
            epoch, done = int(self._values["epoch"]), int(self._values["done"])
            logs = unpacked(self._values["logs"], self._file.array)
            if not done:
                self._restore()
            # If a callback had stopped the training (`stop_training`), no epoch remains.
            return (sys.maxsize if self._model.stop_training else epoch), logs

    def enter(self, epoch):
        """Restore a state that was saved within an epoch; called after the hook `on_epoch_begin`.

        Returns:
            (the number of the last finished batch, the results of its step).
        """
        if self._values is None:
            return -1, None
        with self._checked():
            done = int(self._values["done"])
            results = unpacked(self._values["results"], self._file.array)
            self._restore()
        return done - 1, results

    def _checked(self):
        return _unfit_state(self._file.name)

    def _restore(self):
        values, file = self._values, self._file
        model, done = self._model, int(values["done"])
        self._prepare()
        variables = _variables(model)
        _check(variables, file)
        self._feed.resume(values["position"], done)
        if self._validation is not None:
            self._validation._batches.set_state(values["validation"])
        for name, variable in variables.items():
            set_variable(variable, partial(file.array, name))
        if self._accumulator is not None:
            waiting = unpacked(values["accumulated"], file.array)
            self._accumulator.restore(waiting, model.variables)
        callbacks = [
            c for c in self._callbacks if self._keeps_history or not isinstance(c, History)
        ]
        restore_states(callbacks, values["callbacks"], file.array)
        model.stop_training = bool(values["stop_training"])
        set_random_state(values["random"])
        self._batches = int(values["batches"])
        self.end_reading()

    def _prepare(self):
        """Build the model, and match losses and metrics to its outputs, unless already done."""
        model, training = self._model, self._model._framework.training
        unmatched = (training.has_metrics and not training.metrics.settled_for_loading) or (
            training.loss.losses is not None and training.loss._rows is None
        )
        if model.built and not unmatched:
            return
        batch = self._feed.sample()
        read = getattr(self._feed._batches, "read", None)
        x, y, sample_weight = map(as_tensors, batch if read is None else as_batch(batch))
        y_pred = model(x, training=False)
        if y is None and training.loss.losses is None:
            return
        if not overrides(model, "compute_loss"):
            training.loss(y, y_pred, sample_weight)
        if training.has_metrics and not overrides(model, "compute_metrics"):
            training.metrics.match(y, y_pred)
            if self._step is not None:
                self._step._unmatched = False

    def end_reading(self):
        """Close the file of the state."""
        if self._file is not None:
            self._file.close()
        self._file = self._values = None

    # ---- saving ----

    def after_batch(self, epoch, number, results):
        """Save the state if it is due; called after each group of `steps_per_execution` batches."""
        before, self._batches = self._batches, self._batches + self._model.steps_per_execution
        if self._unit == "batches":
            due = self._batches // self._every > before // self._every
        else:
            due = self._unit == "seconds" and time.monotonic() - self._time >= self._every
        if due:
            self._write(epoch, number + 1, {}, results)

    def after_epoch(self, epoch, logs):
        """Save the state if it is due; called after each epoch and its callbacks."""
        self._done_epoch = epoch
        late = self._unit == "seconds" and time.monotonic() - self._time >= self._every
        if self._unit == "epochs" or late:
            self._write(epoch + 1, 0, logs, None)

    _done_epoch = None

    def at_end(self, logs):
        """Save the state after the last epoch, so that a run with more epochs can continue."""
        self.end_reading()
        written = self._written == (self._batches, 0)
        if self._done_epoch is not None and self._unit != "never" and not written:
            self._write(self._done_epoch + 1, 0, logs, None)

    def close(self):
        """Delete the state of a finished run if `deletes` is set."""
        if not self._deletes:
            return
        for path in (self._path, self._previous):
            path.unlink(missing_ok=True)
        if self._folder.exists() and not any(self._folder.iterdir()):
            self._folder.rmdir()

    def _write(self, epoch, done, logs, results):
        model, arrays = self._model, {}
        waiting = None
        if self._accumulator is not None:
            waiting = self._accumulator.state(model.variables)
            waiting = {name: _plain(array) for name, array in waiting.items()}
        values = {
            "epoch": epoch, "done": done, "batches": self._batches, "steps": self._feed.steps,
            "stop_training": bool(model.stop_training), "random": random_state(),
            "position": self._feed.position(done),
            "validation": self._validation and self._validation._batches.state(),
            "accumulated": packed(waiting, arrays, "accumulated"),
            "callbacks": states_of(self._callbacks, arrays),
            "logs_of": [
                [type(c).__name__, packed(c._framework.position(), arrays, "logs_of")]
                for c in self._callbacks if isinstance(c, Callback) and c._framework.position
            ],
            "logs": packed(_plain_logs(logs), arrays, "logs"),
            "results": packed(_plain_logs(results), arrays, "results"),
        }  # fmt: skip
        arrays.update((name, v.array) for name, v in _variables(model).items())
        self._folder.mkdir(parents=True, exist_ok=True)
        if self._keeps_previous and self._path.exists():
            self._path.replace(self._previous)
        write_state(self._path, KIND, arrays, values)
        self._time, self._written = time.monotonic(), (self._batches, done)


def _plain(array):
    """Return the array; for an array of one string, a str."""
    return str(array) if array.dtype.kind == "U" else array


def _plain_logs(logs):
    """Return logs, or another result of a step, as plain data, which can be saved."""
    if logs is None:
        return None
    return nest.map_structure(lambda v: np.asarray(v) if isinstance(v, Tensor) else v, logs)


def _variables(model):
    """Return {name: variable} for all variables that training changes, in a fixed order."""
    optimizer = model.optimizer
    if hasattr(optimizer, "build"):
        optimizer.build(model.trainable_variables)
    groups = {
        "model": model.variables,
        "optimizer": state_of_optimizer(optimizer),
        "metrics": [v for metric in model.metrics for v in metric.variables],
    }
    return {
        f"{group}/{number}": variable
        for group, variables in groups.items() for number, variable in enumerate(variables)
    }  # fmt: skip


def _check(variables, file):
    """Raise an error unless the file has exactly these variables."""
    found = {n for n in file.shapes if n.partition("/")[0] in ("model", "optimizer", "metrics")}
    for name, variable in variables.items():
        if (
            file.shapes.get(name) != variable.array.shape
            or file.dtype(name) != variable.array.dtype
        ):
            raise LoadError(
                f"{file.name}: the state was saved with another model, optimizer or metrics: "
                f"{name} ({variable.name}) has shape {variable.array.shape}, in the file "
                f"{file.shapes.get(name)}. Delete the file to start anew."
            )
    if found - variables.keys():
        raise LoadError(
            f"{file.name}: the state was saved with another model, optimizer or metrics: the "
            f"current ones have no {min(found - variables.keys())}. Delete the file to start anew."
        )


def _check_steps(saved, now):
    if saved is not None and now is not None and saved != now:
        raise LoadError(
            f"fit: the state to resume has {saved} batches per epoch, the data have {now}. Pass "
            "the same data and batch size, or delete the state to start anew."
        )


class _unfit_state:
    """Context manager that converts errors caused by a damaged state to LoadError."""

    def __init__(self, name):
        self._name = name

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _):
        if isinstance(error, _CAUSED) and not isinstance(error, LoadError):
            raise LoadError(
                f"{self._name}: the state is damaged, or from another program: {error!r}"
            ) from error


_CAUSED = (
    KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError,
    AssertionError,
)  # fmt: skip
