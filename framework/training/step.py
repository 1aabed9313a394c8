"""The one train step: forward, loss, gradients, update, metrics.

`fit` and the explicit API (`model.training_step(...)`) run the code of this file; a raw loop of
`GradientTape` and `optimizer.apply_gradients` does the same with the same pieces, bit for bit.
"""

import numpy as np

from framework.autodiff.tape import GradientTape
from framework.core.errors import InvalidArgumentError, suggest
from framework.core.recorders import thread
from framework.optimizers.asking import bind, inside, rules_of, scales
from framework.training import state
from framework.training.checks import warn
from framework.training.gradients import Gradients
from framework.training.inputs import as_tensors, rows_of
from framework.training.parts import StepParts
from framework.training.plans import Plans
from framework.training.rewind import State


class TrainingStep:
    """A model, a loss and an optimizer as one callable: `loss = step(x, y)`.

    Made by `model.training_step(loss=..., optimizer=..., metrics=...)`. Its parts can be called
    alone: `loss, grads = step.gradients(x, y)`, then `step.apply(grads)`.

    Args:
        model: called as `model(x, training=True)`.
        compute_loss: `compute_loss(x, y, y_pred, sample_weight)`, the 0-d loss.
        optimizer: updates the model's trainable variables.
        update_metrics: `update_metrics(x, y, y_pred, sample_weight, loss)`, or None.
        clip: a `Clip`, or None.
        accumulator: an `Accumulator`: updates come once in so many batches; or None.
        compute_parts: as `compute_loss`, but a list [(kind, weight, loss)] that says how losses of
            batches add up; a mean over rows where None.
        metrics: what `state` is to hold beside model and optimizer.
        reports: `update_metrics` gives the batch's logs, which `_logs` then holds.
    """

    def __init__(
        self, model, compute_loss, optimizer, update_metrics=None, clip=None, accumulator=None,
        compute_parts=None, metrics=(), reports=False,
    ):  # fmt: skip
        self.model, self.optimizer = model, optimizer
        self._compute_loss, self._update_metrics = compute_loss, update_metrics
        self._clip, self._accumulator, self._compute_parts = clip, accumulator, compute_parts
        self._metrics = list(metrics)
        self._unmatched = bool(self._metrics)
        self._logs = None  # what `update_metrics` made of the last batch
        self._gives_loss_only = accumulator is None and not reports
        self._reasons = None  # why gradients are missing
        self._observer = None  # a `StepRecord` while a callback wants to look on
        self._scaled = scales(optimizer)
        self._factor = getattr(optimizer, "loss_scale_factor", None)
        self._bound = rules_of(inside(optimizer)) is None
        self._in_one = not clip and accumulator is None and not self._scaled
        self._plain = self._in_one and self._bound
        self._plans = Plans(model, "step")
        self._parts = StepParts(self)

    def __call__(self, x, y=None, sample_weight=None):
        """Do one step on a batch and return its loss, a 0-d tensor."""
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
                loss, y_pred, found = self._gradients(x, y, sample_weight)
                self._bind()
                if self._unmatched:
                    self._match(y, y_pred)
                if self._observer is not None:
                    rates = self._observer.rates_before(self.optimizer, found.variables)
                    self._observer.take((x, y, sample_weight), y_pred, loss, found, rates)
                self._apply(found)
            if self._update_metrics is not None:
                self._logs = self._update_metrics(x, y, y_pred, sample_weight, loss)
        return loss

    # ---- what it runs by ----

    @property
    def source(self):
        """The Python source of the compiled step: one function for each kind of batch so far.

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
        return "\n".join(filter(None, [plans.compiled.source for plans in self._all_plans()]))

    def explain(self):
        """Which plans there are, and what runs in Python and why: a text."""
        found = [(plans.compiled.name, plans.compiled.explain()) for plans in self._all_plans()]
        return "\n".join(
            text if name == "step" else f"{name}:\n{text}" for name, text in found if text
        )

    def _all_plans(self):
        return [self._plans, self._parts.gradient_plans, self._parts.update_plans]

    # ---- its parts ----

    def gradients(self, x, y=None, sample_weight=None):
        """The loss on a batch and its `Gradients` by variable path; nothing is updated."""
        if self._plans.possible() and self.model.built:
            return self._parts.gradients(x, y, sample_weight)
        x, y, sample_weight = as_tensors(x), as_tensors(y), as_tensors(sample_weight)
        with np.errstate(all="ignore"):
            loss, _, found = self._gradients(x, y, sample_weight)
        return loss, found

    def apply(self, gradients):
        """Update the variables by what `gradients` returned, or by a dict from paths to tensors.

        With `accumulate` they are added up, and the update comes with the last of so many.

        Raises:
            ValueError: a path that no trainable variable has.
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
        """Update by what is accumulated, although it is less than `accumulate` batches.

        Returns:
            Whether there was anything.
        """
        if self._accumulator is None or not self._accumulator.count:
            return False
        if self._plans.possible():
            self._parts.flush()
            return True
        with np.errstate(all="ignore"):
            self._update(*self._accumulator.take())
        return True

    @property
    def accumulated(self):
        """How many batches wait for their update."""
        return 0 if self._accumulator is None else self._accumulator.count

    def state(self):
        """All that the run depends on, a plain dict of arrays: a step restored to it goes on alike.

        Weights, the states of random generators, the optimizer's slots and iterations, metrics,
        and accumulated gradients. Shuffling is the data's: it is not in here.
        """
        return state.state_of(self.model, self.optimizer, self._metrics, self._accumulator)

    def restore(self, saved):
        """Set everything back to what `state()` gave.

        Raises:
            ValueError: it is another model's or optimizer's; nothing is changed then.
        """
        state.restore(saved, self.model, self.optimizer, self._metrics, self._accumulator)

    # ---- the step itself ----

    def _differentiate(self, x, y, sample_weight, trace=False):
        model = self.model
        with GradientTape(trace=trace) as tape:
            y_pred = model(x, training=True)
            loss = self._compute_loss(x, y, y_pred, sample_weight)
            target = loss if self._factor is None else self.optimizer.scale_loss(loss)
        variables = model.trainable_variables
        grads = tape.gradient(target, variables)
        if thread.missing is not None and thread.missing.of(tape):
            self._explain_missing(x, y, sample_weight, trace)
        return loss, y_pred, grads, variables

    def _explain_missing(self, x, y, sample_weight, trace):
        """Find out why gradients are missing, for the warning that comes.

        The first time the computation is done once more with tracing on, for the lines; nothing
        else comes of that.
        """
        if trace:
            self._reasons = thread.missing.told(self.model.trainable_variables)
        elif self._reasons is None:
            state = State([*self.model.variables, *self.model.metrics_variables])
            try:
                self._differentiate(x, y, sample_weight, trace=True)
            finally:
                state.restore()
        if self._reasons is not None:
            thread.missing = self._reasons

    def _match(self, y, y_pred):
        """Match the metrics to the outputs: a mistake there is found before anything is changed."""
        for metric in self._metrics:
            metric.match(y, y_pred)
        self._unmatched = False

    def _bind(self):
        """Let the paths in the optimizer's groups start at the model, once it is built."""
        if not self._bound:
            bind(inside(self.optimizer), self.model)
            self._bound, self._plain = True, self._in_one

    def _gradients(self, x, y, sample_weight):
        """(loss, outputs, Gradients in their true size)."""
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
        """The same for losses that add up in different ways: a walk back for each way."""
        with GradientTape(persistent=True) as tape:
            y_pred = self.model(x, training=True)
            kinds = _by_kind(self._compute_parts(x, y, y_pred, sample_weight))
            targets = [part for _, _, part in kinds]
            loss = targets[0]
            for part in targets[1:]:
                loss = loss + part
            if self._scaled:
                targets = [self.optimizer.get_scaled_loss(part) for part in targets]
        variables = self.model.trainable_variables
        found = []
        for (kind, weight, _), target in zip(kinds, targets, strict=True):
            grads = tape.gradient(target, variables)
            found.append((kind, weight, grads))
        if self._scaled:
            together = [g for *_, grads in found for g in grads]
            together = iter(self.optimizer.get_unscaled_gradients(together))
            found = [(k, w, [next(together) for _ in grads]) for k, w, grads in found]
        total = found[0][2]
        for *_, grads in found[1:]:
            total = [_sum(a, b) for a, b in zip(total, grads, strict=True)]
        return loss, y_pred, Gradients(total, variables, rows_of(x), found)

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
        if self._factor is not None:  # the optimizer takes them for gradients of a scaled loss
            gradients = [None if g is None else g * self._factor for g in gradients]
        self._bind()
        self._apply_gradients(gradients, variables)

    def _apply_gradients(self, gradients, variables):
        if variables:
            self.optimizer.apply_gradients(list(zip(gradients, variables, strict=True)))
        else:
            warn(f"The model {self.model.name!r} has no trainable weights: nothing is trained.")


def _by_kind(parts):
    """Parts of one kind and weight added up."""
    found = {}
    for kind, weight, part in parts:
        have = found.get(kind)
        found[kind] = (kind, weight, part if have is None else have[2] + part)
    return list(found.values())


def _sum(a, b):
    if a is None or b is None:
        return b if a is None else a
    return a + b
