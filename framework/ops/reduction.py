"""Reductions. `axis` is a sorted tuple of non-negative axes; `keepdims` a bool."""

import math

import numpy as np

from framework.core.doors import cast
from framework.core.op import no_derivative, reduction
from framework.ops.elementwise import equal, exp
from framework.ops.movement import broadcast_to, expand_axes, reshape, transpose


def restore(g, axis, keepdims):
    """A reduced value with its reduced axes put back as size 1."""
    return g if keepdims else expand_axes(g, axis)


def _spread(g, x_shape, axis, keepdims):
    if len(axis) < len(x_shape):  # a 0-d cotangent spreads over any shape as it is
        g = restore(g, axis, keepdims)
    return broadcast_to(g, shape=x_shape)


def _count(shape, axis):
    return math.prod(shape[i] for i in axis)


def _sum(x, *, axis, keepdims):
    # small integers add up in their own type, as in TensorFlow; NumPy would widen them
    return np.add.reduce(x, axis=axis, keepdims=keepdims, dtype=x.dtype)


def _mean(x, *, axis, keepdims):
    total = np.add.reduce(x, axis=axis, keepdims=keepdims, dtype=x.dtype)
    n = _count(x.shape, axis)
    if x.dtype.kind in "iu":
        return total // n
    return total / n if n else np.asarray(total) * np.nan


reduce_sum = reduction("reduce_sum", _sum, _spread)
reduce_mean = reduction(
    "reduce_mean", _mean,
    lambda g, x_shape, axis, keepdims: _spread(
        g / max(_count(x_shape, axis), 1), x_shape, axis, keepdims
    ),
)  # fmt: skip


def _share_of_ties(g, x, y, axis, keepdims):
    """Ties share the gradient evenly."""
    chosen = cast(equal(x, restore(y, axis, keepdims)), dtype=np_dtype(g))
    ways = reduce_sum(chosen, axis=axis, keepdims=True)
    return restore(g, axis, keepdims) * (chosen / ways)


def np_dtype(x):
    """The NumPy dtype of an array or tensor."""
    return getattr(x, "array", x).dtype


def _extreme(ufunc, worst):
    def forward(x, *, axis, keepdims):
        start = worst(x.dtype) if x.size == 0 else np._NoValue
        return ufunc.reduce(x, axis=axis, keepdims=keepdims, initial=start)

    return forward


def _lowest(dtype):
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def _highest(dtype):
    return np.inf if dtype.kind == "f" else np.iinfo(dtype).max


reduce_max = reduction("reduce_max", _extreme(np.maximum, _lowest), _share_of_ties)
reduce_min = reduction("reduce_min", _extreme(np.minimum, _highest), _share_of_ties)


def _products_of_others(x, axis):
    """For each element the product of all others along the last axis, zeros and all."""
    ones = np.ones((*x.shape[:-1], 1), x.dtype)
    before = np.cumprod(np.concatenate([ones, x[..., :-1]], -1), -1)
    after = np.cumprod(np.concatenate([ones, x[..., :0:-1]], -1), -1)[..., ::-1]
    return before * after


def _prod_vjp(g, x, axis, keepdims):
    """Exact with zeros in x: cumulative products from both sides, never a division."""
    rest = tuple(i for i in range(len(x.shape)) if i not in axis)
    moved = transpose(x, perm=rest + axis)
    kept = tuple(x.shape[i] for i in rest)
    rows = reshape(moved, shape=(*kept, _count(x.shape, axis)))
    others = reshape(others_product(rows), shape=moved.shape)
    back = transpose(others, perm=tuple(int(i) for i in np.argsort(rest + axis)))
    return restore(g, axis, keepdims) * back


def _others_vjp(g, x):
    """d(prod of others of i)/dx_j = product of all but i and j."""
    n = x.shape[-1]
    total = None
    for j in range(n):
        # column j of the Jacobian: the others' product of x with x_j set to one, but entry j is 0
        pick = np.arange(n) == j
        ones = cast(pick, dtype=np_dtype(x))
        replaced = x * (1 - ones) + ones
        rest = others_product(replaced) * (1 - ones)
        term = reduce_sum(g * rest, axis=(len(x.shape) - 1,), keepdims=True) * ones
        total = term if total is None else total + term
    return g * 0 if total is None else total


others_product = reduction("others_product", lambda x: _products_of_others(x, -1), _others_vjp)
reduce_prod = reduction(
    "reduce_prod",
    lambda x, *, axis, keepdims: np.multiply.reduce(x, axis=axis, keepdims=keepdims, dtype=x.dtype),
    _prod_vjp,
)

# ---- no derivative -------------------------------------------------------------------------------

reduce_any = reduction(
    "reduce_any", lambda x, *, axis, keepdims: np.any(x, axis=axis, keepdims=keepdims),
    no_derivative,
)  # fmt: skip
reduce_all = reduction(
    "reduce_all", lambda x, *, axis, keepdims: np.all(x, axis=axis, keepdims=keepdims),
    no_derivative,
)  # fmt: skip
argmax = reduction(
    "argmax", lambda x, *, axis, dtype: np.argmax(x, axis).astype(dtype), no_derivative
)
argmin = reduction(
    "argmin", lambda x, *, axis, dtype: np.argmin(x, axis).astype(dtype), no_derivative
)

# ---- with a rule of their own --------------------------------------------------------------------


def _logsumexp(x, *, axis, keepdims):
    with np.errstate(all="ignore"):
        top = np.maximum.reduce(x, axis=axis, keepdims=True, initial=_lowest(x.dtype))
        top = np.where(np.isfinite(top), top, np.zeros_like(top))
        total = np.log(np.add.reduce(np.exp(x - top), axis=axis, keepdims=True)) + top
    return total if keepdims else total.reshape(np.delete(total.shape, axis))


def _logsumexp_vjp(g, x, y, axis, keepdims):
    return restore(g, axis, keepdims) * exp(x - restore(y, axis, keepdims))


reduce_logsumexp = reduction("reduce_logsumexp", _logsumexp, _logsumexp_vjp)


def _cumsum(x, *, axis, reverse):
    if reverse:
        return np.flip(np.cumsum(np.flip(x, axis), axis, dtype=x.dtype), axis)
    return np.cumsum(x, axis, dtype=x.dtype)


cumsum = reduction(
    "cumsum", _cumsum, lambda g, axis, reverse: cumsum(g, axis=axis, reverse=not reverse)
)
