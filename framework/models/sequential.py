"""Sequential: a model that is a stack of layers."""

from typing import Any

from framework.core import nest
from framework.core.argument_types import ShapeLike, TensorLike
from framework.core.configs import serialize_value
from framework.core.errors import InvalidArgumentError, OutOfRangeError, SymbolicValueError
from framework.core.symbolic import KerasTensor
from framework.layers.base import Layer
from framework.layers.building import naming
from framework.layers.core import InputLayer
from framework.layers.nested import as_layer
from framework.layers.symbolic_calls import run_symbolically
from framework.layers.tracking import remove_owned, track
from framework.models.functional import standardized
from framework.models.model import Model


class Sequential(Model, makes_masks=False, locks=False):
    """A stack of layers: each layer's input is the output of the layer before.

    If the first layer is an `Input`, the weights are created at once, otherwise by the first call,
    by `fit` or by `build(input_shape)`.

    Args:
        layers: a list of layers.
        trainable: whether its variables are trained.
        name: a string.

    Example:
        >>> import numpy as np
        >>> from framework.layers import Dense, Input
        >>> model = Sequential([Input((3,)), Dense(4, activation="relu"), Dense(1)])
        >>> model(np.ones((2, 3))).shape, model.count_params()
        (TensorShape([2, 1]), 21)
    """

    def __init__(self, layers: Any = None, trainable: bool = True, name: str | None = None):
        super().__init__(trainable=trainable, name=name)
        self._framework.stack = []
        for layer in layers or ():
            self.add(layer)

    # ---- the stack ----

    def add(self, layer: Any, rebuild: bool = True) -> None:
        """Append a layer; `rebuild` is accepted for compatibility."""
        if isinstance(layer, KerasTensor) and layer.origin is not None:
            layer = layer.origin[0]
        if not isinstance(layer, Layer):
            raise InvalidArgumentError(
                "Only instances of `keras.Layer` can be added to a Sequential model. Received: "
                f"{layer!r} (of type {type(layer).__name__})"
            )
        present = [
            *self._framework.stack,
            *([self._framework.input_layer] if self._framework.input_layer else ()),
        ]
        if any(layer.name == other.name and layer is not other for other in present):
            raise InvalidArgumentError(
                "All layers added to a Sequential model should have unique names. Name "
                f"{layer.name!r} is already the name of a layer in this model. Update the `name` "
                "argument to pass a unique name."
            )
        if isinstance(layer, InputLayer):
            _begin_at(self, layer)
            return
        if not self._framework.stack and self._framework.input_layer is None:
            _take_input_of(self, layer)
        self._framework.stack.append(layer)
        track(self, layer)
        if self._framework.output is not None:
            _put_on(self, layer)
        else:
            self.built = False

    def pop(self, rebuild: bool = True):
        """Remove the last layer and return it; `rebuild` is accepted for compatibility."""
        if not self._framework.stack:
            raise OutOfRangeError(f"Sequential model {self.name!r} has no layers to pop.")
        layer = self._framework.stack.pop()
        if layer not in self._framework.stack:
            remove_owned(self, layer)
        if self._framework.input_layer is not None:
            _connect(self)
        return layer

    # ---- building and calling ----

    def build(self, input_shape: ShapeLike = None) -> None:
        """Create the weights for inputs of this shape; its first element is ignored."""
        if not self._framework.stack:
            raise InvalidArgumentError(
                f"Sequential model {self.name!r} cannot be built because it has no layers. Call "
                "`model.add(layer)`."
            )
        if not _is_shape(input_shape):
            return  # a model with several inputs is built by its first call
        shape = (None, *input_shape[1:])
        if self._framework.input_layer is None:
            layer = InputLayer(batch_shape=shape, dtype=_input_dtype(self._framework.stack[0]))
            self._framework.input_layer = layer
        elif not _agree(self._framework.input_layer.batch_shape, shape):
            raise InvalidArgumentError(
                f"Sequential model {self.name!r} has already been configured to use input shape "
                f"{self._framework.input_layer.batch_shape}. You cannot build it with input_shape "
                f"{tuple(input_shape)}."
            )
        if self._framework.is_symbolic:
            _connect(self)

    def call(self, inputs: TensorLike, training: Any = None, mask: TensorLike = None) -> Any:
        if self._framework.input_layer is not None:
            inputs = standardized(
                inputs, self._framework.input_layer.output, self.name, sizes=False
            )
        if mask is not None:
            inputs._keras_mask = mask
        for layer in self._framework.stack:
            inputs = layer(inputs)
        return inputs

    def compute_output_shape(self, input_shape: ShapeLike) -> Any:
        """Return the outputs' shape for inputs of a shape, without building any layer."""
        for layer in self._framework.stack:
            input_shape = layer.compute_output_shape(input_shape)
        return input_shape

    def compute_output_spec(self, *args: Any, **kwargs: Any):
        return run_symbolically(self, args, kwargs)

    def compute_mask(self, inputs: TensorLike, previous_mask: Any) -> None:
        """Return None, because the inner layers set the outputs' masks."""

    # ---- config ----

    def get_config(self) -> dict[str, Any]:
        """Return the configs of the layers in Keras's format."""
        record = self._framework
        layers = [*([record.input_layer] if record.input_layer else ()), *record.stack]
        config = {
            "name": self.name,
            "trainable": record.trainable,
            "dtype": serialize_value(record.dtype_policy),
            "layers": [serialize_value(layer) for layer in layers],
        }
        if record.input_layer is not None:
            config["build_input_shape"] = tuple(record.input_layer.batch_shape)
        return config

    @classmethod
    def from_config(cls, config: Any, custom_objects: Any = None):
        """Return the model that `get_config` described, with new layers and new weights."""
        if "layers" not in config:
            return cls(**config)
        model = cls(name=config.get("name"))
        for layer in config["layers"]:
            model.add(as_layer(layer, custom_objects))
        shape = config.get("build_input_shape")
        if shape and model._framework.input_layer is None:
            model.build(tuple(shape))
        if config.get("trainable") is False:
            model.trainable = False
        return model

    def get_build_config(self):
        """Return the input's shape, if it is known."""
        start = self._framework.input_layer
        return None if start is None else {"input_shape": tuple(start.batch_shape)}

    # ---- properties ----

    @property
    def layers(self):
        """The layers, without the input layer."""
        return list(self._framework.stack)

    @layers.setter
    def layers(self, _: Any):
        raise AttributeError(
            "`Sequential.layers` attribute is reserved and should not be used. Use `add()` and "
            "`pop()` to change the layers in this model."
        )

    @property
    def inputs(self):
        """The input KerasTensor, in a list."""
        return [
            _end(self, "inputs", self._framework.input_layer and self._framework.input_layer.output)
        ]

    @property
    def outputs(self):
        """The output KerasTensors, a list."""
        return nest.flatten(_end(self, "outputs", self._framework.output))

    @property
    def input(self):
        return self.inputs[0]

    @property
    def output(self):
        return _end(self, "output", self._framework.output)

    @property
    def input_shape(self):
        return self.inputs[0].shape

    @property
    def output_shape(self):
        shapes = [x.shape for x in self.outputs]
        return shapes[0] if len(shapes) == 1 else shapes

    @property
    def input_dtype(self):
        return (
            self._framework.input_layer.dtype if self._framework.input_layer else self.compute_dtype
        )


def _input_dtype(layer):
    """Return the input dtype of a layer; of a model, that of its first layer."""
    while isinstance(layer, Sequential) and layer.layers:
        start = layer._framework.input_layer
        if start is not None:
            return start.dtype
        layer = layer.layers[0]
    return layer.input_dtype


def _is_shape(value):
    return isinstance(value, (tuple, list)) and all(n is None or isinstance(n, int) for n in value)


def _agree(a, b):
    return len(a) == len(b) and all(m is None or n is None or m == n for m, n in zip(a, b))


def _begin_at(model, layer):
    if model._framework.stack or model._framework.input_layer is not None:
        shape = (
            model._framework.input_layer.batch_shape
            if model._framework.input_layer
            else "(not known yet)"
        )
        raise InvalidArgumentError(
            f"Sequential model {model.name!r} has already been configured to use input shape "
            f"{shape}. You cannot add a different Input layer to it."
        )
    record = model._framework
    record.input_layer, record.output = layer, layer.output


def _take_input_of(model, layer):
    """Set the model's input if the first layer has `input_shape=` or is a model with an Input."""
    shape = layer._framework.input_shape_arg
    if shape is not None:
        _begin_at(model, InputLayer(batch_shape=shape, dtype=layer.compute_dtype))
    elif isinstance(layer, Model) and layer.built and _has_one_input(layer):
        _begin_at(model, InputLayer(batch_shape=layer.input_shape, dtype=layer.input_dtype))


def _has_one_input(model):
    """Return whether the model's `input_shape` is known and is a single shape."""
    record = model._framework
    if record.graph is None and record.input_layer is None:
        return False
    return isinstance(model.input_shape, tuple)


def _connect(model):
    """Call all layers on the input KerasTensor."""
    record = model._framework
    record.output, record.is_symbolic = record.input_layer.output, True
    for layer in model._framework.stack:
        if model._framework.output is not None:
            _put_on(model, layer)


def _put_on(model, layer):
    record = model._framework
    try:
        with naming(model) as path:
            record.path = path
            output = layer(record.output)
    except SymbolicValueError:  # the layer reads values, which a KerasTensor lacks
        record.output, record.is_symbolic = None, False
        model.built = False
        return
    record.output = output
    model.built = True


def _end(model, what, tensor):
    if tensor is None:
        raise AttributeError(
            f"Sequential model {model.name!r} has no defined {what} yet. Call the model on data, "
            "or model.build(input_shape), first."
        )
    return tensor
