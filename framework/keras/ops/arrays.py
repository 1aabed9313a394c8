"""Functions of keras.ops that create, reshape, join and index tensors."""

from itertools import pairwise
from typing import Any

import numpy as np

from framework.autodiff import custom_gradients
from framework.core import dtypes
from framework.core.argument_types import Axis, DTypeLike, ShapeLike, TensorLike
from framework.core.axes import all_axes, one_axis
from framework.core.conversion import tensor
from framework.core.dtypes import DType
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.operand import WeakNumber
from framework.core.operations import operation
from framework.core.promotion import promote
from framework.core.symbolic import KerasTensor
from framework.core.symbolic_sizes import size_of
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable
from framework.functions import contraction, creation, indexing
from framework.functions import movement as strict
from framework.keras.ops.argument_conversion import as_dtype, floating, ints
from framework.ops import elementwise
from framework.ops import movement as ops
from framework.ops.contraction import matmul_with_vectors

_slice = slice  # this second name is needed because a function below is named `slice`
# ---- conversion and properties -------------------------------------------------------------------


def convert_to_tensor(
    x: TensorLike, dtype: DTypeLike = None, sparse: Any = None, ragged: Any = None,
) -> Tensor:  # fmt: skip
    """Convert `x` to a tensor, of `dtype` if given.

    >>> from framework import keras
    >>> keras.ops.convert_to_tensor([1, 2], dtype="float16")
    <tf.Tensor: shape=(2,), dtype=float16, numpy=array([1., 2.], dtype=float16)>
    """
    return tensor(x) if dtype is None else as_dtype(x, dtype)


def array(x: TensorLike, dtype: DTypeLike = None) -> Tensor:
    """Convert `x` to a tensor, of `dtype` if given."""
    return convert_to_tensor(x, dtype)


def convert_to_numpy(x: TensorLike) -> Any:
    """Return the values as a NumPy array."""
    if isinstance(x, (list, tuple)):
        return np.array([convert_to_numpy(v) for v in x])
    return np.array(tensor(x))


def is_tensor(x: TensorLike) -> bool:
    """Return whether `x` is a tensor; a variable is not."""
    return isinstance(x, Tensor)


def shape(x: TensorLike) -> tuple[Any, ...]:
    """Return the shape as a tuple of ints.

    An unknown size of a KerasTensor is a symbolic number, whose value is known when the model runs.
    It supports arithmetic and comparisons, and is valid as a size. (In Keras such a size is None,
    as it is in `x.shape` here.)

    >>> from framework import keras
    >>> x = keras.Input((4, 6))
    >>> batch, length, width = keras.ops.shape(x)
    >>> y = keras.ops.reshape(x, (batch * length // 2, 2 * width))
    >>> y.shape, keras.Model(x, y)(keras.ops.ones((3, 4, 6))).shape
    ((None, 12), TensorShape([6, 12]))
    """
    if type(x) is Tensor:
        return tuple(x.shape)
    x = tensor(x)
    return tuple([size_of(x, i) if n is None else n for i, n in enumerate(x.shape)])


def size(x: TensorLike) -> Tensor:
    """Return the number of elements."""
    return strict.size(x)


def ndim(x: TensorLike) -> int:
    """Return the number of axes."""
    return len(shape(x))


def dtype(x: TensorLike) -> DType:
    """Return the name of the dtype."""
    return (x if hasattr(x, "dtype") else tensor(x)).dtype


def copy(x: TensorLike) -> Tensor:
    """Return a new tensor with the same values."""
    return elementwise.identity(tensor(x))


def stop_gradient(variable: Any) -> Tensor:
    """Return the same values; no gradient passes through them."""
    return custom_gradients.stop_gradient(variable)


# ---- creation ------------------------------------------------------------------------------------


def _default(dtype):
    return dtypes.floatx() if dtype is None else dtypes.as_dtype(dtype)


def zeros(shape: ShapeLike, dtype: DTypeLike = None) -> Tensor:
    """Return a tensor of zeros, by default of the dtype floatx."""
    return creation.zeros(shape, _default(dtype))


def ones(shape: ShapeLike, dtype: DTypeLike = None) -> Tensor:
    """Return a tensor of ones, by default of the dtype floatx."""
    return creation.ones(shape, _default(dtype))


def empty(shape: ShapeLike, dtype: DTypeLike = None) -> Tensor:
    """Return a tensor of zeros; unlike NumPy's, it is initialized."""
    return zeros(shape, dtype)


def full(shape: ShapeLike, fill_value: Any, dtype: DTypeLike = None) -> Tensor:
    """Return a tensor filled with `fill_value`, which broadcasts."""
    return strict.broadcast_to(as_dtype(fill_value, _default(dtype)), shape)


def zeros_like(x: TensorLike, dtype: DTypeLike = None) -> Tensor:
    """Return zeros in the shape and dtype of `x`."""
    return creation.zeros_like(x, dtype)


def ones_like(x: TensorLike, dtype: DTypeLike = None) -> Tensor:
    """Return ones in the shape and dtype of `x`."""
    return creation.ones_like(x, dtype)


def empty_like(x: TensorLike, dtype: DTypeLike = None) -> Tensor:
    """Return zeros in the shape and dtype of `x`."""
    return creation.zeros_like(x, dtype)


def full_like(x: TensorLike, fill_value: Any, dtype: DTypeLike = None) -> Tensor:
    """Return `fill_value` in the shape and dtype of `x`."""
    x = tensor(x)
    value = as_dtype(fill_value, x.dtype if dtype is None else dtype)
    zeros = creation.zeros_like(x, value.dtype)
    return elementwise.logical_or(value, zeros) if value.dtype.is_bool else value + zeros


@operation
def arange(
    start: TensorLike, stop: TensorLike = None, step: Any = None, dtype: DTypeLike = None,
) -> Tensor:  # fmt: skip
    """Return the numbers from `start` to below `stop` in steps; a single argument is `stop`."""
    start, stop, step = [v._read() if isinstance(v, WeakNumber) else v for v in (start, stop, step)]
    given = [v for v in (start, stop, step) if v is not None]
    kind = dtypes.result_type(*(getattr(v, "dtype", type(v)) for v in given))
    made = np.arange(*(float(v) if kind.is_floating else int(v) for v in _bounds(start, stop)),
                     1 if step is None else step)  # fmt: skip
    return Tensor(made.astype((kind if dtype is None else dtypes.as_dtype(dtype)).np))


def _bounds(start, stop):
    return (0, start) if stop is None else (start, stop)


@operation
def linspace(
    start: TensorLike, stop: TensorLike, num: Any = 50, endpoint: bool = True,
    retstep: bool = False, dtype: DTypeLike = None, axis: Axis = 0,
) -> Any:  # fmt: skip
    """Return `num` evenly spaced numbers from `start` to `stop`, included if `endpoint`."""
    num = int(num)
    start, stop = (floating(v) for v in promote(start, stop))
    step = (stop - start) / max(num - 1 if endpoint else num, 1)
    made = creation.linspace(start, stop if endpoint else stop - step, num, axis=axis)
    made = made if dtype is None else as_dtype(made, dtype)
    return (made, step) if retstep else made


@operation
def eye(N: Any, M: Any = None, k: TensorLike = 0, dtype: DTypeLike = None) -> Tensor:
    """Return a matrix with ones on the diagonal `k`."""
    return Tensor(np.eye(N, M, k, _default(dtype).np))


def identity(n: Any, dtype: DTypeLike = None) -> Tensor:
    """Return the identity matrix."""
    return eye(n, dtype=dtype)


@operation
def tri(N: Any, M: Any = None, k: TensorLike = 0, dtype: DTypeLike = None) -> Tensor:
    """Return a matrix with ones on and below the diagonal `k`."""
    return Tensor(np.tri(N, M, k, _default(dtype).np))


@operation
def tril(x: TensorLike, k: TensorLike = 0) -> Tensor:
    """Return the elements on and below the diagonal `k`, and 0 elsewhere."""
    x = tensor(x)
    return elementwise.select(np.tri(*x.shape[-2:], k, bool), x, np.zeros((), x.dtype.np))


@operation
def triu(x: TensorLike, k: TensorLike = 0) -> Tensor:
    """Return the elements on and above the diagonal `k`, and 0 elsewhere."""
    x = tensor(x)
    return elementwise.select(np.tri(*x.shape[-2:], k - 1, bool), np.zeros((), x.dtype.np), x)


def meshgrid(*x: Any, indexing: Any = "xy") -> list[Tensor]:
    """Return grids of coordinates: for n vectors, n tensors of rank n."""
    return strict.meshgrid(*x, indexing=indexing)


def one_hot(
    x: TensorLike, num_classes: TensorLike, axis: Axis = -1, dtype: DTypeLike = None,
    sparse: bool = False,
) -> Tensor:  # fmt: skip
    """Return 1 at each index along a new axis of size `num_classes`, and 0 elsewhere."""
    x = tensor(x)
    x = x if x.dtype.is_integer else as_dtype(x, "int32")
    return creation.one_hot(x, num_classes, axis=axis, dtype=_default(dtype))


# ---- shape ---------------------------------------------------------------------------------------


def reshape(x: TensorLike, newshape: Any) -> Tensor:
    """Reshape a tensor; one size may be -1."""
    x = tensor(x)
    if isinstance(x, KerasTensor) and isinstance(newshape, (list, tuple)) and None in newshape:
        return ops.reshape(x, shape=ints(newshape))
    return strict.reshape(x, newshape)


def ravel(x: TensorLike) -> Tensor:
    """Flatten a tensor to one axis."""
    return ops.reshape(tensor(x), shape=(-1,))


def transpose(x: TensorLike, axes: Axis = None) -> Tensor:
    """Permute the axes to the order `axes`, by default reversed."""
    return strict.transpose(x, axes)


def swapaxes(x: TensorLike, axis1: Any, axis2: Any) -> Tensor:
    """Exchange two axes."""
    x = tensor(x)
    order = list(range(x.ndim))
    i, j = (one_axis(a, x.ndim, "swapaxes") for a in (axis1, axis2))
    order[i], order[j] = j, i
    return ops.transpose(x, perm=tuple(order))


def moveaxis(x: TensorLike, source: TensorLike, destination: Any) -> Tensor:
    """Move the axes in `source` to `destination`; the other axes keep their order."""
    x = tensor(x)
    source = [one_axis(a, x.ndim, "moveaxis") for a in ints(source)]
    destination = [one_axis(a, x.ndim, "moveaxis") for a in ints(destination)]
    order = [i for i in range(x.ndim) if i not in source]
    for place, axis in sorted(zip(destination, source)):
        order.insert(place, axis)
    return ops.transpose(x, perm=tuple(order))


def expand_dims(x: TensorLike, axis: Axis) -> Tensor:
    """Insert axes of size 1 at `axis`, an int or several."""
    x, axes = tensor(x), ints(axis)
    return ops.expand_axes(x, all_axes(axes, x.ndim + len(axes), "expand_dims"))


def squeeze(x: TensorLike, axis: Axis = None) -> Tensor:
    """Remove all axes of size 1, or those in `axis`."""
    return strict.squeeze(x, axis)


def broadcast_to(x: TensorLike, shape: ShapeLike) -> Tensor:
    """Broadcast `x` to `shape`."""
    return strict.broadcast_to(x, shape)


# ---- joining and splitting -----------------------------------------------------------------------


def concatenate(xs: TensorLike, axis: Axis = 0) -> Tensor:
    """Join tensors along an existing axis."""
    return strict.concat(list(promote(*xs)), axis)


def stack(x: TensorLike, axis: Axis = 0) -> Tensor:
    """Join tensors of one shape along a new axis."""
    return strict.stack(list(promote(*x)), axis)


def append(x1: TensorLike, x2: TensorLike, axis: Axis = None) -> Tensor:
    """Append x2 to x1 along `axis`; None flattens both first."""
    if axis is None:
        return concatenate([ravel(x) for x in promote(x1, x2)])
    return concatenate([x1, x2], axis)


def hstack(xs: TensorLike) -> Tensor:
    """Join tensors along axis 1, and vectors along axis 0."""
    xs = [t if t.ndim else ravel(t) for t in map(tensor, xs)]
    return concatenate(xs, 0 if xs[0].ndim == 1 else 1)


def vstack(xs: TensorLike) -> Tensor:
    """Join tensors along axis 0; vectors become rows."""
    return concatenate([t if t.ndim > 1 else reshape(t, (1, -1)) for t in map(tensor, xs)], 0)


@operation
def split(x: TensorLike, indices_or_sections: Any, axis: Axis = 0) -> list[Tensor]:
    """Split `x` along `axis` into equal parts, or at the given positions."""
    x = tensor(x)
    if np.ndim(indices_or_sections) == 0:
        return strict.split(x, int(indices_or_sections), axis)
    length = x.shape[one_axis(axis, x.ndim, "split")]
    cuts = [0, *(min(n, length) for n in ints(indices_or_sections)), length]
    return strict.split(x, [b - a for a, b in pairwise(cuts)], axis)


def unstack(x: TensorLike, num: Any = None, axis: Axis = 0) -> list[Tensor]:
    """Return the list of slices along an axis."""
    return strict.unstack(x, num, axis)


# ---- repeating, turning, padding -----------------------------------------------------------------


@operation
def tile(x: TensorLike, repeats: TensorLike) -> Tensor:
    """Repeat `x` along its axes; a single number repeats it along the last axis."""
    x, repeats = tensor(x), ints(repeats)
    if len(repeats) > x.ndim:
        x = ops.reshape(x, shape=(1,) * (len(repeats) - x.ndim) + tuple(x.shape))
    return strict.tile(x, (1,) * (x.ndim - len(repeats)) + repeats)


def repeat(x: TensorLike, repeats: TensorLike, axis: Axis = None) -> Tensor:
    """Repeat each element (or slice along `axis`); None flattens first."""
    return strict.repeat(x, repeats, axis)


def flip(x: TensorLike, axis: Axis = None) -> Tensor:
    """Reverse the elements along `axis`, by default along all axes."""
    x = tensor(x)
    return ops.flip(x, axis=all_axes(axis, x.ndim, "flip"))


@operation
def roll(x: TensorLike, shift: Any, axis: Axis = None) -> Tensor:
    """Rotate the elements by `shift` along `axis`; None rotates the flattened tensor."""
    x = tensor(x)
    if axis is None:
        return ops.reshape(strict.roll(ravel(x), shift, 0), shape=tuple(x.shape))
    return strict.roll(x, shift, axis)


# ---- selection -----------------------------------------------------------------------------------


def where(condition: TensorLike, x1: TensorLike = None, x2: TensorLike = None) -> Any:
    """Return `x1` where the condition holds, else `x2`; without both, the indices of True."""
    if x1 is None and x2 is None:
        return nonzero(condition)
    if x1 is None or x2 is None:
        raise InvalidArgumentError("where: give both x1 and x2, or neither.")
    return elementwise.select(as_dtype(condition, "bool"), *promote(x1, x2))


@operation
def nonzero(x: TensorLike) -> tuple[Tensor, ...]:
    """Return the positions of nonzero elements: a tuple with the indices along each axis."""
    return tuple(Tensor(i.astype(np.int32)) for i in np.nonzero(np.asarray(tensor(x))))


@operation
def take(x: TensorLike, indices: TensorLike, axis: Axis = None) -> Tensor:
    """Return slices of `x` at `indices` along `axis`; None takes elements of the flattened `x`."""
    x = tensor(x)
    if axis is None:
        x, axis = ravel(x), 0
    axis = one_axis(axis, x.ndim, "take")
    return indexing.gather(x, _from_start(indices, x.shape[axis]), axis=axis)


@operation
def take_along_axis(x: TensorLike, indices: TensorLike, axis: Axis = None) -> Tensor:
    """Return elements of `x` at `indices`, which has the rank of `x`, along `axis`."""
    x = tensor(x)
    if axis is None:
        x, axis = ravel(x), 0
    axis = one_axis(axis, x.ndim, "take_along_axis")
    return ops.take_along_axis(x, _from_start(indices, x.shape[axis]), axis=axis)


def _from_start(indices, size):
    """Replace negative indices, which count from the end, by non-negative indices."""
    indices = tensor(indices)
    indices = indices if indices.dtype.is_integer else as_dtype(indices, "int32")
    return elementwise.select(elementwise.less(indices, 0), indices + size, indices)


def get_item(x: TensorLike, key: TensorLike) -> Tensor:
    """Return x[key]."""
    return (x if isinstance(x, (Tensor, CoreVariable, KerasTensor)) else tensor(x))[key]


@operation
def slice(inputs: TensorLike, start_indices: TensorLike, shape: ShapeLike) -> Tensor:
    """Return the block of `shape` that starts at `start_indices`."""
    return indexing.slice(inputs, start_indices, shape)


def argsort(x: TensorLike, axis: Axis = -1) -> Tensor:
    """Return the int32 indices that sort along `axis`; None sorts all elements."""
    return indexing.argsort(ravel(x) if axis is None else x, -1 if axis is None else axis)


def sort(x: TensorLike, axis: Axis = -1) -> Tensor:
    """Sort the elements along `axis`; None sorts all elements."""
    return indexing.sort(ravel(x) if axis is None else x, -1 if axis is None else axis)


@operation
def top_k(x: TensorLike, k: TensorLike, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """Return the `k` largest elements along the last axis, descending, and their indices."""
    x = tensor(x)
    last = x.ndim - 1
    if not 0 <= k <= x.shape[last]:
        raise ShapeError(f"top_k: k={k}, but the last axis of shape {x.shape} is shorter.")
    order = ops.argsort(x, axis=last, descending=True)
    first = ops.getitem(order, index=(..., _slice(0, k)))
    return ops.take_along_axis(x, first, axis=last), as_dtype(first, "int32")


# ---- products ------------------------------------------------------------------------------------


def matmul(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return the matrix product over the last two axes; a vector is one row or column."""
    return matmul_with_vectors(*promote(x1, x2))


def dot(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return the sum of products over the last axis of x1 and the second to last of x2."""
    x1, x2 = promote(x1, x2)
    if not x1.ndim or not x2.ndim:
        return elementwise.multiply(x1, x2)
    return contraction.tensordot(x1, x2, [[-1], [max(x2.ndim - 2, 0)]])


def inner(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return the sum of products over the last axes of both."""
    x1, x2 = promote(x1, x2)
    if not x1.ndim or not x2.ndim:
        return elementwise.multiply(x1, x2)
    return contraction.tensordot(x1, x2, [[-1], [-1]])


def vdot(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return the sum of the products of all elements."""
    x1, x2 = promote(x1, x2)
    return contraction.tensordot(ravel(x1), ravel(x2), 1)


def outer(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return the product of each element of x1 with each of x2."""
    x1, x2 = promote(x1, x2)
    return elementwise.multiply(reshape(x1, (-1, 1)), reshape(x2, (1, -1)))


def tensordot(x1: TensorLike, x2: TensorLike, axes: Axis = 2) -> Tensor:
    """Return the sum of products over pairs of axes."""
    x1, x2 = promote(x1, x2)
    return contraction.tensordot(x1, x2, axes)
