"""Configs: equal to Keras's as JSON, and what `from_config` and `deserialize` make of them."""

import json

from parity.values import REFUSED, config_text, same_config


def add_config(found, thing, module, ignore=()):
    """Add the config of an object, and whether it comes back from it.

    Args:
        found: the Values.
        thing: a layer, loss, metric, ... of the side.
        module: the module of the side with `serialize` and `deserialize`; None for neither.
        ignore: keys that are left out.
    """

    def config():
        return {k: v for k, v in thing.get_config().items() if k not in ignore}

    if not found.try_to("config", lambda: config_text(config())):
        return
    found.try_to("from_config", lambda: _same(type(thing).from_config(thing.get_config()), thing))
    if module is not None:
        found.try_to("serialized", lambda: config_text(_serialized(module, thing, ignore)))
        found.try_to("deserialized", lambda: _came_back(module, thing))


def _same(again, thing):
    if type(again) is not type(thing):
        return f"{REFUSED}: another class"
    texts = [config_text(part.get_config()) for part in (again, thing)]
    return "the same config" if same_config(*texts) else texts[0]


def _serialized(module, thing, ignore):
    config = module.serialize(thing)
    inner = config.get("config")
    if isinstance(inner, dict):
        config = {**config, "config": {k: v for k, v in inner.items() if k not in ignore}}
    return config


def _came_back(module, thing):
    """What comes back from the file's JSON."""
    config = json.loads(json.dumps(module.serialize(thing)))
    return _same(module.deserialize(config), thing)
