"""Layers as arguments of layers: check, serialize and deserialize them."""

from framework import layers
from framework.core.configurable import Resolved, serialize_value
from framework.core.errors import InvalidArgumentError
from framework.layers.base import Layer


def from_config(config, custom_objects=None):
    """Return the layer described by a config {"class_name": ..., "config": ...}."""
    name = config["class_name"]
    cls = (custom_objects or {}).get(name) or _class_named(name, config.get("module"))
    if cls is None:
        raise InvalidArgumentError(
            f"Unknown layer: {name!r}. Pass its class in custom_objects={{{name!r}: ...}}."
        )
    return cls.from_config(dict(config["config"]))


def _class_named(name, module):
    """Return the subclass of Layer with this name, preferring the one in `module`; or None."""
    getattr(layers, name, None)  # import a built-in layer
    waiting, classes = [Layer], []
    while waiting:
        cls = waiting.pop(0)
        waiting.extend(cls.__subclasses__())
        if cls.__name__ == name:
            classes.append(cls)
    first = classes[0] if classes else None
    return next((c for c in classes if c.__module__ == module), first)


def as_layer(value, custom_objects=None):
    """Return the layer that a config describes; any other value unchanged."""
    is_config = isinstance(value, dict) and "class_name" in value
    return from_config(value, custom_objects) if is_config else value


def copy(layer, **changes):
    """Return a copy of a layer with new weights and the given changes of its config."""
    return type(layer).from_config({**layer.get_config(), **changes})


def _layer(value):
    value = as_layer(value)
    if not isinstance(value, Layer):
        raise InvalidArgumentError("expected a layer")
    return value


LayerField = Resolved("a layer", _layer, serialize=serialize_value)
