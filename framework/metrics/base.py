"""What all metrics share: state in variables, resetting, and what an update computes on."""

import numpy as np

from framework import initializers
from framework.core import nest
from framework.core.configurable import Watched, serialize_value
from framework.core.conversion import array_of
from framework.core.doors import tensor
from framework.core.errors import InvalidArgumentError, TapeError
from framework.core.fields import ComputeDtype, Name
from framework.core.naming import auto_name
from framework.core.older import name_first
from framework.core.own import Record
from framework.core.recorders import replaying, thread
from framework.core.registry import Registry
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable, KerasVariable, name_scope
from framework.ops.losses import as_tensor

metrics = Registry("metric")


class MetricRecord(Record):
    """What is internal to a metric: the variables and the metrics that it holds."""

    variables = metrics = None  # until __init__ has run


class Metric(Watched, record=MetricRecord, base_fields=True, base_by_position=True, direction=None):
    """Base of metrics: numbers gathered over many batches.

    Subclasses make their state in `__init__` by `add_weight`, change it in `update_state` and give
    what it amounts to in `result`.

    Args:
        dtype: of the state and the result: a dtype or a policy; floatx where None.
        name: a string, made from the class's name where None.

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

    def __init__(self, *args, **kwargs):
        own = self._framework
        own.variables, own.metrics = [], []
        super().__init__(*args, **kwargs)

    __init__._from_fields = True

    def __post_init__(self):
        if self.name is None:
            self.name = auto_name(type(self).__name__)

    # ---- state ----

    def add_variable(self, shape, initializer, dtype=None, aggregation="sum", name=None):
        """A variable of the state, not trainable.

        Args:
            shape: a tuple.
            initializer: a name, a callable of (shape, dtype), or None for zeros.
            dtype: floatx where None.
            aggregation: accepted; there is one process.
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
        self, shape=(), initializer=None, dtype=None, name=None, *, aggregation=None,
        synchronization=None,
    ):  # fmt: skip
        """A variable of the state, not trainable: `add_variable` with defaults.

        Keras 2's order is taken too: name, shape, aggregation, synchronization, initializer, dtype.
        """
        return self.add_variable(shape, initializer, dtype, name=name)

    @property
    def variables(self):
        """The variables of the state, then those of metrics held as attributes."""
        own = self._framework
        return [*own.variables, *(v for metric in own.metrics for v in metric.variables)]

    def __setattr__(self, name, value):
        held = self._framework.variables
        if held is not None:
            for leaf in nest.flatten(value) if isinstance(value, (list, tuple, dict)) else (value,):
                _track(self, leaf, held)
        super().__setattr__(name, value)

    # ---- use ----

    def update_state(self, *args, **kwargs):
        """Take in one batch."""
        raise NotImplementedError(f"{type(self).__name__} must define update_state().")

    def result(self):
        """What the batches since the last reset amount to: a 0-d tensor, or a dict of them."""
        raise NotImplementedError(f"{type(self).__name__} must define result().")

    def reset_state(self):
        """Forget all batches: every variable becomes zero."""
        for variable in self.variables:
            variable.assign(np.zeros(variable.array.shape, variable.array.dtype))

    def __call__(self, *args, **kwargs):
        """Take in one batch, and give the result so far."""
        _require_init(self)
        self.update_state(*args, **kwargs)
        return self.result()

    # ---- the same as functions of the state ----

    def stateless_update_state(self, metric_variables, *args, **kwargs):
        """The state that `update_state` makes of the given one; the metric's own stays."""
        return _with_state(self, metric_variables, lambda: self.update_state(*args, **kwargs))[1]

    def stateless_result(self, metric_variables):
        """The result that the given state amounts to."""
        return _with_state(self, metric_variables, self.result)[0]

    def stateless_reset_state(self):
        """The state after a reset."""
        return _with_state(self, [v.read() for v in self.variables], self.reset_state)[1]

    def __repr__(self):
        return f"<{type(self).__name__} name={self.name}>"


def on_tensors():
    """Whether an update must compute through ops on tensors, because a trace listens.

    Otherwise it computes on the arrays themselves, faster, and no tape records it.
    """
    return bool(thread.stack) and replaying()


def operand(value, dtype, tensors):
    """`value` as an array, or a tensor where `tensors`; in the DType `dtype` unless None."""
    if isinstance(value, KerasTensor) or tensors:
        return tensor(value) if dtype is None else as_tensor(value, dtype)
    if isinstance(value, (Tensor, CoreVariable)):
        value = value.array
    elif not hasattr(value, "astype"):
        value = array_of(value, dtype, casts=True)
    return value if dtype is None else value.astype(dtype.np, copy=False)


def get(identifier):
    """The metric for a name or a config, made anew; callables and metrics as they are.

    Raises:
        ValueError: for an unknown name, suggesting the nearest.
    """
    return metrics.get(identifier)


def serialize(metric):
    """The config from which `deserialize` makes an equal metric (without its state)."""
    return serialize_value(metric)


def deserialize(config, custom_objects=None):
    """The metric that `serialize` described."""
    return metrics.deserialize(config, custom_objects)


def _require_init(metric):
    if metric._framework.variables is None:
        raise TapeError(
            f"{type(metric).__name__}: call super().__init__() first in __init__(); state can "
            "only be added then."
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
            f"{metric.name}: argument metric_variables must hold one value per variable of the "
            f"metric, {len(variables)} in all ({', '.join(v.name for v in variables)}), got "
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
