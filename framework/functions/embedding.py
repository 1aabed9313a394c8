"""Lookup of rows by ids, in one table or in a table that is split into parts."""

from typing import Any

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.tensor import Tensor
from framework.functions.contraction import clip_by_norm
from framework.functions.scattering import dynamic_partition, dynamic_stitch
from framework.ops import elementwise, movement
from framework.ops.ragged_tensor import RaggedTensor
from framework.ops.slices import gather_rows


@operation
def embedding_lookup(
    params: TensorLike, ids: Any, max_norm: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the rows of `params` at `ids`; the gradient of `params` is IndexedSlices.

    Args:
        params: a tensor or variable; or a list of n of them, where part i has the rows of all ids
            with id % n = i, in ascending order.
        ids: integers of any shape, from 0 to size - 1; or a ragged tensor of them.
        max_norm: rows with a larger Euclidean norm are scaled down to it.

    >>> import framework as tf
    >>> tf.nn.embedding_lookup(tf.Variable([[1.0, 2.0], [3.0, 4.0]]), [1, 1]).numpy()
    array([[3., 4.],
           [3., 4.]], dtype=float32)
    >>> tf.nn.embedding_lookup([[[3.0, 4.0]], [[30.0, 40.0]]], [1, 0], max_norm=5.0).numpy()
    array([[3., 4.],
           [3., 4.]], dtype=float32)
    """
    if isinstance(ids, RaggedTensor):
        return ids.with_flat_values(embedding_lookup(params, ids.flat_values, max_norm))
    ids = tensor(ids)
    if not ids.dtype.is_integer:
        raise InvalidArgumentError(f"embedding_lookup: `ids` must be integers, got {ids.dtype}.")
    parts = list(params) if isinstance(params, (list, tuple)) else [params]
    if not parts:
        raise InvalidArgumentError(
            "embedding_lookup: expected at least one tensor in `params`, got an empty list."
        )
    rows = _of_one(parts[0], ids) if len(parts) == 1 else _of_parts(parts, ids)
    if max_norm is None:
        return rows
    return clip_by_norm(rows, max_norm, axes=list(range(ids.ndim, rows.ndim)))


def _of_one(params, ids):
    params = tensor(params)
    if not params.ndim:
        raise ShapeError("embedding_lookup: expected `params` of rank 1 or more, got a 0-d tensor.")
    return gather_rows(
        params, movement.within(ids, what="embedding_lookup: ids", size=params.shape[0])
    )


def _of_parts(parts, ids):
    """Look up each id in the part that holds its row; return the rows in the order of `ids`."""
    count = len(parts)
    flat = cast(movement.reshape(ids, shape=(-1,)), dtype=np.dtype(np.int64))
    parts = [tensor(p) for p in parts]
    size = sum(p.shape[0] for p in parts)
    flat = movement.within(flat, what="embedding_lookup: ids", size=size)
    part_of, place = elementwise.floor_mod(flat, count), elementwise.floor_divide(flat, count)
    places = dynamic_partition(place, part_of, count)
    order = dynamic_partition(Tensor(np.arange(flat.shape[0])), part_of, count)
    rows = dynamic_stitch(order, [_of_one(p, i) for p, i in zip(parts, places)])
    return movement.reshape(rows, shape=(*ids.shape, *parts[0].shape[1:]))
