"""Config: a dict whose keys are attributes too, and which can be frozen."""

import copy
import json
from typing import Any

from framework.core.errors import FrameworkError, InvalidArgumentError, suggest


class UnknownValueError(FrameworkError, AttributeError):
    """A Config has no value of this name."""


class Config:
    """Named values, read and set as attributes or as items of a dict.

    Args:
        **kwargs: the first values.

    Example:
        >>> config = Config(rate=0.1)
        >>> config.seed = 3
        >>> config["seed"], config.rate, config.to_json()
        (3, 0.1, '{"rate": 0.1, "seed": 3}')
        >>> config.freeze()
        >>> config.seed = 4
        Traceback (most recent call last):
            ...
        framework.core.errors.InvalidArgumentError: Cannot mutate attribute(s) because the config \
is frozen. Call unfreeze() first.
    """

    def __init__(self, **kwargs: Any):
        object.__setattr__(self, "_config", kwargs)
        object.__setattr__(self, "_frozen", False)

    @property
    def frozen(self):
        """Whether values cannot change."""
        return self._frozen

    def freeze(self):
        """Forbid changes of the values: from now on a change raises InvalidArgumentError."""
        object.__setattr__(self, "_frozen", True)

    def unfreeze(self):
        """Allow changes of the values again."""
        object.__setattr__(self, "_frozen", False)

    def as_dict(self):
        """Return the values as a new dict."""
        return copy.copy(self._config)

    def to_json(self):
        """Return the values as JSON."""
        return json.dumps(self._config)

    def keys(self):
        return self._config.keys()

    def values(self):
        return self._config.values()

    def items(self):
        return self._config.items()

    def pop(self, *args: Any) -> Any:
        """Remove a value by its name and return it; if it is missing, return the second
        argument, if any."""
        return _changing(self).pop(*args)

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Set several values, as `dict.update`."""
        _changing(self).update(*args, **kwargs)

    def get(self, keyname: Any, value: Any = None) -> Any:
        """Return the value of this name, else `value`."""
        return self._config.get(keyname, value)

    def __setattr__(self, name, value):
        if name in _NAMES:
            object.__setattr__(self, name, value)
        else:
            _changing(self)[name] = value

    def __getattr__(self, name):
        # `copy` and `pickle` create an object without calling __init__, so without `_config`.
        values = self.__dict__.get("_config", {})
        if name in values:
            return values[name]
        raise UnknownValueError(f"Unknown attribute: '{name}'{suggest(name, values)}")

    def __setitem__(self, key, item):
        _changing(self)[key] = item

    def __getitem__(self, key):
        return self._config[key]

    def __delitem__(self, key):
        del _changing(self)[key]

    def __contains__(self, item):
        return item in self._config

    def __iter__(self):
        return iter(sorted(self._config))

    def __len__(self):
        return len(self._config)

    def __repr__(self):
        return f"<Config {self._config}>"


_NAMES = frozenset((*dir(Config), "_config", "_frozen"))


def _changing(config):
    """Return the dict of values for a change; raise InvalidArgumentError if they are frozen."""
    if config._frozen:
        raise InvalidArgumentError(
            "Cannot mutate attribute(s) because the config is frozen. Call unfreeze() first."
        )
    return config._config
