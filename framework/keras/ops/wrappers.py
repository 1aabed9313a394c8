"""Keras's public wrappers, declared like those of `functions/wrappers.py`.

    keras = KerasWrappers(__name__)
    logical_not = keras.unary(ops.logical_not, "not {x}; numbers count as true unless 0", truths)

declares `logical_not(x)`. A declaration may name another wrapper instead of an op: the new wrapper
then has the op of the other, and also its docstring and rule unless the declaration passes its own.
"""

from collections.abc import Callable

from framework.core.argument_types import Axis, TensorLike
from framework.core.axes import all_axes
from framework.core.conversion import tensor
from framework.core.promotion import promote, real_floating
from framework.core.tensor import Tensor
from framework.functions.wrappers import (
    Declaration,
    Rule,
    declarations,
    finished,
    name_of,
)
from framework.keras.ops.argument_conversion import as_dtype, floating
from framework.ops.division import promoted_floats


def _truths(*operands):
    found = tuple([as_dtype(x, "bool") for x in operands])
    return found if len(found) > 1 else found[0]


def _real_floating(x):
    return real_floating(floating(x), "x")


def _numbers(*operands):
    return tuple([as_dtype(x, "int32") if x.dtype.is_bool else x for x in promote(*operands)])


anything = Rule(tensor)
floats = Rule(floating, "fc")
real_floats = Rule(_real_floating, "f")
alike = Rule(promote, weak=True)
alike_floats = Rule(promoted_floats, "fc")
alike_numbers = Rule(_numbers, "iufc")
truths = Rule(_truths, "b")

RULES = {
    "anything": anything, "numbers": anything, "floats": floats, "real_floats": real_floats,
    "alike": alike, "alike_numbers": alike, "alike_floats": alike_floats, "booleans": truths,
}  # fmt: skip
"""Maps the names of rules in the declarations of ops (`ops/public.py`) to Keras's rules."""


class KerasWrappers:
    """Declares the wrappers of one module, with Keras's signatures.

    Args:
        module: its `__name__`.
    """

    def __init__(self, module):
        self.module = module

    def unary(self, like: Callable, returns: str = "", rule: Rule | None = None, name: str = ""):
        """Return Keras's wrapper `f(x)` of `like`: an op, or TensorFlow's wrapper of one."""
        declared = _declared(like, returns, rule, name)
        op, convert, kinds = declared.op, declared.rule.convert, declared.rule.kinds

        def function(x: TensorLike) -> Tensor:
            if type(x) is Tensor and x.array.dtype.kind in kinds:
                return op(x)
            return op(convert(x))

        return finished(function, self.module, declared, x="x")

    def binary(self, like: Callable, returns: str = "", rule: Rule | None = None, name: str = ""):
        """Return Keras's wrapper `f(x1, x2)` of `like`: an op, or TensorFlow's wrapper of one."""
        declared = _declared(like, returns, rule, name)
        op, convert, kinds = declared.op, declared.rule.convert, declared.rule.kinds
        number = float if declared.rule.weak else Tensor

        def function(x1: TensorLike, x2: TensorLike) -> Tensor:
            if type(x1) is Tensor:
                dtype, kind = x1.array.dtype, type(x2)
                if kind is Tensor:
                    if dtype is x2.array.dtype and dtype.kind in kinds:
                        return op(x1, x2)
                elif kind is number and dtype.kind == "f":
                    return op(x1, x2)
            return op(*convert(x1, x2))

        return finished(function, self.module, declared, x="x1", y="x2")

    def reduction(self, like: Callable, returns: str = "", rule: Rule = anything, name: str = ""):
        """Return Keras's wrapper `f(x, axis=None, keepdims=False)` of `like`, as in `unary`."""
        declared = _declared(like, returns, rule, name)
        op, convert, kinds = declared.op, rule.convert, rule.kinds

        def function(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
            if type(x) is not Tensor or x.array.dtype.kind not in kinds:
                x = convert(x)
            return op(x, axis=all_axes(axis, x.ndim, name), keepdims=bool(keepdims))

        return finished(function, self.module, declared, x="x")


def _declared(like, returns, rule, name):
    """Return the Declaration of a wrapper of `like`, an op or another wrapper to copy from."""
    if like in declarations:
        op, its_returns, its_rule, its_name = declarations[like]
        return Declaration(op, returns or its_returns, rule or its_rule, name or its_name)
    return Declaration(like, returns, rule or alike, name or name_of(like))
