"""Functions of tf.sparse that compute with the elements: sums, products, maxima, counts.

>>> import framework as tf
>>> x = tf.sparse.from_dense([[0.0, 3.0], [1.0, 0.0]])
>>> tf.sparse.sparse_dense_matmul(x, [[1.0], [2.0]]).numpy().tolist()
[[6.0], [1.0]]
"""

import math
from typing import Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import Axis, TensorLike
from framework.core.axes import all_axes
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.tensor import Tensor
from framework.functions import segments
from framework.functions.sparse import sparse, taken, unraveled
from framework.ops import elementwise, movement, reduction, segment
from framework.ops import sparse_tensor as ops
from framework.ops.sparse_tensor import SparseTensor, as_sparse, flat_places


def sparse_dense_matmul(
    sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the product of a sparse and a dense matrix, in either order.

    Args:
        sp_a, b: a SparseTensor and a dense tensor of its dtype; either can come first.
        adjoint_a, adjoint_b: use the conjugate transpose of the first or second matrix.
    """
    what = "sparse_dense_matmul"
    if isinstance(b, SparseTensor) and not isinstance(sp_a, SparseTensor):
        # The kernel needs the sparse matrix first: a b = (b^H a^H)^H.
        made = ops.matmul(b, tensor(sp_a, b.dtype), not adjoint_b, not adjoint_a, what)
        made = movement.transpose(made, perm=(1, 0))
        return elementwise.conj(made) if made.dtype.is_complex else made
    x = as_sparse(sp_a, what)
    return ops.matmul(x, tensor(b, x.dtype), adjoint_a, adjoint_b, what)


def map_values(op: Any, *args: Any, **kwargs: Any) -> SparseTensor:
    """Apply `op` to the values of sparse tensors with equal indices.

    Args:
        op: a function that keeps the shape.
        *args, **kwargs: the arguments of `op`; at least one is sparse.

    >>> import framework as tf
    >>> x = tf.SparseTensor([[1]], [2.0], [3])
    >>> tf.sparse.map_values(tf.square, x).values.numpy()
    array([4.], dtype=float32)
    """
    given = [v for v in (*args, *kwargs.values()) if isinstance(v, SparseTensor)]
    if not given:
        raise InvalidArgumentError("map_values: expected at least one SparseTensor.")
    first = given[0]
    for other in given[1:]:
        same = first.shape == other.shape and np.array_equal(first.indices, other.indices)
        if not same:
            raise InvalidArgumentError("map_values: expected sparse tensors with equal indices.")
    values = op(
        *(v.values if isinstance(v, SparseTensor) else v for v in args),
        **{k: v.values if isinstance(v, SparseTensor) else v for k, v in kwargs.items()},
    )
    return first.with_values(values)


# ---- two tensors ---------------------------------------------------------------------------------


def add(a: Any, b: Any, threshold: Any = 0) -> Any:
    """Return the sum of a sparse tensor and another tensor; the sum is sparse if both are.

    Args:
        a, b: tensors of one shape and dtype.
        threshold: drop sums of two stored elements whose magnitude is smaller.
    """
    sparse_a, sparse_b = isinstance(a, SparseTensor), isinstance(b, SparseTensor)
    if not sparse_a and not sparse_b:
        raise DTypeError(f"add: expected at least one SparseTensor, got {a!r} and {b!r}.")
    if not (sparse_a and sparse_b):
        x, dense = (a, b) if sparse_a else (b, a)
        dense = tensor(dense, x.dtype)
        if dense.shape != x.shape:
            raise ShapeError(f"add: expected the same shape, got {a.shape} and {b.shape}.")
        return ops.to_dense(x) + dense
    sums, ids = _combined(a, b, "add", segment.segment_sum)
    limit = float(threshold)
    if limit <= 0:
        return sums
    both = np.bincount(ids, minlength=len(sums.values)) > 1
    kept = ~(both & (np.abs(np.asarray(sums.values)) < limit))
    return taken(sums, tensor(np.flatnonzero(kept)))


def _combined(a, b, what, reduce):
    """Merge the elements of two sparse tensors; also return the new position of each element.

    Elements at the same index are combined by `reduce`.
    """
    if a.shape != b.shape or a.dtype != b.dtype:
        raise ShapeError(
            f"{what}: expected the same shape and dtype, got {a.shape}, {a.dtype} and {b.shape}, "
            f"{b.dtype}."
        )
    flat = np.concatenate([np.asarray(flat_places(x, what)) for x in (a, b)])
    places, ids = np.unique(flat, return_inverse=True)
    values = movement.concat(a.values, b.values, axis=0)
    ids = ids.reshape(-1)
    values = reduce(values, tensor(ids), count=len(places))
    return sparse(unraveled(tensor(places), a.shape), values, a.shape), ids


def _with_zeros(reduce, compare):
    """Return a function like `reduce` for two tensors where missing elements count as zeros."""

    def reduced(values, ids, *, count):
        made = reduce(values, ids, count=count)
        alone = segment.segment_sizes(ids, count, np.dtype(np.int32)) < 2
        zero = tensor(0, values.dtype)
        return elementwise.select(alone, compare(made, zero), made)

    return reduced


def maximum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """Return the elementwise maximum of two sparse tensors; missing elements are zero."""
    reduced = _with_zeros(segment.segment_max, elementwise.maximum)
    return _combined(*(as_sparse(x, "maximum") for x in (sp_a, sp_b)), "maximum", reduced)[0]


def minimum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """Return the elementwise minimum of two sparse tensors; missing elements are zero."""
    reduced = _with_zeros(segment.segment_min, elementwise.minimum)
    return _combined(*(as_sparse(x, "minimum") for x in (sp_a, sp_b)), "minimum", reduced)[0]


# ---- along axes ----------------------------------------------------------------------------------


def _reduced(x, axis, keepdims, output_is_sparse, what, reduce):
    x = as_sparse(x, what)
    axes = all_axes(axis, x.ndim, what) if x.ndim else ()
    kept = [i for i in range(x.ndim) if i not in axes]
    shape = [x.shape[i] for i in kept]
    columns = [x.indices[:, i] for i in kept]
    rest = movement.stack(*columns, axis=1) if kept else np.zeros((len(x.values), 0), np.int64)
    flat = flat_places(sparse(rest, x.values, shape), what)
    final = [1 if i in axes else n for i, n in enumerate(x.shape)] if keepdims else shape
    if not output_is_sparse:
        return movement.reshape(reduce(x.values, flat, math.prod(shape)), shape=tuple(final))
    places, ids = np.unique(np.asarray(flat), return_inverse=True)
    values = reduce(x.values, tensor(ids.reshape(-1)), len(places))
    return sparse(unraveled(tensor(places), final), values, final)


def reduce_sum(
    sp_input: Any, axis: Axis = None, keepdims: Any = None, output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return the sum of the elements over axes, by default over all.

    Args:
        sp_input: a SparseTensor.
        axis: an axis or several.
        keepdims: keep the axes with size 1.
        output_is_sparse: return a SparseTensor.
    """

    def total(values, ids, count):
        return segment.segment_sum(values, ids, count=count)

    return _reduced(sp_input, axis, keepdims, output_is_sparse, "reduce_sum", total)


def reduce_max(
    sp_input: Any, axis: Axis = None, keepdims: Any = None, output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return the largest of the stored elements over axes; 0 where there is none.

    Arguments as in `reduce_sum`. Elements that are not stored do not count as zeros.
    """

    def largest(values, ids, count):
        made = segment.segment_max(values, ids, count=count)
        return segment.where_empty(made, ids, count, 0)

    return _reduced(sp_input, axis, keepdims, output_is_sparse, "reduce_max", largest)


def softmax(sp_input: Any, name: str | None = None) -> SparseTensor:
    """Return the softmax of the stored elements of each row of the last axis."""
    x = as_sparse(sp_input, "softmax")
    if x.ndim < 2 or not x.dtype.is_floating:
        raise InvalidArgumentError(
            f"softmax: expected floats with at least two axes, got {x.dtype} of shape {x.shape}."
        )
    rows = sparse(x.indices[:, :-1], x.values, x.shape[:-1])
    ids, count = flat_places(rows, "softmax"), math.prod(x.shape[:-1])
    largest = Tensor(np.asarray(segment.segment_max(x.values, ids, count=count)))
    e = elementwise.exp(x.values - segment.segment_take(largest, ids))
    total = segment.segment_sum(e, ids, count=count)
    return x.with_values(e / segment.segment_take(total, ids))


# ---- segments of selected rows -------------------------------------------------------------------


def _segments(function, data, indices, segment_ids, num_segments):
    rows, ids = tensor(indices), tensor(segment_ids)
    x = movement.gather(tensor(data), movement.within(
        rows, what="indices", size=tensor(data).shape[0]), axis=0)  # fmt: skip
    if num_segments is None:
        last = np.asarray(ids)
        num_segments = int(last[-1]) + 1 if last.size else 0
    return function(x, ids, num_segments)


def segment_sum(
    data: TensorLike, indices: TensorLike, segment_ids: TensorLike, num_segments: Any = None,
    name: str | None = None, sparse_gradient: bool = False,
) -> Tensor:  # fmt: skip
    """Return the sum of the rows `data[indices]` of each segment.

    Args:
        data: a tensor.
        indices: rows of `data`.
        segment_ids: the segment of each of these rows, ascending.
        num_segments: the number of segments; None for the last segment id + 1.
        sparse_gradient: ignored.

    >>> import framework as tf
    >>> tf.sparse.segment_sum([1, 2, 4], [0, 2, 2], [0, 0, 1]).numpy()
    array([5, 4], dtype=int32)
    """
    return _segments(segments.unsorted_segment_sum, data, indices, segment_ids, num_segments)


def segment_mean(
    data: TensorLike, indices: TensorLike, segment_ids: TensorLike, num_segments: Any = None,
    name: str | None = None, sparse_gradient: bool = False,
) -> Tensor:  # fmt: skip
    """Return the mean of the rows `data[indices]` of each segment; see `segment_sum`."""
    return _segments(segments.unsorted_segment_mean, data, indices, segment_ids, num_segments)


def segment_sqrt_n(
    data: TensorLike, indices: TensorLike, segment_ids: TensorLike, num_segments: Any = None,
    name: str | None = None, sparse_gradient: bool = False,
) -> Tensor:  # fmt: skip
    """Return `segment_sum` divided by the square root of each segment's number of rows."""
    return _segments(segments.unsorted_segment_sqrt_n, data, indices, segment_ids, num_segments)


# ---- counts and crossed features -----------------------------------------------------------------


def bincount(
    values: Any, weights: Any = None, axis: Axis = 0, minlength: Any = None, maxlength: Any = None,
    binary_output: bool = False, name: str | None = None,
) -> SparseTensor:  # fmt: skip
    """Return how often each number occurs, as a sparse tensor.

    Args:
        values: a tensor or SparseTensor of integers >= 0, of one or two axes.
        weights: the numbers to add instead of 1, a tensor or SparseTensor like `values`.
        axis: 0 to count over all elements, -1 for each row.
        minlength, maxlength: the least and the largest size of the result's last axis; numbers
            from `maxlength` on are ignored.
        binary_output: return 1 for each number that occurs.
    """
    if axis not in (0, -1):
        raise InvalidArgumentError(f"bincount: axis: expected 0 or -1, got {axis!r}.")
    x = values if isinstance(values, SparseTensor) else _all_of(values)
    numbers = np.asarray(x.values)
    rows = np.asarray(x.indices)[:, 0] if axis == -1 and x.ndim > 1 else np.zeros(len(numbers), int)
    if numbers.dtype.kind not in "iu" or (numbers.size and numbers.min() < 0):
        raise InvalidArgumentError(
            "bincount: values: expected integers >= 0; cast floats, and remove negative numbers."
        )
    width = max(int(numbers.max(initial=-1)) + 1, int(minlength or 0))
    width = width if maxlength is None else min(width, int(maxlength))
    kept = np.flatnonzero(numbers < width)
    places, ids = np.unique(rows[kept] * max(width, 1) + numbers[kept], return_inverse=True)
    weights = getattr(weights, "values", weights)
    if weights is None or binary_output:
        counted = Tensor(np.ones(len(kept), np.int32))
    else:
        given = tensor(weights)
        counted = segment.segment_take(movement.reshape(given, shape=(len(numbers),)), tensor(kept))
    total = segment.segment_sum(counted, tensor(ids.reshape(-1)), count=len(places))
    if binary_output:
        total = Tensor(np.ones(len(places), np.int32))
    shape = (x.shape[0], width) if axis == -1 and x.ndim > 1 else (width,)
    return sparse(unraveled(tensor(places), shape), total, shape)


def _all_of(values):
    """Return a SparseTensor that stores all elements, including zeros."""
    x = tensor(values)
    indices = np.argwhere(np.ones(tuple(x.shape), bool)).reshape(-1, x.ndim)
    return sparse(indices, movement.reshape(x, shape=(math.prod(x.shape),)), x.shape)


def cross(inputs: Any, name: str | None = None, separator: Any = None) -> SparseTensor:
    """Return all combinations of the features of each row, as strings.

    Args:
        inputs: SparseTensors or tensors of two axes, with the same number of rows.
        separator: the string between the parts; "_X_" if None.

    >>> import framework as tf
    >>> tf.sparse.cross([[["a"]], [["b"]]]).values.numpy()
    array([b'a_X_b'], dtype=object)
    """
    between = b"_X_" if separator is None else str(separator).encode()
    columns = [x if isinstance(x, SparseTensor) else _all_of(x) for x in inputs]
    rows = {x.shape[0] for x in columns}
    if len(rows) != 1 or any(x.ndim != 2 for x in columns):
        raise ShapeError(
            "cross: `inputs` must have two axes and equal numbers of rows, got shapes "
            f"{[tuple(x.shape) for x in columns]}."
        )
    parts = [_texts_by_row(x) for x in columns]
    indices, values = [], []
    for row in range(rows.pop()):
        made = [b""]
        for n, column in enumerate(parts):
            made = [a + between * bool(n) + b for a in made for b in column.get(row, [])]
        indices += [(row, i) for i in range(len(made))]
        values += made
    width = 1 + max((column for _, column in indices), default=-1)
    array = np.empty(len(values), object)
    array[:] = values
    return sparse(
        np.reshape(np.array(indices, np.int64), (-1, 2)),
        Tensor(array),
        (columns[0].shape[0], width),
    )


def _texts_by_row(x):
    found = {}
    for row, value in zip(np.asarray(x.indices)[:, 0].tolist(), np.asarray(x.values).tolist()):
        found.setdefault(row, []).append(value if isinstance(value, bytes) else str(value).encode())
    return found


def sampled_addmm(
    indices: TensorLike, values: TensorLike, dense_shape: TensorLike, mat1: TensorLike,
    mat2: TensorLike, beta: Any = 1.0, alpha: Any = 1.0, output_type: Any = dtypes.float32,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Return alpha * (mat1 @ mat2) + beta * values at the indices of a sparse matrix.

    Args:
        indices, values, dense_shape: the parts of the sparse tensor; its last two axes are those
            of the matrix.
        mat1, mat2: dense tensors whose product has that shape.
        beta, alpha: factors.
        output_type: the dtype of the result.

    Returns:
        `indices`, the new values and `dense_shape`.
    """
    places, shape = tensor(indices), tensor(dense_shape)
    dtype = dtypes.as_dtype(output_type).np
    values, mat1, mat2 = (cast(tensor(v), dtype=dtype) for v in (values, mat1, mat2))
    x = SparseTensor(places, values, shape)
    lead, (rows, columns) = x.shape[:-2], x.shape[-2:]
    inner = mat1.shape[-1]
    count = math.prod(lead)
    left = movement.reshape(mat1, shape=(count * rows, inner))
    perm = (*range(mat2.ndim - 2), mat2.ndim - 1, mat2.ndim - 2)
    right = movement.reshape(movement.transpose(mat2, perm=perm), shape=(count * columns, inner))
    by_row = flat_places(sparse(x.indices[:, :-1], values, x.shape[:-1]))
    others = movement.concat(x.indices[:, :-2], x.indices[:, -1:], axis=1)
    by_column = flat_places(sparse(others, values, (*lead, columns)))
    products = segment.segment_take(left, by_row) * segment.segment_take(right, by_column)
    dots = reduction.reduce_sum(products, axis=(1,), keepdims=False)
    return places, alpha * dots + beta * values, shape
