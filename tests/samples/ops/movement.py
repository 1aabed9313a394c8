"""Samples and references of ops that move elements."""

import numpy as np

from tests.samples.ops.arguments import call, fixed_size, integers, real

SAMPLES = {
    "reshape": [
        call(real(2, 6), shape=(-1, 3)), fixed_size(real(2, 6), shape=(3, 4)),
        fixed_size(real(), shape=(1, 1)),
        fixed_size(real(0, 3), shape=(3, 0)), fixed_size(real(1), shape=()),
    ],
    "transpose": [
        call(real(2, 3, 4), perm=(2, 0, 1)), call(real(2, 3), perm=(1, 0)), call(real(), perm=()),
        call(real(0, 3), perm=(1, 0)),
    ],
    "broadcast_to": [
        fixed_size(real(3), shape=(2, 3)), fixed_size(real(2, 1, 3), shape=(2, 4, 3)),
        fixed_size(real(), shape=(2, 2)), fixed_size(real(1, 3), shape=(0, 3)),
        fixed_size(real(2), shape=(2,)),
        fixed_size(real(0, 3), shape=(2, 0, 3)),
    ],
    "sum_to": [
        fixed_size(real(2, 3), shape=(3,)), fixed_size(real(2, 4, 3), shape=(2, 1, 3)),
        fixed_size(real(2, 2), shape=()), fixed_size(real(0, 3), shape=(1, 3)),
        fixed_size(real(2), shape=(2,)),
    ],
    "flip": [call(real(2, 3), axis=(1,)), call(real(2, 3), axis=(0, 1)),
             call(real(0, 2), axis=(0,))],
    "roll": [
        call(real(2, 3), shift=(1,), axis=(1,)), call(real(2, 3), shift=(1, -2), axis=(0, 1)),
        call(real(0, 2), shift=(1,), axis=(0,)),
    ],
    "concat": [
        call(real(2, 3), real(2, 1), real(2, 2), axis=1), call(real(2, 3), real(1, 3), axis=0),
        call(real(2, 3), axis=0), call(real(0, 3), real(2, 3), axis=0),
    ],
    "split": [
        call(real(2, 6), sizes=(1, 3, 2), axis=1), call(real(2, 6), sizes=(6, 0), axis=1),
        call(real(0, 2), sizes=(1, 1), axis=1),
    ],
    "stack": [
        call(real(2, 3), real(2, 3), axis=1), call(real(), real(), axis=0), call(real(2), axis=1),
        call(real(0, 2), real(0, 2), axis=0),
    ],
    "unstack": [call(real(2, 3), axis=1), call(real(0, 2), axis=1), fixed_size(real(3), axis=0)],
    "getitem": [
        call(real(4, 3), index=(slice(1, None),)),
        call(real(4, 3), index=(slice(None, None, -2), 1)),
        call(real(4, 3), index=(Ellipsis, None, 2)), call(real(4, 3), index=(2,)),
        call(real(4, 3), index=(np.array([3, 0, 3]),)),
        call(real(4, 3), index=(slice(None), np.array([[0, 2], [2, 2]]))),
        call(real(4, 3), index=(np.array([1, 1]), np.array([0, 2]))),
        fixed_size(real(4, 3), index=(np.array([True, False, True, True]),)),
        call(real(), index=()), call(real(), index=(None,)), call(real(4, 3), index=(slice(0, 0),)),
        call(real(0, 3), index=(slice(None, None, -1),)),
    ],
    "put": [
        fixed_size(real(3, 3), shape=(4, 3), index=(slice(1, None),)),
        fixed_size(real(2), shape=(4, 3), index=(slice(None, None, -2), 1)),
        fixed_size(real(3, 3), shape=(4, 3), index=(np.array([3, 0, 3]),)),
        fixed_size(real(2), shape=(4, 3), index=(np.array([1, 1]), np.array([2, 2]))),
        fixed_size(real(0, 3), shape=(4, 3), index=(slice(0, 0),)),
    ],
    "gather": [
        call(real(4, 3), np.array([3, 0, 3, -1]), axis=0),
        call(real(2, 4), integers(2, 2, below=4), axis=1),
        call(real(2, 4, 3), np.array([-1, 1, 1]), axis=1), call(real(4), np.array(2), axis=0),
        call(real(4, 3), np.zeros(0, int), axis=0), call(real(3, 0), np.array([1]), axis=0),
    ],
    "gather_rows": [
        call(real(4, 3), np.array([3, 0, 3, -1])), call(real(4, 2), np.array([[1, 1], [0, 3]])),
        call(real(4), np.array(2)), call(real(4, 3), np.zeros(0, int)),
        call(real(3, 0), np.array([1])), call(real(2, 0, 3), np.array([[1, 0]])),
    ],
    "scatter_add": [
        fixed_size(real(4, 3), np.array([3, 0, 3, -1]), shape=(4, 3), axis=0),
        fixed_size(real(2, 2, 2), integers(2, 2, below=4), shape=(2, 4), axis=1),
        fixed_size(real(2, 3, 3), np.array([-1, 1, 1]), shape=(2, 4, 3), axis=1),
        fixed_size(real(), np.array(2), shape=(4,), axis=0),
        fixed_size(real(0, 3), np.zeros(0, int), shape=(4, 3), axis=0),
    ],
    "take_along_axis": [
        call(real(2, 4), integers(2, 3, below=4), axis=1),
        call(real(2, 3), np.array([[0, 1, 1]]), axis=0),
        call(real(0, 3), np.zeros((0, 2), int), axis=1),
    ],
    "put_along_axis": [
        fixed_size(real(2, 3), np.array([[0, 3, 3], [1, 1, 1]]), shape=(2, 4), axis=1),
        fixed_size(real(1, 3), np.array([[0, 1, 1]]), shape=(2, 3), axis=0),
        fixed_size(real(0, 2), np.zeros((0, 2), int), shape=(0, 3), axis=1),
    ],
    "pad": [
        call(real(2, 3), widths=((0, 0), (1, 2))), call(real(2), widths=((3, 0),)),
        call(real(), widths=()), call(real(0, 2), widths=((1, 1), (0, 0))),
    ],
    "one_hot": [
        call(integers(2, 3, below=4), depth=4, dtype=np.dtype("float32")),
        call(np.array(5), depth=4, dtype=np.dtype("int32")),
        call(np.zeros(0, int), depth=3, dtype=np.dtype("float32")),
    ],
    "argsort": [
        call(real(3, 4), axis=1), call(real(3, 4), axis=0, descending=True),
        call(np.array([1.0, 2, 1, 2]), axis=0, descending=True), call(real(0, 3), axis=1),
    ],
}  # fmt: skip


def _argsort(x, axis, descending=False):
    return np.argsort(-x if descending else x, axis=axis, kind="stable")


def _one_hot(indices, depth, dtype):
    padded = np.eye(depth + 1, depth, dtype=dtype)
    return padded[np.where((indices >= 0) & (indices < depth), indices, depth)]


def _put(g, shape, index):
    y = np.zeros(shape)
    np.add.at(y, index, g)
    return y


def _put_along_axis(g, indices, shape, axis):
    y = np.zeros(shape)
    for position in np.ndindex(*indices.shape):
        to = list(position)
        to[axis] = indices[position]
        y[tuple(to)] += g[position]
    return y


def _scatter_add(g, indices, shape, axis):
    return _put(g, shape, (slice(None),) * axis + (indices,))


def _sum_to(x, shape):
    y = np.zeros(shape)
    for position in np.ndindex(*x.shape):
        kept = position[x.ndim - len(shape) :]
        y[tuple(0 if n == 1 else i for i, n in zip(kept, shape, strict=True))] += x[position]
    return y


REFERENCES = {
    "argsort": _argsort,
    "concat": lambda *xs, axis: np.concatenate(xs, axis),
    "gather": lambda x, indices, axis: np.take(x, indices, axis),
    "gather_rows": lambda x, indices: x[indices],
    "getitem": lambda x, index: x[index],
    "one_hot": _one_hot,
    "pad": lambda x, widths: np.pad(x, widths) if widths else x,
    "put": _put,
    "put_along_axis": _put_along_axis,
    "reshape": lambda x, shape: np.array(x.ravel().tolist()).reshape(shape),
    "scatter_add": _scatter_add,
    "split": lambda x, sizes, axis: tuple(np.split(x, np.cumsum(sizes)[:-1], axis)),
    "stack": lambda *xs, axis: np.stack(xs, axis),
    "sum_to": _sum_to,
    "take_along_axis": lambda x, indices, axis: np.take_along_axis(x, indices, axis),
    "transpose": lambda x, perm: np.einsum(x, list(range(x.ndim)), list(perm)),
    "unstack": lambda x, axis: tuple(np.take(x, i, axis) for i in range(x.shape[axis])),
}  # fmt: skip
