"""tf.image: resize images, and crop parts of them.

>>> import framework as tf
>>> tf.image.resize([[[1.0], [3.0]]], [1, 4]).numpy().ravel()
array([1. , 1.5, 2.5, 3. ], dtype=float32)
"""

from typing import Any

import numpy as np

from framework.core import random
from framework.core.argument_types import TensorLike
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.dtypes import float32
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.tensor import Tensor
from framework.functions.image_geometry import padded
from framework.functions.image_layout import axes_of, images_of, positive
from framework.ops.elementwise import greater, less, logical_or, select
from framework.ops.movement import getitem, reshape, within
from framework.ops.resampling import METHODS, resized
from framework.ops.warping import sampled


class ResizeMethod:
    """The names of the interpolation methods of `tf.image.resize`.

    >>> import framework as tf
    >>> tf.image.ResizeMethod.BICUBIC
    'bicubic'
    """

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


@operation
def resize(
    images: TensorLike, size: Any, method: str = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False, antialias: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return images in another size.

    Args:
        images: (batch, height, width, channels), or one image of rank 3.
        size: the new (height, width).
        method: one of `tf.image.ResizeMethod`: "bilinear", "nearest", "bicubic", "area",
            "lanczos3", "lanczos5", "gaussian" or "mitchellcubic".
        preserve_aspect_ratio: True to keep the aspect ratio: the result fits into `size`.
        antialias: True to average over more pixels where images become smaller.

    Returns:
        float32; with "nearest" the dtype of `images`.

    Raises:
        ValueError: an argument is unknown, or the rank is wrong.
    """
    x, new = images_of(images, "resize", "images"), _size(size)
    if preserve_aspect_ratio:
        old = np.array([x.shape[axis] for axis in axes_of(x)], np.float32)
        new = np.rint((np.array(new, np.float32) / old).min() * old).astype(int).tolist()
    return _resized(x, new, method, antialias)


def _size(size):
    size = [int(n) for n in size] if hasattr(size, "__len__") else size
    if not isinstance(size, list) or len(size) != 2 or min(size) < 1:
        raise InvalidArgumentError(
            f"resize: `size` must be two positive ints, (height, width), got {size!r}."
        )
    return size


def _resized(x, size, method, antialias):
    if method not in METHODS:
        raise InvalidArgumentError(
            f"resize: `method` must be one of {', '.join(map(repr, METHODS))}, got {method!r}."
        )
    x = x if method == "nearest" else cast(x, dtype=float32.np)
    return resized(x, size, axes_of(x), method, antialias)


@operation
def resize_with_pad(
    image: TensorLike, target_height: Any, target_width: Any,
    method: str = ResizeMethod.BILINEAR, antialias: bool = False,
) -> Tensor:  # fmt: skip
    """Resize images, keeping their aspect ratio, and pad them with zeros to the target size.

    >>> import framework as tf
    >>> tf.image.resize_with_pad(tf.ones([2, 4, 1]), 4, 4).numpy()[:, 0, 0]
    array([0., 1., 1., 0.], dtype=float32)
    """
    what = "resize_with_pad"
    x = images_of(image, what)
    target = [
        positive(target_height, what, "target_height"),
        positive(target_width, what, "target_width"),
    ]
    old = np.array([x.shape[axis] for axis in axes_of(x)], np.float32)
    wanted = np.array(target, np.float32)
    exact = old / (old / wanted).max()
    top, left = np.maximum(np.floor((wanted - exact) / 2), 0).astype(int).tolist()
    y = _resized(x, _size(np.floor(exact).astype(int).tolist()), method, antialias)
    return padded(y, top, left, *target)


# ---- parts ---------------------------------------------------------------------------------------


@operation
def crop_and_resize(
    image: TensorLike, boxes: TensorLike, box_indices: TensorLike, crop_size: Any,
    method: str = "bilinear", extrapolation_value: Any = 0.0, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Crop parts of images, and resize them to one size.

    Args:
        image: (batch, height, width, channels).
        boxes: (parts, 4), rows (y1, x1, y2, x2): 0 is the center of the first pixel, 1 that of the
            last. A part with y1 > y2 is upside down.
        box_indices: (parts,), integers: the image of each part.
        crop_size: the (height, width) of the parts.
        method: "bilinear" or "nearest".
        extrapolation_value: the value beyond the images.

    Returns:
        float32 (parts, height, width, channels).

    Raises:
        ValueError: an argument is unknown, a shape is wrong, or an image does not exist.

    >>> import framework as tf
    >>> x = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> tf.image.crop_and_resize(x, [[0.0, 0.0, 0.5, 1.0]], [0], [2, 2]).numpy().ravel()
    array([0., 2., 3., 5.], dtype=float32)
    """
    what = "crop_and_resize"
    x, size = tensor(image), [positive(n, what, "crop_size") for n in crop_size]
    boxes, which = tensor(boxes), tensor(box_indices)
    count = boxes.shape[0]
    if x.ndim != 4 or tuple(boxes.shape[1:]) != (4,) or tuple(which.shape) != (count,):
        raise ShapeError(
            f"{what}: expected `image` of rank 4, `boxes` (parts, 4) and `box_indices` (parts,), "
            f"got shapes {tuple(x.shape)}, {tuple(boxes.shape)} and {tuple(which.shape)}."
        )
    if method not in ("bilinear", "nearest"):
        raise InvalidArgumentError(
            f"{what}: `method` must be 'bilinear' or 'nearest', got {method!r}."
        )
    which = within(which, what=f"{what}: `box_indices`", size=x.shape[0])
    boxes = cast(boxes, dtype=float32.np)
    places = [_places(boxes, axis, x.shape[axis + 1], size[axis]) for axis in (0, 1)]
    lost = [logical_or(less(p, 0.0), greater(p, n - 1.0)) for p, n in zip(places, x.shape[1:3])]
    return sampled(
        x, places, order=int(method == "bilinear"), mode="nearest", rounding="away",
        fill=extrapolation_value, lost=logical_or(*lost),
        which=reshape(cast(which, dtype=np.dtype(np.int64)), shape=(count, 1, 1)),
    )  # fmt: skip


def _places(boxes, axis, n, size):
    """Return the rows (parts, size, 1) or columns (parts, 1, size) to sample for each part."""
    low, high = (getitem(boxes, index=(slice(None), axis + k)) for k in (0, 2))
    shape = (-1, 1, 1)
    low, high = reshape(low, shape=shape), reshape(high, shape=shape)
    if size == 1:
        return (low + high) * np.float32(0.5 * (n - 1))
    steps = np.arange(size, dtype=np.float32).reshape((-1, 1) if axis == 0 else (1, -1))
    return low * np.float32(n - 1) + (high - low) * np.float32((n - 1) / (size - 1)) * steps


@operation
def extract_glimpse(
    input: TensorLike, size: Any, offsets: TensorLike, centered: bool = True,
    normalized: bool = True, noise: str = "uniform", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return one part of each image; pixels outside the image are filled with noise.

    Args:
        input: (batch, height, width, channels), floats.
        size: the (height, width) of the parts.
        offsets: (batch, 2), the positions (y, x) of the parts.
        centered: True if offsets count from the center of the image, False from its first pixel.
        normalized: False if offsets are pixels and locate the first pixel of the part. True if they
            are fractions of the image's size; if `centered` is also true, they are fractions of
            half the size and locate the part's center.
        noise: "uniform" (from 0 to 1), "gaussian", or "zero" for zeros.

    Raises:
        ValueError: an argument is unknown, or a shape is wrong.

    >>> import framework as tf
    >>> x = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> tf.image.extract_glimpse(x, [1, 1], [[0.0, 0.0]]).numpy().ravel()
    array([4.], dtype=float32)
    """
    what = "extract_glimpse"
    x, offsets = cast(tensor(input), dtype=float32.np), cast(tensor(offsets), dtype=float32.np)
    size = [positive(n, what, "size") for n in size]
    if x.ndim != 4 or tuple(offsets.shape) != (x.shape[0], 2):
        raise ShapeError(
            f"{what}: expected `input` of rank 4 and `offsets` (batch, 2), got shapes "
            f"{tuple(x.shape)} and {tuple(offsets.shape)}."
        )
    if noise not in ("uniform", "gaussian", "zero"):
        raise InvalidArgumentError(
            f"{what}: `noise` must be 'uniform', 'gaussian' or 'zero', got {noise!r}."
        )
    places = []
    for axis in (0, 1):
        n = x.shape[axis + 1]
        offset = getitem(offsets, index=(slice(None), axis))
        scale = n * (0.5 if centered else 1) if normalized else 1
        shift = (n - size[axis] * normalized) / 2 if centered else 0
        start = cast(offset * np.float32(scale) + np.float32(shift), dtype=np.dtype(np.int32))
        steps = np.arange(size[axis], dtype=np.float32).reshape((-1, 1) if axis == 0 else (1, -1))
        places.append(reshape(cast(start, dtype=float32.np), shape=(-1, 1, 1)) + steps)
    y = sampled(x, places, order=0, mode="constant", fill=0.0)
    if noise == "zero":
        return y
    lost = [logical_or(less(p, 0.0), greater(p, n - 1.0)) for p, n in zip(places, x.shape[1:3])]
    lost = logical_or(*lost)
    kind = "uniform" if noise == "uniform" else "normal"
    drawn = random.draw(random.global_generator(), kind, tuple(y.shape), float32, 0.0, 1.0)
    return select(reshape(lost, shape=(*lost.shape, 1)), drawn, y)
