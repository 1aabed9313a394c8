"""keras.ops.image: resize, crop and pad images.

>>> from framework import keras
>>> keras.ops.image.resize(np.arange(8.0).reshape(1, 2, 4, 1), (1, 2)).numpy().ravel()
array([2.5, 4.5])
"""

from typing import Any

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError
from framework.core.operations import operation
from framework.core.tensor import Tensor
from framework.keras.ops.argument_conversion import floating
from framework.keras.ops.image_layout import ImageLayout, images_of, is_first, one_of
from framework.ops import elementwise as _e
from framework.ops import movement as _m
from framework.ops.casting import like, widened
from framework.ops.contraction import matmul_with_vectors
from framework.ops.division import promoted_floats
from framework.ops.fitting import fitted
from framework.ops.reduction import reduce_max, reduce_min
from framework.ops.resampling import weight_matrix

_INTERPOLATIONS = ("bilinear", "nearest", "lanczos3", "lanczos5", "bicubic", "area")
_SCALINGS = {
    **dict.fromkeys(("linear", "bilinear", "trilinear", "triangle"), "bilinear"),
    **dict.fromkeys(("cubic", "bicubic", "tricubic"), "bicubic"),
    "lanczos3": "lanczos3",
    "lanczos5": "lanczos5",
}


@operation
def resize(
    images: TensorLike, size: Any, interpolation: str = "bilinear", antialias: bool = False,
    crop_to_aspect_ratio: bool = False, pad_to_aspect_ratio: bool = False,
    fill_mode: str = "constant", fill_value: Any = 0.0, data_format: Any = None,
) -> Tensor:  # fmt: skip
    """Return images in another size.

    Args:
        images: (batch, height, width, channels), or one image of rank 3.
        size: the new (height, width).
        interpolation: "bilinear", "nearest", "bicubic" (Keys, 1981, a = -0.5), "lanczos3",
            "lanczos5" or "area".
        antialias: True to average over more pixels where images become smaller; "nearest" and
            "area" ignore it.
        crop_to_aspect_ratio: True to crop the center to the aspect ratio of `size` first.
        pad_to_aspect_ratio: True to pad the images to the aspect ratio of `size` first.
        fill_mode: must be "constant".
        fill_value: the value of the padding.
        data_format: "channels_last" or "channels_first".

    Returns:
        The dtype of `images`; integers are rounded.

    Raises:
        ValueError: an argument is unknown, or the rank is wrong.

    Example:
        >>> from framework import keras
        >>> keras.ops.image.resize(np.ones((2, 4, 6, 3)), (8, 3)).shape
        TensorShape([2, 8, 3, 3])
    """
    size = _checked(size, interpolation, crop_to_aspect_ratio, pad_to_aspect_ratio, fill_mode)
    x = images_of(images, "resize")
    layout = ImageLayout(x, is_first(data_format, "resize"))
    fit = "crop" if crop_to_aspect_ratio else "pad" if pad_to_aspect_ratio else None
    y = fitted(layout.batch(x), size, interpolation, antialias, fit, fill_value)
    return layout.restored(y)


def _checked(size, interpolation, crop, pad, fill_mode):
    if not isinstance(size, (tuple, list)) or len(size) != 2 or min(map(int, size)) < 1:
        raise InvalidArgumentError(
            f"resize: `size` must be two positive ints, (height, width), got {size!r}."
        )
    one_of(interpolation, _INTERPOLATIONS, "interpolation", "resize")
    one_of(fill_mode, ("constant",), "fill_mode", "resize")
    if crop and pad:
        raise InvalidArgumentError(
            "resize: only one of `crop_to_aspect_ratio` and `pad_to_aspect_ratio` can be True."
        )
    return tuple(int(n) for n in size)


@operation
def scale_and_translate(
    images: TensorLike, output_shape: Any, scale: TensorLike, translation: TensorLike,
    spatial_dims: Any, method: str, antialias: bool = True,
) -> Tensor:  # fmt: skip
    """Scale and shift some axes: position p of `images` becomes p * scale + translation.

    Pixel i covers the positions from i to i + 1. Pixels outside are 0.

    Args:
        images: any tensor.
        output_shape: the shape of the result.
        scale, translation: one number for each of `spatial_dims`.
        spatial_dims: the axes.
        method: "linear" (also "bilinear", "trilinear", "triangle"), "cubic" ("bicubic",
            "tricubic"), "lanczos3" or "lanczos5".
        antialias: True to average over more pixels along axes that shrink.

    Returns:
        The dtype of `images`; integers are rounded. It is also differentiable with respect to
        `scale` and `translation`.

    Raises:
        ValueError: `method` is unknown, or lengths differ.

    Example:
        >>> from framework import keras
        >>> f, x = keras.ops.image.scale_and_translate, np.float32([1, 2, 3])
        >>> f(x, (6,), np.float32([2]), np.float32([0]), (0,), "linear").numpy()
        array([1.  , 1.25, 1.75, 2.25, 2.75, 3.  ], dtype=float32)
    """
    one_of(method, _SCALINGS, "method", "scale_and_translate")
    x = tensor(images)
    scale, translation = promoted_floats(scale, translation)
    dims = [d % x.ndim for d in np.asarray(spatial_dims, int).reshape(-1).tolist()]
    if tuple(scale.shape) != (len(dims),) or tuple(translation.shape) != (len(dims),):
        raise InvalidArgumentError(
            f"scale_and_translate: `scale` and `translation` must have {len(dims)} numbers, one "
            f"for each of `spatial_dims`, got shapes {tuple(scale.shape)} and "
            f"{tuple(translation.shape)}."
        )
    y = widened(floating(x))
    for i, d in enumerate(dims):
        factor, shift = (_m.getitem(v, index=(i,)) for v in (scale, translation))
        w = weight_matrix(
            x.shape[d], int(output_shape[d]), factor, shift, _SCALINGS[method], antialias
        )
        y = matmul_with_vectors(_with_axis_last(y, d), like(w, y))
        y = _m.transpose(y, perm=(*range(d), x.ndim - 1, *range(d, x.ndim - 1)))
    if dims and x.dtype.is_integer:
        everywhere = {"axis": tuple(range(x.ndim)), "keepdims": False}
        y = _e.clip(_e.round_(y), reduce_min(x, **everywhere), reduce_max(x, **everywhere))
    return like(y, x)


def _with_axis_last(x, axis):
    return _m.transpose(x, perm=(*(i for i in range(x.ndim) if i != axis), axis))


# ---- margins -------------------------------------------------------------------------------------


def _margins(before, after, old, new, what, sides):
    """Return how many pixels to add or remove on both sides of an axis, given two of three numbers.

    Args:
        before, after, new: the pixels on both sides, and the new size; one of them is None.
        old: the size of the images.
        what: the function's name, which says whether it pads or crops.
        sides: the names of the three arguments.
    """
    given = dict(zip(sides, (before, after, new), strict=True))
    told = ", ".join(f"{name}={value!r}" for name, value in given.items())
    if list(given.values()).count(None) != 1:
        names = ", ".join(f"`{name}`" for name in sides)
        raise InvalidArgumentError(f"{what}: expected exactly two of {names}, got {told}.")
    negative = next((k for k, n in given.items() if n is not None and int(n) < 0), None)
    if negative:
        raise InvalidArgumentError(
            f"{what}: `{negative}` must not be negative, got {given[negative]!r}."
        )
    total = None if new is None else int(new) - old if what == "pad_images" else old - int(new)
    before = total - int(after) if before is None else int(before)
    after = total - before if after is None else int(after)
    if min(before, after) < 0 or (what == "crop_images" and before + after > old):
        raise InvalidArgumentError(
            f"{what}: {told} do not fit images with {old} pixels along this axis."
        )
    return before, after


@operation
def pad_images(
    images: TensorLike, top_padding: Any = None, left_padding: Any = None,
    bottom_padding: Any = None, right_padding: Any = None, target_height: Any = None,
    target_width: Any = None, data_format: Any = None,
) -> Tensor:  # fmt: skip
    """Add zeros around images; two of three arguments determine each axis.

    Args:
        images: (batch, height, width, channels), or one image of rank 3.
        top_padding, bottom_padding, target_height: rows above, rows below, the new height.
        left_padding, right_padding, target_width: the same for columns.
        data_format: "channels_last" or "channels_first".

    Raises:
        ValueError: the numbers are negative or do not fit.

    Example:
        >>> from framework import keras
        >>> keras.ops.image.pad_images(np.ones((2, 3, 1)), 1, 2, 0, target_width=9).shape
        TensorShape([3, 9, 1])
    """
    sizes = (top_padding, bottom_padding, target_height, left_padding, right_padding, target_width)
    x, axes, margins = _along_axes("pad_images", images, data_format, sizes, "padding")
    widths = [(0, 0)] * x.ndim
    for axis, margin in zip(axes, margins):
        widths[axis] = margin
    return _m.pad(x, widths=tuple(widths))


@operation
def crop_images(
    images: TensorLike, top_cropping: Any = None, left_cropping: Any = None,
    bottom_cropping: Any = None, right_cropping: Any = None, target_height: Any = None,
    target_width: Any = None, data_format: Any = None,
) -> Tensor:  # fmt: skip
    """Crop rows and columns of images; two of three arguments determine each axis.

    Args:
        images: (batch, height, width, channels), or one image of rank 3.
        top_cropping, bottom_cropping, target_height: rows above, rows below, the new height.
        left_cropping, right_cropping, target_width: the same for columns.
        data_format: "channels_last" or "channels_first".

    Raises:
        ValueError: the numbers are negative or do not fit.

    Example:
        >>> from framework import keras
        >>> keras.ops.image.crop_images(np.ones((4, 6, 1)), 1, 2, 0, target_width=3).shape
        TensorShape([3, 3, 1])
    """
    sizes = (
        top_cropping, bottom_cropping, target_height, left_cropping, right_cropping, target_width
    )  # fmt: skip
    x, axes, margins = _along_axes("crop_images", images, data_format, sizes, "cropping")
    index = [slice(None)] * x.ndim
    for axis, (before, after) in zip(axes, margins):
        index[axis] = slice(before, x.shape[axis] - after)
    return _m.getitem(x, index=tuple(index))


def _along_axes(what, images, data_format, sizes, word):
    """Return the tensor, its spatial axes and the pixels before and after along each."""
    x = images_of(images, what)
    last = x.ndim - 1 if is_first(data_format, what) else x.ndim - 2
    axes = (last - 1, last)
    names = (f"top_{word}", f"bottom_{word}", "target_height"), (
        f"left_{word}", f"right_{word}", "target_width",
    )  # fmt: skip
    margins = [
        _margins(before, after, x.shape[axis], new, what, sides)
        for axis, (before, after, new), sides in zip(axes, (sizes[:3], sizes[3:]), names)
    ]
    return x, axes, margins
