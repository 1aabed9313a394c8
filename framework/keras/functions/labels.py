"""Functions of keras.utils: seeds, labels, and (x, y, sample_weight) of a batch."""

import random as python_random
from importlib import import_module
from typing import Any

import numpy as np

from framework.core import random
from framework.core.argument_types import Axis, TensorLike
from framework.core.errors import InvalidArgumentError, OutOfRangeError
from framework.core.operand import Operand
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable


def set_random_seed(seed: Any) -> None:
    """Seed Python's `random`, NumPy's global generator and this package's global generator."""
    if not isinstance(seed, int):
        raise InvalidArgumentError(f"set_random_seed: `seed` must be an int, got {seed!r}.")
    python_random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 (seeding users' own calls is what this is for)
    random.set_seed(seed)


def to_categorical(x: TensorLike, num_classes: TensorLike = None) -> Any:
    """Convert integer classes to one-hot rows.

    Args:
        x: integers from 0 to num_classes - 1; a last axis of size 1 is dropped.
        num_classes: by default the largest class plus 1.

    Returns:
        A NumPy array of float64, or a float32 tensor if `x` is a tensor.

    >>> to_categorical([0, 2])
    array([[1., 0., 0.],
           [0., 0., 1.]])
    """
    labels = np.asarray(x).astype(np.int64)
    if labels.ndim > 1 and labels.shape[-1] == 1:
        labels = labels[..., 0]
    classes = int(num_classes or (labels.max() + 1 if labels.size else 0))
    if labels.size and not (labels.min() >= 0 and labels.max() < classes):
        raise OutOfRangeError(
            f"to_categorical: the labels go from {labels.min()} to {labels.max()}, expected 0 to "
            f"{classes - 1}."
        )
    hot = labels[..., None] == np.arange(classes)
    if isinstance(x, Tensor):
        return Tensor(hot.astype(np.float32))
    return hot.astype(np.float64)


def normalize(x: TensorLike, axis: Axis = -1, order: Any = 2) -> Any:
    """Divide an array or tensor by its norms of `order` along `axis`; rows of zeros stay zeros.

    >>> normalize([[3.0, 4.0], [0.0, 0.0]])
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    # tensors are normalized by ops, so that the result has gradients
    if isinstance(x, (Tensor, CoreVariable, Operand)):
        return import_module("framework.keras.ops.neural").normalize(x, axis=axis, order=order)
    norms = np.atleast_1d(np.linalg.norm(np.asarray(x), order, axis))
    norms[norms == 0] = 1
    return np.asarray(x) / np.expand_dims(norms, axis)


def pack_x_y_sample_weight(x: TensorLike, y: TensorLike = None, sample_weight: Any = None) -> Any:
    """Return the arguments as a tuple; `x` alone is unchanged unless it is a list or tuple."""
    if y is None:
        return (x,) if isinstance(x, (tuple, list)) else x
    return (x, y) if sample_weight is None else (x, y, sample_weight)


def unpack_x_y_sample_weight(data: TensorLike) -> Any:
    """Return (x, y, sample_weight) of a batch, with None for missing entries."""
    if isinstance(data, list):
        data = tuple(data)
    if not isinstance(data, tuple):
        return data, None, None
    if len(data) > 3:
        raise InvalidArgumentError(
            f"Data must be x, (x,), (x, y) or (x, y, sample_weight), got {len(data)} parts."
        )
    return (*data, None, None)[:3]
