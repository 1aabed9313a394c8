"""keras.ops for neural networks: activations, losses, normalization, attention."""

from typing import Any

import numpy as np

from framework import activations
from framework.core.argument_types import Axis, TensorLike
from framework.core.axes import all_axes, one_axis
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.dtypes import epsilon as default_epsilon
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.promotion import promote
from framework.core.tensor import Tensor
from framework.keras.ops.argument_conversion import as_dtype, floating
from framework.keras.ops.reduction import moments
from framework.losses import classification
from framework.ops import attention, ctc, elementwise, losses, movement, norm, reduction
from framework.ops.casting import like, widened

_INT64 = np.dtype(np.int64)


def relu(x: TensorLike) -> Tensor:
    """Return max(x, 0)."""
    return activations.relu(x)


def gelu(x: TensorLike, approximate: bool = True) -> Tensor:
    """Return x times the normal distribution function at x, or its tanh approximation."""
    return activations.gelu(x, approximate)


def binary_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False
) -> Tensor:
    """Return the cross-entropy of probabilities for each element.

    >>> from framework import keras
    >>> loss = keras.ops.binary_crossentropy([0.0, 1.0], [0.5, 0.5])
    >>> [round(float(x), 4) for x in loss]
    [0.6931, 0.6931]
    """
    target, output = _matched(target, output, "binary_crossentropy")
    if from_logits:
        return losses.sigmoid_cross_entropy(output, target)
    p = elementwise.clip(output, default_epsilon(), 1.0 - default_epsilon())
    return elementwise.negative(
        target * elementwise.log(p) + (1.0 - target) * elementwise.log(1.0 - p)
    )


def _matched(target, output, what):
    output = floating(output)
    target = as_dtype(target, output.dtype)
    if tuple(target.shape) != tuple(output.shape):
        raise ShapeError(
            f"{what}: target and output must have the same shape, got {target.shape} and "
            f"{output.shape}."
        )
    return target, output


def categorical_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False, axis: Axis = -1,
) -> Tensor:  # fmt: skip
    """Return the cross-entropy of distributions along `axis`."""
    target, output = _matched(target, output, "categorical_crossentropy")
    return classification.categorical_crossentropy(target, output, from_logits, axis=axis)


@operation
def sparse_categorical_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False, axis: Axis = -1,
) -> Tensor:  # fmt: skip
    """Return the cross-entropy of integer classes and distributions along `axis`."""
    target, output = tensor(target), floating(output)
    return classification.sparse_categorical_crossentropy(target, output, from_logits, axis=axis)


@operation
def ctc_loss(
    target: TensorLike, output: TensorLike, target_length: TensorLike, output_length: TensorLike,
    mask_index: int = 0,
) -> Tensor:  # fmt: skip
    """Return the loss of connectionist temporal classification: -log P(all alignments).

    Graves et al. 2006. The result is float32, or float64 for logits of float64.

    Args:
        target: integer classes of shape (batch, labels).
        output: logits of shape (batch, steps, classes).
        target_length: the number of labels of each sequence, of shape (batch,).
        output_length: the number of steps of each sequence, of shape (batch,).
        mask_index: the class of the blank.

    Example:
        >>> from framework import keras
        >>> logits = [[[0.0, 2.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 2.0]]]
        >>> keras.ops.ctc_loss([[1, 2]], logits, [2], [3]).numpy().round(4)
        array([0.4233], dtype=float32)
    """
    numbers = (cast(tensor(x), dtype=_INT64) for x in (target, target_length, output_length))
    return ctc.of_logits(widened(floating(output)), *numbers, mask_index)


def normalize(x: TensorLike, axis: Axis = -1, order: Any = 2, epsilon: Any = None) -> Tensor:
    """Return x divided by its norm of `order`, an integer from 1 on, along `axis`."""
    if not isinstance(order, (int, np.integer)) or order < 1:
        raise InvalidArgumentError(
            f"normalize: `order` must be an integer of at least 1, got {order!r}. For the largest "
            "magnitude divide by ops.max(ops.abs(x), axis, keepdims=True)."
        )
    x = floating(x)
    wide, axis = widened(x), all_axes(axis, x.ndim, "normalize")
    least = default_epsilon() if epsilon is None else epsilon
    if order == 2:
        return norm.unit(x, axis, least**2)
    total = reduction.reduce_sum(
        elementwise.power(elementwise.absolute(wide), order), axis=axis, keepdims=True
    )
    return like(wide / elementwise.maximum(elementwise.power(total, 1.0 / order), least), x)


@operation
def layer_normalization(
    x: TensorLike, gamma: TensorLike = None, beta: TensorLike = None, axis: Axis = -1,
    epsilon: Any = None, **kwargs: Any,
) -> Tensor:  # fmt: skip
    """Return (x - mean) / sqrt(variance + epsilon) * gamma + beta; the moments are over `axis`.

    `epsilon` is `keras.config.epsilon()` by default. 16-bit floats are computed in float32.
    """
    x = floating(x)
    wide = widened(x)
    mean, variance = moments(wide, axis, keepdims=True)
    normal = (wide - mean) * elementwise.rsqrt(
        variance + (default_epsilon() if epsilon is None else epsilon)
    )
    if gamma is not None:
        normal = elementwise.multiply(*promote(normal, _along(gamma, x, axis)))
    normal = normal if beta is None else elementwise.add(*promote(normal, _along(beta, x, axis)))
    return like(normal, x)


@operation
def batch_normalization(
    x: TensorLike, mean: TensorLike, variance: TensorLike, axis: Axis, offset: TensorLike = None,
    scale: TensorLike = None, epsilon: Any = 1e-3,
) -> Tensor:  # fmt: skip
    """Return (x - mean) / sqrt(variance + epsilon) * scale + offset, with vectors along `axis`."""
    x = floating(x)
    mean, variance = (_along(floating(v), x, axis) for v in (mean, variance))
    x, mean, variance = promote(x, mean, variance)
    normal = (x - mean) * elementwise.rsqrt(variance + epsilon)
    if scale is not None:
        normal = elementwise.multiply(*promote(normal, _along(scale, x, axis)))
    return normal if offset is None else elementwise.add(*promote(normal, _along(offset, x, axis)))


def _along(vector, x, axis):
    """Reshape `vector`, which has the axes in `axis`, to broadcast against x."""
    vector = tensor(vector)
    axes = [one_axis(a, x.ndim, "normalization") for a in
            (axis if isinstance(axis, (list, tuple)) else [axis])]  # fmt: skip
    if vector.ndim != len(axes):
        return vector
    shape = [1] * x.ndim
    for size, a in zip(vector.shape, axes):
        shape[a] = size
    return movement.reshape(vector, shape=tuple(shape))


@operation
def dot_product_attention(
    query: TensorLike, key: TensorLike, value: TensorLike, bias: TensorLike = None,
    mask: TensorLike = None, scale: TensorLike = None, is_causal: bool = False,
    flash_attention: Any = None, attn_logits_soft_cap: Any = None,
) -> Tensor:  # fmt: skip
    """Return the values weighted by softmax(scale * query @ key + bias), for each head.

    Without `attn_logits_soft_cap` no scores are stored: memory is linear in the length.

    Args:
        query: (batch, queries, heads, width).
        key, value: (batch, keys, heads, width); the value's width may differ. If the query has
            a multiple of their heads, consecutive heads of the query share a key and a value.
        bias: floats that broadcast to (batch, heads, queries, keys).
        mask: booleans of a shape like `bias`, False where a query must not read a key. A query that
            reads no key gets the mean of the values.
        scale: by default 1 / sqrt(width).
        is_causal: whether each query reads only keys up to its own position.
        flash_attention: ignored.
        attn_logits_soft_cap: scores s become s / (1 + |s| / cap), before bias and mask.

    Raises:
        ValueError: the shapes do not fit together.

    >>> import numpy as np
    >>> from framework import keras
    >>> x = np.ones((1, 4, 2, 3), "float32")
    >>> keras.ops.dot_product_attention(x, x, x, is_causal=True).shape
    TensorShape([1, 4, 2, 3])
    """
    query, key, value = promote(*(floating(x) for x in (query, key, value)))
    shapes = [tuple(x.shape) for x in (query, key, value)]
    if [len(s) for s in shapes] != [4] * 3:
        raise ShapeError(
            "`dot_product_attention` only supports 4D inputs. Received: "
            f"query.shape={shapes[0]}, key.shape={shapes[1]}, value.shape={shapes[2]}."
        )
    heads = shapes[0][2]
    if shapes[1][2] != heads or shapes[2][2] != heads:
        key, value = _for_heads(key, heads), _for_heads(value, heads)
    bias = None if bias is None else _four_axes(as_dtype(bias, query.dtype))
    mask = None if mask is None else _four_axes(as_dtype(mask, "bool"))
    scale = shapes[0][-1] ** -0.5 if scale is None else float(scale)
    settings = {"scale": scale, "causal": bool(is_causal)}
    if attn_logits_soft_cap is not None:
        cap = float(attn_logits_soft_cap)
        attention.attention.check(query, key, value, bias, mask)
        return attention.composite(query, key, value, bias, mask, **settings, cap=cap)
    return attention.attention(query, key, value, bias, mask, **settings)


def _for_heads(x, heads):
    """Repeat keys or values for `heads` query heads (Ainslie et al. 2023, arXiv:2305.13245)."""
    own = x.shape[2]
    if own in (heads, 0, None) or heads is None or heads % own:
        # Equal numbers of heads need no repetition. The attention op raises an error for numbers
        # that do not fit.
        return x
    return movement.gather(x, np.repeat(np.arange(own), heads // own), axis=2)


def _four_axes(x):
    return movement.expand_axes(x, tuple(range(4 - x.ndim))) if x.ndim < 4 else x
