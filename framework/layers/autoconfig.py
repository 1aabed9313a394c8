"""The config of a layer whose class has its own `__init__` but no `get_config`."""

import inspect

from framework.core import nest

_PLAIN = (str, int, float, bool, type(None))


def with_init_arguments(layer, config):
    """`config` with what the constructor was called with, without what it does not take.

    Raises:
        NotImplementedError: where that is more than plain numbers, strings and nests of them.
    """
    args, kwargs = layer._framework.init_arguments
    signature = inspect.signature(type(layer).__init__)
    bound = signature.bind(layer, *args, **kwargs)
    bound.apply_defaults()
    found = {}
    for name, value in list(bound.arguments.items())[1:]:
        kind = signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_KEYWORD:
            found.update(value)
        elif kind is not inspect.Parameter.VAR_POSITIONAL or value:
            found[name] = value
    for name, value in found.items():
        if not all(isinstance(leaf, _PLAIN) for leaf in nest.flatten(value)):
            raise NotImplementedError(
                f"{type(layer).__name__} has its own __init__, and its argument {name!r} is no "
                "plain value: give the class a get_config() that returns super().get_config() and "
                "its own arguments as plain values."
            )
    found.pop("name", None)
    parameters = signature.parameters.values()
    if not any(p.kind is p.VAR_KEYWORD for p in parameters):
        config = {k: v for k, v in config.items() if k in signature.parameters}
    return {**config, **found}
