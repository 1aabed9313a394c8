"""Trainer: what makes a model trainable by `compile` and `fit`; a mixin, not a layer."""

import inspect

from framework.compiler.compiled import compiles
from framework.core.configurable import unexpected_argument
from framework.core.errors import InvalidArgumentError
from framework.layers.tracking import Tracked
from framework.metrics.base import on_tensors
from framework.training import loop
from framework.training.clipping import Clip
from framework.training.compilation import (
    Compilation,
    accumulator_of,
    arguments_in,
    check_count,
    config_of,
    optimizer_of,
    output_layer,
    output_names_of,
    scaling_of,
)
from framework.training.compiled_loss import CompiledLoss, TrackedLoss
from framework.training.compiled_metrics import CompiledMetrics
from framework.training.fitting import Fitting
from framework.training.inputs import as_tensors, layer_loss, plus_layer_losses, rows_of, unpack
from framework.training.step import TrainingStep


class Trainer(Fitting):
    """`compile`, what `fit` does with a batch, and `training_step` for hand-written loops."""

    _training = None  # the Compilation
    _losses_read = False
    _compile_arguments = None
    optimizer = None
    loss = None
    history = None
    stop_training = stop_evaluating = stop_predicting = False
    run_eagerly = False
    jit_compile = False
    steps_per_execution = 1
    train_function = test_function = predict_function = None
    _no_settings = Tracked._no_settings.union(
        ("optimizer", "loss", "history", "stop_training", "run_eagerly", "_training"),
        ("jit_compile", "steps_per_execution"),
        ("train_function", "test_function", "predict_function"),
    )

    # ---- compile ----

    def compile(
        self, optimizer="rmsprop", loss=None, loss_weights=None, metrics=None,
        weighted_metrics=None, run_eagerly=False, steps_per_execution=1, jit_compile="auto",
        auto_scale_loss=True, *, accumulate=None, **unknown,
    ):  # fmt: skip
        """Say how the model is trained.

        Args:
            optimizer: a name or an optimizer.
            loss: a name, a Loss or a function `loss(y_true, y_pred)`, for every output; or a list,
                dict or nest of them, matched by the outputs' keys, then by their layers' names.
            loss_weights: factors of the losses, in the same ways.
            metrics: a list of names, metrics or functions `metric(y_true, y_pred)`; for several
                outputs a list of such lists, a dict or a nest.
            weighted_metrics: the same; these are given the sample weights.
            run_eagerly: run Python at every step; no compiled plans.
            jit_compile: accepted; nothing depends on it.
            steps_per_execution: callbacks are told of so many batches at once.
            auto_scale_loss: under the policy "mixed_float16", scale the loss.
            accumulate: update once in so many batches, exactly as for one batch that large; what
                is left at the end of an epoch is an update too.

        Raises:
            ValueError: an unknown name (the nearest is suggested), or arguments that do not fit.
            TypeError: an argument that compile does not have.
        """
        if unknown:
            raise unexpected_argument("compile", unknown, Trainer.compile)
        check_count("steps_per_execution", steps_per_execution, 1, "compile")
        optimizer = scaling_of(optimizer_of(optimizer), self, auto_scale_loss)
        training = Compilation(
            self, optimizer, loss, loss_weights, metrics, weighted_metrics, accumulate
        )
        self._training = training
        self.optimizer, self.loss, self.run_eagerly = training.optimizer, loss, run_eagerly
        self.jit_compile, self.steps_per_execution = jit_compile, steps_per_execution
        self.train_function = self.test_function = self.predict_function = None
        self.stop_training = False
        self.__dict__["_compile_arguments"] = {
            "optimizer": self.optimizer, "loss": loss, "loss_weights": loss_weights,
            "metrics": metrics, "weighted_metrics": weighted_metrics, "run_eagerly": run_eagerly,
            "steps_per_execution": steps_per_execution, "jit_compile": jit_compile,
        }  # fmt: skip
        if accumulate is not None:
            self._compile_arguments["accumulate"] = accumulate

    def get_compile_config(self):
        """The arguments of `compile` as a config; None where it was not called."""
        return config_of(self._compile_arguments) if self.compiled else None

    def compile_from_config(self, config):
        """Compile as `get_compile_config` described it."""
        self.compile(**arguments_in(config))
        if self.built:
            self.optimizer.build(self.trainable_variables)

    @property
    def compiled(self):
        return self._training is not None

    @property
    def compiled_metrics(self):
        """The metrics given to compile, as one."""
        return None if self._training is None else self._training.metrics

    @property
    def compiled_loss(self):
        """The losses given to compile, as one function.

        In a model with its own `train_step` or `test_step` a call also updates the metric "loss",
        as in TensorFlow 2.
        """
        training = self._training
        if training is None or not any(map(self._overrides, ("train_step", "test_step"))):
            return training and training.loss
        return TrackedLoss(training.loss, training.loss_tracker)

    def _require_compiled(self, method):
        if self._training is None:
            raise InvalidArgumentError(
                f"{method}: the model {self.name!r} is not compiled yet. Call "
                'model.compile(optimizer="adam", loss="...") first.'
            )
        return self._training

    @property
    def losses(self):
        """The layers' losses in the last call: `add_loss`, activity and weight regularizers."""
        self.__dict__["_losses_read"] = True
        return super().losses

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
        """The present values of all metrics by name; the loss goes first.

        They are Python floats; tensors in a `train_step` or `test_step` that is being compiled.
        """
        found = {}
        for metric in self._metrics_as_logged():
            result = metric.result()
            found.update(result if isinstance(result, dict) else {metric.name: result})
        return found if on_tensors() else loop.as_floats(found)

    def _metrics_as_logged(self):
        """`metrics`, with the loss and each output's loss at their beginning."""
        metrics, training = self.metrics, self._training
        own = () if training is None else (training.loss_tracker, *training.loss.trackers)
        first = [metric for metric in own if metric in metrics]
        return [*first, *(metric for metric in metrics if metric not in first)]

    def _reported(self, logs):
        """What a step on a batch returns: the logs that an own `compute_metrics` gave, or ours."""
        if logs is None:
            return self.get_metrics_result()
        return logs if on_tensors() else loop.as_floats(logs)

    # ---- what a user may override, as in Keras ----

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        """The compiled loss of a batch plus the layers' losses, 0-d."""
        compilation = self._require_compiled("compute_loss")
        total = None
        if compilation.loss.losses is not None:
            total = compilation.loss(y, y_pred, sample_weight)
        total = plus_layer_losses(total, self.losses)
        if total is None:
            raise self._no_loss()
        return total

    def _no_loss(self):
        return InvalidArgumentError(
            f"fit: the model {self.name!r} has no loss: compile(loss=None) and no layer adds "
            "one with add_loss()."
        )

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        """Update the compiled metrics by a batch; returns all metrics' values."""
        self._require_compiled("compute_metrics").metrics.update_state(y, y_pred, sample_weight)
        return self.get_metrics_result()

    def train_step(self, data):
        """One training step on `data` = (x, y, sample_weight), any tail of it left out."""
        x, y, sample_weight = unpack(data)
        step = self._compiled_step()
        step(x, y, sample_weight)
        return self._reported(step._logs)

    def test_step(self, data):
        """Evaluate one batch."""
        x, y, sample_weight = (as_tensors(part) for part in unpack(data))
        return self._reported(self._evaluate_batch(x, y, sample_weight))

    def predict_step(self, data):
        """The outputs for one batch."""
        x, _, _ = unpack(data)
        return self(as_tensors(x), training=False)

    def make_train_function(self, force=False):
        """Make `train_function(iterator)`, which trains on the iterator's next batch."""
        if self.train_function is None or force:
            self.train_function = lambda iterator: self.train_step(next(iterator))
        return self.train_function

    def make_test_function(self, force=False):
        """Make `test_function(iterator)`, which evaluates the iterator's next batch."""
        if self.test_function is None or force:
            self.test_function = lambda iterator: self.test_step(next(iterator))
        return self.test_function

    def make_predict_function(self, force=False):
        """Make `predict_function(iterator)`, which predicts the iterator's next batch."""
        if self.predict_function is None or force:
            self.predict_function = lambda iterator: self.predict_step(next(iterator))
        return self.predict_function

    # ---- what is done with a batch ----

    def _compiled_step(self):
        training = self._require_compiled("fit")
        if training.step is None:
            own_loss, own_metrics = map(self._overrides, ("compute_loss", "compute_metrics"))
            matched = training.has_metrics and not own_metrics
            training.step = TrainingStep(
                self, self._own_loss_function(True), training.optimizer, self._update_metrics,
                accumulator=training.accumulator,
                compute_parts=None if own_loss else self._parts_of(training.loss),
                metrics=(training.metrics,) if matched else (), reports=own_metrics,
            )  # fmt: skip
        return training.step

    def _own_loss_function(self, training):
        """`compute_loss` called as this class has it: older code has no argument `training`."""
        compute = self.compute_loss
        parameters = inspect.signature(compute).parameters
        takes = "training" in parameters or any(
            p.kind is p.VAR_KEYWORD for p in parameters.values()
        )
        more = {"training": training} if takes else {}

        def compute_loss(x, y, y_pred, sample_weight):
            return compute(x, y, y_pred, sample_weight, **more)

        return compute_loss

    def _parts_of(self, loss):
        """The losses of a batch and how they add up, with the layers' own."""

        def compute_parts(x, y, y_pred, sample_weight):
            parts = [] if loss.losses is None else loss.parts(y, y_pred, sample_weight)
            rows = float(rows_of(x))
            for part in self.losses:
                by_row = part.array.ndim and part.array.shape[0] == rows
                total = parts[0][2] if parts else None
                weight = ("sum", 1.0) if by_row else ("rows", rows)
                parts.append((*weight, layer_loss(part, total)))
            if not parts:
                raise self._no_loss()
            return parts

        return compute_parts

    def _overrides(self, method):
        """Whether the model's class has a method of its own in the place of the Trainer's."""
        return getattr(type(self), method) is not getattr(Trainer, method)

    def _update_metrics(self, x, y, y_pred, sample_weight, loss):
        """Take in a batch; returns the logs that an own `compute_metrics` makes of it, or None."""
        training = self._training
        training.loss_tracker.update_state(loss, sample_weight=rows_of(x))
        if self._overrides("compute_metrics"):
            return self.compute_metrics(x, y, y_pred, sample_weight)
        if training.has_metrics:
            training.metrics.update_state(y, y_pred, sample_weight)
        return None

    def _evaluate_batch(self, x, y, sample_weight):
        y_pred = self(x, training=False)
        loss = self._own_loss_function(False)(x, y, y_pred, sample_weight)
        return self._update_metrics(x, y, y_pred, sample_weight, loss)

    @property
    def step_source(self):
        """The Python source of the compiled step of `fit`: one function for each kind of batch.

        Raises:
            ValueError: there is none yet, or none at all; the message says why.

        Example:
            >>> import numpy as np
            >>> from framework import keras
            >>> model = keras.Sequential([keras.layers.Dense(1)])
            >>> model.compile("sgd", "mse")
            >>> _ = model.fit(np.ones((12, 2)), np.ones((12, 1)), batch_size=4, verbose=0)
            >>> "dot(x, " in model.step_source
            True
        """
        runs = self._trained_by()
        source = "" if runs is None else runs.source
        if not source:
            raise InvalidArgumentError(
                f"step_source: the model {self.name!r} has no compiled step{self._why_none(runs)}"
            )
        return source

    def _trained_by(self):
        """What `fit` trains by, with `source` and `explain()`; None for what users make."""
        training = self._require_compiled("step_source")
        if self._overrides("make_train_function"):
            return None
        if self._overrides("train_step"):
            return self._plans_of("train_step").compiled
        return training.step

    def _why_none(self, runs):
        if self._overrides("make_train_function"):
            return ": fit runs what its own make_train_function makes, as it is."
        if self.run_eagerly:
            return ": it was compiled with run_eagerly=True."
        if not compiles():
            return ": compilation is off, or this call is being recorded."
        told = "" if runs is None else runs.explain()
        if told:
            return f". It runs\n{told}"
        return " yet: fit it on more batches of one kind."

    # ---- the explicit API ----

    def training_step(
        self, loss=None, optimizer=None, metrics=None, *, loss_weights=None, weighted_metrics=None,
        clipnorm=None, clipvalue=None, global_clipnorm=None, accumulate=None,
    ):  # fmt: skip
        """One train step as a callable, for hand-written loops.

        Args:
            loss, loss_weights: as in `compile`; the compiled ones where `loss` is None.
            optimizer: as in `compile`; the compiled one where None.
            metrics, weighted_metrics: as in `compile`: each step updates them.
            clipnorm: scale each gradient down to at most this L2 norm, in this step only.
            clipvalue: clip the gradients' elements to [-clipvalue, clipvalue].
            global_clipnorm: scale all gradients together down to at most this L2 norm.
            accumulate: update once in so many calls, exactly as for one batch that large: rows are
                weighted, sample weights included; decay, clipping, schedules and the iteration
                count come with the update. `step.flush()` updates by what is left. (A batch
                normalisation still sees each batch by itself.)

        Returns:
            A `TrainingStep`: `loss = step(x, y, sample_weight=None)`; its parts are
            `loss, grads = step.gradients(x, y)` and `step.apply(grads)`; `step.state()` and
            `step.restore(state)` keep a run.

        Raises:
            ValueError: arguments that do not fit, or a model that is not compiled and no `loss`.

        Example:
            >>> import numpy as np
            >>> from framework import keras
            >>> model = keras.Sequential([keras.layers.Dense(1)])
            >>> step = model.training_step(loss="mse", optimizer="sgd", global_clipnorm=1.0)
            >>> x = np.ones((4, 2), "float32")
            >>> float(step(x, 2 * x[:, :1])) >= 0
            True
            >>> loss, grads = step.gradients(x, 2 * x[:, :1])
            >>> [tuple(gradient.shape) for gradient in grads.values()]
            [(2, 1), (1,)]
        """
        compiled = None
        if loss is None or optimizer is None:
            compiled = self._require_compiled("training_step (without loss= and optimizer=)")
        optimizer = (
            compiled.optimizer
            if optimizer is None
            else scaling_of(optimizer_of(optimizer), self, True)
        )
        clip = Clip(clipnorm, clipvalue, global_clipnorm)
        accumulator = accumulator_of(accumulate, optimizer, "training_step")
        if loss is None:
            compute_loss = self._own_loss_function(True)
            parts = None if self._overrides("compute_loss") else self._parts_of(compiled.loss)
        else:
            made = CompiledLoss(
                loss, loss_weights, lambda: output_names_of(self),
                find_layer=lambda i: output_layer(self, i),
            )  # fmt: skip
            compute_loss, parts = self._plus_layer_losses(made), self._parts_of(made)
        update, held = None, ()
        if metrics or weighted_metrics:
            held = (CompiledMetrics(metrics, weighted_metrics, lambda: output_names_of(self)),)

            def update(x, y, y_pred, sample_weight, loss):
                held[0].update_state(y, y_pred, sample_weight)

        return TrainingStep(
            self, compute_loss, optimizer, update, clip or None, accumulator, parts, held
        )

    def _plus_layer_losses(self, loss):
        def compute_loss(x, y, y_pred, sample_weight):
            return plus_layer_losses(loss(y, y_pred, sample_weight), self.losses)

        return compute_loss
