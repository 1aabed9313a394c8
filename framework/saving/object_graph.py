"""The graph of the objects that a checkpoint saves: variables and the objects that hold them.

`children` names the objects that an object holds, by TensorFlow's rules: attributes by name, items
of lists by number, items of dicts by key. Two graphs are compared by these names, from the root.
"""

from collections.abc import Mapping

from framework.core.module import Module
from framework.core.random import SeedGenerator
from framework.core.variable import CoreVariable
from framework.layers.base import Layer
from framework.metrics.base import Metric
from framework.optimizers.asking import is_ours, is_several, scales, several
from framework.optimizers.base import Optimizer
from framework.saving.tree import children_of_part

_PRIVATE = ("_framework",)


class Tracked:
    """The base class of objects with a method `tracked()`, which returns {name: object} to save."""


_HOLDERS = (
    CoreVariable, Layer, Optimizer, Metric, SeedGenerator, Module, Tracked,
)  # fmt: skip


def is_trackable(value):
    """Return whether an object can hold variables, so that a checkpoint can save it."""
    if isinstance(value, (list, tuple)):
        return any(map(is_trackable, value))
    if isinstance(value, Mapping):
        return any(map(is_trackable, value.values()))
    return (
        isinstance(value, _HOLDERS) or hasattr(type(value), "trainable_variables")
        or hasattr(type(value), "_saved_parts") or _draws(value)
    )  # fmt: skip


def _draws(value):
    """Return whether an object is a random generator with a variable as its state."""
    own = vars(value) if hasattr(value, "__dict__") else {}
    return isinstance(own.get("_generator"), SeedGenerator)


def children(holder):
    """Return {name: object} for the objects that `holder` holds directly."""
    if isinstance(holder, Tracked):
        found = holder.tracked()
    elif hasattr(type(holder), "_saved_parts"):  # `holder` is a dataset iterator
        found = holder._saved_parts()
    elif isinstance(holder, Layer):
        found = _of_layer(holder)
    elif isinstance(holder, Optimizer) or is_ours(holder):
        found = _of_optimizer(holder)
    elif isinstance(holder, Metric):
        found = dict(enumerate(holder.variables))
    elif isinstance(holder, SeedGenerator) or _draws(holder):
        found = {"state": holder.state}
    elif isinstance(holder, Mapping):
        found = holder
    elif isinstance(holder, (list, tuple)):
        found = dict(enumerate(holder))
    else:
        found = {name: value for name, value in vars(holder).items() if name not in _PRIVATE}
    return {str(name): value for name, value in found.items() if is_trackable(value)}


def _of_layer(layer):
    own = layer._framework
    found = {}
    for variable in (*own.trainable_variables, *own.non_trainable_variables):
        found[_unused(variable.name, found)] = variable
    for generator in own.seed_generators:
        found[_unused("seed_generator", found)] = generator
    if own.metrics:
        found[_unused("metrics", found)] = list(own.metrics)
    for module in own.modules:
        found[_unused("module", found)] = module
    for name, value in children_of_part(layer):
        # variables, modules, generators and lists of these are already in `found`
        if isinstance(value, (Layer, Optimizer)) or _holds_layers(value):
            found[_unused(name, found)] = value
    return found


def _holds_layers(value):
    if isinstance(value, (list, tuple)):
        return any(isinstance(v, (Layer, Optimizer)) or _holds_layers(v) for v in value)
    return isinstance(value, Mapping) and _holds_layers(list(value.values()))


def _of_optimizer(optimizer):
    """Return {name: object} for an optimizer's state, such as "iterations" and "slots"."""
    own = optimizer._framework
    found = {"iterations": own.iterations, "multiplier": own.multiplier}
    if own.schedule is None:
        found["learning_rate"] = own.learning_rate
    if scales(optimizer):
        names = ("dynamic_scale", "step_counter", "skipped_steps", "inner_optimizer")
        return found | {name: getattr(optimizer, name) for name in names}
    if is_several(optimizer):
        return found | {"optimizers": several(optimizer)}
    return found | {
        "slots": list(own.slots.values()), "shared": dict(own.shared),
        "own_variables": list(own.own_variables),
    }  # fmt: skip


def _unused(name, used):
    number, unique = 0, name
    while unique in used:
        number += 1
        unique = f"{name}_{number}"
    return unique


# ---- graphs in files -----------------------------------------------------------------------------

SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"
"""The suffix that TensorFlow appends to the path of a variable."""


def _escaped(name):
    return name.replace(".", "..").replace("/", ".S")


def described(root):
    """Return (nodes, variables) of the graph below `root`.

    nodes: a list of {"children": {name: number of the node}} or {"value": name of the array}.
    variables: {name of the array: variable}.
    """
    held, variables, numbers = [], {}, {}
    waiting = [("", root)]
    while waiting:
        path, holder = waiting.pop(0)
        if id(holder) in numbers:
            continue
        numbers[id(holder)] = len(held)
        if isinstance(holder, CoreVariable):
            held.append((holder, f"{path}{SUFFIX}"))
            variables[f"{path}{SUFFIX}"] = holder
            continue
        inner = children(holder)
        # keeping the dict alive keeps the ids of its new lists from being used again
        held.append((holder, inner))
        for name, child in inner.items():
            waiting.append((f"{path}/{_escaped(name)}" if path else _escaped(name), child))
    nodes = [
        {"value": inner} if isinstance(inner, str)
        else {"children": {name: numbers[id(child)] for name, child in inner.items()}}
        for _, inner in held
    ]  # fmt: skip
    return nodes, variables


def checked(nodes, shapes):
    """Return `nodes`; raise ValueError unless they form a graph over the arrays of the file."""
    if not isinstance(nodes, list) or not nodes:
        raise ValueError("the graph must be a list of nodes")
    for node in nodes:
        value, inner = node.get("value", ""), node.get("children", {})
        if not isinstance(value, str) or (value and value not in shapes):
            raise ValueError(f"the file has no array {value!r:.60}")
        if not all(type(n) is int and 0 <= n < len(nodes) for n in inner.values()):
            raise ValueError("a child is not a node of the graph")
    return nodes


def matched(nodes, root):
    """Match a file's graph: return ({index of a node: variable}, variables without a node)."""
    found, seen, unmatched, known = {}, set(), [], []
    waiting = [(0, root)]
    while waiting:
        number, holder = waiting.pop(0)
        if (number, id(holder)) in seen:
            continue
        seen.add((number, id(holder)))
        known.append(holder)
        node = None if number is None else nodes[number]
        if isinstance(holder, CoreVariable):
            if node is None or "value" not in node:
                unmatched.append(holder)
            else:
                found.setdefault(number, holder)
            continue
        names = {} if node is None else node.get("children", {})
        for name, child in children(holder).items():
            waiting.append((names.get(name), child))
    serials = {variable.serial for variable in found.values()}
    return found, [v for v in unmatched if v.serial not in serials]
