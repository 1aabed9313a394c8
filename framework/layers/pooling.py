"""Pooling: the maximum or mean of sliding windows, or of whole axes."""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.cast import cast
from framework.core.configurable import Resolved
from framework.core.errors import InvalidArgumentError
from framework.layers.arguments import DataFormat
from framework.layers.base import Layer
from framework.layers.input_spec import InputSpec
from framework.ops import pool, windowed
from framework.ops.elementwise import select
from framework.ops.movement import expand_axes
from framework.ops.reduction import reduce_max, reduce_mean, reduce_sum

__all__ = [
    "AdaptiveAveragePooling1D", "AdaptiveAveragePooling2D", "AdaptiveAveragePooling3D",
    "AdaptiveMaxPooling1D", "AdaptiveMaxPooling2D", "AdaptiveMaxPooling3D", "AveragePooling1D",
    "AveragePooling2D", "AveragePooling3D", "GlobalAveragePooling1D", "GlobalAveragePooling2D",
    "GlobalAveragePooling3D", "GlobalMaxPooling1D", "GlobalMaxPooling2D", "GlobalMaxPooling3D",
    "MaxPooling1D", "MaxPooling2D", "MaxPooling3D",
]  # fmt: skip


def _sizes(value):
    values = value if isinstance(value, (tuple, list)) else (value,)
    if not values or any(
        isinstance(n, bool) or not hasattr(n, "__index__") or n < 1 for n in values
    ):
        raise InvalidArgumentError("expected a positive integer, or one for each spatial axis")
    return tuple(int(n) for n in values) if isinstance(value, (tuple, list)) else int(value)


def _sizes_or_none(value):
    return None if value is None else _sizes(value)


def _padding(value):
    if not isinstance(value, str) or value.lower() not in ("valid", "same"):
        raise InvalidArgumentError("expected 'valid' or 'same'")
    return value.lower()


_Sizes = Annotated[int | Sequence[int], Resolved("positive integers", _sizes)]
_Strides = Annotated[
    int | Sequence[int] | None, Resolved("positive integers, or None", _sizes_or_none)
]
_Padding = Annotated[str, Resolved("'valid' or 'same'", _padding)]


def _per_axis(value, axes, layer, name):
    values = value if isinstance(value, tuple) else (value,) * axes
    if len(values) != axes:
        raise InvalidArgumentError(
            f"{type(layer).__name__}: argument {name}={value!r}: expected a positive integer or "
            f"{axes} of them, one for each spatial axis."
        )
    return values


# ---- sliding windows -----------------------------------------------------------------------------


class _Pooling(Layer, builds_at_init=True, axes=1):
    def __post_init__(self):
        strides = self.pool_size if self.strides is None else self.strides
        self.pool_size = _per_axis(self.pool_size, type(self)._framework.axes, self, "pool_size")
        self.strides = _per_axis(strides, type(self)._framework.axes, self, "strides")
        self.input_spec = InputSpec(ndim=type(self)._framework.axes + 2)

    def call(self, inputs: TensorLike) -> Any:
        return windowed.slide(
            type(self)._framework.pool, inputs, size=self.pool_size, strides=self.strides,
            padding=self.padding, first=self.data_format == "channels_first",
            what=f"{type(self).__name__} layer {self.name!r}",
        )  # fmt: skip


class _Max(_Pooling, pool=pool.max_pool):
    """The base class of max pooling, which returns the largest element of each window."""


class _Average(_Pooling, pool=pool.mean_pool):
    """The base class of average pooling, which returns the mean of each window."""

    def call(self, inputs: TensorLike) -> Any:
        return super().call(windowed.floating(inputs))


class MaxPooling1D(_Max):
    """The maximum of a window that slides over one spatial axis.

    Args:
        pool_size: the size of the window.
        strides: the step of the window; `pool_size` if None.
        padding: "valid", or "same" for ceil(size / strides) outputs.
        data_format: "channels_last" or "channels_first".

    Shapes: `(batch, steps, channels)` gives `(batch, new_steps, channels)`.

    >>> import numpy as np
    >>> MaxPooling1D()(np.array([[[1.0], [3.0], [2.0], [0.0]]])).numpy().ravel()
    array([3., 2.], dtype=float32)
    """

    pool_size: _Sizes = 2
    strides: _Strides = None
    padding: _Padding = "valid"
    data_format: DataFormat = None


class MaxPooling2D(_Max, axes=2):
    """The maximum of a window that slides over two spatial axes.

    Args:
        pool_size: an int, or (height, width).
        strides: the step of the window; `pool_size` if None.
        padding: "valid", or "same" for ceil(size / strides) outputs.
        data_format: "channels_last" or "channels_first".

    Shapes: `(batch, rows, columns, channels)` gives `(batch, new_rows, new_columns, channels)`.

    >>> import numpy as np
    >>> MaxPooling2D()(np.ones((1, 28, 28, 3))).shape
    TensorShape([1, 14, 14, 3])
    """

    pool_size: _Sizes = (2, 2)
    strides: _Strides = None
    padding: _Padding = "valid"
    data_format: DataFormat = None


class MaxPooling3D(_Max, axes=3):
    """The maximum of a window that slides over three spatial axes; see `MaxPooling2D`."""

    pool_size: _Sizes = (2, 2, 2)
    strides: _Strides = None
    padding: _Padding = "valid"
    data_format: DataFormat = None


class AveragePooling1D(_Average):
    """The mean of a sliding window, ignoring padding; arguments as in `MaxPooling1D`."""

    pool_size: _Sizes
    strides: _Strides = None
    padding: _Padding = "valid"
    data_format: DataFormat = None


class AveragePooling2D(_Average, axes=2):
    """The mean of a sliding window, ignoring padding; arguments as in `MaxPooling2D`."""

    pool_size: _Sizes
    strides: _Strides = None
    padding: _Padding = "valid"
    data_format: DataFormat = None


class AveragePooling3D(_Average, axes=3):
    """The mean of a sliding window, ignoring padding; arguments as in `MaxPooling2D`."""

    pool_size: _Sizes
    strides: _Strides = None
    padding: _Padding = "valid"
    data_format: DataFormat = None


# ---- whole axes ----------------------------------------------------------------------------------


class _GlobalPooling(Layer, builds_at_init=True, axes=1):
    data_format: DataFormat = None
    keepdims: bool = False

    def __post_init__(self):
        self.input_spec = InputSpec(ndim=type(self)._framework.axes + 2)

    def call(self, inputs: TensorLike) -> Any:
        return type(self)._framework.reduce(inputs, axis=_spatial(self), keepdims=self.keepdims)


def _mean(x, axis, keepdims):
    return reduce_mean(windowed.floating(x), axis=axis, keepdims=keepdims)


class GlobalMaxPooling1D(_GlobalPooling, reduce=reduce_max):
    """The maximum over the steps: `(batch, steps, channels)` gives `(batch, channels)`.

    Args:
        data_format: "channels_last" or "channels_first".
        keepdims: whether to keep the axis of steps, with size 1.
    """


class GlobalMaxPooling2D(_GlobalPooling, axes=2, reduce=reduce_max):
    """The maximum over both spatial axes; arguments as in `GlobalMaxPooling1D`."""


class GlobalMaxPooling3D(_GlobalPooling, axes=3, reduce=reduce_max):
    """The maximum over all three spatial axes; arguments as in `GlobalMaxPooling1D`."""


class GlobalAveragePooling1D(_GlobalPooling, makes_masks=False):
    """The mean over the unmasked steps: `(batch, steps, channels)` gives `(batch, channels)`.

    Args:
        data_format: "channels_last" or "channels_first".
        keepdims: whether to keep the axis of steps, with size 1.

    >>> import numpy as np
    >>> x = np.array([[[1.0], [3.0], [9.0]]])
    >>> GlobalAveragePooling1D()(x, mask=np.array([[True, True, False]])).numpy()
    array([[2.]], dtype=float32)
    """

    supports_masking = True

    def call(self, inputs: TensorLike, mask: TensorLike = None) -> Any:
        inputs, axis = windowed.floating(inputs), _spatial(self)
        if mask is None:
            return reduce_mean(inputs, axis=axis, keepdims=self.keepdims)
        mask = expand_axes(mask, (1 if self.data_format == "channels_first" else 2,))
        if mask.dtype != "bool":
            mask = cast(mask, dtype=np.dtype(bool))
        total = reduce_sum(select(mask, inputs, 0.0), axis=axis, keepdims=self.keepdims)
        count = cast(mask, dtype=inputs.dtype.np)
        return total / reduce_sum(count, axis=axis, keepdims=self.keepdims)

    def compute_mask(self, inputs: TensorLike, mask: Any = None):
        return None


class GlobalAveragePooling2D(_GlobalPooling, axes=2, reduce=_mean):
    """The mean over both spatial axes; arguments as in `GlobalMaxPooling2D`.

    >>> import numpy as np
    >>> GlobalAveragePooling2D()(np.ones((2, 7, 7, 16))).shape
    TensorShape([2, 16])
    """


class GlobalAveragePooling3D(_GlobalPooling, axes=3, reduce=_mean):
    """The mean over all three spatial axes; arguments as in `GlobalMaxPooling3D`."""


# ---- adaptive windows: the output size is given --------------------------------------------------


class _AdaptivePooling(Layer, axes=1):
    output_size: _Sizes
    data_format: DataFormat = None

    def __post_init__(self):
        self.output_size = _per_axis(
            self.output_size, type(self)._framework.axes, self, "output_size"
        )
        self.input_spec = InputSpec(ndim=type(self)._framework.axes + 2)

    def call(self, inputs: TensorLike) -> Any:
        return type(self)._framework.pool(
            inputs, sizes=self.output_size, first=self.data_format == "channels_first",
            what=f"{type(self).__name__} layer {self.name!r}",
        )  # fmt: skip


class _AdaptiveMax(_AdaptivePooling, pool=windowed.adaptive_max):
    """The base class of adaptive max pooling layers."""


class _AdaptiveAverage(_AdaptivePooling, pool=windowed.adaptive_mean):
    """The base class of adaptive average pooling layers."""


class AdaptiveMaxPooling1D(_AdaptiveMax):
    """The maximum of windows chosen so that there are `output_size` outputs."""


class AdaptiveMaxPooling2D(_AdaptiveMax, axes=2):
    """The maximum of windows chosen so that the outputs have the size (height, width).

    >>> import numpy as np
    >>> AdaptiveMaxPooling2D((2, 3))(np.ones((1, 7, 7, 4))).shape
    TensorShape([1, 2, 3, 4])
    """


class AdaptiveMaxPooling3D(_AdaptiveMax, axes=3):
    """The maximum of windows chosen so that outputs have the size (depth, height, width)."""


class AdaptiveAveragePooling1D(_AdaptiveAverage):
    """The mean of windows chosen so that there are `output_size` outputs."""


class AdaptiveAveragePooling2D(_AdaptiveAverage, axes=2):
    """The mean of windows chosen so that the outputs have the size (height, width)."""


class AdaptiveAveragePooling3D(_AdaptiveAverage, axes=3):
    """The mean of windows chosen so that outputs have the size (depth, height, width)."""


def _spatial(layer):
    first = 2 if layer.data_format == "channels_first" else 1
    return tuple(range(first, first + type(layer)._framework.axes))
