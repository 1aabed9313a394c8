"""StatelessScope: a context that gives variables temporary values; their own stay unchanged.

Reads and assignments go to the innermost scope instead of the variables' buffers
(`core/variable.py`). While it is open, every update runs as ops, so none writes into a buffer.
"""

from typing import Any

from framework.core import conversion
from framework.core.cast import cast
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.recorders import Recorder, push, remove, thread
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable


class StatelessScope:
    """Context in which no variable changes: assignments are kept in the scope.

    Args:
        state_mapping: pairs (variable, value): the values that variables have inside; a value has
            the variable's shape and is cast to its dtype.
        collect_losses: whether `add_loss` of layers also puts the losses into `losses`.
        initialize_variables: accepted for compatibility: variables get their values when they are
            created.

    Raises:
        ValueError: a key is not a variable, or a value has another shape than its variable.

    Example:
        >>> from framework import keras
        >>> v = keras.Variable(1.0)
        >>> with StatelessScope([(v, 5.0)]) as scope:
        ...     _ = v.assign_add(2.0)
        >>> float(scope.get_current_value(v)), float(v)
        (7.0, 1.0)
    """

    def __init__(
        self, state_mapping: Any = None, collect_losses: bool = False,
        initialize_variables: bool = True,
    ):  # fmt: skip
        self.collect_losses = collect_losses
        self.initialize_variables = initialize_variables
        self.losses = []
        self.state_mapping = {}
        # These references keep the variables alive, because `state_mapping` only has their ids.
        self._variables = []
        for variable, value in state_mapping or ():
            if not isinstance(variable, CoreVariable):
                raise InvalidArgumentError(
                    "StatelessScope: state_mapping: expected pairs (variable, value), got the key "
                    f"{variable!r}. Pass zip(model.variables, values)."
                )
            self.add_update((variable, _fitting(variable, value)))

    def __enter__(self):
        self._outer, thread.stateless = thread.stateless, self
        self._recorder = _AsOps()
        push(self._recorder)
        return self

    def __exit__(self, *_: object):
        remove(self._recorder)
        thread.stateless = self._outer

    def add_loss(self, loss: Any) -> None:
        """Add a loss to `losses`."""
        self.losses.append(loss)

    def add_update(self, update: Any) -> None:
        """Set the value of a variable inside the scope; `update` is a pair (variable, value)."""
        variable, value = update
        if id(variable) not in self.state_mapping:
            self._variables.append(variable)
        self.state_mapping[id(variable)] = value

    def get_current_value(self, variable: Any) -> Any:
        """Return a variable's value in the scope; None if it has none there."""
        return self.state_mapping.get(id(variable))


class _AsOps(Recorder):
    """A recorder that records nothing; while it is open, every computation runs as ops."""

    replays = True

    @property
    def aside(self):
        return self  # this recorder stays open inside `pause_all`


def _fitting(variable, value):
    """Return `value` as a tensor of the variable's shape and dtype, or raise ValueError."""
    value = value.read() if isinstance(value, CoreVariable) else conversion.tensor(value)
    shape = variable.array.shape
    if tuple(value.shape) != shape:
        raise ShapeError(
            f"StatelessScope: state_mapping: expected a value of shape {shape} for the variable "
            f"{variable.name!r}, got {tuple(value.shape)}."
        )
    dtype = variable.array.dtype
    return (
        value if not isinstance(value, Tensor) or value.dtype == dtype else cast(value, dtype=dtype)
    )


def values_after(scope, variables):
    """Return the variables' values at the end of a scope."""
    values = [scope.get_current_value(v) for v in variables]
    return [v.read() if value is None else value for v, value in zip(variables, values)]
