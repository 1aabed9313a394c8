"""Ops that update rows of `x` at the positions `ids`, and flat positions of index tuples.

gather_nd, scatter_nd and similar functions are composed of these and of the segment ops.
"""

import numpy as np

from framework.core.cast import cast
from framework.core.errors import OutOfRangeError
from framework.core.op import Op, movement, no_derivative
from framework.ops.elementwise import divide, equal, masked
from framework.ops.reduction import np_dtype
from framework.ops.segment import segment_sum, segment_take


def _places(indices, *, shape, what, ignore=False):
    """Convert index tuples (the last axis of `indices`) to positions in a flattened `shape`.

    An index tuple out of range raises OutOfRangeError, or becomes -1 if `ignore`.
    """
    wrong = (indices < 0) | (indices >= np.asarray(shape, np.int64))
    if np.any(wrong) and not ignore:
        *where, axis = (int(i) for i in np.argwhere(wrong)[0])
        index = indices[tuple(where)].tolist()
        raise OutOfRangeError(
            f"{what}: index {index[axis]} is out of range for axis {axis} of size {shape[axis]}: "
            f"indices{where} = {index} does not index into param shape {list(shape)}."
        )
    strides = [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
    flat = indices.astype(np.int64) @ np.asarray(strides, np.int64)
    return np.where(np.any(wrong, axis=-1), -1, flat)


places = Op(
    "places", _places, no_derivative,
    infer=lambda indices, **_: (tuple(indices.shape[:-1]), np.dtype(np.int64)), raises=True,
)  # fmt: skip


def _like_x(x, *_):
    return x.shape, x.dtype


# ---- replace rows: the last of several updates of a row wins -------------------------------------


def _row_update(x, ids, updates):
    y = np.array(x)
    y[ids] = updates
    return y


def last_of_each(ids):
    """Return booleans in the shape of the 1-d `ids`: True at the last occurrence of each id."""
    _, first = np.unique(ids[::-1], return_index=True)
    last = np.zeros(ids.shape, bool)
    last[len(ids) - 1 - first] = True
    return last


_stays = Op("stays", last_of_each, no_derivative)


def _by_updates(g, ids, x_shape):
    stays = _stays(ids)
    taken = segment_take(g, ids)
    if len(x_shape) > 1:
        stays = stays[(..., *(None,) * (len(x_shape) - 1))]
    return masked(taken, stays)


row_update = movement(
    "row_update", _row_update,
    lambda g, ids, updates_shape: row_update(g, ids, np.zeros(updates_shape, np_dtype(g))),
    no_derivative, lambda g, ids, x_shape: _by_updates(g, ids, x_shape), infer=_like_x, raises=True,
)  # fmt: skip


# ---- maximum or minimum of rows and updates: equal elements share the cotangent evenly -----------


def _row_extreme(ufunc):
    def forward(x, ids, updates):
        y = np.array(x)
        ufunc.at(y, ids, updates)
        return y

    return forward


def _share(g, y, x, ids, updates):
    """Divide the cotangent by the number of elements that equal the extreme of their segment."""
    of_updates = cast(equal(updates, segment_take(y, ids)), dtype=np_dtype(g))
    ways = segment_sum(of_updates, ids, count=x.shape[0])
    return divide(g, ways + cast(equal(x, y), dtype=np_dtype(g)))


def _extreme_by_x(g, y, x, ids, updates):
    return masked(_share(g, y, x, ids, updates), equal(x, y))


def _extreme_by_updates(g, y, x, ids, updates):
    share = segment_take(_share(g, y, x, ids, updates), ids)
    return masked(share, equal(updates, segment_take(y, ids)))


row_max = Op(
    "row_max", _row_extreme(np.maximum), _extreme_by_x, no_derivative, _extreme_by_updates,
    infer=_like_x, raises=True,
)  # fmt: skip
row_min = Op(
    "row_min", _row_extreme(np.minimum), _extreme_by_x, no_derivative, _extreme_by_updates,
    infer=_like_x, raises=True,
)  # fmt: skip

# ---- dynamic partition and stitch ----------------------------------------------------------------


def _partition_places(partitions, *, count):
    return tuple(np.flatnonzero(partitions == k) for k in range(count))


# `partition_places` returns, for each k < count, the positions of k in the flattened `partitions`.
partition_places = Op(
    "partition_places", _partition_places, no_derivative, outputs=None,
    infer=lambda partitions, *, count: [((None,), np.dtype(np.int64))] * count,
    sized_by_values=True,
)  # fmt: skip


def _stitch_places(*indices):
    flat = np.concatenate([np.reshape(i, -1) for i in indices])
    result = np.full(flat.max(initial=-1) + 1, -1, np.int64)
    result[flat] = np.arange(len(flat))
    return result


# `stitch_places` returns, for each index of the result, the position of the last row with this
# index in the concatenated data, or -1.
stitch_places = Op(
    "stitch_places", _stitch_places, no_derivative,
    infer=lambda *_: ((None,), np.dtype(np.int64)), sized_by_values=True, raises=True,
)  # fmt: skip
