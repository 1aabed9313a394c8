"""Functions of tf.sets: the rows of the last axis as sets of numbers or strings.

>>> import framework as tf
>>> tf.sets.union([[1, 2]], [[2, 3]]).values.numpy()
array([1, 2, 3], dtype=int32)
"""

from typing import Any, NamedTuple

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.promotion import strict_all
from framework.ops.sparse_tensor import SparseTensor
from framework.ops.tables import look_up_all, look_up_rows

_INT64 = np.dtype(np.int64)


def _difference(a, b):
    return a - b


def _opposite(a, b):
    return b - a


def _intersection(a, b):
    return a & b


def _union(a, b):
    return a | b


class _Combined(NamedTuple):
    """The NumPy implementation of an op that combines corresponding rows of two arrays as sets."""

    function: Any

    def __call__(self, a, b):
        lead = a.shape[:-1]
        rows = zip(*(x.reshape(int(np.prod(lead)), x.shape[-1]).tolist() for x in (a, b)))
        sets = [sorted(self.function(set(x), set(y))) for x, y in rows]
        places = [(*where, i) for where, s in zip(np.ndindex(lead), sets) for i in range(len(s))]
        values = np.empty(len(places), a.dtype)
        values[:] = [value for s in sets for value in s]
        yield np.array(places, np.int64).reshape(len(places), a.ndim)
        yield values
        yield np.array([*lead, max(map(len, sets), default=0)], np.int64)

    def specs(self, a, b):
        rank = len(a.shape)
        dtype = a.dtype.np if hasattr(a.dtype, "np") else a.dtype
        return [((None, rank), _INT64), ((None,), dtype), ((rank,), _INT64)]


def _combined(a, b, function, what):
    a, b = _dense(a), _dense(b)
    a, b = strict_all(a, b)
    a, b = tensor(a), tensor(b)
    if a.dtype.is_inexact or a.dtype.is_bool:
        raise InvalidArgumentError(f"{what}: expected integers or strings, got {a.dtype}.")
    if not a.ndim or a.ndim != b.ndim or tuple(a.shape[:-1]) != tuple(b.shape[:-1]):
        raise ShapeError(
            f"{what}: expected shapes that are equal but for the last size, got {tuple(a.shape)} "
            f"and {tuple(b.shape)}."
        )
    return SparseTensor(*look_up_rows(a, b, table=_Combined(function)))


def _dense(x):
    """Return sparse sets as dense rows, padded with their last element; raise if one is empty."""
    if not isinstance(x, SparseTensor):
        return x
    shape, places = x.shape, np.asarray(x.indices)
    values, rows = np.asarray(x.values), np.zeros(shape[:-1], int)
    np.add.at(rows, tuple(places[:, :-1].T), 1)
    if (rows == 0).any():
        raise InvalidArgumentError("tf.sets: a sparse operand with an empty set is not supported.")
    made = np.empty(shape, values.dtype)
    for place, value in zip(places.tolist(), values.tolist()):
        made[(*place[:-1], slice(place[-1], None))] = value
    return made


def difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:
    """Return, row by row, the elements of `a` that are not in `b`, or the converse.

    Args:
        a, b: integers or strings of shape (..., n) and (..., m).
        aminusb: False for the elements of `b` that are not in `a`.
        validate_indices: ignored.
    """
    return _combined(a, b, _difference if aminusb else _opposite, "difference")


def intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """Return, row by row, the elements in both sets; arguments as in `difference`."""
    return _combined(a, b, _intersection, "intersection")


def union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """Return, row by row, the elements in either set; arguments as in `difference`."""
    return _combined(a, b, _union, "union")


class _Sizes(NamedTuple):
    """The NumPy implementation of an op that counts the distinct elements of each row."""

    dtype: Any = np.dtype(np.int32)

    def __call__(self, places, values, dense_shape):
        lead = tuple(dense_shape.tolist()[:-1])
        rows = {}
        for place, value in zip(places[:, :-1].tolist(), values.tolist()):
            rows.setdefault(tuple(place), set()).add(value)
        made = np.zeros(lead, np.int32)
        for place, found in rows.items():
            made[place] = len(found)
        return made

    def shape(self, *_shapes):
        return (None,)


def size(a: SparseTensor, validate_indices: bool = True) -> TensorLike:
    """Return the number of distinct elements of each row of a sparse tensor, int32."""
    if not isinstance(a, SparseTensor):
        raise InvalidArgumentError(f"tf.sets.size: expected a sparse tensor, got {a!r}.")
    return look_up_all(a.indices, a.values, a.dense_shape, table=_Sizes())
