"""CompiledMetrics: the metrics and weighted metrics passed to `compile`, as one metric."""

import itertools
from collections.abc import Mapping

import numpy as np

from framework import metrics as metrics_module
from framework.core import nest
from framework.core.errors import FrameworkError, InvalidArgumentError
from framework.core.tensor import Tensor
from framework.metrics.base import operand
from framework.ops.losses import label_form, shape_of
from framework.ops.movement import broadcast_to
from framework.training.matching import Outputs, name_of
from framework.training.usage_warnings import check_scalar_metric

_BY_SHAPE = {
    "accuracy": "accuracy", "acc": "accuracy", "crossentropy": "crossentropy", "ce": "crossentropy"
}  # fmt: skip


class CompiledMetrics:
    """All metrics passed to `compile`; the result is a dict by the names in the logs.

    Args:
        metrics: a list of names, metrics and functions; for several outputs a list of such lists,
            a dict by output, or a nest in the structure of the outputs.
        weighted_metrics: the same; these receive the sample weights.
        layer_names: function that returns the names of the output layers, None if unknown.

    The shapes of the first batch decide which metric belongs to which output, and which class
    "accuracy" means.
    """

    name = "compile_metrics"

    def __init__(self, metrics=None, weighted_metrics=None, layer_names=None):
        self._waiting = None  # restored values, until the first batch decides the metrics
        self._given = _resolved(metrics, "metrics"), _resolved(weighted_metrics, "weighted_metrics")
        self._layer_names = layer_names
        self.forget()

    def __bool__(self):
        return any(nest.flatten(given) for given in self._given if given is not None)

    def forget(self):
        """Match metrics to outputs again at the next batch."""
        self._outputs = None
        self._plain, self._weighted = [], []  # (output, metric)
        self._by_name = {}

    @property
    def metrics(self):
        """The metrics; before the first batch without those that depend on its shapes."""
        if self._outputs is None:
            leaves = itertools.chain.from_iterable(nest.flatten(g) for g in self._given)
            return [m for m in leaves if isinstance(m, metrics_module.Metric)]
        return [metric for _, metric in (*self._plain, *self._weighted)]

    def update_state(self, y, y_pred, sample_weight=None):
        """Update all metrics with one batch."""
        outputs = self._outputs
        if outputs is None or (not outputs.single and len(nest.flatten(y_pred)) != outputs.size):
            self.match(y, y_pred)
            outputs = self._outputs
        if outputs.single and type(y) is Tensor and type(sample_weight) in (Tensor, type(None)):
            for _, metric in self._plain:
                metric.update_state(y, y_pred)
            for _, metric in self._weighted:
                metric.update_state(y, y_pred, sample_weight)
            return
        flat, spread = nest.flatten(y_pred), outputs.spread
        used = {i for i, _ in (*self._plain, *self._weighted)}
        targets = spread(y, "y", filled=[i in used for i in range(len(flat))])
        for i, metric in self._plain:
            metric.update_state(targets[i], flat[i])
        if self._weighted:
            weights = spread(sample_weight, "sample_weight")
            for i, metric in self._weighted:
                metric.update_state(targets[i], flat[i], weights[i])

    def match(self, y, y_pred):
        """Match the metrics to the outputs of this batch."""
        outputs = Outputs(y_pred, self._layer_names and self._layer_names())
        flat = nest.flatten(y_pred)
        matched = []
        for given, argument in zip(self._given, ("metrics", "weighted_metrics"), strict=True):
            rows = []
            spread = _spread(outputs, given, argument)
            targets = outputs.spread(y, "y", filled=[part is not None for part in spread])
            for i, part in enumerate(spread):
                wanted = [metric for metric in nest.flatten(part) if metric is not None]
                rows += [(i, _for_shapes(metric, targets[i], flat[i])) for metric in wanted]
            matched.append(rows)
        self._plain, self._weighted = matched
        self._outputs = outputs
        self._by_name = self._named(outputs)
        if self._waiting is not None:
            for variable, value in zip(self.variables, self._waiting, strict=False):
                variable.assign(value)
            self._waiting = None

    @property
    def settled(self):
        """Whether all metrics are known; "accuracy" is unknown before the first batch."""
        leaves = itertools.chain.from_iterable(nest.flatten(g) for g in self._given)
        return self._outputs is not None or not any(isinstance(leaf, str) for leaf in leaves)

    def restore_later(self, values):
        """Assign `values` to the metrics' variables as soon as all metrics are known."""
        self._waiting = values

    def _named(self, outputs):
        """Return {name in the logs: metric}; several outputs prefix their names."""
        by_name = {}
        prefixes = outputs.names if outputs.size > 1 else [None]
        for rows, extra in ((self._plain, ""), (self._weighted, "weighted_")):
            for i, metric in rows:
                prefix = f"{prefixes[i]}_" if prefixes[i] else ""
                name = f"{prefix}{metric.name}"
                if name in by_name and extra:
                    name = f"{prefix}{extra}{metric.name}"
                number = itertools.count(1)
                unique = name
                while unique in by_name:
                    unique = f"{name}_{next(number)}"
                by_name[unique] = metric
        return by_name

    def result(self):
        return {name: metric.result() for name, metric in self._by_name.items()}

    def reset_state(self):
        for metric in self.metrics:
            metric.reset_state()

    @property
    def variables(self):
        return [variable for metric in self.metrics for variable in metric.variables]


class FunctionMetric(metrics_module.MeanMetricWrapper):
    """A user's function as a metric; one number per batch counts for each row of the batch."""

    _scalars = 0

    def values(self, y_true, y_pred):
        values = super().values(y_true, y_pred)
        if np.ndim(values):
            return values
        self._scalars += 1
        if self._scalars == 2:  # with a single batch the value is exact
            check_scalar_metric(self.name)
        values = operand(values, self.dtype, not isinstance(y_pred, np.ndarray))
        return broadcast_to(values, shape=shape_of(y_pred)[:1])


def _spread(outputs, given, argument):
    """Return the metrics of each output; a single output has all of them."""
    if given is None:
        return [None] * outputs.size
    if outputs.size > 1:
        return outputs.spread(given, argument, many=True)
    if isinstance(given, Mapping):
        given = outputs.spread(given, argument, lambda part: not isinstance(part, Mapping))[0]
    return [given]


def _resolved(given, argument):
    """Return the nest with names, functions and configs replaced by metrics."""
    if given is None:
        return None
    if not nest.is_nested(given) or (isinstance(given, Mapping) and "class_name" in given):
        raise InvalidArgumentError(
            f"{argument}: expected a list of metrics, or a list, dict or nest of such lists that "
            f"matches the outputs, got {given!r}. Write {argument}=[{given!r}]."
        )
    return _each_resolved(given, argument)


def _each_resolved(given, argument):
    if isinstance(given, Mapping) and "class_name" not in given:
        return {key: _each_resolved(part, argument) for key, part in given.items()}
    if isinstance(given, (list, tuple)):
        return [_each_resolved(part, argument) for part in given]
    if given is None or (isinstance(given, str) and given.lower() in _BY_SHAPE):
        return given
    try:
        metric = metrics_module.get(given)
    except FrameworkError as error:
        raise type(error)(f"{argument}: {error}") from None
    if isinstance(metric, metrics_module.Metric):
        if isinstance(given, str):
            metric.name = given  # logs keep the user's name
        return metric
    if hasattr(metric, "update_state"):
        return metric
    if not callable(metric):
        raise InvalidArgumentError(
            f"{argument}: expected a name, a Metric or a function metric(y_true, y_pred), got "
            f"{given!r}."
        )
    return FunctionMetric(metric, name=given if isinstance(given, str) else name_of(metric))


def _for_shapes(metric, y, y_pred):
    """Return `metric`; for "accuracy" or "crossentropy", the metric that fits the shapes."""
    if not isinstance(metric, str):
        return metric
    if y is None:
        raise InvalidArgumentError(f"metrics: {metric!r} needs targets, but y is None. Pass y.")
    what = _BY_SHAPE[metric.lower()]
    shapes = shape_of(y), shape_of(y_pred)
    if what == "accuracy":
        return metrics_module.accuracy_for(*shapes)(name=metric)
    return metrics_module.get(f"{label_form(*shapes)}_{what}").__class__(name=metric)
