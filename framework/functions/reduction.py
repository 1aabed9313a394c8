"""Reductions, argmax and argmin, and cumulative sums and products.

>>> import framework as tf
>>> tf.reduce_sum([[1.0, 2.0], [3.0, 4.0]], axis=0).numpy()
array([4., 6.], dtype=float32)
"""

from typing import Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import Axis, DTypeLike, TensorLike
from framework.core.axes import all_axes, one_axis
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, refused_strings
from framework.core.promotion import floating
from framework.core.tensor import Tensor
from framework.functions.wrappers import NUMBERS, Rule, Wrappers, floats
from framework.ops import elementwise
from framework.ops import reduction as ops
from framework.ops.casting import like, widened
from framework.ops.complex import is_complex, squared_size

tf = Wrappers(__name__)


def _boolean(x, name):
    x = tensor(x)
    if not x.dtype.is_bool:
        raise DTypeError(f"{name}: expected booleans, got {x.dtype}. Compare first, or cast.")
    return x


def _numeric(x, name):
    x = tensor(x)
    if x.dtype.is_bool:
        raise DTypeError(
            f"{name}: expected numbers, got bool. Cast first, as tf.cast(x, tf.float32), or call "
            "reduce_any or reduce_all."
        )
    if x.dtype == "string":
        raise refused_strings(name)
    return x


booleans = Rule(_boolean, "b", named=True)
numbers = Rule(_numeric, NUMBERS, named=True)

reduce_sum = tf.reduction(ops.reduce_sum, "the sum {over}", numbers)
reduce_mean = tf.reduction(
    ops.reduce_mean, "the mean {over}; for integers its integer part, as in TensorFlow", numbers
)
reduce_max = tf.reduction(
    ops.reduce_max, "the largest element {over}; ties share the gradient evenly", numbers
)
reduce_min = tf.reduction(
    ops.reduce_min, "the smallest element {over}; ties share the gradient evenly", numbers
)
reduce_prod = tf.reduction(ops.reduce_prod, "the product {over}", numbers)
reduce_any = tf.reduction(ops.reduce_any, "whether any element is true, {over}", booleans)
reduce_all = tf.reduction(ops.reduce_all, "whether all elements are true, {over}", booleans)
reduce_logsumexp = tf.reduction(
    ops.reduce_logsumexp, "log(sum(exp({x}))) {over}, without overflow", floats
)


def reduce_variance(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the variance (the divisor is n, not n - 1); real for complex numbers too."""
    x = floating(input_tensor, "reduce_variance")
    variance = _variance(widened(x), axis, keepdims, "reduce_variance")
    return variance if is_complex(x) else like(variance, x)


def _variance(x, axis, keepdims, what):
    axis = all_axes(axis, x.ndim, what)
    mean = ops.reduce_mean(x, axis=axis, keepdims=True)
    return ops.reduce_mean(squared_size(x - mean), axis=axis, keepdims=bool(keepdims))


def reduce_std(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the standard deviation; where it is 0, its gradient is 0 (TensorFlow's is NaN)."""
    x = floating(input_tensor, "reduce_std")
    deviation = elementwise.root(_variance(widened(x), axis, keepdims, "reduce_std"))
    return deviation if is_complex(x) else like(deviation, x)


def reduce_euclidean_norm(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the square root of the sum of |x|² over the axes in `axis`."""
    x = tensor(input_tensor)
    axis = all_axes(axis, x.ndim, "reduce_euclidean_norm")
    total = ops.reduce_sum(squared_size(x), axis=axis, keepdims=bool(keepdims))
    length = elementwise.sqrt(floating(total, "reduce_euclidean_norm"))
    return cast(length, dtype=x.dtype.np) if is_complex(x) else length


def count_nonzero(
    input: TensorLike, axis: Axis = None, keepdims: Any = None, dtype: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Count the nonzero elements over the axes in `axis`."""
    x = tensor(input)
    axis = all_axes(axis, x.ndim, "count_nonzero")
    ones = cast(cast(x, dtype=np.dtype(bool)), dtype=dtypes.as_dtype(dtype).np)
    return ops.reduce_sum(ones, axis=axis, keepdims=bool(keepdims))


def zero_fraction(value: TensorLike, name: str | None = None) -> Tensor:
    """Return the fraction of elements that are zero, float32."""
    x = tensor(value)
    zeros = cast(elementwise.equal(x, np.zeros((), x.dtype.np)), dtype=np.dtype(np.float32))
    return ops.reduce_mean(zeros, axis=all_axes(None, x.ndim, "zero_fraction"), keepdims=False)


# ---- arguments of extremes -----------------------------------------------------------------------


def argmax(
    input: TensorLike, axis: Axis = None, output_type: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the index of the (first) largest element along `axis`, by default 0.

    >>> import framework as tf
    >>> tf.argmax([[1, 5, 2], [7, 0, 3]], axis=1).numpy()
    array([1, 0])
    """
    return _position(ops.argmax, input, axis, output_type, "argmax")


def argmin(
    input: TensorLike, axis: Axis = None, output_type: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the index of the (first) smallest element along `axis`, by default 0."""
    return _position(ops.argmin, input, axis, output_type, "argmin")


def _position(op, x, axis, output_type, what):
    x = tensor(x)
    axis = one_axis(0 if axis is None else axis, x.ndim, what)
    return op(x, axis=axis, dtype=dtypes.as_dtype(output_type).np)


# ---- cumulative ----------------------------------------------------------------------------------


def cumsum(
    x: TensorLike, axis: Axis = 0, exclusive: bool = False, reverse: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the cumulative sum along `axis`.

    Args:
        x: a tensor.
        axis: an int.
        exclusive: exclude each element from its own sum.
        reverse: sum from the end.

    >>> import framework as tf
    >>> tf.cumsum([1, 2, 3]).numpy(), tf.cumsum([1, 2, 3], exclusive=True).numpy()
    (array([1, 3, 6], dtype=int32), array([0, 1, 3], dtype=int32))
    """
    return _along(ops.cumsum, _numeric(x, "cumsum"), axis, exclusive, reverse, 0, "cumsum")


def cumprod(
    x: TensorLike, axis: Axis = 0, exclusive: bool = False, reverse: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the cumulative product along `axis`; the arguments are those of `cumsum`.

    >>> import framework as tf
    >>> tf.math.cumprod([2, 3, 4]).numpy(), tf.math.cumprod([2, 3, 4], exclusive=True).numpy()
    (array([ 2,  6, 24], dtype=int32), array([1, 2, 6], dtype=int32))
    """
    return _along(ops.cumprod, _numeric(x, "cumprod"), axis, exclusive, reverse, 1, "cumprod")


def cumulative_logsumexp(
    x: TensorLike, axis: Axis = 0, exclusive: bool = False, reverse: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return log(cumsum(exp(x))) without overflow; the arguments are those of `cumsum`."""
    x = floating(x, "cumulative_logsumexp")
    return _along(
        ops.cumulative_logsumexp, x, axis, exclusive, reverse, -np.inf, "cumulative_logsumexp"
    )


def _along(op, x, axis, exclusive, reverse, neutral, what):
    """Apply a cumulative op along an axis; `exclusive` shifts its result by one element."""
    axis = one_axis(axis, x.ndim, what)
    y = op(x, axis=axis, reverse=bool(reverse))
    return ops.shifted(y, axis=axis, reverse=bool(reverse), fill=neutral) if exclusive else y
