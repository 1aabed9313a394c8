"""Loss functions, one value per sample, composed of ops: arrays in, array out; tensors in, tensor
out.

`losses` and `metrics` call them. The formulas and the order `y_true`, `y_pred` are Keras's. Both
operands have one floating dtype; `axis` may be negative.
"""

import functools
import warnings

import numpy as np

from framework.core.axes import one_axis
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.dtypes import Shape, as_dtype, epsilon, floatx
from framework.core.errors import OutOfRangeError, ShapeError
from framework.core.op import Op, elementwise, no_derivative
from framework.core.symbolic import KerasTensor, broadcast_shapes
from framework.core.tensor import Tensor
from framework.kernels.choose import zeros
from framework.ops.casting import is_narrow, like, widened
from framework.ops.elementwise import (
    absolute,
    clip,
    equal,
    log,
    log1p,
    logical_or,
    maximum,
    minimum,
    negative,
    not_equal,
    quiet,
    select,
    sigmoid,
    softplus,
    square,
)  # fmt: skip
from framework.ops.movement import expand_axes, reshape, take_along_axis, transpose
from framework.ops.norm import unit
from framework.ops.reduction import reduce_all, reduce_max, reduce_mean, reduce_sum
from framework.ops.rows import softmax_cross_entropy, sparse_softmax_cross_entropy

# ---- operands ------------------------------------------------------------------------------------


def as_tensor(value, dtype):
    """Convert `value` to a tensor of the DType `dtype`, casting if needed."""
    if type(value) is Tensor:
        own = value.array.dtype
        return value if own is dtype.np or own == dtype.np else cast(value, dtype=dtype.np)
    return tensor(value, dtype, casts=True)


def floating(x):
    """Return integers and booleans cast to floatx, and other dtypes unchanged."""
    return cast(x, dtype=as_dtype(floatx()).np) if _array_dtype(x).kind in "iub" else x


def floats(y_true, y_pred):
    """Return both operands in the dtype of `y_pred`, or in floatx if that is not floating."""
    y_pred = floating(y_pred)
    dtype = _array_dtype(y_pred)
    return y_true if _array_dtype(y_true) == dtype else cast(y_true, dtype=dtype), y_pred


def _array_dtype(x):
    return getattr(x.dtype, "np", x.dtype)


def shape_of(x):
    """Return the shape as a tuple; `Tensor.shape` takes a quarter of a microsecond."""
    return x.array.shape if type(x) is Tensor else tuple(x.shape)


def same_rank(a, b):
    """Return operands of the same rank if their ranks differ only by a last axis of size 1.

    (n,) with (n, 1) becomes (n, 1); in higher ranks the extra axis is dropped.
    """
    s, t = shape_of(a), shape_of(b)
    if len(s) == len(t):
        return a, b
    if len(s) == len(t) + 1 and s[-1] == 1:
        return (a, reshape(b, shape=(*t, 1))) if len(t) == 1 else (reshape(a, shape=s[:-1]), b)
    if len(t) == len(s) + 1 and t[-1] == 1:
        return (reshape(a, shape=(*s, 1)), b) if len(s) == 1 else (a, reshape(b, shape=t[:-1]))
    return a, b


def matched(y_true, y_pred, what):
    """Return operands of one rank that broadcast, or raise ShapeError."""
    s, t = shape_of(y_true), shape_of(y_pred)
    if s == t and t:
        return y_true, y_pred
    y_true, y_pred = same_rank(y_true, y_pred)
    try:
        fits = broadcast_shapes(what, (y_true, y_pred)) != ()
    except ShapeError:
        fits = False
    if not fits:
        _refuse(what, s, t, "expected equal shapes of rank 1 or more")
    return y_true, y_pred


def _alike(y_true, y_pred, what, hint=""):
    """Return operands of one shape (an unknown size fits any), or raise ShapeError."""
    s, t = shape_of(y_true), shape_of(y_pred)
    if s == t and t:
        return y_true, y_pred
    y_true, y_pred = same_rank(y_true, y_pred)
    if not t or not Shape(y_true.shape).is_compatible_with(y_pred.shape):
        _refuse(what, s, t, f"y_true and y_pred must have the same shape{hint}")
    return y_true, y_pred


def _refuse(what, true_shape, pred_shape, expected):
    raise ShapeError(
        f"{what}: y_true of shape {true_shape} does not fit y_pred of shape {pred_shape}: "
        f"{expected}."
    )


def _mean(x):
    return reduce_mean(x, axis=(x.ndim - 1,), keepdims=False)


def _sum(x, axis=-1, keepdims=False):
    return reduce_sum(x, axis=(axis % x.ndim,), keepdims=keepdims)


def _axis_last(x, axis):
    """Move the non-negative `axis` of `x` to the end."""
    last = x.ndim - 1
    if axis == last:
        return x
    return transpose(x, perm=(*(i for i in range(last + 1) if i != axis), axis))


def label_form(y_true_shape, y_pred_shape):
    """Return which form "accuracy" and "crossentropy" stand for, by Keras's rule.

    >>> label_form((8, 1), (8, 1)), label_form((8,), (8, 3)), label_form((8, 3), (8, 3))
    ('binary', 'sparse_categorical', 'categorical')
    """
    if y_pred_shape[-1] == 1:
        return "binary"
    if len(y_true_shape) < len(y_pred_shape) or y_true_shape[-1] == 1:
        return "sparse_categorical"
    return "categorical"


def _in_32_bits(composite):
    """Compute `composite` in float32 for 16-bit predictions, and cast the result to their dtype.

    The float16 below 1 is 0.9995, and 1e-7 is subnormal: logarithms of predictions near 0 and 1
    would be infinite.
    """

    @functools.wraps(composite)
    def computed(y_true, y_pred, *args, **kwargs):
        if not is_narrow(y_pred):
            return composite(y_true, y_pred, *args, **kwargs)
        return like(composite(widened(y_true), widened(y_pred), *args, **kwargs), y_pred)

    return computed


# ---- regression ----------------------------------------------------------------------------------


@_in_32_bits
def mean_squared_error(y_true, y_pred):
    y_true, y_pred = matched(y_true, y_pred, "mean_squared_error")
    return _mean(square(y_pred - y_true))


@_in_32_bits
def mean_absolute_error(y_true, y_pred):
    y_true, y_pred = matched(y_true, y_pred, "mean_absolute_error")
    return _mean(absolute(y_pred - y_true))


@_in_32_bits
def mean_absolute_percentage_error(y_true, y_pred):
    y_true, y_pred = matched(y_true, y_pred, "mean_absolute_percentage_error")
    share = absolute((y_pred - y_true) / maximum(absolute(y_true), epsilon()))
    return _mean(share) * 100.0


@_in_32_bits
def mean_squared_logarithmic_error(y_true, y_pred):
    y_true, y_pred = matched(y_true, y_pred, "mean_squared_logarithmic_error")
    least = epsilon()
    return _mean(square(log1p(maximum(y_pred, least)) - log1p(maximum(y_true, least))))


@_in_32_bits
def huber(y_true, y_pred, delta=1.0):
    """Return Huber's loss (1964): half the squared error up to `delta`, linear beyond."""
    y_true, y_pred = matched(y_true, y_pred, "huber")
    error = absolute(y_pred - y_true)
    near = minimum(error, delta)
    return _mean(square(near) * 0.5 + (error - near) * delta)


@_in_32_bits
def log_cosh(y_true, y_pred):
    """Return the mean of log(cosh(error)), as error + log(1 + exp(-2 error)) - log 2."""
    y_true, y_pred = matched(y_true, y_pred, "log_cosh")
    error = y_pred - y_true
    return _mean(error + softplus(error * -2.0) - _LOG_2)


_LOG_2 = float(np.log(2.0))


@_in_32_bits
def poisson(y_true, y_pred):
    y_true, y_pred = matched(y_true, y_pred, "poisson")
    return _mean(y_pred - y_true * log(y_pred + epsilon()))


def cosine_similarity(y_true, y_pred, axis=-1):
    """Return the cosine of the angle between the vectors along `axis`; 0 for a zero vector."""
    y_true, y_pred = matched(y_true, y_pred, "cosine_similarity")
    axis = one_axis(axis, y_pred.ndim, "cosine_similarity")
    least = epsilon() ** 2
    return _sum(unit(y_true, (axis,), least) * unit(y_pred, (axis,), least), axis)


# ---- margins -------------------------------------------------------------------------------------


def _signed(y_true):
    """Map labels 0 and 1 to -1 and 1; return other labels unchanged."""
    binary = logical_or(equal(y_true, 0), equal(y_true, 1))
    all_binary = reduce_all(binary, axis=tuple(range(y_true.ndim)), keepdims=False)
    return select(all_binary, y_true * 2.0 - 1.0, y_true)


def _shortfall(y_true, y_pred, what):
    y_true, y_pred = matched(y_true, y_pred, what)
    return maximum(1.0 - _signed(y_true) * y_pred, 0.0)


@_in_32_bits
def hinge(y_true, y_pred):
    return _mean(_shortfall(y_true, y_pred, "hinge"))


@_in_32_bits
def squared_hinge(y_true, y_pred):
    return _mean(square(_shortfall(y_true, y_pred, "squared_hinge")))


@_in_32_bits
def categorical_hinge(y_true, y_pred):
    y_true, y_pred = matched(y_true, y_pred, "categorical_hinge")
    right = _sum(y_true * y_pred)
    wrong = reduce_max((1.0 - y_true) * y_pred, axis=(y_pred.ndim - 1,), keepdims=False)
    return maximum(wrong - right + 1.0, 0.0)


# ---- probabilities -------------------------------------------------------------------------------


def _within(p):
    """Clip probabilities away from 0 and 1, where the logarithm is infinite."""
    least = epsilon()
    return clip(p, least, 1.0 - least)


@_in_32_bits
def kl_divergence(y_true, y_pred):
    y_true, y_pred = matched(y_true, y_pred, "kl_divergence")
    y_true, y_pred = clip(y_true, epsilon(), 1.0), clip(y_pred, epsilon(), 1.0)
    return _sum(y_true * log(y_true / y_pred))


def _sigmoid_cross_entropy(logits, labels):
    zero = zeros[logits.dtype]
    return np.maximum(logits, zero) - logits * labels + np.log1p(np.exp(-np.abs(logits)))


# A single op: composed of max, abs and log1p its slope at 0 would be wrong; composed of two
# softplus it takes 2.1 times as long, forward and backward (64 x 10).
sigmoid_cross_entropy = elementwise(
    "sigmoid_cross_entropy", quiet(_sigmoid_cross_entropy),
    lambda g, logits, labels: g * (sigmoid(logits) - labels),
    lambda g, logits: negative(g * logits),
    inputs=("logits", "labels"),
)  # fmt: skip


@_in_32_bits
def binary_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0.0, axis=-1):
    y_true, y_pred = _alike(y_true, y_pred, "binary_crossentropy")
    axis = one_axis(axis, y_pred.ndim, "binary_crossentropy")
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + 0.5 * label_smoothing
    if from_logits:
        losses = sigmoid_cross_entropy(y_pred, y_true)
    else:
        p = _within(y_pred)
        losses = negative(y_true * log(p) + (1.0 - y_true) * log(1.0 - p))
    return reduce_mean(losses, axis=(axis,), keepdims=False)


_ONE_HOT = "; for integer class labels use sparse_categorical_crossentropy, or one-hot encode them"


@_in_32_bits
def categorical_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0.0, axis=-1):
    what = "categorical_crossentropy"
    y_true, y_pred = _alike(y_true, y_pred, what, _ONE_HOT)
    axis = one_axis(axis, y_pred.ndim, what)
    if shape_of(y_pred)[axis] == 1:
        warnings.warn(
            f"{what}: y_pred of shape {shape_of(y_pred)} has one class: the loss is always 0. "
            "For two classes predict two values, or one value with binary_crossentropy.",
            SyntaxWarning, stacklevel=2,
        )  # fmt: skip
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + label_smoothing / y_pred.shape[axis]
    if from_logits:
        return softmax_cross_entropy(_axis_last(y_pred, axis), _axis_last(y_true, axis))
    p = _within(y_pred / _sum(y_pred, axis, keepdims=True))
    return negative(_sum(y_true * log(p), axis))


def _class_indices(labels, *, classes):
    original = labels
    if labels.dtype.kind in "iub":
        labels = labels.astype(np.int64, copy=False)
    else:
        with np.errstate(invalid="ignore"):  # NaN becomes an integer out of range
            labels = labels.astype(np.int64)
    # One pass checks both bounds: viewed as unsigned, negative labels are the largest.
    if labels.size and np.maximum.reduce(labels.view(np.uint64), axis=None) >= classes:
        wrong = original[(labels < 0) | (labels >= classes)]
        raise OutOfRangeError(
            f"y_true: got the label {wrong.flat[0]}, but y_pred has {classes} classes: expected "
            f"labels from 0 to {classes - 1}. Shift labels that start at 1, give the model's last "
            "layer one unit per class, or pass a label to skip as ignore_class."
        )
    return labels


# Convert labels of any dtype to int64 and check their range; an op, so that plans check as well.
class_indices = Op(
    "class_indices", _class_indices, no_derivative, kind="elementwise",
    infer=lambda labels, *, classes: (labels.shape, np.dtype(np.int64)), raises=True,
)  # fmt: skip


def sparse_categorical_crossentropy(y_true, y_pred, from_logits=False, ignore_class=None, axis=-1):
    """Return the loss for integer labels of any dtype; `ignore_class` sets the result's mask."""
    axis = one_axis(axis, y_pred.ndim, "sparse_categorical_crossentropy")
    labels, y_pred = _labels(y_true, shape_of(y_pred), axis), _axis_last(y_pred, axis)
    if ignore_class is None:
        return _cross_entropy_of_class(labels, y_pred, from_logits)
    counts = not_equal(labels, ignore_class)
    labels = select(counts, labels, 0)
    y_pred = select(expand_axes(counts, (counts.ndim,)), y_pred, 0.0)
    losses = select(counts, _cross_entropy_of_class(labels, y_pred, from_logits), 0.0)
    if isinstance(losses, (Tensor, KerasTensor)):
        losses._keras_mask = counts
    return losses


def _labels(y_true, pred_shape, axis):
    """Return the labels without a class axis of size 1; raise ShapeError if they do not fit."""
    shape = squeezed = shape_of(y_true)
    if len(shape) == len(pred_shape) and shape[axis] == 1:
        squeezed = shape[:axis] + shape[axis + 1 :]
        y_true = reshape(y_true, shape=squeezed)
    expected = pred_shape[:axis] + pred_shape[axis + 1 :]
    if squeezed != expected and not Shape(squeezed).is_compatible_with(expected):
        _refuse(
            "sparse_categorical_crossentropy", shape, pred_shape,
            f"expected one integer class per prediction, in shape {expected}; for one-hot labels "
            "use categorical_crossentropy",
        )  # fmt: skip
    return y_true


@_in_32_bits
def _cross_entropy_of_class(labels, y_pred, from_logits):
    last = y_pred.ndim - 1
    labels = class_indices(labels, classes=shape_of(y_pred)[last])
    if from_logits:
        return sparse_softmax_cross_entropy(y_pred, labels)
    chosen = take_along_axis(y_pred, expand_axes(labels, (last,)), axis=last)
    p = _within(chosen / _sum(y_pred, last, keepdims=True))
    return negative(reshape(log(p), shape=shape_of(labels)))
