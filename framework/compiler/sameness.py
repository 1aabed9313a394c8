"""Whether two runs did the same: the test that a graph passes before it becomes a plan.

What code computes beside the ops (from `.array`, from Python's own numbers) is a constant to a
recording. Such a constant is another in the next run; then the run cannot be repeated by a plan.
"""

import numpy as np

from framework.compiler.graph import DrawStep, GuardStep, OpStep, Value
from framework.core.random import Stateless


def difference(a, b, given=None):
    """None where graph `b` is graph `a` again; else what differs first, as a text.

    "" stands for another structure: another way through the code.

    Args:
        given: what stands in `a` for some arguments of `b`, as plain numbers by the Values' ids.
    """
    if (len(a.steps), len(a.results), a.facts) != (len(b.steps), len(b.results), b.facts):
        return ""
    numbers = [{id(v): i for i, v in enumerate(g.arguments)} for g in (a, b)]
    numbers.append(given or {})
    for s, t in zip(a.steps, b.steps, strict=True):
        found = _step_difference(s, t, numbers)
        if found is not None:
            return found
        for x, y in zip(s.made, t.made, strict=True):
            numbers[0][id(x)] = numbers[1][id(y)] = len(numbers[0])
    pairs = list(zip(a.results, b.results, strict=True))
    if [v.serial for v, _ in a.assigned] != [v.serial for v, _ in b.assigned]:
        return ""
    pairs += [(x, y) for (_, x), (_, y) in zip(a.assigned, b.assigned, strict=True)]
    for x, y in pairs:
        if not _same(x, y, numbers):
            return "a constant that it returns or assigns"
    return None


def _step_difference(s, t, numbers):
    if type(s) is not type(t) or len(s.args) != len(t.args) or len(s.made) != len(t.made):
        return ""
    if any(x.shape != y.shape or x.dtype != y.dtype for x, y in zip(s.made, t.made, strict=True)):
        return ""
    if type(s) is DrawStep:
        return _draw_difference(s.draw, t.draw)
    if type(s) is GuardStep:
        exact = s.expected is t.expected or _equal(s.expected, t.expected)
        return None if s.how == t.how and exact and _same(*s.args, *t.args, numbers) else ""
    if type(s) is OpStep and s.op is not t.op and s.op.name != t.op.name:
        return ""
    if not _equal(s.attrs, t.attrs):
        return f"an attribute of {s.op.name}"
    for x, y in zip(s.args, t.args, strict=True):
        if not _same(x, y, numbers):
            constant = not (type(x) is Value and x.constant is None)
            where = f" in layer {s.layer.path}" if s.layer is not None else ""
            return f"a number that {s.op.name}{where} computes with" if constant else ""
    return None


def _draw_difference(x, y):
    if (x.distribution, x.shape) != (y.distribution, y.shape):
        return ""
    if x.source is not y.source:
        if not type(x.source) is type(y.source) is Stateless:
            return ""
        if x.source.advance() != y.source.advance():
            return "the seed of a draw"
    return None if _equal(x.a, y.a) and _equal(x.b, y.b) else "a parameter of a draw"


def _same(x, y, numbers):
    if id(y) in numbers[2]:
        return _is_number(x, numbers[2][id(y)], y.dtype)
    if type(x) is not Value or type(y) is not Value:
        return type(x) is type(y) and _equal(x, y)
    if x.constant is not None or y.constant is not None:
        return x.constant is y.constant or (
            x.constant is not None and y.constant is not None and _equal(x.constant, y.constant)
        )
    if x.variable is not None or y.variable is not None:
        return x.variable is y.variable
    return numbers[0].get(id(x)) == numbers[1].get(id(y))


def _is_number(x, number, dtype):
    """Whether `x` is the number, or a constant made of it."""
    if type(x) is Value:
        return x.constant is not None and _equal(x.constant, np.asarray(number, dtype))
    return _equal(x, number)


def _equal(x, y):
    """Equal to the last bit, arrays, numbers and nests of them; other objects by `==`."""
    if x is y:
        return True
    if type(x) is not type(y):
        return False
    if isinstance(x, (np.ndarray, np.generic)):
        if x.shape != y.shape or x.dtype != y.dtype:
            return False
        if x.dtype.hasobject:
            return x.tolist() == y.tolist()  # texts, of which the bytes are addresses
        return x.tobytes() == y.tobytes()
    if isinstance(x, (tuple, list)):
        return len(x) == len(y) and all(map(_equal, x, y))
    if isinstance(x, dict):
        return list(x) == list(y) and all(map(_equal, x.values(), y.values()))
    if isinstance(x, float):
        return repr(x) == repr(y)
    try:
        return bool(x == y)
    except (TypeError, ValueError):
        return False
