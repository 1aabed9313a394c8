"""Trainer: the mixin that gives a model `compile`, the batch steps of `fit` and `training_step`."""

from typing import Any

import numpy as np

from framework.compiler.plan_cache import compiles
from framework.core import nest
from framework.core.argument_types import TensorLike
from framework.core.configurable import known_arguments_only
from framework.core.errors import InvalidArgumentError
from framework.core.internal_state import readable
from framework.data.batches import as_batch
from framework.metrics.base import as_floats, on_tensors
from framework.training.batch_plans import as_tensors, pack, unpack
from framework.training.class_weights import check_class_weight, sample_weights_of
from framework.training.compilation import (
    Compilation,
    CompiledLoss,
    CompiledMetrics,
    TrackedLoss,
    plus_layer_losses,
)
from framework.training.compile_arguments import (
    accumulator_of,
    arguments_in,
    config_of,
    optimizer_of,
    scaling_of,
)
from framework.training.fitting import (
    Fitting,
    check_count,
    in_keras_order,
    plans_of,
    weights_conflict,
)
from framework.training.output_matching import output_layer, output_names_of
from framework.training.step_clipping import Clip
from framework.training.training_step import (
    TrainingStep,
    check_returned,
    compiled_step,
    evaluate_batch,
    overrides,
    own_loss_function,
    parts_of,
    require_compiled,
)


class Trainer(Fitting):
    """`compile`, the steps of `fit` on one batch, and `training_step` for hand-written loops."""

    optimizer = None
    history = None
    stop_training = stop_evaluating = stop_predicting = False
    run_eagerly = False
    jit_compile = False
    steps_per_execution = 1
    train_function = test_function = predict_function = None

    # ---- compile ----

    @known_arguments_only
    def compile(
        self, optimizer: Any = "rmsprop", loss: Any = None, loss_weights: Any = None,
        metrics: Any = None, weighted_metrics: Any = None, run_eagerly: bool = False,
        steps_per_execution: Any = 1, jit_compile: Any = "auto", auto_scale_loss: bool = True, *,
        accumulate: Any = None,
    ) -> None:  # fmt: skip
        """Configure the model for training.

        Args:
            optimizer: a name or an optimizer.
            loss: a name, a Loss or a function `loss(y_true, y_pred)`, for every output; or a list,
                dict or nest of them, matched by the outputs' keys, then by their layers' names.
            loss_weights: factors of the losses, in the same form as `loss`.
            metrics: a list of names, metrics or functions `metric(y_true, y_pred)`; for several
                outputs a list of such lists, a dict or a nest.
            weighted_metrics: metrics in the same form, whose values are weighted by the sample
                weights.
            run_eagerly: run every step as Python, without compiled plans.
            jit_compile: accepted for compatibility; has no effect.
            steps_per_execution: the number of batches per call of the callbacks' batch hooks.
            auto_scale_loss: under the policy "mixed_float16", scale the loss.
            accumulate: the number of batches per update; the update equals that for one batch with
                all their rows. The batches left at the end of an epoch give an update too.

        Raises:
            ValueError: an unknown name (the nearest is suggested), or incompatible arguments.
            TypeError: an unknown argument.
        """
        check_count("steps_per_execution", steps_per_execution, 1, "compile")
        optimizer = scaling_of(optimizer_of(optimizer), self, auto_scale_loss)
        training = Compilation(
            self, optimizer, loss, loss_weights, metrics, weighted_metrics, accumulate
        )
        self._framework.training = training
        self.optimizer, self.loss, self.run_eagerly = training.optimizer, loss, run_eagerly
        self.jit_compile, self.steps_per_execution = jit_compile, steps_per_execution
        self.train_function = self.test_function = self.predict_function = None
        self.stop_training = False
        self._framework.compile_arguments = {
            "optimizer": self.optimizer, "loss": loss, "loss_weights": loss_weights,
            "metrics": metrics, "weighted_metrics": weighted_metrics, "run_eagerly": run_eagerly,
            "steps_per_execution": steps_per_execution, "jit_compile": jit_compile,
        }  # fmt: skip
        if accumulate is not None:
            self._framework.compile_arguments["accumulate"] = accumulate

    def get_compile_config(self):
        """Return the arguments of `compile` as a config; None if the model is not compiled."""
        return config_of(self._framework.compile_arguments) if self.compiled else None

    def compile_from_config(self, config: Any) -> None:
        """Compile with a config that `get_compile_config` returned."""
        self.compile(**arguments_in(config))
        if self.built:
            self.optimizer.build(self.trainable_variables)

    @property
    def compiled(self):
        return self._framework.training is not None

    @property
    def compiled_metrics(self):
        """The metrics passed to `compile`, as one `CompiledMetrics`."""
        return None if self._framework.training is None else self._framework.training.metrics

    @property
    def compiled_loss(self):
        """The losses passed to `compile`, as one function.

        If the model overrides `train_step` or `test_step`, a call also updates the metric "loss",
        as in TensorFlow 2.
        """
        training = self._framework.training
        if training is None or not any(
            overrides(self, method) for method in ("train_step", "test_step")
        ):
            return training and training.loss
        return TrackedLoss(training.loss, training.loss_tracker)

    def loss(self, y: TensorLike, y_pred: TensorLike, sample_weight: Any = None) -> Any:
        """Return `compute_loss` of a batch; `compile(loss=...)` replaces it."""
        return self.compute_loss(y=y, y_pred=y_pred, sample_weight=sample_weight)

    # ---- methods that a user may override, as in Keras ----

    def train_step(self, data: TensorLike) -> Any:
        """Train on one batch: `data` is x, (x, y) or (x, y, sample_weight)."""
        x, y, sample_weight = unpack(data)
        step = compiled_step(self)
        step(x, y, sample_weight)
        return _reported(self, step._logs)

    def test_step(self, data: TensorLike) -> Any:
        """Evaluate one batch."""
        x, y, sample_weight = (as_tensors(part) for part in unpack(data))
        return _reported(self, evaluate_batch(self, x, y, sample_weight))

    def predict_step(self, data: TensorLike) -> Any:
        """Return the model's outputs for one batch."""
        x, _, _ = unpack(data)
        return self(as_tensors(x), training=False)

    def make_train_function(self, force: bool = False):
        """Return `train_function(iterator)`, which trains on the iterator's next batch."""
        if self.train_function is None or force:
            self.train_function = lambda iterator: self.train_step(next(iterator))
        return self.train_function

    def make_test_function(self, force: bool = False):
        """Return `test_function(iterator)`, which evaluates the iterator's next batch."""
        if self.test_function is None or force:
            self.test_function = lambda iterator: self.test_step(next(iterator))
        return self.test_function

    def make_predict_function(self, force: bool = False):
        """Return `predict_function(iterator)`, which predicts the iterator's next batch."""
        if self.predict_function is None or force:
            self.predict_function = lambda iterator: self.predict_step(next(iterator))
        return self.predict_function

    # ---- single batches ----

    def train_on_batch(
        self, x: TensorLike, y: TensorLike = None, sample_weight: Any = None,
        class_weight: Any = None, return_dict: bool = False,
    ) -> Any:  # fmt: skip
        """Train on one batch and return its loss and metrics, in the form that `evaluate` uses."""
        require_compiled(self, "train_on_batch")
        x, y, sample_weight = as_batch((x, y, sample_weight))
        if class_weight is not None:
            if sample_weight is not None:
                raise weights_conflict("train_on_batch")
            check_class_weight(class_weight)
            sample_weight = sample_weights_of(y, class_weight)
        self.reset_metrics()
        return in_keras_order(self, self.train_step(pack(x, y, sample_weight)), return_dict)

    def test_on_batch(
        self, x: TensorLike, y: TensorLike = None, sample_weight: Any = None,
        return_dict: bool = False,
    ) -> Any:  # fmt: skip
        """Evaluate one batch and return its loss and metrics, in the form that `evaluate` uses."""
        require_compiled(self, "test_on_batch")
        self.reset_metrics()
        batch = as_batch((x, y, sample_weight))
        return in_keras_order(self, self.test_step(pack(*batch)), return_dict)

    def predict_on_batch(self, x: TensorLike) -> Any:
        """Return the outputs for one batch, as NumPy arrays."""
        return nest.map_structure(np.asarray, self.predict_step((as_tensors(x),)))

    @readable
    def step_source(self):
        """The Python source of the compiled step of `fit`: one function per batch shape and dtype.

        Raises:
            ValueError: there is no compiled step; the message gives the reason.

        Example:
            >>> import numpy as np
            >>> from framework import keras
            >>> model = keras.Sequential([keras.layers.Dense(1)])
            >>> model.compile("sgd", "mse")
            >>> _ = model.fit(np.ones((12, 2)), np.ones((12, 1)), batch_size=4, verbose=0)
            >>> "dot(x, " in model.step_source
            True
        """
        runs = _trained_by(self)
        source = "" if runs is None else runs.source
        if not source:
            raise InvalidArgumentError(
                f"step_source: the model {self.name!r} has no compiled step{_why_none(self, runs)}"
            )
        return source

    def fast_check(self, x: TensorLike, y: TensorLike = None, batch_size: Any = None):
        """Return a page that says whether the compiled model can train on these data.

        The checks run on one batch: values and scales of `x` and `y`, whether outputs and loss fit,
        whether gradients reach all weights, dead units, whether training brings this batch's loss
        down and below that of the best constant output, and the time of a step. They take at most
        a few seconds. Weights, optimizer and random generators are restored.

        Args:
            x, y, batch_size: as in `fit`.

        Returns:
            A page: print it; `.ok` is True if there is no mistake, `.findings` is the list of
                findings.

        Raises:
            ValueError: the model is not compiled, or overrides `train_step`.

        Example:
            >>> import numpy as np
            >>> from framework import keras
            >>> model = keras.Sequential([keras.layers.Dense(1, activation="softmax")])
            >>> model.compile("adam", "mse")
            >>> x = np.linspace(-1, 1, 64)[:, None]
            >>> page = model.fast_check(x, 2 * x)
            >>> page.ok
            False
            >>> [finding.subject for finding in page.findings if not finding.good]
            ['outputs', 'units', 'overfit']
        """
        # imported here because it is rarely needed
        from framework.training.mistakes.fast_check import fast_check

        return fast_check(self, x, y, batch_size)

    # ---- the explicit API ----

    @known_arguments_only
    def training_step(
        self, loss: Any = None, optimizer: Any = None, metrics: Any = None, *,
        loss_weights: Any = None, weighted_metrics: Any = None, clipnorm: Any = None,
        clipvalue: Any = None, global_clipnorm: Any = None, accumulate: Any = None,
    ):  # fmt: skip
        """Return one training step as a callable, for hand-written loops.

        Args:
            loss, loss_weights: as in `compile`; the compiled ones if `loss` is None.
            optimizer: as in `compile`; the compiled one if None.
            metrics, weighted_metrics: as in `compile`: each step updates them.
            clipnorm: scale each gradient to an L2 norm of at most this, in this step only.
            clipvalue: clip the gradients' elements to [-clipvalue, clipvalue].
            global_clipnorm: scale all gradients to a joint L2 norm of at most this.
            accumulate: the number of calls per update; the update equals that of one batch with all
                their rows, sample weights included; decay, clipping, schedules and the iteration
                count advance with the update. `step.flush()` applies the calls left over. (Batch
                normalization still normalizes each batch separately.)

        Returns:
            A `TrainingStep`: `loss = step(x, y, sample_weight=None)`; its two halves are
            `loss, grads = step.gradients(x, y)` and `step.apply(grads)`; `step.results()` are the
            metrics' values since `step.reset_metrics()`; `step.state()` and `step.restore(state)`
            save and resume a run.

        Raises:
            ValueError: incompatible arguments, or no `loss` and the model is not compiled.
            TypeError: an unknown argument.

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
            compiled = require_compiled(self, "training_step (without loss= and optimizer=)")
        optimizer = (
            compiled.optimizer
            if optimizer is None
            else scaling_of(optimizer_of(optimizer), self, True)
        )
        clip = Clip(clipnorm, clipvalue, global_clipnorm)
        accumulator = accumulator_of(accumulate, optimizer, "training_step")
        if loss is None:
            compute_loss, names = own_loss_function(self, True), compiled.loss.names
            parts = None if overrides(self, "compute_loss") else parts_of(self, compiled.loss)
        else:
            compiled_loss = CompiledLoss(
                loss, loss_weights, lambda: output_names_of(self),
                find_layer=lambda i: output_layer(self, i),
            )  # fmt: skip
            compute_loss, names = _plus_layer_losses(self, compiled_loss), compiled_loss.names
            parts = parts_of(self, compiled_loss)
        update, step_metrics = None, ()
        if metrics or weighted_metrics:
            own = CompiledMetrics(metrics, weighted_metrics, lambda: output_names_of(self))
            step_metrics = (own,)

            def update(x, y, y_pred, sample_weight, loss):
                own.update_state(y, y_pred, sample_weight)

        return TrainingStep(
            self, compute_loss, optimizer, update, clip or None, accumulator, parts, step_metrics,
            loss_names=names,
        )  # fmt: skip


def _reported(model, logs):
    """Return `logs` of an overridden `compute_metrics`; without one, the values of all metrics."""
    if logs is None:
        return model.get_metrics_result()
    return logs if on_tensors() else as_floats(logs)


def _trained_by(model):
    """Return the object that runs the steps of `fit`, with `source` and `explain()`.

    None if the user's `make_train_function` builds the step.
    """
    of_step = " The source of a step of model.training_step(...) is step.source."
    training = require_compiled(model, "step_source", of_step)
    if overrides(model, "make_train_function"):
        return None
    if overrides(model, "train_step"):
        return plans_of(model, "train_step").plan_cache
    return training.step


def _why_none(model, runs):
    if overrides(model, "make_train_function"):
        return ": its class overrides make_train_function, and fit calls that function uncompiled."
    if model.run_eagerly:
        return ": compile was called with run_eagerly=True."
    if not compiles():
        return ": compilation is off, or a trace is active."
    explanation = "" if runs is None else runs.explain()
    if explanation:
        return f". It runs\n{explanation}"
    return " yet: fit it on more batches of the same shapes and dtypes."


def _plus_layer_losses(model, loss):
    def compute_loss(x, y, y_pred, sample_weight):
        check_returned(model, y_pred)
        return plus_layer_losses(loss(y, y_pred, sample_weight), model.losses)

    return compute_loss
