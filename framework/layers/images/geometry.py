"""Random flips, rotations, shears, translations and zooms: layers that move pixels."""

import functools
import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from framework.core.argument_types import TensorLike
from framework.initializers import Seed
from framework.layers.convolution_base import DataFormat, last, restored
from framework.layers.images import boxes as box
from framework.layers.images.base import (
    as_dtype,
    axes_of,
    batch_size,
    images_in,
    per_image,
    sizes_of,
    source_of,
    uniform,
)
from framework.layers.images.colors import RandomLayer
from framework.layers.images.fields import (
    FillMode,
    FlipMode,
    Interpolation,
    Shear,
    Shift,
    SignedFactorOrNone,
    Zoom,
    shift_bounds,
    zoom_bounds,
)
from framework.ops.elementwise import clip, cos, divide, greater, less, less_equal, select, sin
from framework.ops.image_copies import flipped_where
from framework.ops.movement import concat, flip, getitem, reshape
from framework.ops.warping import projected

__all__ = ["RandomFlip", "RandomRotation", "RandomShear", "RandomTranslation", "RandomZoom"]

_ORDERS = ("nearest", "bilinear")


Method = TypeVar("Method", bound=Callable)


class MovingLayer(RandomLayer, moves=True):
    """The base class of layers that move pixels in training."""


def in_training(transform_boxes: Method) -> Method:
    """Wrap a method `transform_bounding_boxes` so that it returns unchanged boxes in inference."""

    @functools.wraps(transform_boxes)
    def transform(self, bounding_boxes, transformation=None, training=True):
        if not training or transformation is None:
            return bounding_boxes
        return transform_boxes(self, bounding_boxes, transformation)

    return cast(Method, transform)


def warped(layer, images, transforms, interpolation, mode, affine=True, straight=False):
    """Return the images warped by projective transforms (see `ops.warping.projected`).

    Args:
        transforms: (batch, 8) or (8,), projective; the last two numbers are 0 if `affine`.
        straight: whether the transforms are axis-aligned: they neither rotate nor shear.
    """
    transforms = reshape(as_dtype(transforms, "float32"), shape=(-1, 8))
    order, size = _ORDERS.index(interpolation), sizes_of(layer, images.shape)
    fill = float(layer.fill_value)
    x = last(images, layer.data_format)
    y = projected(
        x, transforms, size=size, order=order, mode=mode, fill=fill, affine=affine,
        straight=straight,
    )  # fmt: skip
    return restored(y, layer.data_format)


def _rows(*columns):
    """Return transforms (batch, 8): six columns, (batch, 1) or numbers, then two columns of 0."""
    n = next(c.shape[0] for c in columns if not isinstance(c, (int, float)))
    columns = [
        np.full((n, 1), c, np.float32) if isinstance(c, (int, float)) else c for c in columns
    ]
    return concat(*columns, np.zeros((n, 2), np.float32), axis=1)


def _column(x, i=None):
    """Return column `i` of a (batch, n) tensor, or a (batch,) tensor, as (batch, 1) float32."""
    x = as_dtype(x, "float32")
    return reshape(x if i is None else getitem(x, index=(slice(None), i)), shape=(-1, 1))


def size_in(layer, transformation):
    """Return the height and width of the images that a transformation was drawn for."""
    return sizes_of(layer, transformation["input_shape"])


class RandomFlip(MovingLayer):
    """Flip each image with a probability of 1/2, in training.

    Args:
        mode: "horizontal", "vertical", or "horizontal_and_vertical" for both at once.
        seed: an int, or None.
        data_format: "channels_last" or "channels_first".

    >>> import numpy as np
    >>> x = np.arange(4.0).reshape(1, 1, 4, 1)
    >>> RandomFlip("horizontal")(x, training=False).numpy().ravel()
    array([0., 1., 2., 3.], dtype=float32)
    """

    mode: FlipMode = "horizontal_and_vertical"
    seed: Seed = None
    data_format: DataFormat = None

    def get_random_transformation(self, data: Any, training: bool = True, seed: Any = None) -> Any:
        if not training:
            return None
        drawn = uniform(source_of(self, seed), (batch_size(data), 1, 1, 1))
        return {"flips": less_equal(drawn, 0.5), "input_shape": tuple(images_in(data).shape)}

    def _transform_images(self, images, transformation, interpolation):
        flips, axes = per_image(transformation["flips"]), [a + 4 for a in _flipped_axes(self)]
        if (flipped := flipped_where(images, flips, axes)) is not None:
            return flipped
        for axis in axes:
            images = select(flips, flip(images, axis=(axis,)), images)
        return images

    def transform_segmentation_masks(
        self, segmentation_masks: TensorLike, transformation: Any = None, training: bool = True
    ) -> Any:
        return self.transform_images(segmentation_masks, transformation, training)

    @in_training
    def transform_bounding_boxes(
        self, bounding_boxes: Any, transformation: Any = None, training: bool = True
    ) -> Any:
        height, width = size_in(self, transformation)
        flips = per_image(transformation["flips"], 3)
        data = box.converted(bounding_boxes, self.bounding_box_format, "rel_xyxy", height, width)
        edges = data["boxes"]
        for axis in _flipped_axes(self):
            x1, y1, x2, y2 = box.columns(edges)
            if axis == axes_of(self)[1]:
                flipped = box.joined(1.0 - x2, y1, 1.0 - x1, y2)
            else:
                flipped = box.joined(x1, 1.0 - y2, x2, 1.0 - y1)
            edges = select(flips, flipped, edges)
        data = box.clipped({**data, "boxes": edges}, height, width)
        return box.converted(data, "rel_xyxy", self.bounding_box_format, height, width)


def _flipped_axes(layer):
    """Return the axes that a RandomFlip reverses, counted from the end."""
    height, width, _ = axes_of(layer)
    axes = {"horizontal": (width,), "vertical": (height,)}
    return axes.get(layer.mode, (width, height))


class RandomRotation(MovingLayer):
    """Turn images around their center, in training.

    Args:
        factor: the angle as a fraction of a full turn, from -1 to 1: f for the range (-f, f), or
            (low, high). A positive angle turns the image counterclockwise.
        fill_mode: how to fill points outside the image a b c d: "reflect" (b a | a b c d | d c),
            "wrap" (c d | a b c d | a b), "nearest" (a a | a b c d | d d), or "constant" for
            `fill_value`.
        interpolation: "bilinear" or "nearest".
        seed: an int, or None.
        fill_value: a number.
        data_format: "channels_last" or "channels_first".

    >>> import numpy as np
    >>> half_a_turn = RandomRotation((0.5, 0.5))
    >>> half_a_turn(np.arange(4.0).reshape(1, 2, 2, 1), training=True).numpy().ravel().round()
    array([3., 2., 1., 0.], dtype=float32)
    """

    factor: SignedFactorOrNone
    fill_mode: FillMode = "reflect"
    interpolation: Interpolation = "bilinear"
    seed: Seed = None
    fill_value: float = 0.0
    data_format: DataFormat = None

    def get_random_transformation(self, data: Any, training: bool = True, seed: Any = None) -> Any:
        if not training:
            return None
        n, (height, width) = batch_size(data), sizes_of(self, images_in(data).shape)
        low, high = (f * 360.0 for f in self.factor)
        angle = uniform(source_of(self, seed), (n,), low, high)
        turn = reshape(angle * (math.pi / 180), shape=(-1, 1))
        x, y = 0.5 * (width - 1), 0.5 * (height - 1)
        a, b = cos(turn), sin(turn)
        matrix = _rows(a, -b, x - x * a + y * b, b, a, y - x * b - y * a)
        return {
            "angle": angle, "rotation_matrix": matrix, "image_height": height,
            "image_width": width, "batch_size": n,
        }  # fmt: skip

    def _transform_images(self, images, transformation, interpolation):
        matrix = transformation["rotation_matrix"]
        return warped(self, images, matrix, interpolation, self.fill_mode)

    @in_training
    def transform_bounding_boxes(
        self, bounding_boxes: Any, transformation: Any = None, training: bool = True
    ) -> Any:
        height, width = transformation["image_height"], transformation["image_width"]
        name, angle = self.bounding_box_format, as_dtype(transformation["angle"], "float32")
        data = box.converted(bounding_boxes, name, "xyxy", height, width)
        none = angle * 0
        turned = box.turned(
            data["boxes"], angle, (none, none), none + 1, (none, none), (width, height)
        )
        data = box.clipped({**data, "boxes": turned}, height, width)
        return box.converted(data, "xyxy", name, height, width)


class RandomShear(MovingLayer):
    """Shear images: shift each row or column in proportion to its distance from the top left.

    Args:
        x_factor, y_factor: the shift per pixel, from 0 to 1: f for the range (-f, f), or
            (low, high). With a probability of 1/2 per image, the signs of both are flipped.
        interpolation, fill_mode, fill_value: as in `RandomRotation`.
        data_format: "channels_last" or "channels_first".
        seed: an int, or None.
    """

    x_factor: Shear = 0.0
    y_factor: Shear = 0.0
    interpolation: Interpolation = "bilinear"
    fill_mode: FillMode = "reflect"
    fill_value: float = 0.0
    data_format: DataFormat = None
    seed: Seed = None

    def get_random_transformation(self, data: Any, training: bool = True, seed: Any = None) -> Any:
        if not training:
            return None
        source, shape = source_of(self, seed), (batch_size(data), 1)
        inverted = greater(uniform(source, shape), 0.5)
        y, x = uniform(source, shape, *self.y_factor), uniform(source, shape, *self.x_factor)
        amount = concat(x, y, axis=1)
        amount = select(inverted, -amount, amount)
        return {"shear_factor": amount, "input_shape": tuple(images_in(data).shape)}

    def _transform_images(self, images, transformation, interpolation):
        x, y = (_column(transformation["shear_factor"], i) for i in (0, 1))
        matrix = _rows(1.0, x, 0.0, y, 1.0, 0.0)
        return warped(self, images, matrix, interpolation, self.fill_mode)

    @in_training
    def transform_bounding_boxes(
        self, bounding_boxes: Any, transformation: Any = None, training: bool = True
    ) -> Any:
        (height, width), name = size_in(self, transformation), self.bounding_box_format
        data = box.converted(bounding_boxes, name, "rel_xyxy", height, width, self.compute_dtype)
        amount = as_dtype(transformation["shear_factor"], self.compute_dtype)
        x, y = (per_image(getitem(amount, index=(slice(None), i)), 3) for i in (0, 1))
        x1, y1, x2, y2 = box.columns(data["boxes"])
        x1, x2 = (
            x1 - x * select(less(x, 0), y1, y2), x2 - x * select(less(x, 0), y2, y1)
        )  # fmt: skip
        y1, y2 = (
            y1 - y * select(greater(y, 0), x2, x1), y2 - y * select(greater(y, 0), x1, x2)
        )  # fmt: skip
        data = box.clipped({**data, "boxes": box.joined(x1, y1, x2, y2)}, name="rel_xyxy")
        return box.converted(data, "rel_xyxy", name, height, width, self.compute_dtype)


class RandomTranslation(MovingLayer):
    """Shift images, in training.

    Args:
        height_factor, width_factor: the shift as a fraction of the size, from -1 to 1: a number f
            for (-f, f), or two numbers. Positive shifts go down and to the right.
        fill_mode, interpolation, fill_value: as in `RandomRotation`.
        seed: an int, or None.
        data_format: "channels_last" or "channels_first".

    >>> import numpy as np
    >>> layer = RandomTranslation((0, 0), (0.5, 0.5), fill_mode="constant")
    >>> layer(np.arange(4.0).reshape(1, 1, 4, 1), training=True).numpy().ravel()
    array([0., 0., 0., 1.], dtype=float32)
    """

    height_factor: Shift
    width_factor: Shift
    fill_mode: FillMode = "reflect"
    interpolation: Interpolation = "bilinear"
    seed: Seed = None
    fill_value: float = 0.0
    data_format: DataFormat = None

    def __post_init__(self):
        super().__post_init__()
        self.height_lower, self.height_upper = shift_bounds(self.height_factor)
        self.width_lower, self.width_upper = shift_bounds(self.width_factor)

    def get_random_transformation(self, data: Any, training: bool = True, seed: Any = None) -> Any:
        if not training:
            return None
        source, shape = source_of(self, seed), (batch_size(data), 1)
        height, width = sizes_of(self, images_in(data).shape)
        down = uniform(source, shape, self.height_lower, self.height_upper) * float(height)
        right = uniform(source, shape, self.width_lower, self.width_upper) * float(width)
        return {
            "translations": concat(right, down, axis=1),
            "input_shape": tuple(images_in(data).shape),
        }

    def _transform_images(self, images, transformation, interpolation):
        right, down = (_column(transformation["translations"], i) for i in (0, 1))
        matrix = _rows(1.0, 0.0, -right, 0.0, 1.0, -down)
        return warped(self, images, matrix, interpolation, self.fill_mode, straight=True)

    @in_training
    def transform_bounding_boxes(
        self, bounding_boxes: Any, transformation: Any = None, training: bool = True
    ) -> Any:
        (height, width), name = size_in(self, transformation), self.bounding_box_format
        data = box.converted(bounding_boxes, name, "xyxy", height, width)
        shift = as_dtype(transformation["translations"], "float32")
        shift = reshape(concat(shift, shift, axis=1), shape=(-1, 1, 4))
        data = box.clipped({**data, "boxes": data["boxes"] + shift}, height, width)
        return box.converted(data, "xyxy", name, height, width)


class RandomZoom(MovingLayer):
    """Enlarge or shrink images around their center, in training.

    Args:
        height_factor, width_factor: from -1 to 1: f for the range (-f, f), or (low, high). An image
            shrinks by the factor 1 + f, so a negative f enlarges it. A `width_factor` of None keeps
            the proportions.
        fill_mode, interpolation, fill_value: as in `RandomRotation`.
        seed: an int, or None.
        data_format: "channels_last" or "channels_first".
    """

    height_factor: Zoom
    width_factor: Zoom = None
    fill_mode: FillMode = "reflect"
    interpolation: Interpolation = "bilinear"
    seed: Seed = None
    fill_value: float = 0.0
    data_format: DataFormat = None

    def __post_init__(self):
        super().__post_init__()
        self.height_lower, self.height_upper = zoom_bounds(self.height_factor)
        if self.width_factor is not None:
            self.width_lower, self.width_upper = zoom_bounds(self.width_factor)

    def get_random_transformation(self, data: Any, training: bool = True, seed: Any = None) -> Any:
        if not training:
            return None
        source, shape = source_of(self, seed), (batch_size(data), 1)
        high = wide = uniform(source, shape, 1.0 + self.height_lower, 1.0 + self.height_upper)
        if self.width_factor is not None:
            wide = uniform(source, shape, 1.0 + self.width_lower, 1.0 + self.width_upper)
        shape = tuple(images_in(data).shape)
        return {"height_zoom": high, "width_zoom": wide, "input_shape": shape}

    def _transform_images(self, images, transformation, interpolation):
        across, down = _zooms(transformation, sizes_of(self, images.shape))
        matrix = _rows(across[0], 0.0, across[1], 0.0, down[0], down[1])
        return warped(self, images, matrix, interpolation, self.fill_mode, straight=True)

    @in_training
    def transform_bounding_boxes(
        self, bounding_boxes: Any, transformation: Any = None, training: bool = True
    ) -> Any:
        (height, width), name = size_in(self, transformation), self.bounding_box_format
        data = box.converted(bounding_boxes, name, "xyxy", height, width)
        x1, y1, x2, y2 = box.columns(data["boxes"])
        zooms = _zooms(transformation, (height, width))
        across, down = ([per_image(x, 3) for x in pair] for pair in zooms)
        x1, x2 = (_in_part(x, *across, width) for x in (x1, x2))
        y1, y2 = (_in_part(y, *down, height) for y in (y1, y2))
        data = box.clipped({**data, "boxes": box.joined(x1, y1, x2, y2)}, name="rel_xyxy")
        return box.converted(data, "rel_xyxy", name, height, width)


def _zooms(transformation, sizes):
    """Return (factor, first position) of the zoom along x and along y, each of shape (batch, 1)."""
    factors = (_column(transformation[k]) for k in ("width_zoom", "height_zoom"))
    return [(f, (1 - f) * ((n - 1) / 2)) for f, n in zip(factors, sizes[::-1])]


def _in_part(x, zoom, start, size):
    """Return coordinates on an axis as fractions of the range that a zoom shows, clipped to it."""
    end = zoom * size + start
    return divide(clip(x, start, end) - start, end - start)
