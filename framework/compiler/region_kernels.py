"""Compute op nodes as tasks of parallel regions, by kernels of type `KernelTask`."""

import math
from typing import NamedTuple

import numpy as np

from framework.compiler.fusion import is_sum
from framework.compiler.ir import OpNode, Value
from framework.kernels import attention, cross_entropy, rows
from framework.kernels.kernel_task import KernelTask

_FLOAT = np.dtype(np.float32)
_NOTHING = np.empty(0, _FLOAT)
# A region computes sums of at most this many elements; for more, loops are faster.
_MOST_ADDED = 1 << 14


class ScratchBuffer:
    """float32 memory through which tasks of a region pass data; it is not a Value of the graph."""

    dtype = _FLOAT

    def __init__(self, *shape):
        self.shape, self.size = shape, math.prod(shape)
        self.nbytes = self.size * self.dtype.itemsize


class ArrayUse(NamedTuple):
    """How a kernel uses an array.

    array: a Value, a ScratchBuffer, or an array allocated before the call.
    partitioned: whether each work item accesses only its own part of the array.
    """

    array: object
    partitioned: bool = False
    written: bool = False


class KernelCall(NamedTuple):
    """A kernel and the uses of its arrays, in order."""

    units: KernelTask
    uses: tuple


def kernel_calls(node):
    """Return the kernel calls that compute a node, in order; None if no kernel can be a task."""
    find = KERNEL_CALLS.get(node.op.name) if type(node) is OpNode else None
    return None if find is None else find(node)


def _own(array, written=False):
    return ArrayUse(array, True, written)


def _made(array):
    return ArrayUse(array, False, True)


def _size_of_rows(node, vector):
    """Return (number of rows, row size) if a Numba kernel computes the node, else None."""
    values = (*node.args, *node.all_outputs)
    if not all(type(v) is Value and v.dtype == _FLOAT for v in values):
        return None
    return _rows_of(node.inputs[0], vector.size)


def _rows_of(x, size):
    """Return (number of rows, row size) if the Numba kernel supports x, else None."""
    fast = rows.is_fast(x.dtype, x.size, size, loaded=True)
    return (x.size // size, size) if fast else None


def _norm(node):
    """Return the kernel of a normalization over rows."""
    x, *vectors = node.args
    found = _size_of_rows(node, vectors[0])
    if found is None:
        return None
    saved = node.saved or [ScratchBuffer(found[0]) for _ in vectors]
    made = [_own(v, True) for v in (*node.outputs, *saved)]
    units = rows.norm_task(node.op.name, *found, node.attrs["epsilon"])
    return [KernelCall(units, (_own(x), *map(ArrayUse, vectors), *made))]


def _norm_back(node):
    """Return the kernels of the gradient of a normalization.

    The first kernel writes partial sums over rows; every other kernel adds those of one vector.
    """
    g, x, vector, *of_rows = node.args
    found = _size_of_rows(node, vector)
    if found is None:
        return None
    outputs = iter(node.outputs)
    d, *of_vectors = [next(outputs) if n else None for n in node.attrs["needed"]]
    sums = [ScratchBuffer(rows.sums_of(found[0]), found[1]) for _ in of_vectors]
    to = ArrayUse(_NOTHING) if d is None else _own(d, True)
    uses = _own(g), _own(x), ArrayUse(vector), *map(_own, of_rows), to, *map(_made, sums)
    added = [
        KernelCall(rows.added_task(*s.shape), (ArrayUse(s), _made(v)))
        for s, v in zip(sums, of_vectors, strict=True)
        if v is not None
    ]
    return [KernelCall(rows.norm_back_task(node.op.name, *found, d is not None), uses), *added]


def _sparse_cross_entropy(node):
    """Return the kernel that computes losses, exponentials of logits and their sums."""
    logits, labels = node.args
    found = _rows_of_labels(logits, labels)
    if found is None:
        return None
    saved = node.saved or [ScratchBuffer(*found), ScratchBuffer(found[0])]
    made = [_own(v, True) for v in (*node.outputs, *saved)]
    units = cross_entropy.task("sparse_cross_entropy", *found)
    return [KernelCall(units, (_own(logits), _own(labels), *made))]


def _sparse_cross_entropy_back(node):
    g, labels, e, total = node.args
    found = _rows_of_labels(e, labels)
    if found is None or not all(type(v) is Value and v.dtype == _FLOAT for v in (g, total)):
        return None
    units = cross_entropy.task("sparse_cross_entropy_back", *found)
    return [KernelCall(units, (*map(_own, node.args), _own(node.outputs[0], True)))]


def _rows_of_labels(x, labels):
    """Return (number of rows, row size) of float32 rows with int64 labels, or None."""
    if not (type(x) is type(labels) is Value and x.dtype == _FLOAT and labels.dtype == np.int64):
        return None
    return _rows_of(x, x.shape[-1])


def _total(node):
    """Return the kernel of a sum or mean over all elements."""
    (x,), (made,) = node.inputs, node.outputs
    if is_sum(node) != "all" or x.dtype != _FLOAT or x.size > _MOST_ADDED:
        return None
    count = x.size if node.op.name == "reduce_mean" else 1
    return [KernelCall(rows.total_task(x.size, count), (ArrayUse(x), _made(made)))]


def _attention(node):
    q, k, v, bias, mask = node.args
    (out,) = node.outputs
    if not _is_fast(q, k, v, bias, mask):
        return None
    batch, length, heads, _ = q.shape
    saved = node.saved or [ScratchBuffer(batch, heads, length) for _ in range(2)]
    units = attention.task("forward", q, k, v, bias, mask, **node.attrs)
    uses = *map(ArrayUse, (q, k, v, *_spread(bias, mask))), *map(_made, (out, *saved))
    return [KernelCall(units, uses)]


def _attention_back(node):
    g, q, k, v, bias, mask, out, high, total = node.args
    attrs = dict(node.attrs)
    needed = tuple(attrs.pop("needed"))
    if needed != (True, True, True, False) or not _is_fast(q, k, v, bias, mask):
        return None
    if not all(type(v) is Value and v.dtype == _FLOAT for v in (g, out, high, total)):
        return None
    units = attention.task("backward", q, k, v, bias, mask, **attrs)
    read = g, q, k, v, *_spread(bias, mask), out, high, total
    return [KernelCall(units, (*map(ArrayUse, read), *map(_made, node.outputs)))]


def _is_fast(*arrays):
    if not all(a is None or type(a) is Value for a in arrays):
        return False
    *others, mask = arrays
    return (mask is None or mask.dtype == np.bool_) and attention.is_fast(*others)


def _spread(bias, mask):
    bias = attention.NO_BIAS if bias is None else bias
    return bias, attention.NO_MASK if mask is None else mask


# op name -> function that returns the node's kernel calls. Outputs must not share memory with
# inputs.
KERNEL_CALLS = {
    "attention": _attention,
    "attention_back": _attention_back,
    "layer_norm": _norm,
    "layer_norm_back": _norm_back,
    "reduce_mean": _total,
    "reduce_sum": _total,
    "rms_norm": _norm,
    "rms_norm_back": _norm_back,
    "sparse_cross_entropy_back": _sparse_cross_entropy_back,
    "sparse_softmax_cross_entropy": _sparse_cross_entropy,
}
