"""keras.ops.image: blurring, edge detection, similarity and patches of images.

>>> from framework import keras
>>> step = np.repeat([0.0, 0.0, 1.0, 1.0], 4).reshape(1, 4, 4, 1)
>>> keras.ops.image.sobel_edges(step)[0, :, 0, 0].numpy()  # vertical and horizontal slope
array([[0., 0.],
       [4., 0.],
       [4., 0.],
       [0., 0.]])
"""

from typing import Any

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.tensor import Tensor
from framework.keras.ops.argument_conversion import floating
from framework.keras.ops.image_layout import ImageLayout, images_of, is_first
from framework.ops import image_filters as _filters
from framework.ops.casting import like, saturate_cast, widened
from framework.ops.elementwise import round_
from framework.ops.movement import reshape, transpose
from framework.ops.patches import patches
from framework.ops.reduction import reduce_mean


def rounded(y, x):
    """Return `y` in the dtype of `x`; it is rounded if this is an integer dtype."""
    return saturate_cast(round_(y), x.dtype) if x.dtype.is_integer else like(y, x)


@operation
def gaussian_blur(
    images: TensorLike, kernel_size: Any = (3, 3), sigma: Any = (1.0, 1.0), data_format: Any = None,
) -> Tensor:  # fmt: skip
    """Return blurred images: each pixel is a mean of its neighbors with Gaussian weights.

    Args:
        images: (batch, height, width, channels), or one image of rank 3; pixels outside count as 0.
        kernel_size: the numbers of pixels along the width and the height that are averaged.
        sigma: the Gaussian's standard deviation along the width and along the height.
        data_format: "channels_last" or "channels_first".

    Returns:
        The shape and dtype of `images`; integers are rounded.

    Raises:
        ValueError: an argument is unknown, or the rank is wrong.

    Example:
        >>> from framework import keras
        >>> x = np.float32([0, 0, 4, 0, 0]).reshape(1, 5, 1)
        >>> keras.ops.image.gaussian_blur(x, (3, 1), (100.0, 1.0)).numpy().round(2).ravel()
        array([0.  , 1.33, 1.33, 1.33, 0.  ], dtype=float32)
    """
    x = images_of(images, "gaussian_blur")
    layout = ImageLayout(x, is_first(data_format, "gaussian_blur"))
    sizes, sigmas = (np.asarray(v).tolist() for v in (kernel_size, sigma))
    for name, pair in (("kernel_size", sizes), ("sigma", sigmas)):
        if not isinstance(pair, list) or len(pair) != 2 or min(pair) <= 0:
            raise InvalidArgumentError(
                f"gaussian_blur: `{name}` must be two positive numbers, got {pair!r}."
            )
    columns, rows = (_filters.gaussian(int(n), s) for n, s in zip(sizes, sigmas))
    y = _filters.filtered(widened(floating(layout.batch(x))), rows, columns, "SAME")
    return layout.restored(rounded(y, x))


@operation
def sobel_edges(images: TensorLike, data_format: Any = None) -> Tensor:
    """Return Sobel's vertical and horizontal slopes; the outer pixels are mirrored.

    Args:
        images: (batch, height, width, channels).
        data_format: "channels_last", or "channels_first" for (batch, channels, height, width).

    Returns:
        One more axis of size 2, the last: slope downwards, slope to the right.

    Raises:
        ValueError: the rank is wrong.
        TypeError: the images are integers.
    """
    x = tensor(images)
    if x.ndim != 4:
        raise ShapeError(
            "sobel_edges: `images` must have rank 4, (batch, height, width, channels), got shape "
            f"{tuple(x.shape)}."
        )
    if not x.dtype.is_floating:
        raise DTypeError(f"sobel_edges: expected floating images, got {x.dtype}. Cast them first.")
    layout = ImageLayout(x, is_first(data_format, "sobel_edges"))
    return layout.restored(_filters.sobel(layout.batch(x)))


@operation
def ssim(
    image1: TensorLike, image2: TensorLike, max_val: Any = 1.0, filter_size: int = 11,
    filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03, data_format: Any = None,
) -> Tensor:  # fmt: skip
    """Return the structural similarity of images: 1 for equal images.

    Args:
        image1, image2: (batch, height, width, channels), or single images of rank 3.
        max_val: the difference between white and black: 1.0, or 255.0 for uint8 images.
        filter_size: the size of the window that is compared, in pixels.
        filter_sigma: the standard deviation of the window's Gaussian weights.
        k1, k2: constants that keep denominators away from 0.
        data_format: "channels_last" or "channels_first".

    Returns:
        One number for each image, in the dtype of `image1`.

    Raises:
        ValueError: a rank is wrong, or a size is smaller than `filter_size`.

    Example:
        >>> from framework import keras
        >>> x = np.linspace(0, 1, 144, dtype="float32").reshape(12, 12, 1)
        >>> round(float(keras.ops.image.ssim(x, x * 0.5)), 2)
        0.65
    """
    pair = images_of(image1, "ssim", "image1"), images_of(image2, "ssim", "image2")
    layout = ImageLayout(pair[0], is_first(data_format, "ssim"))
    x, y = (layout.batch(widened(floating(image))) for image in pair)
    if min(x.shape[1:3]) < filter_size:
        raise ShapeError(
            f"ssim: expected images of at least {filter_size} x {filter_size} pixels "
            f"(`filter_size`), got shape {tuple(pair[0].shape)}."
        )
    luminance, structure = _filters.similarity(
        x, like(y, x), max_val=max_val, filter_size=filter_size, filter_sigma=filter_sigma, k1=k1,
        k2=k2,
    )  # fmt: skip
    means = reduce_mean(luminance * structure, axis=(1, 2, 3), keepdims=False)
    return like(reshape(means, shape=()) if layout.single else means, pair[0])


# ---- patches -------------------------------------------------------------------------------------


@operation
def extract_patches(
    images: TensorLike, size: Any, strides: Any = None, dilation_rate: Any = 1,
    padding: str = "valid", data_format: Any = None,
) -> Tensor:  # fmt: skip
    """Return the patches of images as channels.

    Args:
        images: (batch, height, width, channels), or one image; for three sizes,
            (batch, depth, height, width, channels).
        size: the patches' size: an int for two axes, or two or three ints.
        strides: the distance between patches, by default `size`.
        dilation_rate: the distance between pixels of a patch.
        padding: "valid", or "same" for zeros beyond the images.
        data_format: "channels_last" or "channels_first".

    Returns:
        (batch, rows, columns, pixels of a patch * channels); pixels row by row.

    Raises:
        ValueError, TypeError: an argument is unknown, or the rank is wrong.

    Example:
        >>> from framework import keras
        >>> keras.ops.image.extract_patches(np.ones((2, 9, 9, 3)), 3).shape
        TensorShape([2, 3, 3, 27])
    """
    several = isinstance(size, (tuple, list))
    if not several and not hasattr(size, "__index__"):
        raise DTypeError(f"extract_patches: `size` must be an int or a tuple, got {size!r}.")
    axes = len(size) if several else 2
    if axes not in (2, 3):
        raise InvalidArgumentError(
            f"extract_patches: `size` must have 2 or 3 numbers, got {size!r}."
        )
    return _extracted(
        "extract_patches", images, size, strides, dilation_rate, padding, data_format, axes
    )


@operation
def extract_patches_3d(
    volumes: TensorLike, size: Any, strides: Any = None, dilation_rate: Any = 1,
    padding: str = "valid", data_format: Any = None,
) -> Tensor:  # fmt: skip
    """Return the patches of volumes as channels, see `extract_patches`.

    Args:
        volumes: (batch, depth, height, width, channels), or one volume.
        size: the patches' size, an int or three.
        strides, dilation_rate, padding, data_format: as in `extract_patches`.
    """
    what = "extract_patches_3d"
    return _extracted(what, volumes, size, strides, dilation_rate, padding, data_format, 3)


def _extracted(what, images, size, strides, dilation, padding, data_format, axes):
    x, first = tensor(images), is_first(data_format, what)
    if x.ndim not in (axes + 1, axes + 2):
        raise ShapeError(
            f"{what}: patches of {axes} axes need images of rank {axes + 1} or {axes + 2}, got "
            f"shape {tuple(x.shape)}."
        )
    if not isinstance(padding, str) or padding.lower() not in ("valid", "same"):
        raise InvalidArgumentError(f"{what}: `padding` must be 'valid' or 'same', got {padding!r}.")
    single = x.ndim == axes + 1
    x = reshape(x, shape=(1, *x.shape)) if single else x
    x = transpose(x, perm=(0, *range(2, axes + 2), 1)) if first else x
    size = _ints(size, axes, what, "size")
    y = patches(
        x, size=size, strides=_ints(strides, axes, what, "strides") if strides else size,
        dilations=_ints(dilation, axes, what, "dilation_rate"), padding=padding.upper(),
    )  # fmt: skip
    y = transpose(y, perm=(0, axes + 1, *range(1, axes + 1))) if first else y
    return reshape(y, shape=tuple(y.shape[1:])) if single else y


def _ints(value, axes, what, name):
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,) * axes
    if len(values) != axes or min(map(int, values)) < 1:
        raise InvalidArgumentError(
            f"{what}: `{name}` must be a positive int or {axes} of them, got {value!r}."
        )
    return tuple(int(n) for n in values)
