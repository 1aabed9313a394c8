"""The loops over epochs and batches behind fit, evaluate and predict."""

from functools import partial

import numpy as np

from framework.core import nest
from framework.training.callbacks import CallbackList
from framework.training.callbacks.history import complete
from framework.training.callbacks.progbar import ProgbarLogger, close
from framework.training.model_steps import overrides
from framework.training.validation import validates


def fit(
    model, step, feed, *, epochs, initial_epoch, verbose, callbacks, validation, test_step,
    validation_freq, end_epoch,
):  # fmt: skip
    """Call `step` on the batches of `feed` for some epochs; returns a History.

    Args:
        step: one batch's training; gives logs, or None for the model's metrics.
        validation: a Feed, or None; `test_step` is called on its batches.
        end_epoch: called after an epoch's last batch, before its logs are taken.
    """
    callbacks = callback_list(
        callbacks, model, verbose, epochs=epochs, steps=feed.steps, history=True
    )
    history = model.history = callbacks.history()
    model.stop_training = False
    logs = {}
    validate = partial(_validated, model, test_step, validation, validation_freq, callbacks)
    try:
        callbacks.call("on_train_begin", logs={})
        try:
            for epoch in range(initial_epoch, epochs):
                logs = _train_epoch(model, step, feed, epoch, callbacks, end_epoch)
                more = feed.check("fit", epoch - initial_epoch, epochs)
                if logs is None:
                    logs = {}
                    break
                logs.update(validate(epoch))
                try:
                    callbacks.call("on_epoch_end", epoch, logs=logs)
                finally:
                    complete(history, epoch, logs)
                if model.stop_training or not more:
                    break
        finally:
            _put_averages(model, epochs)  # after an interruption too, as Keras does
        callbacks.call("on_train_end", logs=logs)
    finally:
        _close(callbacks, feed, validation)
    return history


def _validated(model, step, feed, frequency, callbacks, epoch):
    """The logs of an epoch's validation, empty where it has none."""
    if feed is None or not validates(epoch, frequency):
        return {}
    found = test_epoch(model, step, feed, callbacks, "fit: validation_data")
    return {f"val_{name}": value for name, value in found.items()}


def _put_averages(model, epochs):
    """Let the optimizer put the averages that it keeps in the variables' place."""
    finalize = getattr(model.optimizer, "finalize_variable_values", None)
    if finalize is not None and epochs > 0:
        finalize(model.trainable_variables)


def callback_list(callbacks, model, verbose, epochs=1, steps=None, history=False):
    """The callbacks of one run; a CallbackList is taken as it is."""
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
    for feed in feeds:
        if feed is not None:
            feed.close()


def _train_epoch(model, step, feed, epoch, callbacks, end_epoch):
    """The epoch's logs; None where there was no batch at all."""
    began = callbacks.listeners("on_train_batch_begin")
    ended = callbacks.listeners("on_train_batch_end")
    model.reset_metrics()
    callbacks.call("on_epoch_begin", epoch, logs={})
    group = model.steps_per_execution
    results = None
    number = -1
    batches = feed.epoch(epoch)
    try:
        for number, batch in enumerate(batches):
            if began and not number % group:
                callbacks.call("on_train_batch_begin", number, logs={})
            results = step(batch)
            if ended and not (number + 1) % group:
                callbacks.call("on_train_batch_end", number, logs=_logs(model, results))
            if model.stop_training:
                break
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
    """The last number of the group of batches that `number` is in, whether or not it was there:
    that is how Keras counts."""
    return number - number % group + group - 1


def _logs(model, results):
    """The logs, made only when asked for: what `train_step` returned, or the metrics' values."""
    if isinstance(results, dict):
        return lambda: as_floats(results)
    if results is not None:
        return lambda: {"loss": float(results)}
    return model.get_metrics_result


def _all_logs(model, results, kind):
    """The logs of all batches, where `results` are the last one's.

    As in Keras: an own `compute_metrics` can add to them, but where it gives just what the metrics
    give, their values count.
    """
    own = overrides(model, f"{kind}_step") or overrides(model, f"make_{kind}_function")
    if isinstance(results, dict) and not own:
        found = model.get_metrics_result()
        if found.keys() == as_floats(results).keys():
            return found
    return _logs(model, results)()


def as_floats(values):
    """Metric results as Python floats; a metric's result may be a dict of them."""
    found = {}
    for name, value in values.items():
        if isinstance(value, dict):
            found.update(as_floats(value))
        elif value is not None:
            array = np.asarray(value)
            found[name] = float(array) if array.ndim == 0 else array
    return found


def evaluate(model, step, feed, *, verbose, callbacks):
    """Loss and metrics of `model` on the batches of `feed`, by name."""
    callbacks = callback_list(callbacks, model, verbose, steps=feed.steps)
    try:
        return test_epoch(model, step, feed, callbacks, "evaluate")
    finally:
        _close(callbacks, feed)


def test_epoch(model, step, feed, callbacks, what):
    """One pass of `step` over all batches; its logs."""
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


def predict(model, step, feed, *, verbose, callbacks):
    """The outputs of `model` for all batches of `feed`, concatenated."""
    callbacks = callback_list(
        callbacks, model, 0 if verbose == "auto" else verbose, steps=feed.steps
    )
    model.stop_predicting = False
    outputs = []
    group = model.steps_per_execution
    batches = feed.epoch(0)

    def told(number):
        """Tell callbacks that the group of batches is done."""
        some = outputs[number - number % group :]
        last = _last_of_group(number, group)
        callbacks.call("on_predict_batch_end", last, logs=lambda: {"outputs": _joined(some)})

    try:
        callbacks.call("on_predict_begin", logs={})
        for number, batch in enumerate(batches):
            if not number % group:
                callbacks.call("on_predict_batch_begin", number, logs={})
            outputs.append(step(batch))
            if not (number + 1) % group:
                told(number)
            if model.stop_predicting:
                break
        if len(outputs) % group:
            told(len(outputs) - 1)
        feed.check("predict")
        callbacks.call("on_predict_end", logs={})
    finally:
        batches.close()
        _close(callbacks, feed)
    return _joined(outputs, copied=True)


def _joined(outputs, copied=False):
    """Outputs of several batches as one; those of one batch as they are, unless `copied`."""
    if len(outputs) == 1 and not copied:
        return outputs[0]
    return nest.map_structure(
        lambda *parts: np.concatenate([np.asarray(p) for p in parts]), *outputs
    )
