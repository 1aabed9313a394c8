"""Counting, searching and index ops, without derivatives."""

import numpy as np

from framework.core.errors import InvalidArgumentError
from framework.core.op import Op, no_derivative


def _bincount(x, weights, *, size, per_row, binary, dtype):
    if x.size and x.min() < 0:
        raise InvalidArgumentError(f"bincount: `arr` must not be negative, got {x.min()}.")
    rows = x.reshape(-1, x.shape[-1]) if per_row else x.reshape(1, -1)
    kept = rows < size
    places = (np.arange(len(rows))[:, None] * size + rows)[kept]
    of_kept = None if weights is None else weights.reshape(rows.shape)[kept]
    counts = np.bincount(places, of_kept, minlength=len(rows) * size)
    counts = (counts > 0 if binary else counts).astype(dtype)
    return counts.reshape(*x.shape[:-1], size) if per_row else counts


bincount = Op("bincount", _bincount, no_derivative, inputs=("x", "weights"), raises=True)


def _unique(x, *, dtype):
    """Return the distinct values by first occurrence, each element's index in them, and counts."""
    found, first, index, counts = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return found[order], rank[index.reshape(-1)].astype(dtype), counts[order].astype(dtype)


def _unique_infer(x, *, dtype):
    return [((None,), x.dtype), (tuple(x.shape), dtype), ((None,), dtype)]


unique = Op(
    "unique", _unique, no_derivative, outputs=3, infer=_unique_infer, sized_by_values=True
)  # fmt: skip


def _searchsorted(x, values, *, side, dtype):
    if x.ndim == 1:
        return np.searchsorted(x, values, side).astype(dtype)
    rows, wanted = x.reshape(-1, x.shape[-1]), values.reshape(-1, values.shape[-1])
    found = [np.searchsorted(r, v, side) for r, v in zip(rows, wanted, strict=True)]
    return np.asarray(found, dtype).reshape(values.shape)


searchsorted = Op(
    "searchsorted", _searchsorted, no_derivative,
    infer=lambda x, values, *, side, dtype: (values.shape, np.dtype(dtype)),
)  # fmt: skip


def _invert_permutation(x):
    y = np.full_like(x, -1)
    if x.size and (x.min() < 0 or x.max() >= len(x)):
        raise InvalidArgumentError(
            f"invert_permutation: `x`: every number must be between 0 and {len(x) - 1}, got "
            f"{x.tolist()}."
        )
    y[x] = np.arange(len(x), dtype=x.dtype)
    if y.min(initial=0) < 0:
        raise InvalidArgumentError(
            f"invert_permutation: `x`: no number may occur twice, got {x.tolist()}."
        )
    return y


invert_permutation = Op(
    "invert_permutation", _invert_permutation, no_derivative,
    infer=lambda x: (x.shape, x.dtype), raises=True,
)  # fmt: skip


def _unravel_index(x, *, dims):
    size = int(np.prod(dims))
    if x.size and (x.min() < 0 or x.max() >= size):
        raise InvalidArgumentError(
            f"unravel_index: an index of {x.tolist()} is out of bounds for dims {dims}."
        )
    return np.stack(np.unravel_index(x, dims)).astype(x.dtype)


unravel_index = Op(
    "unravel_index", _unravel_index, no_derivative,
    infer=lambda x, *, dims: ((len(dims), *x.shape), x.dtype), raises=True,
)  # fmt: skip


def _distinct(x, *, axis, length):
    _, first, index, counts = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    index = index.reshape(x.shape if axis is None else (-1,))
    if length is not None:
        missing = max(length - len(first), 0)
        first = np.append(first[:length], np.repeat(first[:1], missing))
        counts = np.append(counts[:length], np.zeros(missing, counts.dtype))
    return tuple(v.astype(np.int32) for v in (first, index, counts))


def _distinct_infer(x, *, axis, length):
    index = tuple(x.shape) if axis is None else (x.shape[axis],)
    return [(shape, np.dtype(np.int32)) for shape in ((length,), index, (length,))]


# `distinct` sorts the distinct elements of x, or its distinct slices along `axis`. It returns the
# index of the first occurrence of each distinct element in x, the index of the distinct element
# that equals each element of x, and the counts.
distinct = Op(
    "distinct", _distinct, no_derivative, outputs=3, infer=_distinct_infer, sized_by_values=True
)
