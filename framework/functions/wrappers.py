"""Creates public functions from declarations: a signature, a conversion rule and one call of an op.

    tf = Wrappers(__name__)
    truediv = tf.binary(division.true_divide, "{x} / {y}", alike_numbers, name="truediv")

declares `truediv(x, y, name=None)`. Most wrappers are declared beside their op instead
(`ops/public.py`, `declared.py`).
"""

import sys
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
from numpy import ndarray

from framework.core import dtypes
from framework.core.argument_types import Axis, TensorLike
from framework.core.axes import all_axes
from framework.core.composite import Composite
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, refused_booleans, refused_strings
from framework.core.op import NO_ATTRS, Unary
from framework.core.promotion import floating, real_floating, strict
from framework.core.recorders import thread
from framework.core.tensor import Tensor
from framework.ops import public

Function = TypeVar("Function", bound=Callable)

_BOOL = np.dtype(bool)
NUMBERS = "iufcV"  # letters of NumPy's `dtype.kind`; V is the kind of bfloat16


class Rule(NamedTuple):
    """How a wrapper converts its operands.

    Args:
        convert: called with the operands, then with the wrapper's name if `named`.
        kinds: letters of `dtype.kind`: tensors of one dtype of such a kind need no conversion.
        named: whether `convert` takes the name, for error messages.
        weak: whether `convert` leaves a Python float as it is if the other operand is a floating
            tensor.
    """

    convert: Callable
    kinds: str = "biufcOSV"
    named: bool = False
    weak: bool = False


def float_operands(x, y, name):
    """Convert operands to tensors of one floating dtype without promotion, or raise an error."""
    x, y = strict(x, y)
    if type(x) in (int, float, complex):
        return tensor(x, floating(y, name).dtype), y
    floating(x, name)
    return x, tensor(y, x.dtype) if type(y) in (int, float, complex) else floating(y, name)


def number_operands(x, y, name):
    """Convert operands without promotion to one dtype other than bool, or raise an error."""
    x, y = strict(x, y)
    one = x if type(x) is Tensor else y
    if type(one) is Tensor:  # after `strict`, the other operand is a number or has the same dtype
        if one.array.dtype is not _BOOL:
            return x, y
        raise refused_booleans(name)
    for value in (x, y):
        if getattr(value, "dtype", None) == np.bool_:
            raise refused_booleans(name)
    return x, y


def number(x, name):
    """Convert to a tensor of numbers, or raise an error."""
    if type(x) is Tensor and x.array.dtype.kind in NUMBERS:
        return x
    x = tensor(x)
    if x.dtype.is_bool:
        raise refused_booleans(name)
    if x.dtype == "string":
        raise refused_strings(name)
    return x


def boolean_operands(*operands):
    """Return operands as boolean tensors, or raise an error that starts with the last argument."""
    *operands, name = operands
    tensors = [tensor(x) for x in operands]
    for x in tensors:
        if x.dtype != dtypes.bool_:
            raise DTypeError(f"{name}: expected booleans, got {x.dtype}. Compare: x != 0.")
    return tensors if len(tensors) > 1 else tensors[0]


anything = Rule(tensor)
numbers = Rule(number, NUMBERS, named=True)
floats = Rule(floating, "fc", named=True)
real_floats = Rule(real_floating, "f", named=True)
alike = Rule(strict, weak=True)
alike_numbers = Rule(number_operands, "iufcOSV", named=True, weak=True)
alike_floats = Rule(float_operands, "fc", named=True)
booleans = Rule(boolean_operands, "b", named=True)

RULES = {
    "anything": anything, "numbers": numbers, "floats": floats, "real_floats": real_floats,
    "alike": alike, "alike_numbers": alike_numbers, "alike_floats": alike_floats,
    "booleans": booleans,
}  # fmt: skip
"""The rules that declarations of ops name (`ops/public.py`)."""


class Declaration(NamedTuple):
    """The declaration of a public wrapper.

    Args:
        op: an op, or another function that takes the converted operands.
        returns: the description of its result, as a template with the operands {x} and {y}, and
            {over} for the axes of a reduction.
        rule: how the operands are converted.
        name: the wrapper's name.
    """

    op: Callable
    returns: str
    rule: Rule
    name: str

    def doc(self, **operands):
        over = "over the axes in `axis`, by default over all"
        return f"Return {self.returns.format(over=over, **operands)}."

    def unary_rule(self):
        """Return the function that converts one operand."""
        convert, name = self.rule.convert, self.name
        return (lambda x: convert(x, name)) if self.rule.named else convert

    def binary_rule(self):
        """Return the function that converts two operands to tensors, as the rule demands."""
        convert, name = self.rule.convert, self.name
        return (lambda x, y: convert(x, y, name)) if self.rule.named else convert


declarations: dict[Callable, Declaration] = {}  # maps each public wrapper to its Declaration


def name_of(op):
    """Return the name of an op or a function."""
    return op.__name__ if hasattr(op, "__name__") else op.name


def finished(function: Function, module: str, declared: Declaration, **operands) -> Function:
    """Give `function` the name (also in tracebacks), module and docstring of a public wrapper."""
    function.__code__ = function.__code__.replace(co_name=declared.name)
    function.__name__ = function.__qualname__ = declared.name
    function.__module__, function.__doc__ = module, declared.doc(**operands)
    declarations[function] = declared
    return function


class Wrappers:
    """Declares the wrappers of one module, with TensorFlow's signatures.

    Args:
        module: its `__name__`.
    """

    def __init__(self, module):
        self.module = module

    def unary(self, op: Unary, returns: str, rule: Rule = anything, name: str = ""):
        """Return `f(x, name=None)`, named as the op unless `name` is given.

        For a tensor that needs no conversion, `f` repeats the code of `Op.wrap` instead of calling
        it: this saves time in hand-written training loops.
        """
        declared = Declaration(op, returns, rule, name or op.name)
        forward, convert, kinds = op.forward, declared.unary_rule(), rule.kinds
        new = object.__new__

        def function(x: TensorLike, name: str | None = None) -> Tensor:
            if type(x) is Tensor:
                array = x.array
                if array.dtype.kind in kinds:
                    value = forward(array)
                    output = new(Tensor)
                    output.array = value if type(value) is ndarray else np.asarray(value)
                    output.serial = None
                    for recorder in thread.stack:
                        recorder.op(op, (x,), NO_ATTRS, (output,), None)
                    return output
            if isinstance(x, Composite) and (made := x._mapped(op)) is not None:
                return made
            return op(convert(x))

        return finished(function, self.module, declared, x="x")

    def binary(self, op: Callable, returns: str, rule: Rule = alike, name: str = ""):
        """Return the wrapper `f(x, y, name=None)` of an op of two operands."""
        declared = Declaration(op, returns, rule, name or name_of(op))
        convert, kinds = declared.binary_rule(), rule.kinds
        number = float if rule.weak else Tensor

        def function(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
            if type(x) is Tensor:
                dtype, kind = x.array.dtype, type(y)
                if kind is Tensor:
                    if dtype is y.array.dtype and dtype.kind in kinds:
                        return op(x, y)
                elif kind is number and dtype.kind == "f":
                    return op(x, y)
            if isinstance(x, Composite) or isinstance(y, Composite):
                held = x if isinstance(x, Composite) else y
                if (made := held._combined(op, x, y)) is not None:
                    return made
            return op(*convert(x, y))

        return finished(function, self.module, declared, x="x", y="y")

    def reduction(self, op: Callable, returns: str, rule: Rule = anything):
        """Return the wrapper `f(input_tensor, axis=None, keepdims=False, name=None)` of an op."""
        declared = Declaration(op, returns, rule, name_of(op))
        convert, what, kinds = declared.unary_rule(), declared.name, rule.kinds

        def function(
            input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False,
            name: str | None = None,
        ) -> Tensor:  # fmt: skip
            x = input_tensor
            if type(x) is not Tensor or x.array.dtype.kind not in kinds:
                if isinstance(x, Composite):
                    made = x._reduced(what, axis, keepdims)
                    if made is not None:
                        return made
                x = convert(x)
            axis = all_axes(axis, x.ndim, what)
            return op(x, axis=axis, keepdims=bool(keepdims))

        return finished(function, self.module, declared, x="input_tensor")


def creating(wrappers, rules, functions):
    """Return a module's `__getattr__`, which creates declared functions when they are first used.

    Args:
        wrappers: the `Wrappers` of the module.
        rules: maps the names of conversion rules to the rules.
        functions: the declarations, `TENSORFLOW` or `KERAS` of `ops/public.py`.
    """

    def __getattr__(name):  # noqa: N807 (the module's `__getattr__`)
        if name.startswith("__") or (found := public.declared(functions, name)) is None:
            raise AttributeError(f"module {wrappers.module!r} has no attribute {name!r}")
        op, returns, rule = found
        create = wrappers.unary if len(op.inputs) == 1 else wrappers.binary
        function = create(op, returns, rules[rule], name)
        setattr(sys.modules[wrappers.module], name, function)
        return function

    return __getattr__
