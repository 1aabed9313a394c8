"""The loops over epochs and batches behind fit, evaluate and predict, and the batches they run."""

from functools import partial
from itertools import islice

import numpy as np

from framework.core import nest
from framework.core.errors import InvalidArgumentError
from framework.data.batches import check_steps
from framework.training.callbacks import CallbackList
from framework.training.callbacks.history import complete
from framework.training.callbacks.progbar import ProgbarLogger, close
from framework.training.random_state import random_state, set_random_state
from framework.training.training_step import overrides
from framework.training.usage_warnings import warn


def run_fit(
    model, step, feed, *, epochs, initial_epoch, verbose, callbacks, validation, test_step,
    validation_freq, end_epoch, saving=None,
):  # fmt: skip
    """Call `step` on the batches of `feed` for some epochs and return a History.

    Args:
        step: trains on one batch; returns logs, or None to log the model's metrics.
        validation: a Feed, or None; `test_step` is called on its batches.
        end_epoch: called after an epoch's last batch, before its logs are computed.
        saving: a `Saving`, which saves the state and restores it at the start; or None.
    """
    callbacks = callback_list(
        callbacks, model, verbose, epochs=epochs, steps=feed.steps, history=True
    )
    history = model.history = callbacks.history()
    model.stop_training = False
    logs = {}
    validate = partial(_validated, model, test_step, validation, validation_freq, callbacks)
    saving = NOT_SAVING if saving is None else saving
    try:
        saving.open(callbacks)
        callbacks.call("on_train_begin", logs={})
        initial_epoch, logs = saving.start(initial_epoch)
        try:
            for epoch in () if model.stop_training else range(initial_epoch, epochs):
                logs = _train_epoch(model, step, feed, epoch, callbacks, end_epoch, saving)
                more = feed.check("fit", epoch - initial_epoch, epochs)
                if logs is None:
                    logs = {}
                    break
                logs.update(validate(epoch))
                try:
                    callbacks.call("on_epoch_end", epoch, logs=logs)
                finally:
                    complete(history, epoch, logs)
                saving.after_epoch(epoch, logs)
                if model.stop_training or not more:
                    break
            saving.at_end(logs)
        finally:
            _finalize_variables(model, epochs)  # after an interruption too, as in Keras
        callbacks.call("on_train_end", logs=logs)
        saving.close()
    finally:
        saving.end_reading()
        _close(callbacks, feed, validation)
    return history


class _NotSaving:
    """A `Saving` that does nothing."""

    after_batch = None

    def open(self, callbacks):
        """Do nothing."""

    close = after_epoch = at_end = end_reading = lambda self, *_: None

    def start(self, initial_epoch):
        return initial_epoch, {}

    def enter(self, epoch):
        return -1, None


NOT_SAVING = _NotSaving()


def _validated(model, step, feed, frequency, callbacks, epoch):
    """Return the logs of an epoch's validation, empty if this epoch is not validated."""
    if feed is None or not validates(epoch, frequency):
        return {}
    logs = test_epoch(model, step, feed, callbacks, "fit: validation_data")
    return {f"val_{name}": value for name, value in logs.items()}


def _finalize_variables(model, epochs):
    """Have the optimizer overwrite the variables with their averages, if it keeps averages."""
    finalize = getattr(model.optimizer, "finalize_variable_values", None)
    if finalize is not None and epochs > 0:
        finalize(model.trainable_variables)


def callback_list(callbacks, model, verbose, epochs=1, steps=None, history=False):
    """Return the callbacks of one run as a CallbackList; one that is passed in is returned."""
    if isinstance(callbacks, CallbackList):
        return callbacks
    return CallbackList(
        callbacks, add_history=history, add_progbar=verbose != 0, model=model, verbose=verbose,
        epochs=epochs, steps=steps,
    )  # fmt: skip


def _close(callbacks, *feeds):
    for callback in callbacks.callbacks:
        if isinstance(callback, ProgbarLogger):
            close(callback)
        release = getattr(getattr(callback, "_framework", None), "release", None)
        if release is not None:
            release()
    for feed in feeds:
        if feed is not None:
            feed.close()


def _train_epoch(model, step, feed, epoch, callbacks, end_epoch, saving):
    """Train for one epoch and return its logs; None if there was no batch."""
    began = callbacks.listeners("on_train_batch_begin")
    ended = callbacks.listeners("on_train_batch_end")
    model.reset_metrics()
    callbacks.call("on_epoch_begin", epoch, logs={})
    group = model.steps_per_execution
    last, results = saving.enter(epoch)
    number = last
    batches = feed.epoch(epoch)
    after_batch = saving.after_batch
    try:
        for number, batch in enumerate(batches, last + 1):
            if began and not number % group:
                callbacks.call("on_train_batch_begin", number, logs={})
            results = step(batch)
            if ended and not (number + 1) % group:
                callbacks.call("on_train_batch_end", number, logs=_logs(model, results))
            if model.stop_training:
                break
            if after_batch is not None and not (number + 1) % group:
                after_batch(epoch, number, results)
    finally:
        batches.close()
    if number < 0:
        return None
    if ended and (number + 1) % group:
        last = _last_of_group(number, group)
        callbacks.call("on_train_batch_end", last, logs=_logs(model, results))
    end_epoch()
    return _all_logs(model, results, "train")


def _last_of_group(number, group):
    """Return the last batch number of the group of `number`, even if the data end before it.

    Keras passes this number to batch hooks.
    """
    return number - number % group + group - 1


def _logs(model, results):
    """Return a function that computes the logs: `results` of `train_step`, or the metrics."""
    if isinstance(results, dict):
        return lambda: as_floats(results)
    if results is not None:
        return lambda: {"loss": float(results)}
    return model.get_metrics_result


def _all_logs(model, results, mode):
    """Return the logs of an epoch, where `results` are those of its last batch.

    As in Keras, an overridden `compute_metrics` can add entries; if it returns only the metrics'
    names, the metrics' values count.
    """
    own = overrides(model, f"{mode}_step") or overrides(model, f"make_{mode}_function")
    if isinstance(results, dict) and not own:
        values = model.get_metrics_result()
        if values.keys() == as_floats(results).keys():
            return values
    return _logs(model, results)()


def as_floats(values):
    """Return metric results as Python floats by name; a nested dict of results is flattened."""
    floats = {}
    for name, value in values.items():
        if isinstance(value, dict):
            floats.update(as_floats(value))
        elif value is not None:
            array = np.asarray(value)
            floats[name] = float(array) if array.ndim == 0 else array
    return floats


def run_evaluate(model, step, feed, *, verbose, callbacks):
    """Return the loss and metrics of `model` on the batches of `feed`, by name."""
    callbacks = callback_list(callbacks, model, verbose, steps=feed.steps)
    try:
        return test_epoch(model, step, feed, callbacks, "evaluate")
    finally:
        _close(callbacks, feed)


def test_epoch(model, step, feed, callbacks, what):
    """Run `step` on all batches of `feed`, return the logs; errors name the method `what`."""
    model.stop_evaluating = False
    model.reset_metrics()
    callbacks.call("on_test_begin", logs={})
    began = callbacks.listeners("on_test_batch_begin")
    ended = callbacks.listeners("on_test_batch_end")
    group = model.steps_per_execution
    results = None
    number = -1
    batches = feed.epoch(0)
    try:
        for number, batch in enumerate(batches):
            if began and not number % group:
                callbacks.call("on_test_batch_begin", number, logs={})
            results = step(batch)
            if ended and not (number + 1) % group:
                callbacks.call("on_test_batch_end", number, logs=_logs(model, results))
            if model.stop_evaluating:
                break
    finally:
        batches.close()
    if ended and (number + 1) % group:
        last = _last_of_group(number, group)
        callbacks.call("on_test_batch_end", last, logs=_logs(model, results))
    feed.check(what)
    logs = {} if number < 0 else _all_logs(model, results, "test")
    callbacks.call("on_test_end", logs=logs)
    return logs


def run_predict(model, step, feed, *, verbose, callbacks):
    """Return the outputs of `model` for all batches of `feed`, concatenated."""
    callbacks = callback_list(
        callbacks, model, 0 if verbose == "auto" else verbose, steps=feed.steps
    )
    model.stop_predicting = False
    outputs = []
    group = model.steps_per_execution
    batches = feed.epoch(0)

    def end_group(number):
        """Call the batch-end hook for the group of batches that ends with batch `number`."""
        group_outputs = outputs[number - number % group :]
        last = _last_of_group(number, group)
        callbacks.call(
            "on_predict_batch_end", last, logs=lambda: {"outputs": _joined(group_outputs)}
        )

    try:
        callbacks.call("on_predict_begin", logs={})
        for number, batch in enumerate(batches):
            if not number % group:
                callbacks.call("on_predict_batch_begin", number, logs={})
            outputs.append(step(batch))
            if not (number + 1) % group:
                end_group(number)
            if model.stop_predicting:
                break
        if len(outputs) % group:
            end_group(len(outputs) - 1)
        feed.check("predict")
        callbacks.call("on_predict_end", logs={})
    finally:
        batches.close()
        _close(callbacks, feed)
    return _joined(outputs, copied=True)


def _joined(outputs, copied=False):
    """Return the outputs of several batches concatenated; one batch's are copied if `copied`."""
    if len(outputs) == 1 and not copied:
        return outputs[0]
    return nest.map_structure(
        lambda *parts: np.concatenate([np.asarray(p) for p in parts]), *outputs
    )


def validates(epoch, frequency):
    """Return whether `fit` validates after epoch `epoch`, counted from 0."""
    if hasattr(frequency, "__index__"):
        return (epoch + 1) % frequency == 0
    return epoch + 1 in frequency


class Feed:
    """The batches of each epoch.

    Args:
        batches: a result of `data.batches.as_batches`.
        steps: batches per epoch; all if None. Each epoch continues where the last one stopped;
            repeatable data restart at their end, an iterator ends.
        restart: start each epoch at the first batch and never restart within one: for evaluation.
        first: the number of the first epoch.
    """

    def __init__(self, batches, steps=None, restart=False, first=0):
        check_steps(steps)
        if batches.endless and steps is None:
            raise InvalidArgumentError(
                "The data are infinite, so an epoch needs a number of batches. Pass "
                "steps_per_epoch=, validation_steps= or steps=."
            )
        self._batches, self._steps = batches, steps
        self._restart, self._pass = restart or batches.once, first
        self._going = None
        self._gave = False  # whether the data yielded any batch
        self.tracks = False  # whether to keep the state of random generators at each pass's start
        self._number, self._taken, self._at_begin = first, 0, None  # of this pass
        self._sampled = 0  # the batches that `sample` took from an iterator
        self._resumed = None  # the iterator of a resumed pass, and the batches done in its epoch
        self.done = 0
        self.exhausted = False

    @property
    def steps(self):
        """The number of batches per epoch, None if unknown."""
        return self._steps or self._batches.num_batches

    def epoch(self, number):
        """Yield the batches of epoch `number`; `done` counts them."""
        self.done = 0 if self._resumed is None else self._resumed[1]
        self._batches.begin()
        try:
            for batch in self._epoch(number):
                self.done += 1
                self._taken += 1
                yield batch
        finally:
            self._batches.end()
        self.exhausted = self._steps is not None and self.done < self._steps

    def _epoch(self, number):
        if self._steps is not None and not self._restart:
            return self._onward()
        going = self._begin(number)
        return going if self._steps is None else islice(going, self._steps - self.done)

    def _begin(self, number):
        """Return the iterator of a pass over the data: a new one, or that of a resumed run."""
        if self._resumed is not None:
            going, self._resumed = self._resumed[0], None
            return going
        if not (self._batches.once and self._taken):
            self._number, self._taken = number, 0
            self._at_begin = self._batches.state(), random_state() if self.tracks else None
        return self._batches.epoch(number)

    def _onward(self):
        """Yield `steps` batches, restarting the data at their end."""
        left = self._steps - self.done
        while left:
            fresh = self._going is None
            if fresh:
                resumed = self._resumed is not None
                self._going = self._begin(self._pass)
                self._pass += not resumed
                fresh = not resumed
            batch = next(self._going, _END)
            if batch is _END:
                self._going = None
                if fresh:
                    return
                continue
            left -= 1
            yield batch

    # ---- the position, for `fit(resume=...)` ----

    def position(self, done):
        """Return the position in the data as JSON can hold it.

        Args:
            done: the batches done in this epoch; 0 between epochs.
        """
        inside = done or self._going is not None or (self._batches.once and self._taken)
        if not inside:
            now = self._batches.state(), random_state()
            return {"pass": self._pass, "taken": None, "source": now[0], "random": now[1]}
        source, at_random = self._at_begin
        return {
            "pass": self._number, "next": self._pass, "taken": self._taken, "source": source,
            "random": at_random,
        }  # fmt: skip

    def resume(self, position, done):
        """Continue at a position; random generators must be set afterwards."""
        self._batches.set_state(position["source"])
        self._gave = True
        if position["taken"] is None:
            self._pass = position["pass"]
            return
        self._number, self._taken = position["pass"], position["taken"]
        self._pass = position["next"]
        self._at_begin = position["source"], position["random"]
        set_random_state(position["random"])
        taken = self._taken - self._sampled
        self._resumed = self._batches.resumed(self._number, taken), done

    def sample(self):
        """Return the first batch, for building a model before `resume`."""
        if self._batches.once:
            self._sampled = 1
        state = self._batches.state()
        batch = next(iter(self._batches.epoch(0)))
        self._batches.set_state(state)
        return batch

    def close(self):
        """Stop the worker threads of a PyDataset."""
        if hasattr(self._going, "close"):
            self._going.close()

    def check(self, what, epoch=None, epochs=None):
        """Raise an error if no epoch had a batch; warn if this epoch had too few.

        Returns:
            Whether the next epoch can have data.
        """
        self._gave = self._gave or self.done > 0
        if not self._gave:
            raise InvalidArgumentError(
                f"{what}: the data yielded no batch: they are empty, or an exhausted generator. "
                "Pass a Dataset or another iterable that can be iterated again."
            )
        if self.done and not self.exhausted:
            return True
        of = f" of {self._steps}" if self._steps else ""
        where = f" in epoch {epoch + 1} of {epochs}, so {what} stops there" if epochs else ""
        warn(
            f"{what}: the data ran out after {self.done}{of} steps{where}. Pass data that can be "
            "iterated again (arrays, a Dataset, a PyDataset), an infinite generator, or a smaller "
            "number of steps."
        )
        return False


_END = object()
