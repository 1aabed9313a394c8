"""Learning rates that change with the number of updates."""

import math
from typing import Annotated

import numpy as np

from framework.core.cast import cast
from framework.core.configurable import Resolved, Watched, own_init, serialize_value
from framework.core.errors import InvalidArgumentError
from framework.core.internal_state import builtin
from framework.core.registry import Registry
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable
from framework.ops import elementwise
from framework.ops.elementwise import ceil, cos, floor, log, maximum, minimum, select

schedules = Registry("learning rate schedule")
get = schedules.get


def serialize(learning_rate_schedule):
    """Return the config from which `deserialize` creates an equal schedule."""
    return serialize_value(learning_rate_schedule)


def deserialize(config, custom_objects=None):
    """Return a schedule for the config that `serialize` returned.

    Args:
        config: the dict that `serialize` returned.
        custom_objects: a dict from names to user-defined classes.
    """
    return schedules.deserialize(config, custom_objects)


class LearningRateSchedule(Watched):
    """The base class of schedules.

    A subclass defines `__call__(self, step)`, which returns the rate at a step.

    `step` is the number of updates so far, a tensor or a number. A schedule written in ops can be
    compiled into the training step.

    Example:
        >>> import framework as tf
        >>> class Warmup(LearningRateSchedule):
        ...     def __init__(self, rate, steps):
        ...         self.rate, self.steps = rate, steps
        ...     def __call__(self, step):
        ...         return self.rate * tf.minimum(tf.cast(step, tf.float32) / self.steps, 1.0)
        >>> float(Warmup(0.1, 10)(5))
        0.05000000074505806
    """

    def __call__(self, step):
        raise NotImplementedError(f"{type(self).__name__} must define __call__(self, step).")

    def get_config(self):
        if own_init(type(self)):
            raise NotImplementedError(
                f"{type(self).__name__} must define get_config() to be saved, because it defines "
                "__init__()."
            )
        return super().get_config()


class _BuiltInSchedule(LearningRateSchedule):
    """The base class of built-in schedules, which define `rate(step)` of a float32 step."""

    def __call__(self, step):
        if isinstance(step, CoreVariable):
            step = step.read()
        elif type(step) is not Tensor:
            step = Tensor(np.asarray(getattr(step, "array", step)))
        return builtin(self).rate(self, cast(step, dtype=_FLOAT))

    def rate(self, step):
        """Return the rate at a step."""
        raise NotImplementedError(type(self).__name__)


def _positive(schedule, field):
    if not getattr(schedule, field) > 0:
        raise InvalidArgumentError(
            f"{type(schedule).__name__}: expected {field} > 0, got {getattr(schedule, field)}."
        )


_FLOAT = np.dtype(np.float32)


def _steps(value):
    if isinstance(value, (str, bytes, bool)) or not hasattr(value, "__float__"):
        raise InvalidArgumentError(f"expected a number, got {type(value).__name__}")
    number = float(value)
    return int(number) if number.is_integer() else number


Steps = Annotated[float, Resolved("a number of steps, whole or not", _steps)]


@schedules.add()
class ExponentialDecay(_BuiltInSchedule):
    """`initial_learning_rate * decay_rate ** (step / decay_steps)`.

    Args:
        initial_learning_rate: the rate at step 0.
        decay_steps: the number of steps in which the rate is multiplied by `decay_rate` once.
        decay_rate: the factor.
        staircase: change the rate only at multiples of `decay_steps`.
        name: a string.

    Example:
        >>> float(ExponentialDecay(1.0, decay_steps=10, decay_rate=0.25)(5))
        0.5
    """

    initial_learning_rate: float
    decay_steps: Steps
    decay_rate: float
    staircase: bool = False
    name: str = "ExponentialDecay"

    def __post_init__(self):
        _positive(self, "decay_steps")

    def rate(self, step):
        periods = step / self.decay_steps
        if self.staircase:
            periods = floor(periods)
        return elementwise.power(self.decay_rate, periods) * self.initial_learning_rate


@schedules.add()
class InverseTimeDecay(_BuiltInSchedule):
    """`initial_learning_rate / (1 + decay_rate * step / decay_steps)`.

    Args:
        initial_learning_rate: the rate at step 0.
        decay_steps: the number of steps that count as one unit of time.
        decay_rate: the factor by which the time is multiplied.
        staircase: change the rate only at multiples of `decay_steps`.
        name: a string.

    Example:
        >>> float(InverseTimeDecay(1.0, decay_steps=10, decay_rate=1.0)(10))
        0.5
    """

    initial_learning_rate: float
    decay_steps: Steps
    decay_rate: float
    staircase: bool = False
    name: str = "InverseTimeDecay"

    def __post_init__(self):
        _positive(self, "decay_steps")

    def rate(self, step):
        periods = step / self.decay_steps
        if self.staircase:
            periods = floor(periods)
        return self.initial_learning_rate / (periods * self.decay_rate + 1)


@schedules.add()
class PiecewiseConstantDecay(_BuiltInSchedule):
    """A constant rate up to and including each boundary, and the last rate afterwards.

    Args:
        boundaries: increasing steps.
        values: the rates, one more than there are boundaries.
        name: a string.

    Example:
        >>> rate = PiecewiseConstantDecay([10, 20], [1.0, 0.5, 0.25])
        >>> [float(rate(step)) for step in (10, 11, 21)]
        [1.0, 0.5, 0.25]
    """

    boundaries: list
    values: list
    name: str = "PiecewiseConstant"

    def __post_init__(self):
        if len(self.boundaries) != len(self.values) - 1:
            raise InvalidArgumentError(
                f"PiecewiseConstantDecay: expected one value more than boundaries, got "
                f"{len(self.boundaries)} boundaries and {len(self.values)} values."
            )

    def rate(self, step):
        rate = step * 0 + self.values[-1]
        for boundary, value in zip(reversed(self.boundaries), reversed(self.values[:-1])):
            rate = select(elementwise.less_equal(step, boundary), value, rate)
        return rate


@schedules.add()
class PolynomialDecay(_BuiltInSchedule):
    """A polynomial decay from one rate to another.

    `(initial - end) * (1 - step / decay_steps) ** power + end`, and `end` from `decay_steps` on.

    Args:
        initial_learning_rate: the rate at step 0.
        decay_steps: the number of steps until `end_learning_rate`.
        end_learning_rate: the last rate.
        power: the exponent; 1 for a linear decay.
        cycle: after `decay_steps` steps, decay over the next multiple of `decay_steps` instead.
        name: a string.

    Example:
        >>> float(PolynomialDecay(1.0, decay_steps=10, end_learning_rate=0.5)(5))
        0.75
    """

    initial_learning_rate: float
    decay_steps: Steps
    end_learning_rate: float = 0.0001
    power: float = 1.0
    cycle: bool = False
    name: str = "PolynomialDecay"

    def __post_init__(self):
        _positive(self, "decay_steps")

    def rate(self, step):
        length = step * 0 + self.decay_steps
        if self.cycle:
            length = length * maximum(ceil(step / self.decay_steps), 1.0)
        else:
            step = minimum(step, length)
        left = elementwise.power(1 - step / length, self.power)
        return left * (self.initial_learning_rate - self.end_learning_rate) + self.end_learning_rate


@schedules.add()
class CosineDecay(_BuiltInSchedule):
    """A half cosine from the initial rate down to `alpha` times this rate, after a linear warm-up.

    Loshchilov & Hutter 2016, arXiv:1608.03983, without the restarts.

    Args:
        initial_learning_rate: the rate at step 0.
        decay_steps: the length of the half cosine.
        alpha: the last rate as a fraction of the highest rate.
        name: a string.
        warmup_target: the rate at the end of the warm-up, where the cosine starts; None: no
            warm-up.
        warmup_steps: the number of steps of the warm-up.

    Example:
        >>> rate = CosineDecay(1.0, decay_steps=10, alpha=0.5)
        >>> float(rate(0)), float(rate(10))
        (1.0, 0.5)
    """

    initial_learning_rate: float
    decay_steps: Steps
    alpha: float = 0.0
    name: str = "CosineDecay"
    warmup_target: float | None = None
    warmup_steps: Steps = 0

    def __post_init__(self):
        _positive(self, "decay_steps")

    def rate(self, step):
        if self.warmup_target is None:
            return _cosine(self, step, self.initial_learning_rate)
        decayed = _cosine(self, step - self.warmup_steps, self.warmup_target)
        if not self.warmup_steps:
            return decayed
        rise = self.warmup_target - self.initial_learning_rate
        warming = step / self.warmup_steps * rise + self.initial_learning_rate
        return select(elementwise.less(step, self.warmup_steps), warming, decayed)


def _cosine(schedule, step, highest):
    done = minimum(step, schedule.decay_steps) / schedule.decay_steps
    return _wave(done, schedule.alpha) * highest


@schedules.add()
class CosineDecayRestarts(_BuiltInSchedule):
    """Repeated half cosines: Loshchilov & Hutter 2016, arXiv:1608.03983.

    Args:
        initial_learning_rate: the rate at step 0.
        first_decay_steps: the length of the first half cosine.
        t_mul: the ratio of the lengths of consecutive cosines.
        m_mul: the ratio of the highest rates of consecutive cosines.
        alpha: the lowest rate as a fraction of the initial rate.
        name: a string.

    Example:
        >>> float(CosineDecayRestarts(1.0, first_decay_steps=10, m_mul=0.5)(10))
        0.5
    """

    initial_learning_rate: float
    first_decay_steps: Steps
    t_mul: float = 2.0
    m_mul: float = 1.0
    alpha: float = 0.0
    name: str = "SGDRDecay"

    def __post_init__(self):
        _positive(self, "first_decay_steps")

    def rate(self, step):
        time = step / self.first_decay_steps
        if self.t_mul == 1.0:
            restarts = floor(time)
            done = time - restarts
        else:  # the lengths of the cycles are a geometric series
            growth = np.float32(self.t_mul)
            restarts = floor(log(1 - time * (1 - growth)) / np.log(growth))
            length = elementwise.power(growth, restarts)
            done = (time - (1 - length) / (1 - growth)) / length
        highest = elementwise.power(np.float32(self.m_mul), restarts)
        return _wave(done, self.alpha, highest) * self.initial_learning_rate


def _wave(done, alpha, highest=1.0):
    """Return a half cosine from `highest` down to `alpha` at the fraction `done` of its length."""
    return (1 + cos(done * math.pi)) * highest * 0.5 * (1 - alpha) + alpha


# ---- the learning_rate argument ------------------------------------------------------------------


def as_rate(value):
    """Return a learning rate as a float, a schedule, or a callable without arguments.

    Raises:
        ValueError: the value is none of these, or is negative.
    """
    if isinstance(value, dict):
        return deserialize(value)
    if callable(value):
        return value
    if isinstance(value, (str, bool)) or not hasattr(value, "__float__"):
        raise InvalidArgumentError(
            "expected a number, a LearningRateSchedule or a callable without arguments, got "
            f"{type(value).__name__}"
        )
    if float(value) < 0:
        raise InvalidArgumentError(f"expected a number >= 0, got {value}")
    return float(value)
