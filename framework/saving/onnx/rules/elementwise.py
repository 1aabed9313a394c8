"""Translation rules for elementwise ops."""

import math

import numpy as np

from framework.saving.onnx.rules import RULES, rule
from framework.saving.onnx.rules.operands import as_reference, number, promoted, wide

_BOOL = np.dtype(bool)

_UNARY = {
    "abs": "Abs", "acos": "Acos", "acosh": "Acosh", "asin": "Asin", "asinh": "Asinh",
    "atan": "Atan", "atanh": "Atanh", "ceil": "Ceil", "cos": "Cos", "cosh": "Cosh", "erf": "Erf",
    "exp": "Exp", "floor": "Floor", "invert": "BitwiseNot", "log": "Log", "negative": "Neg",
    "reciprocal": "Reciprocal", "root": "Sqrt", "round": "Round", "sigmoid": "Sigmoid",
    "sign": "Sign", "sin": "Sin", "sinh": "Sinh", "softplus": "Softplus", "sqrt": "Sqrt",
    "tan": "Tan", "tanh": "Tanh",
}  # fmt: skip
_BINARY = {
    "add": "Add", "bitwise_and": "BitwiseAnd", "bitwise_or": "BitwiseOr",
    "bitwise_xor": "BitwiseXor", "gated": "Mul", "maximum": "Max", "minimum": "Min",
    "multiply": "Mul", "subtract": "Sub",
}  # fmt: skip
_COMPARISONS = {
    "equal": "Equal", "greater": "Greater", "greater_equal": "GreaterOrEqual", "less": "Less",
    "less_equal": "LessOrEqual",
}  # fmt: skip
_LOGIC = {"logical_and": "And", "logical_or": "Or", "logical_xor": "Xor"}
_WHOLE = ("ceil", "floor", "round", "trunc")  # for integers, these ops return their operand
_BITS = {"bitwise_and": "And", "bitwise_or": "Or", "bitwise_xor": "Xor", "invert": "Not"}


def _unary(name, op_type):
    @wide
    def translate(b, x):
        if name in _WHOLE and x.dtype.kind in "biu":
            return x
        if name in _BITS and x.dtype == _BOOL:
            return b(_BITS[name], x)
        return b(op_type, x)

    return translate


def _binary(name, op_type):
    @wide
    def translate(b, x, y):
        if x.dtype == _BOOL:  # NumPy adds booleans by `or` and multiplies them by `and`
            return b(_BITS.get(name) or {"Add": "Or", "Max": "Or"}.get(op_type, "And"), x, y)
        return b(op_type, x, y)

    return translate


def _comparison(op_type):
    def translate(b, x, y):
        x, y = promoted(b, x, y)
        if x.dtype == _BOOL and op_type != "Equal":
            x, y = b.cast(x, np.int32), b.cast(y, np.int32)
        return b(op_type, x, y, dtype=_BOOL)

    return wide(translate)


def _truth(b, x):
    return b.cast(x, _BOOL) if hasattr(x, "dtype") else b.constant(bool(x))


def _logic(op_type):
    return lambda b, x, y: b(op_type, _truth(b, x), _truth(b, y), dtype=_BOOL)


RULES.update({name: _unary(name, op_type) for name, op_type in _UNARY.items()})
RULES.update({name: _binary(name, op_type) for name, op_type in _BINARY.items()})
RULES.update({name: _comparison(op_type) for name, op_type in _COMPARISONS.items()})
RULES.update({name: _logic(op_type) for name, op_type in _LOGIC.items()})


@rule("identity", "stop_gradient", "conj", "real")
def unchanged(b, x):
    return x


@rule("within", "in_order")
def within(b, indices, **_):
    """Return the indices unchecked: the runtime checks their range itself, and never the order."""
    return indices


@rule("class_indices")
def class_indices(b, labels, *, classes):
    return b.cast(labels, np.int64)


@rule("cast")
def cast(b, x, *, dtype):
    return b.cast(x, dtype)


@rule("logical_not")
def logical_not(b, x):
    return b("Not", _truth(b, x), dtype=_BOOL)


@rule("not_equal")
def not_equal(b, x, y):
    return b("Not", RULES["equal"](b, x, y))


# ---- selection -----------------------------------------------------------------------------------


@rule("select")
def select(b, condition, x, y):
    x, y = promoted(b, x, y) if hasattr(x, "dtype") or hasattr(y, "dtype") else _numbers(b, x, y)
    return b("Where", _truth(b, condition), x, y, dtype=x.dtype)


def _numbers(b, *values):
    dtype = b.call.outputs[0].dtype
    return [as_reference(b, v, dtype) for v in values]


@rule("masked")
def masked(b, x, condition):
    x = x if hasattr(x, "dtype") else _numbers(b, x)[0]
    return b("Where", _truth(b, condition), x, number(b, 0, x), dtype=x.dtype)


@rule("clip")
@wide
def clip(b, x, low, high):
    return b("Min", b("Max", x, low), high)


@rule("relu")
@wide
def relu(b, x):
    return b("Relu", x) if x.dtype.kind == "f" else b("Max", x, number(b, 0, x))


@rule("relu6")
@wide
def relu6(b, x):
    return b("Clip", x, number(b, 0, x), number(b, 6, x))


# ---- tests of floats -----------------------------------------------------------------------------


def _false_like(b, x):
    return b("Not", b("Equal", x, x, dtype=_BOOL))


@rule("is_nan")
def is_nan(b, x):
    return b("IsNaN", x, dtype=_BOOL) if x.dtype.kind == "f" else _false_like(b, x)


@rule("is_inf")
def is_inf(b, x):
    return b("IsInf", x, dtype=_BOOL) if x.dtype.kind == "f" else _false_like(b, x)


@rule("is_finite")
def is_finite(b, x):
    return b("Not", b("Or", is_nan(b, x), is_inf(b, x)))


@rule("signbit")
def signbit(b, x):
    negative = b("Less", x, number(b, 0, x), dtype=_BOOL)
    if x.dtype.kind != "f":
        return negative
    # the reciprocal of -0 is -inf
    minus_zero = b("Less", b("Reciprocal", x), number(b, 0, x), dtype=_BOOL)
    return b("Or", negative, b("And", b("Equal", x, number(b, 0, x), dtype=_BOOL), minus_zero))


# ---- arithmetic ----------------------------------------------------------------------------------


@rule("trunc")
@wide
def trunc(b, x):
    if x.dtype.kind in "biu":
        return x
    return b("Mul", b("Sign", x), b("Floor", b("Abs", x)))


@rule("square")
@wide
def square(b, x):
    return b("Mul", x, x)


@rule("rsqrt")
def rsqrt(b, x):
    return b("Reciprocal", b("Sqrt", x))


@rule("divide")
def divide(b, x, y):
    if hasattr(x, "note") and x.note is not None and x.note[0] == "window_sum":
        mean = x.note[1](y)
        if mean is not None:
            return mean
    x, y = promoted(b, x, y)
    # the quotient of integers is a float, as the op's output dtype says
    dtype = b.call.outputs[0].dtype
    return b("Div", b.cast(x, dtype), b.cast(y, dtype))


@rule("multiply_no_nan")
@wide
def multiply_no_nan(b, x, y):
    return b("Where", _is_zero(b, y), number(b, 0, x), b("Mul", x, y), dtype=x.dtype)


@rule("divide_no_nan")
def divide_no_nan(b, x, y):
    x, y = promoted(b, x, y)
    return b("Where", _is_zero(b, y), number(b, 0, x), b("Div", x, y), dtype=x.dtype)


def _is_zero(b, x):
    return b("Equal", x, number(b, 0, x), dtype=_BOOL)


@rule("floor_divide", "whole_divide")
@wide
def floor_divide(b, x, y):
    if x.dtype.kind != "f":
        # ONNX's Div rounds towards zero, but this quotient is exact: y divides x - x mod y.
        return b("Div", b("Sub", x, b("Mod", x, y)), y)
    # The quotient is computed from the remainder, because floor(1.0 / 0.1) is 10 instead of 9.
    exact = b("Round", b("Div", b("Sub", x, floor_mod(b, x, y)), y))
    return b("Where", _is_zero(b, y), b("Floor", b("Div", x, y)), exact, dtype=x.dtype)


@rule("whole_mod")
@wide
def whole_mod(b, x, y):
    return b("Mod", x, y)  # for integers, the result of ONNX's Mod has the sign of y


@rule("floor_mod")
@wide
def floor_mod(b, x, y):
    if x.dtype.kind != "f":
        return b("Mod", x, y)
    zero = number(b, 0, x)
    rest = b("Mod", x, y, fmod=1)
    differ = b("Xor", b("Less", rest, zero, dtype=_BOOL), b("Less", y, zero, dtype=_BOOL))
    wrong = b("And", differ, b("Not", _is_zero(b, rest)))
    return b("Where", wrong, b("Add", rest, y), rest, dtype=x.dtype)


@rule("fmod")
@wide
def fmod(b, x, y):
    return b("Mod", x, y, fmod=1)


@rule("power")
@wide
def power(b, x, y):
    if y.array is not None and y.array.ndim == 0 and float(y.array) in (1.0, 2.0, 0.5):
        short = float(y.array)
        return x if short == 1 else b("Sqrt", x) if short == 0.5 else b("Mul", x, x)
    return b("Pow", x, y)


@rule("left_shift")
def left_shift(b, x, y):
    x, y = promoted(b, x, y)
    return b.cast(b("Mul", b.cast(x, np.int64), _power_of_two(b, y)), x.dtype)


@rule("right_shift")
def right_shift(b, x, y):
    x, y = promoted(b, x, y)
    if x.dtype == np.uint64:
        return b("BitShift", x, y, direction="RIGHT")
    return b.cast(floor_divide(b, b.cast(x, np.int64), _power_of_two(b, y)), x.dtype)


def _power_of_two(b, y):
    """Return 2 ** min(y, 62) in int64: a larger shift removes all bits of numbers below 2 ** 62."""
    most = b("Min", b.cast(y, np.int64), b.constant(np.int64(62)))
    return b("Pow", b.constant(np.int64(2)), most)


@rule("moving_average")
def moving_average(b, x, y, *, momentum):
    x, y = promoted(b, x, y)
    kept = b("Mul", x, number(b, momentum, x))
    return b("Add", kept, b("Mul", y, number(b, 1 - momentum, y)))


# ---- exponentials and logarithms -----------------------------------------------------------------


@rule("expm1")
def expm1(b, x):
    """Return tanh(x / 2) (exp(x) + 1), which is accurate near 0."""
    half = b("Tanh", b("Mul", x, number(b, 0.5, x)))
    return b("Mul", half, b("Add", b("Exp", x), number(b, 1, x)))


@rule("log1p")
def log1p(b, x):
    """Return 2 atanh(x / (2 + x)) near 0, where log(1 + x) loses digits."""
    two = number(b, 2, x)
    near = b("Mul", two, b("Atanh", b("Div", x, b("Add", x, two))))
    far = b("Log", b("Add", x, number(b, 1, x)))
    small = b("Less", b("Abs", x), number(b, 0.5, x), dtype=_BOOL)
    return b("Where", small, near, far, dtype=x.dtype)


@rule("logaddexp")
def logaddexp(b, x, y):
    x, y = promoted(b, x, y)
    return _log_of_sum(b, x, y, 1.0)


@rule("logaddexp2")
def logaddexp2(b, x, y):
    x, y = promoted(b, x, y)
    return _log_of_sum(b, x, y, math.log(2))


def _log_of_sum(b, x, y, base):
    """Return log(exp(base x) + exp(base y)) / base."""
    # Equal infinities have the distance 0, although their difference is NaN.
    equal = b("Equal", x, y, dtype=_BOOL)
    apart = b("Where", equal, number(b, 0, x), b("Abs", b("Sub", x, y)), dtype=x.dtype)
    more = log1p(b, b("Exp", b("Mul", apart, number(b, -base, x))))
    return b("Add", b("Max", x, y), b("Mul", more, number(b, 1 / base, x)))


@rule("sigmoid_cross_entropy")
def sigmoid_cross_entropy(b, logits, labels):
    logits, labels = promoted(b, logits, labels)
    return b("Sub", b("Softplus", logits), b("Mul", logits, labels))


# ---- activations and their derivatives -----------------------------------------------------------


@rule("gelu")
def gelu(b, x, *, approximate):
    if b.opset >= 20:
        return b("Gelu", x, approximate="tanh" if approximate else "none")
    half = number(b, 0.5, x)
    if approximate:
        cubic = b("Mul", b("Mul", x, b("Mul", x, x)), number(b, 0.044715, x))
        inner = b("Mul", b("Add", x, cubic), number(b, math.sqrt(2 / math.pi), x))
        share = b("Tanh", inner)
    else:
        share = b("Erf", b("Mul", x, number(b, math.sqrt(0.5), x)))
    return b("Mul", b("Mul", x, half), b("Add", share, number(b, 1, x)))


@rule("tanh_back")
def tanh_back(b, g, y):
    g, y = promoted(b, g, y)
    return b("Mul", g, b("Sub", number(b, 1, y), b("Mul", y, y)))
