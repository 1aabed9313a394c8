"""Compiled plans of training steps that accumulate gradients or report values to callbacks, and
of `step.gradients` and `step.apply`.

A plan is a function of arrays. So accumulated gradients are an argument and a result, and the
values that a callback needs are results. Whether an update is due and which values are needed
are part of the key under which the plan is cached.
"""

from functools import partial

import numpy as np

from framework.compiler.call_arguments import ObjectToken
from framework.core.recorders import replaying, thread
from framework.core.tensor import Tensor
from framework.training.accumulation import kind_of, spelled
from framework.training.batch_plans import BATCH, Plans, as_tensors, rows_of
from framework.training.gradients import Gradients, finished_gradients, gathered, spread

_ADDS, _UPDATES, _FLUSHES = (
    ObjectToken("accumulates"),
    ObjectToken("updates"),
    ObjectToken("flushes"),
)
_OUTPUTS, _GRADIENTS = ObjectToken("returns outputs"), ObjectToken("returns gradients")


class StepParts:
    """Runs a `TrainingStep` by plans if it accumulates or reports; also `gradients` and `apply`."""

    def __init__(self, step):
        self._step = step
        self.gradient_plans = Plans(step.model, "gradients")
        self.update_plans = Plans(step.model, "apply")

    # ---- the whole step ----

    def whole(self, x, y, sample_weight):
        """Run a whole step that accumulates, has an observer or reports logs; return the loss."""
        step, observer = self._step, self._step._observer
        needed, rates = (False, False), None
        if observer is not None:
            x, y, sample_weight = as_tensors(x), as_tensors(y), as_tensors(sample_weight)
            needed = observer.outputs_needed, observer.gradients_needed
            step._bind()
            variables = step.model.trainable_variables
            rates = observer.rates_before(step.optimizer, variables)
        extra = [token for token, need in zip((_OUTPUTS, _GRADIENTS), needed, strict=True) if need]
        with _Accumulated(step, step.model.trainable_variables, extra) as waiting:
            loss, outputs, gradients, waiting.after, step._logs = step._plans(
                partial(self._whole, waiting, needed), [x, y, sample_weight], [waiting.before],
                extra, (*BATCH, "accumulated"),
            )  # fmt: skip
        if observer is not None:
            mapping = None
            if gradients is not None:
                variables = step.model.trainable_variables
                mapping = self._as_gradients(*gradients, variables, rows_of(x))
            observer.take((x, y, sample_weight), outputs, loss, mapping, rates)
        return loss

    def _whole(self, waiting, needed, x, y, sample_weight, before):
        """The function that is traced for `whole`.

        It returns (loss, outputs, gradients, accumulated gradients, logs). `needed` has two bools:
        if False, the outputs or the gradients are None.
        """
        step, logs = self._step, None
        with np.errstate(all="ignore"):
            loss, y_pred, mapping = step._gradients(x, y, sample_weight)
            step._bind()
            if step._unmatched:
                step._match(y, y_pred)
            gradients = self._as_nest(mapping) if needed[1] else None
            after = waiting.run(before, step._apply, mapping)
            if step._update_metrics is not None:
                logs = step._update_metrics(x, y, y_pred, sample_weight, loss)
        return loss, y_pred if needed[0] else None, gradients, after, logs

    # ---- the two halves of the step ----

    def gradients(self, x, y, sample_weight):
        """Return the loss of a batch and its `Gradients`, computed by a compiled plan."""
        step = self._step
        loss, gradients = self.gradient_plans(self._gradients, [x, y, sample_weight])
        if step._scaled:
            # a plan does not run the Python code that sets the optimizer's `stage`
            step.optimizer._framework.stage = "unscaled"
        variables = step.model.trainable_variables
        return loss, self._as_gradients(*gradients, variables, _rows(x))

    def _gradients(self, x, y, sample_weight):
        with np.errstate(all="ignore"):
            loss, _, gradients = self._step._gradients(x, y, sample_weight)
        return loss, self._as_nest(gradients)

    def apply(self, gradients):
        """Update the variables with `Gradients` by a compiled plan; return False if impossible."""
        step, nest = self._step, self._as_nest(gradients)
        if nest is None or (step._scaled and step.optimizer._framework.stage != "unscaled"):
            return False
        if step._accumulator is None:
            nest = nest[0], None
        variables = gradients.variables
        extra = [tuple([v.serial for v in variables])]
        with _Accumulated(step, variables, extra) as waiting:
            run = partial(self._apply, waiting, variables, gradients.weight)
            if step._accumulator is not None:
                extra.append(gradients.weight)
            waiting.after = self.update_plans(
                run, [], [nest, waiting.before], extra, ("gradients", "accumulated")
            )
        return True

    def _apply(self, waiting, variables, weight, nest, before):
        gradients = self._as_gradients(*nest, variables, weight)
        with np.errstate(all="ignore"):
            return waiting.run(before, self._step._apply, gradients)

    def flush(self):
        """Update the variables with the accumulated gradients, by a compiled plan."""
        extra = [_FLUSHES]
        with _Accumulated(self._step, [], extra, flushes=True) as waiting:
            waiting.after = self.update_plans(
                partial(self._flush, waiting), [], [waiting.before], extra, ("accumulated",)
            )

    def _flush(self, waiting, before):
        step = self._step
        with np.errstate(all="ignore"):
            return waiting.run(before, lambda: step._update(*step._accumulator.take()))

    # ---- gradients as arguments and results ----

    @staticmethod
    def _as_nest(gradients):
        """Return gradients as (tensors, parts by kind of loss or None), a nest that plans accept;
        None if a gradient has an unsupported type."""
        tensors = spread(gradients.tensors)
        if tensors is None or gradients._parts is None:
            return None if tensors is None else (tensors, None)
        parts = []
        for kind, weight, part in gradients._parts:
            weight = weight if type(weight) is Tensor else Tensor(np.asarray(weight, np.float64))  # noqa: PLW2901
            rows = None if len(gradients._parts) == 1 else spread(part)
            parts.append((spelled(kind), weight, rows))
        return tensors, parts

    @staticmethod
    def _as_gradients(tensors, parts, variables, rows):
        whole = finished_gradients(gathered(tensors, variables))
        if parts is not None:
            parts = [
                (kind_of(kind), weight, whole if part is None else gathered(part, variables))
                for kind, weight, part in parts
            ]
        return Gradients(whole, variables, rows, parts)


class _Accumulated:
    """Context that passes an accumulator's contents to one run of a plan and stores the new ones.

    Args:
        step: the step, with or without an accumulator.
        variables: the variables whose gradients the run computes.
        extra: the additional key of the plan; the accumulator's state is appended to it.
        flushes: whether the run updates the variables even if the accumulator is not full.
    """

    def __init__(self, step, variables, extra, flushes=False):
        self._step, self._accumulator = step, step._accumulator
        self.before = self.after = ()
        if self._accumulator is None:
            return
        accumulator = self._accumulator
        self._first, self._count = accumulator.variables, accumulator.count
        self._all = accumulator.met(variables)
        self._due = flushes or accumulator.count + 1 >= accumulator.every
        self.before = accumulator.held()
        extra.append(_UPDATES if self._due else _ADDS)
        extra.append(tuple([v.serial for v in accumulator.variables]))

    def run(self, before, work, *args):
        """Call `work(*args)` with the accumulator holding `before`; return its new contents."""
        accumulator = self._accumulator
        if accumulator is None:
            work(*args)
            return ()
        accumulator.as_ops = bool(thread.stack) and replaying()
        try:
            accumulator.hold(before, list(self._first), self._count)
            work(*args)
            return accumulator.held()
        finally:
            accumulator.as_ops = False

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        accumulator, step = self._accumulator, self._step
        if accumulator is not None:
            if kind is not None:
                accumulator.hold(self.before, self._first, self._count)
            elif self._due:
                accumulator.clear()
            else:
                accumulator.hold(self.after, self._all, self._count + 1)
        if kind is None and step._scaled:
            step.optimizer._framework.stage = (
                "unscaled" if accumulator is not None and not self._due else None
            )


def _rows(x):
    return rows_of(x) if type(x) is Tensor else rows_of(as_tensors(x))
