"""Special functions, and products and quotients in which a zero factor wins over inf and NaN."""

import math

import numpy as np

from framework.core.doors import cast
from framework.core.op import Op
from framework.core.quiet import quiet
from framework.kernels import erf as _kernel
from framework.ops.elementwise import binary, equal, exp, greater, log, log1p, select, unary
from framework.ops.reduction import np_dtype, reduce_sum

erf = unary(
    "erf", quiet(_kernel.erf), lambda g, x: g * (exp(x * x * -1.0) * (2 / math.sqrt(math.pi)))
)


def _where_not_zero(function):
    """`function(a, b)`, 0 wherever a is 0 and b is a number."""

    def forward(a, b):
        return np.where(np.equal(a, 0) & ~np.isnan(b), 0, function(a, b))

    return quiet(forward)


def _unless_zero(a, g, divisor):
    """g / divisor, 0 where a is 0: there the divisor may be 0 too."""
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


def _sparsemax(x, *, axis):
    z = np.moveaxis(x, axis, -1)
    falling = -np.sort(-z, axis=-1)
    size = np.arange(1, z.shape[-1] + 1, dtype=x.dtype)
    excess = np.cumsum(falling, axis=-1, dtype=x.dtype) - 1
    count = np.count_nonzero(falling * size > excess, axis=-1, keepdims=True)
    threshold = np.take_along_axis(excess, count - 1, -1) / count.astype(x.dtype)
    return np.moveaxis(np.maximum(z - threshold, 0), -1, axis)


def _sparsemax_vjp(g, y, axis):
    """On the support the cotangent less its mean there (equation 14 of the paper)."""
    support = cast(greater(y, 0), dtype=np_dtype(y))
    kept = g * support
    total = reduce_sum(kept, axis=(axis,), keepdims=True)
    return kept - support * (total / reduce_sum(support, axis=(axis,), keepdims=True))


# Martins & Astudillo 2016, arXiv:1602.02068, algorithm 1
sparsemax = Op("sparsemax", _sparsemax, _sparsemax_vjp, infer=lambda x, *, axis: (x.shape, x.dtype))
