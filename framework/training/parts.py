"""The controls of a step by compiled plans: accumulation, what callbacks look at, the step's parts.

A plan is a function of arrays. So what is accumulated goes in as an argument and comes out as a
result, and what a callback asks for is a result; whether an update is due and what is asked for are
part of the plan's key.
"""

from functools import partial

import numpy as np

from framework.compiler.arguments import Token
from framework.core.recorders import replaying, thread
from framework.core.tensor import Tensor
from framework.training.accumulation import kind_of, spelled
from framework.training.gradients import Gradients, finished_gradients, gathered, spread
from framework.training.inputs import as_tensors, rows_of
from framework.training.plans import BATCH, Plans

_ADDS, _UPDATES, _FLUSHES = Token("accumulates"), Token("updates"), Token("flushes")
_OUTPUTS, _GRADIENTS = Token("returns outputs"), Token("returns gradients")


class StepParts:
    """A `TrainingStep`'s plans beside that of a plain step.

    Args:
        step: the step; what is recorded is its own code.
    """

    def __init__(self, step):
        self._step = step
        self.gradient_plans = Plans(step.model, "gradients")
        self.update_plans = Plans(step.model, "apply")

    # ---- the whole step ----

    def whole(self, x, y, sample_weight):
        """The step with its accumulator, under an observer, or with logs; returns the loss."""
        step, observer = self._step, self._step._observer
        asked, rates = (False, False), None
        if observer is not None:
            x, y, sample_weight = as_tensors(x), as_tensors(y), as_tensors(sample_weight)
            asked = observer.outputs_needed, observer.gradients_needed
            step._bind()
            variables = step.model.trainable_variables
            rates = observer.rates_before(step.optimizer, variables)
        extra = [note for note, is_one in zip((_OUTPUTS, _GRADIENTS), asked, strict=True) if is_one]
        with _Accumulated(step, step.model.trainable_variables, extra) as waiting:
            loss, outputs, gradients, waiting.after, step._logs = step._plans(
                partial(self._whole, waiting, asked), [x, y, sample_weight], [waiting.before],
                extra, (*BATCH, "accumulated"),
            )  # fmt: skip
        if observer is not None:
            found = None
            if gradients is not None:
                found = self._as_gradients(*gradients, step.model.trainable_variables, rows_of(x))
            observer.take((x, y, sample_weight), outputs, loss, found, rates)
        return loss

    def _whole(self, waiting, asked, x, y, sample_weight, before):
        """What is recorded: loss, outputs and gradients where asked, what then waits, logs."""
        step, logs = self._step, None
        with np.errstate(all="ignore"):
            loss, y_pred, found = step._gradients(x, y, sample_weight)
            step._bind()
            if step._unmatched:
                step._match(y, y_pred)
            gradients = self._as_nest(found) if asked[1] else None
            after = waiting.run(before, step._apply, found)
            if step._update_metrics is not None:
                logs = step._update_metrics(x, y, y_pred, sample_weight, loss)
        return loss, y_pred if asked[0] else None, gradients, after, logs

    # ---- its parts ----

    def gradients(self, x, y, sample_weight):
        """(loss, Gradients)."""
        step = self._step
        loss, found = self.gradient_plans(self._gradients, [x, y, sample_weight])
        if step._scaled:
            step.optimizer._framework.stage = "unscaled"  # as the recorded run left it
        variables = step.model.trainable_variables
        return loss, self._as_gradients(*found, variables, _rows(x))

    def _gradients(self, x, y, sample_weight):
        with np.errstate(all="ignore"):
            loss, _, found = self._step._gradients(x, y, sample_weight)
        return loss, self._as_nest(found)

    def apply(self, gradients):
        """Update by `Gradients`; False, and nothing done, where that needs Python."""
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
        """Update by what is accumulated."""
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
        """(the tensors, the parts that add up in different ways or None); None: not of tensors."""
        tensors = spread(gradients.tensors)
        if tensors is None or gradients._parts is None:
            return None if tensors is None else (tensors, None)
        parts = []
        for kind, weight, found in gradients._parts:
            weight = weight if type(weight) is Tensor else Tensor(np.asarray(weight, np.float64))  # noqa: PLW2901
            rows = None if len(gradients._parts) == 1 else spread(found)
            parts.append((spelled(kind), weight, rows))
        return tensors, parts

    @staticmethod
    def _as_gradients(tensors, parts, variables, rows):
        whole = finished_gradients(gathered(tensors, variables))
        if parts is not None:
            parts = [
                (kind_of(kind), weight, whole if found is None else gathered(found, variables))
                for kind, weight, found in parts
            ]
        return Gradients(whole, variables, rows, parts)


class _Accumulated:
    """What a step's accumulator holds, as the argument and the result of one run.

    Args:
        step: whose accumulator, if it has one.
        variables: those that the run has gradients of.
        extra: the key of the run; what it depends on is added.
        flushes: the run takes what is there, whatever the count.
    """

    def __init__(self, step, variables, extra, flushes=False):
        self._step, self._accumulator = step, step._accumulator
        self.before = self.after = ()
        if self._accumulator is None:
            return
        made = self._accumulator
        self._first, self._count = made.variables, made.count
        self._all = made.met(variables)
        self._due = flushes or made.count + 1 >= made.every
        self.before = made.held()
        extra.append(_UPDATES if self._due else _ADDS)
        extra.append(tuple([v.serial for v in made.variables]))

    def run(self, before, work, *args):
        """`work(*args)` on an accumulator that holds `before`; returns what it holds then."""
        made = self._accumulator
        if made is None:
            work(*args)
            return ()
        made.as_ops = bool(thread.stack) and replaying()
        try:
            made.hold(before, list(self._first), self._count)
            work(*args)
            return made.held()
        finally:
            made.as_ops = False

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        made, step = self._accumulator, self._step
        if made is not None:
            if kind is not None:
                made.hold(self.before, self._first, self._count)
            elif self._due:
                made.clear()
            else:
                made.hold(self.after, self._all, self._count + 1)
        if kind is None and step._scaled:
            step.optimizer._framework.stage = (
                "unscaled" if made is not None and not self._due else None
            )


def _rows(x):
    return rows_of(x) if type(x) is Tensor else rows_of(as_tensors(x))
