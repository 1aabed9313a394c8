"""Random blur, sharpness, elastic distortion and perspective."""

from typing import Annotated, Any

import numpy as np

from framework.core import random
from framework.core.configurable import Resolved
from framework.core.errors import InvalidArgumentError
from framework.initializers import Seed
from framework.layers.convolution_base import DataFormat, last, restored
from framework.layers.images import boxes as box
from framework.layers.images.base import (
    as_dtype,
    batch_size,
    images_in,
    per_image,
    sizes_of,
    source_of,
    uniform,
)
from framework.layers.images.colors import RandomLayer, apply_to, within
from framework.layers.images.fields import (
    ElasticFillMode,
    Factor,
    Interpolation,
    KernelSize,
    Range,
    SortedRange,
    is_number,
)
from framework.layers.images.geometry import MovingLayer, in_training, size_in, warped
from framework.ops.conv import depthwise
from framework.ops.elementwise import divide, exp, floor, less_equal, masked, select
from framework.ops.movement import broadcast_to, getitem, pad, reshape
from framework.ops.reduction import reduce_max, reduce_min, reduce_sum
from framework.ops.warping import homography, sampled

__all__ = ["RandomElasticTransform", "RandomGaussianBlur", "RandomPerspective", "RandomSharpness"]

_SAME = {"strides": (1, 1), "padding": "SAME", "dilations": (1, 1)}
_ORDERS = ("nearest", "bilinear")


def _filtered(images, kernel):
    """Return images (batch, height, width, channels) convolved with a (rows, columns) kernel."""
    size, channels = tuple(kernel.shape), images.shape[-1]
    kernel = broadcast_to(reshape(kernel, shape=(*size, 1, 1)), shape=(*size, channels, 1))
    return depthwise(images, as_dtype(kernel, images.dtype), **_SAME)


def _bell(size, sigma, reach=None):
    """Return a Gaussian kernel of `size` weights with sum 1; weights beyond `reach` are 0."""
    x = np.arange(size, dtype=np.float32) - np.float32((size - 1) / 2)
    weights = exp(-0.5 * (x / sigma) * (x / sigma))
    if reach is not None:
        weights = masked(weights, less_equal(np.abs(x), reach))
    return divide(weights, reduce_sum(weights, axis=(0,), keepdims=True))


class RandomGaussianBlur(RandomLayer):
    """Blur images by a Gaussian kernel, with a random probability, in training.

    Args:
        factor: the probability, from 0 to 1: f for the range (0, f), or (low, high).
        kernel_size: the number of pixels along each axis, odd: a number, or two.
        sigma: the standard deviation, from 0 to 1: f for the range (0, f), or (low, high).
        value_range: the lowest and highest value of pixels.
        data_format: "channels_last" or "channels_first".
        seed: an int, or None.
    """

    factor: Factor = 1.0
    kernel_size: KernelSize = 3
    sigma: Factor = 1.0
    value_range: Range = (0, 255)
    data_format: DataFormat = None
    seed: Seed = None

    def get_random_transformation(self, data: Any, training: bool = True, seed: Any = None) -> Any:
        if not training:
            return None
        source = source_of(self, seed)
        applied = apply_to(self, data, source)
        sigma = uniform(source, (2,), *self.sigma) + 1e-6
        return {"should_apply_blur": applied, "blur_factor": sigma}

    def _transform_images(self, images, transformation, interpolation):
        sigma = as_dtype(transformation["blur_factor"], "float32")
        across, down = (
            _bell(int(n), getitem(sigma, index=(slice(i, i + 1),)))
            for i, n in enumerate(self.kernel_size)
        )
        kernel = reshape(down, shape=(-1, 1)) * across
        blurred = restored(_filtered(last(images, self.data_format), kernel), self.data_format)
        applied = per_image(transformation["should_apply_blur"])
        return within(self, select(applied, blurred, images))


class RandomSharpness(RandomLayer):
    """Blur or sharpen images by a random amount, in training.

    Args:
        factor: 0 blurs, 0.5 changes nothing, 1 sharpens most: f for the range (0, f),
            or (low, high).
        value_range: the lowest and highest value of pixels.
        data_format: "channels_last" or "channels_first".
        seed: an int, or None.
    """

    factor: Factor
    value_range: SortedRange = (0, 255)
    data_format: DataFormat = None
    seed: Seed = None

    def get_random_transformation(self, data: Any, training: bool = True, seed: Any = None) -> Any:
        if not training:
            return None
        return {"factor": uniform(source_of(self, seed), (batch_size(data),), *self.factor)}

    def _transform_images(self, images, transformation, interpolation):
        smooth = restored(_smoothed(last(images, self.data_format)), self.data_format)
        sharpness = per_image(as_dtype(transformation["factor"], images.dtype)) * 2.0
        return within(self, images + (1.0 - sharpness) * (smooth - images))


def _smoothed(images):
    """Return the weighted means of 3 x 3 pixels: the center has the weight 5, the others 1."""
    edge = ((0, 0), (1, 1), (1, 1), (0, 0))
    total, whole = pad(images, widths=edge), slice(None)
    for axis, n in ((1, images.shape[1]), (2, images.shape[2])):
        first, second, third = (
            getitem(total, index=(*(whole,) * axis, slice(i, i + n))) for i in range(3)
        )
        total = first + second + third
    return (total + images * 4.0) * (1 / 13)


class RandomElasticTransform(MovingLayer):
    """Distort images by smooth random shifts of the pixels, with a random probability, in training.

    Simard et al. 2003.

    Args:
        factor: the probability, from 0 to 1: f for the range (0, f), or (low, high).
        scale: the strength of the distortion: f for the range (0, f), or (low, high).
        interpolation: "bilinear" or "nearest".
        fill_mode: how to fill points outside the image: "reflect", "mirror", "wrap", "nearest" or
            "constant", as in `keras.ops.image.elastic_transform`.
        fill_value: the value of points outside the image in the mode "constant".
        value_range: the lowest and highest value of pixels.
        seed: an int, or None.
        data_format: "channels_last" or "channels_first".
    """

    factor: Factor = 1.0
    scale: Factor = 1.0
    interpolation: Interpolation = "bilinear"
    fill_mode: ElasticFillMode = "reflect"
    fill_value: float = 0.0
    value_range: Range = (0, 255)
    seed: Seed = None
    data_format: DataFormat = None

    def get_random_transformation(self, data: Any, training: bool = True, seed: Any = None) -> Any:
        if not training or self.scale[1] == 0 or self.factor[1] == 0:
            return None
        source = source_of(self, seed)
        applied, n = apply_to(self, data, source), batch_size(data)
        strength = uniform(source, (), *self.scale)
        shape = (n, *sizes_of(self, images_in(data).shape), 2)
        noise = random.draw(source, "normal", shape, "float32", 0.0, 1.0)
        return {"apply_transform": applied, "distortion_factor": strength, "noise": noise}

    def get_elastic_transform_params(self, height: int, width: int, factor: Any) -> Any:
        """Return the largest shift `alpha`, and the standard deviation `sigma` of the smoothing."""
        return factor * (0.1 * max(height, width)), factor * (0.05 * min(height, width))

    def _transform_images(self, images, transformation, interpolation):
        height, width = sizes_of(self, images.shape)
        strength = as_dtype(transformation["distortion_factor"], "float32")
        alpha, sigma = self.get_elastic_transform_params(height, width, strength)
        shift = _smooth(transformation["noise"], sigma, 0.05 * min(height, width) * self.scale[1])
        shift = shift * (alpha * sigma)
        across, down = (getitem(shift, index=(Ellipsis, i)) for i in (0, 1))
        rows = down + np.arange(height, dtype=np.float32)[:, None]
        columns = across + np.arange(width, dtype=np.float32)
        x = last(images, self.data_format)
        wide = "float64" if images.dtype == "float64" else "float32"
        places = [as_dtype(rows, wide), as_dtype(columns, wide)]
        y = sampled(
            x, places, order=_ORDERS.index(interpolation), mode=self.fill_mode,
            fill=float(self.fill_value),
        )  # fmt: skip
        y = as_dtype(restored(y, self.data_format), self.compute_dtype)
        applied = per_image(transformation["apply_transform"])
        return within(self, select(applied, y, as_dtype(images, self.compute_dtype)))

    @in_training
    def transform_bounding_boxes(
        self, bounding_boxes: Any, transformation: Any = None, training: bool = True
    ) -> Any:
        # Keras, too, leaves boxes unchanged: displacements are small relative to boxes
        return bounding_boxes


def _smooth(noise, sigma, largest):
    """Blur noise (batch, height, width, 2) by a Gaussian with standard deviation `sigma`.

    Weights beyond 3 floor(sigma) pixels are 0. The kernel is large enough for the `largest` sigma,
    so that its size does not depend on random numbers.
    """
    size = 6 * int(largest) + 1
    if size == 1:
        return noise
    weights = _bell(size, sigma, 3 * floor(sigma))
    noise = _filtered(noise, reshape(weights, shape=(-1, 1)))
    return _filtered(noise, reshape(weights, shape=(1, -1)))


def _scale(value):
    if not is_number(value) or not 0 <= value <= 1:
        raise InvalidArgumentError("expected a number in the range [0, 1]")
    return value


class RandomPerspective(MovingLayer):
    """Move the corners of images at random, with a random probability, in training.

    Args:
        factor: the probability, from 0 to 1: f for the range (0, f), or (low, high).
        scale: how far corners move, from 0 to 1.
        interpolation: "bilinear" or "nearest".
        fill_value: the value of pixels beyond the image.
        seed: an int, or None.
        data_format: "channels_last" or "channels_first".
    """

    factor: Factor = 1.0
    scale: Annotated[float, Resolved("a number in [0, 1]", _scale)] = 1.0
    interpolation: Interpolation = "bilinear"
    fill_value: float = 0.0
    seed: Seed = None
    data_format: DataFormat = None

    def get_random_transformation(self, data: Any, training: bool = True, seed: Any = None) -> Any:
        if not training:
            return None
        source, shape = source_of(self, seed), tuple(images_in(data).shape)
        applied, n = apply_to(self, data, source), batch_size(data)
        bottom, right = (size - 1 for size in sizes_of(self, shape))
        start = np.array([[0, 0], [right, 0], [0, bottom], [right, bottom]], np.float32)
        start = np.broadcast_to(start, (n, 4, 2)).copy()
        moved = uniform(source, (n, 4, 2), -0.5 * self.scale, 0.5 * self.scale)
        return {
            "apply_perspective": applied, "start_points": start,
            "end_points": start + moved * start, "input_shape": shape,
        }  # fmt: skip

    def _transform_images(self, images, transformation, interpolation):
        start, end = _corners(transformation)
        moved = warped(self, images, homography(start, end), interpolation, "constant", False)
        return select(per_image(transformation["apply_perspective"]), moved, images)

    @in_training
    def transform_bounding_boxes(
        self, bounding_boxes: Any, transformation: Any = None, training: bool = True
    ) -> Any:
        (height, width), name = size_in(self, transformation), self.bounding_box_format
        data = box.converted(bounding_boxes, name, "xyxy", height, width)
        start, end = _corners(transformation)
        inverse = homography(end, start)
        a, b, c, d, e, f, g, h = (
            per_image(getitem(inverse, index=(slice(None), i)), 3) for i in range(8)
        )
        x1, y1, x2, y2 = box.columns(data["boxes"])
        x, y = box.joined(x1, x2, x1, x2), box.joined(y1, y2, y2, y1)
        k = g * x + h * y + 1
        x, y = divide(a * x + b * y + c, k), divide(d * x + e * y + f, k)
        axis = {"axis": (2,), "keepdims": True}
        moved = box.joined(
            reduce_min(x, **axis), reduce_min(y, **axis),
            reduce_max(x, **axis), reduce_max(y, **axis),
        )  # fmt: skip
        applied = per_image(transformation["apply_perspective"], 3)
        data = {**data, "boxes": select(applied, moved, data["boxes"])}
        return box.converted(box.clipped(data, height, width), "xyxy", name, height, width)


def _corners(transformation):
    return (as_dtype(transformation[k], "float32") for k in ("start_points", "end_points"))
