"""Posterization, solarization and automatic contrast: curves applied to pixel values."""

from typing import Any

import numpy as np

from framework.core import random
from framework.initializers import Seed
from framework.layers.convolution_base import DataFormat
from framework.layers.images.base import (
    BaseImagePreprocessingLayer,
    as_dtype,
    axes_of,
    batch_size,
    per_image,
    source_of,
    uniform,
)
from framework.layers.images.colors import RandomLayer, rescaled
from framework.layers.images.fields import Bits, Share, SortedRange
from framework.ops.elementwise import clip, divide, equal, floor, less, power, select
from framework.ops.reduction import reduce_max, reduce_min

__all__ = ["AutoContrast", "RandomPosterization", "Solarization"]

_BYTES = (0, 255)


class RandomPosterization(RandomLayer):
    """Keep only the highest bits of each channel, a random number of them, in training.

    Args:
        factor: how many of 8 bits to keep: a number n for a random number from 1 to n - 1; or
            (low, high), where `high` is exclusive unless it equals `low`.
        value_range: the lowest and highest value of pixels.
        data_format: "channels_last" or "channels_first".
        seed: an int, or None.

    >>> import numpy as np
    >>> RandomPosterization((1, 1))(np.full((1, 1, 1, 3), 200.0), training=True).numpy().ravel()
    array([128., 128., 128.], dtype=float32)
    """

    factor: Bits
    value_range: SortedRange = (0, 255)
    data_format: DataFormat = None
    seed: Seed = None

    def get_random_transformation(self, data: Any, training: bool = True, seed: Any = None) -> Any:
        if not training:
            return None
        low, high = map(int, self.factor)
        high = high + 1 if low == high else high
        shape = (batch_size(data),)
        bits = random.draw(source_of(self, seed), "integers", shape, "int32", low, high)
        return {"shift_factor": 8 - bits}

    def _transform_images(self, images, transformation, interpolation):
        images = clip(rescaled(images, self.value_range, _BYTES), 0.0, 255.0)
        shift = per_image(as_dtype(transformation["shift_factor"], images.dtype))
        step = power(np.asarray(2, images.dtype.np), shift)
        return rescaled(floor(divide(floor(images), step)) * step, _BYTES, self.value_range)


class Solarization(RandomLayer):
    """Add a random number to pixels, then invert those above a random threshold, in training.

    Args:
        addition_factor: the share of 255 to add: f for the range (0, f), or (low, high).
        threshold_factor: the threshold as a share of 255, in the form of `addition_factor`.
        value_range: the lowest and highest value of pixels.
        seed: an int, or None.

    >>> import numpy as np
    >>> Solarization()(np.full((1, 1, 1, 3), 200.0), training=True).numpy().ravel()
    array([55., 55., 55.], dtype=float32)
    """

    addition_factor: Share = 0.0
    threshold_factor: Share = 0.0
    value_range: SortedRange = (0, 255)
    seed: Seed = None

    def get_random_transformation(self, data: Any, training: bool = True, seed: Any = None) -> Any:
        if not training:
            return None
        source, shape = source_of(self, seed), (batch_size(data), 1, 1, 1)
        pairs = {"additions": self.addition_factor, "thresholds": self.threshold_factor}
        return {k: uniform(source, shape, low, high * 255) for k, (low, high) in pairs.items()}

    def _transform_images(self, images, transformation, interpolation):
        added, threshold = (
            as_dtype(transformation[k], images.dtype) for k in ("additions", "thresholds")
        )
        images = clip(rescaled(images, self.value_range, _BYTES) + added, 0.0, 255.0)
        images = select(less(images, threshold), images, 255.0 - images)
        return rescaled(images, _BYTES, self.value_range)


class AutoContrast(BaseImagePreprocessingLayer, in_inference=True, draws=False):
    """Stretch the values of each channel of each image to the whole range.

    Args:
        value_range: the lowest and highest value of pixels.

    >>> import numpy as np
    >>> AutoContrast()(np.array([[[[50.0], [100.0]]]])).numpy().ravel()
    array([  0., 255.], dtype=float32)
    """

    value_range: SortedRange = (0, 255)

    def _transform_images(self, images, transformation, interpolation):
        values = rescaled(images, self.value_range, _BYTES)
        axes = tuple(sorted(axis + 4 for axis in axes_of(self)[:2]))
        low, high = (f(values, axis=axes, keepdims=True) for f in (reduce_min, reduce_max))
        flat = equal(high, low)
        scale = divide(np.asarray(255, values.dtype.np), select(flat, high * 0 + 1, high - low))
        values = clip(values * scale - low * scale, 0.0, 255.0)
        return select(flat, images, rescaled(values, _BYTES, self.value_range))
