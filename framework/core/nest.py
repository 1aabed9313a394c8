"""Nested structures of lists, tuples, dicts and named tuples, walked in TensorFlow's order.

Dicts are walked by sorted key. Everything that is not one of these containers is a leaf, and so is
a Shape. A Composite, such as a SparseTensor, is a leaf, too, unless `composites` is True.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from framework.core.composite import Composite
from framework.core.errors import InvalidArgumentError

_CONTAINERS = (list, tuple, Mapping)
# Leaves of these types skip `isinstance(value, Mapping)`, which is slow.
_LEAVES = frozenset((np.ndarray, type(None), str, int, float))


def is_nested(structure, composites=False):
    """Return whether a value is a list, tuple or mapping, or a Composite if `composites`."""
    kind = type(structure)
    if kind in _LEAVES:
        return False
    # A Shape is a tuple but counts as a leaf. Tensors have `_is_leaf` to skip slower checks.
    if getattr(kind, "_is_leaf", False):
        return False
    if kind is list or kind is tuple or isinstance(structure, _CONTAINERS):
        return True
    return composites and isinstance(structure, Composite)


def _keys(mapping):
    try:
        return sorted(mapping)
    except TypeError:
        return list(mapping)


def _children(structure):
    if isinstance(structure, Mapping):
        return [structure[key] for key in _keys(structure)]
    return structure._parts() if isinstance(structure, Composite) else structure


def _rebuild(structure, children):
    """Return a container like `structure` with the given children, in traversal order."""
    if isinstance(structure, Mapping):
        made = dict(zip(_keys(structure), children, strict=True))
        ordered = {key: made[key] for key in structure}
        return ordered if type(structure) is dict else type(structure)(ordered)
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*children)
    if isinstance(structure, Composite):
        return structure._with_parts(children)
    return type(structure)(children) if type(structure) in (list, tuple) else list(children)


def flatten(structure, composites=False):
    """Return the leaves as a list, left to right; for a single leaf, a list of one."""
    kind = type(structure)
    if kind is not list and kind is not tuple and not is_nested(structure, composites):
        return [structure]
    found = []
    _flatten_into(structure, found, composites)
    return found


def _flatten_into(structure, found, composites):
    for child in _children(structure):
        if is_nested(child, composites):
            _flatten_into(child, found, composites)
        else:
            found.append(child)


def pack_sequence_as(structure, flat_sequence, composites=False):
    """Return `flat_sequence` arranged like `structure`."""
    flat = list(flat_sequence)
    expected = len(flatten(structure, composites))
    if len(flat) != expected:
        raise InvalidArgumentError(
            f"pack_sequence_as: the structure has {expected} leaves, but flat_sequence has "
            f"{len(flat)} elements. Structure: {structure}, flat_sequence: {flat}."
        )
    return _pack(structure, iter(flat), composites) if is_nested(structure, composites) else flat[0]


def _pack(structure, leaves, composites):
    children = [
        _pack(child, leaves, composites) if is_nested(child, composites) else next(leaves)
        for child in _children(structure)
    ]
    return _rebuild(structure, children)


def map_structure(func, *structures, composites=False) -> Any:
    """Apply `func` to corresponding leaves; return the results in the first nest's structure."""
    if not structures:
        raise InvalidArgumentError("map_structure: at least one structure is needed.")
    first = structures[0]
    for other in structures[1:]:
        assert_same_structure(first, other)
    return _map(func, structures, composites)


def _map(func, structures, composites):
    first = structures[0]
    if not is_nested(first, composites):
        return func(*structures)
    columns = zip(*(_children(s) for s in structures), strict=True)
    return _rebuild(first, [_map(func, column, composites) for column in columns])


def assert_same_structure(a, b, check_types=True):
    """Raise InvalidArgumentError unless both have the same nesting."""
    if is_nested(a) != is_nested(b):
        raise InvalidArgumentError(f"The two structures don't have the same nesting: {a} and {b}.")
    if not is_nested(a):
        return
    if check_types and isinstance(a, Mapping) != isinstance(b, Mapping):
        raise InvalidArgumentError(f"The two structures differ in type: {type(a)}, {type(b)}.")
    if isinstance(a, Mapping) and isinstance(b, Mapping) and set(a) != set(b):
        raise InvalidArgumentError(
            f"The two dictionaries don't have the same set of keys: {_keys(a)} and {_keys(b)}."
        )
    if len(a) != len(b):
        raise InvalidArgumentError(
            f"The two structures don't have the same number of elements: {len(a)} and {len(b)}."
        )
    for x, y in zip(_children(a), _children(b), strict=True):
        assert_same_structure(x, y, check_types)
