"""IndexedSlices, the gradient of rows that were looked up, and the op that looks them up.

Only the rows in use are kept, repeated ones not added up. Wherever anything but a sum of gradients
is computed with them, they become the dense tensor: the rows added into zeros.
"""

import functools
import operator

import numpy as np

from framework.core.doors import tensor
from framework.core.dtypes import Shape
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.op import movement, no_derivative
from framework.core.tensor import Tensor
from framework.ops.movement import concat, kept_text, reshape, scatter_add


class IndexedSlices:
    """A tensor given by some of its slices along the first axis; all others are zero.

    Args:
        values: a tensor, the slices.
        indices: a 1-d tensor of integers, where each slice is. Slices of one index add up.
        dense_shape: the shape of the whole, a tensor, list or tuple; None where unknown.

    Operators and functions on it work on the dense tensor, as `tf.convert_to_tensor` gives it.

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
    __array_priority__ = 1000  # so that an array leaves `array + slices` to the slices

    def __init__(self, values, indices, dense_shape=None):
        self.values, self.indices = tensor(values), tensor(indices)
        self.dense_shape = dense_shape
        if not self.indices.dtype.is_integer:
            raise DTypeError(f"IndexedSlices: indices must be integers, got {self.indices.dtype}.")
        if self.indices.ndim != 1 or tuple(self.values.shape[:1]) != tuple(self.indices.shape):
            raise ShapeError(
                "IndexedSlices: expected one index for each slice along the first axis of values; "
                f"got indices of shape {self.indices.shape}, values of shape {self.values.shape}."
            )

    @property
    def dtype(self):
        return self.values.dtype

    @property
    def shape(self):
        """The dense shape."""
        return Shape(self._sizes())

    @property
    def device(self):
        return self.values.device

    def _sizes(self):
        shape = self.dense_shape
        if shape is None:
            raise InvalidArgumentError(
                "IndexedSlices without dense_shape cannot be converted to a tensor; give it: "
                "tf.IndexedSlices(values, indices, dense_shape)."
            )
        return tuple(int(n) for n in getattr(shape, "array", shape))

    def dense(self):
        """The whole, repeated slices added up: a tensor (internally an array, if of arrays)."""
        return scatter_add(self.values, self.indices, shape=self._sizes(), axis=0)

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


def _hang(name):
    function = getattr(operator, name)
    setattr(IndexedSlices, f"__{name}__", lambda a, b: function(a.dense(), b))
    setattr(IndexedSlices, f"__r{name}__", lambda a, b: function(b, a.dense()))


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"):
    _hang(_name)


def sliced(values, indices, dense_shape):
    """IndexedSlices of just these, arrays or tensors: internal, no check."""
    made = object.__new__(IndexedSlices)
    made.values, made.indices, made.dense_shape = values, indices, dense_shape
    return made


def finished(slices):
    """IndexedSlices of arrays or tensors and a tuple as a user gets them: of tensors."""
    shape = Tensor(np.array(slices._sizes(), np.int32))
    return IndexedSlices(_boxed(slices.values), _boxed(slices.indices), shape)


def _boxed(value):
    return value if type(value) is Tensor else Tensor(np.asarray(value))


def joined(first, second):
    """The sum of two IndexedSlices, which is the slices of both."""
    return sliced(
        concat(first.values, second.values, axis=0),
        concat(first.indices, second.indices, axis=0),
        first.dense_shape,
    )


def aggregate(grads):
    """The sum of gradients: None of none, IndexedSlices of nothing else, a tensor otherwise."""
    grads = [g for g in grads if g is not None]
    if not grads:
        return None
    sparse = all(type(g) is IndexedSlices for g in grads)
    return functools.reduce(joined if sparse else operator.add, grads)


def coalesced(slices):
    """The same with each index once: slices of one index are added up."""
    indices = _boxed(slices.indices)._read("unique")
    found, places = np.unique(indices, return_inverse=True)
    if len(found) == len(indices):
        return slices
    shape = (len(found), *slices.values.shape[1:])
    values = scatter_add(slices.values, places.reshape(-1), shape=shape, axis=0)
    return sliced(values, Tensor(found), slices.dense_shape)


def _row_slices(g, indices, x_shape):
    if len(indices.shape) != 1:
        count = int(np.prod(indices.shape))
        g = reshape(g, shape=(count, *x_shape[1:]))
        indices = reshape(indices, shape=(count,))
    return sliced(g, indices, x_shape)


# The rows of x at the indices. As `gather` along axis 0, but its rule gives IndexedSlices; the tape
# makes them dense wherever they are more than the gradient of a source.
gather_rows = movement(
    "gather_rows", lambda x, indices: kept_text(np.take(x, indices, 0)), _row_slices, no_derivative,
    infer=lambda x, indices: ((*indices.shape, *x.shape[1:]), x.dtype), raises=True,
)  # fmt: skip
