"""tf.image: gradients of images, and measures of the similarity of two images."""

from typing import Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import TensorLike
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.errors import ShapeError
from framework.core.operations import operation
from framework.core.tensor import Tensor
from framework.functions.image_layout import axes_of, converted, images_of
from framework.ops import image_filters as _filters
from framework.ops.elementwise import absolute, log, power, relu, square
from framework.ops.movement import broadcast_to, gather, getitem, pad, reshape, stack
from framework.ops.pool import mean_pool
from framework.ops.reduction import reduce_mean, reduce_prod, reduce_sum

_POWERS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def _differences(x, axis):
    """Return the differences of neighbors along an axis."""
    before = (slice(None),) * axis
    later = getitem(x, index=(*before, slice(1, None)))
    return later - getitem(x, index=(*before, slice(None, -1)))


@operation
def image_gradients(image: TensorLike) -> tuple[Tensor, Tensor]:
    """Return the differences to the next row and to the next column; 0 in the last row or column.

    Args:
        image: (batch, height, width, channels).

    Returns:
        (vertical, horizontal), each of the shape of `image`.

    Raises:
        ValueError: the rank is wrong.
    """
    x = tensor(image)
    if x.ndim != 4:
        raise ShapeError(f"image_gradients: expected rank 4, got shape {tuple(x.shape)}.")
    slopes = []
    for axis in (1, 2):
        widths = tuple((0, int(k == axis)) for k in range(4))
        slopes.append(pad(_differences(x, axis), widths=widths))
    return slopes[0], slopes[1]


@operation
def sobel_edges(image: TensorLike) -> Tensor:
    """Return Sobel's vertical and horizontal slopes along a new last axis; borders are mirrored.

    Args:
        image: (batch, height, width, channels), floats.

    Raises:
        ValueError: the rank is wrong.
    """
    x = tensor(image)
    if x.ndim != 4:
        raise ShapeError(f"sobel_edges: expected rank 4, got shape {tuple(x.shape)}.")
    return _filters.sobel(x)


@operation
def total_variation(images: TensorLike, name: str | None = None) -> Tensor:
    """Return the sum of the absolute differences of neighboring pixels, for each image.

    Args:
        images: (batch, height, width, channels), or one image of rank 3.

    >>> import framework as tf
    >>> float(tf.image.total_variation([[[1.0], [4.0]], [[1.0], [5.0]]]))
    8.0
    """
    x = images_of(images, "total_variation", "images")
    axes = (*axes_of(x), x.ndim - 1)
    sums = [reduce_sum(absolute(_differences(x, a)), axis=axes, keepdims=False) for a in axes_of(x)]
    return sums[0] + sums[1]


# ---- similarity ----------------------------------------------------------------------------------


def _pair(a, b, max_val, what):
    """Check that two images have the same size; return them and `max_val` in float32."""
    a = tensor(a)
    b = tensor(b, a.dtype)
    if min(a.ndim, b.ndim) < 3 or tuple(a.shape[-3:]) != tuple(b.shape[-3:]):
        raise ShapeError(
            f"{what}: expected images of the same size and of rank 3 or more, got shapes "
            f"{tuple(a.shape)} and {tuple(b.shape)}."
        )
    max_val = converted(cast(tensor(max_val), dtype=a.dtype.np), dtypes.float32)
    return converted(a, dtypes.float32), converted(b, dtypes.float32), max_val


@operation
def psnr(a: TensorLike, b: TensorLike, max_val: Any, name: str | None = None) -> Tensor:
    """Return the peak signal-to-noise ratio in decibels; infinity for equal images.

    Args:
        a, b: (..., height, width, channels), of one dtype.
        max_val: the difference between white and black: 1.0, or 255 for uint8 images.

    Returns:
        float32 (...).

    >>> import framework as tf
    >>> x = tf.zeros([2, 2, 3])
    >>> tf.image.psnr(x, x + 0.1, 1.0).numpy().round(3)
    np.float32(20.0)
    """
    a, b, max_val = _pair(a, b, max_val, "psnr")
    error = square(a - b)
    n = error.ndim
    mean = reduce_mean(error, axis=(n - 3, n - 2, n - 1), keepdims=False)
    decibels = np.float32(10 / np.log(10))
    return log(max_val) * (2 * decibels) - log(mean) * decibels


def _maps(a, b, max_val, filter_size, filter_sigma, k1, k2, what):
    """Return maps (..., rows, columns, channels) of SSIM, and of its contrast-structure term."""
    if min(a.shape[-3:-1]) < filter_size:
        raise ShapeError(
            f"{what}: expected images of at least {filter_size} x {filter_size} pixels "
            f"(`filter_size`), got shape {tuple(a.shape)}."
        )
    lead = np.broadcast_shapes(tuple(a.shape[:-3]), tuple(b.shape[:-3]))
    flat = [
        reshape(broadcast_to(x, shape=(*lead, *x.shape[-3:])), shape=(-1, *x.shape[-3:]))
        for x in (a, b)
    ]
    luminance, structure = _filters.similarity(
        *flat, max_val=max_val, filter_size=int(filter_size), filter_sigma=filter_sigma, k1=k1,
        k2=k2,
    )  # fmt: skip
    return [reshape(m, shape=(*lead, *m.shape[1:])) for m in (luminance * structure, structure)]


def _mean(x, *axes):
    return reduce_mean(x, axis=tuple(x.ndim + a for a in axes), keepdims=False)


@operation
def ssim(
    img1: TensorLike, img2: TensorLike, max_val: Any, filter_size: int = 11,
    filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03, return_index_map: bool = False,
) -> Tensor:  # fmt: skip
    """Return the structural similarity of images: 1 for equal images.

    Args:
        img1, img2: (..., height, width, channels), of one dtype.
        max_val: the difference between white and black: 1.0, or 255 for uint8 images.
        filter_size: the size of the window that is compared, in pixels.
        filter_sigma: the standard deviation of the window's Gaussian weights.
        k1, k2: constants that keep denominators away from 0.
        return_index_map: True to return one number per position of the window.

    Returns:
        float32 (...), or (..., rows, columns).

    Raises:
        ValueError: the shapes differ, or are smaller than `filter_size`.
    """
    a, b, max_val = _pair(img1, img2, max_val, "ssim")
    index, _ = _maps(a, b, max_val, filter_size, filter_sigma, k1, k2, "ssim")
    return _mean(index, -1) if return_index_map else _mean(_mean(index, -3, -2), -1)


@operation
def ssim_multiscale(
    img1: TensorLike, img2: TensorLike, max_val: Any, power_factors: Any = _POWERS,
    filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03,
) -> Tensor:  # fmt: skip
    """Return the structural similarity over several scales, each half as large as the one before.

    Wang, Simoncelli and Bovik 2003, "Multiscale structural similarity for image quality
    assessment".

    Args:
        img1, img2: (..., height, width, channels), of one dtype.
        max_val: the difference between white and black.
        power_factors: the weight of each scale, the finest first.
        filter_size, filter_sigma, k1, k2: as in `ssim`.

    Returns:
        float32 (...).

    Raises:
        ValueError: the shapes differ, or the coarsest images are smaller than `filter_size`.
    """
    a, b, max_val = _pair(img1, img2, max_val, "ssim_multiscale")
    means = []
    for scale in range(np.shape(power_factors)[0]):
        if scale:
            a, b = _halved(a), _halved(b)
        index, structure = _maps(
            a, b, max_val, filter_size, filter_sigma, k1, k2, "ssim_multiscale"
        )
        last = scale == np.shape(power_factors)[0] - 1
        means.append(relu(_mean(index if last else structure, -3, -2)))
    axis = means[0].ndim
    weights = cast(tensor(power_factors), dtype=np.dtype(np.float32))
    scales = power(stack(*means, axis=axis), weights)
    return _mean(reduce_prod(scales, axis=(axis,), keepdims=False), -1)


def _halved(x):
    """Return the means of 2 x 2 pixels; the last row or column of an odd size counts twice."""
    lead = x.shape[:-3]
    x = reshape(x, shape=(-1, *x.shape[-3:]))
    for axis in (1, 2):
        n = x.shape[axis]
        if n % 2:
            x = gather(x, np.append(np.arange(n), n - 1), axis=axis)
    window = {"size": (2, 2), "strides": (2, 2), "dilations": (1, 1)}
    x = mean_pool(x, **window, padding=((0, 0), (0, 0)))
    return reshape(x, shape=(*lead, *x.shape[1:]))
