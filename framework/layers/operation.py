"""Operation: a user-defined computation without weights, a single node of functional models."""

from typing import Any

from framework.core import nest
from framework.core.auto_names import auto_name
from framework.core.errors import InvalidArgumentError
from framework.core.internal_state import ClassRecord, Owning, Record
from framework.core.module import SignatureOfInit
from framework.core.operations import apply
from framework.core.recorders import thread
from framework.core.standins import is_symbolic
from framework.core.symbolic import calling
from framework.layers.autoconfig import with_init_arguments
from framework.layers.base import Layer
from framework.layers.rematerialization import rematerialized
from framework.layers.symbolic_calls import detached, remember


class OperationRecord(Record):
    """The internal state of an operation.

    Attributes:
        init_arguments: the arguments of the constructor.
        first_call: (args, kwargs, outputs) of the first symbolic call.
        remat: the RematScope in which the operation was created, or None.
    """

    init_arguments = ((), {})
    first_call = remat = None


class _EveryOperation(type):
    """A metaclass: `isinstance` and `issubclass` count layers as operations, as in Keras."""

    def __instancecheck__(cls, instance):
        return issubclass(type(instance), cls)

    def __subclasscheck__(cls, subclass):
        if super().__subclasscheck__(subclass):
            return True
        return cls is Operation and issubclass(subclass, Layer)


class Operation(Owning, metaclass=_EveryOperation):
    """The base class of operations: computations without weights on tensors and KerasTensors.

    A subclass defines `call`, and `compute_output_spec` if the outputs cannot be inferred by
    running `call` on KerasTensors. `get_config` returns the constructor's arguments if they are
    numbers, strings, bools, None or nests of these.

    Args:
        name: a string without "/"; derived from the class name if None.

    Raises:
        ValueError: the name is not a string, or contains "/".

    Example:
        >>> from framework import keras
        >>> class Scale(keras.Operation):
        ...     def __init__(self, factor, name=None):
        ...         super().__init__(name=name)
        ...         self.factor = factor
        ...     def call(self, x):
        ...         return x * self.factor
        >>> float(Scale(3.0)(2.0)), Scale(3.0)(keras.KerasTensor((None, 2))).shape
        (6.0, (None, 2))
        >>> Scale(3.0, name="triple").get_config()
        {'name': 'triple', 'factor': 3.0}
    """

    __signature__ = SignatureOfInit()

    def __new__(cls, *args: Any, **kwargs: Any):
        self = super().__new__(cls)
        own = self._framework
        own.init_arguments = (args, kwargs)
        own.remat = thread.remat
        return self

    def __init__(self, name: str | None = None):
        if name is None:
            name = auto_name(type(self).__name__)
        if not isinstance(name, str) or "/" in name:
            raise InvalidArgumentError(
                f"Argument `name` must be a string and cannot contain character `/`, got {name!r} "
                f"({type(self).__name__})."
            )
        self.name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; they are KerasTensors if an argument is a KerasTensor."""
        if is_symbolic(args, kwargs):
            return self.symbolic_call(*args, **kwargs)
        call = self.call
        if self._framework.remat is not None:
            call = self.rematerialized_call(call, *args, **kwargs)
        return call(*args, **kwargs)

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs from tensors; subclasses override this method."""
        raise NotImplementedError(f"{type(self).__name__} does not have a `call()` method.")

    def symbolic_call(self, *args: Any, **kwargs: Any) -> Any:
        """Return the outputs as KerasTensors, and record the call for functional models."""
        outputs = detached(self.compute_output_spec(*args, **kwargs))
        remember(self, args, kwargs, outputs)
        return outputs

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any:
        """Return the outputs as KerasTensors, by running `call` symbolically."""
        try:
            with calling(self.name):
                return self.call(*args, **kwargs)
        except NotImplementedError:
            raise
        except Exception as error:  # `call` uses functions that accept no KerasTensors
            return apply(_Function(self), args, kwargs, error)

    def rematerialized_call(self, fn: Any, *args: Any, **kwargs: Any) -> Any:
        """Return `fn`, rematerialized if the operation was created in a `RematScope`."""
        return rematerialized(self, self._framework.remat, fn, args, kwargs)

    @property
    def input(self):
        """The KerasTensors passed to the first symbolic call."""
        args, kwargs, _ = _first_call(self, "input")
        inputs = nest.flatten((args, kwargs))
        return inputs[0] if len(inputs) == 1 else inputs

    @property
    def output(self):
        """The KerasTensors that the first symbolic call returned."""
        return _first_call(self, "output")[2]

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments as plain values, for `from_config`.

        Raises:
            NotImplementedError: an argument is not a number, a string, a bool, None or a nest of
                these, and the class has no `get_config`.
        """
        config = {"name": self.name}
        return (
            config
            if type(self).get_config is not _GET_CONFIG
            else with_init_arguments(self, config)
        )

    @classmethod
    def from_config(cls, config: Any) -> Any:
        """Return an operation for a config that `get_config` returned."""
        return cls(**config)

    def __repr__(self):
        return f"<Operation name={self.name}>"


_GET_CONFIG = Operation.get_config

Operation._framework = ClassRecord(Operation, record=OperationRecord)


class _Function:
    """An operation's `call` as a function that can run on symbolic tensors."""

    def __init__(self, operation):
        self.name, self._call = operation.name, operation.call

    def __call__(self, *args, **kwargs):
        return self._call(*args, **kwargs)


def _first_call(operation, what):
    found = operation._framework.first_call
    if found is None:
        raise AttributeError(
            f"The operation {operation.name!r} has never been called on KerasTensors and thus has "
            f"no defined {what}."
        )
    return found
