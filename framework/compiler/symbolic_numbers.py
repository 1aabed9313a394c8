"""Symbolic numbers: Python ints and floats among the arguments that a plan takes as inputs.

During a trace, the body receives a `SymbolicFloat` or a `SymbolicInt` instead of the number. A
`ScalarProgram` records what Python computes with it. Where an op receives one, it becomes a further
argument of the graph: a 0-d array of the dtype that the op uses. Before a plan runs, the program
computes these arguments for the numbers of the call, in Python's own arithmetic.
"""

import math
import operator

import numpy as np

from framework.core.operand import WeakNumber
from framework.core.tensor import Tensor

_LIMITS = {"int32": 2**31, "int64": 2**63}
_LARGEST = float(np.finfo(np.float32).max)
_EXACT = 2**53  # ints below it are floats without rounding


class _NumberIndex(int):
    """Which of the prelude's numbers is meant."""


class _NewNumber:
    """In the place of what a guard expects: the step gives one more number."""

    def __init__(self, kind):
        self.kind = kind


_NEW = {kind: _NewNumber(kind) for kind in (int, float)}


class ScalarProgram:
    """What Python did with the numbers of one run, to be done again on others.

    Args:
        recording: of the run; it is given an argument for each number that an op gets.
        numbers: ints and floats.

    A call with other numbers gives the 0-d arrays that the graph takes besides its own arguments,
    or None where Python would have read another value.
    """

    def __init__(self, recording, numbers):
        self._recording = recording
        self._plain = list(numbers)
        self._read = set()
        self._steps = []  # (function, operands, what it must give or a _New)
        self._outputs = {}  # (place, dtype) -> the tensor of the recorded run
        self.reads = []
        self.numbers = [self._number(i) for i in range(len(self._plain))]

    def _number(self, place):
        return _KINDS[type(self._plain[place])](self, _NumberIndex(place))

    def close(self):
        """The run is over: numbers left somewhere are nothing but their values."""
        self._recording = self.numbers = None

    # ---- what numbers tell it ----

    def plain(self, place):
        return self._plain[place]

    def guard(self, how, function, operands, found):
        if self._recording is not None:
            self._steps.append((function, operands, found))
            self.reads.append(how)

    def read(self, place):
        plain = self._plain[place]
        if place not in self._read:
            self._read.add(place)
            self.guard(type(plain).__name__, _itself, (place,), plain)
        return plain

    def derived(self, function, operands, found):
        """What `function` gave, as a number of the prelude."""
        if self._recording is None:
            return found
        self._steps.append((function, operands, _NEW[type(found)]))
        self._plain.append(found)
        return self._number(len(self._plain) - 1)

    def tensor(self, place, dtype):
        """The number at `place` as a tensor: an argument of the graph; None if it does not fit."""
        plain = self._plain[place]
        if self._recording is None or not _fits(plain, dtype):
            return None
        if (place, dtype) not in self._outputs:
            made = Tensor(np.asarray(plain, dtype.np))
            self._outputs[place, dtype] = made
            self._recording.take_argument(made)
        return self._outputs[place, dtype]

    # ---- other numbers ----

    def values(self, numbers):
        """The plain number for each argument it adds; None where a guard does not hold."""
        known = list(numbers)
        try:
            for function, operands, expected in self._steps:
                found = function(*[known[o] if type(o) is _NumberIndex else o for o in operands])
                if type(expected) is _NewNumber:
                    if type(found) is not expected.kind:
                        return None
                    known.append(found)
                elif not same(found, expected):
                    return None
        except (ArithmeticError, ValueError):  # eager, the body raises it
            return None
        found = [known[place] for place, _ in self._outputs]
        fit = all(_fits(v, dtype) for v, (_, dtype) in zip(found, self._outputs, strict=True))
        return found if fit else None

    def __call__(self, numbers):
        found = self.values(numbers)
        if found is None:
            return None
        return [np.asarray(v, d.np) for v, (_, d) in zip(found, self._outputs, strict=True)]


def same(a, b):
    """Whether two plain numbers are one, 0.0 and -0.0 apart, nan and nan together."""
    return type(a) is type(b) and (repr(a) == repr(b) if type(a) is float else a == b)


def _itself(number):
    return number


def _fits(number, dtype):
    """Whether the number counts as one of the dtype, rounded at most."""
    if dtype in _LIMITS:
        return type(number) is int and -_LIMITS[dtype] <= number < _LIMITS[dtype]
    if type(number) is int:
        return dtype in ("float32", "float64") and -_EXACT < number < _EXACT
    if dtype == "float32":
        return not math.isfinite(number) or -_LARGEST <= number <= _LARGEST
    return dtype == "float64"


# ---- the numbers themselves ----------------------------------------------------------------------


class _SymbolicNumber(WeakNumber):
    """A number of a prelude: computes as its plain number does, and tells what it is asked."""

    __slots__ = ("_place", "_prelude")

    def __init__(self, prelude, place):
        self._prelude, self._place = prelude, place

    def _read(self):
        return self._prelude.read(self._place)

    def _adopted(self, dtype):
        return self._prelude.tensor(self._place, dtype)

    def _operand(self, other):
        """(for the prelude, as a plain number)"""
        if isinstance(other, _SymbolicNumber):
            if other._prelude is not self._prelude:
                return (other._read(),) * 2
            return other._place, self._prelude.plain(other._place)
        return other, other

    def _computed(self, function, *operands):
        """`function(*operands)`, which Python computes, as a number."""
        operands, plain = zip(*map(self._operand, operands), strict=True)
        found = function(*plain)
        if type(found) in _NEW:
            return self._prelude.derived(function, operands, found)
        for place in operands:
            if type(place) is _NumberIndex:
                self._prelude.read(place)
        return found

    def _asked(self, how, function, *operands):
        """`function(*operands)`, which Python reads."""
        operands, plain = zip(*map(self._operand, operands), strict=True)
        found = function(*plain)
        self._prelude.guard(how, function, operands, found)
        return found

    def __pow__(self, other, modulus=None):
        if modulus is not None:
            return pow(*_plain((self, other, modulus)))
        if type(other) not in _WITH:
            return NotImplemented
        return self._computed(operator.pow, self, other)

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return other // self, other % self

    def __round__(self, digits=None):
        return self._computed(round, self, *(() if digits is None else (digits,)))

    def __bool__(self):
        return self._asked("bool", bool, self)

    def __int__(self):
        return self._asked("int", int, self)

    def __float__(self):
        return float(self._read())

    def __hash__(self):
        return hash(self._read())

    def __repr__(self):
        return repr(self._read())

    def __format__(self, spec):
        return format(self._read(), spec)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self._read(), dtype)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return getattr(ufunc, method)(*_plain(inputs), **_plain(kwargs))

    def __array_function__(self, function, types, args, kwargs):
        return function(*_plain(args), **_plain(kwargs))

    def __getattr__(self, name):
        if not hasattr(self.__class__, name):
            raise AttributeError(f"{self.__class__.__name__!r} object has no attribute {name!r}")
        return getattr(self._read(), name)

    def __reduce_ex__(self, protocol):
        return self.__class__, (self._read(),)


def _plain(nest):
    """What NumPy is given, numbers in it as plain ones."""
    if isinstance(nest, WeakNumber):
        return nest._read()
    if type(nest) is dict:
        return {key: _plain(value) for key, value in nest.items()}
    if type(nest) in (tuple, list):
        return type(nest)([_plain(value) for value in nest])
    return nest


class SymbolicFloat(_SymbolicNumber):
    """In the place of a float."""

    __slots__ = ()
    __class__ = property(lambda self: float)


class SymbolicInt(_SymbolicNumber):
    """In the place of an int."""

    __slots__ = ()
    __class__ = property(lambda self: int)

    def __index__(self):
        return self._read()


_KINDS = {float: SymbolicFloat, int: SymbolicInt}
_WITH = (int, float, bool, SymbolicFloat, SymbolicInt)


def _binary(function):
    def method(self, other):
        if type(other) not in _WITH:
            return NotImplemented
        return self._computed(function, self, other)

    return method


def _reflected(function):
    def method(self, other):
        if type(other) not in _WITH:
            return NotImplemented
        return self._computed(function, other, self)

    return method


def _comparison(function):
    def method(self, other):
        if type(other) not in _WITH:
            return NotImplemented
        return self._asked("bool", function, self, other)

    return method


def _unary(function):
    return lambda self: self._computed(function, self)


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod"):
    setattr(_SymbolicNumber, f"__{_name}__", _binary(getattr(operator, _name)))
    setattr(_SymbolicNumber, f"__r{_name}__", _reflected(getattr(operator, _name)))
_SymbolicNumber.__rpow__ = _reflected(operator.pow)
for _name, _function in {
    "and": operator.and_, "or": operator.or_, "xor": operator.xor,
    "lshift": operator.lshift, "rshift": operator.rshift,
}.items():  # fmt: skip
    setattr(SymbolicInt, f"__{_name}__", _binary(_function))
    setattr(SymbolicInt, f"__r{_name}__", _reflected(_function))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(_SymbolicNumber, f"__{_name}__", _comparison(getattr(operator, _name)))
for _name, _function in {
    "neg": operator.neg, "pos": operator.pos, "abs": operator.abs, "trunc": math.trunc,
    "floor": math.floor, "ceil": math.ceil,
}.items():  # fmt: skip
    setattr(_SymbolicNumber, f"__{_name}__", _unary(_function))
SymbolicInt.__invert__ = _unary(operator.invert)
