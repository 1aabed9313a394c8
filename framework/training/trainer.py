"""Trainer: what makes a model trainable by `compile` and `fit`; a mixin, not a layer."""

import numpy as np

from framework.core import nest
from framework.core.configurable import unexpected_argument
from framework.core.errors import InvalidArgumentError
from framework.data.batches import as_batches
from framework.metrics import Mean
from framework.training import loop
from framework.training.step import (
    CompiledLoss,
    CompiledMetrics,
    TrainingStep,
    as_tensors,
    optimizer_of,
)  # fmt: skip


class Trainer:
    """`compile`, `fit`, `evaluate`, `predict`, and `training_step` for hand-written loops."""

    _training = None  # what compile() made of its arguments
    optimizer = None
    loss = None
    history = None
    stop_training = False
    run_eagerly = False

    # ---- compile ----

    def compile(
        self, optimizer="rmsprop", loss=None, loss_weights=None, metrics=None,
        weighted_metrics=None, run_eagerly=False, steps_per_execution=1, jit_compile="auto",
        auto_scale_loss=True,
    ):  # fmt: skip
        """Say how the model is trained.

        Args:
            optimizer: a name or an optimizer.
            loss: a name, a Loss, a function `loss(y_true, y_pred)`, or a list or dict of them that
                matches the model's outputs.
            metrics: a list of names, metrics or functions `metric(y_true, y_pred)`.
            run_eagerly, jit_compile, steps_per_execution, auto_scale_loss: accepted; every step
                runs eagerly at present.

        Raises:
            ValueError: an unknown name (the nearest is suggested), or an argument that is not
                supported yet.
        """
        refuse("compile", loss_weights=loss_weights, weighted_metrics=weighted_metrics)
        training = _Training(optimizer_of(optimizer), loss, metrics)
        self._training = training
        self.optimizer, self.loss, self.run_eagerly = training.optimizer, loss, run_eagerly
        self.stop_training = False

    @property
    def compiled(self):
        return self._training is not None

    def _require_compiled(self, method):
        if self._training is None:
            raise InvalidArgumentError(
                f"{method}: the model {self.name!r} is not compiled yet. Call "
                'model.compile(optimizer="adam", loss="...") first.'
            )
        return self._training

    @property
    def metrics(self):
        """The loss's running mean, the compiled metrics as one, and those that layers hold."""
        own = [] if self._training is None else self._training.all_metrics
        return [*own, *super().metrics]

    @property
    def metrics_names(self):
        return [metric.name for metric in self.metrics]

    def reset_metrics(self):
        for metric in self.metrics:
            metric.reset_state()

    def get_metrics_result(self):
        """The present values of all metrics, Python floats by name."""
        return loop.as_floats({metric.name: metric.result() for metric in self.metrics})

    # ---- what a user may override, as in Keras ----

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        """The compiled loss of a batch plus the layers' losses, 0-d."""
        training = self._require_compiled("compute_loss")
        total = None
        if training.loss.losses is not None:
            total = training.loss(y, y_pred, sample_weight)
        for part in self.losses:
            total = part if total is None else total + part
        if total is None:
            raise InvalidArgumentError(
                f"fit: the model {self.name!r} has no loss: compile(loss=None) and no layer adds "
                "one with add_loss()."
            )
        return total

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        """Update the compiled metrics by a batch; returns all metrics' values."""
        self._require_compiled("compute_metrics").metrics.update_state(y, y_pred, sample_weight)
        return self.get_metrics_result()

    def train_step(self, data):
        """One training step on `data` = (x, y, sample_weight), any tail of it left out."""
        x, y, sample_weight = unpack(data)
        self._compiled_step()(x, y, sample_weight)
        return self.get_metrics_result()

    def test_step(self, data):
        """Evaluate one batch."""
        x, y, sample_weight = (as_tensors(part) for part in unpack(data))
        self._evaluate_batch(x, y, sample_weight)
        return self.get_metrics_result()

    def predict_step(self, data):
        """The outputs for one batch."""
        x, _, _ = unpack(data)
        return self(as_tensors(x), training=False)

    def _compiled_step(self):
        training = self._require_compiled("fit")
        if training.step is None:
            training.step = TrainingStep(
                self, self._step_loss, training.optimizer, self._update_metrics
            )
        return training.step

    def _batch_step(self):
        """What `fit` does with a batch: the user's `train_step`, or the compiled step itself.

        The latter leaves the metrics' values alone until somebody wants to see them.
        """
        if type(self).train_step is not Trainer.train_step:
            return self.train_step
        step = self._compiled_step()

        def run(batch):
            step(*batch)

        return run

    def _step_loss(self, x, y, y_pred, sample_weight):
        return self.compute_loss(x=x, y=y, y_pred=y_pred, sample_weight=sample_weight)

    def _update_metrics(self, x, y, y_pred, sample_weight, loss):
        training = self._training
        rows = nest.flatten(x)[0].array.shape[0]
        training.loss_tracker.update_state(loss, sample_weight=rows)
        if type(self).compute_metrics is not Trainer.compute_metrics:
            self.compute_metrics(x, y, y_pred, sample_weight)
        else:
            training.metrics.update_state(y, y_pred, sample_weight)

    def _evaluate_batch(self, x, y, sample_weight):
        y_pred = self(x, training=False)
        loss = self.compute_loss(
            x=x, y=y, y_pred=y_pred, sample_weight=sample_weight, training=False
        )
        self._update_metrics(x, y, y_pred, sample_weight, loss)

    # ---- the explicit API ----

    def training_step(self, loss=None, optimizer=None, metrics=None):
        """One train step as a callable, for hand-written loops.

        Args:
            loss: as in `compile`; the compiled one where None.
            optimizer: as in `compile`; the compiled one where None.
            metrics: metric objects that each step updates by `update_state(y, y_pred)`.

        Returns:
            A `TrainingStep`: `loss = step(x, y, sample_weight=None)`; its parts are
            `loss, grads = step.gradients(x, y)` and `step.apply(grads)`.

        Example:
            >>> import numpy as np
            >>> from framework import keras
            >>> model = keras.Sequential([keras.layers.Dense(1)])
            >>> step = model.training_step(loss="mse", optimizer="sgd")
            >>> x = np.ones((4, 2), "float32")
            >>> float(step(x, 2 * x[:, :1])) >= 0
            True
        """
        if loss is None or optimizer is None:
            training = self._require_compiled("training_step (without loss= and optimizer=)")
        compute_loss = (
            self._step_loss if loss is None else self._plus_layer_losses(CompiledLoss(loss))
        )
        optimizer = training.optimizer if optimizer is None else optimizer_of(optimizer)
        update = None
        if metrics:
            compiled = CompiledMetrics(metrics)

            def update(x, y, y_pred, sample_weight, loss):
                compiled.update_state(y, y_pred, sample_weight)

        return TrainingStep(self, compute_loss, optimizer, update)

    def _plus_layer_losses(self, loss):
        def compute_loss(x, y, y_pred, sample_weight):
            total = loss(y, y_pred, sample_weight)
            for part in self.losses:
                total = total + part
            return total

        return compute_loss

    # ---- fit, evaluate, predict ----

    def fit(
        self, x=None, y=None, batch_size=None, epochs=1, verbose="auto", callbacks=None,
        validation_split=0.0, validation_data=None, shuffle=True, class_weight=None,
        sample_weight=None, initial_epoch=0, steps_per_epoch=None, validation_steps=None,
        validation_batch_size=None, validation_freq=1, **unknown,
    ):  # fmt: skip
        """Train for a number of epochs.

        Args:
            x: arrays or tensors (or a nest of them) with rows along the first axis, a Dataset, or
                an iterable of batches (x, y) or (x, y, sample_weight). Arrays are not copied: do
                not write into them while fit runs.
            y: the targets, with arrays only.
            batch_size: rows a batch, 32 where None; with arrays only.
            epochs: the number of the last epoch.
            verbose: 0 silent, 1 a bar (a line an epoch where the output is no terminal), 2 a line
                an epoch, "auto" as 1.
            callbacks: a list of `keras.callbacks.Callback`.
            validation_split: the share of rows, taken from the end, to validate on.
            validation_data: (x, y), (x, y, sample_weight) or a Dataset to evaluate on after each
                epoch.
            shuffle: a new order of rows each epoch, with arrays only.
            sample_weight: a weight for each row.
            initial_epoch: the number of epochs already done.
            steps_per_epoch: batches an epoch; all where None.
            validation_batch_size, validation_steps: the same for validation.
            validation_freq: validate after every so many epochs.

        Returns:
            A `History`: `.history["loss"]` holds each epoch's mean loss.

        Raises:
            ValueError: not compiled, lengths that differ, no rows.
            TypeError: an argument that fit does not have.
        """
        if unknown:
            raise unexpected_argument("fit", unknown, Trainer.fit)
        refuse("fit", class_weight=class_weight)
        self._require_compiled("fit")
        if validation_split and validation_data is None:
            x, y, sample_weight, validation_data = split_off(validation_split, x, y, sample_weight)
        batches = as_batches(x, y, sample_weight, batch_size, shuffle)
        validation = None
        if validation_data is not None:
            validation = _validation(validation_data, validation_batch_size or batch_size)
        return loop.fit(
            self, self._batch_step(), batches, epochs=epochs, initial_epoch=initial_epoch,
            verbose=verbose, callbacks=callbacks, steps=steps_per_epoch, validation=validation,
            validation_steps=validation_steps, validation_freq=validation_freq,
        )  # fmt: skip

    def evaluate(
        self, x=None, y=None, batch_size=None, verbose="auto", sample_weight=None, steps=None,
        callbacks=None, return_dict=False, **unknown,
    ):  # fmt: skip
        """The loss and metrics on data.

        Returns:
            The loss, or a list of it and the metrics, or with `return_dict` a dict by name.
        """
        if unknown:
            raise unexpected_argument("evaluate", unknown, Trainer.evaluate)
        self._require_compiled("evaluate")
        batches = as_batches(x, y, sample_weight, batch_size, shuffle=False)
        logs = loop.evaluate(self, batches, verbose=verbose, callbacks=callbacks, steps=steps)
        if return_dict:
            return logs
        values = list(logs.values())
        return values[0] if len(values) == 1 else values

    def predict(self, x, batch_size=None, verbose="auto", steps=None, callbacks=None):
        """The outputs for all rows, as NumPy arrays in the structure of the model's outputs."""
        batches = as_batches(x, None, None, batch_size, shuffle=False)
        return loop.predict(self, batches, verbose=verbose, callbacks=callbacks, steps=steps)

    def train_on_batch(self, x, y=None, sample_weight=None, class_weight=None, return_dict=False):
        """One training step; returns the loss and metrics since the last reset, as `evaluate`."""
        refuse("train_on_batch", class_weight=class_weight)
        self._require_compiled("train_on_batch")
        return _listed(self.train_step((x, y, sample_weight)), return_dict)

    def test_on_batch(self, x, y=None, sample_weight=None, return_dict=False):
        """Evaluate one batch."""
        self._require_compiled("test_on_batch")
        return _listed(self.test_step((x, y, sample_weight)), return_dict)

    def predict_on_batch(self, x):
        """The outputs for one batch, as NumPy arrays."""
        return nest.map_structure(np.asarray, self.predict_step((x,)))


class _Training:
    """What compile() made of its arguments."""

    def __init__(self, optimizer, loss, metrics):
        self.optimizer = optimizer
        self.loss = CompiledLoss(loss)
        self.metrics = CompiledMetrics(metrics)
        self.loss_tracker = Mean(name="loss")
        self.step = None

    @property
    def all_metrics(self):
        return [self.loss_tracker, *([self.metrics] if self.metrics.metrics else ())]


def refuse(method, **arguments):
    """An error for each argument that is accepted by Keras but does nothing here yet."""
    for name, value in arguments.items():
        if value is not None:
            raise InvalidArgumentError(f"{method}: the argument {name}= is not supported yet.")


def unpack(data):
    """(x, y, sample_weight) of what a batch may be: x alone, or a tuple of one to three."""
    if not isinstance(data, (tuple, list)):
        return data, None, None
    if len(data) > 3:
        raise InvalidArgumentError(
            f"A batch is x, (x, y) or (x, y, sample_weight); got a tuple of {len(data)}."
        )
    return (*data, None, None)[:3] if len(data) < 3 else tuple(data)


def split_off(share, x, y, sample_weight):
    """The first rows, and (x, y, sample_weight) of the last `share` of them."""
    if not 0 < share < 1:
        raise InvalidArgumentError(f"fit: validation_split must lie in (0, 1), got {share!r}.")
    leaves = nest.flatten((x, y) if y is not None else (x,))
    if not all(hasattr(leaf, "shape") or isinstance(leaf, list) for leaf in leaves):
        raise InvalidArgumentError(
            "fit: validation_split works with arrays only; give validation_data=..."
        )
    rows = len(leaves[0])
    first = int(np.floor(rows * (1 - share)))
    if first in (0, rows):
        raise InvalidArgumentError(
            f"fit: validation_split={share} of {rows} rows leaves no rows to "
            f"{'train' if first == 0 else 'validate'} on."
        )

    def part(structure, rows_of_it):
        if structure is None:
            return None
        return nest.map_structure(lambda a: np.asarray(a)[rows_of_it], structure)

    head, tail = slice(None, first), slice(first, None)
    held_out = tuple(part(s, tail) for s in (x, y, sample_weight))
    return *(part(s, head) for s in (x, y, sample_weight)), held_out


def _validation(data, batch_size):
    if isinstance(data, (tuple, list)) and len(data) in (2, 3):
        return as_batches(*unpack(data), batch_size, False)
    return as_batches(data, None, None, None, False)


def _listed(logs, return_dict):
    if return_dict:
        return logs
    values = list(logs.values())
    return values[0] if len(values) == 1 else values
