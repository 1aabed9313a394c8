"""Random hue and saturation, and RandomColorJitter, which changes all colors of an image."""

from typing import Any

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.dtypes import epsilon
from framework.initializers import Seed
from framework.layers.convolution_base import DataFormat, last, restored
from framework.layers.images.base import (
    as_dtype,
    batch_size,
    part_of,
    per_image,
    source_of,
    uniform,
)
from framework.layers.images.colors import (
    RandomBrightness,
    RandomContrast,
    RandomLayer,
    rescaled,
)
from framework.layers.images.fields import Factor, Range, SignedFactor, SortedRange
from framework.ops.colors import channels, hsv_to_rgb, rgb_to_hsv
from framework.ops.elementwise import clip, divide, greater, less, select
from framework.ops.movement import stack

__all__ = ["RandomColorJitter", "RandomHue", "RandomSaturation"]

# ---- hue and saturation --------------------------------------------------------------------------


def _changed(layer, images, change):
    """Return images after `change` has mapped their hue, saturation and value to new ones."""
    parts = channels(rgb_to_hsv(last(images, layer.data_format)))
    images = hsv_to_rgb(stack(*change(*parts), axis=3))
    return restored(images, layer.data_format)


class RandomHue(RandomLayer):
    """Shift the hue of images, in training.

    Args:
        factor: the largest shift, from 0 to 1: 1 is half of the color circle, in either direction;
            f for the range (0, f), or (low, high).
        value_range: the lowest and highest value of pixels.
        data_format: "channels_last" or "channels_first".
        seed: an int, or None.
    """

    factor: Factor
    value_range: Range = (0, 255)
    data_format: DataFormat = None
    seed: Seed = None

    def get_random_transformation(self, data: Any, training: bool = True, seed: Any = None) -> Any:
        if not training:
            return None
        source, n = source_of(self, seed), batch_size(data)
        backwards = greater(uniform(source, (n,)), 0.5)
        turn = uniform(source, (n,), *self.factor) * 0.5
        return {"factor": select(backwards, -turn, turn)}

    def _transform_images(self, images, transformation, interpolation):
        turn = per_image(as_dtype(transformation["factor"], images.dtype), 3)
        images = rescaled(images, self.value_range, (0, 1))

        def turned(hue, saturation, value):
            hue = hue + turn
            hue = select(greater(hue, 1.0), hue - 1.0, hue)
            return select(less(hue, 0.0), hue + 1.0, hue), saturation, value

        images = clip(_changed(self, images, turned), 0.0, 1.0)
        return as_dtype(rescaled(images, (0, 1), self.value_range), self.compute_dtype)


class RandomSaturation(RandomLayer):
    """Multiply the saturation of images by `f / (1 - f)` with a random f, in training.

    Args:
        factor: f for the range (-f, f), or (low, high), from -1 to 1; 0.5 does not change images.
        value_range: the lowest and highest value of saturation.
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
        drawn = uniform(source_of(self, seed), (batch_size(data),), *self.factor)
        return {"factor": divide(drawn, 1 - drawn + np.float32(epsilon()))}

    def _transform_images(self, images, transformation, interpolation):
        scale = per_image(as_dtype(transformation["factor"], images.dtype), 3)
        low, high = map(float, self.value_range)

        def scaled(hue, saturation, value):
            return hue, clip(saturation * scale, low, high), value

        return _changed(self, images, scaled)


class RandomColorJitter(RandomLayer):
    """Change brightness, contrast, saturation and hue at random, in this order, in training.

    Args:
        value_range: the lowest and highest value of pixels.
        brightness_factor, contrast_factor, saturation_factor, hue_factor: the factors of
            `RandomBrightness`, `RandomContrast`, `RandomSaturation` and `RandomHue`; None skips it.
        seed: an int, or None.
        data_format: "channels_last" or "channels_first".
    """

    value_range: Range = (0, 255)
    brightness_factor: object = None
    contrast_factor: object = None
    saturation_factor: object = None
    hue_factor: object = None
    seed: Seed = None
    data_format: DataFormat = None

    def __post_init__(self):
        super().__post_init__()
        for name, cls in _JITTER.items():
            given = getattr(self, f"{name}_factor")
            part = None if given is None else part_of(self, cls, factor=given)
            setattr(self, f"random_{name}", part)

    def build(self, input_shape: Any) -> None:
        for _, part in _jitter_parts(self):
            part.build(input_shape)

    def get_random_transformation(self, data: Any, training: bool = True, seed: Any = None) -> Any:
        if not training:
            return None
        source = source_of(self, seed)
        return {
            name: part.get_random_transformation(data, training=training, seed=source)
            for name, part in _jitter_parts(self)
        }

    def transform_images(
        self, images: TensorLike, transformation: Any = None, training: bool = True
    ) -> Any:
        if training and transformation is None:
            transformation = self.get_random_transformation(images)
        return super().transform_images(images, transformation, training)

    def _transform_images(self, images, transformation, interpolation):
        for name, part in _jitter_parts(self):
            images = part.transform_images(images, transformation[name])
        return as_dtype(images, self.compute_dtype)


_JITTER = {
    "brightness": RandomBrightness, "contrast": RandomContrast, "saturation": RandomSaturation,
    "hue": RandomHue,
}  # fmt: skip


def _jitter_parts(layer):
    """Return (name, layer) of the inner layers of a RandomColorJitter, in the order of use."""
    pairs = ((name, getattr(layer, f"random_{name}")) for name in _JITTER)
    return [(name, part) for name, part in pairs if part is not None]
