"""One training step without the update: the activations and gradients of each layer."""

from typing import NamedTuple

import numpy as np

from framework.autodiff.debug.event_log import user_line
from framework.autodiff.debug.explanation import where
from framework.core import recorders
from framework.core.recorders import Recorder, thread
from framework.training.snapshot import Snapshot

_SATURATED = 0.99
"""The share of values at an activation's limits from which on it counts as saturated."""


class Activity(NamedTuple):
    """Statistics of the outputs of one activation function on a batch."""

    op: str
    layer: object  # the layer that called the activation, or None
    line: str
    units: int  # the number of units, which is the size of the last axis
    dead: int  # the number of units whose output is 0 in all rows
    saturated: float  # the fraction of values at the limits of sigmoid or tanh

    @property
    def place(self):
        return f"{self.op}{where(self.layer, self.line)}"


class Pass(NamedTuple):
    """The results of one forward and backward pass.

    Gradients are arrays or None, in the order of `variables`.
    """

    loss: float
    y_pred: object
    variables: list
    gradients: list
    activations: list

    def mistakes(self):
        """Return messages about dead and saturated layers and gradients that are all zero."""
        hidden = self.activations[:-1] if self.activations else []
        dead = [a for a in self.activations if a.op == "relu" and a.dead == a.units]
        found = [
            f"All {a.units} units of {a.place} are 0 for every row of the batch, so their weights "
            "get no gradient: the layer is dead. Use a smaller learning rate, scaled inputs, other "
            'initial weights, or activation="leaky_relu".'
            for a in dead
        ]
        found += [
            f"{100 * a.saturated:.0f} % of the values of {a.place} are at the limits of the "
            "function, where its derivative is almost 0. Scale the inputs, or use a normalization "
            "layer before it."
            for a in hidden
            if a.op in _LIMITS and a.saturated > _SATURATED
        ]
        return found or self._zeros()

    def partly_dead(self):
        """Return messages about layers with at least half of their units dead."""
        return [
            f"{a.dead} of the {a.units} units of {a.place} are 0 for every row of the batch. "
            'Use a smaller learning rate, scaled inputs, or activation="leaky_relu".'
            for a in self.activations
            if a.op == "relu" and a.units > a.dead >= a.units / 2 and a.units > 1
        ]

    def _zeros(self):
        names = [
            variable.path
            for variable, g in zip(self.variables, self.gradients, strict=True)
            if g is not None and g.size and not g.any()
        ]
        if not names or len(names) < len(self.variables):
            return []
        message = (
            f"The gradients of all {len(names)} variables are 0, from {names[0]!r} on: the loss "
            "does not depend on them. Look for a layer with constant output (Dropout(1.0), "
            "weights of zeros), or call tape.explain(loss, variable)."
        )
        return [message]


def _at_limits_of_sigmoid(array):
    return ((array < 1e-3) | (array > 1 - 1e-3)).mean()


def _at_limits_of_tanh(array):
    return (np.abs(array) > 1 - 1e-3).mean()


_LIMITS = {"sigmoid": _at_limits_of_sigmoid, "tanh": _at_limits_of_tanh}


class _Activities(Recorder):
    """A recorder that keeps an `Activity` for each activation function that runs."""

    def __init__(self):
        self.found = []

    def op(self, op, args, attrs, outputs, saved):
        if op.name != "relu" and op.name not in _LIMITS:
            return
        array = outputs[0].array
        if not array.ndim or not array.size:
            return
        rows = array.reshape(-1, array.shape[-1])
        dead = int((rows <= 0).all(0).sum()) if op.name == "relu" else 0
        saturated = float(_LIMITS[op.name](array)) if op.name in _LIMITS else 0.0
        layer = None if thread.call is None else thread.call[0]
        self.found.append(Activity(op.name, layer, user_line(), array.shape[-1], dead, saturated))


def one_pass(step, x, y, sample_weight=None):
    """Return the `Pass` of a `TrainingStep` on a batch of tensors; all state is restored.

    Only the forward pass is recorded: the backward pass computes on arrays, without events.
    """
    model = step.model
    state = Snapshot([*model.variables, *model.metrics_variables], step.optimizer)
    recorder = _Activities()
    recorders.push(recorder)
    try:
        with np.errstate(all="ignore"):
            loss, y_pred, gradients, variables = step._differentiate(x, y, sample_weight)
    finally:
        recorders.remove(recorder)
        state.restore()
    arrays = [None if g is None else _dense(g) for g in gradients]
    return Pass(float(loss.array), y_pred, variables, arrays, recorder.found)


def _dense(gradient):
    dense = gradient.dense() if hasattr(gradient, "dense") else gradient
    return dense.array
