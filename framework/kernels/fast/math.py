"""Functions of one float32 for kernels, without branches, so that LLVM vectorizes loops.

    exp  expm1  log  tanh  sigmoid  erf  gelu  gelu_slope  gelu_tanh  gelu_tanh_slope

Each is within 3 units in the last place (gelu and its derivative, where their terms cancel, within
1e-7 of the larger term), also for denormal numbers, infinities and NaN. Arguments and results are
float32: a Python number has to be converted, `exp(np.float32(2))`.

    exp(x) = 2**n (1 + r + r² P(r)),  x = n log 2 + r, |r| <= log(2) / 2;  P a Chebyshev interpolant
    log(x) = e log 2 + 2 artanh(s),   x = m 2**e, s = (m - 1) / (m + 1), sqrt(1/2) <= m < sqrt(2)

Example:
    >>> from framework.kernels.fast.jit import kernel
    >>> @kernel(cache=False)
    ... def squash(x, y):
    ...     for i in range(x.size):
    ...         y[i] = tanh(x[i])
    >>> x = np.array([-1, 0, 1e-30, np.inf], np.float32)
    >>> squash(x, x); x
    array([-7.615942e-01,  0.000000e+00,  1.000000e-30,  1.000000e+00],
          dtype=float32)
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from framework.kernels.erf import _P32, _W32
from framework.kernels.fast.jit import kernel
from framework.kernels.fast.target import assembly
from framework.kernels.gelu import CENTER, END, TAIL

_f = np.float32

_LOG2E = _f(1.44269504088896341)
_LOG2_HIGH = _f(0.693359375)  # log 2 is rounded to 9 bits, so that its product with n is exact.
_LOG2_LOW = _f(-2.12194440054690583e-4)
# The coefficients of P, the highest power first; the relative error is 1.1e-8.
_P = (0.001392692661, 0.008363773874, 0.04166655011, 0.1666657338, 0.5)
_EXP = (_LOG2E, _LOG2_HIGH, _LOG2_LOW, *map(_f, _P))
_ERF_NEAR = tuple(_f(c) for c in _P32)
_ERF_FAR = tuple(_f(c) for c in _W32)
_ZERO, _HALF, _ONE, _TWO = _f(0), _f(0.5), _f(1), _f(2)
_INF, _NAN = _f(np.inf), _f(np.nan)
_SMALLEST = _f(1.17549435e-38)  # the smallest positive normal float32
_ROOT_2_OVER_PI = _f(0.79788456080286536)
_CUBIC = _f(0.044715)  # coefficient of x³ in gelu's tanh approximation: Hendrycks & Gimpel 2016
_TAIL = tuple(_f(c) for c in TAIL)
_CENTER, _END, _DENSITY = _f(CENTER), _f(END), _f(0.39894228040143268)


_REGISTER = {"x86_64": "=x,0", "aarch64": "=w,0", "arm64": "=w,0"}.get(assembly()[0])


def element(function):
    """Compile a function that is inlined in the loops that call it.

    LLVM must keep the order of operations; otherwise it would merge the two constants of exp's
    argument reduction.
    """
    return kernel(function, fastmath={"contract"}, forceinline=True)


@intrinsic
def kept(_, number):
    """Return `number` as a value that LLVM does not treat as a constant.

    LLVM then keeps a vector of it in a register or in memory. Otherwise LLVM would rebuild the
    vector in each step of an inner loop, which makes `gelu` 1.5 times slower.
    """

    def emit(context, builder, signature, arguments):
        if _REGISTER is None:
            return arguments[0]
        kind = ir.FunctionType(ir.FloatType(), [ir.FloatType()])
        call = builder.asm(kind, "", _REGISTER, arguments, False)
        call.attributes.add("readnone")
        call.attributes.add("nounwind")
        return call

    return types.float32(types.float32), emit


def _named(name):
    """Return an emitter that calls the LLVM intrinsic `name` of one or two float32."""

    def emit(context, builder, signature, arguments):
        number = ir.FloatType()
        kind = ir.FunctionType(number, [number] * len(arguments))
        function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.f32")
        return builder.call(function, arguments)

    return emit


@intrinsic
def _floor(_, x):
    return types.float32(types.float32), _named("floor")


@intrinsic
def _size(_, x):
    return types.float32(types.float32), _named("fabs")


@intrinsic
def _signed(_, x, sign):
    return types.float32(types.float32, types.float32), _named("copysign")


@intrinsic
def _power_of_2(_, n, half):
    """Return 2**(n // 2) if `half`, else 2**(n - n // 2), for an integral float32 n, |n| <= 252."""

    def emit(context, builder, signature, arguments):
        integer = ir.IntType(32)
        n = builder.fptosi(arguments[0], integer)
        first = builder.ashr(n, ir.Constant(integer, 1))
        n = builder.select(arguments[1], first, builder.sub(n, first))
        biased = builder.add(n, ir.Constant(integer, 127))
        return builder.bitcast(builder.shl(biased, ir.Constant(integer, 23)), ir.FloatType())

    return types.float32(types.float32, types.boolean), emit


@intrinsic
def _exponent(_, x):
    """Return the integer e with x = m 2**e, sqrt(1/2) <= m < sqrt(2); x > 0 is not denormal."""

    def emit(context, builder, signature, arguments):
        integer = ir.IntType(32)
        bits = builder.bitcast(arguments[0], integer)
        above = builder.sub(bits, ir.Constant(integer, 0x3F3504F3))  # the bits of sqrt(1/2)
        return builder.sitofp(builder.ashr(above, ir.Constant(integer, 23)), ir.FloatType())

    return types.float32(types.float32), emit


@intrinsic
def _mantissa(_, x):
    """Return the m with x = m 2**e, where `_exponent` returns e."""

    def emit(context, builder, signature, arguments):
        integer = ir.IntType(32)
        start = ir.Constant(integer, 0x3F3504F3)
        above = builder.sub(builder.bitcast(arguments[0], integer), start)
        rest = builder.and_(above, ir.Constant(integer, 0x007FFFFF))
        return builder.bitcast(builder.add(rest, start), ir.FloatType())

    return types.float32(types.float32), emit


@element
def _between(x, low, high):
    """Return x clipped to the range from `low` to `high`; NaN becomes `low`."""
    x = x if x > low else low
    return x if x < high else high


@element
def _reduced(x, c=_EXP):
    """Return n and exp(r) - 1, where x = n log 2 + r."""
    n = _floor(x * c[0] + _HALF)
    r = x - n * c[1]
    r = r - n * c[2]
    p = c[3] * r + c[4]
    p = p * r + c[5]
    p = p * r + c[6]
    p = p * r + c[7]
    return n, r * r * p + r


@element
def exp(x, c=_EXP):
    """Return exp(x)."""
    n, rest = _reduced(_between(x, _f(-104), _f(89)), c)
    # 2**n is computed as two factors, so that denormal results are correct too.
    y = (_ONE + rest) * _power_of_2(n, True) * _power_of_2(n, False)
    return y if x == x else x


@element
def kept_exp(x):
    """Return exp(x), with constants in registers: see `kept`."""
    c = _EXP
    return exp(
        x, (kept(c[0]), kept(c[1]), kept(c[2]), kept(c[3]), kept(c[4]), kept(c[5]), kept(c[6]),
        kept(c[7])),
    )  # fmt: skip


@element
def expm1(x):
    """Return exp(x) - 1, accurate for small x too."""
    n, rest = _reduced(_between(x, _f(-25), _f(89)))
    first, second = _power_of_2(n, True), _power_of_2(n, False)
    power = first * second
    # 2**128 overflows float32, so for n >= 127 multiply by one factor after the other.
    y = rest * power + (power - _ONE) if n < _f(127) else (_ONE + rest) * first * second
    y = y if _size(x) > _f(1e-10) else x
    return y if x == x else x


@element
def log(x):
    """Return the natural logarithm; NaN for x < 0."""
    tiny = x < _SMALLEST
    normal = x * _f(8388608) if tiny else x  # Scaling by 2**23 makes a denormal number normal.
    m = _mantissa(normal)
    e = _exponent(normal) - (_f(23) if tiny else _ZERO)
    z = m - _ONE
    s = z / (_TWO + z)
    q = s * s
    p = _f(2 / 9) * q + _f(2 / 7)
    p = p * q + _f(2 / 5)
    p = p * q + _f(2 / 3)
    # 2 s is computed as z - s z, which avoids the rounding error of s
    y = z - (s * (z - q * p) - e * _LOG2_LOW) + e * _LOG2_HIGH
    y = y if x < _INF else x
    return y if x > _ZERO else (-_INF if x == _ZERO else _NAN)


@element
def tanh(x):
    """Return tanh(x)."""
    size = _size(x)
    n, rest = _reduced(_between(_TWO * size, _ZERO, _f(20)))
    power = _power_of_2(n, True) * _power_of_2(n, False)
    less = rest * power + (power - _ONE)  # `less` is exp(2 |x|) - 1.
    y = _signed(less / (less + _TWO), x)
    return y if size > _f(1e-10) else x  # For tiny x and for NaN, tanh(x) is x.


@element
def sigmoid(x):
    """Return 1 / (1 + exp(-x))."""
    e = exp(-_size(x))
    return (_ONE if x >= _ZERO else e) / (_ONE + e)


@element
def erf(x):
    """Return erf(x), by the method of `kernels/erf.py`."""
    size = _between(_size(x), _ZERO, _f(4))
    squared = size * size
    near = kept(_ERF_NEAR[0])
    for i in range(1, len(_ERF_NEAR)):
        near = near * squared + kept(_ERF_NEAR[i])
    u = (size - _TWO) / (size + _TWO)
    far = kept(_ERF_FAR[0])
    for i in range(1, len(_ERF_FAR)):
        far = far * u + kept(_ERF_FAR[i])
    far = _signed(_ONE - far * kept_exp(-squared), x)
    y = near * x + x if size < _ONE else far
    return y if x == x else x


@element
def _tail(x):
    """Return min(|x|, END), exp(-x²/2) and Φ(-|x|), by the method of `kernels/gelu.py`."""
    size = abs(x)
    size = size if size < _END else _END
    e = kept_exp(-_HALF * size * size)
    u = (size - kept(_CENTER)) / (size + kept(_CENTER))
    w = kept(_TAIL[0])
    for i in range(1, len(_TAIL)):
        w = w * u + kept(_TAIL[i])
    return size, e, _rounded_product(e, w)


@kernel(fastmath=False, forceinline=True)
def _rounded_product(a, b):
    """Return the product, never fused with a sum: gelu rounds the same with and without slope."""
    return a * b


@element
def gelu(x):
    """Return x Φ(x), Φ the normal distribution function."""
    size, _, tail = _tail(x)
    y = (x if x > _ZERO else _ZERO) - size * tail
    return y if x == x else x


@element
def gelu_slope(x):
    """Return the derivative of `gelu`."""
    size, e, tail = _tail(x)
    v = (_HALF - tail) + size * e * _DENSITY
    y = _HALF + v if x > _ZERO else _HALF - v
    return y if x == x else x


@element
def gelu_tanh(x):
    """Return the tanh approximation of `gelu`, by a sigmoid: see `kernels/gelu.py`."""
    return x * _normal_sigmoid(x)


@element
def _normal_sigmoid(x):
    """Return the approximation of Φ(x), accurate where it is small too."""
    return sigmoid(_TWO * _ROOT_2_OVER_PI * (x + _CUBIC * x * x * x))


@element
def gelu_tanh_slope(x):
    """Return the derivative of `gelu_tanh`."""
    s = _normal_sigmoid(x)
    inner = _TWO * _ROOT_2_OVER_PI * (_ONE + _f(3) * _CUBIC * x * x)
    return s + x * (s * (_ONE - s)) * inner


def warm():
    """Do nothing: these functions are inlined in the kernels that call them."""
