"""Functional: a model defined by calls of layers and ops on KerasTensors."""

import inspect
import warnings

import numpy as np

from framework.core import nest
from framework.core.cast import cast
from framework.core.composite import Composite
from framework.core.configs import CustomObjectScope
from framework.core.conversion import array_of, tensor
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Tensor
from framework.layers.base import Layer
from framework.layers.calls import as_input
from framework.layers.core import InputLayer
from framework.layers.symbolic_calls import mask_of
from framework.layers.tracking import track
from framework.models.functional_config import ends_of, graph_config
from framework.models.graph import CallSequence, FunctionalGraph
from framework.models.model import Model
from framework.ops.movement import expand_axes, reshape


class Functional(Model, makes_masks=False, locks=False):
    """The class of `Model(inputs, outputs)`: all layer and op calls between the two.

    Args:
        inputs: KerasTensors, any nest of them.
        outputs: KerasTensors computed from the inputs, any nest of them.
        name: a string.
        trainable: whether its variables are trained.
    """

    _convert_input_args = False  # inputs are not cast: each Input has its own dtype
    _allow_non_tensor_positional_args = True

    def __init__(self, inputs, outputs, name=None, trainable=True, **kwargs):
        Layer.__init__(self, name=name, **kwargs)
        flat_outputs = _checked(outputs, "outputs")
        flat_inputs = _checked(inputs, "inputs")
        starts = [_as_input_tensor(x) for x in flat_inputs]
        moved = {id(old): new for old, new in zip(flat_inputs, starts) if old is not new}
        graph = FunctionalGraph(starts, flat_outputs, moved)
        record = self._framework
        record.graph, record.sequence = graph, CallSequence(graph, starts, flat_outputs)
        record.inputs_structure = nest.pack_sequence_as(inputs, starts)
        record.outputs_structure = outputs
        record.unpacks = isinstance(outputs, (list, tuple)) and len(outputs) == 1
        record.graph_layers = [o for o in graph.operations if isinstance(o, Layer)]
        self.__dict__.update(inputs=starts, outputs=flat_outputs)
        for layer in self._framework.graph_layers:
            track(self, layer)
        self.built = True
        self._framework.path = self.name
        if not trainable:
            self.trainable = False

    def build(self, input_shape=None):
        """Do nothing, because calling the layers on KerasTensors has built them."""

    @property
    def layers(self):
        """The layers in the graph, from the inputs to the outputs."""
        return list(self._framework.graph_layers)

    layers = layers.setter(Model.layers.fset)

    @property
    def operations(self):
        """The layers and the op calls between them."""
        return list(self._framework.graph.operations)

    @property
    def input(self):
        """The input KerasTensors, in the structure that the user passed."""
        return self._framework.inputs_structure

    @property
    def output(self):
        """The output KerasTensors, in the structure that the user passed."""
        return self._framework.outputs_structure

    @property
    def input_shape(self):
        return _one_or_all([x.shape for x in self.inputs])

    @property
    def output_shape(self):
        return _one_or_all([x.shape for x in self.outputs])

    @property
    def input_names(self):
        return [x.name for x in self.inputs]

    @property
    def output_names(self):
        return [x.origin[0].name for x in self.outputs]

    def call(self, inputs, training=None, mask=None):
        flat = _flat_inputs(self, inputs)
        flat = [standardized(x, ref, self.name) for x, ref in zip(flat, self.inputs)]
        if mask is not None:
            for x, x_mask in zip(flat, nest.flatten(mask)):
                if x_mask is not None:
                    x._keras_mask = x_mask
        outputs = self._framework.sequence.run(flat)
        if len(outputs) == 1 and (
            self._framework.unpacks or not nest.is_nested(self._framework.outputs_structure)
        ):
            return outputs[0]
        return nest.pack_sequence_as(self._framework.outputs_structure, outputs)

    def compute_mask(self, inputs, previous_mask):
        """Return None, because the inner layers set the outputs' masks."""

    def get_config(self):
        """Return the layers and their calls in Keras's format.

        For a subclass with its own constructor arguments, return the config of a layer instead.
        """
        if not _takes_ends(type(self)):
            return super().get_config()
        return graph_config(self)

    def get_build_config(self):
        """Return the placeholder that Keras writes for models that are built from the start."""
        return {"input_shape": None}


_ENDS = ("layers", "input_layers", "output_layers")


def _from_config(cls, config, custom_objects):
    if "layers" not in config or not _takes_ends(cls):
        return cls(**config)
    with CustomObjectScope(custom_objects):
        inputs, outputs = ends_of(config)
    options = {k: v for k, v in config.items() if k not in ("dtype", *_ENDS)}
    if options.get("trainable") is None:
        options.pop("trainable", None)
    return cls(inputs=inputs, outputs=outputs, **options)


def _takes_ends(cls):
    """Return whether the constructor of a class takes the arguments of `Functional`."""
    if cls.__init__ in (Functional.__init__, Model.__init__):
        return True
    parameters = inspect.signature(cls.__init__).parameters.values()
    return {p.kind for p in parameters} >= {
        inspect.Parameter.VAR_POSITIONAL,
        inspect.Parameter.VAR_KEYWORD,
    }


Model._framework.functional = Functional
Model._framework.from_config = _from_config


def _checked(structure, which):
    flat = nest.flatten(structure)
    for x in flat:
        if not isinstance(x, KerasTensor):
            raise InvalidArgumentError(
                f"All `{which}` values must be KerasTensors. Received: {which}={structure} "
                f"including invalid value {x!r} of type {type(x).__name__}."
            )
    return flat


def _as_input_tensor(x):
    """Return `x` if it is an input; for an inner tensor of another model, return a new input."""
    if x.origin is not None and isinstance(x.origin[0], InputLayer):
        return x
    if x.origin is None:  # no call computed it, so it becomes an input itself
        return InputLayer(input_tensor=x).output
    return InputLayer(batch_shape=x.shape, dtype=x.dtype).output


def _one_or_all(shapes):
    return shapes[0] if len(shapes) == 1 else shapes


def _agree(sizes, others):
    return all(a is None or b is None or a == b for a, b in zip(sizes, others))


def _number(x, ref, name):
    """Cast the tensor `x` to the dtype of the input `ref`; raise DTypeError for text."""
    try:
        return cast(x, dtype=ref.dtype.np)
    except ValueError:
        if type(x) is not Tensor or x.array.dtype.kind not in "OSU":
            raise
    example = x.array.ravel()[0]
    example = example.decode(errors="replace") if isinstance(example, bytes) else example
    raise DTypeError(
        f"Input {ref.name!r} of model {name!r}: expected numbers of dtype {ref.dtype}, got text "
        f"such as {example!r}. Give the model an Input of dtype='string' with a StringLookup or "
        "TextVectorization layer after it, or encode the text before the call."
    )


def standardized(x, ref, name, sizes=True):
    """Return `x` as a tensor of the dtype of the input `ref`; add or remove a last axis of size 1.

    Args:
        x: an array, tensor or KerasTensor, or None for an optional input.
        ref: the KerasTensor of the input.
        name: the model's name, for errors.
        sizes: also compare the sizes of all axes but the first.

    Raises:
        ShapeError: the rank or (with `sizes`) a size differs.
    """
    if type(x) is Tensor:  # the most frequent case: the tensor needs no conversion
        array = x.array
        shape = array.shape
        if array.dtype is ref.dtype.np and shape[1:] == ref.shape[1:] and shape:
            return x
    if x is None:
        return _missing(ref, name)
    converted = x
    if isinstance(x, Composite):
        converted = _standardized_composite(x, ref)
        if isinstance(converted, Composite):
            return converted
    elif not isinstance(x, (Tensor, KerasTensor)):
        converted = as_input(x, ref.dtype)
        if not isinstance(converted, (Tensor, KerasTensor)):
            converted = Tensor(array_of(converted, ref.dtype))
    if converted.dtype is not ref.dtype:
        converted = _number(converted, ref, name)
    expected = ref.shape
    converted = _with_rank(converted, expected)
    shape = converted.shape
    if len(shape) != len(expected) or (sizes and not _agree(expected[1:], shape[1:])):
        raise ShapeError(
            f"Input {ref.name!r} of model {name!r} is incompatible with it: expected "
            f"shape={expected}, found shape={tuple(getattr(x, 'shape', shape))}."
        )
    mask = mask_of(x)
    if mask is not None and converted is not x:
        converted._keras_mask = mask
    return converted


def _with_rank(x, expected):
    """Return `x` with a last axis of size 1 removed or added, to match the rank of `expected`."""
    shape = x.shape
    if len(shape) == len(expected) + 1 and shape[-1] == 1:
        return reshape(x, shape=tuple(shape[:-1]))
    if len(shape) == len(expected) - 1 and expected[-1] == 1:
        return expand_axes(x, (len(shape),))
    return x


def _missing(ref, name):
    if getattr(ref.origin[0], "optional", False):
        return
    raise InvalidArgumentError(
        f"The input {ref.name!r} of model {name!r} is not optional, but None was passed."
    )


def _standardized_composite(x, ref):
    """Return a SparseTensor if the input is sparse; otherwise convert it to a dense tensor."""
    x = as_input(x, ref.dtype)
    fits = len(x.shape) == len(ref.shape) and _agree(ref.shape[1:], tuple(x.shape)[1:])
    return x if fits and x.dtype is ref.dtype else tensor(x)


def _listed(model, inputs):
    """Return the inputs as a list; if the model has one input, a list of numbers is its array."""
    if not nest.is_nested(inputs):
        return [inputs]
    leaves = nest.flatten(inputs)
    if all(isinstance(leaf, (int, float)) for leaf in leaves):
        return [inputs] if len(model.inputs) == 1 else list(inputs)
    same = isinstance(model._framework.inputs_structure, (list, tuple)) and len(inputs) == len(
        model.inputs
    )
    return list(inputs) if same else leaves


def _shape(x):
    return tuple(x.shape) if hasattr(x, "shape") else np.shape(x)


def _mismatch(model, inputs):
    expected = nest.map_structure(lambda x: x.name, model._framework.inputs_structure)
    found = nest.map_structure(lambda x: f"Tensor(shape={_shape(x)})", inputs)
    return (
        "The structure of `inputs` doesn't match the expected structure.\n"
        f"Expected: {expected}\nReceived: inputs={found}"
    )


def _flat_inputs(model, inputs):
    """Return the inputs as a list in the order of `model.inputs`; dicts are matched by name."""
    if isinstance(inputs, dict):
        structure = model._framework.inputs_structure
        by_key = isinstance(structure, dict)
        names = nest.flatten({k: k for k in structure}) if by_key else model.input_names
        missing = [name for name in names if name not in inputs]
        if by_key and not missing and len(inputs) > len(structure):
            warnings.warn(_mismatch(model, inputs), stacklevel=2)
        if missing:
            raise InvalidArgumentError(
                f"Missing data for input {missing[0]!r} of model {model.name!r}. You passed the "
                f"keys {list(inputs)}, expected {names}."
            )
        return nest.flatten([inputs[name] for name in names])
    structure = model._framework.inputs_structure
    if isinstance(structure, dict):
        if len(nest.flatten(inputs)) != len(model.inputs):
            raise InvalidArgumentError(
                f"Model {model.name!r} expects {len(structure)} named input(s) with keys "
                f"{list(structure)}. {_mismatch(model, inputs)}"
            )
        if list(structure) != sorted(structure):
            raise InvalidArgumentError(f"{_mismatch(model, inputs)} Pass a dict.")
        warnings.warn(_mismatch(model, inputs), stacklevel=2)
    flat = _listed(model, inputs)
    if len(flat) != len(model.inputs):
        raise InvalidArgumentError(
            f"Model {model.name!r} expects {len(model.inputs)} input(s) {model.input_names}, but "
            f"it received {len(flat)} input tensors."
        )
    return flat
