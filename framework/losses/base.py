"""The base class of losses: dtype, masks, sample weights and reduction."""

import math
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from framework.core import nest
from framework.core.argument_types import TensorLike
from framework.core.auto_names import auto_name
from framework.core.axes import all_axes
from framework.core.configurable import Resolved, Watched, one_of, serialize_value
from framework.core.conversion import tensor
from framework.core.dtypes import as_dtype, floatx
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.formula import F, follow, public
from framework.core.registry import Registry, snake_case
from framework.core.shared_fields import ComputeDtype, Name
from framework.core.tensor import Tensor
from framework.ops.elementwise import divide_no_nan
from framework.ops.losses import as_tensor, floating, floats, label_form, same_rank, shape_of
from framework.ops.reduction import reduce_mean, reduce_sum

losses = Registry("loss", package="framework.losses")

_one_reduction = one_of(
    "sum_over_batch_size", "sum", "mean", "mean_with_sample_weight", "none", None
)  # fmt: skip


def _reduction(value):
    return _one_reduction.resolve("sum_over_batch_size" if value == "auto" else value)


ReductionField = Annotated[str | None, Resolved(_one_reduction.name, _reduction)]


class Reduction:
    """The names of reductions as attributes, for older Keras code: `losses.Reduction.SUM`.

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
        """Return the names of the reductions."""
        return cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE

    @classmethod
    def validate(cls, key: TensorLike):
        """Raise a ValueError unless `key` is the name of a reduction."""
        if key not in cls.all():
            raise InvalidArgumentError(
                f"Invalid Reduction Key: {key!r}. Expected keys are {cls.all()!r}."
            )


class Loss(Watched, kw_only=True, base_by_position=True, casts_labels=True):
    """The base class of losses.

    Subclasses define `call(y_true, y_pred)`, which returns one value per sample. The base class
    applies masks, sample weights and the reduction.

    Args:
        name: a string; derived from the class name if None.
        reduction: "sum"; "sum_over_batch_size" or "mean": the sum divided by the number of values;
            "mean_with_sample_weight": the sum divided by the sum of the weights; "none" or None.
        dtype: the dtype or dtype policy of the computation; floatx if None.

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

    def call(self, y_true: TensorLike, y_pred: TensorLike) -> Any:
        """Return the loss of each sample, not reduced."""
        raise NotImplementedError(f"{type(self).__name__} must define call(y_true, y_pred).")

    def __call__(self, y_true: TensorLike, y_pred: TensorLike, sample_weight: Any = None) -> Any:
        """Return the reduced loss.

        Args:
            y_true: the labels. If they are a dict, or a list of arrays with different shapes,
                `call` gets the dict or list with each array as a tensor; `y_pred` likewise.
            y_pred: the predictions; their Keras mask is used as weights of 0 and 1.
            sample_weight: weights that broadcast to the values of `call`.
        """
        mask = getattr(y_pred, "_keras_mask", None)
        # a subclass that does not call super().__init__() has no dtype
        dtype = self.dtype or as_dtype(floatx())
        label_dtype = dtype if type(self)._framework.casts_labels else None
        if type(y_pred) is Tensor and type(y_true) is Tensor:
            y_pred = as_tensor(y_pred, dtype)
            y_true = y_true if label_dtype is None else as_tensor(y_true, dtype)
        else:
            several = _is_nest(y_true) or _is_nest(y_pred)
            y_pred = _operand(y_pred, dtype, several)
            y_true = _operand(y_true, label_dtype, several)
        values = self.call(y_true, y_pred)
        value_mask = getattr(values, "_keras_mask", None)
        values = as_tensor(values, dtype)
        if value_mask is not None:
            mask = value_mask if mask is None else tensor(mask) & value_mask
        weights = None
        if sample_weight is not None or mask is not None:
            weights = _weights(sample_weight, mask, self.reduction, dtype)
            values, weights = _matched(values, weights, self.name)
            values = values * weights
        return _reduced(values, weights, self.reduction)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments; `dtype` only if it is not floatx."""
        config = super().get_config()
        if config.get("dtype") == floatx():
            del config["dtype"]
        return config

    def __repr__(self):
        return f"<{type(self).__name__} name={self.name}>"


def _is_nest(value):
    """Return whether `value` is a list of dicts or of arrays with different shapes."""
    if not isinstance(value, (list, tuple)) or not value:
        return False
    first = value[0]
    if not hasattr(first, "shape"):
        return isinstance(first, Mapping) or _is_nest(first)
    return len({getattr(part, "shape", ()) for part in value}) > 1


def _operand(value, dtype, several):
    """Return labels or predictions as a tensor of `dtype`; `dtype=None` keeps their dtype.

    A dict becomes a dict of tensors; with `several`, a list becomes a list of tensors.
    """
    if isinstance(value, Mapping):
        return {key: _operand(part, dtype, _is_nest(part)) for key, part in value.items()}
    if several and isinstance(value, (list, tuple)):
        return [_operand(part, dtype, _is_nest(part)) for part in value]
    return tensor(value) if dtype is None else as_tensor(value, dtype)


def _weights(sample_weight, mask, reduction, dtype):
    """Return sample weights times mask, scaled so that means are over unmasked elements only."""
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


def _matched(values, weights, name):
    """Return values and weights with equal ranks; raise ShapeError if they do not broadcast."""
    s, t = shape_of(values), shape_of(weights)
    if s == t:
        return values, weights
    values, weights = same_rank(values, weights)
    if weights.ndim and values.ndim and not _broadcasts(shape_of(weights), shape_of(values)):
        raise ShapeError(
            f"{name}: sample_weight of shape {t} does not fit the values of shape {s}. Pass one "
            "weight per value, or a size of 1 along axes that share a weight: "
            f"{(s[0],) + (1,) * (len(s) - 1)} for one weight per sample."
        )
    return values, weights


def _broadcasts(weights, values):
    """Return whether the shape `weights` can broadcast to the shape `values`."""
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
    """A loss from a function `fn(y_true, y_pred, **kwargs)` that returns one value per sample.

    Args:
        fn: the function.
        reduction, name, dtype: as in `Loss`.
        **kwargs: passed to `fn`.

    Example:
        >>> distance = LossFunctionWrapper(lambda y_true, y_pred: abs(y_true - y_pred))
        >>> distance([0.0, 0.0], [1.0, 2.0]).numpy()
        np.float32(1.5)
    """

    def __init__(self, fn, reduction="sum_over_batch_size", name=None, dtype=None, **kwargs):
        if not callable(fn):
            raise InvalidArgumentError(
                f"LossFunctionWrapper: fn: expected a function fn(y_true, y_pred), got {fn!r}."
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


# ---- built-in losses -----------------------------------------------------------------------------


def formula(*aliases, casts_labels=True) -> Callable[[F], F]:
    """Return a decorator: it makes a registered public loss function from a formula per sample.

    The formula gets tensors of one floating dtype, that of `y_pred`. Its parameters after `y_true`
    and `y_pred` become the fields of a loss class with this formula.

    Args:
        aliases: more names of the function.
        casts_labels: whether labels are cast too, rather than passed in their own dtype.
    """

    def operands(y_true, y_pred):
        if casts_labels:
            return floats(tensor(y_true), tensor(y_pred))
        return tensor(y_true), floating(tensor(y_pred))

    def decorate(compute) -> Any:
        function = losses.add(*aliases)(public(operands, aliases=aliases)(compute))
        function.casts_labels = casts_labels
        return function

    return decorate


class FormulaLoss(Loss, kw_only=True, group=True):
    """Base of losses whose formula is a function: `class Huber(FormulaLoss, formula=huber)`."""

    reduction: ReductionField = "sum_over_batch_size"
    name: Name = None
    dtype: ComputeDtype = None

    def __init_subclass__(cls, formula=None, **settings):
        super().__init_subclass__(**settings)
        if formula is not None:
            follow(cls, formula, "call", losses, Loss)
            cls._framework.casts_labels = formula.casts_labels


def get(identifier: Any) -> Any:
    """Return the loss for a name or a config; "mse" gives a function, "MeanSquaredError" an object.

    Raises:
        ValueError: the name is unknown; the message suggests similar names.
    """
    return losses.get(identifier)


def as_loss(identifier, y_true_shape=None, y_pred_shape=None):
    """Return a `Loss` for any value that `compile(loss=...)` accepts.

    Args:
        identifier: a loss, a function of (y_true, y_pred), a name or a config; None stays None.
        y_true_shape, y_pred_shape: shapes that choose one of three cross-entropies for
            "crossentropy" and "ce".
    """
    if isinstance(identifier, str):
        if identifier.lower() in ("crossentropy", "ce"):
            identifier = f"{label_form(y_true_shape, y_pred_shape)}_crossentropy"
        # a name such as "mse" stands for a function, whose class is looked up below
        named = losses.lookup(identifier)
        identifier = losses.classes.get(snake_case(named.__name__), named)
    loss = losses.get(identifier)
    if loss is None or isinstance(loss, Loss):
        return loss
    return LossFunctionWrapper(loss, name=getattr(loss, "__name__", None))


def serialize(loss: Any) -> Any:
    """Return the config from which `deserialize` creates an equal loss, or a function's name."""
    return serialize_value(loss)


def deserialize(name: Any, custom_objects: Any = None) -> Any:
    """Return a loss for the config or name that `serialize` returned."""
    return losses.deserialize(name, custom_objects)
