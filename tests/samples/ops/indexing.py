"""Samples and references of ops on segments, rows at positions, and counting."""

import numpy as np

from tests.samples.ops.arguments import Sample, call, fixed_size, integers, real

INT64 = np.dtype("int64")


def ids(*numbers):
    return np.array(numbers)


class Squares:
    """A table: whole numbers to their squares."""

    dtype = np.dtype("float64")

    def __call__(self, keys):
        return np.array([float(k) ** 2 for k in keys.reshape(-1)]).reshape(keys.shape)

    def shape(self, shape):
        return shape


class Runs:
    """A table: the numbers below each key, and where they begin."""

    def __call__(self, keys):
        yield np.concatenate([np.zeros(0), *(np.arange(float(k)) for k in keys.flat)])
        yield np.append(0, np.cumsum(keys))

    def specs(self, keys):
        size = None if None in keys.shape else int(np.prod(keys.shape)) + 1
        return [((None,), np.dtype("float64")), ((size,), np.dtype("int64"))]


class Products(Squares):
    def __call__(self, *keys):
        return np.prod(keys, axis=0).astype(self.dtype)

    def shape(self, shape, *_others):
        return shape


def _segments(nothing=2):
    return [
        fixed_size(real(5, 3), ids(2, 0, 2, -1, 0), count=3 + (nothing > 0)),
        fixed_size(real(2, 2, 3), np.array([[0, 1], [1, 2]]), count=3),
        fixed_size(real(4), ids(1, 1, 0, 1), count=2),
        fixed_size(real(0, 3), np.zeros(0, int), count=nothing),
    ]


def _full():
    """Without empty segments, which would have the largest or smallest number of the dtype."""
    samples = _segments(nothing=0)
    samples[0].args[1][1] = 1
    return samples


def _rows():
    return [
        fixed_size(real(4, 3), ids(2, 0), real(2, 3, off=0.22)),
        fixed_size(real(4), ids(3, 1, 3), real(3, off=0.22)),
        fixed_size(real(2, 3), np.zeros(0, int), np.zeros((0, 3))),
    ]


def scan_samples():
    return [
        call(real(3, 4), axis=0, reverse=False), call(real(2, 3, 2), axis=1, reverse=True),
        call(real(2, 3) * 300, axis=1, reverse=False, other_floats="float32"),
        call(real(0, 3), axis=0, reverse=True),
    ]  # fmt: skip


SAMPLES = {
    "look_up": [
        call(integers(2, 3, below=9), table=Squares(), other_floats=""),
        call(np.zeros(0, int), table=Squares(), other_floats=""),
    ],
    "look_up_all": [
        call(np.array([[1, 2], [3, 4]]), np.array([[5, 6], [7, 8]]), table=Products(),
             other_floats=""),
        call(np.zeros(0, int), np.zeros(0, int), table=Products(), other_floats=""),
    ],
    "look_up_rows": [
        call(integers(2, 3, below=9), table=Runs(), other_floats=""),
        call(np.zeros(0, int), table=Runs(), other_floats=""),
    ],
    "segment_sum": _segments(),
    "segment_max": _full(),
    "segment_min": _full(),
    "segment_prod": _segments(),
    "segment_take": [
        fixed_size(real(3, 2), ids(2, -1, 0, 2)), fixed_size(real(3), np.array([[0, 1], [1, -1]])),
        fixed_size(real(3, 2), np.zeros(0, int)), fixed_size(np.zeros((0, 2)), ids(-1)),
    ],
    "row_update": _rows(),
    "row_max": _rows(),
    "row_min": _rows(),
    "places": [
        call(np.array([[0, 2], [1, 0]]), shape=(2, 3), what="here"),
        call(np.array([[0, 3], [-1, 0]]), shape=(2, 3), what="here", ignore=True),
        call(np.array([[[1]]]), shape=(2,), what="here"), call(np.zeros((0, 2), int), shape=(2, 3),
                                                              what="here"),
        call(np.zeros((2, 0), int), shape=(), what="here"),
    ],
    "stays": [call(ids(3, 1, 3, 0)), call(np.zeros(0, int))],
    "partition_places": [fixed_size(ids(1, 0, 1, 3), count=4),
                         fixed_size(np.zeros(0, int), count=2)],
    "stitch_places": [fixed_size(ids(0, 2), ids(1, 2)), fixed_size(np.array([[4], [1]])),
                      fixed_size(np.zeros(0, int))],
    "bincount": [
        fixed_size(integers(9, below=5), None, size=5, per_row=False, binary=False, dtype=INT64),
        Sample((integers(2, 6, below=5), real(2, 6)), any_batch=False, other_floats="",
               attrs={"size": 4, "per_row": False, "binary": False, "dtype": np.dtype(float)}),
        fixed_size(integers(2, 6, below=5), None, size=7, per_row=True, binary=True, dtype=INT64),
        fixed_size(np.zeros(0, int), None, size=2, per_row=False, binary=False, dtype=INT64),
    ],
    "unique": [fixed_size(ids(4, 1, 4, 2, 1), dtype=INT64),
               fixed_size(np.zeros(0, int), dtype=INT64)],
    "distinct": [
        fixed_size(ids(4, 1, 4, 2, 1), axis=None, length=None),
        fixed_size(ids(4, 1, 4, 2, 1), axis=0, length=5),
        fixed_size(np.zeros(0, int), axis=None, length=None),
    ],
    "searchsorted": [
        call(np.arange(4.0), np.array([[1.0, 5.0], [-1.0, 0.5]]), side="left", dtype=INT64,
            any_batch=False),
        call(np.arange(6.0).reshape(2, 3), np.array([[1.0, 5.0], [4.0, 3.0]]), side="right",
            dtype=INT64),
        call(np.arange(4.0), np.zeros(0), side="left", dtype=INT64, any_batch=False),
    ],
    "invert_permutation": [fixed_size(ids(2, 0, 3, 1)), fixed_size(np.zeros(0, int))],
    "unravel_index": [fixed_size(ids(2, 5), dims=(2, 3)), fixed_size(np.array(4), dims=(2, 3)),
                      fixed_size(np.zeros(0, int), dims=(2, 3))],
    "cumulative_logsumexp": scan_samples(),
}  # fmt: skip


def _each(first, combine):
    """`combine` over the rows of each segment, one row after the other."""

    def reference(x, ids, count):
        width = x.shape[ids.ndim :]
        y = np.full((count, *width), first)
        for place, k in np.ndenumerate(ids):
            if k >= 0:
                y[k] = combine(y[k], x[place])
        return y

    return reference


def _segment_take(x, ids):
    padded = np.concatenate([x, np.zeros((1, *x.shape[1:]))])
    return padded[ids]


def _row(combine):
    def reference(x, ids, updates):
        y = x.copy()
        for k, u in zip(ids, updates, strict=True):
            y[k] = combine(y[k], u)
        return y

    return reference


def _places(indices, shape, what, ignore=False):
    if not indices.size:
        return np.zeros(indices.shape[:-1], int)
    flat = np.ravel_multi_index(tuple(np.moveaxis(indices, -1, 0)), shape, mode="clip")
    inside = np.all((indices >= 0) & (indices < shape), -1)
    return np.where(inside, flat, -1)


def _stitch(*indices):
    flat = [int(i) for index in indices for i in index.ravel()]
    n = max(flat, default=-1) + 1
    return np.array([max((k for k, i in enumerate(flat) if i == j), default=-1) for j in range(n)],
                    dtype=int)  # fmt: skip


def _bincount(x, weights, size, per_row, binary, dtype):
    if per_row:
        return np.stack([_bincount(r, None, size, False, binary, dtype) for r in x])
    hits = x.reshape(-1, 1) == np.arange(size)
    if binary:
        return hits.any(0).astype(dtype)
    weights = np.ones(x.size) if weights is None else weights.reshape(-1)
    return (weights @ hits).astype(dtype)


def _distinct(x, axis, length):
    values = x.tolist()
    found = sorted(set(values))
    missing = max((length or 0) - len(found), 0)
    first = [values.index(v) for v in found]
    return (
        np.array(first + first[:1] * missing, int),
        np.array([found.index(v) for v in values], int),
        np.array([values.count(v) for v in found] + [0] * missing, int),
    )


def _unique(x, dtype):
    kinds = list(dict.fromkeys(x.tolist()))
    index = [kinds.index(v) for v in x.tolist()]
    counts = [index.count(k) for k in range(len(kinds))]
    return np.array(kinds, x.dtype), np.array(index, dtype), np.array(counts, dtype)


def _searchsorted(x, values, side, dtype):
    x = np.broadcast_to(x, (*values.shape[:-1], x.shape[-1]))[..., None, :]
    smaller = x < values[..., None] if side == "left" else x <= values[..., None]
    return smaller.sum(-1).astype(dtype)


def _cumulative_logsumexp(x, axis, reverse):
    x = np.flip(x, axis) if reverse else x
    y = [np.logaddexp.reduce(np.take(x, range(k + 1), axis), axis) for k in range(x.shape[axis])]
    y = np.stack(y, axis) if y else x
    return np.flip(y, axis) if reverse else y


TINY, HUGE = np.finfo(float).min, np.finfo(float).max

REFERENCES = {
    "bincount": _bincount,
    "cumulative_logsumexp": _cumulative_logsumexp,
    "invert_permutation": np.argsort,
    "look_up": lambda keys, table: np.square(keys.astype(float)),
    "look_up_rows": lambda keys, table: (
        np.array([i for n in keys.flat for i in range(n)], float),
        np.append(0, np.cumsum(keys)),
    ),
    "look_up_all": lambda *keys, table: np.prod(keys, axis=0).astype(float),
    "partition_places": lambda x, count: tuple(np.where(x == k)[0] for k in range(count)),
    "places": _places,
    "row_max": _row(np.maximum),
    "row_min": _row(np.minimum),
    "row_update": _row(lambda _, u: u),
    "searchsorted": _searchsorted,
    "segment_max": _each(TINY, np.maximum),
    "segment_min": _each(HUGE, np.minimum),
    "segment_prod": _each(1.0, np.multiply),
    "segment_sum": _each(0.0, np.add),
    "segment_take": _segment_take,
    "stays": lambda x: np.array([v not in x[k + 1 :] for k, v in enumerate(x)], bool),
    "stitch_places": _stitch,
    "distinct": _distinct,
    "unique": _unique,
    "unravel_index": lambda x, dims: np.stack([x // dims[1], x % dims[1]]),
}
