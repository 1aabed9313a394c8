"""The learning rate of an optimizer: a number, a schedule or a callable, and its multiplier."""

from typing import Any

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.cast import cast
from framework.core.change_counters import changes
from framework.core.configurable import serialize_value
from framework.core.errors import InvalidArgumentError
from framework.core.operand import WeakNumber
from framework.core.recorders import thread
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable, KerasVariable
from framework.optimizers.forms import Arrays, Tensors
from framework.optimizers.schedules import LearningRateSchedule, as_rate

_FLOAT = np.dtype(np.float32)


class Rates:
    """The part of an optimizer that holds its learning rate."""

    @property
    def learning_rate(self):
        """The current learning rate: a variable if it was set to a number, else a tensor.

        It can be set to a number, a schedule or a callable without arguments.
        """
        if self._framework.schedule is None:
            return self._framework.learning_rate
        return rate_now(self, None, Tensors)

    @learning_rate.setter
    def learning_rate(self, value: TensorLike):
        try:
            # Do not convert a number that a traced function computes to a Python float, which
            # would freeze it. For other and negative numbers, `as_rate` checks the rate.
            if not isinstance(value, WeakNumber) or value < 0:
                value = as_rate(value)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"learning_rate={value!r}: {error}") from None
        if self._framework.schedule is not None or callable(value):
            changes.configured += 1
        if callable(value):
            self._framework.schedule = value
            self._framework.multiplier.assign(1.0)
        else:
            self._framework.schedule = None
            self._framework.learning_rate.assign(value)

    def scale_learning_rate(self, factor: Any) -> None:
        """Multiply all learning rates, including those of groups, from the next update on.

        A number is replaced by the product; the values of a schedule or callable are multiplied.
        Callbacks that lower the rate call this method.

        Example:
            >>> from framework.optimizers import SGD
            >>> optimizer = SGD(0.5)
            >>> optimizer.scale_learning_rate(0.5)
            >>> float(optimizer.learning_rate)
            0.25
        """
        self._framework.multiplier.assign(self._framework.multiplier * float(factor))
        self._framework.learning_rate.assign(self._framework.learning_rate * float(factor))


class _CallableRate:
    """A callable as rate, recorded like a random draw: each replay of the trace calls it again."""

    __slots__ = ("source",)
    distribution, shape, a, b = "rate", (), None, None

    def __init__(self, rate):
        self.source = rate

    def __call__(self):
        value = self.source()
        return np.asarray(getattr(value, "array", value), _FLOAT)


def _recorded_rate(rate, value):
    """Return a callable's value as a tensor; a replay of the trace calls the callable again."""
    tensor = Tensor(np.asarray(value, _FLOAT))
    for recorder in thread.stack:
        recorder.random_draw(_CallableRate(rate), tensor)
    return tensor


def _in_form(form, value):
    """Return a rate in float32, as an array or a tensor according to `form`."""
    if isinstance(value, CoreVariable):
        value = form.read(value)
    if form is Arrays:
        return np.asarray(getattr(value, "array", value), _FLOAT)
    if type(value) is not Tensor:
        return Tensor(np.asarray(value, _FLOAT))
    return value if value.array.dtype == _FLOAT else cast(value, dtype=_FLOAT)


def begin_rates(optimizer):
    def number(value, name):
        return KerasVariable(np.full((), value, _FLOAT), trainable=False, name=name)

    optimizer._framework.learning_rate = number(0, "learning_rate")
    optimizer._framework.multiplier = number(1, "learning_rate_multiplier")
    # becomes a schedule or callable if the rate is not a number
    optimizer._framework.schedule = None


def rate_now(optimizer, rate, form):
    """Return the current value of a rate in float32.

    Args:
        rate: the number, schedule or callable of a group; None for the optimizer's rate.
        form: `Arrays` or `Tensors`.
    """
    if rate is None:
        if optimizer._framework.schedule is None:
            return form.read(optimizer._framework.learning_rate)
        rate = optimizer._framework.schedule
    value = rate
    if isinstance(rate, LearningRateSchedule):
        count = form.read(optimizer._framework.iterations)
        value = rate(count if form is Tensors else Tensor(count))
    elif callable(rate):
        value = rate()
        if form is Tensors and not isinstance(value, (Tensor, CoreVariable)):
            value = _recorded_rate(rate, value)
    return _in_form(form, value) * form.read(optimizer._framework.multiplier)


def serialized_rate(optimizer):
    if optimizer._framework.schedule is not None:
        return serialize_value(optimizer._framework.schedule)
    return float(optimizer._framework.learning_rate.array)
