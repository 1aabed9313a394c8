"""Conversion of batches: to tensors, and between x, (x, y) and (x, y, sample_weight)."""

import numpy as np

from framework.core import nest
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError
from framework.core.tensor import Tensor
from framework.data.batches import is_leaf
from framework.data.structure import map_named
from framework.ops.reduction import reduce_sum


def as_tensors(structure):
    """Return the nest with arrays and numbers converted to tensors; None stays None.

    A list of numbers, or of such lists, is one array, as in `fit`.
    """
    if structure is None or type(structure) is Tensor:
        return structure
    if isinstance(structure, np.ndarray):
        return tensor(structure)
    return map_named(lambda leaf, _: None if leaf is None else tensor(leaf), structure, "", is_leaf)


def like(loss, other):
    """Return `loss` cast to the dtype of `other`: a layer's loss may be float16 by its policy."""
    dtype = other.array.dtype
    return loss if loss.array.dtype == dtype else cast(loss, dtype=dtype)


def layer_loss(loss, total=None):
    """Return the sum of the elements of a layer's loss, in the dtype of `total`."""
    if total is not None:
        loss = like(loss, total)
    rank = loss.array.ndim
    return reduce_sum(loss, axis=tuple(range(rank)), keepdims=False) if rank else loss


def plus_layer_losses(total, losses):
    """Return `total` plus the layers' losses; None if `total` is None and there are none."""
    for loss in losses:
        part = layer_loss(loss, total)
        total = part if total is None else total + part
    return total


def unpack(data):
    """Return (x, y, sample_weight) of a batch: x alone, or a tuple of one to three elements."""
    if not isinstance(data, (tuple, list)):
        return data, None, None
    if len(data) > 3:
        raise InvalidArgumentError(
            f"A batch must be x, (x, y) or (x, y, sample_weight), got a tuple of {len(data)}."
        )
    return (*data, None, None)[:3] if len(data) < 3 else tuple(data)


def pack(x, y=None, sample_weight=None):
    """Return the batch in the form that `train_step` takes: without trailing None."""
    if sample_weight is not None:
        return x, y, sample_weight
    if y is not None:
        return x, y
    return (x,) if isinstance(x, (tuple, list)) else x


def rows_of(x):
    """Return the number of rows of a batch, 1 for a scalar or an empty nest."""
    if type(x) is not Tensor:
        leaves = [leaf for leaf in nest.flatten(x) if leaf is not None]
        if not leaves:
            return 1
        x = leaves[0]
    shape = x.shape
    return shape[0] if shape else 1
