"""Registry: looks up classes and functions by name, such as "adam" or "relu"."""

import inspect
import re
from importlib import import_module

from framework.core.configs import (
    CustomObjectScope,
    custom_object,
    get_registered_object,
    object_of,
)
from framework.core.errors import InvalidArgumentError, suggest
from framework.core.lazy import defining_modules


class Registry:
    """The classes and functions of one kind, such as "optimizer", by name in all usual spellings.

    `add` is a decorator. `get` accepts a name, a class, an instance, a config or a callable.
    `package` names the package whose modules register them: a name that is not registered yet is
    searched by importing these modules one by one, in the order of the package's stub.
    """

    def __init__(self, sort, package=None):
        self.sort = sort
        self._package = package
        self.by_name = {}  # `__name__` -> class or function
        self.classes = {}  # name in snake case -> class
        self._spellings = {}

    def add(self, *names):
        """Register a class or function under its name, that name in snake case, and `names`."""

        def register(target):
            own = target.__name__
            self.by_name[own] = target
            if inspect.isclass(target):
                self.classes[snake_case(own)] = target
            for name in (own, snake_case(own), *names):
                # If two objects share a spelling, it stands for the one registered first.
                self._spellings.setdefault(name.lower(), own)
            return target

        return register

    def lookup(self, name):
        """Return the class or function called `name`; the error suggests the most similar name."""
        own = self._registered(name)
        if own is None and self._package:
            for module in defining_modules(self._package):
                import_module(module)
                own = self._registered(name)
                if own is not None:
                    break
        if own is None:
            raise InvalidArgumentError(
                f"Unknown {self.sort}: {name!r}{suggest(name, self.by_name)}"
            )
        return self.by_name[own]

    def _registered(self, name):
        # Prefer the exact spelling: "Huber" may be a class and "huber" a function.
        return name if name in self.by_name else self._spellings.get(str(name).lower())

    def load_all(self):
        """Import every module of the package, so that `by_name` and `classes` are complete."""
        for module in defining_modules(self._package) if self._package else ():
            import_module(module)

    def get(self, identifier):
        """Return the object for `identifier`: a class, or its name, is instantiated."""
        if identifier is None:
            return None
        if isinstance(identifier, str):
            identifier = get_registered_object(identifier) or self.lookup(identifier)
        elif isinstance(identifier, dict):
            return self._from_config(identifier)
        if inspect.isclass(identifier):
            return identifier()
        if callable(identifier) or hasattr(identifier, "get_config"):
            return identifier
        self.load_all()
        raise InvalidArgumentError(
            f"Could not interpret {identifier!r} as {self.sort}: expected a name, an instance, a "
            f"callable or a config; known names: {', '.join(sorted(self.by_name))}."
        )

    def deserialize(self, config, custom_objects=None):
        """Return the object of a config; `custom_objects` maps names to the user's classes.

        >>> Registry("activation").deserialize("size", {"size": abs})
        <built-in function abs>
        """
        with CustomObjectScope(custom_objects):
            return self.get(config)

    def _from_config(self, config):
        if "class_name" not in config:
            raise InvalidArgumentError(f"A {self.sort} config needs 'class_name', got {config}.")
        if config["class_name"] == "function":
            return self.get(config["config"])
        found = custom_object(config) or self.lookup(config["class_name"])
        return object_of(found, config) if inspect.isclass(found) else found


def snake_case(name):
    """Return a name in snake case: `Conv2DTranspose` becomes `conv2d_transpose`."""
    return re.sub(_WORD_STARTS, "_", name).lower()


_WORD_STARTS = r"(?<=[A-Za-z0-9])(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])"
