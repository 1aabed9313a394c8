"""Python's operators on tensors and variables, and NumPy's functions called on them."""

import re
from functools import partial
from operator import index

import numpy as np
from numpy import ndarray

from framework.core import promotion
from framework.core.errors import (
    DTypeError,
    OutOfRangeError,
    ShapeError,
    SymbolicValueError,
    refused_booleans,
)
from framework.core.op import NO_ATTRS, Op
from framework.core.operand import Operand
from framework.core.recorders import thread
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable, KerasVariable, Variable
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
# These operators have different implementations for integers and floats.
DIVISIONS = {
    "truediv": division.true_divide, "floordiv": division.floor_divide, "mod": division.floor_mod,
}  # fmt: skip
KERAS = {"matmul": contraction.matmul_with_vectors}


# The operators' parameters have TensorFlow's names; `name` is ignored. `convert` converts the
# operands: it is `strict` (TensorFlow's rule) or `promote` (Keras's).


_BOOL = np.dtype(bool)
_LOGICAL = (e.bitwise_and, e.bitwise_or, e.bitwise_xor)


def _are_booleans(*operands):
    return any(getattr(v, "dtype", None) == _BOOL for v in operands)


def _of_numbers(op):
    """Wrap `op` to raise an error for booleans, as in TensorFlow; return logical ops unchanged."""
    if op in _LOGICAL:
        return op

    # Both tensors have the same dtype, so testing one is enough.
    def checked(x, y):
        one = x if type(x) is Tensor else y
        if one.array.dtype is _BOOL if type(one) is Tensor else _are_booleans(x, y):
            raise refused_booleans(op.name if isinstance(op, Op) else op.__name__)
        return op(x, y)

    return checked


def _binary(op, convert):
    def operator(x, y):
        return op(*convert(x, y))

    return operator


def _reflected(op, convert):
    def operator(y, x):
        return op(*convert(x, y))

    return operator


def _strict_reflected(op):
    """Return a reflected operator (such as `__radd__`) with strict dtypes and a fast path."""
    strict, general = promotion.strict, _of_numbers(op)

    def operator(y, x):
        if type(x) is float and type(y) is Tensor and y.array.dtype.kind == "f":
            return op(x, y)
        return general(*strict(x, y))

    return operator


def _comparison(op, convert):
    def operator(x, y, name=None):
        return op(*convert(x, y))

    return operator


def _unary(op):
    def operator(x, name=None):
        return op(x)

    return operator


def _unary_of_numbers(op):
    def operator(x, name=None):
        if type(x) is Tensor and x.array.dtype is _BOOL:
            raise refused_booleans(op.name)
        return op(x)

    return operator


def _strict_binary(op):
    """Return an operator that raises an error for mixed dtypes, with a fast path for equal ones.

    The fast path repeats the code of `Op.wrap`, which saves a call in every operator.
    """
    strict, forward, new = promotion.strict, op.forward, object.__new__
    general, refused = _of_numbers(op), None if op in _LOGICAL else _BOOL

    def operator(x, y):
        if type(y) is not Tensor or type(x) is not Tensor:
            if type(y) is float:
                if type(x) is Variable:
                    x = x.read()
                if type(x) is Tensor and x.array.dtype.kind == "f":
                    return op(x, y)
            x, y = strict(x, y)
            if type(y) is not Tensor or type(x) is not Tensor:
                is_number = type(x) is Tensor and x.array.dtype is not refused
                return op(x, y) if is_number else general(x, y)
        a, b = x.array, y.array
        if (dtype := a.dtype) is not b.dtype or dtype is refused:
            return general(*strict(x, y))
        try:
            value = forward(a, b)
        except (ValueError, TypeError) as error:
            raise op.misfit(error, (a, b)) from None
        output = new(Tensor)
        output.array = value if type(value) is ndarray else np.asarray(value)
        output.serial = None
        for recorder in thread.stack:
            recorder.op(op, (x, y), NO_ATTRS, (output,), None)
        return output

    return operator


def _strict_division(op, general):
    """Return an operator that raises an error for mixed dtypes, with a fast path for floats.

    The function `general` divides other dtypes.
    """
    strict, forward, new, last = promotion.strict, op.forward, object.__new__, division.LAST_INTEGER

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
        except (ValueError, TypeError) as error:
            raise op.misfit(error, (a, b)) from None
        output = new(Tensor)
        output.array = value if type(value) is ndarray else np.asarray(value)
        output.serial = None
        for recorder in thread.stack:
            recorder.op(op, (x, y), NO_ATTRS, (output,), None)
        return output

    return operator


def _reflected_division(op, general):
    def operator(y, x):
        x, y = promotion.strict(x, y)
        return op(x, y) if type(x) is float else general(x, y)

    return operator


def _equality(op, convert):
    def operator(self, other):
        if other is None or (isinstance(other, str) and not _holds_strings(self)):
            return op is e.not_equal
        try:
            return op(*convert(self, other))
        except ShapeError:  # As in TensorFlow, tensors that do not broadcast are unequal.
            return Tensor(np.asarray(op is e.not_equal))

    return operator


def _holds_strings(a):
    return getattr(a, "dtype", None) == "string"


def _rounded(x, digits=0):
    if not digits:
        return e.round_(x)
    scale = 10.0**digits
    return e.divide(e.round_(e.multiply(x, scale)), scale)


def _arithmetic(name, op, convert):
    """Return an operator and its reflected form."""
    if convert is promotion.promote:
        op = KERAS.get(name, op)
        convert = division.promoted_floats if name == "truediv" else convert
        return _binary(op, convert), _reflected(op, convert)
    general = DIVISIONS.get(name, op)
    if convert is not promotion.strict:
        return _binary(general, convert), _reflected(general, convert)
    if general is op:
        return _strict_binary(op), _strict_reflected(op)
    general = _of_numbers(general)
    # Floor division of floats is computed by several ops, so it has no fast path.
    if name == "floordiv":
        return _binary(general, convert), _reflected(general, convert)
    return _strict_division(op, general), _reflected_division(op, general)


def add_operators(cls, convert):
    """Add Python's operators to `cls`; `convert` converts the operands of binary operators."""
    for name, op in ARITHMETIC.items():
        straight, reflected = _arithmetic(name, op, convert)
        setattr(cls, f"__{name}__", straight)
        setattr(cls, f"__r{name}__", reflected)
    for name, op in COMPARISONS.items():
        setattr(cls, f"__{name}__", _comparison(op, convert))
    for name, op in UNARY.items():
        # Only `abs` needs a check: NumPy itself refuses to negate booleans.
        numbers = convert is promotion.strict and name == "abs"
        setattr(cls, f"__{name}__", _unary_of_numbers(op) if numbers else _unary(op))
    cls.__round__ = _rounded
    cls.__getitem__ = ITEMS.get(cls, _item_of_variable)
    cls.__array_ufunc__ = _array_ufunc
    if cls is not KerasTensor:
        cls.__eq__ = _equality(e.equal, convert)
        cls.__ne__ = _equality(e.not_equal, convert)


# ---- indexing ------------------------------------------------------------------------------------


def _getitem(tensor, slice_spec, var=None):
    items = slice_spec if type(slice_spec) is tuple else (slice_spec,)
    try:
        plain = tuple(map(_plain_index, items))
        return movement.getitem(tensor, index=plain)
    except (SymbolicValueError, IndexError) as error:
        if any(map(_is_symbolic, items)):
            return _item_when_run(tensor, items)
        raise _no_item(tensor, slice_spec, error) from None


def _no_item(tensor, slice_spec, error):
    """Return the error for an invalid index, in TensorFlow's words."""
    what, text = f"Index {slice_spec!r} into a tensor of shape {tensor.shape}", str(error)
    if "only integers" in text:
        return DTypeError(
            f"{what}: Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and "
            f"integer or boolean tensors are valid indices."
        )
    if "too many indices" in text:
        rank = len(tensor.shape)
        return OutOfRangeError(
            f"{what}: {error}: Index out of range using input dim {rank}; input has only {rank} "
            "dims."
        )
    found = re.search(r"index (-?\d+) is out of bounds for axis (\d+)", text)
    if found:
        text = f"{text}: slice index {found[1]} of dimension {found[2]} out of bounds"
    return OutOfRangeError(f"{what}: {text}.")


def _item_of_symbolic(tensor, slice_spec):
    items = slice_spec if type(slice_spec) is tuple else (slice_spec,)
    if any(map(_is_symbolic, items)):
        return _item_when_run(tensor, items)
    return _getitem(tensor, slice_spec)


def _is_symbolic(item):
    parts = (item.start, item.stop, item.step) if isinstance(item, slice) else (item,)
    return any(isinstance(p, KerasTensor) for p in parts)


def _item_when_run(tensor, items):
    """Return a KerasTensor for an index with KerasTensors; a model computes it when it runs."""
    from framework.core.operations import FunctionOperation, apply

    parts = [("slice", i.start, i.stop, i.step) if isinstance(i, slice) else i for i in items]
    return apply(FunctionOperation(_item_of), (tensor, parts), {})


def _item_of(tensor, parts):
    items = [slice(*p[1:]) if isinstance(p, tuple) and p[:1] == ("slice",) else p for p in parts]
    return tensor[tuple(items)]


# This sets `assign` on the sliced tensor only, not on its class.
_set_assign = vars(Tensor)["assign"].__set__


def _item_of_variable(var, slice_spec):
    """Return the slice, with a method `assign` that assigns to this slice of the variable."""
    item = _getitem(var, slice_spec)
    if type(item) is Tensor:
        _set_assign(item, partial(_assign_item, var, slice_spec))
    return item


def _assign_item(var, slice_spec, val, name=None):
    items = slice_spec if type(slice_spec) is tuple else (slice_spec,)
    return assign_slice(var, tuple(_plain_index(i) for i in items), val)


_BOUNDS = (int, type(None))


def _plain_index(item):
    """Return an index for NumPy: tensors and lists as arrays or ints, slices with int bounds."""
    if type(item) is int:
        return item
    if type(item) is slice:
        parts = start, stop, step = item.start, item.stop, item.step
        if type(start) in _BOUNDS and type(stop) in _BOUNDS and type(step) in _BOUNDS:
            return item
        try:
            return slice(*(None if p is None else index(p) for p in parts))
        except SymbolicValueError:
            # A bound is a KerasTensor: the caller handles this by adding an operation to the model.
            raise
        except TypeError:
            raise DTypeError(
                f"Indexing: expected integers or None as bounds of a slice, got {item!r}."
            ) from None
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
    """Run NumPy's ufunc on tensors (`np.sin(t)`, `array * t`) as an op with strict dtypes."""
    op, ours = UFUNCS.get(ufunc), (Tensor, CoreVariable, Operand)
    if kwargs:
        out = kwargs.get("out", ())
        if any(isinstance(x, ours) for x in out):
            raise TypeError(
                f"np.{ufunc.__name__}(..., out=...): tensors cannot be written into. Omit `out`."
            )
        if len(kwargs) == len(out) == 1 and out[0] is inputs[0]:
            kwargs = {}  # `array += t` returns a new, differentiable tensor, as in TensorFlow
    if op is None or method != "__call__" or kwargs:
        plain = [np.asarray(x) if isinstance(x, ours) else x for x in inputs]
        return getattr(ufunc, method)(*plain, **kwargs)
    return op(*promotion.strict_all(*inputs))


ITEMS = {Tensor: _getitem, KerasTensor: _item_of_symbolic}

for _cls, _convert in (
    (Tensor, promotion.strict),
    (CoreVariable, promotion.strict),
    (KerasVariable, promotion.promote),
    (KerasTensor, promotion.promote),
):
    add_operators(_cls, _convert)
