"""`function`: TensorFlow's decorator. There is no compiler behind it yet; `explain()` says so."""

import functools
import inspect
import types
from collections.abc import Mapping

import numpy as np

from framework.core import dtypes, nest
from framework.core.doors import tensor
from framework.core.errors import InvalidArgumentError, SignatureError
from framework.core.recorders import thread
from framework.core.spec import TensorSpec
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable


def function(
    func=None, input_signature=None, autograph=True, jit_compile=None, reduce_retracing=False,
    experimental_implements=None, experimental_autograph_options=None, experimental_attributes=None,
    experimental_relax_shapes=None, experimental_compile=None, experimental_follow_type_hints=None,
):  # fmt: skip
    """Make a Python function one that may be compiled. For now its body runs at every call.

    What holds already: arrays among the arguments reach the function as tensors, numbers and arrays
    that it returns come back as tensors, and `input_signature` is checked.

    Args:
        func: the function; where None, a decorator is returned.
        input_signature: a sequence of (nests of) TensorSpec, one for each argument but `self`.
            Arguments are converted to these dtypes where they are no tensors yet.
        autograph, jit_compile, reduce_retracing, experimental_implements,
        experimental_autograph_options, experimental_attributes, experimental_relax_shapes,
        experimental_compile, experimental_follow_type_hints: accepted, without effect as long as
            the body runs in Python.

    Raises:
        TypeError: `input_signature` is no sequence of TensorSpec, or, from a call, the arguments do
            not fit it.

    Example:
        >>> import framework as tf
        >>> @tf.function
        ... def double(x):
        ...     return x + x
        >>> double(tf.constant([1.0, 2.0])).numpy()
        array([2., 4.], dtype=float32)
        >>> print(double.explain())
        double runs its Python body at every call: functions are not compiled yet.
        1 call so far, with 1 signature: (float32[2]).
    """
    if func is None:
        return lambda func: Function(func, input_signature)
    return Function(func, input_signature)


_MOST = 100  # signatures remembered for `explain`


class Function:
    """A Python function decorated with `function`; a method where it is found in a class."""

    def __init__(self, python_function, input_signature=None):
        if not callable(python_function):
            raise InvalidArgumentError(
                f"function: expected a callable, got {type(python_function).__name__}."
            )
        self._is_method = False
        self._calls = 0
        self._seen = {}  # signature of a call -> None, in the order of the first such call
        functools.update_wrapper(self, python_function)
        self.python_function = python_function
        self.input_signature = _checked_signature(input_signature)

    def __set_name__(self, owner, name):
        self._is_method = True

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args, **kwargs):
        if self.input_signature is not None:
            args, kwargs = self._fitted(args, kwargs)
        self._calls += 1
        key = []
        plain = True
        for value in args:
            if type(value) is Tensor:
                array = value.array
                key.append((array.dtype, array.shape))
            else:
                plain = _describe(value, key) and plain
        for value in kwargs.values():
            plain = _describe(value, key) and plain
        key = tuple(key)
        if key not in self._seen and len(self._seen) < _MOST:
            self._seen[key] = None
        if not plain:
            args = [_without_arrays(value) for value in args]
            kwargs = {name: _without_arrays(value) for name, value in kwargs.items()}
        outer, thread.function = thread.function, self
        try:
            result = self.python_function(*args, **kwargs)
        finally:
            thread.function = outer
        return result if type(result) is Tensor or result is None else _as_result(result)

    # ---- input_signature ----

    def _fitted(self, args, kwargs):
        """The arguments as `input_signature` wants them; SignatureError where they do not fit."""
        specs, first = self.input_signature, int(self._is_method)
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
                f"{self._name()}: {error}; input_signature is {self.input_signature}."
            ) from None
        given = len(bound.args) - self._is_method
        if given > len(self.input_signature) or bound.kwargs:
            raise SignatureError(
                f"{self._name()} takes {len(self.input_signature)} arguments by its "
                f"input_signature, got {given + len(bound.kwargs)}. Others keep their defaults."
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
            f"{self._name()}: the argument {name!r} is {value!r}; input_signature wants {spec!r}."
        )

    # ---- what is known of it ----

    def explain(self):
        """How this function is executed, and what it was called with: a text."""
        text = (
            f"{self._name()} runs its Python body at every call: functions are not compiled yet.\n"
        )
        if not self._calls:
            return text + "It has not been called."
        most = " or more" if len(self._seen) == _MOST else ""
        signatures = self.pretty_printed_concrete_signatures().split("\n")
        return (
            f"{text}{_count(self._calls, 'call')} so far, with "
            f"{_count(len(self._seen), 'signature')}{most}: {'; '.join(signatures[:5])}"
            f"{'; ...' if len(signatures) > 5 else ''}."
        )

    def pretty_printed_concrete_signatures(self, verbose=True):
        """The dtypes and shapes it was called with, a line for each combination."""
        return "\n".join(f"({', '.join(map(_text, key))})" for key in self._seen)

    def _name(self):
        return getattr(self, "__name__", None) or repr(self.python_function)

    def __repr__(self):
        return f"<function {self._name()} of framework.function>"


@functools.lru_cache(maxsize=256)
def _signature_of(python_function):
    return inspect.signature(python_function)


def _checked_signature(signature):
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


# ---- arguments and results -----------------------------------------------------------------------

_ARRAYS = (np.ndarray, np.generic)


def _describe(value, key):
    """Put dtypes, shapes and types into `key`; False if there are arrays, which become tensors."""
    if isinstance(value, (list, tuple, Mapping)):
        return min([_describe(leaf, key) for leaf in nest.flatten(value)], default=True)
    if isinstance(value, (*_ARRAYS, Tensor, CoreVariable, KerasTensor)):
        key.append((value.dtype, tuple(value.shape)))
        return not isinstance(value, _ARRAYS)
    key.append(type(value))
    return True


def _without_arrays(value):
    if isinstance(value, _ARRAYS):
        return tensor(value)
    if isinstance(value, (list, tuple, Mapping)):
        return nest.map_structure(lambda v: tensor(v) if isinstance(v, _ARRAYS) else v, value)
    return value


_BECOME_TENSORS = (CoreVariable, *_ARRAYS, bool, int, float, complex, str, bytes)


def _as_result(result):
    """What the body returned, its numbers, arrays and variables as tensors."""
    if all(type(leaf) is Tensor for leaf in nest.flatten(result)):
        return result
    return nest.map_structure(lambda v: tensor(v) if isinstance(v, _BECOME_TENSORS) else v, result)


def _text(part):
    if isinstance(part, type):
        return part.__name__
    dtype, shape = part
    return f"{dtypes.as_dtype(dtype)}{list(shape)}"


def _count(number, noun):
    return f"{number} {noun}{'' if number == 1 else 's'}"
