"""Sum, Mean, and means of a function of labels and predictions."""

from functools import partial
from typing import Any

import numpy as np

from framework.core.argument_types import DTypeLike, TensorLike
from framework.core.configs import deserialize, serialize_value
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.formula import follow
from framework.core.internal_state import builtin
from framework.core.recorders import pause_all
from framework.core.shared_fields import ComputeDtype, Name
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Tensor
from framework.metrics.base import Metric, metrics, on_tensors, operand
from framework.ops.elementwise import divide_no_nan
from framework.ops.losses import floats, same_rank, shape_of
from framework.ops.movement import broadcast_to
from framework.ops.reduction import reduce_mean, reduce_sum


def _over(reduce, x, first):
    """Reduce the axes of `x` from axis `first` on by `reduce`."""
    return reduce(x, axis=tuple(range(first, x.ndim)), keepdims=False) if x.ndim > first else x


def _samplewise(values, weights, reduce, name):
    """Return one weighted value and one weight (or None) per sample, reducing trailing axes."""
    if weights is None:
        return _over(reduce, values, 1), None
    given = shape_of(values)
    values, weights = same_rank(values, weights)
    rank = weights.ndim
    values = _over(reduce, values, rank)
    try:
        # equal shapes need no broadcast, which would fail for unknown sizes
        if shape_of(weights) != shape_of(values):
            weights = broadcast_to(weights, shape=shape_of(values))
    except ValueError:
        raise ShapeError(
            f"{name}: sample_weight of shape {shape_of(weights)} does not fit values of shape "
            f"{given}: pass one weight per sample or one per value."
        ) from None
    return _over(reduce, values * weights, 1), _over(reduce, weights, 1) if rank > 1 else weights


def _total(x):
    return _over(reduce_sum, x, 0)


@metrics.add()
class Sum(Metric):
    """The sum of the values, optionally weighted.

    Args:
        name, dtype: as in `Metric`.

    Example:
        >>> metric = Sum()
        >>> metric.update_state([1.0, 3.0, 5.0])
        >>> metric.result().numpy()
        np.float32(9.0)
    """

    name: Name = "sum"
    dtype: ComputeDtype = None

    def __post_init__(self):
        super().__post_init__()
        self.total = self.add_variable((), "zeros", self.dtype, name="total")

    def update_state(self, values: TensorLike, sample_weight: Any = None) -> None:
        """Add `values` times their weights to the sum."""
        tensors, dtype = on_tensors(), self.dtype
        values = operand(values, dtype, tensors)
        if sample_weight is not None:
            sample_weight = operand(sample_weight, dtype, tensors)
        values, _ = _samplewise(values, sample_weight, reduce_sum, self.name)
        self.total.assign_add(_total(values))

    def result(self) -> Any:
        """Return the sum so far."""
        return self.total.read()


@metrics.add()
class Mean(Metric):
    """The mean of the values, optionally weighted.

    Args:
        name, dtype: as in `Metric`.

    Example:
        >>> metric = Mean()
        >>> metric.update_state([1.0, 3.0])
        >>> metric.update_state([5.0, 9.0], sample_weight=[1.0, 0.0])
        >>> metric.result().numpy()
        np.float32(3.0)
    """

    name: Name = "mean"
    dtype: ComputeDtype = None

    def __post_init__(self):
        super().__post_init__()
        self.total = self.add_variable((), "zeros", self.dtype, name="total")
        self.count = self.add_variable((), "zeros", self.dtype, name="count")

    def update_state(self, values: TensorLike, sample_weight: Any = None) -> None:
        """Update the mean with `values` and their weights."""
        accumulate(self, values, sample_weight, None, on_tensors())

    def result(self) -> Any:
        """Return the mean so far, 0 without values."""
        return divide_no_nan(self.total.read(), self.count.read())


def call_on_tensors(function, y_true, y_pred):
    """Return `function(y_true, y_pred)` called on tensors even if the operands are arrays.

    A user-defined function needs tensors, and so does a function whose result carries a mask.
    Arrays as operands mean that no trace is recording, so recorders are paused during the call.
    """
    if not isinstance(y_pred, np.ndarray):
        return function(y_true, y_pred)
    with pause_all():
        return function(Tensor(y_true), Tensor(y_pred))


class MeanOfFunction(Mean, computed="values"):
    """The mean of `values(y_true, y_pred)`, which subclasses define for arrays and tensors.

    A built-in class may name a formula instead: `class Accuracy(..., formula=accuracy)`.
    """

    def __init_subclass__(cls, formula=None, **settings):
        super().__init_subclass__(**settings)
        if formula is not None:
            follow(cls, formula, cls._framework.computed, metrics, Metric)

    def values(self, y_true: TensorLike, y_pred: TensorLike):
        """Return one value per sample."""
        raise NotImplementedError(f"{type(self).__name__} must define values(y_true, y_pred).")

    def update_state(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: Any = None,
    ) -> None:  # fmt: skip
        """Update the state with one batch.

        Args:
            y_true: the labels.
            y_pred: the predictions; their Keras mask is used as weights of 0 and 1.
            sample_weight: one weight per sample or one per value.
        """
        tensors = on_tensors()
        mask = getattr(y_pred, "_keras_mask", None)
        y_true, y_pred = operand(y_true, None, tensors), operand(y_pred, None, tensors)
        accumulate(self, builtin(self).values(self, y_true, y_pred), sample_weight, mask, tensors)


class MeanOfLoss(MeanOfFunction, computed="loss", direction="down"):
    """The mean of `loss(y_true, y_pred)`; both operands have the same floating dtype."""

    def loss(self, y_true: TensorLike, y_pred: TensorLike):
        """Return one value per sample."""
        raise NotImplementedError(f"{type(self).__name__} must define loss(y_true, y_pred).")

    def values(self, y_true: TensorLike, y_pred: TensorLike):
        return builtin(self).loss(self, *floats(y_true, y_pred))


@metrics.add()
class MeanMetricWrapper(MeanOfFunction):
    """The mean of the values, one per sample, of a function `fn(y_true, y_pred, **kwargs)`.

    Args:
        fn: the function.
        name, dtype: as in `Metric`.
        **kwargs: passed to `fn`.

    Example:
        >>> metric = MeanMetricWrapper(lambda y_true, y_pred: abs(y_true - y_pred), name="distance")
        >>> metric.update_state([0.0, 0.0], [1.0, 2.0])
        >>> metric.result().numpy()
        np.float32(1.5)
    """

    def __init__(self, fn: Any, name: str | None = None, dtype: DTypeLike = None, **kwargs: Any):
        if not callable(fn):
            raise InvalidArgumentError(
                f"MeanMetricWrapper: fn: expected a function fn(y_true, y_pred), got {fn!r}."
            )
        super().__init__(name=name, dtype=dtype)
        self._fn, self._fn_kwargs = fn, kwargs

    def values(self, y_true: TensorLike, y_pred: TensorLike):
        return call_on_tensors(partial(self._fn, **self._fn_kwargs), y_true, y_pred)

    def get_config(self) -> dict[str, Any]:
        fn = serialize_value(self._fn)
        if isinstance(fn, str):  # Keras's config of a built-in function has this longer form
            fn = {
                "module": "builtins", "class_name": "function", "config": fn,
                "registered_name": "function",
            }  # fmt: skip
        return {**super().get_config(), "fn": fn, **serialize_value(self._fn_kwargs)}

    @classmethod
    def from_config(cls, config: Any):
        fn = config.get("fn")
        if isinstance(fn, str):
            fn = {"class_name": "function", "config": fn}
        return cls(**{**config, "fn": deserialize(fn) if isinstance(fn, dict) else fn})


def accumulate(mean, values, sample_weight, mask, tensors):
    dtype = mean.dtype
    value_mask = getattr(values, "_keras_mask", None)
    values = operand(values, dtype, tensors)
    weights = None if sample_weight is None else operand(sample_weight, dtype, tensors)
    weights = _masked(mean, weights, mask, tensors)
    if weights is not None:  # Keras, too, applies the loss's mask only if there are weights
        weights = _masked(mean, weights, value_mask, tensors)
    values, weights = _samplewise(values, weights, reduce_mean, mean.name)
    if weights is None:
        count = float((shape_of(values)[0] or 0) if values.ndim else 1)
    else:
        count = _total(weights)
    if not isinstance(values, KerasTensor):
        mean.total.assign_add(_total(values))
        mean.count.assign_add(count)


def _masked(mean, weights, mask, tensors):
    if mask is None:
        return weights
    mask = operand(mask, mean.dtype, tensors)
    if weights is None:
        return mask
    mask, weights = same_rank(mask, weights)
    return weights * mask
