"""SymbolicNumber: a Python number that is known when a model runs, such as an unknown size."""

import math
import operator

import numpy as np

from framework.core import dtypes
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, SymbolicValueError
from framework.core.operand import Operand, WeakNumber
from framework.core.recorders import thread
from framework.core.symbolic import KerasTensor


class SymbolicNumber(KerasTensor, WeakNumber):
    """A Python number known only when the model runs: an unknown size or computed from one.

    Arithmetic and comparisons with numbers return symbolic numbers. Combined with a tensor, a
    symbolic number takes the tensor's dtype, like a Python number. In an `if`, two sizes are equal
    if they are the same dimension of the same tensor; any other conversion to a Python value raises
    an error.

    Args:
        kind: int, float or bool.
        key: identifies the number; two instances with equal keys are the same number.
    """

    __slots__ = ("key", "kind")
    __hash__ = object.__hash__
    is_number = True

    def __init__(self, kind, key=None):
        dtype = dtypes.floatx() if kind is float else "int32" if kind is int else "bool"
        super().__init__((), dtype, name="number")
        self.kind, self.key = kind, key or ("number", id(self))

    @property
    def __class__(self):
        return self.kind

    def _read(self):
        return self

    def _adopted(self, dtype):
        """Return the number as a 0-d KerasTensor of a DType."""
        if self.kind is float and (dtype.is_integer or dtype.is_bool):
            raise DTypeError(f"Cannot convert {self!r}, a float, to a tensor of dtype {dtype}.")
        made = KerasTensor((), dtype, name="number")
        made.origin = (_AS_TENSOR, (self, dtype.name), {}, None)
        return made

    def _refuse(self, *_args, **_kwargs):
        where = f" (symbolic call of {thread.symbolic!r})" if thread.symbolic else ""
        raise SymbolicValueError(
            f"{self!r} is known when the model runs, not while it is built{where}. Python needed "
            "its value here (if, int(), range(), the length of a list, ...). Compute with it and "
            "give it to functions as a size, or put this code into a Layer's call() and give the "
            "layer a compute_output_shape()."
        )

    __bool__ = __int__ = __float__ = __index__ = __array__ = numpy = __complex__ = _refuse
    item = tolist = _refuse

    def __repr__(self):
        return f"<{self.kind.__name__}: {_told(self)}>"

    def __round__(self, digits=None):
        return _number(_round, self, digits)

    def __trunc__(self):
        return _number(_trunc, self)

    def __floor__(self):
        return _number(_floor, self)

    def __ceil__(self):
        return _number(_ceil, self)

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return other // self, other % self


class _Python:
    """A function of Python numbers, such as an addition of sizes, as an operation in a model."""

    def __init__(self, function, name=None):
        self.function, self.name = function, name or function.__name__.strip("_")

    def __call__(self, *args):
        return self.function(*args)


def _number(operation, *args):
    """Return the result of `operation(*args)` as a SymbolicNumber."""
    args = [a.item() if isinstance(a, np.generic) else a for a in args]
    samples = [a.kind(1) if isinstance(a, KerasTensor) else a for a in args]
    keys = [a.key if isinstance(a, KerasTensor) else (type(a), a) for a in args]
    if operation.name in ("add", "mul"):
        keys.sort(key=repr)
    made = SymbolicNumber(type(operation.function(*samples)), (operation.name, *keys))
    made.origin = (operation, tuple(args), {}, None)
    return made


def _told(x):
    operation, args, _, _ = x.origin
    if operation is SIZE_OF:
        return f"size {args[1]} of {args[0].name!r}"
    given = (_told(a) if getattr(a, "is_number", False) else repr(a) for a in args)
    return f"{operation.name}({', '.join(given)})"


def _is_plain(x):
    """Return whether a value is a number of Python or NumPy, or a SymbolicNumber."""
    if type(x) is SymbolicNumber or type(x) in (int, float, bool):
        return True
    return isinstance(x, (int, float, np.integer, np.floating)) and not isinstance(x, Operand)


def _straight(operation):
    def operate(self, other):
        return _number(operation, self, other) if _is_plain(other) else NotImplemented

    return operate


def _reflected(operation):
    def operate(self, other):
        return _number(operation, other, self) if _is_plain(other) else NotImplemented

    return operate


def _comparison(operation, same):
    """Return a comparison method; `same` is its result for two numbers with equal keys."""

    def compare(self, other):
        if type(other) is SymbolicNumber and other.key == self.key:
            return same
        if not _is_plain(other):
            return NotImplemented
        return _number(operation, self, other)

    return compare


def _unary(operation):
    return lambda self: _number(operation, self)


def size_of(x, axis):
    """Return a tensor's size along an axis; a SymbolicNumber for a KerasTensor's unknown size."""
    if not isinstance(x, KerasTensor) or x.shape[axis] is not None:
        return x.shape[axis]
    made = SymbolicNumber(int, ("size", id(x), axis))
    made.origin = (SIZE_OF, (x, axis), {}, None)
    return made


SIZE_OF, _AS_TENSOR = _Python(size_of), _Python(tensor)
_round, _trunc, _floor, _ceil = map(_Python, (round, math.trunc, math.floor, math.ceil))


def _hang():
    """Add the methods of Python's operators to SymbolicNumber."""
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
        operation = _Python(getattr(operator, name))
        setattr(SymbolicNumber, f"__{name}__", _straight(operation))
        setattr(SymbolicNumber, f"__r{name}__", _reflected(operation))
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        compare = _comparison(_Python(getattr(operator, name)), name in ("eq", "le", "ge"))
        setattr(SymbolicNumber, f"__{name}__", compare)
    for name in ("neg", "pos", "abs"):
        setattr(SymbolicNumber, f"__{name}__", _unary(_Python(getattr(operator, name))))


_hang()
