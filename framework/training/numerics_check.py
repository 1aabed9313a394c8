"""debugging.numerics: finds the op that computes the first value that is not finite."""

from typing import Any

import numpy as np

from framework.autodiff.debug.nonfinite_values import Checker, NumericsError, is_finite
from framework.core import nest
from framework.core.argument_types import TensorLike
from framework.core.recorders import serials, thread
from framework.core.tensor import Tensor
from framework.training.snapshot import Snapshot


class numerics:
    """Context in which NaN and infinite values raise an error that names the op they come from.

    `fit` and training steps run as usual. If a loss, weight or optimizer slot is not finite after a
    step, the state before the step is restored, the step runs again with checks, and the error
    names the op, its layer and line, the phase (forward pass, backward pass or update), and the
    rows of the batch. Other code in the context, such as hand-written loops, is checked op by op.

    Raises:
        NumericsError: a ValueError with `op`, `phase`, `layer`, `line` and `rows`.

    Example:
        >>> import framework as tf
        >>> with tf.debugging.numerics():
        ...     tf.math.log(tf.constant([1.0, 0.0]))  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        framework.autodiff.debug.nonfinite_values.NumericsError: numerics: in the forward ...
    """

    def __init__(self):
        self._checker = Checker(immediate=True)

    def __enter__(self):
        self._outer, thread.numerics = thread.numerics, self
        # NumPy's warnings are off, because a NumericsError reports the problem
        self._errors = np.errstate(all="ignore")
        self._errors.__enter__()
        self._checker.__enter__()
        return self

    def __exit__(self, *_):
        self._checker.__exit__()
        self._errors.__exit__(*_)
        thread.numerics = self._outer

    def step(self, step: Any, x: TensorLike, y: TensorLike, sample_weight: Any):
        """Run `step` on a batch of tensors with checks and return its loss."""
        model, optimizer = step.model, step.optimizer
        stack, thread.numerics = thread.stack, None
        ours = (self._checker, self._checker._event_log)
        thread.stack = tuple(r for r in stack if r not in ours)
        try:
            # build the model now, so that the snapshot for repeating the step contains its weights
            if not model.built:
                model(x, training=False)
            held = [*model.variables, *model.metrics_variables, *optimizer.variables]
            state = Snapshot(held, optimizer)
            loss = step(x, y, sample_weight)
            if self._all_finite(loss, model, optimizer):
                return loss
            state.restore()
            self._find(step, x, y, sample_weight, state)
        finally:
            thread.stack, thread.numerics = stack, self

    @staticmethod
    def _all_finite(loss, model, optimizer):
        variables = (*model.variables, *optimizer.variables)
        return is_finite(loss.array) and all(is_finite(v.array) for v in variables)

    def _find(self, step, x, y, sample_weight, state):
        """Run the step again with checks, restore the state, and raise the error."""
        names = {}
        for name, part in (("x", x), ("y", y), ("sample_weight", sample_weight)):
            for leaf in nest.flatten(part):
                if type(leaf) is Tensor:
                    leaf.serial = leaf.serial or next(serials)
                    names[leaf.serial] = name
        rows = next((t.array.shape[0] for t in nest.flatten(x) if t.array.ndim), None)
        with _OriginChecker(rows=rows, names=names) as checker:
            loss = step(x, y, sample_weight)
        state.restore()
        origin = checker.origin_of(loss) or checker.first_assigned
        ending = " The model is as it was before the step."
        if origin is None:
            raise NumericsError(
                "numerics: the step computed NaN or infinite values, but only finite values when "
                f"it was repeated.{ending}"
            )
        raise origin.error(ending)


class _OriginChecker(Checker):
    """A checker that keeps the origin of the first non-finite value assigned to a variable."""

    first_assigned = None

    def variable_assigned(self, variable, value):
        self.first_assigned = self.first_assigned or self.origin_of(value)
