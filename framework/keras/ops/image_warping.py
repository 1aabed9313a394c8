"""keras.ops.image: rotate, shift and distort images; each output pixel reads another position.

The functions are differentiable with respect to images and transforms.

>>> from framework import keras
>>> left = [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0]  # reads one pixel to the right
>>> keras.ops.image.affine_transform(np.arange(3.0).reshape(1, 3, 1), left).numpy().ravel()
array([1., 2., 0.])
"""

from typing import Any

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.errors import ShapeError
from framework.core.operations import always, operation
from framework.core.tensor import Tensor
from framework.keras.functions.drawing import normal
from framework.keras.ops.argument_conversion import floating
from framework.keras.ops.image_filters import rounded
from framework.keras.ops.image_layout import ImageLayout, images_of, is_first, one_of
from framework.ops.casting import widened
from framework.ops.image_filters import filtered, gaussian
from framework.ops.movement import getitem, reshape
from framework.ops.warping import FOLDS, homography, projected, sampled

_ORDERS = ("nearest", "bilinear")


def _floats(x):
    return cast(tensor(x), dtype=np.dtype(np.float32))


@operation
def affine_transform(
    images: TensorLike, transform: TensorLike, interpolation: str = "bilinear",
    fill_mode: str = "constant", fill_value: Any = 0, data_format: Any = None,
) -> Tensor:  # fmt: skip
    """Return images whose pixel (x, y) is the input at ((ax + by + c) / k, (dx + ey + f) / k).

    Args:
        images: (batch, height, width, channels), or one image of rank 3.
        transform: (a, b, c, d, e, f, g, h), with k = gx + hy + 1; or one row for each image.
        interpolation: "bilinear" or "nearest".
        fill_mode: how to fill points outside the image a b c d: "constant" for `fill_value`,
            "nearest" (a a | a b c d | d d), "reflect" (b a | a b c d | d c),
            "mirror" (c b | a b c d | c b), "wrap" (c d | a b c d | a b).
        fill_value: a number.
        data_format: "channels_last" or "channels_first".

    Raises:
        ValueError: an argument is unknown, or a rank is wrong.

    Example:
        >>> from framework import keras
        >>> x = np.arange(4.0).reshape(2, 2, 1)
        >>> flip = [-1, 0, 1, 0, 1, 0, 0, 0]
        >>> keras.ops.image.affine_transform(x, flip).numpy().ravel()
        array([1., 0., 3., 2.])
    """
    one_of(interpolation, _ORDERS, "interpolation", "affine_transform")
    one_of(fill_mode, FOLDS, "fill_mode", "affine_transform")
    x, t = images_of(images, "affine_transform"), _floats(transform)
    if t.ndim not in (1, 2):
        raise ShapeError(
            "affine_transform: `transform` must have rank 1 (one transform) or 2 (one for each "
            f"image), got shape {tuple(t.shape)}."
        )
    t = reshape(t, shape=(1, *t.shape)) if t.ndim == 1 else t
    first = is_first(data_format, "affine_transform")
    return _projected(x, t, first, interpolation, fill_mode, fill_value, "affine_transform")


@operation  # recorded separately in a symbolic call, as `homography` needs the points' values
def _projected(x, transforms, first, interpolation, mode, fill, what):
    layout = ImageLayout(x, first)
    x = layout.batch(x)
    if transforms.shape[-1] != 8 or transforms.shape[0] not in (1, x.shape[0]):
        raise ShapeError(
            f"{what}: expected one transform (8 numbers, 4 points), or one for each of the "
            f"{x.shape[0]} images, got shape {tuple(transforms.shape)}."
        )
    size, order = x.shape[1:3], _ORDERS.index(interpolation)
    return layout.restored(projected(x, transforms, size=size, order=order, mode=mode, fill=fill))


@operation
def perspective_transform(
    images: TensorLike, start_points: TensorLike, end_points: TensorLike,
    interpolation: str = "bilinear", fill_value: Any = 0, data_format: Any = None,
) -> Tensor:  # fmt: skip
    """Transform images by the perspective transform that moves four points as given.

    Args:
        images: (batch, height, width, channels), or one image of rank 3.
        start_points, end_points: four points (x, y), of shape (4, 2), or four for each image.
        interpolation: "bilinear" or "nearest".
        fill_value: the value beyond the images.
        data_format: "channels_last" or "channels_first".

    Raises:
        ValueError: an argument is unknown, or a shape is wrong.

    Example:
        >>> from framework import keras
        >>> corners = np.float32([[0, 0], [0, 4], [4, 0], [4, 4]])
        >>> x = np.arange(16.0).reshape(4, 4, 1)
        >>> y = keras.ops.image.perspective_transform(x, corners, corners[:, ::-1])
        >>> bool(np.allclose(y[:, :, 0], x[:, :, 0].T, atol=1e-4))
        True
    """
    what = "perspective_transform"
    one_of(interpolation, _ORDERS, "interpolation", what)
    x, start, end = images_of(images, what), _floats(start_points), _floats(end_points)
    for name, points in (("start_points", start), ("end_points", end)):
        if points.ndim not in (2, 3) or tuple(points.shape[-2:]) != (4, 2):
            raise ShapeError(
                f"{what}: `{name}` must have shape (4, 2), or (batch, 4, 2) for other points in "
                f"each image, got {tuple(points.shape)}."
            )
    if tuple(start.shape) != tuple(end.shape):
        raise ShapeError(
            f"{what}: `start_points` and `end_points` must have the same shape, got "
            f"{tuple(start.shape)} and {tuple(end.shape)}."
        )
    transforms = homography(*(reshape(p, shape=(-1, 4, 2)) for p in (start, end)))
    first = is_first(data_format, what)
    return _projected(x, transforms, first, interpolation, "constant", fill_value, what)


@operation
def map_coordinates(
    inputs: TensorLike, coordinates: TensorLike, order: int, fill_mode: str = "constant",
    fill_value: Any = 0,
) -> Tensor:  # fmt: skip
    """Return the values of a tensor at coordinates, interpolated between elements.

    Args:
        inputs: a tensor of any rank.
        coordinates: (rank, ...): one number for each axis of `inputs`.
        order: 0 for the nearest element, 1 for linear interpolation.
        fill_mode: how to fill points outside a b c d: "constant" for `fill_value`, "nearest"
            (a a | a b c d | d d), "wrap" (c d | a b c d | a b), "mirror" (c b | a b c d | c b),
            "reflect" (b a | a b c d | d c).
        fill_value: a number.

    Returns:
        The shape of `coordinates` without its first axis, in the dtype of `inputs`; integers are
        rounded. It is differentiable with respect to `inputs` and `coordinates`.

    Raises:
        ValueError: `fill_mode` is unknown, or a shape is wrong.
        NotImplementedError: `order` is not 0 or 1.

    Example:
        >>> from framework import keras
        >>> keras.ops.image.map_coordinates([1.0, 2.0, 4.0], [[0.5, 1.5, 9.0]], 1).numpy()
        array([1.5, 3. , 0. ], dtype=float32)
    """
    x, places = tensor(inputs), floating(coordinates)
    one_of(fill_mode, FOLDS, "fill_mode", "map_coordinates")
    if places.ndim < 2 or places.shape[0] != x.ndim:
        raise ShapeError(
            f"map_coordinates: `coordinates` must have shape ({x.ndim}, ...), a number for each "
            f"axis of `inputs`, got {tuple(places.shape)}."
        )
    if order not in (0, 1):
        raise NotImplementedError(f"map_coordinates: `order` must be 0 or 1, got {order!r}.")
    places = widened(places)
    along = [
        reshape(getitem(places, index=(i,)), shape=(1, *places.shape[1:])) for i in range(x.ndim)
    ]
    batch = reshape(x, shape=(1, *x.shape, 1))
    y = sampled(batch, along, order=order, mode=fill_mode, fill=fill_value)
    return rounded(reshape(y, shape=tuple(places.shape[1:])), x)


@always
def elastic_transform(
    images: TensorLike, alpha: Any = 20.0, sigma: Any = 5.0, interpolation: str = "bilinear",
    fill_mode: str = "reflect", fill_value: Any = 0.0, seed: Any = None, data_format: Any = None,
) -> Tensor:  # fmt: skip
    """Return images whose pixels are displaced by smooth random fields, one for each axis.

    Args:
        images: (batch, height, width, channels), or one image of rank 3.
        alpha: the factor of the displacements.
        sigma: the standard deviation of the noise, and of the Gaussian that smooths it.
        interpolation: "bilinear" or "nearest".
        fill_mode: "constant", "nearest", "wrap" or "reflect", as in `map_coordinates`.
        fill_value: the value beyond the images with fill_mode="constant".
        seed: an int for the same fields at each call, a SeedGenerator, or None.
        data_format: "channels_last" or "channels_first".

    Raises:
        ValueError: an argument is unknown, or the rank is wrong.

    Example:
        >>> from framework import keras
        >>> keras.ops.image.elastic_transform(np.ones((2, 8, 8, 3)), seed=1).shape
        TensorShape([2, 8, 8, 3])
    """
    what = "elastic_transform"
    one_of(interpolation, _ORDERS, "interpolation", what)
    one_of(fill_mode, FOLDS, "fill_mode", what)
    x, sigma = images_of(images, what), float(sigma)
    layout = ImageLayout(x, is_first(data_format, what))
    y = layout.batch(x)
    batch, height, width, _ = y.shape
    noise = normal((batch, height, width, 2), stddev=sigma, dtype="float32", seed=seed)
    weights = gaussian(6 * int(sigma) | 1, sigma)
    fields = filtered(noise, weights, weights, "SAME") * float(alpha)
    grid = np.stack(np.indices((height, width), np.float32), axis=-1)
    places = [getitem(fields + grid, index=(Ellipsis, i)) for i in (0, 1)]
    order = _ORDERS.index(interpolation)
    y = sampled(y, places, order=order, mode=fill_mode, fill=fill_value)
    return layout.restored(rounded(y, x))
