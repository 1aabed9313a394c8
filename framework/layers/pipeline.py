"""Pipeline: a sequence of layers as one layer, for use in a data pipeline."""

from typing import Annotated, Any

from framework.core import nest
from framework.core.argument_types import TensorLike
from framework.core.configs import serialize_value
from framework.core.configurable import Resolved
from framework.core.errors import InvalidArgumentError
from framework.layers.base import Layer
from framework.layers.call_signature import signature_of
from framework.layers.nested import as_layer
from framework.layers.symbolic_calls import mask_of, run_symbolically

__all__ = ["Pipeline"]


def _layers(value):
    if not isinstance(value, (list, tuple)):
        raise InvalidArgumentError(f"expected a list of layers, got {type(value).__name__}")
    layers = [as_layer(item) for item in value]
    for layer in layers:
        if not isinstance(layer, Layer):
            raise InvalidArgumentError(f"expected a list of layers, got {layer!r} in it")
    return layers


class Pipeline(Layer):
    """Apply layers one after another; `training` is True by default.

    Args:
        layers: a list of layers.
        name: the name of the layer.

    >>> import numpy as np
    >>> from framework import keras
    >>> pipeline = Pipeline([keras.layers.AutoContrast(), keras.layers.Rescaling(1 / 255)])
    >>> pipeline(np.array([[[[5.0], [9.0]]]])).numpy().ravel()
    array([0., 1.], dtype=float32)
    """

    layers: Annotated[Any, Resolved("a list of layers", _layers, serialize=serialize_value)]
    name: str | None = None
    _allow_non_tensor_positional_args = True
    _convert_input_args = False

    def call(self, inputs: TensorLike, training: bool = True, mask: Any = None) -> Any:
        for layer in self.layers:
            signature, options = signature_of(layer), {}
            if "mask" in signature.names:
                options["mask"] = mask
            if signature.takes_training and training is not None:
                options["training"] = training
            inputs = layer(inputs, **options)
            mask = nest.map_structure(mask_of, inputs)
        return inputs

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any:
        """Return the outputs for these inputs as KerasTensors, by a symbolic call."""
        return run_symbolically(self, args, kwargs)

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        own = {k: config[k] for k in ("layers", "name")}
        if not self.trainable:
            own["trainable"] = False
        if "activity_regularizer" in config:
            own["activity_regularizer"] = config["activity_regularizer"]
        return own
