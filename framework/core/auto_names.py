"""Names for what the user left unnamed: `dense`, `dense_1`, ... in the order of asking."""

from framework.core.registry import snake_case

_given = {}  # prefix -> how often it was asked for


def auto_name(class_name):
    """The class's name in snake case, followed by a number from the second time on.

    >>> auto_name("SomeLayer"), auto_name("SomeLayer")
    ('some_layer', 'some_layer_1')
    """
    prefix = snake_case(class_name)
    number = _given.get(prefix, 0)
    _given[prefix] = number + 1
    return f"{prefix}_{number}" if number else prefix


def forget_names():
    """Begin all numbers anew, as `clear_session` does."""
    _given.clear()
