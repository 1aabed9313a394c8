"""The argument `input_signature` of `tf.function`: conversion and checks of arguments."""

import functools
import inspect
from collections.abc import Mapping

from framework.core import nest
from framework.core.conversion import tensor
from framework.core.errors import SignatureError
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Tensor
from framework.core.tensor_spec import TensorSpec
from framework.core.variable import CoreVariable


class InputSignature:
    """The `input_signature` of a function; `specs` is None if the user gave none."""

    def __init__(self, python_function, specs):
        self.python_function = python_function
        self.specs = checked(specs)
        self.is_method = False

    def fitted(self, args, kwargs):
        """Return the arguments converted to the specs; raise SignatureError on a mismatch."""
        specs, first = self.specs, int(self.is_method)
        parameters = _signature_of(self.python_function)
        if kwargs or len(args) - first != len(specs):
            bound = self._bound(parameters, args, kwargs)
            args, kwargs = bound.args, bound.kwargs
        names = list(parameters.parameters)[first:]
        fitted = [
            self._fit(spec, value, names[min(i, len(names) - 1)])
            for i, (spec, value) in enumerate(zip(specs, args[first:]))
        ]
        return (*args[:first], *fitted, *args[first + len(specs) :]), kwargs

    def _bound(self, parameters, args, kwargs):
        try:
            bound = parameters.bind(*args, **kwargs)
        except TypeError as error:
            raise SignatureError(
                f"{self._name()}: {error}; input_signature is {self.specs}."
            ) from None
        given = len(bound.args) - self.is_method
        if given > len(self.specs) or bound.kwargs:
            raise SignatureError(
                f"{self._name()} takes {len(self.specs)} arguments by its "
                f"input_signature, got {given + len(bound.kwargs)}. Parameters without a "
                "TensorSpec keep their defaults."
            )
        bound.apply_defaults()
        return bound

    def _fit(self, spec, value, name):
        if isinstance(spec, TensorSpec):
            return self._fit_one(spec, value, name)
        if isinstance(spec, Mapping):
            if not isinstance(value, Mapping) or set(value) != set(spec):
                raise self._misfit(spec, value, name)
            return {key: self._fit(spec[key], value[key], f"{name}[{key!r}]") for key in value}
        if not isinstance(value, (list, tuple)) or len(value) != len(spec):
            raise self._misfit(spec, value, name)
        return type(value)(
            [self._fit(s, v, f"{name}[{i}]") for i, (s, v) in enumerate(zip(spec, value))]
        )

    def _fit_one(self, spec, value, name):
        if spec.value_type is not Tensor:  # ragged and sparse tensors are not converted
            if not spec.is_compatible_with(value):
                raise self._misfit(spec, value, name)
            return value
        if not isinstance(value, (Tensor, CoreVariable, KerasTensor)):
            try:
                value = tensor(value, spec.dtype)
            except (TypeError, ValueError):
                raise self._misfit(spec, value, name) from None
        if not spec.is_compatible_with(value):
            raise self._misfit(spec, TensorSpec.from_tensor(value), name)
        return tensor(value)

    def _misfit(self, spec, value, name):
        return SignatureError(
            f"{self._name()}: the argument {name!r} is {value!r}; input_signature expects {spec!r}."
        )

    def _name(self):
        return getattr(self.python_function, "__name__", None) or repr(self.python_function)


@functools.lru_cache(maxsize=256)
def _signature_of(python_function):
    return inspect.signature(python_function)


def checked(signature):
    if signature is None:
        return None
    if not isinstance(signature, (list, tuple)):
        raise SignatureError(
            f"function: input_signature must be either a tuple or a list, got {type(signature)}."
        )
    wrong = [s for s in nest.flatten(list(signature)) if not isinstance(s, TensorSpec)]
    if wrong:
        raise SignatureError(
            "function: input_signature must be a possibly nested sequence of TensorSpec objects, "
            f"got {wrong[0]!r}."
        )
    return tuple(signature)
