"""TensorFlow's functions for networks: activations, cross-entropies, normalization, dropout."""

from typing import Any, NamedTuple

import numpy as np

from framework import activations
from framework.core import dtypes, random
from framework.core.argument_types import Axis, ShapeLike, TensorLike
from framework.core.axes import all_axes, one_axis
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.operations import always, operation
from framework.core.promotion import floating, real_floating, strict, strict_all
from framework.core.tensor import Tensor
from framework.functions.creation import sizes
from framework.functions.wrappers import number
from framework.ops import elementwise, movement, norm, reduction, rows
from framework.ops.casting import like, widened
from framework.ops.complex import is_complex, squared_size
from framework.ops.losses import sigmoid_cross_entropy

# ---- activations ---------------------------------------------------------------------------------


def _ordered(x, name):
    """Convert to a tensor of real numbers, or raise an error."""
    if type(x) is Tensor and x.array.dtype.kind in "fiu":
        return x
    x = number(x, name)
    return real_floating(x, name) if x.dtype.is_complex else x


def relu(features: TensorLike, name: str | None = None) -> Tensor:
    """Return max(x, 0); the derivative at 0 is 0.

    >>> import framework as tf
    >>> tf.nn.relu([-1.0, 2.0]).numpy()
    array([0., 2.], dtype=float32)
    """
    if type(features) is not Tensor or features.array.dtype not in dtypes.FLOATS:
        features = _ordered(features, "relu")
    return elementwise.relu(features)


def relu6(features: TensorLike, name: str | None = None) -> Tensor:
    """Return min(max(x, 0), 6); the derivative at 0 and at 6 is 0."""
    return elementwise.relu6(_ordered(features, "relu6"))


def leaky_relu(features: TensorLike, alpha: TensorLike = 0.2, name: str | None = None) -> Tensor:
    """Return x where positive, alpha * x elsewhere. Integers become float32."""
    x = tensor(features)
    x = cast(x, dtype=np.dtype(np.float32)) if x.dtype.is_integer else x
    return activations.leaky_relu(real_floating(x, "leaky_relu"), alpha)


def gelu(features: TensorLike, approximate: bool = False, name: str | None = None) -> Tensor:
    """Return x times the standard normal distribution function at x.

    Args:
        features: the tensor x.
        approximate: use tanh instead of erf.
    """
    return activations.gelu(floating(features, "gelu"), approximate=bool(approximate))


def elu(features: TensorLike, name: str | None = None) -> Tensor:
    """Return x where positive, exp(x) - 1 elsewhere."""
    return activations.elu(real_floating(features, "elu"))


def selu(features: TensorLike, name: str | None = None) -> Tensor:
    """Return elu scaled to preserve mean 0 and variance 1 from layer to layer."""
    return activations.selu(real_floating(features, "selu"))


def silu(features: TensorLike, beta: TensorLike = 1.0) -> Tensor:
    """Return x * sigmoid(beta * x)."""
    x = floating(features, "silu")
    if type(beta) in (int, float) and beta == 1:
        return activations.silu(x)
    return elementwise.multiply(x, elementwise.sigmoid(elementwise.multiply(*strict(x, beta))))


swish = silu


def softplus(features: TensorLike, name: str | None = None) -> Tensor:
    """Return log(1 + exp(x)), without overflow."""
    return elementwise.softplus(real_floating(features, "softplus"))


def softsign(features: TensorLike, name: str | None = None) -> Tensor:
    """Return x / (|x| + 1)."""
    return activations.softsign(real_floating(features, "softsign"))


def crelu(features: TensorLike, axis: Axis = -1, name: str | None = None) -> Tensor:
    """Return relu(x) and relu(-x), joined along `axis`."""
    x = _ordered(features, "crelu")
    axis = one_axis(axis, x.ndim, "crelu")
    return elementwise.relu(movement.concat(x, elementwise.negative(x), axis=axis))


def softmax(logits: TensorLike, axis: Axis = None, name: str | None = None) -> Tensor:
    """Return exp(x) / sum(exp(x)) along `axis`, by default the last.

    >>> import framework as tf
    >>> tf.nn.softmax([0.0, 0.0]).numpy()
    array([0.5, 0.5], dtype=float32)
    """
    x = floating(logits, "softmax")
    return rows.softmax(x, axis=one_axis(-1 if axis is None else axis, x.ndim, "softmax"))


def log_softmax(logits: TensorLike, axis: Axis = None, name: str | None = None) -> Tensor:
    """Return log(softmax(x)) along `axis`, by default the last; accurate for tiny values."""
    x = floating(logits, "log_softmax")
    return rows.log_softmax(x, axis=one_axis(-1 if axis is None else axis, x.ndim, "log_softmax"))


# ---- cross-entropies from logits -----------------------------------------------------------------


def softmax_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, axis: Axis = -1, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the cross-entropy of probabilities `labels` and softmax(`logits`) along `axis`.

    Args:
        labels: of any dtype, cast to that of `logits`.
        logits: floats, in a shape that broadcasts with the labels'.
        axis: the axis of the classes.

    Returns:
        One value per distribution, in the shape without `axis`.
    """
    what = "softmax_cross_entropy_with_logits"
    logits = floating(logits, what)
    if type(labels) is not np.ndarray:
        labels = tensor(labels)
        labels = labels if labels.dtype is logits.dtype else cast(labels, dtype=logits.dtype.np)
    labels, logits = strict(labels, logits)
    shape = tuple(logits.shape)
    if tuple(labels.shape) != shape:
        shape = _common_shape(tuple(labels.shape), shape, what)
        labels, logits = (movement.broadcast_to(v, shape=shape) for v in (labels, logits))
    axis, last = one_axis(axis, logits.ndim, what), logits.ndim - 1
    if axis != last:
        order = (*(i for i in range(last + 1) if i != axis), axis)
        labels, logits = (movement.transpose(v, perm=order) for v in (labels, logits))
    return rows.softmax_cross_entropy(logits, labels)


def _common_shape(labels, logits, what):
    try:
        if len(labels) == len(logits):
            return np.broadcast_shapes(labels, logits)
    except (ValueError, TypeError):  # comparing an unknown size, None, raises a TypeError
        pass
    raise ShapeError(f"{what}: labels of shape {labels} do not fit logits of shape {logits}.")


@operation
def sparse_softmax_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the cross-entropy of classes `labels` and softmax(`logits`) over the last axis.

    Args:
        labels: integers from 0 to the number of classes - 1, in the shape of `logits` without the
            last axis.
        logits: floats.

    Raises:
        OutOfRangeError: a label is not a class.
    """
    what = "sparse_softmax_cross_entropy_with_logits"
    labels, logits = tensor(labels), floating(logits, what)
    if not labels.dtype.is_integer:
        raise DTypeError(f"{what}: labels must be integers, got {labels.dtype}.")
    if tuple(labels.shape) != tuple(logits.shape[:-1]):
        raise ShapeError(
            f"{what}: labels of shape {labels.shape} do not fit logits of shape {logits.shape}; "
            f"expected {tuple(logits.shape[:-1])}."
        )
    labels = movement.within(
        labels, what="sparse_softmax_cross_entropy_with_logits: labels", size=logits.shape[-1]
    )
    return rows.sparse_softmax_cross_entropy(logits, labels)


def sigmoid_cross_entropy_with_logits(
    labels: TensorLike = None, logits: TensorLike = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return -labels * log(sigmoid(x)) - (1 - labels) * log(1 - sigmoid(x)), without overflow.

    Args:
        labels: probabilities.
        logits: x, of the same shape.
    """
    what = "sigmoid_cross_entropy_with_logits"
    logits = floating(logits, what)
    labels, logits = strict(labels, logits)
    if tuple(labels.shape) != tuple(logits.shape):
        raise ShapeError(
            f"{what}: labels and logits must have the same shape, got {labels.shape} and "
            f"{logits.shape}."
        )
    return sigmoid_cross_entropy(logits, labels)


def weighted_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, pos_weight: TensorLike, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the sigmoid cross-entropy with the term of label 1 multiplied by `pos_weight`."""
    logits = floating(logits, "weighted_cross_entropy_with_logits")
    labels, logits = strict(labels, logits)
    _, weight = strict(logits, pos_weight)
    weight = (weight - 1) * labels + 1
    negative_part = (1 - labels) * logits
    return negative_part + weight * elementwise.softplus(elementwise.negative(logits))


def log_poisson_loss(
    targets: TensorLike, log_input: TensorLike, compute_full_loss: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return exp(log_input) - log_input * targets, the negative Poisson log-likelihood.

    Args:
        targets: the counts.
        log_input: logarithms of the rates, of the same shape.
        compute_full_loss: add log(targets!) by Stirling's formula (0 for targets from 0 to 1).
    """
    targets, log_input = strict_all(targets, floating(log_input, "log_poisson_loss"))
    loss = elementwise.exp(log_input) - elementwise.multiply(log_input, targets)
    if not compute_full_loss:
        return loss
    few = elementwise.logical_and(targets >= 0.0, targets <= 1.0)
    z = elementwise.select(few, targets * 0.0 + 1.0, targets)
    stirling = z * elementwise.log(z) - z + elementwise.log(z * (2 * np.pi)) * 0.5
    return loss + elementwise.masked(stirling, elementwise.logical_not(few))


# ---- sums of squares, moments, normalization -----------------------------------------------------


def l2_loss(t: TensorLike, name: str | None = None) -> Tensor:
    """Return sum(|t|²) / 2."""
    t = floating(t, "l2_loss")
    squares = squared_size(widened(t))
    total = reduction.reduce_sum(squares, axis=tuple(range(t.ndim)), keepdims=False)
    half = elementwise.divide(total, 2.0)
    return half if is_complex(t) else like(half, t)


def l2_normalize(
    x: TensorLike, axis: Axis = None, epsilon: Any = 1e-12, name: str | None = None,
    dim: Axis = None,
) -> Tensor:  # fmt: skip
    """Return x / sqrt(max(sum(|x|²), epsilon)) over `axis`, by default over all elements."""
    x = floating(x, "l2_normalize")
    axes = all_axes(dim if axis is None else axis, x.ndim, "l2_normalize")
    if type(epsilon) not in (int, float):
        epsilon = cast(tensor(epsilon), dtype=np.result_type(x.dtype.real_dtype.np, np.float32))
    return norm.unit(x, axes, epsilon)


@operation
def batch_normalization(
    x: TensorLike, mean: TensorLike, variance: TensorLike, offset: TensorLike, scale: TensorLike,
    variance_epsilon: Any, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return (x - mean) / sqrt(variance + variance_epsilon) * scale + offset.

    `scale` and `offset` may be None.
    """
    x = floating(x, "batch_normalization")
    variance = variance if hasattr(variance, "dtype") else strict(x, variance)[1]
    factor = elementwise.rsqrt(tensor(variance) + variance_epsilon)
    if scale is not None:
        factor = elementwise.multiply(*strict(factor, scale))
    shift = elementwise.negative(elementwise.multiply(*strict(factor, mean)))
    shift = shift if offset is None else elementwise.add(*strict(shift, offset))
    return elementwise.add(elementwise.multiply(x, like(factor, x)), like(shift, x))


@operation
def bias_add(
    value: TensorLike, bias: TensorLike, data_format: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Add a vector along the last axis, or along axis 1 if `data_format` starts with "NC".

    >>> import framework as tf
    >>> tf.nn.bias_add([[1.0, 2.0]], [10.0, 20.0]).numpy()
    array([[11., 22.]], dtype=float32)
    """
    value, bias = strict(tensor(value), tensor(bias))
    first = data_format is not None and str(data_format).startswith("NC")
    axis = 1 if first else value.ndim - 1
    if bias.ndim != 1 or value.ndim < 2 or bias.shape[0] != value.shape[axis]:
        raise ShapeError(
            f"bias_add: a bias of shape {bias.shape} does not fit axis {axis} of shape "
            f"{value.shape}."
        )
    if axis != value.ndim - 1:
        bias = movement.reshape(bias, shape=(-1, *(1,) * (value.ndim - 2)))
    return elementwise.add(value, bias)


# ---- dropout, top k ------------------------------------------------------------------------------


@always
def dropout(
    x: TensorLike, rate: Any, noise_shape: ShapeLike = None, seed: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Set each element to 0 with probability `rate`, and divide the others by 1 - `rate`.

    Args:
        x: floats.
        rate: from 0 to below 1.
        noise_shape: the shape of the mask, which broadcasts: an axis of size 1 shares one draw.
        seed: an int; None for the global generator.
    """
    source = random.global_generator() if seed is None else random.seeded(int(seed))
    return dropped(source, floating(x, "dropout"), rate, noise_shape)


def dropped(source, x, rate, noise_shape=None):
    """Apply dropout (Srivastava et al. 2014) with random numbers from `source`."""
    rate = float(rate)
    if not 0 <= rate < 1:
        raise InvalidArgumentError(f"dropout: rate must be in [0, 1), got {rate}.")
    if rate == 0:
        return x
    shape = tuple(x.shape)
    if noise_shape is not None:
        shape = tuple(n if m is None else m for m, n in zip(noise_shape, shape, strict=True))
        shape = sizes(shape, "dropout")
    kept = elementwise.greater_equal(random.draw(source, "uniform", shape), rate)
    scaled = elementwise.divide(x, 1 - rate)
    return elementwise.select(kept, scaled, Tensor(np.zeros((), x.dtype.np)))


@operation
def in_top_k(
    targets: TensorLike, predictions: TensorLike, k: TensorLike, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return whether each row's target is among the row's `k` largest predictions, ties included.

    The result is False if the target is not a class or its row has inf or NaN.
    """
    targets, predictions = tensor(targets), _ordered(predictions, "in_top_k")
    batch = tuple(predictions.shape[:-1])
    alike = all(None in pair or len(set(pair)) == 1 for pair in zip(batch, targets.shape))
    if predictions.ndim == 0 or targets.ndim != len(batch) or not alike:
        raise ShapeError(
            "in_top_k: expected one target for each row of `predictions`, got targets of shape "
            f"{tuple(targets.shape)} for predictions of shape {tuple(predictions.shape)}."
        )
    last, classes = predictions.ndim - 1, predictions.shape[-1]
    inside = elementwise.logical_and(
        elementwise.greater_equal(targets, 0), elementwise.less(targets, classes)
    )
    places = movement.expand_axes(elementwise.select(inside, targets, 0), (targets.ndim,))
    chosen = movement.take_along_axis(predictions, places, axis=last)
    larger = cast(elementwise.greater(predictions, chosen), dtype=np.dtype(np.int32))
    found = elementwise.less(reduction.reduce_sum(larger, axis=(last,), keepdims=False), int(k))
    finite = reduction.reduce_all(elementwise.is_finite(predictions), axis=(last,), keepdims=False)
    return elementwise.logical_and(found, elementwise.logical_and(inside, finite))


class TopKV2(NamedTuple):
    """The result of `top_k`."""

    values: Any
    indices: Any


@operation
def top_k(
    input: TensorLike, k: TensorLike = 1, sorted: bool = True, index_type: Any = dtypes.int32,
    name: str | None = None,
) -> TopKV2:  # fmt: skip
    """Return the `k` largest elements along the last axis, descending, and their indices.

    Args:
        input: a tensor.
        k: the number of elements; of equal elements the first come first.
        sorted: ignored; the elements are always sorted.
        index_type: the dtype of the indices.

    >>> import framework as tf
    >>> values, indices = tf.math.top_k([3, 1, 4], k=2)
    >>> values.numpy(), indices.numpy()
    (array([4, 3], dtype=int32), array([2, 0], dtype=int32))
    """
    x, k = tensor(input), int(k)
    if not x.ndim or not 0 <= k <= x.shape[-1]:
        raise InvalidArgumentError(
            f"top_k: input must have at least k columns: expected a last axis of at least k={k} "
            f"elements, k from 0; got shape {x.shape}."
        )
    values, order = movement.top_k(x, k=k)
    return TopKV2(values, cast(order, dtype=dtypes.as_dtype(index_type).np))
