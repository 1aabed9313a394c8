"""The state of callbacks, which `fit(resume=...)` saves and restores.

Built-in callbacks list the attributes to save in `_framework.saves`. For the user's classes, every
attribute with plain data is saved: numbers, strings, arrays, and lists, tuples and dicts of them.
"""

import numpy as np

from framework.core.internal_state import in_package
from framework.training.callbacks.base import Callback

_LEFT_OUT = ("params", "model", "_model", "_framework")


def states_of(callbacks, arrays):
    """Return [class name, state] for each callback; put arrays in the states into `arrays`."""
    states = []
    for number, callback in enumerate(callbacks):
        found = {}
        for name, value in _values(callback).items():
            if _is_plain(value):
                found[name] = packed(value, arrays, f"callbacks/{number}/{name}")
        states.append([type(callback).__name__, found])
    return states


def restore_states(callbacks, states, array):
    """Restore the states of callbacks: each gets the next saved state with the name of its class.

    Args:
        array: a function that returns the saved array of a name.
    """
    for callback, state in matched(callbacks, states):
        for name, value in state.items():
            holder = callback
            if name.startswith("_framework."):
                holder, name = callback._framework, name.partition(".")[2]  # noqa: PLW2901
            object.__setattr__(holder, name, unpacked(value, array))


def matched(callbacks, states):
    """Return pairs (callback, saved state), matched by class name in order."""
    left, pairs = list(states), []
    for callback in callbacks:
        for state in left:
            if state[0] == type(callback).__name__:
                pairs.append((callback, state[1]))
                left.remove(state)
                break
    return pairs


def _values(callback):
    """Return {name: value} of the attributes that may change during training."""
    if not isinstance(callback, Callback):
        return {k: v for k, v in getattr(callback, "__dict__", {}).items() if k not in _LEFT_OUT}
    own = callback._framework
    names = own.saves
    found = {n: getattr(callback, n) for n in names if not n.startswith("_framework.")}
    found.update({
        n: getattr(own, n.partition(".")[2]) for n in names if n.startswith("_framework.")
    })  # fmt: skip
    if not in_package(type(callback)):
        found.update({k: v for k, v in vars(callback).items() if k not in _LEFT_OUT})
    return found


# ---- conversion of nests to JSON values and arrays -----------------------------------------------


def packed(value, arrays, name):
    """Return plain data as JSON values; put arrays into `arrays` under names starting with `name`.

    Raises:
        TypeError: `value` is not plain data.
    """
    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype.kind not in "fiubc" and value.dtype.name != "bfloat16":
            raise TypeError(name)
        arrays[name] = np.array(value)
        return {"array" if isinstance(value, np.ndarray) else "scalar": name}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        items = [packed(item, arrays, f"{name}/{i}") for i, item in enumerate(value)]
        return items if type(value) is list else {"tuple": items}
    if type(value) is dict:
        rows = [
            [packed(key, arrays, f"{name}/{i}/key"), packed(item, arrays, f"{name}/{i}")]
            for i, (key, item) in enumerate(value.items())
        ]
        return {"dict": rows}
    raise TypeError(name)


def _is_plain(value):
    """Return whether `packed` accepts a value."""
    try:
        packed(value, {}, "")
    except TypeError:
        return False
    return True


def unpacked(value, array):
    """Return the value that `packed` converted to `value`; `array` returns the array of a name."""
    if isinstance(value, list):
        return [unpacked(item, array) for item in value]
    if not isinstance(value, dict):
        return value
    ((kind, inner),) = value.items()
    if kind == "array":
        return array(inner)
    if kind == "scalar":
        return array(inner)[()]
    if kind == "tuple":
        return tuple(unpacked(item, array) for item in inner)
    return {unpacked(key, array): unpacked(item, array) for key, item in inner}
