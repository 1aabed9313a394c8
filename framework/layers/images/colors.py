"""Random brightness, contrast, gray, inversion: layers that change the values of pixels."""

from typing import Annotated, Any

import numpy as np

from framework.core.configurable import Resolved
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.random import SeedGenerator
from framework.initializers import Seed
from framework.layers.convolution_base import DataFormat, last, restored
from framework.layers.images.base import (
    BaseImagePreprocessingLayer,
    as_dtype,
    axes_of,
    batch_size,
    per_image,
    source_of,
    uniform,
)
from framework.layers.images.fields import (
    Factor,
    Range,
    SignedFactor,
    SignedFactorOrNone,
    SortedRange,
    is_number,
)
from framework.ops.colors import LUMA, mixed
from framework.ops.elementwise import clip, less, select
from framework.ops.reduction import reduce_mean

__all__ = [
    "RandomBrightness", "RandomColorDegeneration", "RandomContrast", "RandomGrayscale",
    "RandomInvert",
]  # fmt: skip


class RandomLayer(BaseImagePreprocessingLayer):
    """The base class of layers with a field `seed` and a generator of random numbers."""

    def __post_init__(self):
        is_generator = isinstance(self.seed, SeedGenerator)
        self.generator = self.seed if is_generator else SeedGenerator(self.seed)


def within(layer, images):
    """Return images clipped to the layer's range of values, in its compute dtype."""
    low, high = layer.value_range
    return as_dtype(clip(images, float(low), float(high)), layer.compute_dtype)


def rescaled(images, old, new):
    """Return images mapped from one range of values to another."""
    if tuple(old) == tuple(new):
        return images
    share = (images - float(old[0])) / float(old[1] - old[0])
    return share * float(new[1] - new[0]) + float(new[0])


def apply_to(layer, data, source):
    """Return a random bool per image: whether to change it. `factor` is the probability's range."""
    n = batch_size(data)
    probability = uniform(source, (n,), *layer.factor)
    return less(uniform(source, (n,)), probability)


class RandomBrightness(RandomLayer):
    """Add a random number to all pixels of an image, in training.

    Args:
        factor: how much of the range of values to add, from -1 to 1: f for the range (-f, f), or
            (low, high).
        value_range: the lowest and highest value of pixels.
        seed: an int, or None.

    >>> import numpy as np
    >>> layer = RandomBrightness((0.2, 0.2))
    >>> layer(np.zeros((1, 2, 2, 3)), training=True).numpy().max()
    np.float32(51.0)
    """

    factor: SignedFactorOrNone
    value_range: SortedRange = (0, 255)
    seed: Seed = None

    def get_random_transformation(self, data: Any, training: bool = True, seed: Any = None) -> Any:
        if not training:
            return None
        delta = uniform(source_of(self, seed), (batch_size(data), 1, 1, 1), *self.factor)
        return {"rgb_delta": delta * float(self.value_range[1] - self.value_range[0])}

    def _transform_images(self, images, transformation, interpolation):
        return within(self, images + as_dtype(transformation["rgb_delta"], images.dtype))


class RandomContrast(RandomLayer):
    """Move pixels away from the mean of their channel, or towards it, in training.

    Args:
        factor: from 0 to 1; deviations are multiplied by `1 - factor[0]` to `1 + factor[1]`. A
            number f stands for (0, f).
        value_range: the lowest and highest value of pixels.
        seed: an int, or None.
    """

    factor: Factor
    value_range: Range = (0, 255)
    seed: Seed = None

    def get_random_transformation(self, data: Any, training: bool = True, seed: Any = None) -> Any:
        if not training:
            return None
        low, high = 1.0 - self.factor[0], 1.0 + self.factor[1]
        shape = (batch_size(data), 1, 1, 1)
        return {"contrast_factor": uniform(source_of(self, seed), shape, low, high)}

    def _transform_images(self, images, transformation, interpolation):
        height, width, _ = (axis + 4 for axis in axes_of(self))
        mean = reduce_mean(images, axis=(height,), keepdims=True)
        mean = reduce_mean(mean, axis=(width,), keepdims=True)
        scale = as_dtype(transformation["contrast_factor"], images.dtype)
        return within(self, (images - mean) * scale + mean)


def _three_channels(layer, shape):
    channels = shape[axes_of(layer)[2]]
    if channels not in (None, 3):
        raise ShapeError(
            f"{type(layer).__name__}: expected images with 3 channels, got {channels} channels in "
            f"the shape {tuple(shape)}."
        )


def _gray(layer, images):
    """Return images converted to gray, with one channel."""
    x = last(images, layer.data_format)
    if x.shape[-1] == 1:
        return images
    floats = as_dtype(x, "float32") if x.dtype.is_integer else x
    brightness = mixed(floats, np.array(LUMA)[:, None])
    return as_dtype(restored(brightness, layer.data_format), images.dtype)


class RandomColorDegeneration(RandomLayer):
    """Mix images with their gray values, in training.

    Args:
        factor: the share of gray, from -1 to 1: f for the range (-f, f), or (low, high).
        value_range: the lowest and highest value of pixels.
        data_format: "channels_last" or "channels_first".
        seed: an int, or None.
    """

    factor: SignedFactor
    value_range: SortedRange = (0, 255)
    data_format: DataFormat = None
    seed: Seed = None

    def get_random_transformation(self, data: Any, training: bool = True, seed: Any = None) -> Any:
        if not training:
            return None
        shape = (batch_size(data), 1, 1, 1)
        return {"factor": uniform(source_of(self, seed), shape, *self.factor)}

    def _transform_images(self, images, transformation, interpolation):
        share = as_dtype(transformation["factor"], images.dtype)
        return within(self, images + share * (_gray(self, images) - images))

    def compute_output_shape(self, input_shape: Any) -> Any:
        shape = super().compute_output_shape(input_shape)
        if not isinstance(shape, dict):
            _three_channels(self, shape)
        return shape


def _probability(value):
    if not is_number(value) or not 0 <= value <= 1:
        raise InvalidArgumentError("`factor` should be a number between 0 and 1")
    return value


class RandomGrayscale(RandomLayer, keeps_integers=True):
    """Convert each image to gray with the probability `factor`, in training.

    Integer images keep their dtype; the gray values are truncated.

    Args:
        factor: from 0 to 1.
        data_format: "channels_last" or "channels_first".
        seed: an int, or None.
    """

    factor: Annotated[float, Resolved("a probability", _probability)] = 0.5
    data_format: DataFormat = None
    seed: Seed = None

    def get_random_transformation(self, data: Any, training: bool = True, seed: Any = None) -> Any:
        if not training:
            return None
        drawn = uniform(source_of(self, seed), (batch_size(data), 1, 1, 1))
        return less(drawn, self.factor)

    def _transform_images(self, images, transformation, interpolation):
        return select(transformation, _gray(self, images), images)


class RandomInvert(RandomLayer):
    """Invert images (the highest value minus the pixel) with a random probability, in training.

    Args:
        factor: the probability, from 0 to 1: f for the range (0, f), or (low, high).
        value_range: the lowest and highest value of pixels.
        seed: an int, or None.
        data_format: "channels_last" or "channels_first".
    """

    factor: Factor = 1.0
    value_range: Range = (0, 255)
    seed: Seed = None
    data_format: DataFormat = None

    def get_random_transformation(self, data: Any, training: bool = True, seed: Any = None) -> Any:
        if not training:
            return None
        return {"apply_inversion": apply_to(self, data, source_of(self, seed))}

    def _transform_images(self, images, transformation, interpolation):
        applied = per_image(transformation["apply_inversion"])
        return select(applied, float(self.value_range[1]) - images, images)
