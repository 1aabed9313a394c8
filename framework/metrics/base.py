"""The base class of metrics: state variables, updates and resetting."""

from typing import Any

import numpy as np

from framework import initializers
from framework.core import nest
from framework.core.argument_types import DTypeLike, ShapeLike
from framework.core.auto_names import auto_name
from framework.core.configurable import Watched, serialize_value
from framework.core.conversion import array_of, tensor
from framework.core.errors import InvalidArgumentError, TapeError
from framework.core.internal_state import Record
from framework.core.keras2_arguments import name_first
from framework.core.recorders import replaying, thread
from framework.core.registry import Registry
from framework.core.shared_fields import ComputeDtype, Name
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable, KerasVariable, name_scope
from framework.ops.losses import as_tensor

metrics = Registry("metric", package="framework.metrics")


class MetricRecord(Record):
    """The internal state of a metric: its variables and inner metrics."""

    variables = metrics = None  # None means that Metric.__init__ has not run


class Metric(Watched, record=MetricRecord, kw_only=True, base_by_position=True, direction=None):
    """The base class of metrics, which accumulate values over batches.

    Subclasses create state with `add_weight` in `__init__`, change it in `update_state` and return
    the value of the metric from `result`.

    Args:
        dtype: the dtype or dtype policy of the state and the result; floatx if None.
        name: a string; derived from the class name if None.

    Example:
        >>> import framework as tf
        >>> from framework.metrics import Metric
        >>> class Largest(Metric):
        ...     def __init__(self, name="largest", **kwargs):
        ...         super().__init__(name=name, **kwargs)
        ...         self.largest = self.add_weight(name="largest", initializer="zeros")
        ...     def update_state(self, y_true, y_pred, sample_weight=None):
        ...         self.largest.assign(max(float(self.largest), float(max(y_pred))))
        ...     def result(self):
        ...         return self.largest.value
        >>> metric = Largest()
        >>> metric.update_state([0.0, 0.0], [1.0, 3.0])
        >>> metric([0.0, 0.0], [2.0, 1.0]).numpy()
        np.float32(3.0)
    """

    dtype: ComputeDtype = None
    name: Name = None

    def __init__(self, *args: Any, **kwargs: Any):
        own = self._framework
        own.variables, own.metrics = [], []
        super().__init__(*args, **kwargs)

    __init__._from_fields = True

    def __post_init__(self):
        if self.name is None:
            self.name = auto_name(type(self).__name__)

    # ---- state ----

    def add_variable(
        self, shape: ShapeLike, initializer: Any, dtype: DTypeLike = None, aggregation: Any = "sum",
        name: str | None = None,
    ):  # fmt: skip
        """Return a new, non-trainable state variable.

        Args:
            shape: a tuple.
            initializer: a name, a callable of (shape, dtype), or None for zeros.
            dtype: floatx if None.
            aggregation: ignored: there is one process.
            name: a string.
        """
        _require_init(self)
        with name_scope(self.name.replace("/", ">")):
            variable = KerasVariable(
                initializers.get("zeros" if initializer is None else initializer),
                shape=shape, dtype=dtype, trainable=False, aggregation=aggregation, name=name,
            )  # fmt: skip
        self._framework.variables.append(variable)
        return variable

    @name_first("name", "shape", "aggregation", "synchronization", "initializer", "dtype")
    def add_weight(
        self, shape: ShapeLike = (), initializer: Any = None, dtype: DTypeLike = None,
        name: str | None = None, *, aggregation: Any = None, synchronization: Any = None,
    ) -> Any:  # fmt: skip
        """Return a new, non-trainable state variable: `add_variable` with defaults.

        Keras 2's argument order also works: name, shape, aggregation, synchronization,
        initializer, dtype.
        """
        return self.add_variable(shape, initializer, dtype, name=name)

    @property
    def variables(self):
        """The state variables, then the variables of inner metrics."""
        own = self._framework
        return [*own.variables, *(v for metric in own.metrics for v in metric.variables)]

    def __setattr__(self, name, value):
        held = self._framework.variables
        if held is not None:
            for leaf in nest.flatten(value) if isinstance(value, (list, tuple, dict)) else (value,):
                _track(self, leaf, held)
        super().__setattr__(name, value)

    # ---- use ----

    def update_state(self, *args: Any, **kwargs: Any):
        """Update the state with one batch."""
        raise NotImplementedError(f"{type(self).__name__} must define update_state().")

    def result(self) -> Any:
        """Return the value since the last reset: a 0-d tensor, or a dict of 0-d tensors."""
        raise NotImplementedError(f"{type(self).__name__} must define result().")

    def reset_state(self):
        """Set every state variable to zero."""
        for variable in self.variables:
            variable.assign(np.zeros(variable.array.shape, variable.array.dtype))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Update the state with one batch, and return the result so far."""
        _require_init(self)
        self.update_state(*args, **kwargs)
        return self.result()

    def merge_state(self, metrics):
        """Add the states of other metrics of the same class, such as those of other processes.

        >>> from framework.metrics import Mean
        >>> first, second = Mean(), Mean()
        >>> first.update_state([1.0, 2.0])
        >>> second.update_state([6.0])
        >>> first.merge_state([second])
        >>> first.result().numpy()
        np.float32(3.0)
        """
        for metric in metrics:
            if type(metric) is not type(self):
                raise InvalidArgumentError(
                    f"merge_state: {metric!r} is not compatible with {self!r}: expected metrics "
                    f"of the class {type(self).__name__}."
                )
            mine, others = self.variables, metric.variables
            # `metric` may have created more variables in its first update
            for variable in others[len(mine) :]:
                made = self.add_variable(
                    variable.shape, "zeros", variable.dtype, name=variable.name
                )  # fmt: skip
                setattr(self, next(n for n, v in vars(metric).items() if v is variable), made)
            shapes = [v.shape for v in others]
            if [v.shape for v in self.variables[: len(others)]] != shapes:
                raise InvalidArgumentError(
                    f"merge_state: {metric!r} is not compatible with {self!r}: its variables have "
                    f"the shapes {shapes}."
                )
            for variable, other in zip(self.variables, others, strict=False):
                variable.assign_add(other.read())

    # ---- stateless versions ----

    def stateless_update_state(self, metric_variables: Any, *args: Any, **kwargs: Any):
        """Return the state after an update of `metric_variables`; the metric does not change."""
        return _with_state(self, metric_variables, lambda: self.update_state(*args, **kwargs))[1]

    def stateless_result(self, metric_variables: Any):
        """Return the result for the state `metric_variables`; the metric does not change."""
        return _with_state(self, metric_variables, self.result)[0]

    def stateless_reset_state(self):
        """Return the state after a reset; the metric does not change."""
        return _with_state(self, [v.read() for v in self.variables], self.reset_state)[1]

    def __repr__(self):
        return f"<{type(self).__name__} name={self.name}>"


def on_tensors():
    """Return whether an update must run ops on tensors, because a trace is recording.

    Otherwise the update runs on arrays, which is faster and which no tape records.
    """
    return bool(thread.stack) and replaying()


def operand(value, dtype, tensors):
    """Return `value` as an array, or as a tensor if `tensors`, cast to `dtype` if that is given."""
    if isinstance(value, KerasTensor) or tensors:
        return tensor(value) if dtype is None else as_tensor(value, dtype)
    if isinstance(value, (Tensor, CoreVariable)):
        value = value.array
    elif not hasattr(value, "astype"):
        value = array_of(value, dtype, casts=True)
    return value if dtype is None else value.astype(dtype.np, copy=False)


def get(identifier):
    """Return a new metric for a name or a config, and callables and metrics unchanged.

    Raises:
        ValueError: the name is unknown; the message suggests similar names.
    """
    return metrics.get(identifier)


def serialize(metric):
    """Return the config from which `deserialize` creates an equal metric, without its state."""
    return serialize_value(metric)


def deserialize(config, custom_objects=None):
    """Return a metric for the config that `serialize` returned."""
    return metrics.deserialize(config, custom_objects)


def _require_init(metric):
    if metric._framework.variables is None:
        raise TapeError(
            f"{type(metric).__name__}: call super().__init__() first in __init__(); state can "
            "only be added after it."
        )


def _track(metric, leaf, held):
    if isinstance(leaf, CoreVariable):
        if not any(leaf is v for v in held):
            held.append(leaf)
    elif isinstance(leaf, Metric) and not any(leaf is m for m in metric._framework.metrics):
        metric._framework.metrics.append(leaf)


def _with_state(metric, state, call):
    variables = metric.variables
    if len(state) != len(variables):
        raise InvalidArgumentError(
            f"{metric.name}: metric_variables: expected one value per variable of the metric, "
            f"{len(variables)} in all ({', '.join(v.name for v in variables)}), got "
            f"{len(state)}."
        )
    own = [v.read() for v in variables]
    try:
        for variable, value in zip(variables, state, strict=True):
            variable.assign(value)
        return call(), [v.read() for v in variables]
    finally:
        for variable, value in zip(variables, own, strict=True):
            variable.assign(value)


def as_floats(values):
    """Return metric results as Python floats by name; a nested dict of results is flattened."""
    floats = {}
    for name, value in values.items():
        if isinstance(value, dict):
            floats.update(as_floats(value))
        elif value is not None:
            array = np.asarray(value)
            floats[name] = float(array) if array.ndim == 0 else array
    return floats
