"""Special functions, and products and quotients that are 0 if the first factor is 0."""

import math

import numpy as np

from framework.core.cast import cast
from framework.core.numpy_warnings import no_warnings
from framework.core.op import Op, elementwise
from framework.kernels import bessel, choose, gamma, inverse_erf
from framework.kernels import erf as _kernel
from framework.ops.elementwise import (
    binary,
    divide,
    equal,
    exp,
    greater,
    log,
    log1p,
    select,
    sigmoid,
    sign,
    unary,
)
from framework.ops.public import public
from framework.ops.reduction import np_dtype, reduce_sum

_TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)

# ---- the error function, its complement and their inverses --------------------------------------

erf = unary(
    "erf", no_warnings(_kernel.erf), lambda g, x: g * (exp(x * x * -1.0) * _TWO_OVER_ROOT_PI)
)
erfc = unary("erfc", inverse_erf.erfc, lambda g, x: g * (exp(x * x * -1.0) * -_TWO_OVER_ROOT_PI))
erfinv = unary("erfinv", inverse_erf.erfinv, lambda g, y: g * (exp(y * y) / _TWO_OVER_ROOT_PI))
erfcinv = unary("erfcinv", inverse_erf.erfcinv, lambda g, y: g * (exp(y * y) / -_TWO_OVER_ROOT_PI))
ndtri = unary(
    "ndtri", inverse_erf.ndtri, lambda g, y: g * (exp(y * y * 0.5) * math.sqrt(2 * math.pi))
)

# ---- the gamma function --------------------------------------------------------------------------

lgamma = unary("lgamma", gamma.lgamma, lambda g, x: g * digamma(x))
digamma = unary("digamma", gamma.digamma, lambda g, x: g * polygamma(x, n=1))
# `polygamma` is the n-th derivative of digamma (n >= 1).
polygamma = elementwise(
    "polygamma", gamma.polygamma, lambda g, x, n: g * polygamma(x, n=n + 1), inputs=("x",)
)

# ---- modified Bessel functions -------------------------------------------------------------------
# Abramowitz & Stegun 1964, 9.6.27 and 9.6.28. At 0 the limit of I1(x) / x is 1/2.


def _i1_slope(x, difference, y):
    """Return `difference` - y / x, the derivative of y = I1(x) or exp(-|x|) I1(x); 1/2 at 0."""
    zero = equal(x, 0)
    return select(zero, 0.5, difference - divide(y, select(zero, 1.0, x)))


bessel_i0 = unary("bessel_i0", bessel.i0, lambda g, x: g * bessel_i1(x))
bessel_i1 = unary("bessel_i1", bessel.i1, lambda g, y, x: g * _i1_slope(x, bessel_i0(x), y))
bessel_i0e = unary("bessel_i0e", bessel.i0e, lambda g, y, x: g * (bessel_i1e(x) - sign(x) * y))
bessel_i1e = unary(
    "bessel_i1e", bessel.i1e,
    lambda g, y, x: g * _i1_slope(x, bessel_i0e(x) - sign(x) * y, y),
)  # fmt: skip

# ---- products that are 0 if a is 0 ---------------------------------------------------------------


def _where_not_zero(function):
    """Wrap `function(a, b)` to return 0 wherever a is 0, even if b is NaN, as in TensorFlow."""

    def forward(a, b):
        # Cast first, because np.log of a Python number would be float64.
        if type(b) in (int, float, complex):
            b = np.asarray(b, np.result_type(a, b))
        return choose.zeroed(function(a, b), np.equal(a, 0))

    return no_warnings(forward)


def _unless_zero(a, g, divisor):
    """Return g / divisor, or 0 where a is 0, because the divisor may be 0 there."""
    zero = equal(a, 0)
    return select(zero, 0.0, g / select(zero, 1.0, divisor))


def _log_unless_zero(a, b, logarithm):
    zero = equal(a, 0)
    return select(zero, 0.0, logarithm(select(zero, 1.0, b)))


xlogy = binary(
    "xlogy", _where_not_zero(lambda a, b: a * np.log(b)),
    lambda g, a, b: g * _log_unless_zero(a, b, log), lambda g, a, b: _unless_zero(a, g * a, b),
)  # fmt: skip
xlog1py = binary(
    "xlog1py", _where_not_zero(lambda a, b: a * np.log1p(b)),
    lambda g, a, b: g * _log_unless_zero(a, b, log1p),
    lambda g, a, b: _unless_zero(a, g * a, b + 1),
)  # fmt: skip
xdivy = binary(
    "xdivy", _where_not_zero(np.true_divide),
    lambda g, a, b: _unless_zero(a, g, b), lambda g, a, b: _unless_zero(a, g * a * -1.0, b * b),
)  # fmt: skip


def _lead(a, b):
    """Return a - b, or 0 where a and b are the same infinity."""
    return select(equal(a, b), 0.0, a - b)


# `logaddexp` is log(exp(a) + exp(b)). Its derivatives are the fractions of exp(a) and exp(b) in the
# sum.
logaddexp = binary(
    "logaddexp", no_warnings(np.logaddexp),
    lambda g, a, b: g * sigmoid(_lead(a, b)), lambda g, a, b: g * sigmoid(_lead(b, a)),
)  # fmt: skip


@no_warnings
def _sparsemax(x, *, axis):
    if not x.size:
        return x.copy()
    z = np.moveaxis(x, axis, -1)
    falling = -np.sort(-z, axis=-1)
    size = np.arange(1, z.shape[-1] + 1, dtype=x.dtype)
    excess = np.cumsum(falling, axis=-1, dtype=x.dtype) - 1
    count = np.count_nonzero(falling * size > excess, axis=-1, keepdims=True)
    threshold = np.take_along_axis(excess, count - 1, -1) / count.astype(x.dtype)
    return np.moveaxis(np.maximum(z - threshold, 0), -1, axis).astype(x.dtype, copy=False)


def _sparsemax_vjp(g, y, axis):
    """Return the cotangent minus its mean where y > 0, else 0 (Martins & Astudillo, eq. 14)."""
    support = cast(greater(y, 0), dtype=np_dtype(y))
    kept = g * support
    total = reduce_sum(kept, axis=(axis,), keepdims=True)
    return kept - support * (total / reduce_sum(support, axis=(axis,), keepdims=True))


# Algorithm 1 of Martins & Astudillo 2016, arXiv:1602.02068.
sparsemax = Op("sparsemax", _sparsemax, _sparsemax_vjp, infer=lambda x, *, axis: (x.shape, x.dtype))

# ---- public functions ----------------------------------------------------------------------------

public(xlogy, "{x} * log({y}), or 0 where {x} is 0", "alike_floats", keras=None)
public(xlog1py, "{x} * log(1 + {y}), or 0 where {x} is 0", "alike_floats", keras=None)
public(xdivy, "{x} / {y}, or 0 where {x} is 0", "alike_floats", keras=None)
public(erf, "the Gauss error function", "real_floats")
public(erfc, "1 - erf({x}), accurate where the result is small", "real_floats")
public(erfinv, "the inverse of erf; ±inf at ±1, NaN beyond", "real_floats")
public(erfcinv, "the inverse of erfc; inf at 0, -inf at 2, NaN beyond", "real_floats", keras=None)
public(
    ndtri,
    "the quantile of the standard normal distribution at probability {x}",
    "real_floats",
    keras=None,
)
public(lgamma, "log|Γ({x})|; inf at 0 and the negative integers", "real_floats", keras=None)
public(
    digamma,
    "the derivative of log Γ({x}); NaN at 0 and the negative integers",
    "real_floats",
    keras=None,
)
public(
    bessel_i0,
    "the modified Bessel function of the first kind of order 0",
    "real_floats",
    keras="i0",
)
public(
    bessel_i1,
    "the modified Bessel function of the first kind of order 1",
    "real_floats",
    keras=None,
)
public(bessel_i0e, "exp(-|{x}|) bessel_i0({x}), which never overflows", "real_floats", keras=None)
public(bessel_i1e, "exp(-|{x}|) bessel_i1({x}), which never overflows", "real_floats", keras=None)
public(logaddexp, "log(exp({x}) + exp({y})), without overflow", "alike_floats", tf=None)
