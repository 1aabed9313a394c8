"""Translation rules for special functions and of NumPy's further elementwise functions."""

import math

import numpy as np

from framework.saving.onnx.rules import rule
from framework.saving.onnx.rules.elementwise import log1p
from framework.saving.onnx.rules.operands import number, promoted

_BOOL = np.dtype(bool)


@rule("erfc")
def erfc(b, x):
    return b("Sub", number(b, 1, x), b("Erf", x))


@rule("cbrt")
def cbrt(b, x):
    return b("Mul", b("Sign", x), b("Pow", b("Abs", x), number(b, 1 / 3, x)))


@rule("hypot")
def hypot(b, x, y):
    x, y = promoted(b, x, y)
    x, y = b("Abs", x), b("Abs", y)
    large, small = b("Max", x, y), b("Min", x, y)
    zero = b("Equal", large, number(b, 0, x), dtype=_BOOL)
    ratio = b("Div", small, b("Where", zero, number(b, 1, x), large, dtype=x.dtype))
    return b("Mul", large, b("Sqrt", b("Add", b("Mul", ratio, ratio), number(b, 1, x))))


@rule("atan2")
def atan2(b, y, x):
    y, x = promoted(b, y, x)
    zero = number(b, 0, x)
    on_axis = b("Equal", x, zero, dtype=_BOOL)
    slope = b("Atan", b("Div", y, b("Where", on_axis, number(b, 1, x), x, dtype=x.dtype)))
    upper = b("GreaterOrEqual", y, zero, dtype=_BOOL)
    half = b("Where", upper, number(b, math.pi, x), number(b, -math.pi, x), dtype=x.dtype)
    left = b("Less", x, zero, dtype=_BOOL)
    angle = b("Add", slope, b("Where", left, half, zero, dtype=x.dtype))
    vertical = b("Mul", b("Sign", y), number(b, math.pi / 2, x))
    return b("Where", on_axis, vertical, angle, dtype=x.dtype)


@rule("angle")
def angle(b, x):
    """Return the angle of real numbers: 0 or π."""
    left = b("Less", x, number(b, 0, x), dtype=_BOOL)
    return b("Where", left, number(b, math.pi, x), number(b, 0, x), dtype=x.dtype)


@rule("imag")
def imag(b, x):
    return b("Mul", x, number(b, 0, x))


@rule("ldexp")
def ldexp(b, x, power):
    """Multiply by 2 ** power in two steps, so that neither factor overflows."""
    two = number(b, 2, x)
    power = b.cast(power if hasattr(power, "dtype") else b.constant(power), x.dtype)
    half = b("Floor", b("Mul", power, number(b, 0.5, x)))
    y = b("Mul", x, b("Pow", two, half))
    return b("Mul", y, b("Pow", two, b("Sub", power, half)))


@rule("sinc")
def sinc(b, x, *, n):
    if n:
        b.refuse("the derivatives of sinc have no ONNX operator")
    zero = b("Equal", x, number(b, 0, x), dtype=_BOOL)
    z = b("Mul", b("Where", zero, number(b, 1, x), x, dtype=x.dtype), number(b, math.pi, x))
    return b("Where", zero, number(b, 1, x), b("Div", b("Sin", z), z), dtype=x.dtype)


def _unless_zero(b, x, y, function):
    x, y = promoted(b, x, y)
    zero = b("Equal", x, number(b, 0, x), dtype=_BOOL)
    return b("Where", zero, number(b, 0, x), function(x, y), dtype=x.dtype)


@rule("xlogy")
def xlogy(b, x, y):
    return _unless_zero(b, x, y, lambda x, y: b("Mul", x, b("Log", y)))


@rule("xlog1py")
def xlog1py(b, x, y):
    return _unless_zero(b, x, y, lambda x, y: b("Mul", x, log1p(b, y)))


@rule("xdivy")
def xdivy(b, x, y):
    return _unless_zero(b, x, y, lambda x, y: b("Div", x, y))


@rule("sparsemax")
def sparsemax(b, x, *, axis):
    """Algorithm 1 of Martins & Astudillo 2016: subtract a threshold found from sorted logits."""
    last = x.rank - 1
    perm = [i for i in range(x.rank) if i != axis] + [axis]
    z = b.transpose(x, perm)
    n = x.shape[axis]
    falling = b("TopK", z, b.size(n), axis=last, outputs=2)[0]
    total = b("CumSum", falling, b.constant(np.int64(last)))
    excess = b("Sub", total, number(b, 1, x))
    places = b("Add", b.arange(n, x.dtype), number(b, 1, x))
    above = b("Greater", b("Mul", falling, places), excess, dtype=_BOOL)
    count = b("ReduceSum", b.cast(above, np.int64), b.constant(np.array([last])), keepdims=1)
    at = b("Sub", count, b.constant(np.int64(1)))
    threshold = b("Div", b("GatherElements", excess, at, axis=last), b.cast(count, x.dtype))
    y = b("Relu", b("Sub", z, threshold))
    return b.transpose(y, np.argsort(perm))
