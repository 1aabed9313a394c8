"""Resizing and cropping: layers that change the size of images."""

from typing import Annotated, Any

import numpy as np

from framework.core import random
from framework.core.argument_types import TensorLike
from framework.core.configurable import one_of
from framework.core.conversion import tensor
from framework.core.errors import ShapeError
from framework.initializers import Seed
from framework.layers.convolution_base import DataFormat, last, restored
from framework.layers.core import PositiveInt
from framework.layers.images import boxes as box
from framework.layers.images.base import (
    BaseImagePreprocessingLayer,
    axes_of,
    images_in,
    output_shape,
    sizes_of,
    source_of,
)
from framework.layers.images.geometry import MovingLayer, in_training
from framework.ops.elementwise import equal, logical_or, select
from framework.ops.fitting import fitted
from framework.ops.movement import gather, getitem
from framework.ops.reduction import reduce_all

__all__ = ["CenterCrop", "RandomCrop", "Resizing"]

_Method = Annotated[
    str, one_of("bilinear", "nearest", "bicubic", "lanczos3", "lanczos5", "area")
]  # fmt: skip


def _resized(layer, images, method="bilinear", antialias=False, fit=None, fill=0.0):
    """Return images resized to the layer's height and width."""
    x, size = last(images, layer.data_format), (layer.height, layer.width)
    return restored(fitted(x, size, method, antialias, fit, fill), layer.data_format)


class _Sized(BaseImagePreprocessingLayer, in_inference=True, draws=False, moves=True):
    """The base class of layers whose output images have the size (`height`, `width`)."""

    def compute_output_shape(self, input_shape: Any) -> Any:
        if isinstance(input_shape, dict):
            return super().compute_output_shape(input_shape)
        return output_shape(self, input_shape, (self.height, self.width))


class Resizing(_Sized, keeps_integers=True):
    """Resize images.

    Args:
        height, width: the new size.
        interpolation: "bilinear", "nearest", "bicubic", "lanczos3", "lanczos5" or "area".
        crop_to_aspect_ratio: whether to crop the center to the aspect ratio of the new size first.
        pad_to_aspect_ratio: whether to pad images to the aspect ratio of the new size first.
        fill_mode: must be "constant".
        fill_value: the value of the padding.
        antialias: whether to average over more pixels where images become smaller.
        data_format: "channels_last" or "channels_first".

    Integer images keep their dtype and are rounded; floats get the compute dtype.

    >>> import numpy as np
    >>> Resizing(1, 2)(np.arange(8.0).reshape(1, 2, 4, 1)).numpy().ravel()
    array([2.5, 4.5], dtype=float32)
    """

    height: PositiveInt
    width: PositiveInt
    interpolation: _Method = "bilinear"
    crop_to_aspect_ratio: bool = False
    pad_to_aspect_ratio: bool = False
    fill_mode: Annotated[str, one_of("constant")] = "constant"
    fill_value: float = 0.0
    antialias: bool = False
    data_format: DataFormat = None

    def get_random_transformation(self, data: Any, training: bool = True, seed: Any = None) -> Any:
        """Return the height and width of the images, which transforming boxes requires."""
        return sizes_of(self, images_in(data).shape)

    def _transform_images(self, images, transformation, interpolation):
        fit = "pad" if self.pad_to_aspect_ratio else "crop" if self.crop_to_aspect_ratio else None
        return _resized(self, images, interpolation, self.antialias, fit, self.fill_value)

    def transform_bounding_boxes(
        self, bounding_boxes: Any, transformation: Any = None, training: bool = True
    ) -> Any:
        """Return the boxes of the resized images; padding boxes, all 0 or all -1, become 0."""
        height, width = transformation
        given = tensor(bounding_boxes["boxes"])
        empty = logical_or(*(
            reduce_all(equal(given, value), axis=(len(given.shape) - 1,), keepdims=True)
            for value in (-1.0, 0.0)
        ))  # fmt: skip
        data = box.converted(bounding_boxes, self.bounding_box_format, "xyxy", height, width)
        (across, left), (down, top) = _resized_axes(self, height, width)
        scale = np.array([across, down, across, down], np.float32)
        moved = data["boxes"] * scale + np.array([left, top, left, top], np.float32)
        data = box.clipped({**data, "boxes": moved}, self.height, self.width)
        edges = select(empty, np.float32(0), data["boxes"])
        return box.converted(
            {**data, "boxes": edges}, "xyxy", self.bounding_box_format, self.height, self.width
        )


def _resized_axes(layer, height, width):
    """Return the (scale, shift) by which a Resizing maps pixel positions, along x and along y."""
    x, y = layer.width / width, layer.height / height
    if layer.pad_to_aspect_ratio:
        least = min(x, y)
        return (
            (least, (layer.width - width * least) // 2),
            (least, (layer.height - height * least) // 2),
        )
    if layer.crop_to_aspect_ratio:
        most = max(x, y)
        return (
            (most, -((width * most - layer.width) // 2)),
            (most, -((height * most - layer.height) // 2)),
        )
    return (x, 0.0), (y, 0.0)


def _part(images, layer, top, left, height, width):
    """Return the part of images that begins at (top, left), two ints."""
    index = [slice(None)] * len(images.shape)
    for axis, start, size in zip(axes_of(layer), (top, left), (height, width)):
        index[axis] = slice(start, start + size)
    return getitem(images, index=tuple(index))


def _window(layer, height, width):
    """Return (start, size) along y and x of the center crop with the layer's aspect ratio."""
    high = max(min(height, int(width * layer.height / layer.width)), 1)
    wide = max(min(width, int(height * layer.width / layer.height)), 1)
    return ((height - high) // 2, high), ((width - wide) // 2, wide)


class CenterCrop(_Sized):
    """Crop the center of images; smaller images are cropped to the aspect ratio and resized.

    Args:
        height, width: the new size.
        data_format: "channels_last" or "channels_first".

    >>> import numpy as np
    >>> CenterCrop(1, 2)(np.arange(12.0).reshape(1, 3, 4, 1)).numpy().ravel()
    array([5., 6.], dtype=float32)
    """

    height: PositiveInt
    width: PositiveInt
    data_format: DataFormat = None

    def get_random_transformation(self, data: Any, training: bool = True, seed: Any = None) -> Any:
        """Return the shape of the images, which transforming boxes requires."""
        return {"input_shape": tuple(images_in(data).shape)}

    def _transform_images(self, images, transformation, interpolation):
        height, width = sizes_of(self, images.shape)
        if height < self.height or width < self.width:
            return _resized(self, images, fit="crop")
        top, left = (height - self.height) // 2, (width - self.width) // 2
        return _part(images, self, top, left, self.height, self.width)

    def transform_segmentation_masks(
        self, segmentation_masks: TensorLike, transformation: Any = None, training: bool = True
    ) -> Any:
        return self.transform_images(segmentation_masks, transformation, training)

    def transform_bounding_boxes(
        self, bounding_boxes: Any, transformation: Any = None, training: bool = True
    ) -> Any:
        height, width = sizes_of(self, transformation["input_shape"])
        data = box.converted(bounding_boxes, self.bounding_box_format, "xyxy", height, width)
        if height >= self.height and width >= self.width:
            starts = (height - self.height) // 2, (width - self.width) // 2
            (top, high), (left, wide) = zip(starts, (self.height, self.width))
        else:
            (top, high), (left, wide) = _window(self, height, width)
        data["boxes"] = box.cropped(data["boxes"], top, left, high, wide) * np.array(
            [self.width / wide, self.height / high] * 2, np.float32
        )
        data = box.clipped(data, self.height, self.width)
        return box.converted(data, "xyxy", self.bounding_box_format, self.height, self.width)


class RandomCrop(MovingLayer):
    """Crop images at a random position, the same for the whole batch, in training.

    Images that are not larger than the new size are cropped at the center, and resized if they are
    smaller. In inference, images do not change.

    Args:
        height, width: the new size.
        seed: an int, or None.
        data_format: "channels_last" or "channels_first".
    """

    height: PositiveInt
    width: PositiveInt
    seed: Seed = None
    data_format: DataFormat = None

    def __post_init__(self):
        if self.seed is None:
            self.seed = random.make_seed()
        super().__post_init__()

    def get_random_transformation(self, data: Any, training: bool = True, seed: Any = None) -> Any:
        """Return the first row and column of the crop, and the size of the images."""
        height, width = size = sizes_of(self, images_in(data).shape)
        if height is None or width is None:
            raise ShapeError(
                "RandomCrop requires the input to have a fully defined height and width, got "
                f"images of shape {tuple(images_in(data).shape)}."
            )
        if not training or height <= self.height or width <= self.width:
            (top, _), (left, _) = _window(self, height, width)
            return top, left, size
        source, rooms = source_of(self, seed), (height - self.height, width - self.width)
        return (*(random.draw(source, "integers", (), "int32", 0, n + 1) for n in rooms), size)

    def _transform_images(self, images, transformation, interpolation):
        height, width = sizes_of(self, images.shape)
        top, left, *_ = transformation
        if height > self.height and width > self.width:
            starts = zip((top, left), (self.height, self.width), axes_of(self))
            for start, size, axis in starts:
                images = gather(images, tensor(start) + np.arange(size), axis=axis + 4)
            return images
        images = _part(images, self, int(top), int(left), self.height, self.width)
        if sizes_of(self, images.shape) == (self.height, self.width):
            return images
        return _resized(self, images)

    def transform_segmentation_masks(
        self, segmentation_masks: TensorLike, transformation: Any = None, training: bool = True
    ) -> Any:
        return self.transform_images(segmentation_masks, transformation, training)

    @in_training
    def transform_bounding_boxes(
        self, bounding_boxes: Any, transformation: Any = None, training: bool = True
    ) -> Any:
        name, size = self.bounding_box_format, (self.height, self.width)
        top, left, old = transformation
        data = box.converted(bounding_boxes, name, "xyxy", *old)
        if old[0] > size[0] and old[1] > size[1]:
            high, wide = size
        else:  # smaller images were cropped to the target's aspect ratio
            high, wide = (min(n, m - int(k)) for n, m, k in zip(size, old, (top, left)))
        top, left = (tensor(start, dtype="float32", casts=True) for start in (top, left))
        edges = box.cropped(data["boxes"], top, left, high, wide)
        scale = np.array([size[1] / wide, size[0] / high] * 2, np.float32)
        data = box.clipped({**data, "boxes": edges * scale}, *size)
        return box.converted(data, "xyxy", name, *size)

    def compute_output_shape(self, input_shape: Any) -> Any:
        if isinstance(input_shape, dict):
            return super().compute_output_shape(input_shape)
        return output_shape(self, input_shape, (self.height, self.width))
