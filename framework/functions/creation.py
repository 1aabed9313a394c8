"""Functions that create tensors from Python values, from a shape, or from a tensor's shape."""

from operator import index
from typing import Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import Axis, DTypeLike, ShapeLike, TensorLike
from framework.core.axes import one_axis
from framework.core.cast import cast
from framework.core.conversion import array_of, tensor
from framework.core.errors import (
    FrameworkError,
    InvalidArgumentError,
    ShapeError,
    SymbolicValueError,
)
from framework.core.operand import Operand, WeakNumber
from framework.core.operations import FunctionOperation, apply, operation
from framework.core.promotion import strict_all
from framework.core.standins import is_symbolic
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable
from framework.ops import movement
from framework.ops.elementwise import select as _choose
from framework.ops.slices import IndexedSlices


def constant(
    value: TensorLike, dtype: DTypeLike = None, shape: ShapeLike = None, name: str | None = "Const",
) -> Tensor:  # fmt: skip
    """Return a tensor that holds a copy of `value`.

    Args:
        value: a number, array or nest of numbers.
        dtype: the element type; Python floats give float32, ints int32, arrays keep theirs.
        shape: the shape of the result; a single value fills it.

    >>> import framework as tf
    >>> tf.constant([[1.0, 2.0]])
    <tf.Tensor: shape=(1, 2), dtype=float32, numpy=array([[1., 2.]], dtype=float32)>
    """
    if shape is not None:
        return _constant(value, dtype, shape)
    if isinstance(value, (Tensor, Operand, CoreVariable, WeakNumber)):
        return tensor(value, dtype)
    return Tensor(array_of(value, dtype))


@operation
def _constant(value, dtype, shape):
    shape = sizes(shape, "constant")
    if isinstance(value, (Tensor, Operand, CoreVariable)):
        return movement.reshape(tensor(value, dtype), shape=shape)
    array = array_of(value, dtype)
    if array.size == 1:
        array = np.full(shape, array.reshape(()), array.dtype)
    elif array.size != np.prod(shape):
        raise ShapeError(
            f"constant: `value` has {array.size} elements, but shape={shape} needs "
            f"{int(np.prod(shape))}."
        )
    return Tensor(array.reshape(shape))


def convert_to_tensor(
    value: TensorLike, dtype: DTypeLike = None, dtype_hint: DTypeLike = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Convert `value` to a tensor: tensors are returned, variables read, other values copied.

    Args:
        value: a tensor, variable, array, number or nest of numbers and tensors.
        dtype: the expected dtype; a tensor of another dtype raises an error.
        dtype_hint: the preferred dtype, ignored if `value` does not fit.
    """
    if dtype is None and dtype_hint is not None and not hasattr(value, "dtype"):
        try:
            return tensor(value, dtype_hint)
        except TypeError:
            pass  # `value` does not fit `dtype_hint`, so it keeps its own dtype
    return tensor(value, dtype)


def is_tensor(x: TensorLike) -> bool:
    """Return whether `x` is a tensor, a variable or IndexedSlices."""
    return isinstance(x, (Tensor, CoreVariable, Operand, IndexedSlices))


# ---- from a shape --------------------------------------------------------------------------------


# The functions whose `shape` must not contain -1; in others, -1 stands for an inferred size.
_FROM_NOTHING = frozenset(("zeros", "ones", "fill"))


def sizes(shape, what):
    """Convert `shape`, an int, sequence or tensor, to a tuple of ints."""
    # `operator.index` below converts the tensors in a list to ints
    if not isinstance(shape, (list, tuple)):
        shape = (shape,) if np.ndim(shape) == 0 else np.asarray(shape)
    try:
        found = tuple(map(index, shape))
        if what in _FROM_NOTHING and found and min(found) < 0:
            raise InvalidArgumentError(f"{what}: Dimension {min(found)} must be >= 0.")
        return found
    except SymbolicValueError:
        raise  # the size depends on a KerasTensor, and is known only when the model runs
    except TypeError:
        raise InvalidArgumentError(
            f"{what}: `shape` must be ints, without None, got {shape!r}."
        ) from None


def zeros(
    shape: ShapeLike, dtype: DTypeLike = dtypes.float32, name: str | None = None,
    layout: Any = None,
) -> Tensor:  # fmt: skip
    """Return a tensor of zeros."""
    try:
        return Tensor(np.zeros(sizes(shape, "zeros"), dtypes.as_dtype(dtype).np))
    except FrameworkError as error:
        if not is_symbolic(shape):
            raise
        return apply(_ZEROS, (shape, dtype), {}, error)


def ones(
    shape: ShapeLike, dtype: DTypeLike = dtypes.float32, name: str | None = None,
    layout: Any = None,
) -> Tensor:  # fmt: skip
    """Return a tensor of ones."""
    try:
        return Tensor(np.ones(sizes(shape, "ones"), dtypes.as_dtype(dtype).np))
    except FrameworkError as error:
        if not is_symbolic(shape):
            raise
        return apply(_ONES, (shape, dtype), {}, error)


_ZEROS, _ONES = FunctionOperation(zeros), FunctionOperation(ones)


@operation
def fill(dims: Axis, value: TensorLike, name: str | None = None, layout: Any = None) -> Tensor:
    """Return a tensor of shape `dims` filled with `value`, a 0-d tensor or number.

    >>> import framework as tf
    >>> tf.fill([2], 7).numpy()
    array([7, 7], dtype=int32)
    """
    value = tensor(value)
    if value.ndim:
        raise ShapeError(f"fill: `value` must be 0-d, got shape {value.shape}.")
    return movement.broadcast_to(value, shape=sizes(dims, "fill"))


def _like(x, dtype, number) -> Any:
    x = tensor(x)
    dtype = x.dtype if dtype is None else dtypes.as_dtype(dtype)
    if isinstance(x, KerasTensor):
        made = KerasTensor(x.shape, dtype, name="full_like")
        made.origin = (_LIKE, (x, dtype, number), {}, None)
        return made
    return Tensor(np.full(x.array.shape, number, dtype.np))


_LIKE = FunctionOperation(_like)


def zeros_like(
    input: TensorLike, dtype: DTypeLike = None, name: str | None = None, layout: Any = None,
) -> Tensor:  # fmt: skip
    """Return zeros in the shape and dtype of `input`."""
    return _like(input, dtype, 0)


def ones_like(
    input: TensorLike, dtype: DTypeLike = None, name: str | None = None, layout: Any = None,
) -> Tensor:  # fmt: skip
    """Return ones in the shape and dtype of `input`."""
    return _like(input, dtype, 1)


@operation
def eye(
    num_rows: Any, num_columns: Any = None, batch_shape: ShapeLike = None,
    dtype: DTypeLike = dtypes.float32, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the identity matrix, or a batch of them.

    >>> import framework as tf
    >>> tf.eye(2).numpy()
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    columns = None if num_columns is None else int(num_columns)
    array = np.eye(int(num_rows), columns, dtype=dtypes.as_dtype(dtype).np)
    if batch_shape is not None:
        array = np.broadcast_to(array, (*sizes(batch_shape, "eye"), *array.shape)).copy()
    return Tensor(array)


@operation
def range(
    start: TensorLike, limit: TensorLike = None, delta: TensorLike = 1, dtype: DTypeLike = None,
    name: str | None = "range",
) -> Tensor:  # fmt: skip
    """Return the numbers from `start` to below `limit` in steps of `delta`.

    A single argument is taken as the limit; `start` is then 0.

    >>> import framework as tf
    >>> tf.range(3).numpy(), tf.range(3, 18, 5).numpy()
    (array([0, 1, 2], dtype=int32), array([ 3,  8, 13], dtype=int32))
    """
    if limit is None:
        start, limit = 0, start
    parts = [np.asarray(tensor(p)) for p in (start, limit, delta)]
    if any(p.ndim for p in parts):
        raise ShapeError("range: `start`, `limit` and `delta` must be 0-d.")
    if parts[2] == 0:
        raise InvalidArgumentError("range: Requires delta != 0, got 0.")
    if (parts[1] - parts[0]) * np.sign(parts[2]) < 0:
        raise InvalidArgumentError(
            f"range: start={parts[0]} with delta={parts[2]} never reaches limit={parts[1]}."
        )
    kind = dtypes.as_dtype(dtype or np.result_type(*_ranked(parts))).np
    return Tensor(np.arange(*(p.astype(kind)[()] for p in parts), dtype=kind))


def _ranked(parts):
    """Return the parts that decide the dtype of `range`: the floats, as in TensorFlow, or all."""
    floats = [p for p in parts if p.dtype.kind == "f"]
    return floats or parts


@operation
def linspace(
    start: TensorLike, stop: TensorLike, num: Any, name: str | None = None, axis: Axis = 0,
) -> Tensor:  # fmt: skip
    """Return `num` evenly spaced numbers from `start` to `stop`, both included.

    >>> import framework as tf
    >>> tf.linspace(0.0, 1.0, 5).numpy()
    array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    num = int(num)
    if num <= 0:
        raise InvalidArgumentError(f"linspace: `num` must be above 0, got {num}.")
    start, stop = strict_all(start, stop)
    if start.dtype.is_integer:
        start, stop = cast(start, dtype=np.dtype("f8")), cast(stop, dtype=np.dtype("f8"))
    if start.shape != stop.shape:
        shape = np.broadcast_shapes(start.shape, stop.shape)
        start, stop = (movement.broadcast_to(v, shape=shape) for v in (start, stop))
    axis = one_axis(axis, start.ndim + 1, "linspace")
    start, stop = (movement.expand_axes(v, (axis,)) for v in (start, stop))
    shape = [1] * start.ndim
    shape[axis] = num
    along = Tensor(np.linspace(0, 1, num).astype(start.dtype.np).reshape(shape))
    return start * (1 - along) + stop * along  # this formula returns `start` and `stop` exactly


@operation
def one_hot(
    indices: TensorLike, depth: Any, on_value: Any = None, off_value: Any = None, axis: Axis = None,
    dtype: DTypeLike = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return `on_value` at each index along a new axis of size `depth`, `off_value` elsewhere.

    Args:
        indices: integers, or a NumPy array of floats or booleans, which is cast to int64; an index
            outside [0, depth) gives a row of `off_value`.
        depth: an int, the size of the new axis.
        on_value, off_value: by default 1 and 0.
        axis: the position of the new axis; None or -1 for the last.
        dtype: by default that of `on_value`, or float32.

    >>> import framework as tf
    >>> tf.one_hot([1, 0], 3).numpy()
    array([[0., 1., 0.],
           [1., 0., 0.]], dtype=float32)
    """
    if isinstance(indices, np.ndarray) and indices.dtype.kind in "fb":
        # TensorFlow casts NumPy arrays of floats to int64, but refuses tensors of floats
        indices = indices.astype(np.int64)
    indices = tensor(indices)
    if not indices.dtype.is_integer:
        raise InvalidArgumentError(f"one_hot: `indices` must be integers, got {indices.dtype}.")
    if type(depth) is int and depth < 0:
        raise InvalidArgumentError(f"one_hot: depth must be non-negative, got: {depth}.")
    given = [v for v in (on_value, off_value) if v is not None]
    if dtype is None:
        dtype = tensor(given[0]).dtype if given else dtypes.float32
    dtype = dtypes.as_dtype(dtype)
    hot = movement.one_hot(indices, depth=int(depth), dtype=dtype.np if not given else np.bool_)
    if given:
        on, off = 1 if on_value is None else on_value, 0 if off_value is None else off_value
        hot = _choose(hot, tensor(on, dtype), tensor(off, dtype))
    axis = one_axis(-1 if axis is None else axis, indices.ndim + 1, "one_hot")
    if axis == indices.ndim:
        return hot
    rest = list(np.arange(indices.ndim))
    rest.insert(axis, indices.ndim)
    return movement.transpose(hot, perm=tuple(int(i) for i in rest))
