"""Layers of noise, dropout and activity penalties, which are the identity in inference."""

import math
from typing import Any

from framework.core import random
from framework.core.argument_types import TensorLike
from framework.core.cast import cast
from framework.core.configurable import fields_of
from framework.core.internal_state import builtin
from framework.core.random import SeedGenerator
from framework.initializers import Seed
from framework.layers.arguments import DataFormat
from framework.layers.base import Layer
from framework.layers.core import Fraction, checked_noise_shape, noise_dtype, noise_shape
from framework.layers.input_spec import InputSpec
from framework.ops.elementwise import greater_equal
from framework.ops.random import dropout
from framework.regularizers import L1L2, Strength

__all__ = [
    "ActivityRegularization", "AlphaDropout", "GaussianDropout", "GaussianNoise",
    "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D",
]  # fmt: skip


class _Noise(Layer, builds_at_init=True):
    """The base class of noise layers, which have a seed generator unless their rate is zero."""

    supports_masking = True


class GaussianNoise(_Noise):
    """Add normal noise of mean 0 in training.

    Args:
        stddev: from 0 to 1.
        seed: an int, or None.

    >>> import numpy as np
    >>> GaussianNoise(0.1)(np.ones((1, 2))).numpy()
    array([[1., 1.]], dtype=float32)
    """

    stddev: Fraction
    seed: Seed = None

    def __post_init__(self):
        _make_generator(self, self.stddev)

    def call(self, inputs: TensorLike, training: bool = False) -> Any:
        if not training or self.stddev == 0:
            return inputs
        shape = tuple(inputs.shape)
        noise = random.draw(
            self.seed_generator, "normal", shape, self.compute_dtype, 0.0, self.stddev
        )
        return inputs + noise


class GaussianDropout(_Noise):
    """Multiply by normal noise of mean 1 and variance `rate / (1 - rate)` in training.

    Srivastava et al. 2014.

    Args:
        rate: from 0 to 1.
        seed: an int, or None.
    """

    rate: Fraction
    seed: Seed = None

    def __post_init__(self):
        _make_generator(self, self.rate)

    def call(self, inputs: TensorLike, training: bool = False) -> Any:
        if not training or self.rate == 0:
            return inputs
        stddev = math.sqrt(self.rate / (1.0 - self.rate))
        shape = tuple(inputs.shape)
        return inputs * random.draw(
            self.seed_generator, "normal", shape, self.compute_dtype, 1.0, stddev
        )


# alpha and scale of SELU (Klambauer et al. 2017)
_ALPHA, _SCALE = 1.6732632423543772, 1.0507009873554805


class AlphaDropout(_Noise):
    """Dropout that keeps the mean and variance of SELU outputs.

    Dropped inputs get the lowest value of SELU; then all are scaled and shifted (Klambauer et al.
    2017, arXiv:1706.02515).

    Args:
        rate: from 0 to 1.
        noise_shape: the shape of the mask; None stands for the size of the inputs.
        seed: an int, or None.
    """

    rate: Fraction
    noise_shape: object = None
    seed: Seed = None

    def __post_init__(self):
        self.noise_shape = checked_noise_shape(self.noise_shape, "AlphaDropout")
        _make_generator(self, self.rate)

    def call(self, inputs: TensorLike, training: bool = False) -> Any:
        if not training or self.rate == 0:
            return inputs
        shape = tuple(inputs.shape)
        if self.noise_shape is not None:
            shape = noise_shape(self.noise_shape, shape, self)
        noise = random.draw(self.seed_generator, "uniform", shape, noise_dtype(inputs))
        kept = cast(greater_equal(noise, self.rate), dtype=inputs.dtype.np)
        lowest = -_ALPHA * _SCALE
        variance = (1 - self.rate) * (1 + self.rate * lowest**2)
        factor = variance**-0.5 if variance else 0.0
        return (inputs * kept + (1 - kept) * lowest) * factor - factor * lowest * self.rate


class _SpatialDropout(_Noise, axes=1):
    def __post_init__(self):
        _make_generator(self, self.rate)
        self.input_spec = InputSpec(ndim=type(self)._framework.axes + 2)

    def call(self, inputs: TensorLike, training: bool = False) -> Any:
        if not training or self.rate == 0:
            return inputs
        batch, *sizes = inputs.shape
        ones = (1,) * type(self)._framework.axes
        has_format = "data_format" in fields_of(builtin(self))
        first = has_format and self.data_format == "channels_first"
        shape = (batch, sizes[0], *ones) if first else (batch, *ones, sizes[-1])
        noise = random.draw(self.seed_generator, "uniform", shape, noise_dtype(inputs))
        return dropout(inputs, noise, rate=self.rate)

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        if config["trainable"]:
            del config["trainable"]  # the constructor does not accept `trainable`, nor does Keras's
        return config


class SpatialDropout1D(_SpatialDropout):
    """Dropout of whole channels of sequences: a channel is dropped in all steps or in none.

    Args:
        rate: from 0 to 1.
        seed: an int, or None.

    Shapes: `(batch, steps, channels)`.
    """

    rate: Fraction
    seed: Seed = None


class SpatialDropout2D(_SpatialDropout, axes=2):
    """Dropout of whole channels of images, `(batch, rows, columns, channels)`.

    Args:
        rate: from 0 to 1.
        data_format: "channels_last" or "channels_first".
        seed: an int, or None.
    """

    rate: Fraction
    data_format: DataFormat = None
    seed: Seed = None


class SpatialDropout3D(_SpatialDropout, axes=3):
    """Dropout of whole channels of volumes; arguments as in `SpatialDropout2D`."""

    rate: Fraction
    data_format: DataFormat = None
    seed: Seed = None


class ActivityRegularization(Layer, builds_at_init=True):
    """Add `l1 * sum(|x|) + l2 * sum(x**2)`, divided by the batch size, to the losses.

    Args:
        l1, l2: numbers >= 0.
    """

    l1: Strength = 0.0
    l2: Strength = 0.0
    supports_masking = True

    def __post_init__(self):
        if self.activity_regularizer is None:
            self.activity_regularizer = L1L2(self.l1, self.l2)

    def call(self, inputs: TensorLike) -> Any:
        return inputs

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        config.pop("activity_regularizer", None)
        return config


def _make_generator(layer, rate):
    if rate > 0:
        is_generator = isinstance(layer.seed, SeedGenerator)
        layer.seed_generator = layer.seed if is_generator else SeedGenerator(layer.seed)
