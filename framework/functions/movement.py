"""Functions that reshape, join, split and reorder tensors."""

import math
from typing import Any

import numpy as np

from framework.core.argument_types import Axis, DTypeLike, ShapeLike, TensorLike
from framework.core.axes import all_axes, one_axis
from framework.core.conversion import tensor
from framework.core.dtypes import as_dtype
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.operations import FunctionOperation, apply, operation
from framework.core.promotion import strict_all
from framework.core.shape_checks import concat_misfit
from framework.core.standins import is_symbolic
from framework.core.tensor import Tensor
from framework.functions.creation import sizes
from framework.functions.ragged import joined, reversed_rows, tiled
from framework.ops import elementwise
from framework.ops import movement as ops
from framework.ops.complex import conjugated
from framework.ops.ragged_tensor import RaggedTensor

_tensor = tensor  # this second name is needed because some functions have a parameter `tensor`

# ---- shape ---------------------------------------------------------------------------------------


def reshape(tensor: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """Reshape a tensor; one size may be -1.

    >>> import framework as tf
    >>> tf.reshape(tf.range(6), [3, -1]).shape
    TensorShape([3, 2])
    """
    x = _tensor(tensor)
    try:
        return ops.reshape(x, shape=sizes(shape, "reshape"))
    except (ValueError, TypeError) as error:
        if is_symbolic(x, shape):
            return apply(_RESHAPE, (x, shape), {}, error)
        shape = sizes(shape, "reshape")  # this call raises an error if `shape` is malformed
        raise _no_reshape(x.shape, shape) from None


def _no_reshape(shape, wanted):
    """Return the error of an impossible reshape, in TensorFlow's wording."""
    count, known = math.prod(shape), math.prod(n for n in wanted if n != -1)
    given = f"Input to reshape is a tensor with {count} values, but the requested shape"
    if wanted.count(-1) > 1:
        first, second = [i for i, n in enumerate(wanted) if n == -1][:2]
        why = f"Only one input size may be -1, not both {first} and {second}"
    elif min(wanted, default=0) < -1:
        why = f"Size {wanted.index(min(wanted))} must be non-negative, not {min(wanted)}"
    elif -1 in wanted:
        why = f"{given} requires a multiple of {known}"
    else:
        why = f"{given} has {known}"
    return ShapeError(f"reshape: the shape {shape} does not fit shape={wanted}: {why}.")


_RESHAPE = FunctionOperation(reshape)


def transpose(
    a: TensorLike, perm: Any = None, conjugate: bool = False, name: str | None = "transpose",
) -> Tensor:  # fmt: skip
    """Permute the axes to the order `perm`, by default reversed; with `conjugate`, also conjugate.

    >>> import framework as tf
    >>> tf.transpose([[1 + 2j, 3j]], conjugate=True).numpy()
    array([[1.-2.j],
           [0.-3.j]])
    """
    x = tensor(a)
    if perm is None:
        perm = tuple(reversed(range(x.ndim)))
    else:
        perm = tuple(one_axis(i, x.ndim, "transpose") for i in _ints(perm))
        if sorted(perm) != list(range(x.ndim)):
            raise InvalidArgumentError(
                f"transpose: expected a permutation of the {x.ndim} axes of shape {x.shape}, got "
                f"perm={perm}."
            )
    return ops.transpose(conjugated(x) if conjugate else x, perm=perm)


def expand_dims(input: TensorLike, axis: Axis, name: str | None = None) -> Tensor:
    """Insert an axis of size 1 at `axis`.

    >>> import framework as tf
    >>> tf.expand_dims([1, 2], -1).shape
    TensorShape([2, 1])
    """
    x = tensor(input)
    return ops.expand_axes(x, (one_axis(axis, x.ndim + 1, "expand_dims"),))


def squeeze(input: TensorLike, axis: Axis = None, name: str | None = None) -> Tensor:
    """Remove all axes of size 1, or those in `axis`, which must have size 1."""
    x = tensor(input)
    if axis is None:
        gone = tuple(i for i, n in enumerate(x.shape) if n == 1)
    else:
        gone = all_axes(axis, x.ndim, "squeeze")
        if wrong := [i for i in gone if x.shape[i] not in (1, None)]:
            raise ShapeError(
                f"squeeze: Can not squeeze dim[{wrong[0]}], expected a dimension of 1, got "
                f"{x.shape[wrong[0]]} in shape {x.shape}."
            )
    return ops.reshape(x, shape=tuple(n for i, n in enumerate(x.shape) if i not in gone))


def broadcast_to(input: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """Broadcast `input` to `shape`."""
    x = tensor(input)
    try:
        return ops.broadcast_to(x, shape=sizes(shape, "broadcast_to"))
    except (ValueError, TypeError) as error:
        if is_symbolic(x, shape):
            return apply(_BROADCAST_TO, (x, shape), {}, error)
        shape = sizes(shape, "broadcast_to")  # this call raises an error if `shape` is malformed
        raise ShapeError(
            f"broadcast_to: Incompatible shapes: {list(x.shape)} vs. {list(shape)}: the first does "
            "not broadcast to the second."
        ) from None


_BROADCAST_TO = FunctionOperation(broadcast_to)


@operation
def ensure_shape(x: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """Return `x` if its shape is `shape` (None: any size); otherwise raise ShapeError."""
    x = tensor(x)
    if not x.get_shape().is_compatible_with(tuple(shape)):
        raise ShapeError(f"ensure_shape: expected shape {tuple(shape)}, got {x.shape}.")
    return elementwise.identity(x)


def shape(input: TensorLike, out_type: DTypeLike = None, name: str | None = None) -> Tensor:
    """Return the shape as an int32 tensor; a KerasTensor's is computed when the model runs."""
    sizes = _sizes_of(input)
    if None in sizes:
        return apply(_SHAPE, (input, out_type), {})
    return Tensor(np.array(sizes, _integer(out_type)))


def rank(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the number of axes as an int32 tensor."""
    ndim = input.ndim if isinstance(input, RaggedTensor) else len(_sizes_of(input))
    return Tensor(np.array(ndim, np.int32))


def size(input: TensorLike, out_type: DTypeLike = None, name: str | None = None) -> Tensor:
    """Return the number of elements as an int32 tensor."""
    input = input.flat_values if isinstance(input, RaggedTensor) else input
    sizes = _sizes_of(input)
    if None in sizes:
        return apply(_SIZE, (input, out_type), {})
    return Tensor(np.array(math.prod(sizes), _integer(out_type)))


_SHAPE, _SIZE = (
    FunctionOperation(shape, reads_shapes=True),
    FunctionOperation(size, reads_shapes=True),
)


def _sizes_of(x):
    if isinstance(x, RaggedTensor):
        raise InvalidArgumentError(
            f"shape: a ragged tensor's shape, {x.shape}, cannot be a tensor. Use x.shape, "
            "x.row_lengths(), or x.bounding_shape() for the shape of the padded tensor."
        )
    return tuple(tensor(x).shape)


def _of_rows(x):
    return x if isinstance(x, RaggedTensor) else tensor(x)


def _integer(out_type):
    return np.int32 if out_type is None else as_dtype(out_type).np


def identity(input: TensorLike, name: str | None = None) -> Tensor:
    """Return a new tensor with the same values."""
    return elementwise.identity(tensor(input))


def identity_n(input: TensorLike, name: str | None = None) -> list[Tensor]:
    """Return a list of new tensors with the same values."""
    return [identity(x) for x in input]


# ---- joining and splitting -----------------------------------------------------------------------


def concat(values: TensorLike, axis: Axis, name: str | None = "concat") -> Tensor:
    """Join tensors along an existing axis; a single tensor is returned unchanged.

    >>> import framework as tf
    >>> tf.concat([[[1, 2]], [[3, 4]]], axis=0).numpy()
    array([[1, 2],
           [3, 4]], dtype=int32)
    """
    if isinstance(values, (list, tuple)) and any(isinstance(v, RaggedTensor) for v in values):
        return joined([_of_rows(v) for v in values], int(axis))
    xs = _several(values, "concat") if isinstance(values, (list, tuple)) else [tensor(values)]
    axis = one_axis(axis, xs[0].ndim, "concat")
    for x in xs[1:]:
        same = x.ndim == xs[0].ndim
        if not same or any(m != n for i, (m, n) in enumerate(zip(x.shape, xs[0].shape))
                           if i != axis and None not in (m, n)):  # fmt: skip
            raise concat_misfit(xs, axis)
    return ops.concat(*xs, axis=axis)


def stack(values: TensorLike, axis: Axis = 0, name: str | None = "stack") -> Tensor:
    """Join tensors of one shape along a new axis."""
    xs = _several(values, "stack")
    if any(tuple(x.shape) != tuple(xs[0].shape) for x in xs):
        other = next(i for i, x in enumerate(xs) if tuple(x.shape) != tuple(xs[0].shape))
        raise ShapeError(
            f"stack: Shapes of all inputs must match: values[0].shape = {list(xs[0].shape)} != "
            f"values[{other}].shape = {list(xs[other].shape)}."
        )
    return ops.stack(*xs, axis=one_axis(axis, xs[0].ndim + 1, "stack"))


def _several(values, what):
    if not isinstance(values, (list, tuple)):
        values = list(tensor(values)) if hasattr(values, "shape") else [values]
    if not values:
        raise InvalidArgumentError(f"{what}: `values` must hold at least one tensor, got none.")
    return strict_all(*values)


@operation
def unstack(
    value: TensorLike, num: Any = None, axis: Axis = 0, name: str | None = "unstack",
) -> list[Tensor]:  # fmt: skip
    """Return the list of slices along an axis."""
    x = tensor(value)
    axis = one_axis(axis, x.ndim, "unstack")
    if num is not None and num != x.shape[axis]:
        raise ShapeError(
            f"unstack: Input shape axis {axis} must equal num={num}, got shape {list(x.shape)}."
        )
    return list(ops.unstack(x, axis=axis))


@operation
def split(
    value: TensorLike, num_or_size_splits: Any, axis: Axis = 0, num: Any = None,
    name: str | None = "split",
) -> list[Tensor]:  # fmt: skip
    """Split `value` along an axis into a number of equal parts, or into parts of given sizes.

    >>> import framework as tf
    >>> [part.numpy().tolist() for part in tf.split(tf.range(6), [2, -1])]
    [[0, 1], [2, 3, 4, 5]]
    """
    x = tensor(value)
    axis = one_axis(axis, x.ndim, "split")
    length = x.shape[axis]
    parts = np.asarray(num_or_size_splits)
    if parts.ndim == 0:
        n = int(parts)
        if n <= 0 or length % n:
            raise ShapeError(
                "split: Number of ways to split should evenly divide the split dimension, but got "
                f"split_dim {axis} (size = {length}) and num_split {n}."
            )
        parts = (length // n,) * n
    else:
        parts = [int(n) for n in parts]
        if parts.count(-1) == 1:
            parts[parts.index(-1)] = length - sum(parts) - 1
        if sum(parts) != length or min(parts) < 0:
            raise ShapeError(
                "split: Determined shape must either match input shape along split_dim exactly, or "
                f"be less with one -1: got {num_or_size_splits!r} for axis {axis} of size {length}."
            )
    return list(ops.split(x, sizes=tuple(parts), axis=axis))


# ---- repeating, reversing, padding ---------------------------------------------------------------


@operation
def tile(input: TensorLike, multiples: Any, name: str | None = None) -> Tensor:
    """Repeat `input` `multiples[i]` times along axis i.

    >>> import framework as tf
    >>> tf.tile([1, 2], [2]).numpy()
    array([1, 2, 1, 2], dtype=int32)
    """
    x, multiples = _of_rows(input), sizes(multiples, "tile")
    if len(multiples) != x.ndim:
        raise InvalidArgumentError(
            f"tile: `multiples` must have one entry for each of the {x.ndim} axes, got {multiples}."
        )
    if isinstance(x, RaggedTensor):
        return tiled(x, multiples)
    apart, wide, whole = [], [], []
    for m, n in zip(multiples, x.shape):
        apart += [1, n]
        wide += [m, n]
        whole.append(m * n)
    spread = ops.broadcast_to(ops.reshape(x, shape=tuple(apart)), shape=tuple(wide))
    return ops.reshape(spread, shape=tuple(whole))


@operation
def repeat(
    input: TensorLike, repeats: TensorLike, axis: Axis = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Repeat each element (or slice along `axis`); `axis` None flattens first.

    A tensor without axes counts as a vector of one element.

    >>> import framework as tf
    >>> tf.repeat([1, 2], [2, 1]).numpy()
    array([1, 1, 2], dtype=int32)
    """
    x = tensor(input)
    if axis is None or x.ndim == 0:
        x, axis = ops.reshape(x, shape=(-1,)), axis or 0
    axis = one_axis(axis, x.ndim, "repeat")
    counts = np.asarray(repeats)
    if counts.ndim and counts.size not in (1, x.shape[axis]):
        raise ShapeError(
            f"repeat: `repeats` has {counts.size} entries, axis {axis} has size {x.shape[axis]}."
        )
    rows = np.repeat(np.arange(x.shape[axis]), counts)
    return ops.gather(x, rows, axis=axis)


def reverse(tensor: TensorLike, axis: Axis, name: str | None = None) -> Tensor:
    """Reverse the elements along the axes in `axis`."""
    x = _of_rows(tensor)
    reversing = reversed_rows if isinstance(x, RaggedTensor) else ops.flip
    return reversing(x, axis=all_axes(axis, x.ndim, "reverse"))


@operation
def reverse_sequence(
    input: TensorLike, seq_lengths: TensorLike, seq_axis: Any = None, batch_axis: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Reverse the first elements of each sequence; the other elements do not move.

    Args:
        input: a tensor.
        seq_lengths: the number of elements to reverse in each sequence, integers (batch,).
        seq_axis: the axis of the sequences.
        batch_axis: the axis of the batch, by default 0.

    >>> import framework as tf
    >>> tf.reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], seq_axis=1).numpy()
    array([[2, 1, 3],
           [6, 5, 4]], dtype=int32)
    """
    what, x, lengths = "reverse_sequence", tensor(input), np.asarray(_tensor(seq_lengths))
    if seq_axis is None:
        raise InvalidArgumentError(f"{what}: expected `seq_axis`, got None.")
    time = one_axis(seq_axis, x.ndim, what)
    batch = one_axis(0 if batch_axis is None else batch_axis, x.ndim, what)
    if time == batch:
        raise InvalidArgumentError(f"{what}: batch_dim == seq_dim == {time}; they must differ.")
    steps, rows = x.shape[time], x.shape[batch]
    if lengths.shape != (rows,):
        raise ShapeError(
            f"{what}: Length of seq_lengths != input.dims({batch}), ({lengths.size} vs. {rows})."
        )
    for row, length in enumerate(lengths.tolist()):
        if not 0 <= length <= steps:
            raise InvalidArgumentError(
                f"{what}: expected lengths from 0 to {steps}, got {length}: seq_lens({row}) "
                f"{'< 0' if length < 0 else f'> input.dims({time})'}."
            )
    place = np.arange(steps)
    order = np.where(place < lengths[:, None], lengths[:, None] - 1 - place, place)
    shape = [1] * x.ndim
    shape[batch], shape[time] = rows, steps
    order = (order if batch < time else order.T).reshape(shape)
    return ops.take_along_axis(x, np.broadcast_to(order, tuple(x.shape)), axis=time)


@operation
def roll(input: TensorLike, shift: Any, axis: Axis, name: str | None = None) -> Tensor:
    """Rotate the elements by `shift` along `axis`."""
    x = tensor(input)
    shifts, axes = _ints(shift), [one_axis(a, x.ndim, "roll") for a in _ints(axis)]
    if len(shifts) != len(axes):
        raise InvalidArgumentError(
            f"roll: `shift` has {len(shifts)} entries, `axis` {len(axes)}; they must match."
        )
    return ops.roll(x, shift=tuple(shifts), axis=tuple(axes))


def _ints(value):
    return [int(v) for v in np.atleast_1d(np.asarray(value))]


@operation
def pad(
    tensor: TensorLike, paddings: Any, mode: Any = "CONSTANT", constant_values: Any = 0,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Add `paddings[i] = (before, after)` elements around axis i.

    Args:
        tensor: any tensor.
        paddings: of shape (rank, 2).
        mode: "CONSTANT", "REFLECT" (mirrored without the edge) or "SYMMETRIC" (with the edge). The
            last two modes can add at most as many elements as there are to mirror.
        constant_values: the value for "CONSTANT".

    >>> import framework as tf
    >>> tf.pad([1, 2], [[1, 2]], constant_values=9).numpy()
    array([9, 1, 2, 9, 9], dtype=int32)
    """
    x = _tensor(tensor)
    widths = padding_widths(x, paddings)
    mode = mode.upper()
    if mode in ("REFLECT", "SYMMETRIC"):
        for size, width in zip(x.shape, widths, strict=True):
            most = 0 if width == (0, 0) else size - (mode == "REFLECT")
            if max(width) > max(most, 0):
                limit = "less than" if mode == "REFLECT" else "no greater than"
                raise InvalidArgumentError(
                    f"pad: paddings must be {limit} the dimension size: mode {mode!r} can add at "
                    f"most {most} elements to an axis of size {size}, got {width}."
                )
        return padded_with_rows(x, widths, mode.lower())
    if mode != "CONSTANT":
        raise InvalidArgumentError(
            f"pad: `mode` must be 'CONSTANT', 'REFLECT' or 'SYMMETRIC', got {mode!r}."
        )
    if type(constant_values) in (int, float) and constant_values == 0:
        return ops.pad(x, widths=widths)
    x, value = strict_all(x, constant_values)
    inside = np.pad(np.ones(x.shape, bool), widths)
    return elementwise.select(inside, ops.pad(x, widths=widths), value)


def padding_widths(x, paddings):
    """Return the pairs (before, after) of each axis of x, as integers that are not negative."""
    widths = np.asarray(paddings)
    if widths.shape != (x.ndim, 2) or (widths < 0).any():
        rank = "The first dimension of paddings must be the rank of inputs"
        why = "Paddings must be non-negative" if widths.shape == (x.ndim, 2) else rank
        raise InvalidArgumentError(
            f"pad: `paddings` must hold (before, after) for each of the {x.ndim} axes, got "
            f"{paddings!r}: {why}."
        )
    return tuple((int(a), int(b)) for a, b in widths)


def padded_with_rows(x, widths, mode):
    """Pad with elements of x as NumPy does: one gather per axis, which is differentiable."""
    for axis, width in enumerate(widths):
        if width != (0, 0):
            rows = np.pad(np.arange(x.shape[axis]), width, mode=mode)
            x = ops.gather(x, rows, axis=axis)
    return x if any(width != (0, 0) for width in widths) else elementwise.identity(x)


@operation
def meshgrid(*args: Any, indexing: Any = "xy", name: str | None = None) -> list[Tensor]:
    """Return grids of coordinates: for n vectors, n tensors of rank n.

    Args:
        args: vectors.
        indexing: "xy" (the first two axes swapped, as in plots) or "ij".
    """
    if indexing not in ("xy", "ij"):
        raise InvalidArgumentError(f"meshgrid: `indexing` must be 'xy' or 'ij', got {indexing!r}.")
    vectors = [ops.reshape(tensor(v), shape=(-1,)) for v in args]
    order = list(range(len(vectors)))
    if indexing == "xy" and len(order) > 1:
        order[0], order[1] = 1, 0
    whole = [0] * len(vectors)
    for vector, place in zip(vectors, order):
        whole[place] = vector.shape[0]
    grids = []
    for vector, place in zip(vectors, order):
        apart = [1] * len(vectors)
        apart[place] = vector.shape[0]
        grids.append(ops.broadcast_to(ops.reshape(vector, shape=tuple(apart)), shape=tuple(whole)))
    return grids
