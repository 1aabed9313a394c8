"""Comparison of two graphs: a graph is compiled to a plan only if two traces are equal.

Values that Python computes without ops (from arrays or Python numbers) are constants of a trace. If
such a constant differs in the next trace, a plan cannot repeat the call.
"""

import numpy as np

from framework.compiler.ir import DrawNode, GuardNode, OpNode, Value
from framework.core.random import Stateless


class Difference:
    """The first difference between two traces.

    Args:
        what: a description; "" means that they executed different code.
        position: (file, line number) in user code, or None.
        guarded: whether a guard of the first trace fails at this position, so that its plan will
            not run.
    """

    __slots__ = ("guarded", "line", "what")

    def __init__(self, what, position=None, guarded=False):
        self.what, self.guarded = what, guarded
        self.line = None if position is None else f"{position[0]}:{position[1]}"

    @property
    def unlike(self):
        """Whether the traces executed different code and no guard distinguishes them."""
        return not self.what and not self.guarded


def difference(a, b, given=None):
    """Return the first `Difference` between two graphs, or None if they are equal.

    Args:
        given: {id of an argument of `b`: the number that `a` contains instead of it}.
    """
    if any(b.watched.get(serial, watched) != watched for serial, watched in a.watched.items()):
        return Difference("", guarded=True)
    numbers = [{id(v): i for i, v in enumerate(g.arguments)} for g in (a, b)]
    numbers.append(given or {})
    for s, t in zip(a.nodes, b.nodes):
        found = _node_difference(s, t, numbers)
        if found is not None:
            return found
        for x, y in zip(s.all_outputs, t.all_outputs, strict=True):
            numbers[0][id(x)] = numbers[1][id(y)] = len(numbers[0])
    if len(a.nodes) != len(b.nodes):
        shorter = min(len(a.nodes), len(b.nodes))
        return Difference("", (*b.nodes[shorter:], *a.nodes[shorter:])[0].line)
    if (len(a.results), a.structure, a.facts) != (len(b.results), b.structure, b.facts):
        return Difference("the structure of the function's result")
    if [v.serial for v, _ in a.assigned] != [v.serial for v, _ in b.assigned]:
        return Difference("the set of variables that the function assigns")
    pairs = list(zip(a.results, b.results, strict=True))
    pairs += [(x, y) for (_, x), (_, y) in zip(a.assigned, b.assigned, strict=True)]
    for x, y in pairs:
        if not _same(x, y, numbers):
            position = None if y.node is None else y.node.line
            return Difference("a constant that the function returns or assigns", position)
    return None


def _node_difference(s, t, numbers):
    """Return the Difference between two nodes, or None if they are equal."""
    if (
        type(s) is not type(t)
        or len(s.args) != len(t.args)
        or len(s.all_outputs) != len(t.all_outputs)
    ):
        return Difference("", t.line)
    if type(s) is DrawNode:
        what = draw_difference(s.draw, t.draw)
    elif type(s) is GuardNode:
        return _guard_difference(s, t, numbers)
    else:
        what = _op_difference(s, t, numbers)
    if what is not None:
        return Difference(what, t.line)
    if any(
        x.shape != y.shape or x.dtype != y.dtype
        for x, y in zip(s.all_outputs, t.all_outputs, strict=True)
    ):
        # If the result's shape depends on values, the next node is a guard on it, which fails.
        return Difference("", t.line, guarded=type(s) is OpNode and s.op.sized_by_values)
    return None


def _guard_difference(s, t, numbers):
    if s.how != t.how or not _same(*s.args, *t.args, numbers):
        return Difference("", t.line)
    exact = s.expected is t.expected or equal(s.expected, t.expected)
    return None if exact else Difference("", t.line, guarded=True)


def _op_difference(s, t, numbers):
    """Return a description of the difference between two op nodes, or None."""
    if s.op is not t.op and s.op.name != t.op.name:
        return ""
    if not equal(s.attrs, t.attrs):
        return f"an attribute of {s.op.name}"
    for x, y in zip(s.args, t.args, strict=True):
        if not _same(x, y, numbers):
            return argument_difference(s, x)
    return None


def argument_difference(node, x):
    """Return a description of a difference in the argument `x` of a node."""
    if type(x) is Value and x.constant is None:
        return ""
    where = f" in layer {node.layer.path}" if node.layer is not None else ""
    return f"a constant argument of {node.op.name}{where}"


def draw_difference(x, y):
    """Return a description of the difference between two draws, or None."""
    if (x.distribution, x.shape) != (y.distribution, y.shape):
        return ""
    if x.source is not y.source:
        if not type(x.source) is type(y.source) is Stateless:
            return ""
        if x.source.advance() != y.source.advance():
            return "the seed of a draw"
    return None if equal(x.a, y.a) and equal(x.b, y.b) else "a parameter of a random draw"


def _same(x, y, numbers):
    if id(y) in numbers[2]:
        return _is_number(x, numbers[2][id(y)], y.dtype)
    if type(x) is not Value or type(y) is not Value:
        return type(x) is type(y) and equal(x, y)
    if x.constant is not None or y.constant is not None:
        return x.constant is y.constant or (
            x.constant is not None and y.constant is not None and equal(x.constant, y.constant)
        )
    if x.variable is not None or y.variable is not None:
        return x.variable is y.variable
    return numbers[0].get(id(x)) == numbers[1].get(id(y))


def _is_number(x, number, dtype):
    """Return whether `x` is the number, or a constant whose value is the number."""
    if type(x) is Value:
        return x.constant is not None and equal(x.constant, np.asarray(number, dtype))
    return equal(x, number)


def equal(x, y):
    """Compare arrays, numbers and nests of them bit by bit, and other objects by `==`."""
    if x is y:
        return True
    if type(x) is not type(y):
        return False
    if isinstance(x, (np.ndarray, np.generic)):
        if x.shape != y.shape or x.dtype != y.dtype:
            return False
        if x.dtype.hasobject:
            # Compare elements, because the bytes of an object array are addresses.
            return x.tolist() == y.tolist()
        return x.tobytes() == y.tobytes()
    if isinstance(x, (tuple, list)):
        return len(x) == len(y) and all(map(equal, x, y))
    if isinstance(x, dict):
        return list(x) == list(y) and all(map(equal, x.values(), y.values()))
    if isinstance(x, float):
        return repr(x) == repr(y)
    try:
        return bool(x == y)
    except (TypeError, ValueError):
        return False
