"""Functions of tf.nest on nested lists, tuples, dicts and named tuples."""

from typing import Any

from framework.core import nest


def is_nested(seq: Any) -> bool:
    """Return whether `seq` is a list, tuple or mapping."""
    return nest.is_nested(seq)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """Return the leaves as a list; those of a dict are sorted by key.

    Args:
        structure: a nest.
        expand_composites: return the tensors of a SparseTensor instead of itself.

    >>> import framework as tf
    >>> tf.nest.flatten({"b": [1, 2], "a": 3})
    [3, 1, 2]
    """
    return nest.flatten(structure, expand_composites)


def map_structure(func: Any, *structure: Any, **kwargs: Any) -> Any:
    """Apply `func` to corresponding leaves; return a structure like the first one.

    >>> import framework as tf
    >>> tf.nest.map_structure(lambda x: 2 * x, (1, {"a": 2}))
    (2, {'a': 4})
    """
    unknown = set(kwargs) - {"check_types", "expand_composites"}
    if unknown:
        raise TypeError(f"map_structure() got an unexpected argument {unknown.pop()!r}.")
    composites = bool(kwargs.get("expand_composites"))
    return nest.map_structure(func, *structure, composites=composites)


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """Return the leaves `flat_sequence` arranged like `structure`."""
    return nest.pack_sequence_as(structure, flat_sequence, expand_composites)


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False,
) -> None:  # fmt: skip
    """Raise ValueError or TypeError unless both structures have the same nesting."""
    nest.assert_same_structure(nest1, nest2, check_types)
