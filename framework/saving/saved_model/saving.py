"""saved_model.save: write an object's variables and functions to a folder."""

import os
import shutil
from pathlib import Path
from typing import Any

from framework.core import nest
from framework.core.errors import InvalidArgumentError, SaveError
from framework.core.tensor_spec import TensorSpec
from framework.core.variable import CoreVariable
from framework.layers.base import Layer
from framework.saving.onnx import signature as model_signature
from framework.saving.saved_model.arrays import stored
from framework.saving.saved_model.functions import CallableOf, case_of, described
from framework.saving.saved_model.objects import (
    Asset,
    callable_of,
    functions_of,
    is_saveable,
    parts_of,
)
from framework.saving.saved_model.program import ProgramWriter
from framework.saving.saved_model.signatures import Place, SavedSignature, all_traced
from framework.saving.states import write_state
from framework.saving.writing import clear_errors

FILE, KIND, ASSETS = "saved_model.framework", "saved model", "assets"
SERVING = "serving_default"


def save(obj: Any, export_dir: Any, signatures: Any = None, options: Any = None) -> None:
    """Write variables, and the ops of compiled functions, to a folder.

    It saves the variables, objects, lists and assets that attributes of `obj` hold, and the
    functions decorated with `tf.function`, for each signature that they were called with or that
    `input_signature` or `get_concrete_function` gave. A function is saved as a list of calls of
    ops, so `load` needs none of its code. Sizes that are None in a signature remain unknown.

    TensorFlow cannot read the folder, whose format is specific to this package: for other programs,
    write an ONNX file with `model.export("model.onnx")`.

    Args:
        obj: a `tf.Module`, a model, a layer, or another object that holds variables.
        export_dir: a path; a saved model in it is replaced.
        signatures: a function, or a dict of functions by name, each a `tf.function` with one
            signature. They take tensors by name and return a dict of tensors. By default the call
            of a model, or the only function with an `input_signature`.
        options: a `SaveOptions`; without effect.

    Raises:
        SaveError: a function of `signatures` cannot be repeated as a list of ops, or the folder
            cannot be written.

    Warns:
        UserWarning: a signature of another function cannot be saved and is left out.

    Example:
        >>> import tempfile, framework as tf
        >>> class Line(tf.Module):
        ...     def __init__(self):
        ...         self.slope = tf.Variable(2.0)
        ...     @tf.function(input_signature=[tf.TensorSpec([None])])
        ...     def __call__(self, x):
        ...         return self.slope * x
        >>> folder = tempfile.mkdtemp()
        >>> tf.saved_model.save(Line(), folder)
        >>> line = tf.saved_model.load(folder)
        >>> line([1.0, 3.0]).numpy()
        array([2., 6.], dtype=float32)
        >>> _ = line.slope.assign(5.0)
        >>> line([1.0]).numpy()
        array([5.], dtype=float32)
    """
    if not is_saveable(obj):
        raise InvalidArgumentError(
            "saved_model.save: expected an object that holds variables, such as a tf.Module, a "
            f"layer or a model, got {type(obj).__name__}."
        )
    writer = _ModelWriter(obj)
    values = writer.values(signatures)
    folder = Path(os.fspath(export_dir))
    with clear_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, source in writer.assets.items():
            (folder / ASSETS).mkdir(exist_ok=True)
            target = folder / ASSETS / name
            if not target.exists() or not target.samefile(source):
                shutil.copyfile(source, target)
    write_state(folder / FILE, KIND, writer.arrays, values)


class _ModelWriter:
    """Collects the nodes, functions and arrays of a saved model."""

    def __init__(self, root):
        self.arrays, self.assets, self._nodes = {}, {}, []
        self._numbers, self._held = {}, []
        self._number_of(root)
        variables = [holder for holder in self._held if isinstance(holder, CoreVariable)]
        sizes = {n for v in variables for n in v.array.shape}
        self._programs = ProgramWriter(self.arrays, self._number_of_variable, sizes)
        self._root = root

    def values(self, signatures):
        """Return the object that the saved model's JSON file contains."""
        # signatures come first, because they raise errors where functions only cause warnings
        named = self._signatures(signatures)
        functions = {
            str(number): {name: described(name, function, self._programs)
                          for name, function in functions_of(holder).items()}
            for number, holder in enumerate(self._held)
        }  # fmt: skip
        return {
            "nodes": self._nodes, "functions": {k: v for k, v in functions.items() if v},
            "signatures": named,
        }  # fmt: skip

    def _number_of_variable(self, variable):
        return self._numbers.get(id(variable))

    def _number_of(self, holder):
        """Return the index of an object's node; the first call for an object adds its node."""
        if id(holder) in self._numbers:
            return self._numbers[id(holder)]
        number = self._numbers[id(holder)] = len(self._nodes)
        self._held.append(holder)  # keeping the object alive keeps its id valid
        node = {}
        self._nodes.append(node)
        node.update(self._described(holder, number))
        return number

    def _described(self, holder, number):
        if isinstance(holder, CoreVariable):
            sizes = list(getattr(holder, "shape", ()))
            array = stored(f"variable/{number}", holder.array, self.arrays)
            return {"kind": "variable", "array": array, "trainable": bool(holder.trainable),
                    "name": str(holder.name).partition(":")[0], "shape": sizes}  # fmt: skip
        if isinstance(holder, Asset):
            name = f"{number}_{Path(holder.asset_path).name}"
            self.assets[name] = holder.asset_path
            return {"kind": "asset", "file": name}
        kind = next((k.__name__ for k in (list, tuple, dict) if isinstance(holder, k)), "object")
        inner = {name: self._number_of(child) for name, child in parts_of(holder).items()}
        return {"kind": kind, "children": inner}

    # ---- signatures ----

    def _signatures(self, given):
        if given is None:
            return self._default_signatures()
        if not isinstance(given, dict):
            given = {SERVING: given}
        return {str(name): self._signature(str(name), f) for name, f in given.items()}

    def _default_signatures(self):
        if isinstance(self._root, Layer):
            known = _has_known_inputs(self._root)
            return {SERVING: self._signature(SERVING, self._root)} if known else {}
        single = [f for f in functions_of(self._root).values() if len(f.signatures) == 1]
        if len(single) != 1 or not _takes_only_tensors(single[0]):
            return {}
        try:
            return {SERVING: self._signature(SERVING, single[0])}
        except (SaveError, InvalidArgumentError):
            return {}  # no error: this signature is a default, and a warning names the function

    def _signature(self, name, function):
        if isinstance(function, Layer):
            given = model_signature.of(function, None)
            specs = [TensorSpec([None if isinstance(n, str) else n for n in s.shape], s.dtype,
                                s.name) for s in given.specs]  # fmt: skip
            call, names = given.function, [s.name for s in given.specs]
            signature = SavedSignature(specs, {})
        else:
            call, signature, names = _named_signature(name, function)
        traced = all_traced(call, signature, name, self._programs.sizes)
        outputs = _output_names(name, traced[0].structure)
        for found in traced:
            found.structure = [Place(i) for i in range(len(found.specs))]
        cases = [case_of(found, self._programs) for found in traced]
        parameters = [[n, "POSITIONAL_ONLY", None] for n in _identifiers(names)]
        described = {"name": name, "parameters": parameters, "cases": cases, "reasons": []}
        return {"inputs": names, "outputs": outputs, "function": described}


def _identifiers(names):
    return [f"x{i}" for i in range(len(names))]


def _has_known_inputs(layer):
    try:
        model_signature.of(layer, None)
    except SaveError:
        return False
    return True


def _takes_only_tensors(function):
    (args, kwargs) = function.signatures[0]
    leaves = nest.flatten([list(args), dict(kwargs)])
    return all(isinstance(leaf, TensorSpec) for leaf in leaves)


def _named_signature(name, function):
    """Return (function of the tensors, their SavedSignature, their names)."""
    made = function if isinstance(function, CallableOf) else callable_of(function)
    if made is None:
        raise InvalidArgumentError(
            f"saved_model.save: the signature {name!r}: expected a tf.function or what its "
            f"get_concrete_function returns, got {type(function).__name__}."
        )
    if len(made.signatures) != 1:
        raise InvalidArgumentError(
            f"saved_model.save: the signature {name!r}: expected a function with one signature, "
            f"got {len(made.signatures)}. Pass function.get_concrete_function(...), with a "
            "tf.TensorSpec for each tensor."
        )
    ((args, kwargs),) = made.signatures
    whole = SavedSignature(args, kwargs)
    names = _input_names(made.parameters, whole)

    def call(*tensors):
        args, kwargs = whole.with_tensors(tensors)
        return made.call(*args, **kwargs)

    return call, SavedSignature(whole.specs, {}), names


def _input_names(parameters, signature):
    names = [name for name, *_ in parameters]
    by_name = dict(zip(names, signature.args), **signature.kwargs)
    found = []
    for parameter, value in by_name.items():
        leaves = nest.flatten(value)
        keys = sorted(value) if isinstance(value, dict) else range(len(leaves))
        for key, leaf in zip(keys, leaves):
            if not isinstance(leaf, TensorSpec):
                continue
            single = parameter if len(leaves) == 1 else f"{parameter}_{key}"
            own = str(key) if isinstance(value, dict) else single
            found.append(leaf.name or own)
    if len(set(found)) < len(found):
        found = [f"{name}_{i}" if found.count(name) > 1 else name for i, name in enumerate(found)]
    return found


def _output_names(name, structure):
    """Return a name for each tensor of a signature's result."""
    if isinstance(structure, dict):
        for key, value in structure.items():
            if not isinstance(key, str) or type(value) is not Place:
                raise InvalidArgumentError(
                    f"saved_model.save: the signature {name!r} must return tensors, or a dict of "
                    f"tensors with strings as keys, got {key!r}: {type(value).__name__}."
                )
        return [k for k, _ in sorted(structure.items(), key=lambda item: item[1].number)]
    leaves = nest.flatten(structure)
    if any(type(leaf) is not Place for leaf in leaves if leaf is not None):
        raise InvalidArgumentError(
            f"saved_model.save: the signature {name!r} must return tensors, or a dict of tensors."
        )
    return [f"output_{i}" for i in range(sum(leaf is not None for leaf in leaves))]
