"""Outputs: matches losses, metrics, targets and sample weights to the outputs of a model."""

from collections.abc import Mapping

from framework.core import nest
from framework.core.errors import InvalidArgumentError, suggest
from framework.core.registry import snake_case


class Outputs:
    """The leaves of a model's outputs, in the order of `nest.flatten`.

    Args:
        y_pred: the outputs, any nest of tensors.
        layer_names: the names of the output layers, in the same order, or None.

    Attributes `names` and `single`: the outputs' names in logs (the key in a dict, otherwise the
    layer's name, None if neither is known; preceded by the outer keys in a nested structure), and
    whether `y_pred` is one tensor.
    """

    def __init__(self, y_pred, layer_names=None):
        count = len(nest.flatten(y_pred))
        self.layer_names = list(layer_names or [])
        if len(self.layer_names) != count:
            self.layer_names = [None] * count
        self.tree = nest.pack_sequence_as(y_pred, range(count)) if nest.is_nested(y_pred) else 0
        self.names = [None] * count
        self._name(self.tree, ())
        self.size = count
        self.single = not nest.is_nested(y_pred)

    def _name(self, tree, path):
        if not nest.is_nested(tree):
            own = self.layer_names[tree]
            if not path:
                self.names[tree] = own
            elif isinstance(path[-1], str):
                self.names[tree] = "/".join(map(str, path))
            elif own is not None:
                self.names[tree] = "/".join([*map(str, path[:-1]), own])
            return
        items = tree.items() if isinstance(tree, Mapping) else enumerate(tree)
        for key, child in items:
            self._name(child, (*path, key))

    def spread(self, given, argument, is_leaf=None, filled=None, many=False):
        """Return a list with the element of `given` for each output; None for no element.

        Dicts are matched by the outputs' keys, then by their layers' names; lists by position.

        Args:
            given: one object for all outputs, or a list, dict or nest of objects.
            argument: the name of the argument that `given` is, for error messages.
            is_leaf: returns whether its argument is one object, not a nest; None: `not is_nested`.
            filled: one bool per output: whether it needs an element. A list may omit the others.
            many: whether an element may itself be a list.

        Raises:
            ValueError: a key that no output has, or a list of the wrong length.
        """
        found = [None] * self.size
        self._fill(given, self.tree, found, argument, is_leaf or _alone, filled, many)
        return found

    def _fill(self, given, tree, found, argument, is_leaf, filled, many):
        if given is None:
            return
        if not nest.is_nested(tree):
            plain = many and not isinstance(given, Mapping)
            found[tree] = given if plain else self._unwrapped(given, tree, argument, is_leaf)
        elif is_leaf(given):
            for i in nest.flatten(tree):
                found[i] = given
        elif isinstance(given, Mapping):
            for key, part in given.items():
                self._fill(
                    part, self._at(key, tree, argument), found, argument, is_leaf, None, many
                )
        else:
            for part, child in self._paired(given, tree, argument, filled):
                self._fill(part, child, found, argument, is_leaf, None, many)

    def _unwrapped(self, given, tree, argument, is_leaf):
        """Return the element for a single output; a list or dict of one element is unwrapped."""
        if is_leaf(given):
            return given
        if isinstance(given, Mapping):
            known = {self.names[tree], self.layer_names[tree]} - {None}
            unknown = [key for key in given if known and key not in known]
            if unknown or len(given) != 1:
                raise self._no_such(next(iter(unknown), list(given)), argument)
            return self._unwrapped(next(iter(given.values())), tree, argument, is_leaf)
        if len(given) != 1:
            raise InvalidArgumentError(
                f"{argument}: the model has one output; expected one element, got {len(given)}: "
                f"{given!r}."
            )
        return self._unwrapped(given[0], tree, argument, is_leaf)

    def _at(self, key, tree, argument):
        if isinstance(tree, Mapping) and key in tree:
            return tree[key]
        if key in self.layer_names:
            return self.layer_names.index(key)
        raise self._no_such(key, argument)

    def _paired(self, given, tree, argument, filled):
        children = [tree[key] for key in sorted(tree)] if isinstance(tree, Mapping) else tree
        if len(given) == len(children):
            return zip(given, children, strict=True)
        leaves = nest.flatten(tree)
        if len(given) == len(leaves):
            return zip(given, leaves, strict=True)
        if filled is not None:
            taking = [i for i in leaves if filled[i]]
            if len(given) == len(taking):
                return zip(given, taking, strict=True)
        raise InvalidArgumentError(
            f"{argument}: expected one element for each of the model's {len(leaves)} "
            f"outputs{self._listed()}, got a list of {len(given)}. Pass a list of {len(leaves)}, "
            "or a dict by output name."
        )

    def _no_such(self, key, argument):
        known = [n for n in dict.fromkeys([*self.names, *self.layer_names]) if n is not None]
        hint = suggest(key, known) if known else ": the outputs have no names; pass a list."
        valid = f" The outputs are {', '.join(map(repr, known))}." if known else ""
        return InvalidArgumentError(f"{argument}: no output has the name {key!r}{hint}{valid}")

    def _listed(self):
        known = [name for name in self.names if name is not None]
        return f" ({', '.join(map(repr, known))})" if known else ""


def name_of(given):
    """Return the name in logs of a loss or metric, which is a function or an object."""
    name = getattr(given, "name", None)
    if isinstance(name, str):
        return name
    name = getattr(given, "__name__", type(given).__name__)
    return snake_case(name.strip("<>"))  # the name of a lambda is "<lambda>"


def _alone(given):
    return not nest.is_nested(given)


def output_names_of(model):
    """Return the names of the model's output layers, None if they are unknown."""
    # Keras's attribute `output_names`, which a user's class may define
    names = getattr(model, "output_names", None)
    if isinstance(names, (list, tuple)) and names:
        return list(names)
    stack = _stack_of(model)
    return [stack[-1].name] if stack else None


def _stack_of(model):
    """Return the layers of a Sequential model; an empty tuple for any other layer or model."""
    return getattr(getattr(model, "_framework", None), "stack", ())


def output_layer(model, i):
    """Return the layer that computes output `i`, None if it is unknown."""
    stack = _stack_of(model)
    if stack:
        layer = stack[-1]
    elif getattr(getattr(model, "_framework", None), "graph", None) is not None:
        layer = model.outputs[i].origin[0]
    else:
        return None
    return output_layer(layer, 0) or layer
