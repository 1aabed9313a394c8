"""The one train step: forward, loss, gradients, update, metrics.

`fit` and the explicit API (`model.training_step(...)`) run the code of this file; a raw loop of
`GradientTape` and `optimizer.apply_gradients` does the same with the same pieces, bit for bit.
"""

from collections.abc import Mapping

import numpy as np

from framework import losses as losses_module
from framework import metrics as metrics_module
from framework import optimizers
from framework.autodiff.tape import GradientTape
from framework.core import nest
from framework.core.doors import tensor
from framework.core.errors import InvalidArgumentError
from framework.core.recorders import thread
from framework.core.tensor import Tensor
from framework.training.rewind import State


class Gradients(Mapping):
    """Gradients by variable path, in the order of the model's trainable variables.

    Reads like a dict of tensors (None where the loss does not depend on the variable);
    `dict(grads)`, `grads["dense/kernel"]`, `grads.variables`, `grads.tensors`.
    """

    def __init__(self, tensors, variables):
        self.tensors, self.variables = list(tensors), list(variables)

    def __getitem__(self, path):
        for gradient, variable in zip(self.tensors, self.variables, strict=True):
            if variable.path == path:
                return gradient
        raise KeyError(path)

    def __iter__(self):
        return (variable.path for variable in self.variables)

    def __len__(self):
        return len(self.variables)

    def __repr__(self):
        rows = (
            f"  {v.path}: {'None' if g is None else tuple(g.shape)}"
            for g, v in zip(self.tensors, self.variables, strict=True)
        )
        return "Gradients(\n" + "\n".join(rows) + "\n)"


class TrainingStep:
    """A model, a loss and an optimizer as one callable: `loss = step(x, y)`.

    Made by `model.training_step(loss=..., optimizer=..., metrics=...)`. Its parts can be called
    alone: `loss, grads = step.gradients(x, y)`, then `step.apply(grads)`.

    Args:
        model: called as `model(x, training=True)`.
        compute_loss: `compute_loss(x, y, y_pred, sample_weight)`, the 0-d loss.
        optimizer: updates the model's trainable variables.
        update_metrics: `update_metrics(x, y, y_pred, sample_weight, loss)`, or None.
    """

    def __init__(self, model, compute_loss, optimizer, update_metrics=None):
        self.model, self.optimizer = model, optimizer
        self._compute_loss, self._update_metrics = compute_loss, update_metrics
        self._reasons = None  # why gradients are missing

    def __call__(self, x, y=None, sample_weight=None):
        """Do one step on a batch and return its loss, a 0-d tensor."""
        x, y, sample_weight = as_tensors(x), as_tensors(y), as_tensors(sample_weight)
        with np.errstate(all="ignore"):
            loss, y_pred, grads, variables = self._differentiate(x, y, sample_weight)
            self.optimizer.apply_gradients(list(zip(grads, variables, strict=True)))
            if self._update_metrics is not None:
                self._update_metrics(x, y, y_pred, sample_weight, loss)
        return loss

    def gradients(self, x, y=None, sample_weight=None):
        """The loss on a batch and its gradients by variable path; nothing is updated."""
        x, y, sample_weight = as_tensors(x), as_tensors(y), as_tensors(sample_weight)
        with np.errstate(all="ignore"):
            loss, _, grads, variables = self._differentiate(x, y, sample_weight)
        return loss, Gradients(grads, variables)

    def apply(self, gradients):
        """Update the variables by what `gradients` returned, or by a dict from paths to tensors."""
        if isinstance(gradients, Gradients):
            pairs = list(zip(gradients.tensors, gradients.variables, strict=True))
        else:
            by_path = {v.path: v for v in self.model.trainable_variables}
            unknown = [path for path in gradients if path not in by_path]
            if unknown:
                raise InvalidArgumentError(
                    f"apply: no trainable variable has the path {unknown[0]!r}; the paths are "
                    f"{', '.join(by_path)}."
                )
            pairs = [(g, by_path[path]) for path, g in gradients.items()]
        self.optimizer.apply_gradients(pairs)

    def _differentiate(self, x, y, sample_weight, trace=False):
        model = self.model
        with GradientTape(trace=trace) as tape:
            y_pred = model(x, training=True)
            loss = self._compute_loss(x, y, y_pred, sample_weight)
        variables = model.trainable_variables
        grads = tape.gradient(loss, variables)
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


def as_tensors(structure):
    """A nest of arrays, numbers and tensors as one of tensors; None stays None."""
    if structure is None or type(structure) is Tensor:
        return structure
    if isinstance(structure, np.ndarray):
        return tensor(structure)
    return nest.map_structure(lambda leaf: None if leaf is None else tensor(leaf), structure)


# ---- what compile() and training_step() are given ------------------------------------------------


def optimizer_of(optimizer):
    """An optimizer from a name, a config or an instance."""
    found = optimizers.get(optimizer)
    if not hasattr(found, "apply_gradients"):
        raise InvalidArgumentError(
            f"optimizer: expected a name or a keras.optimizers.Optimizer, got {optimizer!r}."
        )
    return found


class CompiledLoss:
    """One loss, or a list or dict of losses matched to the model's outputs and added up."""

    def __init__(self, loss):
        self.losses = nest.map_structure(_loss_of, loss)

    def __call__(self, y, y_pred, sample_weight=None):
        if not nest.is_nested(self.losses):
            if nest.is_nested(y_pred):
                raise InvalidArgumentError(
                    f"loss: the model has {len(nest.flatten(y_pred))} outputs; give a list or dict "
                    "with a loss for each."
                )
            return self.losses(y, y_pred, sample_weight)
        total = None
        for key, loss in _items(self.losses):
            try:
                part = loss(y[key], y_pred[key], sample_weight)
            except (KeyError, IndexError, TypeError) as error:
                raise InvalidArgumentError(
                    f"loss: no output or target matches {key!r} ({type(error).__name__}: {error}); "
                    f"the outputs are {_keys(y_pred)}."
                ) from error
            total = part if total is None else total + part
        return total


def _items(structure):
    return structure.items() if isinstance(structure, dict) else enumerate(structure)


def _keys(structure):
    return list(structure) if isinstance(structure, dict) else len(nest.flatten(structure))


def _loss_of(loss):
    found = losses_module.get(loss)
    if isinstance(found, losses_module.Loss) or found is None:
        return found
    return losses_module.LossFunctionWrapper(found)


class CompiledMetrics:
    """The metrics given to compile, as one; its result is a dict.

    Which accuracy "accuracy" means is decided when the first batch shows its shapes.
    """

    name = "compile_metrics"

    def __init__(self, metrics):
        if isinstance(metrics, (dict, str)) or any(nest.is_nested(m) for m in metrics or ()):
            raise InvalidArgumentError(
                f"metrics: expected a flat list of metrics for one output, got {metrics!r}. "
                "Metrics per output are not supported yet."
            )
        self.metrics = [m if _is_accuracy(m) else _metric_of(m) for m in metrics or ()]
        self._open = any(map(_is_accuracy, self.metrics))

    def update_state(self, y, y_pred, sample_weight=None):
        if self._open:
            self.metrics = [
                metrics_module.accuracy_for(y.array.shape, y_pred.array.shape)(name=m)
                if _is_accuracy(m)
                else m
                for m in self.metrics
            ]
            self._open = False
        for metric in self.metrics:
            metric.update_state(y, y_pred, sample_weight)

    def _known(self):
        return [metric for metric in self.metrics if not isinstance(metric, str)]

    def result(self):
        return {metric.name: metric.result() for metric in self._known()}

    def reset_state(self):
        for metric in self._known():
            metric.reset_state()

    @property
    def variables(self):
        return [variable for metric in self._known() for variable in metric.variables]


def _is_accuracy(metric):
    return isinstance(metric, str) and metric in ("accuracy", "acc")


def _metric_of(metric):
    found = metrics_module.get(metric)
    if isinstance(found, metrics_module.Metric):
        if isinstance(metric, str):
            found.name = metric  # logs say what the user said
        return found
    name = metric if isinstance(metric, str) else getattr(found, "__name__", "metric")
    return metrics_module.MeanMetricWrapper(found, name=name)
