"""Elementwise ops. In derivative rules, `g` is the cotangent, `y` the output, and `x`, or `a` and
`b`, the inputs.

Comments state the derivative at a kink or a tie; it is the same as TensorFlow's.
"""

import cmath
import math
import operator

import numpy as np
from numpy import multiply as np_multiply
from numpy import ndarray
from numpy import subtract as np_subtract

from framework.core.cast import cast
from framework.core.numpy_warnings import no_warnings
from framework.core.op import elementwise, no_derivative
from framework.kernels import choose
from framework.ops.public import public


def unary(name, forward, vjp, **options):
    return elementwise(name, forward, vjp, inputs=("x",), **options)


def binary(name, forward, vjp_a, vjp_b, **options):
    return elementwise(name, forward, vjp_a, vjp_b, inputs=("a", "b"), **options)


# ---- selection by a condition --------------------------------------------------------------------

# `masked` is a where the condition b is True, else exactly 0.
masked = binary("masked", choose.masked, lambda g, b: masked(g, b), no_derivative)
# `gated` is a * b for booleans b. It is faster than `masked`, but its result is NaN where b is
# False and a is infinite or NaN.
gated = binary("gated", np.multiply, lambda g, b: gated(g, b), no_derivative)
select = elementwise(
    "select", choose.select, no_derivative,
    lambda g, condition: masked(g, condition),
    lambda g, condition: masked(g, logical_not(condition)),
    inputs=("condition", "a", "b"),
)  # fmt: skip


def zero(g):
    """Return zeros, even where g is infinite: a rule for inputs with derivative 0 (not None)."""
    return masked(g, False)


# ---- comparisons and logic: no derivative ------------------------------------------------------

equal = binary("equal", np.equal, no_derivative, no_derivative)
not_equal = binary("not_equal", np.not_equal, no_derivative, no_derivative)
less = binary("less", np.less, no_derivative, no_derivative)
less_equal = binary("less_equal", np.less_equal, no_derivative, no_derivative)
greater = binary("greater", np.greater, no_derivative, no_derivative)
greater_equal = binary("greater_equal", np.greater_equal, no_derivative, no_derivative)
logical_and = binary("logical_and", np.logical_and, no_derivative, no_derivative)
logical_or = binary("logical_or", np.logical_or, no_derivative, no_derivative)
logical_xor = binary("logical_xor", np.logical_xor, no_derivative, no_derivative)
logical_not = unary("logical_not", np.logical_not, no_derivative)
bitwise_and = binary("bitwise_and", np.bitwise_and, no_derivative, no_derivative)
bitwise_or = binary("bitwise_or", np.bitwise_or, no_derivative, no_derivative)
bitwise_xor = binary("bitwise_xor", np.bitwise_xor, no_derivative, no_derivative)
invert = unary("invert", np.invert, no_derivative)
is_nan = unary("is_nan", np.isnan, no_derivative)
is_inf = unary("is_inf", np.isinf, no_derivative)
is_finite = unary("is_finite", np.isfinite, no_derivative)

# ---- rounding: no derivative; the derivative of sign is zero ------------------------------------

floor = unary("floor", np.floor, no_derivative)
ceil = unary("ceil", np.ceil, no_derivative)
round_ = unary("round", np.rint, no_derivative)
trunc = unary("trunc", np.trunc, no_derivative)
sign = unary("sign", np.sign, zero)

# ---- arithmetic --------------------------------------------------------------------------------


def unchanged(g):
    """Return the cotangent unchanged; a tape recognizes this rule, and does not call it."""
    return g


add = binary("add", np.add, unchanged, unchanged)
subtract = binary("subtract", np.subtract, unchanged, operator.neg)
multiply = binary("multiply", np.multiply, operator.mul, lambda g, a: g * a)
divide = binary(
    "divide", no_warnings(np.true_divide), lambda g, b: g / b, lambda g, y, b: negative(g * y / b)
)
floor_divide = binary("floor_divide", no_warnings(np.floor_divide), no_derivative, no_derivative)
floor_mod = binary(
    "floor_mod", no_warnings(np.mod), lambda g: g, lambda g, a, b: negative(g * floor(a / b))
)
negative = unary("negative", np.negative, lambda g: -g)
identity = unary("identity", lambda x: x, lambda g: g)
stop_gradient = unary("stop_gradient", lambda x: x, no_derivative)
# A cotangent in a derivative rule is the conjugate of TensorFlow's gradient, see `GradientTape`.
conj = unary("conj", np.conj, lambda g: conj(g))


def _abs_vjp(g, x):
    dtype = getattr(x, "array", x).dtype
    if dtype.kind == "c":
        return cast(divide_no_nan(g, absolute(x)), dtype=dtype) * conj(x)
    return g * sign(x)  # The derivative of absolute at 0 is 0.


absolute = unary("abs", np.abs, _abs_vjp)
square = unary("square", no_warnings(np.square), lambda g, x: g * (x * 2))
# As in TensorFlow, the result is 0 if the cotangent is 0, even where the derivative of reciprocal,
# sqrt or rsqrt is infinite.
reciprocal = unary(
    "reciprocal", no_warnings(np.reciprocal), lambda g, y: negative(multiply_no_nan(y * y, g))
)

# `multiply_no_nan` is a * b, but 0 where b is 0, even if a is infinite or NaN.
multiply_no_nan = binary(
    "multiply_no_nan", no_warnings(lambda a, b: choose.zeroed(a * b, np.equal(b, 0))),
    lambda g, b: multiply_no_nan(g, b), lambda g, a: multiply_no_nan(a, g),
)  # fmt: skip


divide_no_nan = binary(
    "divide_no_nan", no_warnings(lambda a, b: choose.zeroed(np.true_divide(a, b), np.equal(b, 0))),
    lambda g, b: divide_no_nan(g, b),
    lambda g, y, b: negative(g * divide_no_nan(y, b)),
)  # fmt: skip

# Where a equals b, a gets the whole cotangent. Where one of them is NaN, b gets it.
maximum = binary(
    "maximum", np.maximum,
    lambda g, a, b: masked(g, greater_equal(a, b)),
    lambda g, a, b: masked(g, logical_not(greater_equal(a, b))),
)  # fmt: skip
minimum = binary(
    "minimum", np.minimum,
    lambda g, a, b: masked(g, less_equal(a, b)),
    lambda g, a, b: masked(g, logical_not(less_equal(a, b))),
)  # fmt: skip

# Where x equals a bound, x gets the whole cotangent.
clip = elementwise(
    "clip", lambda x, low, high: np.minimum(np.maximum(x, low), high),
    lambda g, x, low, high: masked(
        g, logical_and(greater_equal(x, low), less_equal(x, high))
    ),
    lambda g, x, low: masked(g, less(x, low)),
    lambda g, x, high: masked(g, greater(x, high)),
)  # fmt: skip

# ---- powers, exponentials, logarithms -----------------------------------------------------------


# For these exponents NumPy computes products and roots instead of pow.
_SHORTCUTS = (-1, 0, 0.5, 1, 2)


def _power(a, b):
    """Return a ** b.

    Two scalars use the C library's pow, as compiled loops do: it takes a fifth of the time of
    NumPy's. NumPy scalars and 0-d arrays give the same results.
    """
    if type(b) in (int, float):
        if b in _SHORTCUTS or getattr(a, "ndim", 1) or a.dtype.char not in "fd":
            return (np.asarray(a) if isinstance(a, np.generic) else a) ** b
        return a[()] ** b
    if not getattr(b, "ndim", 1) and b.dtype.char in "fd" and not getattr(a, "ndim", 0):
        return (a[()] if hasattr(a, "ndim") else a) ** b[()]
    return np.power(a, b)


def _power_vjp_b(g, y, a):
    """Return g y log(a), with log(a) = 0 where a <= 0 (for complex numbers: where a is 0).

    So the derivative is 0 at a <= 0 if the power y is finite, and NaN if y is infinite or NaN.
    """
    if type(a) in (int, float):
        return g * y * (math.log(a) if a > 0 else 0.0)
    if type(a) is complex:
        return g * y * (cmath.log(a) if a else 0.0)
    complex_ = getattr(a, "array", a).dtype.kind == "c"
    positive = not_equal(a, 0) if complex_ else greater(a, 0)
    return g * y * log(select(positive, a, 1.0))


power = binary(
    "power", no_warnings(_power), lambda g, a, b: g * b * power(a, b - 1), _power_vjp_b,
    # For integers, a negative exponent raises an error.
    raises=lambda dtype: dtype.kind in "iu",
)  # fmt: skip
sqrt = unary("sqrt", no_warnings(np.sqrt), lambda g, y: multiply_no_nan(divide(0.5, y), g))
rsqrt = unary(
    "rsqrt", no_warnings(lambda x: np.reciprocal(np.sqrt(x))),
    # Computing y³ first would overflow for smaller y.
    lambda g, y: multiply_no_nan(y * -0.5 * (y * y), g),
)  # fmt: skip
# `root` is a square root for sums of squares: its derivative at 0 is 0, not infinite as that of
# `sqrt`.
root = unary("root", no_warnings(np.sqrt), lambda g, y: g * divide_no_nan(0.5, y))
exp = unary("exp", no_warnings(np.exp), lambda g, y: g * y)
expm1 = unary("expm1", no_warnings(np.expm1), lambda g, y: g * (y + 1))
log = unary("log", no_warnings(np.log), lambda g, x: g / x)
log1p = unary("log1p", no_warnings(np.log1p), lambda g, x: g / (x + 1))

# ---- trigonometric and hyperbolic ----------------------------------------------------------------

sin = unary("sin", no_warnings(np.sin), lambda g, x: g * cos(x))
cos = unary("cos", no_warnings(np.cos), lambda g, x: negative(g * sin(x)))
tan = unary("tan", no_warnings(np.tan), lambda g, y: g * (y * y + 1))
asin = unary("asin", no_warnings(np.arcsin), lambda g, x: g * rsqrt((1 - x) * (1 + x)))
acos = unary("acos", no_warnings(np.arccos), lambda g, x: negative(g * rsqrt((1 - x) * (1 + x))))
atan = unary("atan", np.arctan, lambda g, x: g / (x * x + 1))
sinh = unary("sinh", no_warnings(np.sinh), lambda g, x: g * cosh(x))
cosh = unary("cosh", no_warnings(np.cosh), lambda g, x: g * sinh(x))


def _tanh_back(a, b):
    """Return a (1 - b²); a - a b² would be NaN for infinite a."""
    d = np_multiply(b, b)
    # For 0-d operands the ufunc returns a scalar, so convert it to an array.
    if type(d) is not ndarray:
        return a * (1 - d)
    np_subtract(choose.ones[d.dtype], d, d)
    return np_multiply(a, d, d) if getattr(a, "shape", None) == d.shape else a * d


# One op instead of three makes second derivatives of tanh faster.
tanh_back = binary(
    "tanh_back", _tanh_back,
    lambda g, b: tanh_back(g, b), lambda g, a, b: g * (a * (b * -2)),
)  # fmt: skip
tanh = unary(
    "tanh", np.tanh, lambda g, y: _tanh_back(g, y) if type(g) is ndarray else tanh_back(g, y)
)


# For larger |x|, x² + 1 rounds to x², and x² may overflow.
_LARGE = {("f", 2): 200.0, ("f", 8): 1e150}


def _asinh_slope(x):
    """Return 1 / sqrt(x² + 1), computed as 1 / |x| where the square would overflow."""
    dtype = np.dtype(getattr(x.dtype, "np", x.dtype))
    if dtype.kind == "c":
        return rsqrt(x * x + 1)
    size = absolute(x)
    far = greater(size, _LARGE.get((dtype.kind, dtype.itemsize), 1e18))
    return select(far, reciprocal(size), rsqrt(square(select(far, 0.0, x)) + 1))


asinh = unary("asinh", np.arcsinh, lambda g, x: g * _asinh_slope(x))
# The derivative rule computes two roots, because x * x may overflow. Below -1, acosh and its
# derivative are NaN.
acosh = unary("acosh", no_warnings(np.arccosh), lambda g, x: g * (rsqrt(x - 1) * rsqrt(x + 1)))
atanh = unary("atanh", no_warnings(np.arctanh), lambda g, x: g / ((1 - x) * (1 + x)))
atan2 = binary(
    "atan2", np.arctan2,
    # Divide first: if g * b and the squares were both infinite, the quotient would be NaN.
    lambda g, a, b: g * (b / (a * a + b * b)), lambda g, a, b: negative(g * (a / (a * a + b * b))),
)  # fmt: skip

# ---- activations ---------------------------------------------------------------------------------


def _relu(x):
    return choose.positive(x)


def _relu_vjp(g, y):
    if type(g) is ndarray:
        return np.multiply(g, np.greater(y, choose.zeros[y.dtype]))
    return gated(g, greater(y, 0))


def _relu6(x):
    return np.minimum(choose.positive(x), choose.sixes[x.dtype])


def _relu6_vjp(g, y):
    return gated(g, logical_and(greater(y, 0), less(y, 6)))


def _sigmoid(x):
    one = choose.ones[x.dtype]
    return np.true_divide(one, np.add(np.exp(np.negative(x)), one))


def _softplus(x):
    return np.maximum(x, choose.zeros[x.dtype]) + np.log1p(np.exp(np.negative(np.abs(x))))


# The derivative of relu at 0 is 0. The rule multiplies by a mask, as in TensorFlow, because
# selecting elements is slower.
relu = unary("relu", _relu, _relu_vjp)
relu6 = unary("relu6", _relu6, _relu6_vjp)  # The derivative of relu6 at 0 and at 6 is 0.
sigmoid = unary("sigmoid", no_warnings(_sigmoid), lambda g, y: g * (y - y * y))
softplus = unary("softplus", no_warnings(_softplus), lambda g, x: g * sigmoid(x))

# ---- public functions ----------------------------------------------------------------------------

public(add, "{x} + {y}", "alike_numbers")
public(subtract, "{x} - {y}", "alike_numbers")
public(multiply, "{x} * {y}", "alike_numbers")
public(divide, "{x} / {y} for real numbers", "alike_numbers", tf="realdiv", keras=None)
public(power, "{x} to the power {y}", "alike_numbers", tf="pow", keras=None)
public(maximum, "the larger of {x} and {y}; at a tie {x} gets the gradient", "alike_numbers")
public(minimum, "the smaller of {x} and {y}; at a tie {x} gets the gradient", "alike_numbers")
public(multiply_no_nan, "{x} * {y}, or 0 where {y} is 0, even if {x} is inf or NaN", keras=None)
public(equal, "{x} == {y}, element by element")
public(not_equal, "{x} != {y}, element by element")
public(less, "{x} < {y}, element by element")
public(less_equal, "{x} <= {y}, element by element")
public(greater, "{x} > {y}, element by element")
public(greater_equal, "{x} >= {y}, element by element")
public(logical_and, "{x} and {y}, for booleans", "booleans", keras=None)
public(logical_or, "{x} or {y}, for booleans", "booleans", keras=None)
public(logical_not, "not {x}, for booleans", "booleans", keras=None)
public(is_nan, "whether each element is NaN", "floats", keras="isnan")
public(is_inf, "whether each element is inf or -inf", "floats", keras="isinf")
public(is_finite, "whether each element is neither inf nor NaN", "floats", keras="isfinite")
public(absolute, "the absolute value; its derivative at 0 is 0", "numbers", keras=None)
public(negative, "-{x}", "numbers")
public(sign, "-1, 0 or 1: the sign of {x}", "numbers")
public(square, "{x}²", "numbers", keras=None)
public(reciprocal, "1 / {x}", "floats")
public(
    round_,
    "{x} rounded to the nearest integer, halves to even",
    "floats",
    tf="rint",
    keras=None,
)
public(floor, "{x} rounded down to an integer", "floats")
public(ceil, "{x} rounded up to an integer", "floats")
public(sqrt, "the square root", "floats")
public(rsqrt, "1 / sqrt({x})", "floats")
public(exp, "e to the power {x}", "floats")
public(expm1, "exp({x}) - 1, accurate near 0", "floats")
public(log, "the natural logarithm", "floats")
public(log1p, "log(1 + {x}), accurate near 0", "floats")
public(sin, "the sine of {x} in radians", "floats")
public(cos, "the cosine of {x} in radians", "floats")
public(tan, "the tangent of {x} in radians", "floats")
public(asin, "the angle in [-π/2, π/2] whose sine is {x}", "floats", keras="arcsin")
public(acos, "the angle in [0, π] whose cosine is {x}", "floats", keras="arccos")
public(atan, "the angle in (-π/2, π/2) whose tangent is {x}", "floats", keras="arctan")
public(sinh, "the hyperbolic sine", "floats")
public(cosh, "the hyperbolic cosine", "floats")
public(tanh, "the hyperbolic tangent", "floats")
public(asinh, "the number whose hyperbolic sine is {x}", "floats", keras="arcsinh")
public(acosh, "the number >= 0 whose hyperbolic cosine is {x}", "floats", keras="arccosh")
public(atanh, "the number whose hyperbolic tangent is {x}", "floats", keras="arctanh")
public(sigmoid, "1 / (1 + exp(-{x}))", "floats", keras=None)
public(divide_no_nan, "{x} / {y}, or 0 where {y} is 0", "alike_floats", tf=None)
public(
    atan2,
    "the angle of the point ({y}, {x}), in (-π, π]",
    "alike_floats",
    tf=None,
    keras="arctan2",
)
public(invert, "{x} with each bit inverted", tf=None, keras="bitwise_not")
