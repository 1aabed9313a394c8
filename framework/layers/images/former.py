"""RandomHeight and RandomWidth, image layers of Keras 2."""

from typing import Annotated, Any

from framework.core.configurable import Resolved, one_of
from framework.core.errors import InvalidArgumentError
from framework.initializers import Seed
from framework.layers.images.base import (
    axes_of,
    images_in,
    output_shape,
    sizes_of,
    source_of,
    uniform,
)
from framework.layers.images.colors import RandomLayer
from framework.layers.images.fields import is_number
from framework.ops.fitting import fitted
from framework.ops.resampling import METHODS


def _bounds(factor):
    """Return the lowest and highest relative change of the size."""
    return factor if isinstance(factor, tuple) else (-factor, factor)


def _factor(value):
    value = tuple(value) if isinstance(value, (list, tuple)) else value
    numbers = value if isinstance(value, tuple) else (value,)
    if not all(map(is_number, numbers)) or (not isinstance(value, tuple) and value < 0):
        raise InvalidArgumentError("expected a number >= 0 or two numbers")
    if len(_bounds(value)) != 2 or not -1 < _bounds(value)[0] <= _bounds(value)[1]:
        raise InvalidArgumentError("expected two numbers above -1, the lower one first")
    return value


_Factor = Annotated[Any, Resolved("numbers above -1", _factor)]


class _RandomSize(RandomLayer, axis=0, left_out=("data_format", "bounding_box_format")):
    """The base class of layers that resize images along one axis."""

    data_format = "channels_last"
    bounding_box_format = None

    def get_random_transformation(self, data: Any, training: bool = True, seed: Any = None) -> Any:
        """Return the new size as a Python int: compiled functions are compiled for each size."""
        if not training:
            return None
        low, high = _bounds(self.factor)
        size = sizes_of(self, images_in(data).shape)[type(self)._framework.axis]
        return int(uniform(source_of(self, seed), (), 1.0 + low, 1.0 + high) * float(size))

    def _transform_images(self, images, transformation, interpolation):
        size = list(sizes_of(self, images.shape))
        size[type(self)._framework.axis] = max(transformation, 1)
        return fitted(images, tuple(size), interpolation)

    def compute_output_shape(self, input_shape: Any) -> Any:
        shape = list(output_shape(self, input_shape))
        shape[axes_of(self)[type(self)._framework.axis]] = None
        return tuple(shape)

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        del config["data_format"]
        return config


class RandomHeight(_RandomSize, axis=0):
    """Resize images to a random height, in training.

    Args:
        factor: the change of the height: f for the range (-f, f), or (low, high), both above -1.
        interpolation: a method of `tf.image.resize`.
        seed: an int, or None.

    >>> import numpy as np
    >>> RandomHeight((0.5, 0.5))(np.ones((2, 4, 4, 3)), training=True).shape
    TensorShape([2, 6, 4, 3])
    """

    factor: _Factor
    interpolation: Annotated[str, one_of(*METHODS)] = "bilinear"
    seed: Seed = None


class RandomWidth(_RandomSize, axis=1):
    """Resize images to a random width, in training; arguments as in `RandomHeight`."""

    factor: _Factor
    interpolation: Annotated[str, one_of(*METHODS)] = "bilinear"
    seed: Seed = None
