"""Functions of keras.ops that move elements: patterns, patches, blocks, frames, classes.

>>> from framework import keras
>>> keras.ops.rearrange([[1, 2], [3, 4]], "rows columns -> (columns rows)").numpy()
array([1, 3, 2, 4], dtype=int32)
"""

import math
import re
from typing import Any

import numpy as np

from framework.autodiff import vectorized_map as batching
from framework.core.argument_types import Axis, DTypeLike, TensorLike
from framework.core.axes import one_axis
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.promotion import promote
from framework.core.tensor import Tensor
from framework.functions import movement as shifts
from framework.functions import pooling
from framework.keras.ops import arrays
from framework.keras.ops.argument_conversion import floating, ints
from framework.ops import elementwise, movement, special
from framework.ops import reduction as ops
from framework.ops.ctc_decoding import beam_search, greedy_search

# ---- patterns ----------------------------------------------------------------------------------


@operation
def rearrange(tensor: TensorLike, pattern: Any, **axes_lengths: Any) -> Tensor:
    """Transpose, merge and split axes according to a pattern.

    Args:
        tensor: a tensor.
        pattern: names of axes before and after "->", such as "batch (h w) c -> batch c h w".
            Axes in parentheses are merged into one.
        **axes_lengths: sizes of axes in parentheses before "->"; in each group, one may be missing.

    Raises:
        InvalidArgumentError: the pattern is malformed.
        ShapeError: it does not fit the tensor.
    """
    x = arrays.convert_to_tensor(tensor)
    before, after = _sides(pattern)
    if len(before) != x.ndim:
        raise ShapeError(
            f"rearrange: {pattern!r} has {len(before)} axes on the left, the tensor has shape "
            f"{tuple(x.shape)}."
        )
    sizes = {}
    for group, size in zip(before, x.shape):
        sizes.update(_group_sizes(group, size, axes_lengths, pattern))
    names = [name for group in before for name in group]
    apart = movement.reshape(x, shape=tuple(sizes[name] for name in names))
    order = tuple(names.index(name) for group in after for name in group)
    merged = tuple(math.prod(sizes[name] for name in group) for group in after)
    return movement.reshape(movement.transpose(apart, perm=order), shape=merged)


def _sides(pattern):
    sides = pattern.split("->") if isinstance(pattern, str) else ()
    groups = [
        [(found[0] or found[1]).split() for found in re.findall(r"\(([^()]*)\)|(\w+)", side)]
        for side in sides
    ]
    names = [sorted(name for group in side for name in group) for side in groups]
    if len(groups) != 2 or names[0] != names[1] or len(set(names[0])) != len(names[0]):
        raise InvalidArgumentError(
            f"rearrange: expected a pattern such as 'a (b c) -> c a b', with the same names on "
            f"both sides, got {pattern!r}."
        )
    return groups


def _group_sizes(group, size, given, pattern):
    """Return {name: size} of the axes that one axis is split into."""
    free = [name for name in group if name not in given]
    known = math.prod(int(given[name]) for name in group if name in given)
    if len(free) > 1 or (size % known if free else size != known):
        raise ShapeError(
            f"rearrange: an axis of size {size} cannot be split into ({' '.join(group)}) of "
            f"{pattern!r} with the sizes {given}. Give all sizes but one."
        )
    return {name: int(given[name]) if name in given else size // known for name in group}


def vectorize(pyfunc: Any, *, excluded: Any = None, signature: Any = None) -> Any:
    """Return a function that applies `pyfunc` to each element of tensors that broadcast.

    Args:
        pyfunc: a function of scalars, or of arrays with the axes that `signature` names.
        excluded: positions and names of arguments that are passed on unchanged.
        signature: the axes of arguments and results in NumPy's notation, "(n),(n)->()"; other
            axes come first and broadcast.

    >>> from framework import keras
    >>> longest = keras.ops.vectorize(keras.ops.max, signature="(n)->()")
    >>> longest([[1, 2], [4, 3]]).numpy()
    array([2, 4], dtype=int32)
    """
    if not callable(pyfunc):
        raise InvalidArgumentError(f"vectorize: expected a function, got {pyfunc!r}.")
    excluded = set(excluded or ())
    core = None if signature is None else _core_ranks(signature)

    @operation
    def vectorized(*args, **kwargs):
        places = [i for i in range(len(args)) if i not in excluded]
        named = [name for name in kwargs if name not in excluded]
        given = [tensor(args[i]) for i in places] + [tensor(kwargs[name]) for name in named]
        ranks = [0] * len(given) if core is None else core
        if len(ranks) != len(given):
            raise InvalidArgumentError(
                f"vectorize: {signature!r} is for {len(ranks)} arguments, got {len(given)}."
            )

        def called(*values):
            positional, keywords = list(args), dict(kwargs)
            for i, value in zip(places, values):
                positional[i] = value
            keywords.update(zip(named, values[len(places) :]))
            return pyfunc(*positional, **keywords)

        return _mapped(called, given, ranks)

    return vectorized


def _core_ranks(signature):
    if not isinstance(signature, str) or signature.count("->") != 1:
        raise InvalidArgumentError(
            f"vectorize: expected a signature such as '(n),(n)->()', got {signature!r}."
        )
    inputs = re.findall(r"\(([^()]*)\)", signature.split("->")[0])
    return [len([name for name in group.split(",") if name.strip()]) for group in inputs]


def _mapped(function, given, ranks):
    """Apply a function to the subarrays of tensors whose leading axes broadcast."""
    loops = [tuple(x.shape[: x.ndim - rank]) for x, rank in zip(given, ranks)]
    shape = np.broadcast_shapes(*loops)
    if not shape:
        return function(*given)
    rows = []
    for x, rank in zip(given, ranks):
        inner = tuple(x.shape[x.ndim - rank :])
        padded = (1,) * (len(shape) + rank - x.ndim) + tuple(x.shape)
        wide = movement.broadcast_to(movement.reshape(x, shape=padded), shape=shape + inner)
        rows.append(movement.reshape(wide, shape=(-1, *inner)))
    found = batching.vectorized_map(lambda cells: function(*cells), rows, warn=False)
    if isinstance(found, (tuple, list)):
        return type(found)(movement.reshape(y, shape=shape + tuple(y.shape[1:])) for y in found)
    return movement.reshape(found, shape=shape + tuple(found.shape[1:]))


# ---- padding -----------------------------------------------------------------------------------


@operation
def pad(
    x: TensorLike, pad_width: Any, mode: Any = "constant", constant_values: Any = None,
) -> Tensor:  # fmt: skip
    """Add `pad_width` elements around each axis: a number, a pair, or a pair for each axis.

    Args:
        mode: "constant", "reflect" (mirrored without the edge), "symmetric" (with the edge), "edge"
            (the edge repeated) or "wrap" (the elements of the other end).
        constant_values: the value for "constant", by default 0.

    >>> from framework import keras
    >>> keras.ops.pad([1, 2, 3], (1, 2), mode="wrap").numpy()
    array([3, 1, 2, 3, 1, 2], dtype=int32)
    """
    x = tensor(x)
    widths = np.broadcast_to(np.asarray(pad_width), (x.ndim, 2))
    if mode != "constant" and constant_values is not None:
        raise InvalidArgumentError(f"pad: `constant_values` has no meaning for mode={mode!r}.")
    if mode in ("edge", "wrap"):
        return shifts.padded_with_rows(x, shifts.padding_widths(x, widths), mode)
    value = 0 if constant_values is None else constant_values
    return shifts.pad(x, widths, mode.upper(), value)


# ---- patches, blocks, frames ---------------------------------------------------------------------


def _pair(value, what):
    found = ints(value)
    found = found * 2 if len(found) == 1 else found
    if len(found) != 2:
        raise InvalidArgumentError(f"{what}: expected an int or a pair, got {value!r}.")
    return found


def _places(size, kernel, dilation, padding, stride):
    """Return the positions along a padded axis: a row for each kernel element."""
    count = (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    return np.arange(kernel)[:, None] * dilation + np.arange(max(count, 0)) * stride


def _patch_index(sizes, kernel_size, dilation, padding, stride, what):
    """Return index arrays (kernel height, kernel width, rows, columns) into a padded image, and
    the padding."""
    kernel, dilation, padding, stride = (
        _pair(v, what) for v in (kernel_size, dilation, padding, stride)
    )
    rows, columns = (_places(*each) for each in zip(sizes, kernel, dilation, padding, stride))
    return (rows[:, None, :, None], columns[None, :, None, :]), padding


@operation
def unfold(
    x: TensorLike, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1,
) -> Tensor:  # fmt: skip
    """Return the patches of images as columns.

    Args:
        x: images of shape (batch, channels, height, width).
        kernel_size: the size of a patch; an int or a pair, as the next three arguments.
        dilation: the distance between elements of a patch.
        padding: the number of zeros on each side.
        stride: the distance between patches.

    Returns:
        A tensor of shape (batch, channels * elements of a patch, number of patches).
    """
    x = tensor(x)
    if x.ndim != 4:
        raise ShapeError(
            f"unfold: expected shape (batch, channels, height, width), got {tuple(x.shape)}."
        )
    index, (above, left) = _patch_index(
        x.shape[2:], kernel_size, dilation, padding, stride, "unfold"
    )
    padded = movement.pad(x, widths=((0, 0), (0, 0), (above, above), (left, left)))
    found = movement.getitem(padded, index=(slice(None), slice(None), *index))
    batch, channels, height, width, *patches = found.shape
    return movement.reshape(found, shape=(batch, channels * height * width, math.prod(patches)))


@operation
def fold(
    x: TensorLike, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0,
    stride: Any = 1,
) -> Tensor:  # fmt: skip
    """Add up patches to images: the adjoint of `unfold`, with the same arguments.

    Args:
        x: patches of shape (batch, channels * elements of a patch, number of patches).
        output_size: (height, width) of the images.
    """
    x, sizes = tensor(x), _pair(output_size, "fold")
    if x.ndim != 3:
        raise ShapeError(f"fold: expected patches of rank 3, got shape {tuple(x.shape)}.")
    (rows, columns), (above, left) = _patch_index(
        sizes, kernel_size, dilation, padding, stride, "fold"
    )
    shape = np.broadcast_shapes(rows.shape, columns.shape)
    kernel, count = math.prod(shape[:2]), math.prod(shape[2:])
    if x.shape[1] % kernel or x.shape[2] != count:
        raise ShapeError(
            f"fold: expected shape (batch, channels * {kernel}, {count}), got {tuple(x.shape)}."
        )
    batch, channels = x.shape[0], x.shape[1] // kernel
    patches = movement.reshape(x, shape=(batch, channels, *shape))
    padded = movement.put(
        patches, shape=(batch, channels, sizes[0] + 2 * above, sizes[1] + 2 * left),
        index=(slice(None), slice(None), rows, columns),
    )  # fmt: skip
    inner = (slice(above, above + sizes[0]), slice(left, left + sizes[1]))
    return movement.getitem(padded, index=(slice(None), slice(None), *inner))


@operation
def space_to_depth(
    x: TensorLike, block_size: Any, data_format: Any = "channels_last",
) -> Tensor:  # fmt: skip
    """Move each block of `block_size` x `block_size` pixels into the channels of one pixel.

    With "channels_last" the result's channels are ordered by pixel of the block, then channel;
    with "channels_first" by channel, then pixel.
    """
    if not _is_first(data_format, "space_to_depth"):
        return pooling.space_to_depth(x, block_size)
    x, b = _image(x, "space_to_depth"), int(block_size)
    batch, channels, height, width = x.shape
    if height % b or width % b:
        raise ShapeError(
            f"space_to_depth: block_size={b} does not divide height {height} and width {width}."
        )
    apart = movement.reshape(x, shape=(batch, channels, height // b, b, width // b, b))
    moved = movement.transpose(apart, perm=(0, 1, 3, 5, 2, 4))
    return movement.reshape(moved, shape=(batch, channels * b * b, height // b, width // b))


@operation
def depth_to_space(
    x: TensorLike, block_size: Any, data_format: Any = "channels_last",
) -> Tensor:  # fmt: skip
    """Move the channels of each pixel into a block of pixels: the inverse of `space_to_depth`."""
    if not _is_first(data_format, "depth_to_space"):
        return pooling.depth_to_space(x, block_size)
    x, b = _image(x, "depth_to_space"), int(block_size)
    batch, channels, height, width = x.shape
    if channels % (b * b):
        raise ShapeError(
            f"depth_to_space: expected channels in a multiple of block_size² = {b * b}, got "
            f"{channels}."
        )
    inner = channels // (b * b)
    apart = movement.reshape(x, shape=(batch, inner, b, b, height, width))
    moved = movement.transpose(apart, perm=(0, 1, 4, 2, 5, 3))
    return movement.reshape(moved, shape=(batch, inner, height * b, width * b))


def _is_first(data_format, what):
    if data_format not in ("channels_last", "channels_first"):
        raise InvalidArgumentError(
            f"{what}: `data_format` must be 'channels_last' or 'channels_first', got "
            f"{data_format!r}."
        )
    return data_format == "channels_first"


def _image(x, what):
    x = tensor(x)
    if x.ndim != 4:
        raise ShapeError(
            f"{what}: expected shape (batch, channels, height, width), got {tuple(x.shape)}."
        )
    return x


@operation
def extract_sequences(x: TensorLike, sequence_length: Any, sequence_stride: Any) -> Tensor:
    """Return frames of `sequence_length` elements of the last axis, `sequence_stride` apart.

    The result has shape (..., number of frames, sequence_length).
    """
    x, length, stride = tensor(x), int(sequence_length), int(sequence_stride)
    if not x.ndim or length < 1 or stride < 1 or x.shape[-1] < length:
        raise ShapeError(
            f"extract_sequences: no frames of {length} elements, {stride} apart, in shape "
            f"{tuple(x.shape)}."
        )
    starts = np.arange((x.shape[-1] - length) // stride + 1) * stride
    return movement.gather(x, starts[:, None] + np.arange(length), axis=x.ndim - 1)


# ---- distances, classes ------------------------------------------------------------------------


@operation
def cdist(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the Euclidean distances between the rows of x and those of y: (..., rows, rows).

    The derivatives of a distance of 0 are 0.
    """
    x, y = (floating(v) for v in promote(x, y))
    if x.ndim < 2 or y.ndim < 2 or x.shape[-1] != y.shape[-1]:
        raise ShapeError(
            f"cdist: expected matrices with rows of equal length, got {tuple(x.shape)} and "
            f"{tuple(y.shape)}."
        )
    apart = arrays.expand_dims(x, -2) - arrays.expand_dims(y, -3)
    squares = elementwise.square(apart)
    return elementwise.root(ops.reduce_sum(squares, axis=(len(apart.shape) - 1,), keepdims=False))


def psnr(x1: TensorLike, x2: TensorLike, max_val: TensorLike) -> Tensor:
    """Return the peak signal-to-noise ratio in decibels: 20 log10(max_val / root of the mean
    squared difference); inf for equal tensors."""
    x1, x2 = (floating(v) for v in promote(x1, x2))
    if tuple(x1.shape) != tuple(x2.shape):
        raise ShapeError(
            f"psnr: expected tensors of equal shape, got {tuple(x1.shape)} and {tuple(x2.shape)}."
        )
    error = elementwise.square(x1 - x2)
    error = ops.reduce_mean(error, axis=tuple(range(error.ndim)), keepdims=False)
    peak = arrays.convert_to_tensor(max_val, error.dtype)
    scale = 10 / math.log(10)
    return 2 * scale * elementwise.log(peak) - scale * elementwise.log(error)


@operation
def multi_hot(
    inputs: TensorLike, num_classes: Any = None, axis: Axis = -1, dtype: DTypeLike = None,
    sparse: Any = False, **kwargs: Any,
) -> Tensor:  # fmt: skip
    """Return 1 for each class that occurs in a row of `inputs`, and 0 for the others.

    Args:
        inputs: integers of shape (batch, length), or (length,).
        num_classes: the number of classes.
        axis: the axis of the classes in the one-hot encoding, before the maximum over axis 1.
        dtype: by default floatx.
        sparse: ignored.
    """
    num_classes = kwargs.pop("num_tokens", None) if num_classes is None else num_classes
    if num_classes is None or kwargs:
        raise InvalidArgumentError(
            f"multi_hot: `num_classes` must be an int, got {num_classes}; unknown arguments: "
            f"{sorted(kwargs)}."
        )
    hot = arrays.one_hot(inputs, num_classes, axis=axis, dtype=dtype)
    united = 1 if hot.ndim > 2 else 0
    return ops.reduce_max(hot, axis=(united,), keepdims=False)


def sparsemax(x: TensorLike, axis: Axis = -1) -> Tensor:
    """Return the point of the probability simplex nearest to `x` along `axis`.

    Martins & Astudillo 2016, arXiv:1602.02068.
    """
    x = floating(x)
    return special.sparsemax(x, axis=one_axis(axis, x.ndim, "sparsemax"))


@operation
def ctc_decode(
    inputs: TensorLike, sequence_lengths: TensorLike, strategy: Any = "greedy",
    beam_width: Any = 100, top_paths: Any = 1, merge_repeated: bool = True, mask_index: Any = 0,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Decode the outputs of a model that was trained with the CTC loss.

    Args:
        inputs: logits of shape (batch, time, classes).
        sequence_lengths: the number of valid time steps of each sequence.
        strategy: "greedy", the most likely class at each step, or "beam_search".
        beam_width: the number of prefixes that the beam search keeps.
        top_paths: the number of best paths that the beam search returns.
        merge_repeated: whether the greedy strategy merges equal neighbors.
        mask_index: the blank class; None for the last one.

    Returns:
        Class indices, int32, of shape (paths, batch, time), padded with -1; and the scores
        (batch, paths): the negative sum of the chosen logits, or log probabilities.
    """
    x, lengths = tensor(inputs), tensor(sequence_lengths)
    x = arrays.convert_to_tensor(x, "float64" if x.dtype == "float64" else "float32")
    if x.ndim != 3:
        raise ShapeError(
            f"ctc_decode: expected shape (batch, time, classes), got {tuple(x.shape)}."
        )
    blank = x.shape[2] - 1 if mask_index is None else int(mask_index)
    if strategy == "greedy":
        inside = np.arange(x.shape[1]) < movement.reshape(lengths, shape=(-1, 1))
        best = elementwise.masked(ops.reduce_max(x, axis=(2,), keepdims=False), inside)
        scores = elementwise.negative(ops.reduce_sum(best, axis=(1,), keepdims=True))
        paths = greedy_search(x, lengths, blank=blank, merges=bool(merge_repeated))
    elif strategy == "beam_search":
        paths, scores = beam_search(
            x, lengths, blank=blank, width=int(beam_width), best=int(top_paths)
        )
    else:
        raise InvalidArgumentError(
            f"ctc_decode: `strategy` must be 'greedy' or 'beam_search', got {strategy!r}."
        )
    return paths, scores
