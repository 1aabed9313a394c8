"""debugging.numerics: finds where the first value that is not finite comes from."""

import numpy as np

from framework.autodiff.numerics import Checker, NumericsError, is_finite
from framework.core import nest
from framework.core.recorders import serials, thread
from framework.core.tensor import Tensor
from framework.training.rewind import State


class numerics:
    """Context in which a value that is not finite raises an error that says where it arose.

    `fit` and training steps run as ever; when a loss, weight or slot is not finite after a step,
    everything is put back to what it was before, the step is run again with checks, and the error
    names the op, its layer and line, whether it was in the forward pass, the backward pass or the
    update, and the rows of the batch. Everything else in the context, hand-written loops too, is
    checked op by op.

    Raises:
        NumericsError: a ValueError with `op`, `phase`, `layer`, `line` and `rows`.

    Example:
        >>> import framework as tf
        >>> with tf.debugging.numerics():
        ...     tf.math.log(tf.constant([1.0, 0.0]))  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        framework.autodiff.numerics.NumericsError: numerics: in the forward pass the op log ...
    """

    def __init__(self):
        self._checker = Checker(immediate=True)

    def __enter__(self):
        self._outer, thread.numerics = thread.numerics, self
        self._errors = np.errstate(all="ignore")  # ours say more
        self._errors.__enter__()
        self._checker.__enter__()
        return self

    def __exit__(self, *_):
        self._checker.__exit__()
        self._errors.__exit__(*_)
        thread.numerics = self._outer

    def step(self, step, x, y, sample_weight):
        """`step` on a batch of tensors, checked; its loss."""
        model, optimizer = step.model, step.optimizer
        state = None
        if model.built:
            held = [*model.variables, *model.metrics_variables, *optimizer.variables]
            state = State(held, optimizer)
        stack, thread.numerics = thread.stack, None
        ours = (self._checker, self._checker._journal)
        thread.stack = tuple(r for r in stack if r not in ours)
        try:
            loss = step(x, y, sample_weight)
            if self._all_finite(loss, model, optimizer):
                return loss
            if state is None:
                raise NumericsError(
                    "numerics: the first step gave values that are not finite; build the model "
                    "before, to have the step run again and the place found."
                )
            state.restore()
            self._find(step, x, y, sample_weight, state)
        finally:
            thread.stack, thread.numerics = stack, self

    @staticmethod
    def _all_finite(loss, model, optimizer):
        variables = (*model.variables, *optimizer.variables)
        return is_finite(loss.array) and all(is_finite(v.array) for v in variables)

    def _find(self, step, x, y, sample_weight, state):
        """Run the step again with checks, raise the error, and leave everything as it was."""
        names = {}
        for name, part in (("x", x), ("y", y), ("sample_weight", sample_weight)):
            for leaf in nest.flatten(part):
                if type(leaf) is Tensor:
                    leaf.serial = leaf.serial or next(serials)
                    names[leaf.serial] = name
        rows = next((t.array.shape[0] for t in nest.flatten(x) if t.array.ndim), None)
        with _Following(rows=rows, names=names) as checker:
            loss = step(x, y, sample_weight)
        state.restore()
        origin = checker.origin_of(loss) or checker.first_assigned
        ending = " The model is as it was before the step."
        if origin is None:
            raise NumericsError(
                "numerics: the step gave values that are not finite, but not when it was run "
                f"again.{ending}"
            )
        raise origin.error(ending)


class _Following(Checker):
    """A checker that remembers the first taint that reached a variable."""

    first_assigned = None

    def variable_assigned(self, variable, value):
        self.first_assigned = self.first_assigned or self.origin_of(value)
