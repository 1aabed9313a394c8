"""Paths of variables from the object that holds them: "encoder/dense/kernel".

Layers are recognized by their attributes: this package must not import `framework.layers`.
"""

from framework.core import nest
from framework.core.module import Module, living
from framework.core.variable import CoreVariable


def paths_in(root):
    """Return {serial: (path, variable)} of all variables in a layer, model or Module.

    Frozen variables are included. A path joins the names of layers, the attribute names of Modules
    and the variable's own name.
    """
    paths = {}
    _visit(root, (), paths, set())
    return paths


def _visit(holder, prefix, paths, visited):
    if id(holder) in visited:
        return
    visited.add(id(holder))
    for name, variable in _own_variables(holder):
        paths.setdefault(variable.serial, ("/".join([*prefix, name]), variable))
    for name, part in _parts(holder):
        _visit(part, (*prefix, name), paths, visited)


def _own_variables(holder):
    if isinstance(holder, Module):
        return [(name, v) for name, v in _attributes(holder) if isinstance(v, CoreVariable)]
    own = holder._framework
    return [(v.name, v) for v in (*own.trainable_variables, *own.non_trainable_variables)]


def _parts(holder):
    if isinstance(holder, Module):
        return [(name, part) for name, part in _attributes(holder) if is_holder(part)]
    own = holder._framework
    return [(part.name, part) for part in (*own.layers, *own.modules)]


def _attributes(module):
    """Yield the values in a Module's attributes with their names: "w", or "stack/0" in a list."""
    for name, value in sorted(vars(module).items()):
        for index, leaf in enumerate(nest.flatten(value)):
            yield (f"{name}/{index}" if nest.is_nested(value) else name), leaf


def is_holder(value):
    """Return whether `value` is a layer, a model or a Module."""
    return isinstance(value, Module) or hasattr(type(value), "_flatten_layers")


def holders_of(variables):
    """Return {serial: (path, variable)}, with paths from the outermost layers, models and Modules.

    If several hold the same variable, the path starts at the holder of the most `variables`.
    """
    serials = {v.serial for v in variables}
    holders = [(holder, paths_in(holder)) for holder in list(living)]
    holders = [(holder, paths) for holder, paths in holders if not serials.isdisjoint(paths)]
    inner = {id(part) for holder, _ in holders for part in _all_parts(holder)}
    outer = [(getattr(h, "name", ""), paths) for h, paths in holders if id(h) not in inner]
    outer.sort(key=lambda named: (-len(serials.intersection(named[1])), named[0]))
    merged = {}
    for _, paths in outer:
        if any(serial in serials and serial not in merged for serial in paths):
            merged = {**paths, **merged}
    for variable in variables:
        merged.setdefault(variable.serial, (own_name(variable), variable))
    return merged


def _all_parts(holder):
    waiting, seen = [part for _, part in _parts(holder)], {}
    while waiting:
        part = waiting.pop()
        if id(part) not in seen:
            seen[id(part)] = part
            waiting += [inner for _, inner in _parts(part)]
    return seen.values()


def own_name(variable):
    """Return the path of a variable outside of any layer or Module: its name."""
    return variable.name.partition(":")[0]
