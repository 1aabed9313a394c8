"""Sizes that differ between the traces of a call, and how a graph computes them when it runs."""

import operator

import numpy as np


class Size:
    """A number that is unknown until the graph runs: its value in each trace.

    Arithmetic with ints and other sizes returns an int if all traces agree, else a Size.
    """

    __slots__ = ("values",)

    def __init__(self, values):
        self.values = tuple(values)

    def __eq__(self, other):
        return type(other) is Size and other.values == self.values

    def __hash__(self):
        return hash(self.values)

    def __repr__(self):
        return f"Size{self.values}"


def size_from(values):
    """Return the value that all traces agree on as an int, else a Size."""
    values = [int(v) for v in values]
    return values[0] if len(set(values)) == 1 else Size(values)


def at(size, trace):
    """Return the value of an int or a Size in a trace."""
    return size.values[trace] if type(size) is Size else size


def known(shape):
    """Return whether all sizes are ints."""
    return all(type(n) is not Size for n in shape)


def arithmetic(function, *sizes):
    """Return `function` of ints and Sizes, trace by trace."""
    count = next((len(n.values) for n in sizes if type(n) is Size), 1)
    return size_from(function(*(at(n, k) for n in sizes)) for k in range(count))


def product(sizes):
    """Return the product of ints and Sizes."""
    total = 1
    for n in sizes:
        total = arithmetic(operator.mul, total, n)
    return total


def _add_operators():
    for name in ("add", "sub", "mul", "floordiv"):
        function = getattr(operator, name)
        setattr(Size, f"__{name}__", lambda a, b, f=function: arithmetic(f, a, b))
        setattr(Size, f"__r{name}__", lambda a, b, f=function: arithmetic(f, b, a))
    Size.__neg__ = lambda a: arithmetic(operator.neg, a)


_add_operators()


def derivation(values, known_values):
    """Return how to compute a size from others that the graph has, or None.

    Args:
        values: the size in each trace.
        known_values: the sizes that the graph has: tuples of their values.

    Returns:
        (sizes, multiplier, divisor, offset): the size is the product of `sizes` (one or two of
        `known_values`) times `multiplier`, divided by `divisor` (floor), plus `offset`.
    """
    found = list(known_values)[::-1]  # the latest sizes are the nearest
    pairs = [(a, b) for i, a in enumerate(found) for b in found[i:]] if len(found) < 64 else []
    wanted = np.array(values, np.int64)
    ways = []
    for sizes in [(a,) for a in found] + pairs:
        scaled = _scaled(wanted, np.prod(np.array(sizes, np.int64), axis=0))
        if scaled is not None and not scaled[2]:
            return sizes, *scaled
        if scaled is not None:
            ways.append((sizes, *scaled))
    return ways[0] if ways else None


def _scaled(wanted, base):
    """Return (multiplier, divisor, offset) so that wanted = base * m // d + o, or None."""
    steps = base - base[0], wanted - wanted[0]
    at = int(np.abs(steps[0]).argmax())
    step_of_base, step = int(steps[0][at]), int(steps[1][at])
    if not step_of_base or not step:
        return None
    if step % step_of_base == 0:
        candidates = [(step // step_of_base, 1)]
    else:
        candidates = [(1, d) for d in range(2, 65)]
    for multiplier, divisor in candidates:
        rest = wanted - base * multiplier // divisor
        if (rest == rest[0]).all():
            return multiplier, divisor, int(rest[0])
    return None
