"""Functions of keras.ops for diagonals, blocks, rotations and products of matrices.

>>> from framework import keras
>>> keras.ops.diag([1, 2], k=1).numpy().tolist()
[[0, 1, 0], [0, 0, 2], [0, 0, 0]]
"""

from typing import Any

import numpy as np

from framework.core.argument_types import Axis, TensorLike
from framework.core.axes import one_axis
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.promotion import promote
from framework.core.tensor import Tensor
from framework.functions import linalg
from framework.keras.ops import arrays, reduction
from framework.keras.ops.argument_conversion import as_dtype, floating, ints
from framework.ops import einsum as _einsum
from framework.ops import elementwise, movement
from framework.ops import reduction as ops
from framework.ops.complex import conjugated, real

# ---- diagonals -----------------------------------------------------------------------------------


@operation
def diag(x: TensorLike, k: Any = 0) -> Tensor:
    """Return the diagonal `k` of a matrix, or a matrix with the vector `x` on the diagonal `k`."""
    x = tensor(x)
    if x.ndim == 2:
        return diagonal(x, k)
    if x.ndim != 1:
        raise ShapeError(f"diag: expected a vector or a matrix, got shape {tuple(x.shape)}.")
    k = int(k)
    size = x.shape[0] + abs(k)
    along = np.arange(x.shape[0])
    return movement.put(x, shape=(size, size), index=(along + max(-k, 0), along + max(k, 0)))


@operation
def diagflat(x: TensorLike, k: Any = 0) -> Tensor:
    """Return a matrix with the elements of `x`, flattened, on the diagonal `k`."""
    return diag(movement.reshape(tensor(x), shape=(-1,)), k)


@operation
def diagonal(x: TensorLike, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Tensor:
    """Return the diagonal `offset` of the matrices along `axis1` and `axis2`, as the last axis."""
    x, offset = tensor(x), int(offset)
    first, second = (one_axis(a, x.ndim, "diagonal") for a in (axis1, axis2))
    if first == second:
        raise InvalidArgumentError(f"diagonal: axis1 and axis2 must differ, got {axis1}, {axis2}.")
    rest = tuple(i for i in range(x.ndim) if i not in (first, second))
    moved = movement.transpose(x, perm=(*rest, first, second))
    rows, columns = moved.shape[-2:]
    length = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    along = np.arange(length)
    places = (along + max(-offset, 0), along + max(offset, 0))
    return movement.getitem(moved, index=(Ellipsis, *places))


def trace(x: TensorLike, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Tensor:
    """Return the sum of the diagonal `offset` of the matrices along `axis1` and `axis2`."""
    return reduction.sum(diagonal(x, offset, axis1, axis2), -1)


@operation
def vander(x: TensorLike, N: Any = None, increasing: bool = False) -> Tensor:
    """Return the powers of the elements of a vector, one row each.

    Args:
        x: a vector.
        N: the number of powers, by default the length of `x`.
        increasing: whether the powers increase from x⁰; otherwise they decrease to x⁰.
    """
    x = tensor(x)
    if x.ndim != 1:
        raise ShapeError(f"vander: expected a vector, got shape {tuple(x.shape)}.")
    count = x.shape[0] if N is None else int(N)
    column = movement.reshape(as_dtype(x, "int32") if x.dtype.is_bool else x, shape=(-1, 1))
    first = np.ones((x.shape[0], min(count, 1)), column.dtype.np)
    if count > 1:  # products instead of powers give x⁰ the derivative 0 at 0
        rest = movement.broadcast_to(column, shape=(x.shape[0], count - 1))
        powers = ops.cumprod(movement.concat(first, rest, axis=1), axis=1, reverse=False)
    else:
        powers = movement.broadcast_to(Tensor(first), shape=first.shape)
    return powers if increasing else movement.flip(powers, axis=(1,))


# ---- rotating and splitting ----------------------------------------------------------------------


def fliplr(x: TensorLike) -> Tensor:
    """Reverse the elements along axis 1."""
    return arrays.flip(x, 1)


def flipud(x: TensorLike) -> Tensor:
    """Reverse the elements along axis 0."""
    return arrays.flip(x, 0)


def rot90(array: TensorLike, k: Any = 1, axes: Axis = (0, 1)) -> Tensor:
    """Rotate by `k` times 90° in the plane of two axes, from the first towards the second."""
    x = tensor(array)
    pair = ints(axes)
    if len(pair) != 2 or len({one_axis(a, x.ndim, "rot90") for a in pair}) != 2:
        raise InvalidArgumentError(f"rot90: `axes` must be two different axes, got {axes!r}.")
    first, second = pair
    if k % 4 == 2:
        return arrays.flip(x, pair)
    if k % 4 == 1:
        return arrays.swapaxes(arrays.flip(x, second), first, second)
    return arrays.flip(arrays.swapaxes(x, first, second), second) if k % 4 else x


def dstack(xs: TensorLike) -> Tensor:
    """Join tensors along axis 2; vectors (n,) become (1, n, 1), matrices get a last axis."""
    return arrays.concatenate([_with_depth(tensor(x)) for x in xs], 2)


def _with_depth(x):
    if x.ndim > 2:
        return x
    return arrays.expand_dims(x, 2) if x.ndim == 2 else arrays.reshape(x, (1, -1, 1))


@operation
def array_split(x: TensorLike, indices_or_sections: Any, axis: Axis = 0) -> list[Tensor]:
    """Split `x` along `axis` into parts whose sizes differ by at most 1, or at the positions."""
    if np.ndim(indices_or_sections):
        return arrays.split(x, indices_or_sections, axis)
    x, parts = tensor(x), int(indices_or_sections)
    if parts < 1:
        raise InvalidArgumentError(f"array_split: expected at least 1 section, got {parts}.")
    size, longer = divmod(x.shape[one_axis(axis, x.ndim, "array_split")], parts)
    ends = np.cumsum([size + (i < longer) for i in range(parts - 1)])
    return arrays.split(x, ends.tolist(), axis)


def hsplit(x: TensorLike, indices_or_sections: Any) -> list[Tensor]:
    """Split `x` along axis 1, and a vector along axis 0."""
    x = tensor(x)
    return arrays.split(x, indices_or_sections, 0 if x.ndim == 1 else 1)


def vsplit(x: TensorLike, indices_or_sections: Any) -> list[Tensor]:
    """Split `x` along axis 0."""
    return arrays.split(x, indices_or_sections, 0)


def dsplit(x: TensorLike, indices_or_sections: Any) -> list[Tensor]:
    """Split `x` along axis 2."""
    return arrays.split(x, indices_or_sections, 2)


# ---- products ------------------------------------------------------------------------------------


@operation
def einsum(subscripts: Any, *operands: Any, **kwargs: Any) -> Tensor:
    """Return the sum of products that `subscripts` describes, such as "ij,jk->ik".

    Args:
        subscripts: a letter per axis; "..." stands for axes that broadcast.
        *operands: tensors, promoted to one dtype.
        **kwargs: ignored; the order of contraction is always optimized.
    """
    if not isinstance(subscripts, str):
        raise InvalidArgumentError(f"einsum: `subscripts` must be a string, got {subscripts!r}.")
    return _einsum.einsum(subscripts, *promote(*operands))


@operation
def kron(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return the Kronecker product: each element of x1 times x2."""
    x1, x2 = promote(x1, x2)
    rank = max(x1.ndim, x2.ndim)
    a, b = ((1,) * (rank - x.ndim) + tuple(x.shape) for x in (x1, x2))
    left = movement.reshape(x1, shape=tuple(n for size in a for n in (size, 1)))
    right = movement.reshape(x2, shape=tuple(n for size in b for n in (1, size)))
    return movement.reshape(left * right, shape=tuple(m * n for m, n in zip(a, b)))


@operation
def cross(
    x1: TensorLike, x2: TensorLike, axisa: Any = -1, axisb: Any = -1, axisc: Any = -1,
    axis: Axis = None,
) -> Tensor:  # fmt: skip
    """Return the cross product of vectors of size 3; size 2 means a third component of 0.

    Args:
        x1, x2: vectors along `axisa` and `axisb`; other axes broadcast.
        axisc: the axis of the result's vectors; there is none if all have size 2.
        axis: replaces all three axes.
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x1, x2 = promote(x1, x2)
    a, b = arrays.moveaxis(x1, axisa, -1), arrays.moveaxis(x2, axisb, -1)
    sizes = [3 if x.shape[-1] is None else x.shape[-1] for x in (a, b)]
    if not {2, 3}.issuperset(sizes):
        raise ShapeError(f"cross: expected vectors of size 2 or 3, got sizes {sizes}.")
    flat = sizes == [2, 2]
    (a1, a2, *a3), (b1, b2, *b3) = (
        [x[..., i] for i in range(size)] for x, size in zip((a, b), sizes)
    )
    third = a1 * b2 - a2 * b1
    if flat:
        return third
    a3, b3 = (rest[0] if rest else arrays.zeros_like(x) for rest, x in ((a3, a1), (b3, b1)))
    parts = (a2 * b3 - a3 * b2, a3 * b1 - a1 * b3, third)
    return arrays.moveaxis(arrays.stack(list(parts), -1), -1, axisc)


def slogdet(x: TensorLike) -> tuple[Tensor, Tensor]:
    """Return the sign of the determinants of matrices, and log(|det|)."""
    sign, log = linalg.slogdet(floating(x))
    return sign, log


@operation
def corrcoef(x: TensorLike) -> Tensor:
    """Return the matrix of Pearson's correlation coefficients of the rows of `x`."""
    x = floating(x)
    if x.ndim > 2:
        raise ShapeError(f"corrcoef: expected a matrix or a vector, got shape {tuple(x.shape)}.")
    rows = movement.reshape(x, shape=(1, -1)) if x.ndim < 2 else x
    centred = rows - ops.reduce_mean(rows, axis=(1,), keepdims=True)
    products = arrays.matmul(centred, conjugated(arrays.transpose(centred)))
    spread = elementwise.sqrt(real(diagonal(products)))
    found = elementwise.divide(
        elementwise.divide(products, movement.reshape(spread, shape=(-1, 1))), spread
    )
    found = elementwise.clip(found, -1.0, 1.0) if x.dtype.is_floating else found
    return movement.reshape(found, shape=()) if x.ndim < 2 else found
