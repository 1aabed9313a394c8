"""The loops over epochs and batches of fit, evaluate and predict."""

from contextlib import nullcontext
from functools import partial

import numpy as np

from framework.core import nest
from framework.core.errors import InvalidArgumentError
from framework.metrics.base import as_floats
from framework.training.callbacks import CallbackList
from framework.training.callbacks.history import complete
from framework.training.callbacks.progbar import ProgbarLogger, close
from framework.training.callbacks.terminate_on_nan import TerminateOnNaN
from framework.training.training_step import overrides


def run_fit(
    model, step, feed, *, epochs, initial_epoch, verbose, callbacks, validation, test_step,
    validation_freq, end_epoch, course, saving=None,
):  # fmt: skip
    """Train: call `step` on the batches of `feed` for several epochs, and return a History.

    Args:
        step: trains on one batch; returns logs, or None to log the model's metrics.
        validation: a Feed, or None; `test_step` is called on its batches.
        end_epoch: called after an epoch's last batch, before its logs are computed.
        course: a `Course`, which checks the loss of each epoch.
        saving: a `Saving`, which saves the training state and restores it at the start; or None.
    """
    callbacks = callback_list(
        callbacks, model, verbose, epochs=epochs, steps=feed.steps, history=True
    )
    course.handled |= any(isinstance(c, TerminateOnNaN) for c in callbacks.callbacks)
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
                logs = _train_epoch(model, step, feed, epoch, callbacks, end_epoch, course, saving)
                more = feed.check("fit", epoch - initial_epoch, epochs)
                if logs is None and not more:
                    logs = {}
                    break
                if logs is None:  # Keras, too, reports logs for an epoch without data
                    logs = model.get_metrics_result()
                logs.update(validate(epoch))
                try:
                    callbacks.call("on_epoch_end", epoch, logs=logs)
                finally:
                    complete(history, epoch, logs)
                course.report()
                saving.after_epoch(epoch, logs)
                if model.stop_training or not more:
                    break
            saving.at_end(logs)
        finally:
            # with use_ema=True, the variables get their averages even after an error, as in Keras
            _finalize_variables(model, epochs)
        callbacks.call("on_train_end", logs=logs)
        saving.close()
    finally:
        saving.end_reading()
        _close(callbacks, feed, validation)
    return history


def debugging(debug):
    """Return the context manager for `fit(debug=...)`; it does nothing if `debug` is None."""
    if debug is None:
        return nullcontext()
    if debug != "numerics":
        raise InvalidArgumentError(f'fit: debug must be None or "numerics", got {debug!r}.')
    from framework.training.numerics_check import (
        numerics,
    )  # imported here because it is rarely needed

    return numerics()


class _NotSaving:
    """Replaces `Saving` in a `fit` that saves no state; its methods do nothing."""

    after_batch = None

    def open(self, callbacks):
        """Do nothing, because there is no state to read."""

    close = after_epoch = at_end = end_reading = lambda self, *_: None

    def start(self, initial_epoch):
        return initial_epoch, {}

    def enter(self, epoch):
        return -1, None


NOT_SAVING = _NotSaving()


def _validated(model, step, feed, frequency, callbacks, epoch):
    """Run the validation after an epoch and return its logs; empty if none is due."""
    if feed is None or not validates(epoch, frequency):
        return {}
    logs = test_epoch(model, step, feed, callbacks, "fit: validation_data")
    return {f"val_{name}": value for name, value in logs.items()}


def _finalize_variables(model, epochs):
    """Overwrite the variables with their moving averages, if the optimizer has use_ema=True."""
    finalize = getattr(model.optimizer, "finalize_variable_values", None)
    if finalize is not None and epochs > 0:
        finalize(model.trainable_variables)


def callback_list(callbacks, model, verbose, epochs=1, steps=None, history=False):
    """Return a CallbackList of the given and the default callbacks; or one passed, unchanged."""
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


def _train_epoch(model, step, feed, epoch, callbacks, end_epoch, course, saving):
    """Train for one epoch and return its logs; None if there was no batch."""
    began = callbacks.listeners("on_train_batch_begin")
    ended = callbacks.listeners("on_train_batch_end")
    course.epoch = epoch
    model.reset_metrics()
    callbacks.call("on_epoch_begin", epoch, logs={})
    group = model.steps_per_execution
    last, results = saving.enter(epoch)
    number, batch = last, None
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
        if ended and (number + 1) % group:
            last = _last_of_group(number, group)
            callbacks.call("on_train_batch_end", last, logs=_logs(model, results))
    finally:
        batches.close()
        feed.end()
    if number < 0:
        return None
    end_epoch()
    logs = _all_logs(model, results, "train")
    course.after_epoch(logs, batch)
    return logs


def _last_of_group(number, group):
    """Return the last batch number of the group that batch `number` is in, for batch-end hooks.

    A group is the `steps_per_execution` batches between two calls of the hooks. As in Keras, the
    last group's number is that of a full group, even if the data end earlier.
    """
    return number - number % group + group - 1


def _logs(model, results):
    """Return a function that computes the logs from `results` of a step, else from the metrics."""
    if isinstance(results, dict):
        return lambda: as_floats(results)
    if results is not None:
        return lambda: {"loss": float(results)}
    return model.get_metrics_result


def _all_logs(model, results, mode):
    """Return the logs of an epoch, where `results` are those of its last batch.

    As in Keras, an overridden `compute_metrics` can add entries; if it returns only names of
    metrics, the logs are the metrics' values.
    """
    own = overrides(model, f"{mode}_step") or overrides(model, f"make_{mode}_function")
    if isinstance(results, dict) and not own:
        values = model.get_metrics_result()
        if values.keys() == as_floats(results).keys():
            return values
    return _logs(model, results)()


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
        if ended and (number + 1) % group:
            last = _last_of_group(number, group)
            callbacks.call("on_test_batch_end", last, logs=_logs(model, results))
    finally:
        batches.close()
        feed.end()
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
        feed.end()
        _close(callbacks, feed)
    return _joined(outputs, copied=True)


def _joined(outputs, copied=False):
    """Return the outputs of several batches, concatenated; one batch is copied only if `copied`."""
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
