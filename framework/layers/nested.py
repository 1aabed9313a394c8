"""Layers as arguments of layers: check, serialize and deserialize them."""

from typing import Annotated, Any

from framework.core.configs import copy_of, deserialize, serialize_value
from framework.core.configurable import Resolved
from framework.core.errors import InvalidArgumentError
from framework.layers.base import Layer


def as_layer(value, custom_objects=None):
    """Return the layer that a config describes, or any other value unchanged."""
    is_config = isinstance(value, dict) and "class_name" in value
    return deserialize(value, custom_objects) if is_config else value


def copy(layer, **changes):
    """Return a copy of a layer with new weights and the given changes of its config."""
    return copy_of(layer, **changes)


def _layer(value):
    value = as_layer(value)
    if not isinstance(value, Layer):
        raise InvalidArgumentError("expected a layer")
    return value


LayerField = Annotated[Any, Resolved("a layer", _layer, serialize=serialize_value)]
