"""The training step: forward pass, loss, gradients, update, metrics.

`fit` and `model.training_step(...)` both run this code. A loop of `GradientTape` and
`optimizer.apply_gradients` gives the same numbers, bit for bit.
"""

import inspect
from functools import partial

import numpy as np

from framework.autodiff.tape import GradientTape
from framework.core.errors import InvalidArgumentError, suggest
from framework.core.internal_state import builtin
from framework.core.recorders import thread
from framework.metrics.base import as_floats
from framework.optimizers.asking import bind, inside, is_ours, rules_of, scales
from framework.training import step_state
from framework.training.accumulated_plans import StepParts
from framework.training.batch_plans import Plans, as_tensors, rows_of
from framework.training.compilation import layer_loss
from framework.training.gradients import Gradients
from framework.training.snapshot import Snapshot
from framework.training.usage_warnings import check_frozen, warn


class TrainingStep:
    """A model, a loss and an optimizer as one callable: `loss = step(x, y)`.

    `model.training_step(loss=..., optimizer=..., metrics=...)` returns one. Its two halves can be
    called separately: `loss, grads = step.gradients(x, y)`, then `step.apply(grads)`.

    Args:
        model: called as `model(x, training=True)`.
        compute_loss: `compute_loss(x, y, y_pred, sample_weight)`, the 0-d loss.
        optimizer: updates the model's trainable variables.
        update_metrics: `update_metrics(x, y, y_pred, sample_weight, loss)`, or None.
        clip: a `Clip`, or None.
        accumulator: an `Accumulator`, which updates once per several batches; or None.
        compute_parts: as `compute_loss`, but returns [(kind, weight, loss)]: how the losses of
            several batches add up; None: the loss is a mean over rows.
        metrics: metrics that `state` saves beside the model and the optimizer.
        loss_names: the names of the losses, for `repr`.
        reports: whether `update_metrics` returns the batch's logs, which are kept in `_logs`.
    """

    def __init__(
        self, model, compute_loss, optimizer, update_metrics=None, clip=None, accumulator=None,
        compute_parts=None, metrics=(), reports=False, loss_names=(),
    ):  # fmt: skip
        self.model, self.optimizer = model, optimizer
        self._compute_loss, self._update_metrics = compute_loss, update_metrics
        self._clip, self._accumulator, self._compute_parts = clip, accumulator, compute_parts
        self._metrics, self._loss_names = list(metrics), list(loss_names)
        self._unmatched = bool(self._metrics)
        self.first_loss = None  # the loss of the first batch, as an array
        self._frozen = False  # whether the user was warned that the model has no trainable weights
        self._logs = None  # what `update_metrics` returned for the last batch
        self._gives_loss_only = accumulator is None and not reports
        self._reasons = None  # a MissingGradients object: why gradients are missing, for a warning
        self._observer = None  # a `StepRecord` during a `fit` in which a callback declares `needs`
        self._scaled = scales(optimizer)
        self._factor = getattr(optimizer, "loss_scale_factor", None)
        self._bound = rules_of(inside(optimizer)) is None
        self._in_one = not clip and accumulator is None and not self._scaled
        self._plain = self._in_one and self._bound
        self._plans = Plans(model, "step")
        self._parts = StepParts(self)

    def __call__(self, x, y=None, sample_weight=None):
        """Train on one batch and return its loss, a 0-d tensor."""
        if self._plans.possible():
            if self._observer is None and self._gives_loss_only:
                return self._plans(self._in_python, [x, y, sample_weight])
            if self.model.built:
                return self._parts.whole(x, y, sample_weight)
        return self._in_python(x, y, sample_weight)

    def _in_python(self, x, y, sample_weight):
        x, y, sample_weight = as_tensors(x), as_tensors(y), as_tensors(sample_weight)
        if thread.numerics is not None:
            return thread.numerics.step(self, x, y, sample_weight)
        with np.errstate(all="ignore"):
            if self._plain and self._observer is None:
                loss, y_pred, grads, variables = self._differentiate(x, y, sample_weight)
                if self._unmatched:
                    self._match(y, y_pred)
                self._apply_gradients(grads, variables)
            else:
                loss, y_pred, gradients = self._gradients(x, y, sample_weight)
                self._bind()
                if self._unmatched:
                    self._match(y, y_pred)
                if self._observer is not None:
                    rates = self._observer.rates_before(self.optimizer, gradients.variables)
                    self._observer.take((x, y, sample_weight), y_pred, loss, gradients, rates)
                self._apply(gradients)
            if self._update_metrics is not None:
                self._logs = self._update_metrics(x, y, y_pred, sample_weight, loss)
        return loss

    # ---- compiled plans ----

    @property
    def source(self):
        """The Python source of the compiled step: one function per batch shape and dtype so far.

        Example:
            >>> import numpy as np
            >>> from framework import keras
            >>> model = keras.Sequential([keras.layers.Dense(1)])
            >>> step = model.training_step(loss="mse", optimizer="sgd")
            >>> x = np.ones((4, 2), "float32")
            >>> for _ in range(3):
            ...     _ = step(x, x[:, :1])
            >>> "dot(x, " in step.source
            True
        """
        return "\n".join(filter(None, [plans.plan_cache.source for plans in self._all_plans()]))

    def explain(self):
        """Return a text about the compiled plans, code that runs in Python instead, and why."""
        texts = [(plans.plan_cache.name, plans.plan_cache.explain()) for plans in self._all_plans()]
        return "\n".join(
            text if name == "step" else f"{name}:\n{text}" for name, text in texts if text
        )

    def _all_plans(self):
        return [self._plans, self._parts.gradient_plans, self._parts.update_plans]

    # ---- the two halves of a step ----

    def gradients(self, x, y=None, sample_weight=None):
        """Return the loss on a batch and its `Gradients` by variable path; nothing is updated."""
        if self._plans.possible() and self.model.built:
            return self._parts.gradients(x, y, sample_weight)
        x, y, sample_weight = as_tensors(x), as_tensors(y), as_tensors(sample_weight)
        with np.errstate(all="ignore"):
            loss, _, gradients = self._gradients(x, y, sample_weight)
        return loss, gradients

    def apply(self, gradients):
        """Update the variables with a `Gradients`, or with a dict from variable paths to tensors.

        With `accumulate=k`, gradients are added up, and every k-th call updates the variables.

        Raises:
            ValueError: no trainable variable has one of the paths.
        """
        if not isinstance(gradients, Gradients):
            by_path = {v.path: v for v in self.model.trainable_variables}
            unknown = [path for path in gradients if path not in by_path]
            if unknown:
                raise InvalidArgumentError(
                    f"apply: no trainable variable has the path {unknown[0]!r}"
                    f"{suggest(unknown[0], by_path)} The paths are {', '.join(by_path)}."
                )
            gradients = Gradients(gradients.values(), [by_path[path] for path in gradients])
        if self._plans.possible() and self._parts.apply(gradients):
            return
        with np.errstate(all="ignore"):
            self._apply(gradients)

    def flush(self):
        """Update the variables with the gradients accumulated so far, even if they are too few.

        Returns:
            Whether any gradients were accumulated.
        """
        if self._accumulator is None or not self._accumulator.count:
            return False
        if self._scaled and is_ours(self.optimizer):  # accumulated gradients are already unscaled
            self.optimizer._framework.stage = "unscaled"
        if self._plans.possible():
            self._parts.flush()
            return True
        with np.errstate(all="ignore"):
            self._update(*self._accumulator.take())
        return True

    @property
    def accumulated(self):
        """The number of batches accumulated since the last update."""
        return 0 if self._accumulator is None else self._accumulator.count

    def state(self):
        """Return the whole training state as a dict of arrays; training resumes exactly from it.

        It holds weights, the states of random generators, the optimizer's slots and iterations,
        metrics, and accumulated gradients. The order of shuffled data is not included.
        """
        return step_state.state_of(self.model, self.optimizer, self._metrics, self._accumulator)

    def restore(self, saved):
        """Restore a state that `state()` returned.

        Raises:
            ValueError: the state is from another model or optimizer; nothing is changed then.
        """
        step_state.restore(saved, self.model, self.optimizer, self._metrics, self._accumulator)

    set_state = restore

    # ---- metrics ----

    @property
    def metrics(self):
        """The metrics that each call updates; "accuracy" is known after the first call."""
        return [metric for compiled in self._metrics for metric in compiled.metrics]

    def results(self):
        """Return the metrics' values since the last `reset_metrics`, Python floats by name.

        Example:
            >>> import numpy as np
            >>> from framework import keras
            >>> model = keras.Sequential([keras.layers.Dense(1)])
            >>> step = model.training_step(loss="mse", optimizer="sgd", metrics=["mae"])
            >>> x = np.ones((4, 2), "float32")
            >>> for epoch in range(2):
            ...     step.reset_metrics()
            ...     for _ in range(3):
            ...         loss = step(x, x[:, :1])
            ...     print(sorted(step.results()))
            ['mae']
            ['mae']
        """
        named = {}
        for compiled in self._metrics:
            named.update(compiled.result())
        return as_floats(named)

    def reset_metrics(self):
        """Set the metrics back to their state before any batch."""
        for compiled in self._metrics:
            compiled.reset_state()

    def __repr__(self):
        names = [name for compiled in self._metrics for name in compiled.names]
        parts = [f"model={self.model.name!r}"]
        parts += [f"loss={self._loss_names}"] if self._loss_names else []
        parts += [f"metrics={names}"] if names else []
        parts += [f"{self._clip.kind}={self._clip.limit}"] if self._clip else []
        every = None if self._accumulator is None else self._accumulator.every
        parts += [f"accumulate={every}"] if every else []
        return f"TrainingStep({', '.join(parts)}, optimizer={self.optimizer!r})"

    def save(self, filepath):
        """Write `state()` to a file; an existing file is replaced when the new one is complete."""
        step_state.save(filepath, self.state())

    def load(self, filepath):
        """Restore the state in a file that `save` wrote.

        Raises:
            ValueError: the file is missing, damaged, or the state of another model or optimizer.
        """
        saved = step_state.load(filepath)
        with step_state.loading(filepath):
            self.restore(saved)

    # ---- the step itself ----

    def _differentiate(self, x, y, sample_weight, trace=False):
        model = self.model
        with GradientTape(trace=trace) as tape:
            y_pred = model(x, training=True)
            loss = self._compute_loss(x, y, y_pred, sample_weight)
            target = loss if self._factor is None else self.optimizer.scale_loss(loss)
        if self.first_loss is None:
            self.first_loss = loss.array
            self._check_first(x)
        variables = model.trainable_variables
        grads = tape.gradient(target, variables)
        if thread.missing is not None and thread.missing.of(tape):
            self._explain_missing(x, y, sample_weight, trace)
        return loss, y_pred, grads, variables

    def _check_first(self, x):
        from framework.training.mistakes.inputs import unscaled_images

        message = unscaled_images(self.model, x)
        if message:
            warn(message)

    def _explain_missing(self, x, y, sample_weight, trace):
        """Find out why gradients are missing, for the warning about them.

        The first time, run the forward and backward pass again with tracing on, for source lines,
        and restore the variables afterwards.
        """
        if trace:
            self._reasons = thread.missing.explained(self.model.trainable_variables)
        elif self._reasons is None:
            state = Snapshot([*self.model.variables, *self.model.metrics_variables])
            try:
                self._differentiate(x, y, sample_weight, trace=True)
            finally:
                state.restore()
        if self._reasons is not None:
            thread.missing = self._reasons

    def _match(self, y, y_pred):
        """Match the metrics to the outputs, so that errors come before any variable changes."""
        for metric in self._metrics:
            metric.match(y, y_pred)
        self._unmatched = False

    def _bind(self):
        """Resolve the paths in the optimizer's groups relative to the model, once it is built."""
        if not self._bound:
            bind(inside(self.optimizer), self.model)
            self._bound, self._plain = True, self._in_one

    def _gradients(self, x, y, sample_weight):
        """Return (loss, outputs, unscaled Gradients)."""
        if self._accumulator is not None and self._compute_parts is not None:
            return self._gradients_of_parts(x, y, sample_weight)
        if not self._scaled:
            loss, y_pred, grads, variables = self._differentiate(x, y, sample_weight)
            if self._factor is not None:
                grads = [None if g is None else g / self._factor for g in grads]
        else:
            with GradientTape() as tape:
                y_pred = self.model(x, training=True)
                loss = self._compute_loss(x, y, y_pred, sample_weight)
                target = self.optimizer.get_scaled_loss(loss)
            variables = self.model.trainable_variables
            grads = self.optimizer.get_unscaled_gradients(tape.gradient(target, variables))
        return loss, y_pred, Gradients(grads, variables, rows_of(x))

    def _gradients_of_parts(self, x, y, sample_weight):
        """Like `_gradients`, with one backward pass per kind of loss (sum, mean, weighted mean)."""
        with GradientTape(persistent=True) as tape:
            y_pred = self.model(x, training=True)
            losses = _by_kind(self._compute_parts(x, y, y_pred, sample_weight))
            targets = [part for _, _, part in losses]
            loss = targets[0]
            for part in targets[1:]:
                loss = loss + part
            if self._scaled:
                targets = [self.optimizer.get_scaled_loss(part) for part in targets]
        variables = self.model.trainable_variables
        parts = []
        for (kind, weight, _), target in zip(losses, targets, strict=True):
            grads = tape.gradient(target, variables)
            parts.append((kind, weight, grads))
        if self._scaled:
            together = [g for *_, grads in parts for g in grads]
            together = iter(self.optimizer.get_unscaled_gradients(together))
            parts = [(k, w, [next(together) for _ in grads]) for k, w, grads in parts]
        total = parts[0][2]
        for *_, grads in parts[1:]:
            total = [_sum(a, b) for a, b in zip(total, grads, strict=True)]
        return loss, y_pred, Gradients(total, variables, rows_of(x), parts)

    def _apply(self, gradients):
        if self._accumulator is None:
            self._update(gradients.tensors, gradients.variables)
            return
        self._accumulator.add(gradients.parts(), gradients.variables)
        if self._accumulator.full:
            self._update(*self._accumulator.take())

    def _update(self, gradients, variables):
        if self._clip:
            gradients = self._clip(gradients)
        # multiply by the loss scale, because the optimizer divides by it and these are unscaled
        if self._factor is not None:
            gradients = [None if g is None else g * self._factor for g in gradients]
        self._bind()
        self._apply_gradients(gradients, variables)

    def _apply_gradients(self, gradients, variables):
        if variables:
            self.optimizer.apply_gradients(list(zip(gradients, variables, strict=True)))
        elif not self._frozen:
            self._frozen = True
            check_frozen(self.model)


def _by_kind(parts):
    """Return `parts` with the losses of each kind added up."""
    sums = {}
    for kind, weight, part in parts:
        have = sums.get(kind)
        sums[kind] = (kind, weight, part if have is None else have[2] + part)
    return list(sums.values())


def _sum(a, b):
    if a is None or b is None:
        return b if a is None else a
    return a + b


# ---- the steps of a compiled model -------------------------------------------------------------


def require_compiled(model, method, instead=""):
    """Return the model's `Compilation`; raise an error if it is not compiled.

    `instead` ends the message: what the caller of `method` can use without `compile`.
    """
    if model._framework.training is None:
        raise InvalidArgumentError(
            f"{method}: the model {model.name!r} is not compiled yet. Call "
            f'model.compile(optimizer="adam", loss="...") first.{instead}'
        )
    return model._framework.training


def compiled_step(model):
    """Return the compiled model's `TrainingStep`, built at the first call."""
    training = require_compiled(model, "fit")
    if training.step is None:
        own_loss = overrides(model, "compute_loss")
        own_metrics = overrides(model, "compute_metrics")
        matched = training.has_metrics and not own_metrics
        training.step = TrainingStep(
            model, own_loss_function(model, True), training.optimizer,
            partial(update_metrics, model), accumulator=training.accumulator,
            compute_parts=None if own_loss else parts_of(model, training.loss),
            metrics=(training.metrics,) if matched else (), reports=own_metrics,
            loss_names=training.loss.names,
        )  # fmt: skip
    return training.step


def own_loss_function(model, training):
    """Return `model.compute_loss` as a function; pass `training` only if it is a parameter."""
    compute = model.compute_loss
    parameters = inspect.signature(compute).parameters
    takes = "training" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    more = {"training": training} if takes else {}

    def compute_loss(x, y, y_pred, sample_weight):
        return compute(x, y, y_pred, sample_weight, **more)

    return compute_loss


def parts_of(model, loss):
    """Return a function that computes [(kind, weight, loss)], including the layers' losses."""

    def compute_parts(x, y, y_pred, sample_weight):
        parts = [] if loss.losses is None else loss.parts(y, y_pred, sample_weight)
        rows = float(rows_of(x))
        for part in model.losses:
            by_row = part.array.ndim and part.array.shape[0] == rows
            total = parts[0][2] if parts else None
            weight = ("sum", 1.0) if by_row else ("rows", rows)
            parts.append((*weight, layer_loss(part, total)))
        if not parts:
            raise no_loss(model)
        return parts

    return compute_parts


def overrides(model, method):
    """Return whether the model's class overrides this method of the Trainer."""
    return getattr(type(model), method) is not getattr(builtin(model), method)


def update_metrics(model, x, y, y_pred, sample_weight, loss):
    """Update the metrics; return the logs of an overridden `compute_metrics`, otherwise None."""
    training = model._framework.training
    training.loss_tracker.update_state(loss, sample_weight=rows_of(x))
    if overrides(model, "compute_metrics"):
        return model.compute_metrics(x, y, y_pred, sample_weight)
    if training.has_metrics:
        training.metrics.update_state(y, y_pred, sample_weight)
    return None


def evaluate_batch(model, x, y, sample_weight):
    """Evaluate one batch: update the metrics without training."""
    y_pred = model(x, training=False)
    loss = own_loss_function(model, False)(x, y, y_pred, sample_weight)
    return update_metrics(model, x, y, y_pred, sample_weight, loss)


def check_returned(model, y_pred):
    """Raise InvalidArgumentError if the model returned None, which has no loss."""
    if y_pred is None:
        code = getattr(model.call, "__code__", None)
        where = "" if code is None else f" (at {code.co_filename}:{code.co_firstlineno})"
        raise InvalidArgumentError(
            f"{type(model).__name__}.call{where} returned None instead of the outputs of the model "
            f"{model.name!r}. End it with `return outputs`."
        )


def no_loss(model):
    """Return the error for a model without any loss."""
    return InvalidArgumentError(
        f"fit: the model {model.name!r} has no loss: compile was called with loss=None, and no "
        "layer calls add_loss(). Pass a loss to compile."
    )
