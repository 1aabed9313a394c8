"""Ops that copy, move or view elements. The derivative rule of a linear op is its adjoint."""

import math

import numpy as np

from framework.core.errors import OutOfRangeError
from framework.core.numpy_warnings import no_warnings
from framework.core.op import Op, movement, no_derivative
from framework.core.recorders import replaying, thread
from framework.core.stacking import stack, unstack  # noqa: F401 (they are among these ops)
from framework.core.tensor import Tensor
from framework.kernels import scatter
from framework.kernels.sums import added


def forwards(x):
    """Return the array, or a copy of it if one of its strides is negative.

    NumPy computes arrays with negative strides by another loop, which rounds differently. So a
    compiled plan, which omits `x / 1.0`, would round differently from eager ops.
    """
    return x.copy() if type(x) is np.ndarray and x.ndim and min(x.strides) < 0 else x


# ---- changes of shape ----------------------------------------------------------------------------


def _reshape_infer(x, *, shape):
    """Infer the shape of a symbolic result; the size -1 is None unless all sizes are known."""
    known = [n for n in shape if n is not None and n != -1]
    free = [i for i, n in enumerate(shape) if n is None or n == -1]
    sizes = [n for n in x.shape if n is not None]
    result = list(shape)
    if len(sizes) == len(x.shape) and len(free) == 1:
        result[free[0]] = math.prod(sizes) // max(math.prod(known), 1)
    else:
        for i in free:
            result[i] = None
    return tuple(result), x.dtype


reshape = movement(
    "reshape", lambda x, *, shape: np.reshape(x, shape),
    lambda g, x_shape: reshape(g, shape=x_shape), infer=_reshape_infer,
)  # fmt: skip


def _inverse(perm):
    return tuple(int(i) for i in np.argsort(perm))


transpose = movement(
    "transpose", lambda x, *, perm: np.transpose(x, perm),
    lambda g, perm: transpose(g, perm=_inverse(perm)),
)  # fmt: skip


@no_warnings
def _sum_to(x, *, shape):
    lead = x.ndim - len(shape)
    if x.shape[lead:] == tuple(shape):
        return added(x, tuple(range(lead)))
    axes = tuple(range(lead)) + tuple(i + lead for i, n in enumerate(shape) if n == 1)
    return np.add.reduce(x, axis=axes, keepdims=True).reshape(shape)


def _broadcast_to(x, *, shape):
    """Return a view with zero strides, faster than `np.broadcast_to` if `x` is contiguous."""
    x = np.asarray(x)
    if not x.flags.forc or x.dtype.kind not in "fiub":
        return np.broadcast_to(x, shape)
    if not x.ndim:
        return np.ndarray(shape, x.dtype, x, strides=(0,) * len(shape))
    lead = len(shape) - x.ndim
    if lead < 0 or any(n not in (1, m) for n, m in zip(x.shape, shape[lead:], strict=True)):
        raise ValueError(f"expected a shape that broadcasts to {tuple(shape)}, got {x.shape}")
    kept = [s if n != 1 else 0 for n, s in zip(x.shape, x.strides, strict=True)]
    return np.ndarray(shape, x.dtype, x, strides=(0,) * lead + tuple(kept))


broadcast_to = movement(
    "broadcast_to", _broadcast_to, lambda g, x_shape: sum_to(g, shape=x_shape),
    infer=lambda x, *, shape: (tuple(shape), x.dtype),
)  # fmt: skip
sum_to = movement("sum_to", _sum_to, lambda g, x_shape: broadcast_to(g, shape=x_shape))


def expand_axes(x, axes):
    """Insert axes of size 1 into `x`; `axes` are their sorted positions in the result."""
    shape = list(x.shape)
    for axis in axes:
        shape.insert(axis, 1)
    return reshape(x, shape=tuple(shape))


flip = movement(
    "flip", lambda x, *, axis: forwards(np.flip(x, axis)), lambda g, axis: flip(g, axis=axis)
)
roll = movement(
    "roll", lambda x, *, shift, axis: np.roll(x, shift, axis),
    lambda g, shift, axis: roll(g, shift=tuple(-s for s in shift), axis=axis),
)  # fmt: skip

# ---- joining and splitting -----------------------------------------------------------------------

concat = movement(
    "concat", lambda *xs, axis: np.concatenate(xs, axis),
    backward=lambda g, xs_shape, axis: split(g, sizes=tuple(s[axis] for s in xs_shape), axis=axis),
    fresh=True,
)  # fmt: skip


def _split(x, *, sizes, axis):
    return tuple(np.split(x, np.cumsum(sizes)[:-1], axis))


split = movement("split", _split, lambda gs, axis: concat(*gs, axis=axis), outputs=None)

# ---- indexing ------------------------------------------------------------------------------------


def _getitem_infer(x, *, index):
    """Infer the shape of x[index]; a slice of an axis of unknown size has an unknown size."""
    taken = sum(i is not None and i is not Ellipsis for i in index)
    dots = [slice(None)] * (len(x.shape) - taken)
    at = next((k for k, i in enumerate(index) if i is Ellipsis), len(index))
    index = [*index[:at], *dots, *index[at + 1 :]]
    axis = 0
    for k, i in enumerate(index):
        if i is None:
            continue
        if x.shape[axis] is None:
            index[k] = slice(None) if isinstance(i, slice) else np.zeros_like(i)
        axis += 1
    shapes = [
        np.broadcast_to(False, [n if m is None else m for m in x.shape])[tuple(index)].shape
        for n in (2, 3)
    ]
    return tuple(m if m == n else None for m, n in zip(*shapes, strict=True)), x.dtype


def _shape_infer(_x, *_indices, shape, **_attrs):
    return tuple(shape), _x.dtype


def kept_text(item):
    """Return an indexed item unchanged; but a single string becomes a 0-d array of dtype object."""
    return np.asarray(item, object) if type(item) is bytes else item


getitem = movement(
    "getitem", lambda x, *, index: kept_text(forwards(x[index])),
    lambda g, x_shape, index: put(g, shape=x_shape, index=index), infer=_getitem_infer,
)  # fmt: skip
put = movement(
    "put", scatter.put, lambda g, index: getitem(g, index=index), infer=_shape_infer, fresh=True
)

_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def _checked(indices, *, what, size=None, negative=False):
    dtype, seen, top = indices.dtype, indices, size
    if dtype.kind == "i" and not negative:
        # Viewed as unsigned integers, negative indices are the largest: one pass checks both
        # bounds.
        seen, half = indices.view(_UNSIGNED[dtype.itemsize]), 1 << (8 * dtype.itemsize - 1)
        top = half if size is None or size > half else size
    if top is not None and indices.size and np.maximum.reduce(seen, None) >= top:
        if size is None:
            expected = "not be negative"
        else:
            expected = f"lie below {size}" if negative else f"lie from 0 to {size - 1}"
        at = np.argwhere(seen >= top)[0]
        place = f"indices[{','.join(map(str, at))}] = {indices[tuple(at)]}"
        limits = f" is not in [0, {size})" if size is not None and not negative else ""
        raise OutOfRangeError(f"{what} must {expected}, got {indices[tuple(at)]}: {place}{limits}.")
    return indices


_within = Op(
    "within", _checked, no_derivative, kind="elementwise",
    infer=lambda indices, **_: (tuple(indices.shape), indices.dtype), raises=True,
)  # fmt: skip


def within(indices, **limits):
    """Return the integers unchanged, or raise OutOfRangeError if some are out of range.

    This is an op, so that compiled plans and models check the indices in every call.

    Args:
        indices: an integer tensor or array.
        limits: `what`, the indices' name in the error; `size`, their exclusive upper bound;
            `negative`, whether negative indices are valid.
    """
    if type(indices) is not Tensor or (thread.stack and replaying()):
        return _within(indices, **limits)
    _checked(indices.array, **limits)
    return indices


gather = movement(
    "gather", lambda x, indices, *, axis: kept_text(x.take(indices, axis)),
    lambda g, indices, x_shape, axis: scatter_add(g, indices, shape=x_shape, axis=axis),
    no_derivative,
    infer=lambda x, indices, *, axis: (
        (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]), x.dtype
    ), fresh=True, raises=True,
)  # fmt: skip
scatter_add = movement(
    "scatter_add", scatter.scatter_add,
    lambda g, indices, axis: gather(g, indices, axis=axis), no_derivative, infer=_shape_infer,
    fresh=True, raises=True,
)  # fmt: skip


take_along_axis = movement(
    "take_along_axis", lambda x, indices, *, axis: np.take_along_axis(x, indices, axis),
    lambda g, indices, x_shape, axis: put_along_axis(g, indices, shape=x_shape, axis=axis),
    no_derivative, raises=True,
)  # fmt: skip
put_along_axis = movement(
    "put_along_axis", scatter.put_along_axis,
    lambda g, indices, axis: take_along_axis(g, indices, axis=axis), no_derivative,
    infer=_shape_infer, raises=True,
)  # fmt: skip


def _pad(x, *, widths):
    shape = [before + n + after for n, (before, after) in zip(x.shape, widths, strict=True)]
    result = np.full(shape, b"", object) if x.dtype.kind == "O" else np.zeros(shape, x.dtype)
    middle = tuple(slice(b, b + n) for n, (b, _) in zip(x.shape, widths, strict=True))
    result[middle] = x
    return result


pad = movement(
    "pad", _pad,
    lambda g, x_shape, widths: getitem(
        g, index=tuple(slice(before, before + n) for (before, _), n in zip(widths, x_shape))
    ),
)  # fmt: skip


def _one_hot(indices, *, depth, dtype):
    return (indices[..., None] == np.arange(depth)).astype(dtype)


one_hot = movement("one_hot", _one_hot, no_derivative, fresh=True)


def _argsort(x, *, axis, descending=False):
    """Sort stably in both directions: equal elements keep their order."""
    if not descending:
        return np.argsort(x, axis, kind="stable")
    turned = np.argsort(np.flip(x, axis), axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(turned, axis)


argsort = movement(
    "argsort", _argsort, no_derivative, infer=lambda x, **_: (x.shape, np.dtype(np.int64))
)


def top_k(x, *, k):
    """Return the `k` largest elements of the last axis, descending, and their indices (stable)."""
    last = len(x.shape) - 1
    order = getitem(argsort(x, axis=last, descending=True), index=(Ellipsis, slice(k)))
    return take_along_axis(x, order, axis=last), order
