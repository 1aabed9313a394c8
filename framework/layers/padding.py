"""Layers that widen spatial axes by zeros, or cut their ends off."""

from framework.core.errors import InvalidArgumentError, ShapeError
from framework.layers.base import Layer
from framework.layers.spec import InputSpec
from framework.layers.windowed import DataFormat, ints, spatial, with_spatial
from framework.ops.movement import getitem, pad


def _pairs(value, n, name):
    """A pair of ints for each of `n` axes, from an int, n ints, or n pairs."""
    if hasattr(value, "__index__") and not isinstance(value, bool):
        value = (value,) * n
    if not hasattr(value, "__len__") or len(value) != n:
        raise InvalidArgumentError(
            f"`{name}` should be either an int, a tuple of {n} ints (of both ends of each axis), "
            f"or a tuple of {n} tuples of 2 ints. Received: {name}={value}."
        )
    nth = ("1st", "2nd", "3rd")
    return tuple(ints(v, 2, f"{nth[i]} entry of {name}", least=0) for i, v in enumerate(value))


class _Ends(Layer, builds_at_init=True):
    """Base of layers that change the ends of axes; `_pairs` has (before, after) of each axis."""

    _rank = 0
    data_format = "channels_last"

    def _start(self, name):
        """Bring the field `name` into its own form."""
        value = getattr(self, name)
        if self._rank == 1:
            value = ints(value, 2, name, least=0)
            self._pairs = (value,)
        else:
            value = self._pairs = _pairs(value, self._rank, name)
        setattr(self, name, value)
        self.input_spec = InputSpec(ndim=self._rank + 2)

    def _all_axes(self, values, other):
        if self.data_format == "channels_last":
            return (other, *values, other)
        return (other, other, *values)


class _ZeroPadding(_Ends):
    def __post_init__(self):
        self._start("padding")

    def call(self, inputs):
        return pad(inputs, widths=self._all_axes(self._pairs, (0, 0)))

    def compute_output_shape(self, input_shape):
        old = spatial(input_shape, self.data_format)
        new = [None if n is None else n + sum(p) for n, p in zip(old, self._pairs, strict=True)]
        return with_spatial(input_shape, new, self.data_format)


class ZeroPadding1D(_ZeroPadding):
    """Zeros before and after the steps of sequences.

    Args:
        padding: how many at both ends, or (before, after).
        data_format: "channels_last", (batch, steps, channels), or "channels_first".

    >>> import numpy as np
    >>> ZeroPadding1D(2)(np.ones((1, 3, 1))).numpy().ravel()
    array([0., 0., 1., 1., 1., 0., 0.], dtype=float32)
    """

    padding: object = 1
    data_format: DataFormat = None
    _rank = 1


class ZeroPadding2D(_ZeroPadding):
    """Zeros around images.

    Args:
        padding: how many on each side; or (height, width); or ((top, bottom), (left, right)).
        data_format: "channels_last", (batch, height, width, channels), or "channels_first".
    """

    padding: object = (1, 1)
    data_format: DataFormat = None
    _rank = 2


class ZeroPadding3D(_ZeroPadding):
    """Zeros around volumes; see `ZeroPadding2D`."""

    padding: object = ((1, 1), (1, 1), (1, 1))
    data_format: DataFormat = None
    _rank = 3


class _Cropping(_Ends):
    def __post_init__(self):
        self._start("cropping")

    def call(self, inputs):
        self.compute_output_shape(inputs.shape)
        kept = [slice(before, -after or None) for before, after in self._pairs]
        return getitem(inputs, index=self._all_axes(kept, slice(None)))

    def compute_output_shape(self, input_shape):
        old = spatial(input_shape, self.data_format)
        new = [None if n is None else n - sum(p) for n, p in zip(old, self._pairs, strict=True)]
        if any(n is not None and n <= 0 for n in new):
            raise ShapeError(
                "Values in `cropping` argument should be smaller than the corresponding spatial "
                f"dimension of the input. Received: input_shape={tuple(input_shape)}, "
                f"cropping={self.cropping} (layer {self.name!r})."
            )
        return with_spatial(input_shape, new, self.data_format)


class Cropping1D(_Cropping):
    """Cuts steps off the ends of sequences (batch, steps, channels).

    Args:
        cropping: how many at both ends, or (before, after).

    >>> import numpy as np
    >>> Cropping1D((2, 1))(np.arange(6).reshape(1, 6, 1)).numpy().ravel()
    array([2, 3, 4])
    """

    cropping: object = (1, 1)
    _rank = 1


class Cropping2D(_Cropping):
    """Cuts the edges off images.

    Args:
        cropping: how many on each side; or (height, width); or ((top, bottom), (left, right)).
        data_format: "channels_last", (batch, height, width, channels), or "channels_first".
    """

    cropping: object = ((0, 0), (0, 0))
    data_format: DataFormat = None
    _rank = 2


class Cropping3D(_Cropping):
    """Cuts the edges off volumes; see `Cropping2D`."""

    cropping: object = ((1, 1), (1, 1), (1, 1))
    data_format: DataFormat = None
    _rank = 3
