"""Reductions. `axis` is a sorted tuple of non-negative axes, `keepdims` a bool."""

import math

import numpy as np

from framework.core.cast import cast
from framework.core.errors import InvalidArgumentError
from framework.core.numpy_warnings import no_warnings
from framework.core.op import Op, no_derivative, reduction
from framework.kernels import choose
from framework.kernels.sums import added
from framework.ops.elementwise import equal, exp, select
from framework.ops.movement import (
    broadcast_to,
    concat,
    expand_axes,
    forwards,
    getitem,
    reshape,
    transpose,
)


def restore(g, axis, keepdims):
    """Return the result of a reduction with its reduced axes restored, with size 1."""
    return g if keepdims else expand_axes(g, axis)


def _spread(g, x_shape, axis, keepdims):
    # If all axes are reduced, g is 0-d and broadcasts without a reshape.
    if len(axis) < len(x_shape):
        g = restore(g, axis, keepdims)
    return broadcast_to(g, shape=x_shape)


def _count(shape, axis):
    return math.prod(shape if len(axis) == len(shape) else [shape[i] for i in axis])


@no_warnings
def _sum(x, *, axis, keepdims):
    # Small integers are summed in their own dtype, as in TensorFlow; NumPy would widen them.
    return added(x, axis, keepdims)


@no_warnings
def _mean(x, *, axis, keepdims):
    n = _count(x.shape, axis)
    dtype = x.dtype
    if dtype.kind in "iu":
        return _whole_mean(x, n, axis, keepdims)
    # A 16-bit sum may overflow, so sum in float32.
    if dtype.itemsize == 2:
        return np.asarray(_mean(x.astype(np.float32), axis=axis, keepdims=keepdims)).astype(dtype)
    total = added(x, axis, keepdims)
    return total / n if n else total * np.nan


def _whole_mean(x, n, axis, keepdims):
    """Return the mean of integers, rounded towards zero as in TensorFlow; the sum has 64 bits."""
    wide = np.uint64 if x.dtype.kind == "u" else np.int64
    total = np.add.reduce(x, axis=axis, keepdims=keepdims, dtype=wide)
    mean = total // wide(max(n, 1))
    if x.dtype.kind == "i":
        mean = mean + ((total < 0) & (mean * n != total))
    return np.asarray(mean).astype(x.dtype)


reduce_sum = reduction("reduce_sum", _sum, _spread)
reduce_mean = reduction(
    "reduce_mean", _mean,
    lambda g, x_shape, axis, keepdims: _spread(
        g / max(_count(x_shape, axis), 1), x_shape, axis, keepdims
    ),
)  # fmt: skip


def _share_of_ties(g, x, y, axis, keepdims):
    """Divide the cotangent evenly among the elements that equal the maximum or minimum."""
    chosen = cast(equal(x, restore(y, axis, keepdims)), dtype=np_dtype(g))
    ways = reduce_sum(chosen, axis=axis, keepdims=True)
    return restore(g, axis, keepdims) * (chosen / ways)


def np_dtype(x):
    """Return the NumPy dtype of an array, tensor or KerasTensor."""
    dtype = getattr(x, "array", x).dtype
    return getattr(dtype, "np", dtype)


def _extreme(ufunc, limit):
    def forward(x, *, axis, keepdims):
        if x.size:
            return ufunc.reduce(x, axis=axis, keepdims=keepdims)
        return ufunc.reduce(x, axis=axis, keepdims=keepdims, initial=limit(x.dtype))

    return forward


def _lowest(dtype):
    if dtype.kind == "b":
        return False
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def _highest(dtype):
    if dtype.kind == "b":
        return True
    return np.iinfo(dtype).max if dtype.kind in "iu" else np.inf


reduce_max = reduction("reduce_max", _extreme(np.maximum, _lowest), _share_of_ties)
reduce_min = reduction("reduce_min", _extreme(np.minimum, _highest), _share_of_ties)


# ---- reductions without a derivative -------------------------------------------------------------

reduce_any = reduction(
    "reduce_any", lambda x, *, axis, keepdims: np.any(x, axis=axis, keepdims=keepdims),
    no_derivative,
)  # fmt: skip
reduce_all = reduction(
    "reduce_all", lambda x, *, axis, keepdims: np.all(x, axis=axis, keepdims=keepdims),
    no_derivative,
)  # fmt: skip


def _without_axis(x, *, axis, dtype):
    return (*x.shape[:axis], *x.shape[axis + 1 :]), dtype


def _position(find):
    def forward(x, *, axis, dtype):
        if not x.shape[axis] and x.size == 0 and np.prod(np.delete(x.shape, axis)):
            raise InvalidArgumentError(
                f"{find.__name__}: Reduction axis {axis} is empty in shape {list(x.shape)}."
            )
        return find(x, axis).astype(dtype)

    return forward


argmax = reduction(
    "argmax", _position(np.ndarray.argmax), no_derivative,
    infer=_without_axis,
)  # fmt: skip
argmin = reduction(
    "argmin", _position(np.ndarray.argmin), no_derivative,
    infer=_without_axis,
)  # fmt: skip

# ---- logsumexp -----------------------------------------------------------------------------------


@no_warnings
def _logsumexp(x, *, axis, keepdims):
    top = np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf)
    top = choose.masked(top, np.isfinite(top))
    total = np.log(added(np.exp(x - top), axis, keepdims=True)) + top
    return total if keepdims else total.squeeze(axis)


def _logsumexp_vjp(g, x, y, axis, keepdims):
    """Return g * softmax(x).

    exp(x - y) is divided by its sum, because `y` is rounded: for y = 10,000 in float32 the sum
    differs from 1 by a thousandth.
    """
    shares = exp(x - restore(y, axis, keepdims))
    total = reduce_sum(shares, axis=axis, keepdims=True)
    # If x is infinite, the sum is NaN; replace it by 1.
    total = select(equal(total, total), total, 1.0)
    return restore(g, axis, keepdims) * (shares / total)


reduce_logsumexp = reduction("reduce_logsumexp", _logsumexp, _logsumexp_vjp)

# ---- cumulative sums and products, and the product -----------------------------------------------
# The derivative rules multiply cumulative products instead of dividing, because factors may be 0.


def shifted(x, *, axis, reverse=False, fill=0):
    """Shift `x` by one element along `axis` (`reverse`: towards the start), filling with `fill`."""
    shape = tuple(x.shape)
    if not shape[axis]:
        return x
    rest = getitem(x, index=(*(slice(None),) * axis, slice(1, None) if reverse else slice(-1)))
    edge = np.full((*shape[:axis], 1, *shape[axis + 1 :]), fill, np_dtype(x))
    return concat(rest, edge, axis=axis) if reverse else concat(edge, rest, axis=axis)


def _cumulative(function):
    @no_warnings
    def forward(x, *, axis, reverse):
        if reverse:
            return forwards(np.flip(function(np.flip(x, axis), axis, dtype=x.dtype), axis))
        return function(x, axis, dtype=x.dtype)

    return forward


cumsum = reduction(
    "cumsum", _cumulative(np.cumsum),
    lambda g, axis, reverse: cumsum(g, axis=axis, reverse=not reverse),
    infer=lambda x, **_: (x.shape, x.dtype),
)  # fmt: skip


def _linear_scan(a, b, *, axis, reverse):
    a, b = (np.moveaxis(v, axis, 0) for v in (a, b))
    y = np.empty(b.shape, b.dtype)
    value = np.zeros(b.shape[1:], b.dtype)
    for k in range(len(y) - 1, -1, -1) if reverse else range(len(y)):
        value = a[k] * value + b[k]
        y[k] = value
    return np.moveaxis(y, 0, axis)


def _scan_back(g, a, axis, reverse):
    return linear_scan(
        shifted(a, axis=axis, reverse=not reverse), g, axis=axis, reverse=not reverse
    )


# `linear_scan` computes y[k] = a[k] y[k-1] + b[k], or a[k] y[k+1] + b[k] if `reverse`, starting
# from 0.
linear_scan = Op(
    "linear_scan", _linear_scan,
    lambda g, y, a, axis, reverse: (
        _scan_back(g, a, axis, reverse) * shifted(y, axis=axis, reverse=reverse)
    ),
    lambda g, a, axis, reverse: _scan_back(g, a, axis, reverse),
    infer=lambda a, b, **_: (b.shape, b.dtype),
)  # fmt: skip


def _before(x, axis, reverse):
    """Return for each element the product of those before it; of those after it if `reverse`."""
    return cumprod(shifted(x, axis=axis, reverse=reverse, fill=1), axis=axis, reverse=reverse)


cumprod = reduction(
    "cumprod", _cumulative(np.cumprod),
    lambda g, x, axis, reverse: _before(x, axis, reverse) * _scan_back(g, x, axis, reverse),
    infer=lambda x, **_: (x.shape, x.dtype),
)  # fmt: skip


@no_warnings
def _cumulative_logsumexp(x, *, axis, reverse):
    if reverse:
        return forwards(np.flip(np.logaddexp.accumulate(np.flip(x, axis), axis), axis))
    return np.logaddexp.accumulate(x, axis)


def _cumulative_logsumexp_vjp(g, x, y, axis, reverse):
    """Return exp(x[j]) * sum over k >= j of g[k] exp(-y[k]), scaled so that nothing overflows."""
    after = shifted(y, axis=axis, reverse=not reverse, fill=np.inf)
    step = exp(_excess(y, after))
    return linear_scan(step, g, axis=axis, reverse=not reverse) * exp(_excess(x, y))


def _excess(a, b):
    """Return a - b for a <= b; if both are infinite, return -inf for -inf and 0 for inf."""
    return select(equal(a, np.inf), 0.0, a - select(equal(b, -np.inf), 0.0, b))


# `cumulative_logsumexp` is the logarithm of the cumulative sum of exp(x).
cumulative_logsumexp = reduction(
    "cumulative_logsumexp", no_warnings(_cumulative_logsumexp), _cumulative_logsumexp_vjp,
    infer=lambda x, **_: (x.shape, x.dtype),
)  # fmt: skip


def _prod(x, *, axis, keepdims):
    return np.multiply.reduce(x, axis=axis, keepdims=keepdims, dtype=x.dtype)


def _prod_vjp(g, x, axis, keepdims):
    """Multiply the cotangent by the product of all elements before and all after each element."""
    shape = tuple(x.shape)
    rest = tuple(i for i in range(len(shape)) if i not in axis)
    moved = transpose(x, perm=rest + axis)
    kept = tuple(shape[i] for i in rest)
    rows = reshape(moved, shape=(*kept, _count(shape, axis)))
    others = _before(rows, len(rest), False) * _before(rows, len(rest), True)
    others = reshape(others, shape=tuple(shape[i] for i in rest + axis))
    back = transpose(others, perm=tuple(int(i) for i in np.argsort(rest + axis)))
    return restore(g, axis, keepdims) * back


reduce_prod = reduction("reduce_prod", _prod, _prod_vjp)
