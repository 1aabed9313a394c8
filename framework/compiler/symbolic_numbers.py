"""Symbolic numbers: Python ints and floats among the arguments become inputs of a plan.

During a trace, the body receives a `SymbolicFloat` or a `SymbolicInt` instead of the number. A
`ScalarProgram` records what Python computes from symbolic numbers. A symbolic number that an op
receives becomes a further argument of the graph, a 0-d array of the dtype that the op uses. Before
a plan runs, the program computes these arguments for the numbers of the call, in Python's own
arithmetic.
"""

import math
import operator

import numpy as np

from framework.core.operand import WeakNumber
from framework.core.tensor import Tensor

_LIMITS = {"int32": 2**31, "int64": 2**63}
_LARGEST = float(np.finfo(np.float32).max)
_EXACT = 2**53  # Ints smaller than this convert to float64 exactly.


class _NumberIndex(int):
    """The index of a number in a ScalarProgram."""


class _NewNumber:
    """Marks a step of a ScalarProgram that computes a number, unlike guards, which check one."""

    def __init__(self, kind):
        self.kind = kind


_NEW = {kind: _NewNumber(kind) for kind in (int, float)}


class ScalarProgram:
    """The Python arithmetic of a trace on symbolic numbers, to be repeated for other numbers.

    Args:
        recording: the GraphRecorder of the trace; each number that an op receives becomes an
            argument of its graph.
        numbers: ints and floats.

    A call with other numbers returns the values of these arguments as 0-d arrays, or None if Python
    would have read another value (a guard fails).
    """

    def __init__(self, recording, numbers):
        self._recording = recording
        self._plain = list(numbers)
        self._read = set()
        # one entry per operation or guard: (function, operands, its _NewNumber or expected result)
        self._steps = []
        # (index of a number, dtype) -> the tensor that stands for it in the trace
        self._outputs = {}
        self.reads = []
        self.numbers = [self._number(i) for i in range(len(self._plain))]

    def _number(self, place):
        return _KINDS[type(self._plain[place])](self, _NumberIndex(place))

    def close(self):
        """End the trace; symbolic numbers act as plain numbers from then on."""
        self._recording = self.numbers = None

    # ---- recording of Python's arithmetic ----

    def plain(self, place):
        return self._plain[place]

    def guard(self, how, function, operands, result):
        if self._recording is not None:
            self._steps.append((function, operands, result))
            self.reads.append(how)

    def read(self, place):
        plain = self._plain[place]
        if place not in self._read:
            self._read.add(place)
            self.guard(type(plain).__name__, _itself, (place,), plain)
        return plain

    def derived(self, function, operands, result):
        """Record the result of `function` and return it as a symbolic number."""
        if self._recording is None:
            return result
        self._steps.append((function, operands, _NEW[type(result)]))
        self._plain.append(result)
        return self._number(len(self._plain) - 1)

    def tensor(self, place, dtype):
        """Return a number as a tensor argument of the graph; None if the dtype cannot hold it."""
        plain = self._plain[place]
        if self._recording is None or not _fits(plain, dtype):
            return None
        if (place, dtype) not in self._outputs:
            made = Tensor(np.asarray(plain, dtype.np))
            self._outputs[place, dtype] = made
            self._recording.take_argument(made)
        return self._outputs[place, dtype]

    # ---- replay for other numbers ----

    def values(self, numbers):
        """Return the number for each added argument; None if a guard fails."""
        known = list(numbers)
        try:
            for function, operands, expected in self._steps:
                result = function(*[known[o] if type(o) is _NumberIndex else o for o in operands])
                if type(expected) is _NewNumber:
                    if type(result) is not expected.kind:
                        return None
                    known.append(result)
                elif not same(result, expected):
                    return None
        # The eager call raises this error again, for the user to see.
        except (ArithmeticError, ValueError):
            return None
        result = [known[place] for place, _ in self._outputs]
        fit = all(_fits(v, dtype) for v, (_, dtype) in zip(result, self._outputs, strict=True))
        return result if fit else None

    def __call__(self, numbers):
        result = self.values(numbers)
        if result is None:
            return None
        return [np.asarray(v, d.np) for v, (_, d) in zip(result, self._outputs, strict=True)]


def same(a, b):
    """Return whether two numbers are identical: 0.0 and -0.0 differ, nan equals nan."""
    return type(a) is type(b) and (repr(a) == repr(b) if type(a) is float else a == b)


def _itself(number):
    return number


def _fits(number, dtype):
    """Return whether the dtype can hold the number, which may be rounded."""
    if dtype in _LIMITS:
        return type(number) is int and -_LIMITS[dtype] <= number < _LIMITS[dtype]
    if type(number) is int:
        return dtype in ("float32", "float64") and -_EXACT < number < _EXACT
    if dtype == "float32":
        return not math.isfinite(number) or -_LARGEST <= number <= _LARGEST
    return dtype == "float64"


# ---- the number classes --------------------------------------------------------------------------


class _SymbolicNumber(WeakNumber):
    """Behaves as a plain number, and records what Python computes from it and reads of it."""

    __slots__ = ("_place", "_program")

    def __init__(self, program, place):
        self._program, self._place = program, place

    def _read(self):
        return self._program.read(self._place)

    def _adopted(self, dtype):
        return self._program.tensor(self._place, dtype)

    def _operand(self, other):
        """Return (operand for the ScalarProgram: an index or a number, plain number)."""
        if isinstance(other, _SymbolicNumber):
            if other._program is not self._program:
                return (other._read(),) * 2
            return other._place, self._program.plain(other._place)
        return other, other

    def _computed(self, function, *operands):
        """Return `function(*operands)` as a symbolic number, and record it."""
        operands, plain = zip(*map(self._operand, operands), strict=True)
        result = function(*plain)
        if type(result) in _NEW:
            return self._program.derived(function, operands, result)
        for place in operands:
            if type(place) is _NumberIndex:
                self._program.read(place)
        return result

    def _guarded(self, how, function, *operands):
        """Return `function(*operands)` and record a guard on its value."""
        operands, plain = zip(*map(self._operand, operands), strict=True)
        result = function(*plain)
        self._program.guard(how, function, operands, result)
        return result

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
        return self._guarded("bool", bool, self)

    def __int__(self):
        return self._guarded("int", int, self)

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
    """Replace symbolic numbers in a nest by plain ones, for NumPy."""
    if isinstance(nest, WeakNumber):
        return nest._read()
    if type(nest) is dict:
        return {key: _plain(value) for key, value in nest.items()}
    if type(nest) in (tuple, list):
        return type(nest)([_plain(value) for value in nest])
    return nest


class SymbolicFloat(_SymbolicNumber):
    """A number that acts as a float, and records what Python computes from it."""

    __slots__ = ()
    __class__ = property(lambda self: float)


class SymbolicInt(_SymbolicNumber):
    """A number that acts as an int, and records what Python computes from it."""

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
        return self._guarded("bool", function, self, other)

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
