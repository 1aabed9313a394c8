"""fit, evaluate and predict: check the arguments, choose the step, and run the epochs.

`fit` without special options uses seven modules:

1. `fitting.py`: `fit` turns its arguments into batches and chooses the step.
2. `epochs.py`: the loop over epochs and batches calls the step and the callbacks.
3. `feed.py`: the batches of each epoch, by Keras's rules for where an epoch ends.
4. `training_step.py`: the step computes outputs, loss and gradients, and updates variables.
5. `batch_plans.py`: runs that step by a compiled plan for each dtype and shape of batches.
6. `compilation.py`: the compiled loss and metrics of a batch.
7. `mistakes/course.py`: warnings about a loss that is not finite, stays constant, or rises.

The first batch also matches losses and metrics to the outputs (`output_matching.py`).
"""

from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.configurable import known_arguments_only
from framework.core.errors import InvalidArgumentError
from framework.core.program_settings import max_epochs, max_steps_per_epoch
from framework.core.stateless import StatelessScope, values_after
from framework.data.batches import as_batch, as_batches, as_whole
from framework.data.table_inputs import all_in_arrays, in_arrays
from framework.metrics.base import as_floats, on_tensors
from framework.training.batch_plans import Plans, as_tensors, pack, unpack
from framework.training.class_weights import check_class_weight, sample_weights_of
from framework.training.compilation import plus_layer_losses
from framework.training.epochs import (
    callback_list,
    debugging,
    run_evaluate,
    run_fit,
    run_predict,
)
from framework.training.feed import Feed
from framework.training.mistakes.course import Course
from framework.training.training_step import (
    check_returned,
    compiled_step,
    evaluate_batch,
    no_loss,
    overrides,
    own_loss_function,
    require_compiled,
)
from framework.training.usage_warnings import check_left_out, warn
from framework.training.validation import split_off, validation_batches


class Fitting:
    """`fit`, `evaluate`, `predict`, and the losses and metrics they read; base of `Trainer`."""

    @known_arguments_only
    def fit(
        self, x: TensorLike = None, y: TensorLike = None, batch_size: Any = None, epochs: int = 1,
        verbose: Any = "auto", callbacks: Any = None, validation_split: Any = 0.0,
        validation_data: Any = None, shuffle: bool = True, class_weight: Any = None,
        sample_weight: Any = None, initial_epoch: int = 0, steps_per_epoch: Any = None,
        validation_steps: Any = None, validation_batch_size: Any = None, validation_freq: Any = 1,
        *, resume: Any = None, save_every: Any = "5 min", debug: Any = None, doctor: bool = False,
    ):  # fmt: skip
        """Train for a number of epochs.

        Args:
            x: arrays or tensors (or a nest of them) with rows along the first axis, a table of
                pandas, polars or pyarrow, a Dataset, a PyDataset, or an iterable of batches (x, y)
                or (x, y, sample_weight). Do not write into arrays while fit runs: they are shared.
            y: the targets, if `x` is arrays.
            batch_size: rows per batch, if `x` is arrays; None: the size that gives
                `steps_per_epoch` batches of all rows, or 32.
            epochs: the number of the last epoch.
            verbose: 0 silent, 1 a progress bar (a line per epoch if the output is not a terminal),
                2 a line per epoch, "auto" as 1.
            callbacks: a list of `keras.callbacks.Callback`.
            validation_split: the fraction of rows, taken from the end, to validate on.
            validation_data: (x, y), (x, y, sample_weight), a Dataset or any other form of `x`,
                to evaluate on after each epoch.
            shuffle: reorder the rows in each epoch (arrays and PyDatasets only); "batch" keeps
                neighboring rows together.
            class_weight: {class number: weight}, a factor on the losses of the class's rows; for
                several targets one such dict per target.
            sample_weight: a weight per row; for several outputs such weights per output.
            initial_epoch: the number of epochs already done.
            steps_per_epoch: batches per epoch; all if None. The next epoch continues where the
                last one stopped in the data. An epoch ends early, with a warning, where a pass
                over the data ends; the next one begins a new pass.
            validation_batch_size, validation_steps: the same for validation, which starts from
                the first batch each time.
            validation_freq: the number of epochs from one validation to the next, or a list of the
                epochs to validate after.
            resume: a folder for the state of training. If it has one, training continues from it,
                within an epoch too, and ends exactly as a run that was not interrupted.
            debug: "numerics" to raise an error at the first loss, weight or slot that is not
                finite; it names the op, the layer, the line and the rows. Steps are slower.
            doctor: print one page about data, outputs, gradients and units after the first epoch.
            save_every: how often to save the state for `resume`: a number of batches, a time such
                as "5 min" or "30 s", or "epoch"; the state is also saved at the end.

        Returns:
            A `History`: `.history["loss"]` holds each epoch's mean loss. `model.history` is the
            same object, also during training and after an interruption.

        Raises:
            ValueError: the model is not compiled, the arrays' lengths differ, or there is no data.
            TypeError: an unknown argument.
        """
        require_compiled(self, "fit")
        epochs = within_limit(epochs, max_epochs(), "epochs")
        steps_per_epoch = _limited(steps_per_epoch)
        _check_fit(epochs, initial_epoch, verbose, validation_freq, class_weight, sample_weight)
        x, y, validation_data = all_in_arrays(self, x, y, validation_data)
        if validation_split and validation_data is None:
            x, y, sample_weight, validation_data = split_off(validation_split, x, y, sample_weight)
        batches = as_batches(x, y, sample_weight, batch_size, shuffle, steps=steps_per_epoch)
        feed = Feed(batches, steps_per_epoch, self.steps_per_execution, first=initial_epoch)
        course = Course(self, feed, batches, doctor)
        step, as_given = _batch_step(self, course)
        step = _reading(batches, step, as_given, class_weight)
        validation = test_step = None
        if validation_data is not None:
            size = validation_batch_size or batch_size
            validation_steps = _limited(validation_steps)
            validation = validation_batches(validation_data, size, validation_steps)
            test_step = _reading(validation, *_test_batch_step(self))
            validation = Feed(validation, validation_steps, self.steps_per_execution, restart=True)
        callbacks = callback_list(
            callbacks, self, verbose, epochs=epochs, steps=feed.steps, history=True
        )
        trained_by = None if as_given else compiled_step(self)
        _begin_accumulating(self, as_given)
        saving = _saving(self, feed, validation, trained_by, resume, save_every, callbacks)
        if trained_by is not None:
            trained_by._observer = callbacks.record
        try:
            with debugging(debug):
                return run_fit(
                    self, step, feed, epochs=epochs, initial_epoch=initial_epoch, verbose=verbose,
                    callbacks=callbacks, validation=validation, test_step=test_step,
                    validation_freq=validation_freq, course=course, saving=saving,
                    end_epoch=_nothing if trained_by is None else trained_by.flush,
                )  # fmt: skip
        finally:
            if trained_by is not None:
                trained_by._observer = None

    @known_arguments_only
    def evaluate(
        self, x: TensorLike = None, y: TensorLike = None, batch_size: Any = None,
        verbose: Any = "auto", sample_weight: Any = None, steps: Any = None, callbacks: Any = None,
        return_dict: bool = False,
    ) -> Any:  # fmt: skip
        """Return the loss and metrics on data.

        Args:
            x, y, batch_size, verbose, sample_weight, callbacks: as in `fit`.
            steps: the number of batches; all if None.
            return_dict: return a dict by name.

        Returns:
            The loss, or a list in Keras's order (the loss, the metrics that `metrics` names, the
            other values by name), or with `return_dict` a dict by name.
        """
        require_compiled(self, "evaluate")
        x, y = in_arrays(self, x, y)
        _check_verbose("evaluate", verbose)
        steps = _limited(steps)
        batches = as_batches(x, y, sample_weight, batch_size, shuffle=False, steps=steps)
        step = _reading(batches, *_test_batch_step(self))
        feed = Feed(batches, steps, self.steps_per_execution, restart=True)
        logs = run_evaluate(self, step, feed, verbose=verbose, callbacks=callbacks)
        return in_keras_order(self, logs, return_dict)

    def predict(
        self, x: TensorLike, batch_size: Any = None, verbose: Any = "auto", steps: Any = None,
        callbacks: Any = None,
    ) -> Any:  # fmt: skip
        """Return the outputs for all rows, NumPy arrays in the structure of the model's outputs."""
        _check_verbose("predict", verbose)
        steps = _limited(steps)
        batches = as_batches(*in_arrays(self, x), None, batch_size, shuffle=False, steps=steps)
        step = _reading(batches, *_predict_batch_step(self))
        feed = Feed(batches, steps, self.steps_per_execution, restart=True)
        return run_predict(self, step, feed, verbose=verbose, callbacks=callbacks)

    # ---- losses and metrics ----

    @property
    def losses(self):
        """The layers' losses of the last call: `add_loss`, activity and weight regularizers."""
        self._framework.losses_read = True
        return super().losses

    @property
    def metrics(self):
        """The mean loss, the compiled metrics (as one object), and the metrics of layers."""
        own = [] if self._framework.training is None else self._framework.training.all_metrics
        return [*own, *super().metrics]

    @property
    def metrics_names(self):
        return [metric.name for metric in self.metrics]

    def reset_metrics(self):
        for metric in self.metrics:
            metric.reset_state()

    def get_metrics_result(self):
        """Return the current values of all metrics by name, the loss first.

        Values are Python floats; tensors while a `train_step` or `test_step` is traced.
        """
        results = {}
        for metric in _metrics_as_logged(self):
            result = metric.result()
            results.update(result if isinstance(result, dict) else {metric.name: result})
        return results if on_tensors() else as_floats(results)

    def compute_loss(
        self, x: TensorLike = None, y: TensorLike = None, y_pred: TensorLike = None,
        sample_weight: Any = None, training: bool = True,
    ) -> Any:  # fmt: skip
        """Return the compiled loss of a batch plus the layers' losses, a 0-d tensor."""
        compilation = require_compiled(self, "compute_loss")
        total = None
        if compilation.loss.losses is not None:
            check_returned(self, y_pred)
            total = compilation.loss(y, y_pred, sample_weight)
        total = plus_layer_losses(total, self.losses)
        if total is None:
            raise no_loss(self)
        return total

    def stateless_compute_loss(
        self, trainable_variables: Any, non_trainable_variables: Any, metrics_variables: Any,
        x: TensorLike = None, y: TensorLike = None, y_pred: TensorLike = None,
        sample_weight: Any = None, training: bool = True,
    ) -> Any:  # fmt: skip
        """Return the loss for other values of the variables, which do not change.

        Args:
            trainable_variables, non_trainable_variables, metrics_variables: a value for each of
                the model's variables of these names.
            x, y, y_pred, sample_weight, training: as in `compute_loss`.

        Returns:
            (the loss, (the trainable, the new non-trainable and the new metrics variables)).
        """
        pairs = [
            *zip(self.trainable_variables, trainable_variables),
            *zip(self.non_trainable_variables, non_trainable_variables),
            *zip(self.metrics_variables, metrics_variables),
        ]
        with StatelessScope(pairs) as scope:
            loss = own_loss_function(self, training)(x, y, y_pred, sample_weight)
        after = (
            values_after(scope, v) for v in (self.non_trainable_variables, self.metrics_variables)
        )
        return loss, (trainable_variables, *after)

    def compute_metrics(
        self, x: TensorLike, y: TensorLike, y_pred: TensorLike, sample_weight: Any = None,
    ):  # fmt: skip
        """Update the compiled metrics with a batch and return the values of all metrics."""
        require_compiled(self, "compute_metrics").metrics.update_state(y, y_pred, sample_weight)
        return self.get_metrics_result()


def _reading(batches, step, as_given, class_weight=None):
    """Return `step` as a function that takes elements of `batches`, and set `batches.read`.

    Args:
        as_given: `step` takes elements in the data's own structure, as a user's `train_step` does.
        class_weight: class weights to add to each batch as sample weights.
    """
    arrays = not hasattr(batches, "source")
    if class_weight is not None:
        step = _weighing(step, as_given, arrays, class_weight)
    if not arrays:
        batches.read = as_whole if as_given else as_batch
    elif as_given and class_weight is None:
        return lambda batch: step(pack(*batch))
    return step


def _weighing(step, as_given, arrays, class_weight):
    """Return a function that computes sample weights from class weights, then calls `step`."""

    def weighed(batch):
        x, y, sample_weight = batch if arrays or not as_given else unpack(batch)
        if sample_weight is not None:
            raise weights_conflict("fit")
        batch = x, y, sample_weights_of(y, class_weight)
        return step(pack(*batch) if as_given else batch)

    return weighed


def within_limit(number, limit, name):
    """Return the smaller of `number` and the program's limit; warn if it is the limit."""
    if not limit or (number and number <= limit):
        return number
    warn(f"Limiting {name} to {limit}")
    return limit


def _limited(steps):
    return within_limit(steps, max_steps_per_epoch(), "steps_per_epoch")


def _nothing():
    """Do nothing at the end of an epoch: no gradients are accumulated."""


def _check_fit(epochs, initial_epoch, verbose, validation_freq, class_weight, sample_weight):
    check_count("epochs", epochs)
    check_count("initial_epoch", initial_epoch)
    _check_verbose("fit", verbose)
    check_frequency(validation_freq)
    if class_weight is not None:
        check_class_weight(class_weight)
        if sample_weight is not None:
            raise weights_conflict("fit")


def _check_verbose(method, verbose):
    if verbose not in ("auto", 0, 1, 2):
        raise InvalidArgumentError(
            f"{method}: verbose must be 0 (silent), 1 (a progress bar), 2 (a line per epoch) or "
            f'"auto", got {verbose!r}.'
        )


def weights_conflict(method):
    return InvalidArgumentError(
        f"{method}: class_weight and sample_weight cannot be given at the same time. Multiply "
        "sample_weight by the weight of each row's class."
    )


def _saving(model, feed, validation, step, resume, save_every, callbacks):
    """Return the `Saving` of `fit(resume=...)` or of a BackupAndRestore; None without them."""
    records = [(c, getattr(c, "_framework", None)) for c in callbacks.callbacks]
    backups = [c for c, record in records if getattr(record, "backs_up", False)]
    if resume is None and not backups:
        return None
    # imported here because most calls of `fit` save no state
    from framework.training.resuming import Saving, interval_of

    if backups and resume is not None:
        raise InvalidArgumentError(
            "fit: resume=... and BackupAndRestore cannot be used together. Leave out the callback."
        )
    accumulator = model._framework.training.accumulator
    place = model, feed, validation, accumulator, step
    if not backups:
        return Saving(*place, resume, interval_of(save_every))
    backup = backups[0]
    return Saving(
        *place, backup.backup_dir, interval_of(backup.save_freq, "save_freq"), keeps_history=False,
        keeps_previous=backup.double_checkpoint, deletes=backup.delete_checkpoint,
    )  # fmt: skip


def _begin_accumulating(model, overridden):
    accumulator = model._framework.training.accumulator
    if accumulator is None:
        return
    if overridden:
        raise InvalidArgumentError(
            f"compile(accumulate={accumulator.every}) needs the built-in train_step, but "
            f"{type(model).__name__} overrides it. Use Optimizer(gradient_accumulation_steps=...) "
            "or model.training_step(accumulate=...)."
        )
    accumulator.clear()


def _batch_step(model, course):
    """Return (the training step of `fit`, whether it takes a batch in the data's own structure).

    A user's step takes each batch in the structure of the data. The built-in step takes
    (x, y, sample_weight) and computes the metrics' values only when they are read.
    """
    if overrides(model, "make_train_function"):
        model.make_train_function()
        return (lambda data: model.train_function(iter((data,)))), True
    if overrides(model, "train_step"):
        return _watched(model, _planned(model, "train_step")), True
    step = compiled_step(model)

    def run(batch):
        loss = step(*batch).array
        if not loss.ndim and not isfinite(loss):
            course.not_finite(batch, loss)
        return step._logs

    return run, False


def _watched(model, train_step):
    """Wrap a user's `train_step`; its first call warns if it does not read the layers' losses."""
    checked = []

    def run(data):
        if checked:
            return train_step(data)
        checked.append(True)
        model._framework.losses_read = False
        logs = train_step(data)
        if not model._framework.losses_read and (count := len(model.losses)):
            check_left_out(model, count)
        return logs

    return run


def _test_batch_step(model):
    if overrides(model, "make_test_function"):
        model.make_test_function()
        return (lambda data: model.test_function(iter((data,)))), True
    if overrides(model, "test_step"):
        return _planned(model, "test_step"), True
    return partial(_evaluate_by_plan, model), False


def _predict_batch_step(model):
    if overrides(model, "make_predict_function"):
        model.make_predict_function()
        return (lambda data: model.predict_function(iter((data,)))), True
    return _planned(model, "predict_step"), True


def _planned(model, method):
    """Return `train_step`, `test_step` or `predict_step` as a function run by compiled plans."""
    run, plans = getattr(model, method), plans_of(model, method)

    def call(data):
        return plans(run, [data]) if plans.possible() else run(data)

    return call


def _evaluate_by_plan(model, batch):
    plans = plans_of(model, "evaluate_batch")
    if plans.possible():
        return plans(partial(evaluate_batch, model), [*batch])
    return evaluate_batch(model, *map(as_tensors, batch))


def plans_of(model, method):
    """Return the `Plans` object of a method, a new one after each call of `compile`."""
    record = model._framework
    known = record.plans
    if known is None or known[0] is not record.training:
        known = record.plans = (record.training, {})
    if method not in known[1]:
        known[1][method] = Plans(model, method)
    return known[1][method]


def in_keras_order(model, logs, return_dict):
    """Return logs in the form of `evaluate`: a dict, a number, or a list in Keras's order."""
    if return_dict or not isinstance(logs, dict):
        return logs
    names = []
    for metric in model.metrics:
        parts = metric.metrics if metric is model._framework.training.metrics else [metric]
        names += [part.name for part in parts]
    known = [name for name in dict.fromkeys(names) if name in logs]
    values = [logs[name] for name in (*known, *sorted(logs.keys() - set(known)))]
    return values[0] if len(values) == 1 else values


def _metrics_as_logged(model):
    """Return `model.metrics` with the total loss and each output's loss first."""
    metrics, training = model.metrics, model._framework.training
    own = () if training is None else (training.loss_tracker, *training.loss.trackers)
    first = [metric for metric in own if metric in metrics]
    return [*first, *(metric for metric in metrics if metric not in first)]


def check_frequency(frequency):
    """Raise an error unless `frequency` is an int >= 1 or a collection of epochs from 1."""
    if isinstance(frequency, (list, tuple, set, range)):
        return
    if isinstance(frequency, bool) or not hasattr(frequency, "__index__") or frequency < 1:
        raise InvalidArgumentError(
            "fit: validation_freq must be an int >= 1 or a list of epochs counted from 1, got "
            f"{frequency!r}."
        )


def check_count(name, value, least=0, method="fit"):
    """Raise InvalidArgumentError unless `value` is an int >= `least`."""
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__") or value < least:
        raise InvalidArgumentError(f"{method}: {name} must be an int >= {least}, got {value!r}.")
