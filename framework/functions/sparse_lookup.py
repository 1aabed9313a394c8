"""Embeddings of sparse ids: `tf.nn.embedding_lookup_sparse` and `safe_embedding_lookup_sparse`."""

import math
from typing import Any

import numpy as np

from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.tensor import Tensor
from framework.functions.embedding import embedding_lookup
from framework.functions.sparse import fill_empty_rows, retain, sparse
from framework.ops import elementwise, movement, segment
from framework.ops.sparse_tensor import as_sparse, flat_places

_COMBINERS = ("sum", "mean", "sqrtn")


def embedding_lookup_sparse(
    params: Any, sp_ids: Any, sp_weights: Any, combiner: Any = None, max_norm: Any = None,
    name: str | None = None, allow_fast_lookup: bool = False,
) -> Tensor:  # fmt: skip
    """Return the combined embeddings of the ids of each row; zeros for a row without ids.

    Args:
        params: a tensor or variable of shape (ids, ...).
        sp_ids: a SparseTensor of shape (rows, n) of integers.
        sp_weights: a SparseTensor of weights at the same indices; None for 1.
        combiner: "sum", "mean" (the default: the sum divided by the sum of the weights) or "sqrtn"
            (divided by the root of the sum of the squared weights).
        max_norm: as in `tf.nn.embedding_lookup`.
        allow_fast_lookup: ignored.

    >>> import framework as tf
    >>> ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [0, 1, 1], [2, 2])
    >>> tf.nn.embedding_lookup_sparse(tf.constant([[1.0], [3.0]]), ids, None).numpy().tolist()
    [[2.0], [3.0]]
    """
    what = "embedding_lookup_sparse"
    combiner = combiner or "mean"
    if combiner not in _COMBINERS:
        raise InvalidArgumentError(
            f"{what}: combiner: expected one of {list(_COMBINERS)}, got {combiner!r}."
        )
    ids = as_sparse(sp_ids, what)
    rows, count = ids.indices[:, 0], ids.shape[0]
    found = embedding_lookup(params, ids.values, max_norm)
    if sp_weights is None:
        weights = Tensor(np.ones(ids.values.shape, found.dtype.np))
    else:
        given = as_sparse(sp_weights, what)
        if given.values.shape != ids.values.shape:
            raise ShapeError(
                f"{what}: expected one weight per id, got {len(given.values)} weights "
                f"for {len(ids.values)} ids."
            )
        weights = given.values
        weights = weights if weights.dtype == found.dtype else cast(weights, dtype=found.dtype.np)
    column = (len(weights), *(1,) * (found.ndim - 1))
    found = elementwise.multiply(found, movement.reshape(weights, shape=column))
    total = segment.segment_sum(found, rows, count=count)
    if combiner == "sum":
        return total
    if combiner == "mean":
        size = segment.segment_sum(weights, rows, count=count)
    else:
        size = elementwise.sqrt(segment.segment_sum(weights * weights, rows, count=count))
    size = movement.reshape(size, shape=(count, *(1,) * (found.ndim - 1)))
    return elementwise.divide_no_nan(total, size)


def safe_embedding_lookup_sparse(
    embedding_weights: Any, sparse_ids: Any, sparse_weights: Any = None, combiner: Any = "mean",
    default_id: Any = None, max_norm: Any = None, name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:  # fmt: skip
    """Return the combined embeddings of sparse ids along the last axis, without invalid ids.

    Ids below 0 are left out; unless `combiner` is "sum", so are ids whose weight is not positive. A
    row without ids gets zeros, or the embedding of `default_id`.

    Args:
        embedding_weights: a tensor or variable of shape (ids, ...).
        sparse_ids: a SparseTensor of shape (..., n) of integers.
        sparse_weights, combiner, max_norm: as in `tf.nn.embedding_lookup_sparse`.
        default_id: the id of rows without ids; None for zeros.
        allow_fast_lookup: ignored.
    """
    what = "safe_embedding_lookup_sparse"
    ids = as_sparse(sparse_ids, what)
    weights = None if sparse_weights is None else as_sparse(sparse_weights, what)
    lead = ids.shape[:-1]
    rows = flat_places(sparse(ids.indices[:, :-1], ids.values, lead), what)
    indices = movement.stack(rows, ids.indices[:, -1], axis=1)
    shape = (math.prod(lead), ids.shape[-1])
    valid = np.asarray(ids.values) >= 0
    if weights is not None and combiner != "sum":
        valid &= np.asarray(weights.values) > 0
    ids = retain(sparse(indices, ids.values, shape), tensor(valid))
    if weights is not None:
        weights = retain(sparse(indices, weights.values, shape), tensor(valid))
    ids, empty = fill_empty_rows(ids, default_id or 0)
    if weights is not None:
        weights, _ = fill_empty_rows(weights, 1)
    made = embedding_lookup_sparse(embedding_weights, ids, weights, combiner, max_norm)
    if default_id is None:
        none = movement.reshape(empty, shape=(*empty.shape, *(1,) * (made.ndim - 1)))
        made = elementwise.select(none, tensor(0, made.dtype), made)
    return movement.reshape(made, shape=(*lead, *made.shape[1:]))
