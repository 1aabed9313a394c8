"""Products of matrices and tensors, norms, and clipping by norm or value."""

import math
from typing import Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import Axis, DTypeLike, TensorLike
from framework.core.axes import all_axes, one_axis
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.promotion import floating, strict, strict_all
from framework.core.tensor import Tensor
from framework.ops import contraction as ops
from framework.ops import elementwise, movement, reduction, spectral
from framework.ops.casting import like, widened
from framework.ops.complex import conjugated, is_complex, squared_size
from framework.ops.slices import IndexedSlices, coalesced, sliced

_tensor = tensor  # this second name is needed because `norm` has a parameter `tensor`


def matmul(
    a: TensorLike, b: TensorLike, transpose_a: bool = False, transpose_b: bool = False,
    adjoint_a: bool = False, adjoint_b: bool = False, a_is_sparse: bool = False,
    b_is_sparse: bool = False, output_type: DTypeLike = None, grad_a: bool = False,
    grad_b: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the matrix product over the last two axes; leading axes broadcast.

    Args:
        a, b: tensors of rank 2 or more.
        transpose_a, transpose_b: transpose the last two axes first.
        adjoint_a, adjoint_b: transpose and conjugate first.
        a_is_sparse, b_is_sparse, grad_a, grad_b: ignored.
        output_type: tf.int32 for 8-bit operands, whose products are then exact; otherwise None.

    >>> import framework as tf
    >>> tf.matmul([[1.0, 2.0]], [[3.0], [4.0]]).numpy()
    array([[11.]], dtype=float32)
    """
    if output_type is not None:
        a, b = _in_int32(a, b, output_type)
    a, b = strict(tensor(a), b)
    # reading `a.array.dtype` is faster than the property `a.dtype`
    dtype = a.array.dtype if type(a) is Tensor else a.dtype.np
    if dtype.itemsize < 4 and dtype.kind in "bi":
        raise DTypeError(
            f"matmul: expected floats, complex numbers or integers of 32 bits or more, got "
            f"{a.dtype}, whose products overflow. Cast, or pass output_type=tf.int32 (8 bits only)."
        )
    if a.ndim < 2 or b.ndim < 2:
        ops.refuse_vectors(a.shape, b.shape)
    if adjoint_a or adjoint_b:
        a = conjugated(a) if adjoint_a else a
        b = conjugated(b) if adjoint_b else b
    turn_a, turn_b = bool(transpose_a or adjoint_a), bool(transpose_b or adjoint_b)
    inner_a, inner_b = a.shape[-2 if turn_a else -1], b.shape[-1 if turn_b else -2]
    if inner_a != inner_b and None not in (inner_a, inner_b):
        raise ShapeError(
            f"matmul: Matrix size-incompatible: In[0]: {list(a.shape)}, In[1]: {list(b.shape)}: "
            f"the inner sizes {inner_a} and {inner_b} differ (transpose_a={turn_a}, "
            f"transpose_b={turn_b})."
        )
    return ops.matmul(a, b, transpose_a=turn_a, transpose_b=turn_b)


def _in_int32(a, b, output_type):
    """Return 8-bit integer operands, signed or unsigned, as int32."""
    a, b, wanted = tensor(a), tensor(b), dtypes.as_dtype(output_type)
    eight = (dtypes.int8, dtypes.uint8)
    if wanted != dtypes.int32 or a.dtype not in eight or b.dtype not in eight:
        if a.dtype == b.dtype == wanted:
            return a, b
        raise DTypeError(
            "matmul: `output_type` must be tf.int32 for operands of int8 or uint8, got "
            f"{wanted} for {a.dtype} and {b.dtype}. Cast the result."
        )
    return (cast(x, dtype=wanted.np) for x in (a, b))


@operation
def matvec(
    a: TensorLike, b: TensorLike, transpose_a: bool = False, adjoint_a: bool = False,
    a_is_sparse: bool = False, b_is_sparse: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the product of a matrix and a vector; leading axes broadcast."""
    a, b = strict_all(a, b)
    column = movement.expand_axes(b, (b.ndim,))
    product = matmul(a, column, transpose_a, adjoint_a=adjoint_a)
    return movement.reshape(product, shape=tuple(product.shape[:-1]))


def matrix_transpose(
    a: TensorLike, name: str | None = "matrix_transpose", conjugate: bool = False,
) -> Tensor:  # fmt: skip
    """Swap the last two axes; with `conjugate`, also conjugate."""
    x = conjugated(tensor(a)) if conjugate else tensor(a)
    if x.ndim < 2:
        raise ShapeError(f"matrix_transpose: expected rank 2 or more, got shape {x.shape}.")
    order = list(range(x.ndim))
    order[-2:] = order[-1], order[-2]
    return movement.transpose(x, perm=tuple(order))


@operation
def tensordot(a: TensorLike, b: TensorLike, axes: Axis, name: str | None = None) -> Tensor:
    """Multiply two tensors and sum over pairs of axes.

    Args:
        a, b: tensors.
        axes: an int n, which pairs the last n axes of `a` with the first n of `b`; or two lists of
            axes.

    >>> import framework as tf
    >>> tf.tensordot([1.0, 2.0], [3.0, 4.0], axes=1).numpy()
    np.float32(11.0)
    """
    a, b = strict(tensor(a), tensor(b))
    of_a, of_b = _pairs(axes, a, b)
    for i, j in zip(of_a, of_b):
        if a.shape[i] != b.shape[j]:
            raise ShapeError(
                f"tensordot: axis {i} of shape {a.shape} and axis {j} of shape {b.shape} differ."
            )
    rest_a = [i for i in range(a.ndim) if i not in of_a]
    rest_b = [j for j in range(b.ndim) if j not in of_b]
    inner = math.prod(a.shape[i] for i in of_a)
    left = movement.transpose(a, perm=(*rest_a, *of_a))
    right = movement.transpose(b, perm=(*of_b, *rest_b))
    kept = tuple(a.shape[i] for i in rest_a), tuple(b.shape[j] for j in rest_b)
    left = movement.reshape(left, shape=(math.prod(kept[0]), inner))
    right = movement.reshape(right, shape=(inner, math.prod(kept[1])))
    return movement.reshape(ops.matmul(left, right), shape=kept[0] + kept[1])


def _pairs(axes, a, b):
    axes = np.asarray(axes).tolist() if hasattr(axes, "__array__") else axes
    if isinstance(axes, int):
        if not 0 <= axes <= min(a.ndim, b.ndim):
            raise InvalidArgumentError(
                f"tensordot: axes={axes} is out of range for ranks {a.ndim} and {b.ndim}."
            )
        return tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
    first, second = ([x] if isinstance(x, int) else list(x) for x in axes)
    if len(first) != len(second):
        raise InvalidArgumentError(
            f"tensordot: `axes` must be two lists of the same length, got {axes!r}."
        )
    return (
        tuple(one_axis(i, a.ndim, "tensordot") for i in first),
        tuple(one_axis(j, b.ndim, "tensordot") for j in second),
    )


# ---- norms ---------------------------------------------------------------------------------------


@operation
def norm(
    tensor: TensorLike, ord: Any = "euclidean", axis: Axis = None, keepdims: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the norm of vectors (one axis, or all of them) or matrices (two axes).

    Args:
        tensor: a floating or complex tensor.
        ord: "euclidean", or for vectors a number p > 0 or inf; for matrices "fro", 1, 2 or inf.
        axis: None (all elements as one vector), an int, or a pair.
        keepdims: keep the axes with size 1.

    >>> import framework as tf
    >>> tf.norm([3.0, 4.0]).numpy()
    np.float32(5.0)
    """
    x = floating(tensor, "norm")
    axes = all_axes(axis, x.ndim, "norm")
    keepdims = bool(keepdims)
    if ord == "euclidean" or (ord == "fro" and len(axes) == 2 and axis is not None):
        return _euclidean(x, axes, keepdims)
    if isinstance(ord, str) or not ord > 0:
        raise InvalidArgumentError(
            f"norm: ord={ord!r} is not supported for axis={axis!r}: expected 'euclidean', a number "
            "above 0, inf, or, with two axes, 'fro', 1, 2 or inf."
        )
    if isinstance(axis, (list, tuple)) and len(axes) == 2:
        return _matrix_norm(x, ord, axis, keepdims)
    size = elementwise.absolute(x)
    if ord == np.inf:
        return reduction.reduce_max(size, axis=axes, keepdims=keepdims)
    if ord == 1:
        return reduction.reduce_sum(size, axis=axes, keepdims=keepdims)
    return reduction.reduce_sum(size**ord, axis=axes, keepdims=keepdims) ** (1.0 / ord)


def _euclidean(x, axes, keepdims):
    """Return the Euclidean norm in the dtype of `x`, even if complex."""
    total = reduction.reduce_sum(squared_size(x), axis=axes, keepdims=keepdims)
    length = elementwise.sqrt(total)
    return cast(length, dtype=x.dtype.np) if is_complex(x) else length


def _matrix_norm(x, ord, axis, keepdims):
    """Return the largest column sum (ord 1), row sum (inf) or singular value (2)."""
    if ord not in (1, 2, np.inf):
        raise InvalidArgumentError(
            f"norm: ord={ord!r} is not supported for matrices: expected 'euclidean', 'fro', 1, 2 "
            "or inf."
        )
    rows, columns = (one_axis(a, x.ndim, "norm") for a in axis)
    if ord == 2:
        rest = tuple(i for i in range(x.ndim) if i not in (rows, columns))
        matrices = movement.transpose(widened(x), perm=(*rest, rows, columns))
        values = spectral.singular_values(matrices)
        largest = reduction.reduce_max(values, axis=(len(rest),), keepdims=False)
        largest = largest if is_complex(x) else like(largest, x)
        return movement.expand_axes(largest, sorted((rows, columns))) if keepdims else largest
    added, compared = (rows, columns) if ord == 1 else (columns, rows)
    sums = reduction.reduce_sum(elementwise.absolute(x), axis=(added,), keepdims=True)
    largest = reduction.reduce_max(sums, axis=(compared,), keepdims=True)
    if keepdims:
        return largest
    left = tuple(n for i, n in enumerate(largest.shape) if i not in (rows, columns))
    return movement.reshape(largest, shape=left)


def global_norm(t_list: TensorLike, name: str | None = None) -> Tensor:
    """Return the Euclidean norm of all elements of all tensors; None entries are skipped."""
    squares = [_squared_length(t) for t in _present(t_list, "global_norm")]
    if len({s.dtype for s in squares}) > 1:
        wide = np.result_type(*(s.dtype.np for s in squares))
        squares = [cast(s, dtype=wide) for s in squares]
    total = squares[0] if squares else tensor(0.0)
    for square in squares[1:]:
        total = elementwise.add(total, square)
    return elementwise.sqrt(total)


def _squared_length(t):
    return reduction.reduce_sum(elementwise.square(t), axis=tuple(range(t.ndim)), keepdims=False)


def _present(t_list, what):
    if not isinstance(t_list, (list, tuple)):
        raise TypeError(f"{what}: `t_list` must be a list of tensors, got {t_list!r}.")
    values = (t.values if type(t) is IndexedSlices else t for t in t_list if t is not None)
    return [tensor(v) for v in values]


# ---- clipping ------------------------------------------------------------------------------------


def clip_by_value(
    t: TensorLike, clip_value_min: TensorLike, clip_value_max: TensorLike, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Clip elements to [clip_value_min, clip_value_max].

    The derivative at both bounds is 1. For IndexedSlices only the stored slices are clipped.

    >>> import framework as tf
    >>> tf.clip_by_value([-2.0, 0.5, 3.0], 0.0, 1.0).numpy()
    array([0. , 0.5, 1. ], dtype=float32)
    """
    if type(t) is IndexedSlices:
        return _on_slices(clip_by_value, t, clip_value_min, clip_value_max)
    t = tensor(t)
    (_, low), (_, high) = strict(t, clip_value_min), strict(t, clip_value_max)
    clipped = elementwise.clip(t, low, high)
    numbers = type(low) is not Tensor and type(high) is not Tensor
    if not numbers and tuple(clipped.shape) != tuple(t.shape):
        raise ShapeError(
            f"clip_by_value: bounds of shapes {getattr(low, 'shape', ())} and "
            f"{getattr(high, 'shape', ())} make the result larger than t, of shape {t.shape}."
        )
    return clipped


def clip_by_norm(
    t: TensorLike, clip_norm: TensorLike, axes: Axis = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Scale `t` down where its norm over `axes` is larger than `clip_norm`.

    A negative `clip_norm` is taken as 0. IndexedSlices are clipped like the dense tensor that they
    stand for, and stay IndexedSlices.
    """
    if type(t) is IndexedSlices:
        return _on_slices(clip_by_norm, t, clip_norm, axes)
    t = tensor(t)
    axes = all_axes(axes, t.ndim, "clip_by_norm")
    squared = reduction.reduce_sum(elementwise.square(t), axis=axes, keepdims=True)
    length = elementwise.root(squared)
    _, clip_norm = strict(length, clip_norm)
    number = isinstance(clip_norm, (int, float))
    clip_norm = max(clip_norm, 0) if number else elementwise.maximum(clip_norm, 0)
    return elementwise.divide(
        elementwise.multiply(t, clip_norm), elementwise.maximum(length, clip_norm)
    )


def _on_slices(clip, slices, *args):
    """Clip IndexedSlices; slices with the same index are summed first."""
    slices = coalesced(slices)
    return sliced(clip(slices.values, *args), slices.indices, slices.dense_shape)


def clip_by_global_norm(
    t_list: TensorLike, clip_norm: TensorLike, use_norm: Any = None, name: str | None = None,
) -> tuple[list[Any], Tensor]:  # fmt: skip
    """Scale all tensors by one factor so that their global norm is at most `clip_norm`.

    Args:
        t_list: a list of tensors; None entries stay None, IndexedSlices are scaled too.
        clip_norm: the largest norm allowed.
        use_norm: the global norm, if already computed.

    Returns:
        The list of scaled tensors, and the global norm before clipping. If this norm is infinite,
        all tensors are NaN.
    """
    length = global_norm(t_list) if use_norm is None else tensor(use_norm)
    _, clip_norm = strict(length, clip_norm)
    # As in TensorFlow, an infinite norm makes all results NaN, so that users notice it.
    scale = elementwise.select(
        elementwise.is_finite(length), clip_norm / elementwise.maximum(length, clip_norm), math.nan
    )
    return [None if t is None else _scaled(t, scale) for t in t_list], length


def _scaled(t, scale):
    if type(t) is IndexedSlices:
        return sliced(_scaled(t.values, scale), t.indices, t.dense_shape)
    t = tensor(t)
    return elementwise.multiply(
        t, scale if scale.dtype == t.dtype else cast(scale, dtype=t.dtype.np)
    )
