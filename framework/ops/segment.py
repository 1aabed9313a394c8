"""Segment ops: the rows of `x` with the same id in `ids` form a segment.

The axes of `ids` are the leading axes of `x`. A row with a negative id is in no segment. `count` is
the number of segments.
"""

import numpy as np

from framework.core.cast import cast
from framework.core.op import Op, movement, no_derivative
from framework.kernels import segments
from framework.ops.elementwise import divide, equal, logical_not, masked, multiply, select
from framework.ops.movement import reshape
from framework.ops.reduction import np_dtype


def _infer(x, ids, *, count):
    return (count, *x.shape[len(ids.shape) :]), x.dtype


segment_sum = movement(
    "segment_sum", segments.segment_sum, lambda g, ids: segment_take(g, ids), no_derivative,
    infer=_infer, raises=True,
)  # fmt: skip
segment_take = movement(
    "segment_take", segments.segment_take,
    lambda g, ids, x_shape: segment_sum(g, ids, count=x_shape[0]), no_derivative,
    infer=lambda x, ids: ((*ids.shape, *x.shape[1:]), x.dtype), raises=True,
)  # fmt: skip


def _as_like(x, other):
    return cast(x, dtype=np_dtype(other))


def _extreme_vjp(g, y, x, ids, count):
    """Divide the cotangent evenly among the elements that equal their segment's extreme."""
    chosen = equal(x, segment_take(y, ids))
    ways = segment_sum(_as_like(chosen, g), ids, count=count)
    share = divide(g, select(equal(ways, 0), _as_like(1.0, g), ways))
    return masked(segment_take(share, ids), chosen)


def _prod_vjp(g, x, ids, count):
    """Multiply the cotangent by the product of the segment's other rows, without dividing by zeros.

    If the segment contains a 0, the mixed second derivatives of two rows are missing.
    """
    zero = equal(x, 0)
    zeros = segment_take(segment_sum(_as_like(zero, g), ids, count=count), ids)
    safe = select(zero, _as_like(1.0, x), x)
    product = segment_take(segment_prod(safe, ids, count=count), ids)
    others = masked(divide(product, safe), equal(zeros, _as_like(zero, g)))
    return multiply(segment_take(g, ids), others)


segment_max = Op(
    "segment_max", segments.over(np.maximum, segments.lowest), _extreme_vjp, no_derivative,
    infer=_infer, raises=True,
)  # fmt: skip
segment_min = Op(
    "segment_min", segments.over(np.minimum, segments.highest), _extreme_vjp, no_derivative,
    infer=_infer, raises=True,
)  # fmt: skip
segment_prod = Op(
    "segment_prod", segments.over(np.multiply, lambda dtype: 1), _prod_vjp, no_derivative,
    infer=_infer, raises=True,
)  # fmt: skip


def segment_sizes(ids, count, dtype):
    """Return the number of rows of each segment."""
    return segment_sum(np.ones(ids.shape, dtype), ids, count=count)


def where_empty(y, ids, count, value):
    """Return `y` with `value` in the segments that have no rows."""
    sizes = segment_sizes(ids, count, np.dtype(np.int32))
    sizes = reshape(sizes, shape=(count, *(1,) * (len(y.shape) - 1)))
    return select(logical_not(equal(sizes, 0)), y, _as_like(value, y))
