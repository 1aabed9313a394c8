"""What one batch is: (x, y, sample_weight) of tensors."""

import numpy as np

from framework.core import nest
from framework.core.doors import cast, tensor
from framework.core.errors import InvalidArgumentError
from framework.core.tensor import Tensor
from framework.data.batches import is_leaf
from framework.data.structure import map_named
from framework.ops.reduction import reduce_sum


def as_tensors(structure):
    """A nest of arrays, numbers and tensors as one of tensors; None stays None.

    A list of numbers, or of such lists, is an array, as it is in `fit`.
    """
    if structure is None or type(structure) is Tensor:
        return structure
    if isinstance(structure, np.ndarray):
        return tensor(structure)
    return map_named(lambda leaf, _: None if leaf is None else tensor(leaf), structure, "", is_leaf)


def like(loss, other):
    """A loss in the dtype of another: a layer's own may be in the 16 bits of its policy."""
    dtype = other.array.dtype
    return loss if loss.array.dtype == dtype else cast(loss, dtype=dtype)


def layer_loss(loss, total=None):
    """A layer's own loss as it counts: the sum of its elements, in the dtype of `total`."""
    if total is not None:
        loss = like(loss, total)
    rank = loss.array.ndim
    return reduce_sum(loss, axis=tuple(range(rank)), keepdims=False) if rank else loss


def plus_layer_losses(total, losses):
    """`total` (None: there is nothing yet) plus layers' own losses."""
    for loss in losses:
        part = layer_loss(loss, total)
        total = part if total is None else total + part
    return total


def unpack(data):
    """(x, y, sample_weight) of what a batch may be: x alone, or a tuple of one to three."""
    if not isinstance(data, (tuple, list)):
        return data, None, None
    if len(data) > 3:
        raise InvalidArgumentError(
            f"A batch is x, (x, y) or (x, y, sample_weight); got a tuple of {len(data)}."
        )
    return (*data, None, None)[:3] if len(data) < 3 else tuple(data)


def pack(x, y=None, sample_weight=None):
    """The batch as `train_step` is given it: without what is None at its end."""
    if sample_weight is not None:
        return x, y, sample_weight
    if y is not None:
        return x, y
    return (x,) if isinstance(x, (tuple, list)) else x


def rows_of(x):
    """The number of rows of a batch."""
    if type(x) is not Tensor:
        leaves = [leaf for leaf in nest.flatten(x) if leaf is not None]
        if not leaves:
            return 1
        x = leaves[0]
    shape = x.shape
    return shape[0] if shape else 1
