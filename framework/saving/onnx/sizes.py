"""Sizes that differ between the traces of a call, and how a graph computes them when it runs."""

import operator
from typing import NamedTuple

import numpy as np


class Size:
    """A number that is unknown until the graph runs, with its value in each trace.

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
    """Return an int if all traces have the same value, else a Size."""
    values = [int(v) for v in values]
    return values[0] if len(set(values)) == 1 else Size(values)


def at(size, trace):
    """Return the value of an int or a Size in a trace."""
    return size.values[trace] if type(size) is Size else size


def at_all(size):
    """Return the values of an int or a Size in all traces."""
    return size.values if type(size) is Size else (size,)


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


class Derivation(NamedTuple):
    """A formula for a size: ((product of sizes + before) // divisor) * multiplier + offset.

    With `bound` ("Min", n) or ("Max", n), the size is the minimum or maximum of this value and n.
    """

    sizes: tuple
    before: int = 0
    divisor: int = 1
    multiplier: int = 1
    offset: int = 0
    bound: tuple | None = None


def derivation(values, known_values):
    """Return a formula for a size from the sizes that the graph already has, or None.

    Args:
        values: the size in each trace.
        known_values: the sizes that the graph has: tuples of their values.
    """
    # the most recent sizes come first, because they are the most likely sources
    found = list(known_values)[::-1]
    pairs = [(a, b) for i, a in enumerate(found) for b in found[i:]] if len(found) < 64 else []
    singles = [(a,) for a in found]
    wanted = np.array(values, np.int64)
    ways = [w for sizes in singles + pairs for w in [_linear(sizes, wanted)] if w is not None]
    if not ways:
        ways = [w for sizes in singles for w in _bounded(sizes, wanted)]
    # fewer than three different values do not determine the coefficients
    if not ways and len(set(values)) > 2 and len(values) > 3:
        ways = [w for sizes in singles for w in _divided(sizes, wanted)]
    return min(ways, key=lambda way: way.offset != 0, default=None)


def _linear(sizes, wanted):
    base = np.prod(np.array(sizes, np.int64), axis=0)
    multiplier = _ratio(wanted, base)
    return None if multiplier is None else _checked(sizes, wanted, base, 0, 1, multiplier)


def _bounded(sizes, wanted):
    """Yield formulas min(size, n) and max(size, n) equal to `wanted`; n bounds some traces only."""
    base = np.array(sizes[0], np.int64)
    for name, number in (("Min", wanted.max()), ("Max", wanted.min())):
        bounded = np.minimum(base, number) if name == "Min" else np.maximum(base, number)
        if (bounded == wanted).all() and (base < number).any() and (base > number).any():
            yield Derivation(sizes, bound=(name, int(number)))


def _divided(sizes, wanted):
    base = np.prod(np.array(sizes, np.int64), axis=0)
    for divisor in range(2, 33):
        for before in range(divisor):
            multiplier = _ratio(wanted, (base + before) // divisor)
            if multiplier is not None:
                way = _checked(sizes, wanted, base, before, divisor, multiplier)
                if way is not None:
                    yield way


def _ratio(wanted, base):
    """Return the integer by which `wanted` grows if `base` grows by one, or None."""
    at = int(np.abs(base - base[0]).argmax())
    step_of_base, step = int(base[at] - base[0]), int(wanted[at] - wanted[0])
    return step // step_of_base if step_of_base and step and step % step_of_base == 0 else None


def _checked(sizes, wanted, base, before, divisor, multiplier):
    rest = wanted - (base + before) // divisor * multiplier
    if not (rest == rest[0]).all():
        return None
    return Derivation(sizes, before, divisor, multiplier, int(rest[0]))
