"""keras.ops.image: images turned, shifted and distorted; every pixel is read at another position.

Derivatives are those of the interpolation, for images and transforms.

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
from framework.core.operations import operation
from framework.core.tensor import Tensor
from framework.keras.ops.image_layout import ImageLayout, images_of, is_first, one_of
from framework.ops.movement import reshape
from framework.ops.warping import FOLDS, projected

_ORDERS = ("nearest", "bilinear")


def _floats(x):
    return cast(tensor(x), dtype=np.dtype(np.float32))


@operation
def affine_transform(
    images: TensorLike, transform: TensorLike, interpolation: str = "bilinear",
    fill_mode: str = "constant", fill_value: Any = 0, data_format: Any = None,
) -> Tensor:  # fmt: skip
    """Return images whose pixel (x, y) is the old one at ((ax + by + c) / k, (dx + ey + f) / k).

    Args:
        images: (batch, height, width, channels), or one image of rank 3.
        transform: (a, b, c, d, e, f, g, h), with k = gx + hy + 1; or one row for each image.
        interpolation: "bilinear" or "nearest".
        fill_mode: what stands beyond the image a b c d: "constant" for `fill_value`, "nearest"
            (a a | a b c d | d d), "reflect" (b a | a b c d | d c), "wrap" (c d | a b c d | a b).
        fill_value: a number.
        data_format: "channels_last" or "channels_first".

    Raises:
        ValueError: an argument is unknown, or a rank is another.

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
    layout = ImageLayout(x, is_first(data_format, "affine_transform"))
    return _projected(layout, x, t, interpolation, fill_mode, fill_value)


def _projected(layout, x, transforms, interpolation, mode, fill):
    x = layout.batch(x)
    if transforms.shape[-1] != 8 or transforms.shape[0] not in (1, x.shape[0]):
        raise ShapeError(
            f"affine_transform: `transform` must have shape (8,) or ({x.shape[0]}, 8), eight "
            f"numbers for each image, got {tuple(transforms.shape)}."
        )
    size, order = x.shape[1:3], _ORDERS.index(interpolation)
    return layout.restored(projected(x, transforms, size=size, order=order, mode=mode, fill=fill))
