"""The inputs of an exported call: specs, names, and sizes to trace it with."""

import inspect
from typing import Any

from framework.core import dtypes, nest
from framework.core.errors import ExportError
from framework.layers.base import Layer
from framework.layers.input_spec import InputSpec
from framework.saving.onnx.sizes import size_from
from framework.saving.onnx.traces import filled

_BATCH = (2, 3, 5, 4)
_TRIALS = (
    ((7, 12, 17, 26), (10, 9, 19, 23), (8, 19, 21, 15)),
    ((32, 49, 57, 94), (40, 97, 75, 54), (36, 47, 101, 70)),
    ((64, 160, 96, 128), (96, 64, 192, 160), (128, 96, 64, 224)),
)
"""Sizes in the traces, for the batch and for others. Their differences are not proportional, and
they have different remainders, so that a size in the graph fits only the formula by which it was
computed. The last sizes fit networks that halve sizes several times."""


class Spec:
    """One input: its name, DType, and shape of ints and names of unknown sizes."""

    def __init__(self, name, dtype, shape):
        self.name, self.dtype, self.shape = name, dtype, shape

    def sizes(self, symbols):
        """Return the shape, in which a Size replaces the name of each unknown size."""
        return tuple(size_from(symbols[n]) if isinstance(n, str) else n for n in self.shape)


class Signature:
    """The call to export.

    Args:
        name: the name of the graph.
        function: a function that takes one tensor for each spec.
        specs: Specs.
        output_names: returns the names of the outputs, given the result of the call.
        arguments: the list of positional arguments, each a nest of specs.
        called_with: a function of this list, with tensors instead of specs.
    """

    def __init__(self, name, function, specs, output_names, arguments, called_with):
        self.name, self.function, self.specs = name, function, specs
        self.output_names = output_names
        self.arguments, self.called_with = arguments, called_with

    @property
    def symbols(self):
        """The names of unknown sizes."""
        return list(dict.fromkeys(n for s in self.specs for n in s.shape if isinstance(n, str)))

    def arrays(self, sizes, trace, fill):
        """Return an array for each spec with the sizes of one trace; `fill` is one of FILLS."""
        return [filled(s.sizes(sizes), s.dtype.np, trace, fill) for s in self.specs]


def trial_sizes(symbols):
    """Yield {name of an unknown size: its value in each trace}, small sizes first.

    Three traces are enough for an unknown batch size: two determine a linear function, the third
    confirms it. Other unknown sizes need a fourth trace. They get different values, and in a second
    trial equal values; if only that one succeeds, they have the same name in the file.
    """
    others = [name for name in symbols if name != "batch"]
    batch = {"batch": _BATCH if others else _BATCH[:3]} if "batch" in symbols else {}
    for rows in _TRIALS if others else _TRIALS[:1]:
        for same in (False, True) if len(others) > 1 else (False,):
            sizes = {name: rows[0 if same else i % 3] for i, name in enumerate(others)}
            yield {**batch, **sizes}


def of(function: Any, input_signature):
    """Return the Signature of a model, a layer or a function.

    Raises:
        ExportError: the specs of the inputs are not known.
    """
    args = _arguments(function, input_signature)
    leaves = nest.flatten(args)
    names = _names(function, args, leaves)
    specs = [_spec(leaf, name, i) for i, (leaf, name) in enumerate(zip(leaves, names))]
    is_layer = isinstance(function, Layer)
    options = {"training": False} if is_layer and _takes_training(function) else {}

    def called_with(arguments):
        return function(*arguments, **options)

    def call(*tensors):
        return called_with(nest.pack_sequence_as(args, tensors))

    name = getattr(function, "name", None) or getattr(function, "__name__", "graph")
    names = lambda result: _output_names(function, result)
    return Signature(name, call, specs, names, args, called_with)


def _takes_training(layer):
    parameters = inspect.signature(layer.call).parameters.values()
    return any(p.name == "training" or p.kind is p.VAR_KEYWORD for p in parameters)


def _arguments(function, given):
    """Return the list of positional arguments, each a nest of specs."""
    if given is not None:
        args = list(given) if isinstance(given, (list, tuple)) else [given]
        inputs = _inputs_of(function)
        if inputs is not None and len(args) > 1 and len(args) == len(nest.flatten(inputs)):
            # a functional model takes its inputs as one nested structure
            return [nest.pack_sequence_as(inputs, args)]
        return args
    known = getattr(function, "input_signature", None)
    if known:
        return list(known)
    inputs = _inputs_of(function)
    if inputs is not None:
        return [inputs]
    record = getattr(function, "_framework", None)
    if isinstance(function, Layer) and record.built_for is not None:
        return record.built_for
    if isinstance(function, Layer) and record.build_shapes:
        return [_of_shape(function, shape) for shape in record.build_shapes.values()]
    raise ExportError(
        "export: the shapes of the inputs are not known. Call the model on data first, or pass "
        "input_signature=[tf.TensorSpec((None, ...), dtype)], one spec for each argument."
    )


def _inputs_of(function):
    """Return the KerasTensors of a functional or built Sequential model, or None."""
    record = getattr(function, "_framework", None)
    inputs = getattr(record, "inputs_structure", None)
    if inputs is None and getattr(record, "input_layer", None) is not None:
        inputs = function.inputs[0]
    return inputs


def _of_shape(layer, shape):
    if isinstance(shape, dict):
        return {name: _of_shape(layer, s) for name, s in shape.items()}
    if isinstance(shape, list) or (shape and isinstance(shape[0], (tuple, list))):
        return [_of_shape(layer, s) for s in shape]
    return InputSpec(shape=(None, *shape[1:]), dtype=layer.input_dtype)


def _spec(leaf, name, place):
    shape = getattr(leaf, "shape", None)
    if shape is None or not hasattr(leaf, "dtype"):
        raise ExportError(
            "export: expected specs with a shape in input_signature (tf.TensorSpec, "
            f"keras.InputSpec, KerasTensor or arrays), got {leaf!r} for argument {place}."
        )
    dtype = dtypes.as_dtype(leaf.dtype or dtypes.floatx())
    sizes = [
        (("batch" if axis == 0 else f"{name}_dim{axis}") if n is None else int(n))
        for axis, n in enumerate(shape)
    ]
    return Spec(name, dtype, tuple(sizes))


def _names(function, args, leaves):
    """Return a name for each input: the spec's, its key in a dict, or the argument's."""
    keyed = {}
    for arg in args:
        if isinstance(arg, dict):
            keyed.update({id(v): k for k, v in arg.items() if not nest.is_nested(v)})
    parameters = _parameters(function)
    found, taken = [], set()
    for place, leaf in enumerate(leaves):
        name = keyed.get(id(leaf)) or getattr(leaf, "name", None)
        if not name and len(leaves) == len(args) and place < len(parameters):
            name = parameters[place]
        name = name or f"input_{place}"
        while name in taken:
            name = f"{name}_{place}"
        taken.add(name)
        found.append(name)
    return found


def _parameters(function):
    called = function.call if isinstance(function, Layer) else function
    called = getattr(called, "python_function", called)
    try:
        return [p for p in inspect.signature(called).parameters if p != "self"]
    except (TypeError, ValueError):
        return []


def _output_names(function, result):
    """Return a name for each output: the model's, its key in a dict, or a number."""
    count = len(nest.flatten(result))
    names = getattr(function, "output_names", None) if isinstance(function, Layer) else None
    stack = getattr(getattr(function, "_framework", None), "stack", None)
    if stack and not names:  # the output of a Sequential model has the name of its last layer
        names = [stack[-1].name]
    if names and len(names) == count:
        return _distinct(names)
    if isinstance(result, dict) and count == len(result):
        return [str(key) for key in result]
    return ["output"] if count == 1 else [f"output_{i}" for i in range(count)]


def _distinct(names):
    found = []
    for name in names:
        new, number = name, 1
        while new in found:
            new, number = f"{name}_{number}", number + 1
        found.append(new)
    return found
