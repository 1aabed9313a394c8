"""Layers given to layers: checked, told in a config, made again from it."""

from framework import layers
from framework.core.configurable import Resolved, serialize_value
from framework.core.errors import InvalidArgumentError
from framework.layers.base import Layer


def from_config(config, custom_objects=None):
    """The layer that a `get_config` described as {"class_name": ..., "config": ...}."""
    name = config["class_name"]
    cls = (custom_objects or {}).get(name) or _found(name, config.get("module"))
    if cls is None:
        raise InvalidArgumentError(
            f"Unknown layer: {name!r}. Give its class by custom_objects={{{name!r}: ...}}."
        )
    return cls.from_config(dict(config["config"]))


def _found(name, module):
    """The living class of that name, of several the one in `module`, or the first."""
    getattr(layers, name, None)  # a built-in one may not be imported yet
    waiting, found = [Layer], []
    while waiting:
        cls = waiting.pop(0)
        waiting.extend(cls.__subclasses__())
        if cls.__name__ == name:
            found.append(cls)
    return next((c for c in found if c.__module__ == module), found[0] if found else None)


def made(value, custom_objects=None):
    """The layer that a config describes; anything else as it is."""
    is_config = isinstance(value, dict) and "class_name" in value
    return from_config(value, custom_objects) if is_config else value


def copy(layer, **changes):
    """A layer like this one with weights of its own, its config changed."""
    return type(layer).from_config({**layer.get_config(), **changes})


def _layer(value):
    value = made(value)
    if not isinstance(value, Layer):
        raise InvalidArgumentError("expected a layer")
    return value


LayerField = Resolved("a layer", _layer, serialize=serialize_value)
