"""The result of `fn.get_concrete_function`: a `tf.function` bound to one signature."""

import inspect
from typing import Any

import numpy as np

from framework.core import nest
from framework.core.conversion import tensor
from framework.core.errors import SignatureError
from framework.core.operand import Operand
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Tensor
from framework.core.tensor_spec import TensorSpec
from framework.core.variable import CoreVariable

_TENSORS = (Tensor, CoreVariable, Operand, np.ndarray, np.generic)


class ConcreteFunction:
    """A function for one signature: the dtypes and shapes of its tensors, and its other arguments.

    A call takes the tensors; the other arguments have the values that the signature gives. There is
    no TensorFlow graph: `source` is the generated code, and `fn.explain()` lists the compiled
    plans.

    >>> import framework as tf
    >>> f = tf.function(lambda x, n: x * n)
    >>> double = f.get_concrete_function(tf.TensorSpec([None]), 2.0)
    >>> double(tf.constant([1.0, 3.0])).numpy()
    array([2., 6.], dtype=float32)
    >>> print(double.pretty_printed_signature())
    Input Parameters:
      x (POSITIONAL_OR_KEYWORD): TensorSpec(shape=(None,), dtype=tf.float32, name=None)
      n (POSITIONAL_OR_KEYWORD): Literal[2.0]
    Output Type:
      TensorSpec(shape=(None,), dtype=tf.float32, name=None)
    """

    def __init__(self, function: Any, args: Any, kwargs: Any, instance: Any = ()):
        self._function, self._instance = function, tuple(instance)
        found = inspect.signature(function.python_function)
        parameters = list(found.parameters.values())[len(self._instance) :]
        self._signature = found.replace(parameters=parameters)
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            method = (
                " For a method, the object is the first argument." if function.is_method else ""
            )
            raise SignatureError(
                f"{function._name()}.get_concrete_function: {error}.{method}"
            ) from None
        bound.apply_defaults()
        self._bound = {k: nest.map_structure(_spec_of, v) for k, v in bound.arguments.items()}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = self._given(args, kwargs)
        values = inspect.BoundArguments(self._signature, {})
        for name, spec in self._bound.items():
            if name in given:
                values.arguments[name] = self._fitted(name, spec, given[name])
            elif _has_tensors(spec):
                raise SignatureError(f"{self.name}: missing a required argument: {name!r}.")
            else:
                values.arguments[name] = spec
        return self._function(*self._instance, *values.args, **values.kwargs)

    def _given(self, args, kwargs):
        """Return {parameter: argument}; a call may leave out all arguments that are no tensors."""
        parameters = self._signature.parameters
        starred = any("VAR" in p.kind.name for p in parameters.values())
        tensors = [name for name, spec in self._bound.items() if _has_tensors(spec)]
        if len(args) == len(tensors) and not kwargs and not starred:
            return dict(zip(tensors, args, strict=True))
        try:
            return self._signature.bind_partial(*args, **kwargs).arguments
        except TypeError as error:
            raise SignatureError(f"{self.name}: {error}.") from None

    def _fitted(self, name, spec, value):
        specs, leaves = nest.flatten(spec), nest.flatten(value)
        if len(specs) == len(leaves):
            fitted = [_fit(s, v) for s, v in zip(specs, leaves)]
            if all(fits for fits, _ in fitted):
                return nest.pack_sequence_as(value, [v for _, v in fitted])
        raise SignatureError(
            f"cannot compute {self.name} as input {name!r} was expected to be {spec!r}, got "
            f"{nest.map_structure(_spec_of, value)!r}. Trace another signature: "
            "fn.get_concrete_function(...)."
        )

    @property
    def parameters(self):
        """A list of [name, kind, (default,) or None] per parameter, without `self` of a method."""
        return [
            (p.name, p.kind.name, None if p.default is p.empty else (p.default,))
            for p in self._signature.parameters.values()
        ]

    @property
    def name(self):
        """The name of the Python function."""
        return self._function._name()

    @property
    def source(self):
        """The generated source of the function's compiled plans, for all signatures."""
        return self._function.source

    @property
    def graph(self):
        """Raise AttributeError, because functions are traced to plans and have no graph."""
        raise AttributeError(
            "ConcreteFunction.graph: functions are traced to plans, not graphs: read "
            "`source`, or explain() of the tf.function."
        )

    @property
    def structured_input_signature(self):
        """The signature: (positional arguments, keyword arguments) with TensorSpec for tensors."""
        bound = inspect.BoundArguments(self._signature, dict(self._bound))
        return bound.args, bound.kwargs

    @property
    def inputs(self):
        """A TensorSpec for each tensor among the arguments."""
        leaves = nest.flatten(list(self._bound.values()))
        return [leaf for leaf in leaves if isinstance(leaf, TensorSpec)]

    @property
    def structured_outputs(self):
        """The results, with TensorSpec for tensors; inferred by a symbolic call."""

        def symbolic(leaf):
            if isinstance(leaf, TensorSpec):
                return KerasTensor(tuple(leaf.shape), leaf.dtype)
            return leaf

        values = {k: nest.map_structure(symbolic, v) for k, v in self._bound.items()}
        bound = inspect.BoundArguments(self._signature, values)
        python = self._function.python_function
        results = python(*self._instance, *bound.args, **bound.kwargs)
        return nest.map_structure(_result_spec, results)

    @property
    def outputs(self):
        """A TensorSpec for each tensor among the results."""
        leaves = nest.flatten(self.structured_outputs)
        return [leaf for leaf in leaves if isinstance(leaf, TensorSpec)]

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """Return the signature as text, with one parameter per line, or in one line."""
        shown = {k: _text(v) for k, v in self._bound.items()}
        try:
            result = _text(self.structured_outputs)
        except Exception as error:  # of the user's function, or strings, which are not symbolic
            result = f"unknown before a call ({type(error).__name__} in a symbolic call)"
        if not verbose:
            return f"({', '.join(f'{k}: {v}' for k, v in shown.items())}) -> {result}"
        kinds = {k: p.kind.name for k, p in self._signature.parameters.items()}
        lines = [f"  {k} ({kinds[k]}): {v}" for k, v in shown.items()]
        return "\n".join(["Input Parameters:", *lines, "Output Type:", f"  {result}"])

    def __repr__(self):
        return f"<ConcreteFunction {self.pretty_printed_signature(verbose=False)}>"

    def __str__(self):
        return f"ConcreteFunction {self.pretty_printed_signature()}"


def _has_tensors(spec):
    return any(isinstance(leaf, TensorSpec) for leaf in nest.flatten(spec))


def _spec_of(value):
    """Return the TensorSpec of a tensor, and any other value unchanged."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = tensor(value)
    return TensorSpec.from_tensor(value) if isinstance(value, _TENSORS) else value


def _result_spec(value):
    numbers = (bool, int, float, complex)
    return _spec_of(tensor(value) if isinstance(value, numbers) else value)


def _fit(spec, value):
    """Return (whether `value` matches `spec`, a TensorSpec or literal; the value to pass on)."""
    if isinstance(spec, TensorSpec) and spec.value_type is not Tensor:
        return spec.is_compatible_with(value), value
    if not isinstance(spec, TensorSpec):
        return (not isinstance(value, _TENSORS) and value == spec), spec
    try:
        made = value if isinstance(value, (Tensor, Operand)) else tensor(value)
    except (TypeError, ValueError):
        return False, value
    return spec.is_compatible_with(made), made


def _text(value):
    if isinstance(value, TensorSpec):
        if value.value_type is not Tensor:
            return repr(value)
        return repr(TensorSpec(value.shape, value.dtype))
    if isinstance(value, dict):
        pairs = [f"[{k!r}, {_text(v)}]" for k, v in value.items()]
        return f"Dict[{', '.join(pairs)}]"
    if isinstance(value, (list, tuple)):
        kind = "List" if isinstance(value, list) else "Tuple"
        return f"{kind}[{', '.join(map(_text, value))}]"
    return f"Literal[{value!r}]"
