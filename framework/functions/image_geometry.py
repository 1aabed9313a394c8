"""tf.image: flips, rotations, crops, padding, patches. All of them only move pixels.

>>> import framework as tf
>>> tf.image.flip_left_right([[[1], [2]]]).numpy().ravel()
array([2, 1], dtype=int32)
"""

from typing import Any

from framework.core.argument_types import TensorLike
from framework.core.errors import InvalidArgumentError
from framework.core.operations import operation
from framework.core.tensor import Tensor
from framework.functions.image_layout import axes_of, images_of, positive
from framework.ops import movement as _m
from framework.ops.patches import patches


@operation
def flip_left_right(image: TensorLike) -> Tensor:
    """Reverse the columns of an image, or of each image of a batch."""
    x = images_of(image, "flip_left_right")
    return _m.flip(x, axis=axes_of(x)[1:])


@operation
def flip_up_down(image: TensorLike) -> Tensor:
    """Reverse the rows of an image, or of each image of a batch."""
    x = images_of(image, "flip_up_down")
    return _m.flip(x, axis=axes_of(x)[:1])


@operation
def transpose(image: TensorLike, name: str | None = None) -> Tensor:
    """Swap rows and columns of an image, or of each image of a batch."""
    return _swapped(images_of(image, "transpose"))


def _swapped(x):
    rows, columns = axes_of(x)
    return _m.transpose(x, perm=(*range(rows), columns, rows, columns + 1))


@operation
def rot90(image: TensorLike, k: Any = 1, name: str | None = None) -> Tensor:
    """Turn an image, or each image of a batch, by `k` quarter turns counterclockwise.

    >>> import framework as tf
    >>> tf.image.rot90([[[1], [2]]]).numpy()[:, 0, 0]
    array([2, 1], dtype=int32)
    """
    x, turns = images_of(image, "rot90"), int(k) % 4
    rows, columns = axes_of(x)
    if turns == 2:
        return _m.flip(x, axis=(rows, columns))
    if turns == 1:
        return _swapped(_m.flip(x, axis=(columns,)))
    return _m.flip(_swapped(x), axis=(columns,)) if turns else x


def cut(x, top, left, height, width):
    """Return the part of the images `x` with the given first row, first column and size."""
    index = (Ellipsis, slice(top, top + height), slice(left, left + width), slice(None))
    return _m.getitem(x, index=index)


@operation
def central_crop(image: TensorLike, central_fraction: Any) -> Tensor:
    """Return the center of images.

    Args:
        image: (height, width, channels), or a batch.
        central_fraction: the fraction of each axis to keep, above 0 and at most 1.

    Raises:
        ValueError: the fraction or the rank is invalid.

    >>> import framework as tf
    >>> tf.image.central_crop(tf.zeros([8, 6, 3]), 0.5).shape
    TensorShape([4, 4, 3])
    """
    fraction = float(central_fraction)
    if not 0 < fraction <= 1:
        raise InvalidArgumentError(
            "central_crop: `central_fraction` must be above 0 and at most 1, got "
            f"{central_fraction!r}."
        )
    x = images_of(image, "central_crop")
    height, width = (x.shape[axis] for axis in axes_of(x))
    top, left = (int((n - n * fraction) / 2) for n in (float(height), float(width)))
    return cut(x, top, left, height - 2 * top, width - 2 * left)


@operation
def crop_to_bounding_box(
    image: TensorLike, offset_height: Any, offset_width: Any, target_height: Any,
    target_width: Any,
) -> Tensor:  # fmt: skip
    """Crop images to the given offset and size.

    Args:
        image: (height, width, channels), or a batch.
        offset_height, offset_width: the first row and column of the part.
        target_height, target_width: its size.

    Raises:
        ValueError: the part is not inside the images.
    """
    what = "crop_to_bounding_box"
    x = images_of(image, what)
    top, left = int(offset_height), int(offset_width)
    height = positive(target_height, what, "target_height")
    width = positive(target_width, what, "target_width")
    rows, columns = (x.shape[axis] for axis in axes_of(x))
    if min(top, left) < 0 or top + height > rows or left + width > columns:
        raise InvalidArgumentError(
            f"{what}: expected a part inside the images of {rows} x {columns} pixels, got {height} "
            f"x {width} pixels from row {top}, column {left}."
        )
    return cut(x, top, left, height, width)


@operation
def pad_to_bounding_box(
    image: TensorLike, offset_height: Any, offset_width: Any, target_height: Any,
    target_width: Any,
) -> Tensor:  # fmt: skip
    """Surround images with zeros.

    Args:
        image: (height, width, channels), or a batch.
        offset_height, offset_width: the number of rows above, and of columns to the left.
        target_height, target_width: the size of the result.

    Raises:
        ValueError: the images do not fit into the result.
    """
    x = images_of(image, "pad_to_bounding_box")
    return padded(x, int(offset_height), int(offset_width), int(target_height), int(target_width))


def padded(x, top, left, height, width):
    """Return images of height x width pixels that contain `x`, surrounded by zeros."""
    rows, columns = (x.shape[axis] for axis in axes_of(x))
    below, right = height - top - rows, width - left - columns
    if min(top, left, below, right) < 0:
        raise InvalidArgumentError(
            f"pad_to_bounding_box: images of {rows} x {columns} pixels do not fit from row {top}, "
            f"column {left} into {height} x {width} pixels."
        )
    return _m.pad(x, widths=((0, 0),) * (x.ndim - 3) + ((top, below), (left, right), (0, 0)))


@operation
def resize_with_crop_or_pad(image: TensorLike, target_height: Any, target_width: Any) -> Tensor:
    """Crop images at their center, or surround them with zeros, to get the target size.

    >>> import framework as tf
    >>> tf.image.resize_with_crop_or_pad(tf.zeros([8, 6, 3]), 4, 9).shape
    TensorShape([4, 9, 3])
    """
    what = "resize_with_crop_or_pad"
    x = images_of(image, what)
    height = positive(target_height, what, "target_height")
    width = positive(target_width, what, "target_width")
    rows, columns = (x.shape[axis] for axis in axes_of(x))
    top, left = (max((old - new) // 2, 0) for old, new in ((rows, height), (columns, width)))
    x = cut(x, top, left, min(rows, height), min(columns, width))
    return padded(x, max((height - rows) // 2, 0), max((width - columns) // 2, 0), height, width)


@operation
def extract_patches(
    images: TensorLike, sizes: Any, strides: Any, rates: Any, padding: str,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the patches of images, each flattened to the channels of one output pixel.

    Args:
        images: (batch, height, width, channels).
        sizes: [1, rows, columns, 1], the size of a patch.
        strides: [1, rows, columns, 1], the distance between patches.
        rates: [1, rows, columns, 1], the distance between pixels of a patch.
        padding: "VALID", or "SAME" for zeros beyond the images.

    Returns:
        (batch, rows, columns, pixels of a patch * channels).

    Raises:
        ValueError: a size is not positive, or not 1 for batch or channels; `padding` is unknown.

    >>> import framework as tf
    >>> ones = [1, 1, 1, 1]
    >>> tf.image.extract_patches(tf.zeros([1, 4, 6, 3]), [1, 2, 2, 1], ones, ones, "VALID").shape
    TensorShape([1, 3, 5, 12])
    """
    x = images_of(images, "extract_patches", "images")
    if x.ndim != 4 or str(padding).upper() not in ("VALID", "SAME"):
        raise InvalidArgumentError(
            "extract_patches: expected images of rank 4 and `padding` 'VALID' or 'SAME', got shape "
            f"{tuple(x.shape)} and {padding!r}."
        )
    window = {"size": _inner(sizes, "sizes"), "strides": _inner(strides, "strides")}
    return patches(x, **window, dilations=_inner(rates, "rates"), padding=str(padding).upper())


def _inner(values, name):
    values = tuple(int(n) for n in values)
    if len(values) != 4 or values[0] != 1 or values[3] != 1 or min(values) < 1:
        raise InvalidArgumentError(
            f"extract_patches: `{name}` must be [1, rows, columns, 1], got {list(values)}."
        )
    return values[1:3]
