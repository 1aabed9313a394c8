"""SparseTensor, and shared operations for layers and functions of sparse tensors.

The operations are composed of ops on `indices` and `values`, so gradients flow to the values.
"""

import math
from typing import Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import DTypeLike, ShapeLike, TensorLike
from framework.core.cast import cast
from framework.core.composite import Composite
from framework.core.conversion import tensor
from framework.core.dtypes import Shape
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.op import Op, no_derivative
from framework.core.promotion import strict
from framework.core.recorders import thread
from framework.core.tensor import Tensor
from framework.core.tensor_spec import TensorSpec
from framework.ops import elementwise, movement
from framework.ops.scatter import places, row_update
from framework.ops.segment import segment_sum, segment_take

_INT64 = np.dtype(np.int64)
# These elementwise ops map a SparseTensor to a SparseTensor, as in TensorFlow.
_KEEP_ZEROS = frozenset((
    "abs", "asin", "asinh", "atan", "atanh", "ceil", "conj", "erf", "expm1", "floor", "imag",
    "log1p", "negative", "real", "round", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh",
))  # fmt: skip


class SparseTensor(Composite):
    """A tensor stored as some of its elements; all others are zero (or empty strings).

    Args:
        indices: int64 of shape (n, rank): the index of each element, in row-major order for most
            functions; `tf.sparse.reorder` sorts them.
        values: n elements, of any dtype.
        dense_shape: int64 of shape (rank,): the shape of the dense tensor.

    Layers and functions that expect a dense tensor convert it by `tf.sparse.to_dense`.

    Example:
        >>> import framework as tf
        >>> x = tf.SparseTensor(indices=[[0, 0], [1, 2]], values=[1, 2], dense_shape=[2, 3])
        >>> tf.sparse.to_dense(x).numpy()
        array([[1, 0, 0],
               [0, 0, 2]], dtype=int32)
    """

    # `_shape` is not a tensor: a compiled plan is valid for one shape only, so it need not read it.
    __slots__ = ("__weakref__", "_keras_mask", "_shape", "indices", "values")

    def __init__(self, indices: TensorLike, values: TensorLike, dense_shape: ShapeLike):
        self.indices, self.values = _integers(indices, "indices"), tensor(values)
        self._shape = _shape_of(dense_shape)
        if self.indices.ndim != 2 or self.values.ndim != 1:
            raise ShapeError(
                "SparseTensor: expected indices of shape (n, rank) and values of shape (n,), got "
                f"{self.indices.shape} and {self.values.shape}."
            )
        count, rank = self.indices.shape
        if count != self.values.shape[0] or rank != len(self._shape):
            raise ShapeError(
                "SparseTensor: expected one row of indices per value and one column per size of "
                f"dense_shape, got indices of shape {self.indices.shape}, {self.values.shape[0]} "
                f"values and {len(self._shape)} sizes."
            )

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> "SparseTensor":
        """Return the SparseTensor for an object that has indices, values and dense_shape."""
        value = sparse_tensor_value
        return cls(value.indices, value.values, value.dense_shape)

    @property
    def dtype(self):
        """The dtype of the elements."""
        return self.values.dtype

    @property
    def shape(self):
        """The shape of the dense tensor, a TensorShape."""
        return self._shape

    @property
    def dense_shape(self):
        """The shape of the dense tensor, an int64 tensor."""
        return Tensor(np.array(self._shape, np.int64))

    @property
    def ndim(self):
        return self.indices.shape[1]

    def get_shape(self) -> Shape:
        """Return the shape of the dense tensor, a TensorShape."""
        return self.shape

    def set_shape(self, shape: ShapeLike) -> None:
        """Raise ShapeError unless `shape` fits; a size of None in `shape` fits any size."""
        self.shape.assert_is_compatible_with(shape)

    def _mapped(self, op):
        """Apply `op` to the stored values if op(0) is 0, and return the sparse tensor; else return
        None."""
        return self.with_values(op(self.values)) if op.name in _KEEP_ZEROS else None

    def with_values(self, new_values: TensorLike) -> "SparseTensor":
        """Return a sparse tensor with other values at the same indices."""
        return SparseTensor(self.indices, new_values, self._shape)

    def _parts(self):
        return self.indices, self.values

    def _static(self):
        return self._shape

    def _with_parts(self, parts):
        made = object.__new__(SparseTensor)
        made.indices, made.values = parts
        made._shape = self._shape
        return made

    def __reduce__(self):
        return SparseTensor, (self.indices, self.values, tuple(self._shape))

    def _dense(self):
        return to_dense(self)

    _as_tensor = _as_operand = _dense

    def __array__(self, dtype=None, copy=None):
        raise DTypeError(
            "A SparseTensor does not convert to an array. Use tf.sparse.to_dense(x).numpy()."
        )

    def __mul__(self, y: TensorLike):
        return _at_elements(self, y, elementwise.multiply)

    def __truediv__(self, y: TensorLike):
        return _at_elements(self, y, _quotient)

    def __repr__(self):
        return (
            f"SparseTensor(indices={self.indices!s}, values={self.values!s}, "
            f"dense_shape={self.dense_shape!s})"
        )


def _integers(value, name):
    made = tensor(value)
    if made.shape == (0,) or (made.ndim == 2 and 0 in made.shape and not made.dtype.is_integer):
        made = Tensor(np.zeros(made.shape, np.int64))
    if not made.dtype.is_integer:
        raise DTypeError(f"SparseTensor: {name}: expected int64, got {made.dtype}.")
    return made if made.dtype is dtypes.int64 else cast(made, dtype=_INT64)


def _shape_of(value):
    """Return a Shape of `dense_shape`; sizes in a tensor are read one by one, each with a guard."""
    if isinstance(value, (list, tuple)):
        return Shape(int(n) for n in value)
    sizes = _integers(value, "dense_shape")
    if sizes.ndim != 1:
        raise ShapeError(f"SparseTensor: dense_shape: expected shape (rank,), got {sizes.shape}.")
    return Shape(int(n) for n in (sizes if thread.stack else sizes.array))


def as_sparse(value, what) -> SparseTensor:
    """Return `value`, or raise DTypeError unless it is a SparseTensor."""
    if isinstance(value, SparseTensor):
        return value
    if all(hasattr(value, name) for name in ("indices", "values", "dense_shape")):
        return SparseTensor.from_value(value)
    raise DTypeError(
        f"{what}: expected a SparseTensor, got {value!r}. Use tf.sparse.from_dense for a tensor."
    )


def _quotient(x, y):
    if not x.dtype.is_floating:
        x, y = (cast(v, dtype=np.dtype(np.float64)) for v in (x, y))
    return elementwise.divide(x, y)


def _at_elements(x, y, function):
    """Apply `function(x's values, y's elements at the same indices)`, for a dense `y`."""
    values, dense = strict(x.values, y)
    dense = tensor(dense, values.dtype)
    if dense.ndim:
        shape = np.broadcast_shapes(tuple(x.shape), tuple(dense.shape))
        if shape != tuple(x.shape):
            raise ShapeError(
                f"SparseTensor: an operand of shape {dense.shape} does not broadcast to "
                f"{x.shape}, the shape of the sparse tensor."
            )
        dense = elements_at(movement.broadcast_to(dense, shape=shape), x)
    return x.with_values(function(values, dense))


def flat_places(x, what="SparseTensor"):
    """Return the positions of the elements in the flattened dense tensor, int64 of shape (n,)."""
    return places(x.indices, shape=tuple(x.shape), what=what)


def elements_at(dense, x):
    """Return the elements that a dense tensor has at the indices of the sparse tensor `x`."""
    flat = movement.reshape(dense, shape=(math.prod(x.shape),))
    return segment_take(flat, flat_places(x))


def _in_order(flat, *, what):
    wrong = np.flatnonzero(flat[1:] <= flat[:-1])
    if wrong.size:
        n = int(wrong[0]) + 1
        kind = "repeated" if flat[n] == flat[n - 1] else (
            "out of order; many sparse functions require sorted indices: use tf.sparse.reorder"
        )  # fmt: skip
        raise InvalidArgumentError(f"{what}: the element {n} of indices is {kind}.")
    return flat


# `in_order` returns row-major positions unchanged, and raises an error unless they increase.
in_order = Op(
    "in_order", _in_order, no_derivative,
    infer=lambda flat, *, what: (flat.shape, flat.dtype), raises=True,
)  # fmt: skip


def to_dense(x, default=None, validate=False, what="to_dense"):
    """Return the dense tensor, in which equal indices add up; `validate` checks the order of the
    indices."""
    shape = tuple(x.shape)
    flat = flat_places(x, what)
    flat = in_order(flat, what=what) if validate else flat
    size, values = math.prod(shape), x.values
    if values.dtype is dtypes.string:
        filled = movement.broadcast_to(tensor(default or b""), shape=(size,))
        return movement.reshape(row_update(filled, flat, values), shape=shape)
    if values.dtype.is_bool:
        counts = segment_sum(cast(values, dtype=np.dtype(np.int32)), flat, count=size)
        dense = elementwise.not_equal(counts, 0)
    else:
        dense = segment_sum(values, flat, count=size)
    if default is not None:
        ones = np.ones(values.shape, np.int32)
        there = elementwise.not_equal(segment_sum(Tensor(ones), flat, count=size), 0)
        dense = elementwise.select(there, dense, tensor(default, values.dtype))
    return movement.reshape(dense, shape=shape)


def matmul(x, dense, adjoint_a=False, adjoint_b=False, what="sparse_dense_matmul"):
    """Return the product of a sparse and a dense matrix, each optionally conjugate-transposed."""
    if x.ndim != 2 or dense.ndim != 2:
        raise ShapeError(f"{what}: expected two matrices, got shapes {x.shape} and {dense.shape}.")
    values = x.values
    if values.dtype != dense.dtype:
        raise DTypeError(f"{what}: got dtypes {values.dtype} and {dense.dtype}; cast one of them.")
    if adjoint_b:
        dense = movement.transpose(dense, perm=(1, 0))
        dense = elementwise.conj(dense) if dense.dtype.is_complex else dense
    if adjoint_a and values.dtype.is_complex:
        values = elementwise.conj(values)
    row, column = (1, 0) if adjoint_a else (0, 1)
    if x.shape[column] != dense.shape[0]:
        raise ShapeError(
            f"{what}: the inner sizes differ: {x.shape[column]} and {dense.shape[0]}, of shapes "
            f"{x.shape} and {dense.shape}."
        )
    rows, columns = (
        movement.within(x.indices[:, axis], what=f"{what}: indices", size=x.shape[axis])
        for axis in (row, column)
    )
    taken = segment_take(dense, columns)
    products = elementwise.multiply(taken, movement.reshape(values, shape=(*values.shape, 1)))
    return segment_sum(products, rows, count=x.shape[row])


class SparseTensorSpec(TensorSpec):
    """The shape and the dtype of sparse tensors.

    Args:
        shape: a sequence of sizes, with None for any size; or None for any shape.
        dtype: the dtype of the elements.

    Example:
        >>> SparseTensorSpec([None, 3])
        SparseTensorSpec(TensorShape([None, 3]), tf.float32)
    """

    __slots__ = ()

    def __init__(
        self, shape: ShapeLike = None, dtype: DTypeLike = dtypes.float32, name: str | None = None,
    ):  # fmt: skip
        super().__init__(shape, dtype, name)

    @property
    def value_type(self):
        """The class of the values that the spec describes: SparseTensor."""
        return SparseTensor

    @classmethod
    def from_value(cls, value: SparseTensor):
        """Return the spec of a sparse tensor."""
        return cls(value.shape, value.dtype)

    def is_compatible_with(self, spec_or_tensor: Any):
        """Return whether a sparse tensor or its spec has this dtype and fits this shape."""
        sparse = isinstance(spec_or_tensor, (SparseTensor, SparseTensorSpec))
        return sparse and super().is_compatible_with(spec_or_tensor)

    def __repr__(self):
        shape = "TensorShape(None)" if self.shape is None else repr(self.shape)
        return f"SparseTensorSpec({shape}, {self.dtype!r})"
