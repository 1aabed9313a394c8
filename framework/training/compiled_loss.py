"""CompiledLoss: the losses and weights passed to `compile`, as one function of a batch."""

from collections.abc import Mapping

import numpy as np

from framework import losses as losses_module
from framework.core import nest
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.errors import FrameworkError, InvalidArgumentError
from framework.core.tensor import Tensor
from framework.losses.classification import SparseCategoricalCrossentropy
from framework.metrics import Mean
from framework.ops.elementwise import logical_and, not_equal
from framework.ops.losses import shape_of
from framework.ops.movement import reshape
from framework.ops.reduction import reduce_sum
from framework.training.inputs import plus_layer_losses, rows_of
from framework.training.matching import Outputs, name_of
from framework.training.usage_warnings import check_logits

_FLOAT64 = np.dtype(np.float64)
_BY_SHAPE = ("crossentropy", "ce")


class CompiledLoss:
    """The weighted sum of the losses of all outputs.

    Args:
        loss: a name, a Loss or a function `loss(y_true, y_pred)` (for every output), or a list,
            dict or nest of them, with None for an output without loss.
        loss_weights: factors of the losses, in the same forms.
        layer_names: function that returns the names of the output layers, None if unknown.
        track: keep a running mean of each output's loss, if there are several.
        find_layer: function from an output's index to its layer, for warnings.

    Losses are matched to outputs at the first batch.
    """

    def __init__(
        self, loss, loss_weights=None, layer_names=None, track=False, find_layer=None,
    ):  # fmt: skip
        self.losses = _resolved(loss)
        self.loss_weights = _checked_weights(loss_weights)
        self._layer_names, self._track, self._find_layer = layer_names, track, find_layer
        self.forget()

    def forget(self):
        """Match losses to outputs again at the next batch."""
        self._rows = None  # (output index, loss, weight, tracker) of each loss
        self._only = None  # the loss, if there is one output and no loss weight
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
        """Return [(kind, weight, loss)] of one batch: how its losses add up to a larger batch's.

        A larger batch's loss is the sum of weight * loss over its parts; if kind is not "sum",
        that sum is divided by the sum of the weights.
        """
        return [
            (*_weight_of(loss, i, y_true, y_out, weights), part)
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
        targets = spread(y, "y", filled=taking) if _fits(y, y_pred) else None
        if targets is None:
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
        self._outputs = outputs = Outputs(y_pred, self._layer_names and self._layer_names())
        losses = outputs.spread(self.losses, "loss", _is_loss)
        weights = outputs.spread(self.loss_weights, "loss_weights")
        taking = [loss is not None for loss in losses]
        targets = outputs.spread(y, "y", filled=taking)
        rows = []
        flat = nest.flatten(y_pred)
        for i, (loss, y_out) in enumerate(zip(losses, flat, strict=True)):
            if loss is None:
                continue
            if isinstance(loss, str):
                chosen = losses_module.as_loss(loss, shape_of(targets[i]), shape_of(y_out))
                chosen.name, loss = loss, chosen  # noqa: PLW2901  # logs keep the user's name
            check_logits(loss, y_out, None if self._find_layer is None else self._find_layer(i))
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
    """Return whether `y` is None or a nest, or there is only one output."""
    return y is None or nest.is_nested(y) or not nest.is_nested(y_pred) or len(y_pred) == 1


def _is_loss(given):
    """Return whether `given` is one loss, not a nest of losses."""
    return not isinstance(given, (list, tuple)) and (
        not isinstance(given, Mapping) or "class_name" in given
    )


def _resolved(loss):
    """Return the nest with names, functions and configs replaced by losses."""
    if loss is None:
        return None
    if _is_loss(loss):
        if isinstance(loss, str) and loss.lower() in _BY_SHAPE:
            return loss
        try:
            return _named(losses_module.as_loss(loss), loss)
        except FrameworkError as error:
            raise type(error)(f"loss: {error}") from None
    if isinstance(loss, Mapping):
        return {key: _resolved(part) for key, part in loss.items()}
    return [_resolved(part) for part in loss]


def _named(loss, given):
    """Return `loss`; one built from a function or its name gets the name that the user wrote."""
    resolved = losses_module.get(given)
    if not isinstance(resolved, losses_module.Loss):
        loss.name = given if isinstance(given, str) else name_of(resolved)
    return loss


def _checked_weights(loss_weights):
    for weight in nest.flatten(loss_weights):
        if weight is not None and (
            isinstance(weight, (str, bool)) or not hasattr(weight, "__float__")
        ):
            raise InvalidArgumentError(
                f"loss_weights: expected a number, or a list or dict of numbers, got {weight!r}."
            )
    return loss_weights


def _weight_of(loss, i, y_true, y_pred, sample_weight):
    """Return (kind, weight) of one output's loss on a batch; see `CompiledLoss.parts`."""
    reduction = loss.reduction
    if reduction in ("sum", "none", None):
        return "sum", 1.0
    rows = float(shape_of(y_pred)[0])
    mask = getattr(y_pred, "_keras_mask", None)
    ignored = loss.ignore_class if isinstance(loss, SparseCategoricalCrossentropy) else None
    if ignored is not None:
        kept = not_equal(y_true, ignored)
        mask = kept if mask is None else logical_and(kept, reshape(mask, shape=kept.shape))
    if mask is None and sample_weight is None:
        return "rows", rows
    if reduction == "mean_with_sample_weight":
        weights = Tensor(np.ones((), np.float64))
        if sample_weight is not None:
            weights = cast(tensor(sample_weight), dtype=_FLOAT64)
        if mask is None:
            return ("weights", i), _sum(weights)
        mask = cast(mask, dtype=_FLOAT64)
        extra = max(mask.ndim - weights.ndim, 0)
        weights = reshape(weights, shape=(*weights.shape, *(1,) * extra))
        return ("weights", i), _sum(mask * weights)
    if mask is None:
        return "rows", rows
    return ("unmasked", i), _sum(cast(mask, dtype=_FLOAT64))


def _sum(x):
    return reduce_sum(x, axis=tuple(range(x.ndim)), keepdims=False)
