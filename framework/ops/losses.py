"""Shared parts of losses and metrics: conversion of operands, shape checks, and ops of
cross-entropies.

Functions of arrays return an array, functions of tensors a tensor. `y_true` stands before `y_pred`,
as in Keras.
"""

import functools
from typing import Any

import numpy as np

from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.dtypes import Shape, as_dtype, floatx
from framework.core.errors import OutOfRangeError, ShapeError
from framework.core.formula import F
from framework.core.op import Op, elementwise, no_derivative
from framework.core.symbolic import KerasTensor, broadcast_shapes
from framework.core.tensor import Tensor
from framework.kernels.choose import zeros
from framework.ops.casting import is_narrow, like, widened
from framework.ops.elementwise import negative, no_warnings, sigmoid
from framework.ops.movement import reshape
from framework.ops.reduction import reduce_mean, reduce_sum

# ---- conversion of operands ----------------------------------------------------------------------


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
    """Return the shape as a tuple, 0.25 µs faster than by reading `Tensor.shape`."""
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
    """Return operands of the same rank that broadcast, or raise ShapeError."""
    s, t = shape_of(y_true), shape_of(y_pred)
    if s == t and t:
        return y_true, y_pred
    y_true, y_pred = same_rank(y_true, y_pred)
    try:
        fits = broadcast_shapes(what, (y_true, y_pred)) != ()
    except ShapeError:
        fits = False
    if not fits:
        refuse(what, s, t, "expected equal shapes of rank 1 or more")
    return y_true, y_pred


def alike(y_true, y_pred, what, hint=""):
    """Return operands of the same shape (an unknown size fits any), or raise ShapeError."""
    s, t = shape_of(y_true), shape_of(y_pred)
    if s == t and t:
        return y_true, y_pred
    y_true, y_pred = same_rank(y_true, y_pred)
    if not t or not Shape(y_true.shape).is_compatible_with(y_pred.shape):
        refuse(what, s, t, f"y_true and y_pred must have the same shape{hint}")
    return y_true, y_pred


def one_label_each(y_true, pred_shape, axis, what, expected):
    """Return one label for each prediction vector along `axis`, or raise ShapeError.

    Args:
        y_true: labels of shape (...,), or with a size of 1 at `axis`.
        pred_shape: the shape of the predictions.
        axis: the non-negative axis of the predictions that labels do not have.
        what, expected: for the error message: the loss's name, and a description of the expected
            shape, in which `{}` stands for the shape.
    """
    shape = squeezed = shape_of(y_true)
    if len(shape) == len(pred_shape) and shape[axis] == 1:
        squeezed = shape[:axis] + shape[axis + 1 :]
        y_true = reshape(y_true, shape=squeezed)
    wanted = pred_shape[:axis] + pred_shape[axis + 1 :]
    if squeezed != wanted and not Shape(squeezed).is_compatible_with(wanted):
        expected = expected.format(f", in shape {wanted}")
        refuse(what, shape, pred_shape, f"expected one {expected}")
    return y_true


def refuse(what, true_shape, pred_shape, expected):
    raise ShapeError(
        f"{what}: y_true of shape {true_shape} does not fit y_pred of shape {pred_shape}: "
        f"{expected}."
    )


def with_mask(values, mask) -> Any:
    """Return the loss values, with `mask` attached as their Keras mask if they are a tensor."""
    if isinstance(values, (Tensor, KerasTensor)):
        values._keras_mask = mask
    return values


def mean_of_last(x):
    return reduce_mean(x, axis=(x.ndim - 1,), keepdims=False)


def sum_of(x, axis=-1, keepdims=False):
    return reduce_sum(x, axis=(axis % x.ndim,), keepdims=keepdims)


def label_form(y_true_shape, y_pred_shape):
    """Return which form of "accuracy" or "crossentropy" Keras chooses for these shapes.

    >>> label_form((8, 1), (8, 1)), label_form((8,), (8, 3)), label_form((8, 3), (8, 3))
    ('binary', 'sparse_categorical', 'categorical')
    """
    if y_pred_shape[-1] == 1:
        return "binary"
    if len(y_true_shape) < len(y_pred_shape) or y_true_shape[-1] == 1:
        return "sparse_categorical"
    return "categorical"


def in_32_bits(composite: F) -> F:
    """Compute `composite` in float32 for 16-bit predictions, and cast the result to their dtype.

    In float16 the largest number below 1 is 0.9995, and 1e-7 is subnormal, so logarithms of
    predictions near 0 and 1 would be infinite.
    """

    @functools.wraps(composite)
    def computed(y_true, y_pred, *args, **kwargs):
        if not is_narrow(y_pred):
            return composite(y_true, y_pred, *args, **kwargs)
        return like(composite(widened(y_true), widened(y_pred), *args, **kwargs), y_pred)

    return computed  # pyright: ignore[reportReturnType]  # wraps keeps the signature of F


# ---- ops -----------------------------------------------------------------------------------------


def _sigmoid_cross_entropy(logits, labels):
    zero = zeros[logits.dtype]
    return np.maximum(logits, zero) - logits * labels + np.log1p(np.exp(-np.abs(logits)))


# This is one op, because a composite of max, abs and log1p would have a wrong derivative at 0, and
# a composite of two softplus takes 2.1 times as long (forward and backward, 64 x 10).
sigmoid_cross_entropy = elementwise(
    "sigmoid_cross_entropy", no_warnings(_sigmoid_cross_entropy),
    lambda g, logits, labels: g * (sigmoid(logits) - labels),
    lambda g, logits: negative(g * logits),
    inputs=("logits", "labels"),
)  # fmt: skip


def _class_indices(labels, *, classes):
    original = labels
    if labels.dtype.kind in "iub":
        labels = labels.astype(np.int64, copy=False)
    else:
        # The cast turns NaN into an integer out of range, which the check below finds.
        with np.errstate(invalid="ignore"):
            labels = labels.astype(np.int64)
    # Viewed as unsigned integers, negative labels exceed every class: one pass checks both bounds.
    if labels.size and np.maximum.reduce(labels.view(np.uint64), axis=None) >= classes:
        wrong = original[(labels < 0) | (labels >= classes)]
        raise OutOfRangeError(
            f"y_true: got the label {wrong.flat[0]}, but y_pred has {classes} classes: expected "
            f"labels from 0 to {classes - 1}. Shift labels that start at 1, give the model's last "
            "layer one unit per class, or pass a label to skip as ignore_class."
        )
    return labels


# `class_indices` converts labels of any dtype to int64 and checks their range. It is an op, so that
# compiled plans check them as well.
class_indices = Op(
    "class_indices", _class_indices, no_derivative, kind="elementwise",
    infer=lambda labels, *, classes: (labels.shape, np.dtype(np.int64)), raises=True,
)  # fmt: skip
