"""Layers to configs and back: `keras.layers.serialize` and `keras.layers.deserialize`."""

from typing import Any

from framework.core import configs
from framework.core.errors import InvalidArgumentError
from framework.layers.base import Layer


def serialize(layer: Layer) -> Any:
    """Return the config (plain values, no weights) from which `deserialize` creates the layer."""
    return configs.serialize_value(layer)


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """Return the layer that a config describes, with new weights.

    Args:
        config: what `serialize` returned.
        custom_objects: the user's classes and functions by name.

    Raises:
        UnknownObjectError: the class is neither public, registered nor in `custom_objects`.
        ValueError: the config does not describe a layer.

    >>> from framework.keras import layers
    >>> deserialize(serialize(layers.Dense(3, activation="relu"))).units
    3
    """
    layer = configs.deserialize(config, custom_objects)
    if not isinstance(layer, Layer):
        raise InvalidArgumentError(
            f"keras.layers.deserialize: config: expected the dict that keras.layers.serialize "
            f"returned, got {config!r}. For other objects use "
            "keras.saving.deserialize_keras_object."
        )
    return layer
