"""Constraints: functions that an optimizer applies to a weight after each update."""

from typing import Annotated, Any

from framework.core import dtypes
from framework.core.axes import all_axes
from framework.core.configurable import Resolved, Watched, serialize_value
from framework.core.conversion import tensor
from framework.core.registry import Registry
from framework.core.shared_fields import Configured
from framework.ops import elementwise as e
from framework.ops import reduction
from framework.ops.casting import like, widened

constraints = Registry("constraint")


class Constraint(Watched):
    """The base class of constraints: `constraint(w)` returns the new value of the weight.

    User constraints subclass it and define `__call__`, or are functions of a tensor.
    """

    def __call__(self, w: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define __call__(w).")


def _scaled(w, axis, desired):
    """Rescale `w` so that its norms over `axis` are `desired(norms)`; zeros stay zeros."""
    w = tensor(w)
    wide, axis = widened(w), all_axes(axis, w.ndim, "constraint")
    norms = e.root(reduction.reduce_sum(e.square(wide), axis=axis, keepdims=True))
    return like(wide * (desired(norms) / (norms + dtypes.epsilon())), w)


@constraints.add()
class MaxNorm(Constraint):
    """Scales the weight so that norms over `axis` are at most `max_value`.

    Args:
        max_value: a number.
        axis: an int or a sequence; for a Dense kernel, 0 gives one norm per unit, over its inputs.

    >>> import framework as tf
    >>> MaxNorm(1.0)(tf.constant([[3.0], [4.0]])).numpy().round(3)
    array([[0.6],
           [0.8]], dtype=float32)
    """

    max_value: float = 2
    axis: object = 0

    def __call__(self, w: Any) -> Any:
        return _scaled(w, self.axis, lambda norms: e.clip(norms, 0.0, self.max_value))


@constraints.add()
class NonNeg(Constraint):
    """Sets negative elements of the weight to 0."""

    def __call__(self, w: Any) -> Any:
        return e.maximum(tensor(w), 0)


@constraints.add()
class UnitNorm(Constraint):
    """Scales the weight so that norms over `axis` are 1."""

    axis: object = 0

    def __call__(self, w: Any) -> Any:
        return _scaled(w, self.axis, lambda norms: 1.0)


@constraints.add()
class MinMaxNorm(Constraint):
    """Moves norms over `axis` towards [min_value, max_value] by the fraction `rate`."""

    min_value: float = 0.0
    max_value: float = 1.0
    rate: float = 1.0
    axis: object = 0

    def __call__(self, w: Any) -> Any:
        def desired(norms):
            inside = e.clip(norms, self.min_value, self.max_value)
            return inside * self.rate + norms * (1 - self.rate)

        return _scaled(w, self.axis, desired)


def get(identifier):
    """Return the constraint for a name, class, instance, function or config, or None."""
    return constraints.get(identifier)


def serialize(constraint):
    """Return the config of a constraint, for `deserialize`."""
    return serialize_value(constraint)


def deserialize(config, custom_objects=None):
    """Return the constraint that `serialize` described."""
    return constraints.deserialize(config, custom_objects)


ConstraintField = Annotated[Configured, Resolved("a constraint", get)]
