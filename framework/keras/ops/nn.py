"""keras.ops for neural networks: activations, losses, normalization."""

from framework.activations import (
    celu as celu, elu as elu, gelu as _gelu, glu as glu, hard_shrink as hard_shrink,
    hard_sigmoid as hard_sigmoid, hard_silu as hard_silu, hard_silu as hard_swish,
    hard_tanh as hard_tanh, log_sigmoid as log_sigmoid, log_softmax as log_softmax,
    relu as _relu, relu6 as relu6, leaky_relu as leaky_relu, selu as selu, sigmoid as sigmoid,
    silu as silu, silu as swish, soft_shrink as soft_shrink, softmax as softmax,
    softplus as softplus, softsign as softsign, sparse_plus as sparse_plus,
    sparse_sigmoid as sparse_sigmoid, squareplus as squareplus, tanh_shrink as tanh_shrink,
    threshold as threshold,
)  # fmt: skip
from framework.core.axes import all_axes, one_axis
from framework.core.doors import promote as _promote, tensor as _tensor
from framework.core.dtypes import epsilon as _epsilon
from framework.core.errors import ShapeError as _ShapeError
from framework.keras.ops.arrays import one_hot as one_hot
from framework.keras.ops.convolution import (
    conv as conv, conv_transpose as conv_transpose, depthwise_conv as depthwise_conv,
    separable_conv as separable_conv,
)  # fmt: skip
from framework.keras.ops.door import as_dtype as _as_dtype, floating as _floating
from framework.keras.ops.reduction import moments as moments
from framework.ops import elementwise as _e, losses as _losses, movement as _m, reduction as _r


def relu(x):
    """max(x, 0)."""
    return _relu(x)


def gelu(x, approximate=True):
    """x times the probability that a normal number is below x; by tanh where `approximate`."""
    return _gelu(x, approximate)


def binary_crossentropy(target, output, from_logits=False):
    """The cross-entropy of probabilities, element by element.

    >>> from framework import keras
    >>> loss = keras.ops.binary_crossentropy([0.0, 1.0], [0.5, 0.5])
    >>> [round(float(x), 4) for x in loss]
    [0.6931, 0.6931]
    """
    target, output = _matched(target, output, "binary_crossentropy")
    if from_logits:
        return _losses.sigmoid_cross_entropy(output, target)
    p = _e.clip(output, _epsilon(), 1.0 - _epsilon())
    return _e.negative(target * _e.log(p) + (1.0 - target) * _e.log(1.0 - p))


def _matched(target, output, what):
    output = _floating(output)
    target = _as_dtype(target, output.dtype)
    if tuple(target.shape) != tuple(output.shape):
        raise _ShapeError(
            f"{what}: target and output must have one shape, got {target.shape} and {output.shape}."
        )
    return target, output


def categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """The cross-entropy of distributions along `axis`."""
    target, output = _matched(target, output, "categorical_crossentropy")
    return _losses.categorical_crossentropy(target, output, from_logits, axis=axis)


def sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """The cross-entropy of class numbers and distributions along `axis`."""
    target, output = _tensor(target), _floating(output)
    return _losses.sparse_categorical_crossentropy(target, output, from_logits, axis=axis)


def normalize(x, axis=-1, order=2, epsilon=None):
    """x divided by its norm of `order` along `axis`."""
    x = _floating(x)
    axis = all_axes(axis, x.ndim, "normalize")
    least = _epsilon() if epsilon is None else epsilon
    if order == 2:
        total = _r.reduce_sum(_e.square(x), axis=axis, keepdims=True)
        return x * _e.rsqrt(_e.maximum(total, least**2))
    size = _e.absolute(x)
    total = _r.reduce_sum(_e.power(size, order), axis=axis, keepdims=True)
    return x / _e.maximum(_e.power(total, 1.0 / order), least)


def layer_normalization(x, gamma=None, beta=None, axis=-1, epsilon=None, **kwargs):
    """(x - mean) / sqrt(variance + epsilon) over `axis`, times gamma, plus beta."""
    x = _floating(x)
    mean, variance = moments(x, axis, keepdims=True)
    normal = (x - mean) * _e.rsqrt(variance + (1e-3 if epsilon is None else epsilon))
    if gamma is not None:
        normal = _e.multiply(*_promote(normal, _along(gamma, x, axis)))
    return normal if beta is None else _e.add(*_promote(normal, _along(beta, x, axis)))


def batch_normalization(x, mean, variance, axis, offset=None, scale=None, epsilon=1e-3):
    """(x - mean) / sqrt(variance + epsilon) * scale + offset, all vectors along `axis`."""
    x = _floating(x)
    mean, variance = _along(mean, x, axis), _along(variance, x, axis)
    normal = (x - mean) * _e.rsqrt(variance + epsilon)
    if scale is not None:
        normal = _e.multiply(*_promote(normal, _along(scale, x, axis)))
    return normal if offset is None else _e.add(*_promote(normal, _along(offset, x, axis)))


def _along(vector, x, axis):
    """`vector`, whose axes are those in `axis`, shaped to broadcast against x."""
    vector = _tensor(vector)
    axes = [one_axis(a, x.ndim, "normalization") for a in
            (axis if isinstance(axis, (list, tuple)) else [axis])]  # fmt: skip
    if vector.ndim != len(axes):
        return vector
    shape = [1] * x.ndim
    for size, a in zip(vector.shape, axes):
        shape[a] = size
    return _m.reshape(vector, shape=tuple(shape))
