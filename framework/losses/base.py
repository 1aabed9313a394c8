"""What all losses share: dtype, masks, sample weights and reduction."""

import math
from collections.abc import Mapping

from framework.core import nest
from framework.core.axes import all_axes
from framework.core.configurable import Resolved, Watched, one_of, serialize_value
from framework.core.doors import tensor
from framework.core.dtypes import as_dtype, floatx
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.fields import ComputeDtype, Name
from framework.core.naming import auto_name
from framework.core.registry import Registry, snake_case
from framework.core.tensor import Tensor
from framework.ops.elementwise import divide_no_nan
from framework.ops.losses import as_tensor, floats, label_form, same_rank, shape_of
from framework.ops.reduction import reduce_mean, reduce_sum

losses = Registry("loss")

_one_reduction = one_of(
    "sum_over_batch_size", "sum", "mean", "mean_with_sample_weight", "none", None
)  # fmt: skip


def _reduction(value):
    return _one_reduction.resolve("sum_over_batch_size" if value == "auto" else value)


ReductionField = Resolved(_one_reduction.name, _reduction)


class Reduction:
    """The names of reductions, as older Keras code spells them: `losses.Reduction.SUM`.

    >>> from framework.keras import losses
    >>> losses.MeanSquaredError(losses.Reduction.SUM)([0.0, 0.0], [1.0, 2.0]).numpy()
    np.float32(2.5)
    """

    AUTO = "auto"
    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"

    @classmethod
    def all(cls):
        """The four of them."""
        return cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE

    @classmethod
    def validate(cls, key):
        """Raise a ValueError unless `key` is one of them."""
        if key not in cls.all():
            raise InvalidArgumentError(
                f"Invalid Reduction Key: {key!r}. Expected keys are {cls.all()!r}."
            )


class Loss(Watched, base_fields=True, base_by_position=True, casts_labels=True):
    """Base of losses: what is written in `call` is masked, weighted and reduced here.

    Subclasses define `call(y_true, y_pred)`, which gives one value per sample.

    Args:
        name: a string, made from the class's name where None.
        reduction: "sum"; "sum_over_batch_size" or "mean", the sum over the number of values;
            "mean_with_sample_weight", the sum over the sum of the weights; "none" or None.
        dtype: what the loss is computed in: a dtype or a policy; floatx where None.

    Example:
        >>> from framework.losses import Loss
        >>> class FourthPower(Loss):
        ...     def call(self, y_true, y_pred):
        ...         return (y_true - y_pred) ** 4
        >>> FourthPower()([0.0, 0.0], [1.0, 2.0]).numpy()
        np.float32(8.5)
    """

    name: Name = None
    reduction: ReductionField = "sum_over_batch_size"
    dtype: ComputeDtype = None

    def __post_init__(self):
        if self.name is None:
            self.name = auto_name(type(self).__name__)

    def call(self, y_true, y_pred):
        """The loss of each sample, not reduced."""
        raise NotImplementedError(f"{type(self).__name__} must define call(y_true, y_pred).")

    def __call__(self, y_true, y_pred, sample_weight=None):
        """The reduced loss.

        Args:
            y_true: the labels. Of a dict, or a list of arrays whose shapes differ, every one
                becomes a tensor, and `call` gets them as they stand; `y_pred` likewise.
            y_pred: the predictions; a mask that they carry counts as weights of 0 and 1.
            sample_weight: one weight per value of `call`, or fewer that broadcast to them.
        """
        mask = getattr(y_pred, "_keras_mask", None)
        dtype = self.dtype or as_dtype(floatx())  # a subclass may have left out super().__init__()
        of_labels = dtype if type(self)._framework.casts_labels else None
        if type(y_pred) is Tensor and type(y_true) is Tensor:
            y_pred = as_tensor(y_pred, dtype)
            y_true = y_true if of_labels is None else as_tensor(y_true, dtype)
        else:
            several = _is_several(y_true) or _is_several(y_pred)
            y_pred = _operand(y_pred, dtype, several)
            y_true = _operand(y_true, of_labels, several)
        values = self.call(y_true, y_pred)
        made = getattr(values, "_keras_mask", None)
        values = as_tensor(values, dtype)
        if made is not None:
            mask = made if mask is None else tensor(mask) & made
        weights = None
        if sample_weight is not None or mask is not None:
            weights = _weights(sample_weight, mask, self.reduction, dtype)
            values, weights = _matched(values, weights, self.name)
            values = values * weights
        return _reduced(values, weights, self.reduction)

    def get_config(self):
        """The constructor's arguments; `dtype` only where it is not floatx."""
        config = super().get_config()
        if config.get("dtype") == floatx():
            del config["dtype"]
        return config

    def __repr__(self):
        return f"<{type(self).__name__} name={self.name}>"


def _is_several(value):
    """Whether it is a list of what no single tensor could hold: shapes that differ, or dicts."""
    if not isinstance(value, (list, tuple)) or not value:
        return False
    first = value[0]
    if not hasattr(first, "shape"):
        return isinstance(first, Mapping) or _is_several(first)
    return len({getattr(part, "shape", ()) for part in value}) > 1


def _operand(value, dtype, several):
    """Labels or predictions as a tensor, in their own dtype where None.

    Dicts stay such, of tensors; lists do where they hold several.
    """
    if isinstance(value, Mapping):
        return {key: _operand(part, dtype, _is_several(part)) for key, part in value.items()}
    if several and isinstance(value, (list, tuple)):
        return [_operand(part, dtype, _is_several(part)) for part in value]
    return tensor(value) if dtype is None else as_tensor(value, dtype)


def _weights(sample_weight, mask, reduction, dtype):
    """Sample weights and mask in one. In a mean those that count share the weight of the masked."""
    if sample_weight is not None:
        sample_weight = as_tensor(sample_weight, dtype)
    if mask is None:
        return sample_weight
    weights = as_tensor(mask, dtype)
    if reduction in ("mean", "sum_over_batch_size"):
        axes = all_axes(None, len(weights.shape), "mask")
        counting = reduce_sum(weights, axis=axes, keepdims=False)
        size = float(math.prod(n or 1 for n in weights.shape))
        weights = weights * divide_no_nan(size, counting)
    if sample_weight is None:
        return weights
    weights, sample_weight = _matched(weights, sample_weight, "mask")
    return sample_weight * weights


def _matched(values, weights, what):
    """Values and weights of one rank; ShapeError where they do not fit."""
    s, t = shape_of(values), shape_of(weights)
    if s == t:
        return values, weights
    values, weights = same_rank(values, weights)
    if weights.ndim and values.ndim and not _weigh(shape_of(weights), shape_of(values)):
        raise ShapeError(
            f"{what}: sample_weight of shape {t} does not fit the values of shape {s}. Give one "
            "weight per value, or a size of 1 where they share one: "
            f"{(s[0],) + (1,) * (len(s) - 1)} for one weight per sample."
        )
    return values, weights


def _weigh(weights, values):
    """Whether weights of this shape broadcast to values of that; unknown sizes may."""
    return len(weights) == len(values) and all(
        n in (m, 1) or n is None or m is None for n, m in zip(weights, values, strict=True)
    )


def _reduced(values, weights, reduction):
    shape = shape_of(values)
    if not shape or reduction is None or reduction == "none" or shape == (0,):
        return values
    axes = all_axes(None, len(shape), "loss")
    if reduction == "sum" or 0 in shape:
        return reduce_sum(values, axis=axes, keepdims=False)
    if reduction == "mean_with_sample_weight" and weights is not None:
        total = reduce_sum(values, axis=axes, keepdims=False)
        weight_axes = all_axes(None, len(weights.shape), "sample_weight")
        return divide_no_nan(total, reduce_sum(weights, axis=weight_axes, keepdims=False))
    return reduce_mean(values, axis=axes, keepdims=False)


class LossFunctionWrapper(Loss):
    """A function `fn(y_true, y_pred, **kwargs)`, one value per sample, as a loss.

    Args:
        fn: the function.
        reduction, name, dtype: as of every loss.
        **kwargs: handed on to `fn`.

    Example:
        >>> distance = LossFunctionWrapper(lambda y_true, y_pred: abs(y_true - y_pred))
        >>> distance([0.0, 0.0], [1.0, 2.0]).numpy()
        np.float32(1.5)
    """

    def __init__(self, fn, reduction="sum_over_batch_size", name=None, dtype=None, **kwargs):
        if not callable(fn):
            raise InvalidArgumentError(
                f"LossFunctionWrapper: argument fn={fn!r}: expected a function fn(y_true, y_pred)."
            )
        super().__init__(name=name, reduction=reduction, dtype=dtype)
        self.fn = fn
        self._fn_kwargs = kwargs

    def call(self, y_true, y_pred):
        return self.fn(*_same_ranks(y_true, y_pred), **self._fn_kwargs)

    def get_config(self):
        fn = serialize_value(self.fn)
        return {**super().get_config(), "fn": fn, **serialize_value(self._fn_kwargs)}

    @classmethod
    def from_config(cls, config):
        return cls(**{**config, "fn": losses.get(config["fn"])})


def _same_ranks(y_true, y_pred):
    if type(y_pred) is Tensor or not nest.is_nested(y_pred):
        return same_rank(y_true, y_pred)
    return (
        nest.map_structure(lambda a, b: same_rank(a, b)[0], y_true, y_pred),
        nest.map_structure(lambda a, b: same_rank(a, b)[1], y_true, y_pred),
    )


def operands(y_true, y_pred):
    """Anything as two tensors of one floating dtype, `y_pred`'s: the door of the loss functions."""
    return floats(tensor(y_true), tensor(y_pred))


def get(identifier):
    """The loss for a name ("mse" is a function, "MeanSquaredError" an object) or a config.

    Raises:
        ValueError: for an unknown name, suggesting the nearest.
    """
    return losses.get(identifier)


def as_loss(identifier, y_true_shape=None, y_pred_shape=None):
    """A `Loss` for anything that `compile(loss=...)` takes: names and functions are made into one.

    Args:
        identifier: a loss, a function of (y_true, y_pred), a name or a config; None stays None.
        y_true_shape, y_pred_shape: for "crossentropy" and "ce", which mean one of three by them.
    """
    if isinstance(identifier, str):
        if identifier.lower() in ("crossentropy", "ce"):
            identifier = f"{label_form(y_true_shape, y_pred_shape)}_crossentropy"
        named = losses.lookup(identifier)  # a class, or a function of a class's name
        identifier = losses.classes.get(snake_case(named.__name__), named)
    found = losses.get(identifier)
    if found is None or isinstance(found, Loss):
        return found
    return LossFunctionWrapper(found, name=getattr(found, "__name__", None))


def serialize(loss):
    """The config from which `deserialize` makes an equal loss; a function's name."""
    return serialize_value(loss)


def deserialize(name, custom_objects=None):
    """The loss that `serialize` described."""
    return losses.deserialize(name, custom_objects)
