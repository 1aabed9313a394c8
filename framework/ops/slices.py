"""IndexedSlices, the sparse gradient of a row lookup, and the lookup op `gather_rows`.

IndexedSlices keeps only the rows looked up; a row looked up twice occurs twice. Sums of gradients
stay sparse; any other operation first converts them to a dense tensor.
"""

import functools
import operator
from typing import Any

import numpy as np

from framework.core.conversion import tensor
from framework.core.dtypes import Shape
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.op import movement, no_derivative
from framework.core.tensor import Tensor
from framework.ops.movement import concat, kept_text, reshape, scatter_add


class IndexedSlices:
    """A tensor stored as some of its slices along the first axis; all others are zero.

    Args:
        values: a tensor, the slices.
        indices: integers, usually 1-d: the index of each slice. Slices with the same index add up.
        dense_shape: the dense tensor's shape, a tensor, list or tuple; None if unknown.

    Operators and functions use the dense tensor, which `tf.convert_to_tensor` returns.

    Example:
        >>> import framework as tf
        >>> x = tf.Variable([1.0, 2.0, 3.0])
        >>> with tf.GradientTape() as tape:
        ...     y = tf.gather(x, [0, 0, 2])
        >>> g = tape.gradient(y, x)
        >>> g.indices.numpy(), g.values.numpy()
        (array([0, 0, 2], dtype=int32), array([1., 1., 1.], dtype=float32))
        >>> tf.convert_to_tensor(g).numpy()
        array([2., 0., 1.], dtype=float32)
    """

    __slots__ = ("__weakref__", "dense_shape", "indices", "values")
    # This priority makes NumPy call `IndexedSlices.__radd__` for `array + slices`.
    __array_priority__ = 1000

    def __init__(self, values, indices, dense_shape=None):
        self.values, self.indices = tensor(values), tensor(indices)
        self.dense_shape = dense_shape
        if not self.indices.dtype.is_integer:
            raise DTypeError(f"IndexedSlices: indices must be integers, got {self.indices.dtype}.")
        rank = self.indices.ndim
        if not rank or tuple(self.values.shape[:rank]) != tuple(self.indices.shape):
            raise ShapeError(
                "IndexedSlices: expected one index for each slice along the first axis of values; "
                f"got indices of shape {self.indices.shape}, values of shape {self.values.shape}."
            )

    @property
    def dtype(self):
        return self.values.dtype

    @property
    def shape(self):
        """The dense tensor's shape."""
        return Shape(self._sizes())

    @property
    def device(self):
        return self.values.device

    def _sizes(self):
        shape = self.dense_shape
        if shape is None:
            raise InvalidArgumentError(
                "IndexedSlices without dense_shape cannot be converted to a tensor; pass the "
                "shape: tf.IndexedSlices(values, indices, dense_shape)."
            )
        return tuple(int(n) for n in getattr(shape, "array", shape))

    def dense(self):
        """Return the dense tensor; repeated slices add up. An array if `values` is an array."""
        flat = _flat(self)
        return scatter_add(flat.values, flat.indices, shape=self._sizes(), axis=0)

    _as_tensor = _as_operand = dense

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.dense(), dtype)

    def __neg__(self):
        return sliced(-self.values, self.indices, self.dense_shape)

    def __repr__(self):
        return (
            f"IndexedSlices(indices={self.indices!r}, values={self.values!r}, "
            f"dense_shape={self.dense_shape!r})"
        )


def _add_operator(name):
    function = getattr(operator, name)
    setattr(IndexedSlices, f"__{name}__", lambda a, b: function(a.dense(), b))
    setattr(IndexedSlices, f"__r{name}__", lambda a, b: function(b, a.dense()))


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"):
    _add_operator(_name)


def sliced(values, indices, dense_shape) -> Any:
    """Return an IndexedSlices of arrays or tensors, for internal use: its parts are not checked."""
    slices = object.__new__(IndexedSlices)
    slices.values, slices.indices, slices.dense_shape = values, indices, dense_shape
    return slices


def finished(slices):
    """Return an internal IndexedSlices in its public form: all its parts are tensors."""
    shape = Tensor(np.array(slices._sizes(), np.int32))
    return IndexedSlices(_boxed(slices.values), _boxed(slices.indices), shape)


def _boxed(value):
    return value if type(value) is Tensor else Tensor(np.asarray(value))


def _flat(slices):
    """Return `slices` with 1-d indices."""
    rank = len(slices.indices.shape)
    if rank == 1:
        return slices
    values = reshape(slices.values, shape=(-1, *slices.values.shape[rank:]))
    return sliced(values, reshape(slices.indices, shape=(-1,)), slices.dense_shape)


def joined(first, second):
    """Return the sum of two IndexedSlices: one with the slices of both."""
    first, second = _flat(first), _flat(second)
    return sliced(
        concat(first.values, second.values, axis=0),
        concat(first.indices, second.indices, axis=0),
        first.dense_shape,
    )


def aggregate(grads):
    """Sum gradients. The result is an IndexedSlices if all gradients are, None if all are None,
    else a tensor."""
    grads = [g for g in grads if g is not None]
    if not grads:
        return None
    sparse = all(type(g) is IndexedSlices for g in grads)
    return functools.reduce(joined if sparse else operator.add, grads)


def coalesced(slices):
    """Return `slices` with unique indices: slices with the same index are added up."""
    slices = _flat(slices)
    indices = _boxed(slices.indices)._read("unique")
    unique, positions = np.unique(indices, return_inverse=True)
    if len(unique) == len(indices):
        return slices
    shape = (len(unique), *slices.values.shape[1:])
    values = scatter_add(slices.values, positions.reshape(-1), shape=shape, axis=0)
    return sliced(values, Tensor(unique), slices.dense_shape)


def _row_slices(g, indices, x_shape):
    if len(indices.shape) != 1:
        count = int(np.prod(indices.shape))
        g = reshape(g, shape=(count, *x_shape[1:]))
        indices = reshape(indices, shape=(count,))
    return sliced(g, indices, x_shape)


# `gather_rows` is `gather` along axis 0, but its gradient is an IndexedSlices. The tape converts
# this gradient to a dense one unless it is that of a source passed to `tape.gradient`.
gather_rows = movement(
    "gather_rows", lambda x, indices: kept_text(x.take(indices, 0)), _row_slices, no_derivative,
    infer=lambda x, indices: ((*indices.shape, *x.shape[1:]), x.dtype), raises=True,
)  # fmt: skip
