"""The paths of a model's parts in Keras's files.

A part is a layer or an optimizer. Its path consists of attribute names, "layers" for the layers of
Sequential and functional models, and the snake case of the class for items of lists and dicts. A
part with several paths gets the first path in the order of traversal.
"""

import re

from framework.core.internal_state import in_package
from framework.layers.base import Layer
from framework.optimizers.base import Optimizer

_PARTS = (Layer, Optimizer)


def parts(root):
    """Return [(path, part)] of the layers and optimizers saved with `root`, outer parts first."""
    found, seen = [], set()
    _visit(root, "", found, seen)
    return found


def _visit(part, path, found, seen):
    if id(part) in seen:
        return
    seen.add(id(part))
    found.append((path, part))
    for name, value in children_of_part(part):
        inner = f"{path}/{name}" if path else name
        if isinstance(value, _PARTS):
            _visit(value, inner, found, seen)
        elif isinstance(value, (list, dict, tuple)):
            _visit_items(value, inner, found, seen)


def _visit_items(container, path, found, seen):
    used = {}
    for item in container.values() if isinstance(container, dict) else container:
        if isinstance(item, _PARTS):
            name = _numbered(keras_snake_case(type(item).__name__), used)
            _visit(item, f"{path}/{name}", found, seen)
        elif isinstance(item, (list, dict, tuple)):
            _visit_items(item, f"{path}/{_numbered('container', used)}", found, seen)


def _numbered(name, used):
    number = used[name] = used.get(name, -1) + 1
    return f"{name}_{number}" if number else name


def keras_snake_case(name):
    """Return Keras's snake case of a class name: `PReLU` -> `p_re_lu`.

    >>> keras_snake_case("SeparableConv1D"), keras_snake_case("LSTM")
    ('separable_conv1d', 'lstm')
    """
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", re.sub(r"\W+", "", name))
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()


# ---- children ------------------------------------------------------------------------------------

_NO_CHILDREN = frozenset(("_framework", "history", "_owner"))


def children_of_part(part):
    """Yield (name, value) of the attributes of `part`; names that begin with "_" come last."""
    own = part._framework
    if getattr(own, "graph", None) is not None or getattr(own, "stack", ()):
        yield "layers", part.layers
    names = {name for name in vars(part) if name not in _NO_CHILDREN}
    names.update(_properties(type(part)))
    for name in sorted(names, key=lambda n: f"~{n}" if n.startswith("_") else n):
        if name.startswith("__"):
            continue
        try:
            yield name, getattr(part, name)
        except Exception:  # noqa: S112 (a user's property may raise anything)
            continue


def _properties(cls):
    """Return the names of a class's properties, except those that every layer or model has."""
    return {
        name for base in cls.__mro__ if base not in _BASES and not _is_model_class(base)
        for name, value in vars(base).items() if isinstance(value, property)
    }  # fmt: skip


_BASES = frozenset((*Layer.__mro__, *Optimizer.__mro__))


def _is_model_class(cls):
    return in_package(cls) and cls.__module__.split(".")[1] in ("models", "training")
