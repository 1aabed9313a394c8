"""Isotonic regression: the monotonic sequence with the least squared distance."""

from typing import Any, NamedTuple

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.axes import one_axis
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.operations import operation
from framework.core.tensor import Tensor
from framework.ops import isotonic as ops
from framework.ops.elementwise import negative
from framework.ops.movement import transpose


class IsotonicRegression(NamedTuple):
    """The result of `isotonic_regression`."""

    output: Tensor
    segments: Tensor


@operation
def isotonic_regression(
    inputs: TensorLike, decreasing: bool = True, axis: Any = -1
) -> IsotonicRegression:
    """Return the monotonic sequences with the least squared distance from `inputs`.

    Args:
        inputs: numbers; integers are converted to float64.
        decreasing: whether the sequences fall; otherwise they rise.
        axis: the axis of the sequences.

    Returns:
        (output, segments): the sequences, and int32 ids, equal for elements that were replaced by
        their common mean.

    >>> import framework as tf
    >>> output, segments = tf.nn.isotonic_regression([3.0, 1.0, 2.0, 0.0])
    >>> output.numpy(), segments.numpy()
    (array([3. , 1.5, 1.5, 0. ], dtype=float32), array([0, 1, 1, 2], dtype=int32))
    """
    x = tensor(inputs)
    if x.dtype.is_integer:
        x = cast(x, dtype=np.dtype(np.float64))
    axis, last = one_axis(axis, x.ndim, "isotonic_regression"), x.ndim - 1
    order = (*(i for i in range(last + 1) if i != axis), axis)
    back = tuple(np.argsort(order).tolist())
    x = x if axis == last else transpose(x, perm=order)
    y, steps = ops.isotonic(x if decreasing else negative(x))
    y = y if decreasing else negative(y)
    if axis != last:
        y, steps = (transpose(v, perm=back) for v in (y, steps))
    return IsotonicRegression(y, steps)
