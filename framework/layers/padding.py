"""Zero padding and cropping of spatial axes."""

from typing import Any

from framework.core.argument_types import ShapeLike, TensorLike
from framework.core.configurable import fields_of
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.internal_state import builtin
from framework.layers.arguments import DataFormat
from framework.layers.base import Layer
from framework.layers.convolution_base import ints, spatial, with_spatial
from framework.layers.input_spec import InputSpec
from framework.ops.movement import getitem, pad

__all__ = [
    "Cropping1D", "Cropping2D", "Cropping3D", "ZeroPadding1D", "ZeroPadding2D", "ZeroPadding3D",
]  # fmt: skip


def _pairs(value, n, name):
    """Return a pair of ints for each of `n` axes, from an int, n ints or n pairs."""
    if hasattr(value, "__index__") and not isinstance(value, bool):
        value = (value,) * n
    if not hasattr(value, "__len__") or len(value) != n:
        raise InvalidArgumentError(
            f"`{name}` should be either an int, a tuple of {n} ints (for both ends of each axis), "
            f"or a tuple of {n} tuples of 2 ints. Received: {name}={value}."
        )
    nth = ("1st", "2nd", "3rd")
    return tuple(ints(v, 2, f"{nth[i]} entry of {name}", least=0) for i, v in enumerate(value))


class _EdgeLayer(Layer, rank=0):
    """The base class of padding and cropping; `_framework.pairs` is (before, after) per axis."""


class _ZeroPadding(_EdgeLayer):
    def __post_init__(self):
        _set_pairs(self, "padding")

    def call(self, inputs: TensorLike) -> Any:
        return pad(inputs, widths=_all_axes(self, self._framework.pairs, (0, 0)))

    def compute_output_shape(self, input_shape: ShapeLike) -> Any:
        old = spatial(input_shape, _format_of(self))
        new = [
            None if n is None else n + sum(p)
            for n, p in zip(old, self._framework.pairs, strict=True)
        ]
        return with_spatial(input_shape, new, _format_of(self))


class ZeroPadding1D(_ZeroPadding, rank=1):
    """Add zeros before and after the steps of sequences.

    Args:
        padding: the number of zeros at each end, or (before, after).
        data_format: "channels_last", (batch, steps, channels), or "channels_first".

    >>> import numpy as np
    >>> ZeroPadding1D(2)(np.ones((1, 3, 1))).numpy().ravel()
    array([0., 0., 1., 1., 1., 0., 0.], dtype=float32)
    """

    padding: object = 1
    data_format: DataFormat = None


class ZeroPadding2D(_ZeroPadding, rank=2):
    """Add zeros around images.

    Args:
        padding: how many zeros per side; or (height, width); or ((top, bottom), (left, right)).
        data_format: "channels_last", (batch, height, width, channels), or "channels_first".
    """

    padding: object = (1, 1)
    data_format: DataFormat = None


class ZeroPadding3D(_ZeroPadding, rank=3):
    """Add zeros around volumes; see `ZeroPadding2D`."""

    padding: object = ((1, 1), (1, 1), (1, 1))
    data_format: DataFormat = None


class _Cropping(_EdgeLayer):
    def __post_init__(self):
        _set_pairs(self, "cropping")

    def call(self, inputs: TensorLike) -> Any:
        self.compute_output_shape(inputs.shape)
        kept = [slice(before, -after or None) for before, after in self._framework.pairs]
        return getitem(inputs, index=_all_axes(self, kept, slice(None)))

    def compute_output_shape(self, input_shape: ShapeLike) -> Any:
        old = spatial(input_shape, _format_of(self))
        new = [
            None if n is None else n - sum(p)
            for n, p in zip(old, self._framework.pairs, strict=True)
        ]
        if any(n is not None and n <= 0 for n in new):
            raise ShapeError(
                "Values in `cropping` argument should be smaller than the corresponding spatial "
                f"dimension of the input. Received: input_shape={tuple(input_shape)}, "
                f"cropping={self.cropping} (layer {self.name!r})."
            )
        return with_spatial(input_shape, new, _format_of(self))


class Cropping1D(_Cropping, rank=1):
    """Remove steps at both ends of sequences (batch, steps, channels).

    Args:
        cropping: the number of steps to remove at each end, or (before, after).

    >>> import numpy as np
    >>> Cropping1D((2, 1))(np.arange(6).reshape(1, 6, 1)).numpy().ravel()
    array([2, 3, 4])
    """

    cropping: object = (1, 1)


class Cropping2D(_Cropping, rank=2):
    """Remove the edges of images.

    Args:
        cropping: how many pixels per side; or (height, width); or ((top, bottom), (left, right)).
        data_format: "channels_last", (batch, height, width, channels), or "channels_first".
    """

    cropping: object = ((0, 0), (0, 0))
    data_format: DataFormat = None


class Cropping3D(_Cropping, rank=3):
    """Remove the edges of volumes; see `Cropping2D`."""

    cropping: object = ((1, 1), (1, 1), (1, 1))
    data_format: DataFormat = None


def _format_of(layer):
    has_one = "data_format" in fields_of(builtin(layer))
    return layer.data_format if has_one else "channels_last"


def _all_axes(layer, values, other):
    if _format_of(layer) == "channels_last":
        return (other, *values, other)
    return (other, other, *values)


def _set_pairs(layer, name):
    """Normalize the field `name` to pairs (before, after), and set the input spec."""
    value = getattr(layer, name)
    if type(layer)._framework.rank == 1:
        value = ints(value, 2, name, least=0)
        layer._framework.pairs = (value,)
    else:
        value = layer._framework.pairs = _pairs(value, type(layer)._framework.rank, name)
    setattr(layer, name, value)
    layer.input_spec = InputSpec(ndim=type(layer)._framework.rank + 2)
