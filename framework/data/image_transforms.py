"""Geometric and color transformations of single images with NumPy, for ImageDataGenerator."""

from typing import Any

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.errors import InvalidArgumentError
from framework.data.images import array_to_img, img_to_array, pillow

FILL_MODES = ("constant", "nearest", "reflect", "wrap")


def apply_affine_transform(
    x: TensorLike, theta: Any = 0, tx: Any = 0, ty: Any = 0, shear: Any = 0, zx: Any = 1,
    zy: Any = 1, row_axis: int = 1, col_axis: int = 2, channel_axis: int = 0,
    fill_mode: str = "nearest", cval: Any = 0.0, order: int = 1,
) -> Any:  # fmt: skip
    """Return an image that is rotated, moved, sheared and zoomed, as Keras does it.

    A square image is transformed about its center. As in Keras, any other image is transformed
    about the point whose row is half the width and whose column is half the height.

    Args:
        x: an array of rank 3.
        theta: the angle of the rotation in degrees.
        tx, ty: each pixel of the result is read `tx` pixels further right, `ty` further down.
        shear: the angle of the shear in degrees.
        zx, zy: the zoom of columns and of rows; the image shrinks for values above 1.
        row_axis, col_axis, channel_axis: the axes of `x`.
        fill_mode: how to fill pixels beyond the image: "constant", "nearest", "reflect" or "wrap".
        cval: the value of these pixels with "constant".
        order: 1 for linear interpolation, 0 for the nearest pixel; up to 5 for splines by SciPy.

    >>> apply_affine_transform(np.eye(3)[:, :, None], tx=1, row_axis=0, col_axis=1,
    ...                        channel_axis=2, fill_mode="constant")[:, :, 0]
    array([[0., 0., 0.],
           [1., 0., 0.],
           [0., 1., 0.]])
    """
    axes = row_axis, col_axis, channel_axis
    x = np.asarray(x)
    if sorted(a % 3 for a in axes) != [0, 1, 2] or x.ndim != 3:
        raise InvalidArgumentError(
            "apply_affine_transform: row_axis, col_axis, channel_axis: expected the three axes of "
            f"an image, got {axes} for shape {x.shape}."
        )
    if fill_mode not in FILL_MODES:
        raise InvalidArgumentError(
            "apply_affine_transform: fill_mode: expected one of "
            f"{', '.join(map(repr, FILL_MODES))}, got {fill_mode!r}."
        )
    matrix = _matrix(theta, tx, ty, shear, zx, zy)
    if matrix is None:
        return x
    image = x.transpose(axes)
    matrix = _about_center(matrix, *image.shape[:2])
    if col_axis > row_axis:  # the matrix is for points (x, y), but the array's axes are (y, x)
        matrix = matrix[[1, 0, 2]][:, [1, 0, 2]]
    moved = _resampled(image, matrix, fill_mode, cval, order)
    return np.ascontiguousarray(moved.transpose(np.argsort([a % 3 for a in axes])))


def _matrix(theta, tx, ty, shear, zx, zy):
    """Return the 3 x 3 matrix that maps (x, y, 1) in the result to the image; None: identity."""
    parts = []
    if theta:
        angle = np.deg2rad(theta)
        sin, cos = np.sin(angle), np.cos(angle)
        parts.append([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]])
    if tx or ty:
        parts.append([[1, 0, tx], [0, 1, ty], [0, 0, 1]])
    if shear:
        angle = np.deg2rad(shear)
        parts.append([[1, -np.sin(angle), 0], [0, np.cos(angle), 0], [0, 0, 1]])
    if zx != 1 or zy != 1:
        parts.append([[zx, 0, 0], [0, zy, 0], [0, 0, 1]])
    matrix = None
    for part in parts:
        matrix = np.array(part) if matrix is None else matrix @ np.array(part)
    return matrix


def _about_center(matrix, height, width):
    x, y = height / 2 - 0.5, width / 2 - 0.5  # as in Keras, x is the row and y is the column
    there = np.array([[1, 0, x], [0, 1, y], [0, 0, 1]])
    back = np.array([[1, 0, -x], [0, 1, -y], [0, 0, 1]])
    return there @ matrix @ back


def _resampled(image, matrix, fill_mode, cval, order):
    """Return an image (height, width, channels) sampled where a matrix maps its positions."""
    if order not in (0, 1):
        return _by_splines(image, matrix, fill_mode, cval, order)
    height, width = image.shape[:2]
    rows, columns = np.arange(height)[:, None], np.arange(width)[None, :]
    sums, inside = [], True
    for size, factors in ((height, matrix[0]), (width, matrix[1])):
        place = factors[0] * rows + factors[1] * columns + factors[2]
        if fill_mode == "constant":
            inside = inside & (place >= 0) & (place <= size - 1)
        sums.append(_neighbors(place, size, fill_mode, order))
    made = 0.0
    for row, row_weight in sums[0]:
        for column, column_weight in sums[1]:
            made = made + (row_weight * column_weight)[:, :, None] * image[row, column]
    if fill_mode == "constant":
        made = np.where(inside[:, :, None], made, cval)
    return made.astype(image.dtype)


def _neighbors(place, size, fill_mode, order):
    """Return [(indices, weights)] of the pixels on both sides of positions along an axis."""
    # with "wrap", the last and the first pixel coincide, so the period is size - 1
    if fill_mode == "wrap" and size > 1:
        beyond = (place < 0) | (place > size - 1)
        place = np.where(beyond, place % (size - 1), place)
    if order == 0:
        return [(_within(np.floor(place + 0.5), size, fill_mode), np.ones_like(place))]
    low = np.floor(place)
    part = place - low
    return [
        (_within(low, size, fill_mode), 1 - part), (_within(low + 1, size, fill_mode), part)
    ]  # fmt: skip


def _within(index, size, fill_mode):
    index = index.astype(np.int64)
    if fill_mode != "reflect":
        return index.clip(0, size - 1)
    index = index % (2 * size)
    return np.minimum(index, 2 * size - 1 - index)


def _by_splines(image, matrix, fill_mode, cval, order):
    try:
        from scipy import ndimage
    except ImportError:
        raise ImportError(
            f"An interpolation of order {order} needs SciPy: pip install scipy. Orders 0 and 1 "
            "need NumPy alone."
        ) from None
    channels = [
        ndimage.affine_transform(image[:, :, k], matrix[:2, :2], matrix[:2, 2], order=order,
                                 mode=fill_mode, cval=cval)
        for k in range(image.shape[2])
    ]  # fmt: skip
    return np.stack(channels, -1)


# ---- colors --------------------------------------------------------------------------------------


def apply_channel_shift(x: TensorLike, intensity: Any, channel_axis: int = 0) -> Any:
    """Return an image with `intensity` added, clipped to the image's smallest and largest value.

    >>> apply_channel_shift(np.array([[[0.0, 2.0, 3.0]]]), 2.0)
    array([[[2., 3., 3.]]])
    """
    x = np.asarray(x)
    return np.clip(x + np.asarray(intensity, x.dtype), x.min(), x.max())


def apply_brightness_shift(x: TensorLike, brightness: Any, scale: bool = True) -> Any:
    """Return an image whose brightness Pillow has changed.

    Args:
        x: an array (height, width, channels).
        brightness: the factor; 0 for black, 1 for no change.
        scale: True to map the smallest value to 0 and the largest to 255 first.

    >>> apply_brightness_shift(np.full((1, 1, 3), 100.0), 0.5, scale=False).ravel().tolist()
    [50.0, 50.0, 50.0]
    """
    pillow("apply_brightness_shift")
    from PIL import ImageEnhance

    x = np.asarray(x)
    low, high = x.min(), x.max()
    beyond = low < 0 or high > 255
    image = array_to_img(x, scale=bool(beyond or scale))
    changed = img_to_array(ImageEnhance.Brightness(image).enhance(brightness))
    return changed / 255 * (high - low) + low if beyond and not scale else changed


# ---- random transformations ----------------------------------------------------------------------


def random_rotation(
    x: TensorLike, rg: Any, row_axis: int = 1, col_axis: int = 2, channel_axis: int = 0,
    fill_mode: str = "nearest", cval: Any = 0.0, interpolation_order: int = 1,
) -> Any:  # fmt: skip
    """Return an image rotated by a random angle of at most `rg` degrees.

    NumPy's global generator (`np.random.seed`) draws the random numbers of this module. The other
    arguments are those of `apply_affine_transform`.

    >>> random_rotation(np.ones((3, 4, 5)), 20).shape
    (3, 4, 5)
    """
    return apply_affine_transform(
        x, np.random.uniform(-rg, rg), row_axis=row_axis, col_axis=col_axis,
        channel_axis=channel_axis, fill_mode=fill_mode, cval=cval, order=interpolation_order,
    )  # fmt: skip


def random_shift(
    x: TensorLike, wrg: Any, hrg: Any, row_axis: int = 1, col_axis: int = 2, channel_axis: int = 0,
    fill_mode: str = "nearest", cval: Any = 0.0, interpolation_order: int = 1,
) -> Any:  # fmt: skip
    """Return an image shifted by at most the fractions `wrg` of its width and `hrg` of its height.

    >>> random_shift(np.ones((3, 4, 5)), 0.1, 0.2).shape
    (3, 4, 5)
    """
    height, width = np.shape(x)[row_axis], np.shape(x)[col_axis]
    down = np.random.uniform(-hrg, hrg) * height
    right = np.random.uniform(-wrg, wrg) * width
    return apply_affine_transform(
        x, tx=down, ty=right, row_axis=row_axis, col_axis=col_axis, channel_axis=channel_axis,
        fill_mode=fill_mode, cval=cval, order=interpolation_order,
    )  # fmt: skip


def random_shear(
    x: TensorLike, intensity: Any, row_axis: int = 1, col_axis: int = 2, channel_axis: int = 0,
    fill_mode: str = "nearest", cval: Any = 0.0, interpolation_order: int = 1,
) -> Any:  # fmt: skip
    """Return an image sheared by a random angle of at most `intensity` degrees.

    >>> random_shear(np.ones((3, 4, 5)), 20).shape
    (3, 4, 5)
    """
    return apply_affine_transform(
        x, shear=np.random.uniform(-intensity, intensity), row_axis=row_axis, col_axis=col_axis,
        channel_axis=channel_axis, fill_mode=fill_mode, cval=cval, order=interpolation_order,
    )  # fmt: skip


def random_zoom(
    x: TensorLike, zoom_range: Any, row_axis: int = 1, col_axis: int = 2, channel_axis: int = 0,
    fill_mode: str = "nearest", cval: Any = 0.0, interpolation_order: int = 1,
) -> Any:  # fmt: skip
    """Return an image zoomed by two random factors between the two numbers of `zoom_range`.

    >>> random_zoom(np.ones((3, 4, 5)), (0.8, 1.2)).shape
    (3, 4, 5)
    """
    if np.shape(zoom_range) != (2,):
        raise InvalidArgumentError(
            f"random_zoom: zoom_range: expected two numbers, got {zoom_range!r}."
        )
    zx, zy = zoom_factors(zoom_range)
    return apply_affine_transform(
        x, zx=zx, zy=zy, row_axis=row_axis, col_axis=col_axis, channel_axis=channel_axis,
        fill_mode=fill_mode, cval=cval, order=interpolation_order,
    )  # fmt: skip


def zoom_factors(zoom_range):
    """Return the zoom of rows and of columns, drawn from a range."""
    low, high = zoom_range
    return (1, 1) if low == high == 1 else np.random.uniform(low, high, 2)


def random_channel_shift(x: TensorLike, intensity_range: Any, channel_axis: int = 0) -> Any:
    """Return an image with a random number of at most `intensity_range` added, as
    `apply_channel_shift` does.

    >>> random_channel_shift(np.ones((3, 4, 5)), 20).shape
    (3, 4, 5)
    """
    shift = np.random.uniform(-intensity_range, intensity_range)
    return apply_channel_shift(x, shift, channel_axis)


def random_brightness(x: TensorLike, brightness_range: Any, scale: bool = True) -> Any:
    """Return an image whose brightness is changed by a random factor, as `apply_brightness_shift`
    does.

    >>> random_brightness(np.ones((3, 4, 3)), (0.5, 1.5)).shape
    (3, 4, 3)
    """
    if np.shape(brightness_range) != (2,):
        raise InvalidArgumentError(
            f"random_brightness: brightness_range: expected two numbers, got {brightness_range!r}."
        )
    return apply_brightness_shift(x, np.random.uniform(*brightness_range), scale)
