"""Lazy namespaces: a module whose names are imported when they are first asked for."""

import sys
from importlib import import_module

from framework.core.errors import suggest


def table(places):
    """{public name: "module:attribute"} from {module: "name name public=own ..."}.

    A key that ends in a dot is a package, the names are modules in it.

    >>> table({"framework.core.dtypes": "bool=bool_", "framework.": "math"})
    {'bool': 'framework.core.dtypes:bool_', 'math': 'framework.math'}
    """
    found = {}
    for module, names in places.items():
        stem = module if module.endswith(".") else f"{module}:"
        for entry in names.split():
            public, _, own = entry.partition("=")
            found[public] = stem + (own or public)
    return found


def lazy(namespace, names):
    """The `__getattr__` and `__dir__` of the module called `namespace`.

    Args:
        namespace: the module's `__name__`.
        names: {public name: "module:attribute", or "module" for a module}.
    """

    def __getattr__(name):  # noqa: N807 (this is what it becomes)
        place = names.get(name)
        if place is None:
            hint = "" if name.startswith("_") else suggest(name, names)
            raise AttributeError(
                f"module {namespace!r} has no attribute {name!r}{_unlisted(hint)}",
                name=name, obj=sys.modules.get(namespace),
            )  # fmt: skip
        module, _, attribute = place.partition(":")
        found = import_module(module)
        if attribute:
            found = getattr(found, attribute)
        setattr(sys.modules[namespace], name, found)  # asked for once
        return found

    def __dir__():  # noqa: N807 (as above)
        return sorted({*names, *vars(sys.modules[namespace])})

    return __getattr__, __dir__


def _unlisted(hint):
    """A near name is worth telling; the list of all of them is not."""
    return hint if hint.startswith("; did you mean") else ""
