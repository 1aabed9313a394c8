"""The loops over epochs and batches behind fit, evaluate and predict."""

import warnings

import numpy as np

from framework.core import nest
from framework.core.errors import InvalidArgumentError
from framework.training.callbacks import CallbackList, History
from framework.training.progress import progress_for


def fit(
    model, step, batches, *, epochs, initial_epoch, verbose, callbacks, steps, validation,
    validation_steps, validation_freq,
):  # fmt: skip
    """Call `step` on each of `batches` (see `data.batches`) for some epochs; returns a History."""
    steps = steps or batches.num_batches
    history = model.history = History()
    params = {"epochs": epochs, "steps": steps, "verbose": verbose}
    callbacks = CallbackList([history, *(callbacks or ())], model, params)
    progress = progress_for(verbose, epochs)
    model.stop_training = False
    callbacks.call("on_train_begin")
    logs = {}
    try:
        for epoch in range(initial_epoch, epochs):
            callbacks.call("on_epoch_begin", epoch)
            progress.begin(epoch, steps)
            logs = _train_epoch(model, step, batches, epoch, steps, callbacks, progress)
            if validation is not None and (epoch + 1) % validation_freq == 0:
                found = _test_epoch(model, validation, validation_steps, callbacks)
                logs.update({f"val_{name}": value for name, value in found.items()})
            progress.end(logs)
            callbacks.call("on_epoch_end", epoch, logs=logs)
            if model.stop_training:
                break
    finally:
        progress.close()
    callbacks.call("on_train_end", logs=logs)
    return history


def _train_epoch(model, step, batches, epoch, steps, callbacks, progress):
    began = callbacks.listeners("on_train_batch_begin")
    ended = callbacks.listeners("on_train_batch_end")
    model.reset_metrics()
    results = None
    done = 0
    for done, batch in enumerate(_first(batches.epoch(epoch), steps), start=1):
        if began:
            callbacks.call("on_train_batch_begin", done - 1)
        results = step(batch)
        logs = _logs(model, results)
        if ended:
            callbacks.call("on_train_batch_end", done - 1, logs=logs)
        progress.batch(logs)
        if model.stop_training:
            break
    _check_count(done, steps, model)
    return _logs(model, results)()


def _logs(model, results):
    """The logs, made only when asked for: what `train_step` returned, or the metrics' values."""
    if isinstance(results, dict):
        return lambda: as_floats(results)
    return model.get_metrics_result


def as_floats(values):
    """Metric results as Python floats; a metric's result may be a dict of them."""
    found = {}
    for name, value in values.items():
        if isinstance(value, dict):
            found.update(as_floats(value))
        else:
            array = np.asarray(value)
            found[name] = float(array) if array.ndim == 0 else array
    return found


def _first(iterator, steps):
    if steps is None:
        return iterator
    return (batch for _, batch in zip(range(steps), iterator, strict=False))


def _check_count(done, steps, model):
    if done == 0:
        raise InvalidArgumentError(
            "The data gave no batch: it is empty, or a generator that is used up. Pass a Dataset "
            "or another iterable that can be iterated again."
        )
    if steps is not None and done < steps and not model.stop_training:
        warnings.warn(
            f"The data gave {done} of {steps} steps; pass a re-iterable, more data or fewer steps.",
            stacklevel=4,
        )


def evaluate(model, batches, *, verbose, callbacks, steps):
    """Loss and metrics of `model` on `batches`, by name."""
    params = {"epochs": 1, "steps": steps or batches.num_batches, "verbose": verbose}
    callbacks = CallbackList(callbacks or (), model, params)
    progress = progress_for(verbose, None)
    progress.begin(0, steps or batches.num_batches)
    try:
        logs = _test_epoch(model, batches, steps, callbacks, progress)
        progress.end(logs)
    finally:
        progress.close()
    return logs


def _test_epoch(model, batches, steps, callbacks, progress=None):
    model.reset_metrics()
    callbacks.call("on_test_begin")
    began = callbacks.listeners("on_test_batch_begin")
    ended = callbacks.listeners("on_test_batch_end")
    results = None
    done = 0
    for done, batch in enumerate(_first(batches.epoch(0), steps), start=1):
        if began:
            callbacks.call("on_test_batch_begin", done - 1)
        results = model.test_step(batch)
        if ended:
            callbacks.call("on_test_batch_end", done - 1, logs=results)
        if progress is not None:
            progress.batch(lambda logs=results: logs)
    _check_count(done, steps, model)
    logs = as_floats(results)
    callbacks.call("on_test_end", logs=logs)
    return logs


def predict(model, batches, *, verbose, callbacks, steps):
    """The outputs of `model` for all `batches`, concatenated."""
    params = {"epochs": 1, "steps": steps or batches.num_batches, "verbose": verbose}
    callbacks = CallbackList(callbacks or (), model, params)
    progress = progress_for(0 if verbose == "auto" else verbose, None)
    progress.begin(0, params["steps"])
    callbacks.call("on_predict_begin")
    outputs = []
    try:
        for i, batch in enumerate(_first(batches.epoch(0), steps)):
            callbacks.call("on_predict_batch_begin", i)
            outputs.append(model.predict_step(batch))
            callbacks.call("on_predict_batch_end", i, logs={})
            progress.batch(dict)
        progress.end({})
    finally:
        progress.close()
    _check_count(len(outputs), steps, model)
    callbacks.call("on_predict_end")
    return nest.map_structure(
        lambda *parts: np.concatenate([np.asarray(p) for p in parts]), *outputs
    )
