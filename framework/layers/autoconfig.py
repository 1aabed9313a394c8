"""The config of a layer whose class defines `__init__` but not `get_config`."""

import inspect

from framework.core import nest

_PLAIN = (str, int, float, bool, type(None))


def with_init_arguments(layer, config):
    """Add the constructor call's arguments to `config`; drop keys that `__init__` does not accept.

    Raises:
        NotImplementedError: an argument is not a number, a string or a nest of these.
    """
    args, kwargs = layer._framework.init_arguments
    signature = inspect.signature(type(layer).__init__)
    bound = signature.bind(layer, *args, **kwargs)
    bound.apply_defaults()
    arguments = {}
    for name, value in list(bound.arguments.items())[1:]:
        kind = signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_KEYWORD:
            arguments.update(value)
        elif kind is not inspect.Parameter.VAR_POSITIONAL or value:
            arguments[name] = value
    for name, value in arguments.items():
        if not all(isinstance(leaf, _PLAIN) for leaf in nest.flatten(value)):
            raise NotImplementedError(
                f"{type(layer).__name__} has its own __init__, and its argument {name!r} is not a "
                "number, string, bool, None or a nest of these: give the class a get_config() that "
                "returns super().get_config() and its own arguments, converted to such values."
            )
    # `config` already has the current `name`, `trainable` and `dtype`
    for name in ("name", "trainable", "dtype"):
        arguments.pop(name, None)
    parameters = signature.parameters.values()
    if not any(p.kind is p.VAR_KEYWORD for p in parameters):
        config = {k: v for k, v in config.items() if k in signature.parameters}
    return {**config, **arguments}
