"""Functions of keras.tree for nested lists, tuples, dicts, named tuples and deques.

The values of a dict are visited in the order of sorted keys, those of an OrderedDict in its own
order.
"""

from collections import OrderedDict, defaultdict, deque
from collections.abc import Mapping
from typing import Any

from framework.core.errors import DTypeError, InvalidArgumentError

_CONTAINERS = (list, tuple, Mapping, deque)


class MAP_TO_NONE:
    """The value that the function passed to `traverse` returns to replace a part by None."""


def is_nested(structure: Any) -> bool:
    """Return whether `structure` is a list, tuple, mapping or deque.

    >>> is_nested([]), is_nested("text")
    (True, False)
    """
    return isinstance(structure, _CONTAINERS) and not getattr(type(structure), "_is_leaf", False)


def flatten(structure: Any) -> list[Any]:
    """Return the leaves as a list; None is a leaf. A structure that is a leaf gives a list of one.

    >>> flatten({"b": [1, None], "a": (3, {"c": 4})})
    [3, 4, 1, None]
    """
    return [leaf for _, leaf in _walk(structure, ())]


def flatten_with_path(structure: Any) -> list[tuple[tuple[Any, ...], Any]]:
    """Return pairs (path, leaf); a path is the tuple of indices and keys that lead to the leaf.

    >>> flatten_with_path([{"a": 3}])
    [((0, 'a'), 3)]
    """
    return list(_walk(structure, ()))


def map_structure(func: Any, *structures: Any, none_is_leaf: bool = True) -> Any:
    """Apply `func` to corresponding leaves; return the results in the first structure.

    Args:
        func: a function with one parameter for each structure.
        *structures: structures with the same nesting.
        none_is_leaf: False to keep None where all structures have None, without calling `func`.

    Raises:
        TypeError: `func` is not callable.
        ValueError: there is no structure, or the structures differ in their nesting.

    >>> map_structure(lambda a, b: a + b, [1, {"c": 2}], [10, {"c": 20}])
    [11, {'c': 22}]
    """
    _check_function("map_structure", func)
    _check_some("map_structure", structures)
    for other in structures[1:]:
        _same("map_structure", structures[0], other, ())

    def call(path, *leaves):
        if none_is_leaf or not any(leaf is None for leaf in leaves):
            return func(*leaves)
        if all(leaf is None for leaf in leaves):
            return None
        raise InvalidArgumentError(
            f"map_structure: expected None in all structures{_at(path)}, got {leaves!r}. Pass "
            "none_is_leaf=True to call func with it."
        )

    return _mapped(call, structures[0], structures, ())


def map_structure_up_to(shallow_structure: Any, func: Any, *structures: Any) -> Any:
    """Apply `func` to the parts of the structures at the leaves of `shallow_structure`.

    Raises:
        TypeError: `func` is not callable.
        ValueError: there is no structure, or one does not contain the nesting of
            `shallow_structure`.

    >>> map_structure_up_to([None, [None]], len, [[1, 1], [{"a": 2}]])
    [2, [1]]
    """
    _check_function("map_structure_up_to", func)
    _check_some("map_structure_up_to", structures)
    for structure in structures:
        _same("map_structure_up_to", shallow_structure, structure, (), deeper=True)
    return _mapped(lambda _, *parts: func(*parts), shallow_structure, structures, ())


def assert_same_structure(a: Any, b: Any, check_types: Any = None) -> None:
    """Raise ValueError unless `a` and `b` are nested alike, with the same types of containers.

    Mappings are alike if they have the same keys; named tuples, if they have the same class.

    Args:
        a: a structure.
        b: a structure.
        check_types: has no effect, as in Keras 3.

    >>> assert_same_structure([1, (2, 3)], [4, (5, 6)])
    """
    _same("assert_same_structure", a, b, ())


def assert_same_paths(a: Any, b: Any) -> None:
    """Raise ValueError unless the leaves of `a` and `b` have the same paths; containers may differ.

    >>> assert_same_paths([1, (2, 3)], (4, [5, 6]))
    """
    of_a, of_b = ({path for path, _ in _walk(structure, ())} for structure in (a, b))
    if of_a != of_b:
        raise InvalidArgumentError(
            "assert_same_paths: `a` and `b` don't have the same paths: only in `a` "
            f"{sorted(of_a - of_b, key=str)}, only in `b` {sorted(of_b - of_a, key=str)}."
        )


def pack_sequence_as(structure: Any, flat_sequence: Any) -> Any:
    """Return the leaves `flat_sequence` arranged like `structure`, in the order of `flatten`.

    Raises:
        TypeError: `flat_sequence` is not iterable.
        ValueError: `flat_sequence` has another number of elements than `structure` has leaves.

    >>> pack_sequence_as({"b": 0, "a": (0, 0)}, [1, 2, 3])
    {'b': 3, 'a': (1, 2)}
    """
    try:
        leaves = list(flat_sequence)
    except TypeError:
        raise DTypeError(
            f"pack_sequence_as: flat_sequence must be iterable, got {flat_sequence!r}."
        ) from None
    count = sum(1 for _ in _walk(structure, ()))
    if len(leaves) != count:
        raise InvalidArgumentError(
            f"pack_sequence_as: expected {count} elements in flat_sequence, one for each leaf of "
            f"the structure, got {len(leaves)}."
        )
    following = iter(leaves)
    return _mapped(lambda *_: next(following), structure, (structure,), ())


def traverse(func: Any, structure: Any, top_down: bool = True) -> Any:
    """Call `func` on each part of a structure; return the structure with the results.

    A result other than None replaces the part; the result `MAP_TO_NONE` replaces the part by None.

    Args:
        func: a function of one part, a container or a leaf.
        structure: a nested structure.
        top_down: True to call `func` on a container before its parts, which are skipped if the
            container is replaced; False to call it afterwards, on a container with the results.

    >>> traverse(lambda part: tuple(part) if isinstance(part, list) else None, [1, [2, 3]], False)
    (1, (2, 3))
    """
    _check_function("traverse", func)
    if top_down:
        made = func(structure)
        if made is not None:
            return None if made is MAP_TO_NONE else made
    if is_nested(structure):
        parts = [traverse(func, part, top_down) for _, part in _parts(structure)]
        structure = _rebuilt(structure, parts)
    if top_down:
        return structure
    made = func(structure)
    return structure if made is None else None if made is MAP_TO_NONE else made


def lists_to_tuples(structure: Any) -> Any:
    """Return the structure with a tuple for each list.

    >>> lists_to_tuples([1, {"a": [2]}])
    (1, {'a': (2,)})
    """
    return traverse(lambda part: tuple(part) if isinstance(part, list) else None, structure, False)


def map_shape_structure(func: Any, structure: Any) -> Any:
    """Apply `func` to each shape (a list or tuple of ints and None) and to other leaves.

    >>> map_shape_structure(len, {"a": (None, 3), "b": [(2,), (4, 5)]})
    {'a': 2, 'b': [1, 2]}
    """
    _check_function("map_shape_structure", func)
    if not is_nested(structure) or _is_shape(structure):
        return func(structure)
    parts = [map_shape_structure(func, part) for _, part in _parts(structure)]
    return _rebuilt(structure, parts)


# ---- walking and building ------------------------------------------------------------------------


def _parts(structure):
    """Return pairs (index or key, part) of a container, in order."""
    if not isinstance(structure, Mapping):
        return enumerate(structure)
    if isinstance(structure, OrderedDict):
        return structure.items()
    try:
        keys = sorted(structure)
    except TypeError:  # keys of different types cannot be sorted
        keys = list(structure)
    return [(key, structure[key]) for key in keys]


def _walk(structure, path):
    if not is_nested(structure):
        yield path, structure
        return
    for key, part in _parts(structure):
        yield from _walk(part, (*path, key))


def _rebuilt(structure, parts):
    """Return a container like `structure` with the given parts, in the order of `_parts`."""
    if isinstance(structure, Mapping):
        made = dict(zip((key for key, _ in _parts(structure)), parts, strict=True))
        pairs = {key: made[key] for key in structure}
        if isinstance(structure, defaultdict):
            return type(structure)(structure.default_factory, pairs)
        return pairs if type(structure) is dict else type(structure)(pairs)
    if isinstance(structure, deque):
        return type(structure)(parts, structure.maxlen)
    if hasattr(structure, "_fields"):
        return type(structure)(*parts)
    return type(structure)(parts)


def _mapped(func, form, structures, path):
    """Apply `func(path, *parts)` at the leaves of `form`; all structures contain its nesting."""
    if not is_nested(form):
        return func(path, *structures)
    made = []
    for key, part in _parts(form):
        column = [structure[key] for structure in structures]
        made.append(_mapped(func, part, column, (*path, key)))
    return _rebuilt(form, made)


def _kind(structure):
    """Return the class by which two containers are compared."""
    if isinstance(structure, Mapping):
        return dict
    if hasattr(structure, "_fields"):
        return type(structure)
    return next(kind for kind in (list, tuple, deque) if isinstance(structure, kind))


def _same(function, a, b, path, deeper=False):
    """Raise an error unless `b` is nested like `a`, or deeper if `deeper` is True."""
    if not is_nested(a):
        if is_nested(b) and not deeper:
            raise InvalidArgumentError(f"{function}: expected a leaf{_at(path)}, got {b!r}.")
        return
    if not is_nested(b) or _kind(a) is not _kind(b):
        raise InvalidArgumentError(
            f"{function}: the structures don't have the same nested structure: expected a "
            f"{_kind(a).__name__}{_at(path)}, got {b!r}."
        )
    if isinstance(a, Mapping) and set(a) != set(b):
        keys = list(a), list(b)
        raise InvalidArgumentError(
            f"{function}: expected the keys {keys[0]}{_at(path)}, got {keys[1]}."
        )
    if len(a) != len(b):
        raise InvalidArgumentError(
            f"{function}: expected {len(a)} elements{_at(path)}, got {len(b)}: {b!r}."
        )
    for key, part in _parts(a):
        _same(function, part, b[key], (*path, key), deeper)


def _at(path):
    return f" at {''.join(f'[{key!r}]' for key in path)}" if path else ""


def _is_shape(structure):
    return isinstance(structure, (list, tuple)) and all(
        size is None or isinstance(size, int) for size in structure
    )


def _check_function(name, func):
    if not callable(func):
        raise DTypeError(f"{name}: func must be callable, got {func!r}.")


def _check_some(name, structures):
    if not structures:
        raise InvalidArgumentError(f"{name}: expected at least one structure, got none.")
