"""Layers that enlarge spatial axes by integer factors."""

from typing import Annotated, Any

from framework.core.argument_types import ShapeLike, TensorLike
from framework.core.configurable import one_of
from framework.core.errors import InvalidArgumentError
from framework.layers.arguments import DataFormat
from framework.layers.base import Layer
from framework.layers.convolution_base import (
    ints,
    last,
    restored,
    spatial,
    with_spatial,
)
from framework.layers.input_spec import InputSpec
from framework.ops.movement import broadcast_to, reshape
from framework.ops.resampling import resized

__all__ = ["UpSampling1D", "UpSampling2D", "UpSampling3D"]


def _repeated(x, axis, n):
    """Return `x` with each slice along `axis` repeated n times."""
    shape = tuple(x.shape)
    before, size, after = shape[:axis], shape[axis], shape[axis + 1 :]
    x = reshape(x, shape=(*before, size, 1, *after))
    x = broadcast_to(x, shape=(*before, size, n, *after))
    return reshape(x, shape=(*before, None if size is None else size * n, *after))


class _UpSampling(Layer, rank=0):
    data_format = "channels_last"

    def __post_init__(self):
        self._framework.sizes = self.size = ints(self.size, type(self)._framework.rank, "size")
        self.input_spec = InputSpec(ndim=type(self)._framework.rank + 2)

    def call(self, inputs: TensorLike) -> Any:
        first = 1 if self.data_format == "channels_last" else 2
        for axis, n in enumerate(self._framework.sizes, first):
            inputs = _repeated(inputs, axis, n)
        return inputs

    def compute_output_shape(self, input_shape: ShapeLike) -> Any:
        old = spatial(input_shape, self.data_format)
        new = [
            None if n is None else n * m for n, m in zip(old, self._framework.sizes, strict=True)
        ]
        return with_spatial(input_shape, new, self.data_format)


class UpSampling1D(_UpSampling, rank=1):
    """Repeat each step `size` times.

    Shapes: `(batch, steps, channels)` gives `(batch, steps * size, channels)`.

    >>> import numpy as np
    >>> UpSampling1D(2)(np.arange(3).reshape(1, 3, 1)).numpy().ravel()
    array([0, 0, 1, 1, 2, 2])
    """

    size: object = 2

    def __post_init__(self):
        if isinstance(self.size, bool) or not hasattr(self.size, "__index__"):
            raise TypeError(f"Expected an integer value for `size`, got {type(self.size)}.")
        size = int(self.size)
        super().__post_init__()
        self.size = size


class UpSampling2D(_UpSampling, rank=2):
    """Enlarge images by the factors `size`.

    Args:
        size: an int or (height, width).
        data_format: "channels_last", (batch, height, width, channels), or "channels_first".
        interpolation: "nearest" repeats pixels; "bilinear", "bicubic" (Keys, 1981, a = -0.5),
            "lanczos3" and "lanczos5" interpolate smoothly.

    >>> import numpy as np
    >>> UpSampling2D(2)(np.ones((1, 2, 3, 4))).shape
    TensorShape([1, 4, 6, 4])
    """

    size: object = (2, 2)
    data_format: DataFormat = None
    interpolation: Annotated[
        str, one_of("nearest", "bilinear", "bicubic", "lanczos3", "lanczos5")
    ] = "nearest"

    def call(self, inputs: TensorLike) -> Any:
        if self.interpolation == "nearest":
            return super().call(inputs)
        if not inputs.dtype.is_floating:
            raise InvalidArgumentError(
                f"UpSampling2D layer {self.name!r}: interpolation={self.interpolation!r} needs "
                f"floating inputs, got {inputs.dtype}; cast them, or use 'nearest'."
            )
        x = last(inputs, self.data_format)
        sizes = [n * m for n, m in zip(x.shape[1:3], self._framework.sizes, strict=True)]
        return restored(resized(x, sizes, (1, 2), self.interpolation), self.data_format)


class UpSampling3D(_UpSampling, rank=3):
    """Enlarge volumes by repeating elements.

    Args:
        size: an int, or one int per axis.
        data_format: "channels_last", (batch, a, b, c, channels), or "channels_first".
    """

    size: object = (2, 2, 2)
    data_format: DataFormat = None
