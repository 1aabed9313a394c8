"""Functions of a saved model: saved as one program for each signature, and run when loaded."""

import warnings
from typing import Any

import numpy as np

from framework.compiler.concrete_function import ConcreteFunction
from framework.compiler.function import Function
from framework.core import nest
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, LoadError, NotFoundError, SaveError
from framework.core.operand import Operand
from framework.core.tensor import Tensor
from framework.core.tensor_spec import TensorSpec
from framework.saving.saved_model.literals import decoded, encoded
from framework.saving.saved_model.program import Program
from framework.saving.saved_model.signatures import (
    Place,
    SavedSignature,
    all_traced,
    parameters_of,
    signature_from,
)

# ---- writing -------------------------------------------------------------------------------------


def described(name, function, writer):
    """Return the JSON value of a function: its parameters, and a program for each signature.

    A signature that cannot be saved is left out with a warning, whose reason the loaded function
    repeats if it has no signature.

    Args:
        name: the name of the attribute, for messages.
        function: a CallableOf.
        writer: a ProgramWriter.
    """
    found = [_cases_or_reason(name, function, given, writer) for given in function.signatures]
    cases = [case for made, _ in found for case in made]
    reasons = [reason for _, reason in found if reason is not None]
    if reasons:
        warnings.warn(
            f"saved_model.save: the function {name!r} is saved without {len(reasons)} of its "
            f"signatures: {reasons[0]}", stacklevel=2,
        )  # fmt: skip
    parameters = [[n, kind, _default(default)] for n, kind, default in function.parameters]
    return {"name": name, "parameters": parameters, "cases": cases, "reasons": reasons}


def _cases_or_reason(name, function, given, writer):
    """Return (the JSON values of one signature, None), or ([], why it cannot be saved)."""
    args, kwargs = given
    try:
        bound = signature_from(function.parameters).bind(*args, **kwargs)
        bound.apply_defaults()
        signature = SavedSignature(bound.args, bound.kwargs)
        traced = all_traced(function.call, signature, name, writer.sizes)
        return [case_of(found, writer) for found in traced], None
    except (SaveError, InvalidArgumentError, NotFoundError, TypeError) as error:
        return [], str(error)  # NotFoundError: an argument names a file to read


def _default(default):
    try:
        return None if default is None else [encoded(default[0])]
    except SaveError:
        return [None]


def case_of(found, writer):
    """Return the JSON value of a TracedFunction."""
    return {
        "args": encoded(found.signature.args), "kwargs": encoded(found.signature.kwargs),
        "program": writer.described(found.graph), "shared": found.shared,
        "structure": encoded(found.structure, _place),
        "outputs": encoded(found.specs),
    }  # fmt: skip


def _place(value):
    return {"tensor": value.number} if type(value) is Place else None


class CallableOf:
    """A function to save: the callable, its parameters and its signatures.

    Args:
        function: a Function, ConcreteFunction or RestoredFunction.
        instance: the object whose method it is, or None.
    """

    def __init__(self, function, instance=None):
        if isinstance(function, (RestoredFunction, LoadedSignature)):
            self.call, self.parameters = function, function.parameters
            self.signatures = function.signatures
            return
        if isinstance(function, ConcreteFunction):
            self.call, self.signatures = function, [function.structured_input_signature]
            self.parameters = function.parameters
            return
        python = function.python_function
        self.call = python if instance is None else lambda *a, **k: python(instance, *a, **k)
        self.parameters = parameters_of(python)[int(instance is not None) :]
        self.signatures = function.signatures_of(instance)


# ---- reading -------------------------------------------------------------------------------------


class RestoredFunction:
    """A function of a saved model, which calls the program whose signature fits.

    Args:
        description: the JSON value of `described`.
        array_of, variables: as for Program.
    """

    def __init__(self, description, array_of, variables):
        self.__name__ = str(description["name"])
        self.parameters = [
            (name, kind, None if default is None else (decoded(default)[0],))
            for name, kind, default in description["parameters"]
        ]
        self._signature = signature_from(self.parameters)
        self._cases = [_Case(case, array_of, variables) for case in description["cases"]]
        self._reasons = description["reasons"]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise InvalidArgumentError(f"{self.__name__}: {error}.") from None
        bound.apply_defaults()
        for case in self._cases:
            tensors = case.fitted(bound.args, bound.kwargs)
            if tensors is not None:
                return case.run(tensors)
        raise InvalidArgumentError(self._mismatch(bound))

    def _mismatch(self, bound):
        if not self._cases:
            reason = self._reasons[0] if self._reasons else (
                "It was never called and has no input_signature, so there was nothing to trace."
            )  # fmt: skip
            return f"{self.__name__} was saved without a signature. {reason}"
        options = "; ".join(f"{i}: {c.text}" for i, c in enumerate(self._cases, 1))
        given = nest.map_structure(_shown, [list(bound.args), bound.kwargs])
        return (
            f"Could not find matching concrete function to call loaded from the SavedModel. Got: "
            f"{given[0]}, {given[1]}. Expected one of the following {len(self._cases)} option(s): "
            f"{options}."
        )

    @property
    def signatures(self):
        """The saved signatures as [(args, kwargs)], with a TensorSpec for each tensor."""
        return [(case.signature.args, case.signature.kwargs) for case in self._cases]

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any:
        """Return the function for one signature, given by specs or tensors."""
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        for case in self._cases:
            if case.accepts(bound.args, bound.kwargs):
                return case.run_with_arguments
        raise InvalidArgumentError(self._mismatch(bound))

    def __repr__(self):
        return f"<function {self.__name__} of a saved model>"


class _Case:
    """One signature of a restored function."""

    def __init__(self, case, array_of, variables):
        self.signature = SavedSignature(decoded(case["args"]), decoded(case["kwargs"]))
        self._specs, self._shared = self.signature.specs, case["shared"]
        self.structure = decoded(case["structure"], {"tensor": Place})
        self.outputs = decoded(case["outputs"])
        program = Program(case["program"], array_of, variables)
        if program.inputs != len(self._specs):
            raise LoadError("The saved model is damaged: a program has the wrong number of inputs.")
        self._run = Function(program.run)

    @property
    def text(self):
        return f"{self.signature.args}, {self.signature.kwargs}"

    def accepts(self, args, kwargs):
        """Return whether specs or tensors fit this signature."""
        return self._leaves(args, kwargs) is not None

    def _leaves(self, args, kwargs):
        """Return the tensors among the arguments, or None if the arguments do not fit."""
        own, given = [self.signature.args, self.signature.kwargs], [list(args), dict(kwargs)]
        pairs = _paired(own, given)
        if pairs is None:
            return None
        found = []
        for wanted, value in pairs:
            if not isinstance(wanted, TensorSpec):
                if isinstance(value, (Tensor, TensorSpec, np.ndarray)) or value != wanted:
                    return None
            elif not isinstance(value, TensorSpec) or not wanted.is_compatible_with(value):
                value = _converted(wanted, value)  # noqa: PLW2901
                if value is None:
                    return None
                found.append(value)
        return found

    def fitted(self, args, kwargs):
        """Return the tensors among the arguments if they fit this signature, else None."""
        return self._leaves(args, kwargs)

    def run(self, tensors):
        """Run the program on tensors and return the result."""
        if self._shared:
            self._check_first_axes(tensors)
        found = self._run(*tensors)
        return nest.map_structure(
            lambda leaf: found[leaf.number] if type(leaf) is Place else leaf, self.structure
        )

    def run_with_arguments(self, *args, **kwargs):
        """Run the program on the arguments of the function and return the result."""
        tensors = self.fitted(args, kwargs)
        if tensors is None:
            raise InvalidArgumentError(
                f"A function of the saved model: expected arguments that fit {self.text}."
            )
        return self.run(tensors)

    def _check_first_axes(self, tensors):
        opens = zip(self._specs, tensors)
        sizes = [len(t.array) for spec, t in opens if spec.shape and spec.shape[0] is None]
        if len(set(sizes)) > 1:
            raise InvalidArgumentError(
                f"A function of the saved model: expected tensors with the same size of the first "
                f"axis, got {sizes}."
            )


def _paired(own, given):
    """Return the pairs of leaves of two nests, or None if their structures differ."""
    if isinstance(own, dict):
        if not isinstance(given, dict) or set(own) != set(given):
            return None
        return _joined(_paired(own[key], given[key]) for key in own)
    if nest.is_nested(own) and not isinstance(own, TensorSpec):
        if not nest.is_nested(given) or isinstance(given, dict) or len(own) != len(given):
            return None
        return _joined(_paired(a, b) for a, b in zip(own, given))
    return [(own, given)]


def _joined(parts):
    parts = list(parts)
    return None if any(part is None for part in parts) else [p for part in parts for p in part]


def _converted(spec, value):
    """Return a value as a tensor that fits a spec, or None."""
    if value is None or isinstance(value, TensorSpec):
        return None
    try:
        if isinstance(value, (Tensor, Operand)) or hasattr(value, "dtype"):
            made = tensor(value)
        else:
            made = tensor(value, spec.dtype)
    except (TypeError, ValueError):
        return None
    return made if spec.is_compatible_with(made) else None


def _shown(value):
    if isinstance(value, (Tensor, np.ndarray)) or hasattr(value, "assign_add"):
        return TensorSpec(value.shape, value.dtype)
    return value


class LoadedSignature:
    """A signature of a saved model: it takes tensors by name and returns a dict of tensors.

    Args:
        description: {"inputs": names, "outputs": names, "function": a result of `described`}.
        array_of, variables: as for Program.
    """

    def __init__(self, name, description, array_of, variables):
        self.name = name
        self._inputs, self._outputs = list(description["inputs"]), list(description["outputs"])
        self._function = RestoredFunction(description["function"], array_of, variables)

    def __call__(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        if len(args) > len(self._inputs):
            raise InvalidArgumentError(
                f"The signature {self.name!r} takes {len(self._inputs)} arguments, got {len(args)}."
            )
        given = dict(zip(self._inputs, args), **kwargs)
        if set(given) != set(self._inputs):
            raise InvalidArgumentError(
                f"The signature {self.name!r}: expected the arguments {self._inputs}, got "
                f"{sorted(given)}."
            )
        found = self._function(*(given[name] for name in self._inputs))
        return dict(zip(self._outputs, found))

    @property
    def parameters(self):
        return [(name, "POSITIONAL_OR_KEYWORD", None) for name in self._inputs]

    @property
    def signatures(self):
        return self._function.signatures

    @property
    def structured_input_signature(self):
        """The pair ((), {name: TensorSpec of an argument})."""
        args, _ = self._function.signatures[0]
        return (), {
            name: TensorSpec(spec.shape, spec.dtype, name) for name, spec in zip(self._inputs, args)
        }

    @property
    def structured_outputs(self):
        """The dict {name: TensorSpec of a result}."""
        case = self._function._cases[0]
        return {
            name: TensorSpec(spec.shape, spec.dtype, name)
            for name, spec in zip(self._outputs, case.outputs)
        }

    @property
    def inputs(self):
        return list(self.structured_input_signature[1].values())

    @property
    def outputs(self):
        return list(self.structured_outputs.values())

    def __repr__(self):
        shown = {name: repr(spec) for name, spec in self.structured_outputs.items()}
        return f"<signature {self.name!r} of a saved model: {self._inputs} -> {shown}>"
