"""Compilation: the optimizer, losses and metrics of a compiled model, applied to batches."""

import itertools
import weakref
from collections.abc import Mapping

import numpy as np

from framework import losses as losses_module
from framework import metrics as metrics_module
from framework.core import nest
from framework.core.cast import cast
from framework.core.errors import InvalidArgumentError
from framework.core.tensor import Tensor
from framework.metrics import Mean
from framework.ops.losses import label_form, shape_of
from framework.ops.reduction import reduce_sum
from framework.optimizers.asking import bind, rules_of
from framework.training.accumulation import weight_of
from framework.training.batch_plans import rows_of
from framework.training.compile_arguments import (
    METRICS_BY_SHAPE,
    accumulator_of,
    checked_loss_weights,
    is_loss,
    losses_from,
    metrics_from,
    optimizer_of,
)
from framework.training.output_matching import Outputs, name_of, output_layer, output_names_of
from framework.training.usage_warnings import warn


class Compilation:
    """The optimizer, losses and metrics that one call of `compile` configured."""

    def __init__(
        self, model, optimizer, loss, loss_weights, metrics, weighted_metrics, accumulate,
    ):  # fmt: skip
        outputs = _OutputsOf(model)
        self.optimizer = optimizer_of(optimizer)
        self.accumulator = accumulator_of(accumulate, self.optimizer, "compile")
        self.loss = CompiledLoss(
            loss, loss_weights, outputs.names, track=True, find_layer=outputs.layer
        )
        self.metrics = CompiledMetrics(metrics, weighted_metrics, outputs.names)
        self.has_metrics = bool(self.metrics)
        if model.built and rules_of(self.optimizer) is not None:
            bind(self.optimizer, model)
        self.loss_tracker = Mean(name="loss")
        self.step = None
        self.told = set()  # keywords of the mistakes that `fit` has already warned about

    def __getstate__(self):  # leaves out the training step: a copied model builds its own
        return {**vars(self), "step": None}

    @property
    def all_metrics(self):
        own = [self.metrics] if self.has_metrics else []
        return [self.loss_tracker, *own, *self.loss.trackers]


class _OutputsOf:
    """Looks up the names and layers of a model's outputs when they are needed.

    The reference to the model is weak: a strong one would form a cycle, which delays freeing the
    model.
    """

    def __init__(self, model):
        self._model = weakref.ref(model)

    def names(self):
        return output_names_of(self._model())

    def layer(self, i):
        return output_layer(self._model(), i)

    # pickling and copying store the model, so that a copy refers to the copied model
    def __reduce__(self):
        return _OutputsOf, (self._model(),)


# ---- losses --------------------------------------------------------------------------------------


class CompiledLoss:
    """The weighted sum of the losses of all outputs.

    Args:
        loss: a name, a Loss or a function `loss(y_true, y_pred)` (for every output), or a list,
            dict or nest of them, with None for an output without loss.
        loss_weights: factors of the losses, in the same form as `loss`.
        layer_names: function that returns the names of the output layers, None if unknown.
        track: keep a running mean of each output's loss, if there are several.
        find_layer: function from an output's index to its layer, for warnings.

    Losses are matched to outputs at the first batch.
    """

    def __init__(
        self, loss, loss_weights=None, layer_names=None, track=False, find_layer=None,
    ):  # fmt: skip
        self.losses = losses_from(loss)
        self.loss_weights = checked_loss_weights(loss_weights)
        self._layer_names, self._track, self._find_layer = layer_names, track, find_layer
        self.forget()

    @property
    def names(self):
        """The names of the losses, in the order of `compile`."""
        given = [] if self.losses is None else nest.flatten(self.losses)
        return [name_of(loss) if not isinstance(loss, str) else loss for loss in given if loss]

    def forget(self):
        """Forget which losses belong to which outputs; the next batch matches them again."""
        # a tuple (output index, loss, weight, tracker) for each loss, once losses are matched
        self._rows = None
        self._only = None  # the only loss, if there is one output and no loss weight
        self._outputs = None
        self.trackers = []

    def __call__(self, y, y_pred, sample_weight=None, regularization_losses=None):
        """Return the sum of the weighted losses, a 0-d tensor.

        Args:
            y, y_pred, sample_weight: targets, outputs and weights, in the same structure.
            regularization_losses: losses to add, such as `model.losses`; TensorFlow's name.
        """
        if regularization_losses:
            return plus_layer_losses(self(y, y_pred, sample_weight), regularization_losses)
        only = self._only
        if only is not None and type(y_pred) is Tensor and type(y) is Tensor:
            return only(y, y_pred, _one(sample_weight))
        total = None
        for *_, part in self._each(y, y_pred, sample_weight):
            total = part if total is None else total + part
        return total

    def parts(self, y, y_pred, sample_weight=None):
        """Return [(kind, weight, loss)] of a batch, to combine the losses of several batches.

        The loss of all batches together is the sum of weight * loss over the batches; if kind is
        not "sum", it is divided by the sum of the weights.
        """
        return [
            (*weight_of(loss, i, y_true, y_out, weights), part)
            for i, loss, y_true, y_out, weights, part in self._each(y, y_pred, sample_weight)
        ]

    def _each(self, y, y_pred, sample_weight):
        outputs = nest.flatten(y_pred)
        if self._rows is None or len(outputs) != self._outputs.size:
            self._match(y, y_pred)
        spread = self._outputs.spread
        taking = [False] * len(outputs)
        for i, *_ in self._rows:
            taking[i] = True
        if _fits(y, y_pred):
            targets = spread(y, "y", filled=taking)
        elif sum(taking) == 1:  # if only one output has a loss, `y` is the target of this output
            targets = [y if takes else None for takes in taking]
        else:
            raise InvalidArgumentError(
                f"y: expected one target for each of the model's {len(outputs)} outputs"
                f"{self._outputs._listed()}, got one target. Pass a list or dict of targets."
            )
        weights = spread(sample_weight, "sample_weight", filled=taking)
        for i, loss, weight, tracker in self._rows:
            value = self._value(loss, i, targets[i], outputs[i], weights[i])
            if tracker is not None:
                tracker.update_state(value, sample_weight=shape_of(outputs[i])[0])
            yield i, loss, targets[i], outputs[i], weights[i], (
                value if weight is None else value * weight
            )  # fmt: skip

    def _value(self, loss, i, y_true, y_out, weight):
        if y_true is None and type(loss) is not losses_module.LossFunctionWrapper:
            name = self._outputs.names[i]
            of = f" of output {name!r}" if name is not None and self._outputs.size > 1 else ""
            raise InvalidArgumentError(
                f"loss: {loss.name!r}{of} needs targets, but y is None. Pass y, or use "
                "compile(loss=None) and add_loss() in a layer."
            )
        return loss(y_true, y_out, weight)

    def _match(self, y, y_pred):
        from framework.training.mistakes.outputs import output_mistakes

        self._outputs = outputs = Outputs(y_pred, self._layer_names and self._layer_names())
        losses = outputs.spread(self.losses, "loss", is_loss)
        weights = outputs.spread(self.loss_weights, "loss_weights")
        taking = [loss is not None for loss in losses]
        targets = outputs.spread(y, "y", filled=taking) if _fits(y, y_pred) else [y] * len(taking)
        rows = []
        flat = nest.flatten(y_pred)
        for i, (loss, y_out) in enumerate(zip(losses, flat, strict=True)):
            if loss is None:
                continue
            if isinstance(loss, str):
                chosen = losses_module.as_loss(loss, shape_of(targets[i]), shape_of(y_out))
                chosen.name, loss = loss, chosen  # noqa: PLW2901  # logs keep the user's name
            if _fits(y, y_pred) or sum(taking) == 1:
                layer = None if self._find_layer is None else self._find_layer(i)
                for message in output_mistakes(loss, targets[i], y_out, layer):
                    warn(message)
            weight = None if weights[i] is None else np.float32(weights[i]).item()
            rows.append((i, loss, weight, None))
        if self._track and len(rows) > 1:
            rows = [(i, o, w, Mean(name=self._tracker_name(i, o))) for i, o, w, _ in rows]
            self.trackers = [row[-1] for row in rows]
        self._rows = rows
        if len(rows) == 1 and outputs.single and rows[0][2] is None:
            self._only = rows[0][1]

    def _tracker_name(self, i, loss):
        name = self._outputs.names[i]
        name = f"{loss.name if name is None else name}_loss"
        taken = [tracker.name for tracker in self.trackers]
        return name if name not in taken else f"{name}_{i}"


class TrackedLoss:
    """A CompiledLoss whose calls also update the running mean `tracker`."""

    def __init__(self, loss, tracker):
        self._loss, self._tracker = loss, tracker

    def __call__(self, y, y_pred, sample_weight=None, regularization_losses=None):
        total = self._loss(y, y_pred, sample_weight, regularization_losses)
        self._tracker.update_state(total, sample_weight=rows_of(y_pred))
        return total

    def __getattr__(self, name):
        return getattr(self._loss, name)


def _one(sample_weight):
    """Return the sample weights of a single output, unwrapped from a list or dict."""
    return nest.flatten(sample_weight)[0] if nest.is_nested(sample_weight) else sample_weight


def _fits(y, y_pred):
    """Return whether `y` can be matched to the outputs: it is None or a nest, or there is only one
    output."""
    return y is None or nest.is_nested(y) or not nest.is_nested(y_pred) or len(y_pred) == 1


def like(loss, other):
    """Return `loss` in the dtype of `other`; a layer's dtype policy may make its loss float16."""
    dtype = other.array.dtype
    return loss if loss.array.dtype == dtype else cast(loss, dtype=dtype)


def layer_loss(loss, total=None):
    """Return a layer's loss as a scalar, summed over its elements, in the dtype of `total`."""
    if total is not None:
        loss = like(loss, total)
    rank = loss.array.ndim
    return reduce_sum(loss, axis=tuple(range(rank)), keepdims=False) if rank else loss


def plus_layer_losses(total, losses):
    """Return `total` plus the layers' losses; None if `total` is None and there are none."""
    for loss in losses:
        part = layer_loss(loss, total)
        total = part if total is None else total + part
    return total


# ---- metrics -------------------------------------------------------------------------------------


class CompiledMetrics:
    """All metrics passed to `compile`; `result` returns a dict by the names in the logs.

    Args:
        metrics: a list of names, metrics and functions; for several outputs a list of such lists,
            a dict by output, or a nest in the structure of the outputs.
        weighted_metrics: metrics in the same form, which receive the sample weights.
        layer_names: function that returns the names of the output layers, None if unknown.

    The first batch decides which metric belongs to which output, and which metric class "accuracy"
    stands for.
    """

    name = "compile_metrics"

    def __init__(self, metrics=None, weighted_metrics=None, layer_names=None):
        # restored values of the metrics' variables, kept until the first batch creates the metrics
        self._waiting = None
        self._given = (
            metrics_from(metrics, "metrics"),
            metrics_from(weighted_metrics, "weighted_metrics"),
        )
        self._layer_names = layer_names
        self.forget()

    def __bool__(self):
        return any(nest.flatten(given) for given in self._given if given is not None)

    def forget(self):
        """Forget which metrics belong to which outputs; the next batch matches them again."""
        self._outputs = None
        # pairs (output index, metric): `metrics`, and `weighted_metrics`
        self._plain, self._weighted = [], []
        self._by_name = {}

    @property
    def names(self):
        """The names of the metrics, in the order of `compile`."""
        leaves = itertools.chain.from_iterable(nest.flatten(g) for g in self._given)
        return [name if isinstance(name, str) else name_of(name) for name in leaves if name]

    @property
    def metrics(self):
        """The metrics; "accuracy" and others that the shapes decide are absent before a batch."""
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
        from framework.training.mistakes.outputs import metric_mistakes

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
                for message in metric_mistakes(wanted, targets[i]):
                    warn(message)
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

    @property
    def settled_for_loading(self):
        """Whether the first batch has matched the metrics to the outputs."""
        return self._outputs is not None

    def restore_later(self, values):
        """Assign `values` to the metrics' variables as soon as all metrics are known."""
        self._waiting = values

    def _named(self, outputs):
        """Return {name in the logs: metric}; with several outputs, their names are prefixes."""
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


def _spread(outputs, given, argument):
    """Return a list with the metrics of each output; a single output gets all metrics."""
    if given is None:
        return [None] * outputs.size
    if outputs.size > 1:
        return outputs.spread(given, argument, many=True)
    if isinstance(given, Mapping):
        given = outputs.spread(given, argument, lambda part: not isinstance(part, Mapping))[0]
    return [given]


def _for_shapes(metric, y, y_pred):
    """Return `metric`; for "accuracy" or "crossentropy", the metric that fits the shapes."""
    if not isinstance(metric, str):
        return metric
    if y is None:
        raise InvalidArgumentError(f"metrics: {metric!r} needs targets, but y is None. Pass y.")
    what = METRICS_BY_SHAPE[metric.lower()]
    shapes = shape_of(y), shape_of(y_pred)
    if what == "accuracy":
        return metrics_module.accuracy_for(*shapes)(name=metric)
    return metrics_module.get(f"{label_form(*shapes)}_{what}").__class__(name=metric)
