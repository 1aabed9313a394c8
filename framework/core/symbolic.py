"""KerasTensor: a shape and a dtype without values, and what ops do with it.

A symbolic call runs the same Python code on KerasTensors. Nothing changes while it lasts:
assignments, draws and losses are discarded, and reading a value raises.
"""

import math
import operator

import numpy as np

from framework.core import dtypes
from framework.core.errors import DTypeError, ShapeError, SymbolicValueError
from framework.core.op import table
from framework.core.operand import Operand, WeakNumber
from framework.core.recorders import thread


class KerasTensor(Operand):
    """A tensor of known dtype and partly known shape (`None` where unknown), without values.

    Args:
        shape: a tuple of ints and None.
        dtype: a dtype or its name.
        name: a string, made up where None.
    """

    # `origin` = (operation, args, kwargs, index): the call that gave it; None for an input.
    # `_stand_ins` is for `core/standins.py`, which makes it.
    __slots__ = ("__weakref__", "_keras_mask", "_stand_ins", "dtype", "name", "origin", "shape")
    __hash__ = object.__hash__
    record_history = True
    is_number = False

    def __init__(self, shape, dtype="float32", sparse=False, ragged=False, record_history=True,
                 name=None):  # fmt: skip
        self.shape = tuple([n if n is None or type(n) is int else known_size(n) for n in shape])
        self.dtype = dtypes.as_dtype(dtype)
        self.name = name or "keras_tensor"
        self.origin = None

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def sparse(self):
        return False

    @property
    def ragged(self):
        return False

    def get_shape(self):
        return dtypes.Shape(self.shape)

    def _refuse(self, *_args, **_kwargs):
        where = f" in the symbolic call of {thread.symbolic!r}" if thread.symbolic else ""
        raise SymbolicValueError(
            f"A KerasTensor has a shape and a dtype but no values{where}: <{self!r}>. Python "
            "needed its value here (if, int(), NumPy, printing an item, ...). Use ops on it "
            "instead, put this code into a Layer's call() and give the layer a "
            "compute_output_shape(), or call the model on real data first."
        )

    __bool__ = __int__ = __float__ = __index__ = __array__ = numpy = __complex__ = _refuse
    item = tolist = _refuse

    def _op_call(self, op, args, attrs):
        return call(op, args, attrs)  # variables unread: a model reads them anew

    def __len__(self):
        if not self.shape or self.shape[0] is None:
            self._refuse()
        return self.shape[0]

    def __iter__(self):
        if not self.shape or self.shape[0] is None:
            self._refuse()
        return (self[i] for i in range(self.shape[0]))

    def __repr__(self):
        return f"KerasTensor shape={self.shape}, dtype={self.dtype}, name={self.name}"

    def __format__(self, spec):
        return format(repr(self), spec)


def known_size(n):
    """A size of a shape: an int, or None for what is known at run time."""
    return None if isinstance(n, KerasTensor) else int(n)


class calling:
    """Context of a symbolic call: `thread.symbolic` names what is being called."""

    def __init__(self, name):
        self._name = name

    def __enter__(self):
        self._outer, thread.symbolic = thread.symbolic, self._name

    def __exit__(self, *_):
        thread.symbolic = self._outer


class drawn_as_zeros(str):
    """The name of a call in which draws are tensors of zeros: one on stand-ins."""

    __slots__ = ()


_SIZES = ("size", "classes", "depth", "count")  # attributes of ops


def call(op, args, attrs):
    """The KerasTensors that `op(*args, **attrs)` gives."""
    specs = infer(op, args, attrs)
    if thread.symbolic is None and attrs:
        shape = attrs.get("shape")
        if shape and (None in shape or shape.count(-1) > 1):
            return _resized(op, args, attrs)
        if any(attrs.get(name, 0) is None for name in _SIZES) or None in attrs.get("sizes", ()):
            raise SymbolicValueError(f"{op.name}: sizes are needed that are not known.")
    single = isinstance(specs, tuple)
    outputs = []
    for i, (shape, dtype) in enumerate([specs] if single else specs):
        output = KerasTensor(shape, dtype, name=op.name)
        output.origin = (op, tuple(args), attrs, None if single else i)
        outputs.append(output)
    return outputs[0] if single else tuple(outputs)


def _resized(op, args, attrs):
    """A call that asks for unknown sizes, in a form that a model can run."""
    shape = attrs["shape"]
    index = _ones_moved(args[0].shape, shape) if op.name == "reshape" else None
    if index is not None:
        return call(table["getitem"], args, {"index": index})
    if op.name != "reshape" or -1 in shape or shape.count(None) > 1:
        raise SymbolicValueError(f"{op.name}: the sizes {shape} are needed, but not all known.")
    return call(op, args, {"shape": tuple(-1 if n is None else n for n in shape)})


def _ones_moved(before, after):
    """The index that puts in, or takes out, axes of size 1; None where more than that is done."""
    if [n for n in before if n != 1] != [n for n in after if n != 1]:
        return None
    index, rest = [], list(before)
    for n in after:
        while n != 1 and rest and rest[0] == 1:
            rest.pop(0)
            index.append(0)
        index.append(slice(None) if rest and rest[0] == n else None)
        if index[-1] is not None:
            rest.pop(0)
    return tuple(index + [0] * len(rest))


def infer(op, args, attrs):
    """(shape, dtype) of the output, a list of them for several outputs.

    By the op's own `infer`, by the kind's rule, else by running the forward on zeros: twice, with
    two different small sizes for unknown dimensions; what differs is unknown.
    """
    if op.check is not None:
        op.check(*args)
    if op.infer is not None:
        return op.infer(*args, **attrs)
    unknown = any(isinstance(a, KerasTensor) and None in a.shape for a in args)
    if op.kind == "elementwise" and op.plain:
        small = [_zeros(a, 1, rank_only=True) for a in args]
        return broadcast_shapes(op.name, args), _forward(op, small, attrs, args).dtype
    if op.kind == "reduction" and "keepdims" in attrs:
        small = _zeros(args[0], 1, rank_only=True)
        dtype = _forward(op, [small], attrs, args).dtype
        return _reduced(args[0].shape, **attrs), dtype
    if not unknown:
        return _specs(op, [_zeros(a, 2) for a in args], attrs, args)
    try:
        first = _specs(op, [_zeros(a, 2) for a in args], attrs, args)
        second = _specs(op, [_zeros(a, 3) for a in args], attrs, args)
    except ShapeError as error:
        first = second = _fitting(op, args, attrs, error)
    if isinstance(first, tuple):
        return _common(first, second)
    return [_common(a, b) for a, b in zip(first, second, strict=True)]


def _fitting(op, args, attrs, error):
    """The specs where an unknown size must be one of the known ones, which is doubtful then."""
    for n in known_sizes(args):
        try:
            found = _specs(op, [_zeros(a, n) for a in args], attrs, args)
        except ShapeError:
            continue
        specs = [found] if isinstance(found, tuple) else found
        specs = [(tuple(None if m == n else m for m in s), dtype) for s, dtype in specs]
        return specs[0] if isinstance(found, tuple) else specs
    raise error


def known_sizes(args):
    """The sizes that are known in the shapes of the arguments."""
    shapes = [getattr(a, "shape", ()) for a in args]
    return sorted({n for shape in shapes if isinstance(shape, tuple) for n in shape if n})


def _reduced(shape, axis, keepdims):
    if keepdims:
        return tuple(1 if i in axis else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in axis)


def _common(a, b):
    return tuple(m if m == n else None for m, n in zip(a[0], b[0], strict=True)), a[1]


def _specs(op, arrays, attrs, args):
    value = _forward(op, arrays, attrs, args)
    if op.saves:
        value = value[0]
    if op.outputs == 1:
        return np.shape(value), np.asarray(value).dtype
    return [(np.shape(v), np.asarray(v).dtype) for v in value]


def _forward(op, arrays, attrs, args):
    try:
        return op.forward(*arrays, **attrs)
    except (ValueError, IndexError) as error:
        shapes = ", ".join(str(getattr(a, "shape", ())) for a in args)
        raise ShapeError(f"{op.name}: the shapes {shapes} do not fit. {error}") from None


def _zeros(arg, size, rank_only=False):
    """Zero-stride zeros in the place of an argument: they cost no memory."""
    if isinstance(arg, KerasTensor):
        if arg.is_number:
            return arg.kind(1)
        shape = [size if n is None or rank_only else n for n in arg.shape]
        return np.broadcast_to(np.zeros((), arg.dtype.np), shape)
    array = getattr(arg, "array", arg)
    if rank_only and np.ndim(array):
        return np.zeros((1,) * array.ndim, array.dtype)
    return array


def broadcast_shapes(name, args):
    """The broadcast of the arguments' shapes; an unknown size stays so unless another fixes it."""
    shapes = [tuple(getattr(a, "shape", ())) for a in args]
    rank = max(map(len, shapes))
    result = []
    for sizes in zip(*((1,) * (rank - len(s)) + s for s in shapes), strict=True):
        known = {n for n in sizes if n is not None and n != 1}
        if len(known) > 1:
            raise ShapeError(f"{name}: the shapes {', '.join(map(str, shapes))} do not broadcast.")
        result.append(known.pop() if known else None if None in sizes else 1)
    return tuple(result)


# ---- numbers -------------------------------------------------------------------------------------


class SymbolicNumber(KerasTensor, WeakNumber):
    """A Python number that is known when the model runs: an unknown size, or what follows from it.

    Arithmetic and comparisons with numbers give such numbers; with tensors it takes on their
    dtype, as a Python number does. Two sizes are equal, for `if`, where they are the same
    dimension of the same tensor; other questions that Python asks raise.

    Args:
        kind: int, float or bool.
        key: what identifies it; two with one key are the same number.
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
        """The number as a 0-d KerasTensor of a DType."""
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
    """A function of Python's numbers as an operation of a model."""

    def __init__(self, function, name=None):
        self.function, self.name = function, name or function.__name__.strip("_")

    def __call__(self, *args):
        return self.function(*args)


def _number(operation, *args):
    """`operation(*args)`, known at run time."""
    samples = [a.kind(1) if isinstance(a, KerasTensor) else a for a in args]
    keys = [a.key if isinstance(a, KerasTensor) else (type(a), a) for a in args]
    if operation.name in ("add", "mul"):
        keys.sort(key=repr)
    made = SymbolicNumber(type(operation.function(*samples)), (operation.name, *keys))
    made.origin = (operation, args, {}, None)
    return made


def _told(x):
    operation, args, _, _ = x.origin
    if operation is SIZE_OF:
        return f"size {args[1]} of {args[0].name!r}"
    given = (_told(a) if getattr(a, "is_number", False) else repr(a) for a in args)
    return f"{operation.name}({', '.join(given)})"


def _is_plain(x):
    """A number of Python's or NumPy's, or one known at run time."""
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
    """`same`: what the comparison of a number with itself gives."""

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
    """The size of a tensor along an axis; of a KerasTensor a number known at run time."""
    if not isinstance(x, KerasTensor) or x.shape[axis] is not None:
        return x.shape[axis]
    made = SymbolicNumber(int, ("size", id(x), axis))
    made.origin = (SIZE_OF, (x, axis), {}, None)
    return made


def _as_tensor(number, dtype):
    from framework.core.conversion import tensor

    return tensor(number, dtype)


SIZE_OF, _AS_TENSOR = _Python(size_of), _Python(_as_tensor)
_round, _trunc, _floor, _ceil = map(_Python, (round, math.trunc, math.floor, math.ceil))


def _hang():
    """Give numbers Python's operators."""
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
