"""Clip gradients by norm, by value or by global norm; on arrays or tensors."""

import numpy as np

from framework.core.cast import cast
from framework.core.tensor import Tensor
from framework.ops.elementwise import clip, maximum, sqrt, square
from framework.ops.reduction import reduce_sum


def by_norm(grad, limit):
    """Return `grad` scaled down to an L2 norm of at most `limit`."""
    return grad * (limit / maximum(norm(grad), limit))


def by_value(grad, limit):
    """Return `grad` with its elements clipped to [-limit, limit]."""
    return clip(grad, -limit, limit)


def by_global_norm(grads, limit):
    """Return `grads` scaled by one factor so that their global L2 norm is at most `limit`.

    As in TensorFlow, all gradients become NaN if the norm is not finite.
    """
    total = global_norm(grads)
    scale = limit / maximum(total, limit)
    scale = scale + (total - total)
    return [g * _like(scale, g) for g in grads]


def norm(x):
    """Return the L2 norm of all elements as a 0-d value."""
    squares = square(x)
    return sqrt(reduce_sum(squares, axis=tuple(range(len(x.shape))), keepdims=False))


def global_norm(grads):
    """Return sqrt(sum of norm(g)**2) in float32 or wider, 0-d."""
    total = None
    for g in grads:
        part = square(norm(_widened(g)))
        total = part if total is None else total + part
    return sqrt(total)


def _widened(x):
    array = x.array if type(x) is Tensor else x
    return cast(x, dtype=np.dtype(np.float32)) if array.dtype.itemsize < 4 else x


def _like(scale, grad):
    dtype = (grad.array if type(grad) is Tensor else grad).dtype
    scale_dtype = (scale.array if type(scale) is Tensor else scale).dtype
    return scale if scale_dtype == dtype else cast(scale, dtype=dtype)
