"""Automatic names: `dense`, `dense_1`, ... in the order in which objects are created."""

from framework.core.registry import snake_case

_given = {}  # prefix -> the number of automatic names that start with it


def auto_name(class_name):
    """Return the class's name in snake case, with a number from the second call on.

    >>> auto_name("SomeLayer"), auto_name("SomeLayer")
    ('some_layer', 'some_layer_1')
    """
    prefix = snake_case(class_name)
    number = _given.get(prefix, 0)
    _given[prefix] = number + 1
    return f"{prefix}_{number}" if number else prefix


def get_uid(prefix: str = "") -> int:
    """Return the next number of a prefix: 1, 2, ...; automatic names continue after it.

    >>> get_uid("own_prefix"), get_uid("own_prefix"), auto_name("OwnPrefix")
    (1, 2, 'own_prefix_3')
    """
    number = max(_given.get(prefix, 1), 1)
    _given[prefix] = number + 1
    return number


def forget_names():
    """Restart the numbers of automatic names for all prefixes, as `clear_session` does."""
    _given.clear()
