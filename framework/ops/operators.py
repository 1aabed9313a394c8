"""Python's operators on tensors and variables, and NumPy's functions called on them."""

from functools import partial
from operator import index

import numpy as np

from framework.core import doors
from framework.core.errors import DTypeError, OutOfRangeError, ShapeError, SymbolicValueError
from framework.core.op import NO_ATTRS
from framework.core.operand import Operand
from framework.core.recorders import thread
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable, KerasVariable
from framework.ops import contraction, division, movement
from framework.ops import elementwise as e
from framework.ops.assigning import assign_slice

ARITHMETIC = {
    "add": e.add, "sub": e.subtract, "mul": e.multiply, "truediv": e.divide,
    "floordiv": e.floor_divide, "mod": e.floor_mod, "pow": e.power,
    "and": e.bitwise_and, "or": e.bitwise_or, "xor": e.bitwise_xor, "matmul": contraction.matmul,
}  # fmt: skip
COMPARISONS = {"lt": e.less, "le": e.less_equal, "gt": e.greater, "ge": e.greater_equal}
UNARY = {"neg": e.negative, "abs": e.absolute, "invert": e.invert, "pos": e.identity}
# What takes their place where integers are not treated as floats are.
DIVISIONS = {
    "truediv": division.true_divide, "floordiv": division.floor_divide, "mod": division.floor_mod,
}  # fmt: skip
KERAS = {"matmul": contraction.matmul_with_vectors}


# The parameters have TensorFlow's names; a `name=` changes nothing.


def _binary(op, door):
    def operator(x, y):
        return op(*door(x, y))

    return operator


def _reflected(op, door):
    def operator(y, x):
        return op(*door(x, y))

    return operator


def _comparison(op, door):
    def operator(x, y, name=None):
        return op(*door(x, y))

    return operator


def _unary(op):
    def operator(x, name=None):
        return op(x)

    return operator


def _strict_binary(op):
    """The strict door's commonest case in line: two tensors or variables of one dtype.

    It says once more what `Op.wrap` does: a call less in every operator.
    """
    strict, forward, new = doors.strict, op.forward, object.__new__

    def operator(x, y):
        if type(y) is not Tensor or type(x) is not Tensor:
            x, y = strict(x, y)
            if type(y) is not Tensor or type(x) is not Tensor:
                return op(x, y)
        a, b = x.array, y.array
        if a.dtype is not b.dtype:
            return op(*strict(x, y))
        try:
            value = forward(a, b)
        except ValueError as error:
            raise op.misfit(error, (a, b)) from None
        output = new(Tensor)
        output.array = value if type(value) is np.ndarray else np.asarray(value)
        output.serial = None
        for recorder in thread.stack:
            recorder.op(op, (x, y), NO_ATTRS, (output,), None)
        return output

    return operator


def _strict_division(op, general):
    """The same for floats; `general` is for the rest, since integers are not treated as floats."""
    strict, forward, new, last = doors.strict, op.forward, object.__new__, division.LAST_INTEGER

    def operator(x, y):
        if type(y) is not Tensor or type(x) is not Tensor:
            x, y = strict(x, y)
            if type(y) is float or type(x) is float:
                return op(x, y)
            if type(y) is not Tensor or type(x) is not Tensor:
                return general(x, y)
        a, b = x.array, y.array
        dtype = a.dtype
        if dtype is not b.dtype or dtype.num <= last:
            return general(*strict(x, y))
        try:
            value = forward(a, b)
        except ValueError as error:
            raise op.misfit(error, (a, b)) from None
        output = new(Tensor)
        output.array = value if type(value) is np.ndarray else np.asarray(value)
        output.serial = None
        for recorder in thread.stack:
            recorder.op(op, (x, y), NO_ATTRS, (output,), None)
        return output

    return operator


def _reflected_division(op, general):
    def operator(y, x):
        x, y = doors.strict(x, y)
        return op(x, y) if type(x) is float else general(x, y)

    return operator


def _equality(op, door):
    def operator(self, other):
        if other is None or (isinstance(other, str) and not _holds_strings(self)):
            return op is e.not_equal
        try:
            return op(*door(self, other))
        except ShapeError:  # as in TensorFlow: what does not broadcast is not equal
            return Tensor(np.asarray(op is e.not_equal))

    return operator


def _holds_strings(a):
    return getattr(a, "dtype", None) == "string"


def _rounded(x, digits=0):
    if not digits:
        return e.round_(x)
    scale = 10.0**digits
    return e.divide(e.round_(e.multiply(x, scale)), scale)


def _arithmetic(name, op, door):
    """The operator and the reflected one."""
    if door is doors.promote:
        op = KERAS.get(name, op)
        door = division.promoted_floats if name == "truediv" else door
        return _binary(op, door), _reflected(op, door)
    general = DIVISIONS.get(name, op)
    if door is not doors.strict:
        return _binary(general, door), _reflected(general, door)
    if general is op:
        return _strict_binary(op), _reflected(op, door)
    if name == "floordiv":  # of floats it is no op of its own either
        return _binary(general, door), _reflected(general, door)
    return _strict_division(op, general), _reflected_division(op, general)


def hang(kind, door):
    """Give `kind` the operators; `door` prepares the operands of those that take two."""
    for name, op in ARITHMETIC.items():
        straight, reflected = _arithmetic(name, op, door)
        setattr(kind, f"__{name}__", straight)
        setattr(kind, f"__r{name}__", reflected)
    for name, op in COMPARISONS.items():
        setattr(kind, f"__{name}__", _comparison(op, door))
    for name, op in UNARY.items():
        setattr(kind, f"__{name}__", _unary(op))
    kind.__round__ = _rounded
    kind.__getitem__ = ITEMS.get(kind, _item_of_variable)
    kind.__array_ufunc__ = _array_ufunc
    if kind is not KerasTensor:
        kind.__eq__ = _equality(e.equal, door)
        kind.__ne__ = _equality(e.not_equal, door)


# ---- indexing ------------------------------------------------------------------------------------


def _getitem(tensor, slice_spec, var=None):
    items = slice_spec if type(slice_spec) is tuple else (slice_spec,)
    try:
        plain = tuple(_plain_index(i) for i in items)
        return movement.getitem(tensor, index=plain)
    except (SymbolicValueError, IndexError) as error:
        if any(map(_is_symbolic, items)):
            return _item_when_run(tensor, items)
        raise OutOfRangeError(
            f"Index {slice_spec!r} into a tensor of shape {tensor.shape}: {error}"
        ) from None


def _item_of_symbolic(tensor, slice_spec):
    items = slice_spec if type(slice_spec) is tuple else (slice_spec,)
    if any(map(_is_symbolic, items)):
        return _item_when_run(tensor, items)
    return _getitem(tensor, slice_spec)


def _is_symbolic(item):
    parts = (item.start, item.stop, item.step) if isinstance(item, slice) else (item,)
    return any(isinstance(p, KerasTensor) for p in parts)


def _item_when_run(tensor, items):
    """An item whose place is known when the model runs: one operation of the model."""
    from framework.core.operations import Operation, apply

    parts = [("slice", i.start, i.stop, i.step) if isinstance(i, slice) else i for i in items]
    return apply(Operation(_item_of), (tensor, parts), {})


def _item_of(tensor, parts):
    items = [slice(*p[1:]) if isinstance(p, tuple) and p[:1] == ("slice",) else p for p in parts]
    return tensor[tuple(items)]


_set_assign = vars(Tensor)["assign"].__set__  # of the slot


def _item_of_variable(var, slice_spec):
    """The slice, with a method `assign` that assigns to it."""
    found = _getitem(var, slice_spec)
    if type(found) is Tensor:
        _set_assign(found, partial(_assign_item, var, slice_spec))
    return found


def _assign_item(var, slice_spec, val, name=None):
    items = slice_spec if type(slice_spec) is tuple else (slice_spec,)
    return assign_slice(var, tuple(_plain_index(i) for i in items), val)


def _plain_index(item):
    """Slices, ints, None and Ellipsis as they are; tensors as the arrays or numbers they hold."""
    if isinstance(item, slice):
        parts = item.start, item.stop, item.step
        try:
            return slice(*(None if p is None else index(p) for p in parts))
        except SymbolicValueError:
            raise  # a size that is known when a model runs
        except TypeError:
            raise DTypeError(f"A slice goes by integers or None, got {item!r}.") from None
    if isinstance(item, (Tensor, CoreVariable)):
        array = np.asarray(item)
        return array if array.ndim or array.dtype.kind == "b" else int(array)
    if isinstance(item, (list, np.ndarray)):
        return np.asarray(item)
    return item


# ---- NumPy's functions on tensors ----------------------------------------------------------------

UFUNCS = {
    np.add: e.add, np.subtract: e.subtract, np.multiply: e.multiply, np.power: e.power,
    np.true_divide: division.true_divide, np.floor_divide: division.floor_divide,
    np.mod: division.floor_mod,
    np.negative: e.negative, np.positive: e.identity, np.absolute: e.absolute, np.sign: e.sign,
    np.square: e.square, np.sqrt: e.sqrt, np.reciprocal: e.reciprocal, np.exp: e.exp,
    np.expm1: e.expm1, np.log: e.log, np.log1p: e.log1p, np.sin: e.sin, np.cos: e.cos,
    np.tan: e.tan, np.arcsin: e.asin, np.arccos: e.acos, np.arctan: e.atan, np.arctan2: e.atan2,
    np.sinh: e.sinh, np.cosh: e.cosh, np.tanh: e.tanh, np.arcsinh: e.asinh, np.arccosh: e.acosh,
    np.arctanh: e.atanh, np.maximum: e.maximum, np.minimum: e.minimum, np.floor: e.floor,
    np.ceil: e.ceil, np.rint: e.round_, np.trunc: e.trunc, np.equal: e.equal,
    np.not_equal: e.not_equal, np.less: e.less, np.less_equal: e.less_equal, np.greater: e.greater,
    np.greater_equal: e.greater_equal, np.logical_and: e.logical_and, np.logical_or: e.logical_or,
    np.logical_xor: e.logical_xor, np.logical_not: e.logical_not, np.isnan: e.is_nan,
    np.isinf: e.is_inf, np.isfinite: e.is_finite, np.matmul: contraction.matmul,
    np.bitwise_and: e.bitwise_and, np.bitwise_or: e.bitwise_or, np.bitwise_xor: e.bitwise_xor,
    np.invert: e.invert,
}  # fmt: skip


def _array_ufunc(self, ufunc, method, *inputs, **kwargs):
    """`np.sin(t)`, `array * t`: the op of the same meaning, recorded; strict about dtypes."""
    op, ours = UFUNCS.get(ufunc), (Tensor, CoreVariable, Operand)
    if kwargs:
        out = kwargs.get("out", ())
        if any(isinstance(x, ours) for x in out):
            raise TypeError(f"np.{ufunc.__name__}(..., out=...): tensors cannot be written into.")
        if len(kwargs) == len(out) == 1 and out[0] is inputs[0]:
            kwargs = {}  # `array += t`: a new tensor, through which gradients go, as in TensorFlow
    if op is None or method != "__call__" or kwargs:
        plain = [np.asarray(x) if isinstance(x, ours) else x for x in inputs]
        return getattr(ufunc, method)(*plain, **kwargs)
    return op(*doors.strict_all(*inputs))


ITEMS = {Tensor: _getitem, KerasTensor: _item_of_symbolic}

for _kind, _door in (
    (Tensor, doors.strict), (CoreVariable, doors.strict), (KerasVariable, doors.promote),
    (KerasTensor, doors.promote),
):  # fmt: skip
    hang(_kind, _door)
