"""Clipping gradients by norm, by value and by the norm of all; on arrays and on tensors."""

import numpy as np

from framework.core.doors import cast
from framework.core.tensor import Tensor
from framework.ops.elementwise import clip, maximum, sqrt, square
from framework.ops.reduction import reduce_sum


def by_norm(grad, limit):
    """`grad` scaled down to at most this L2 norm."""
    return grad * (limit / maximum(norm(grad), limit))


def by_value(grad, limit):
    """`grad` with its elements clipped to [-limit, limit]."""
    return clip(grad, -limit, limit)


def by_global_norm(grads, limit):
    """All of `grads` scaled down together to at most this L2 norm.

    A norm that is not finite makes all gradients nan, as in TensorFlow.
    """
    total = global_norm(grads)
    scale = limit / maximum(total, limit)
    scale = scale + (total - total)
    return [g * _like(scale, g) for g in grads]


def norm(x):
    """The L2 norm of all elements, 0-d."""
    squares = square(x)
    return sqrt(reduce_sum(squares, axis=tuple(range(len(x.shape))), keepdims=False))


def global_norm(grads):
    """sqrt(sum of norm(g)**2), in float32 or wider, 0-d."""
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
    have = (scale.array if type(scale) is Tensor else scale).dtype
    return scale if have == dtype else cast(scale, dtype=dtype)
