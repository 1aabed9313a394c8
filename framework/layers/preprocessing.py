"""Rescaling and Normalization: shift and scale input data."""

import itertools
import math
from typing import Annotated, Any

import numpy as np

from framework.core.argument_types import ShapeLike, TensorLike
from framework.core.axes import one_axis
from framework.core.cast import cast
from framework.core.configurable import Resolved, serialize_value
from framework.core.dtypes import epsilon
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable
from framework.layers.base import Layer
from framework.layers.categorical import whole_of
from framework.ops.elementwise import maximum, sqrt
from framework.ops.movement import reshape

__all__ = ["Normalization", "Rescaling"]


def _numbers(value):
    return value if isinstance(value, (int, float, dict)) else np.asarray(value).tolist()


Numbers = Annotated[
    Any, Resolved("a number or a list of numbers", _numbers, serialize=serialize_value)
]


class Rescaling(Layer, takes_lists=True):
    """`inputs * scale + offset`, as floats.

    >>> import numpy as np
    >>> Rescaling(1 / 255)(np.array([[0, 255]], "uint8")).numpy()
    array([[0., 1.]], dtype=float32)
    """

    scale: Numbers
    offset: Numbers = 0.0
    supports_masking = True

    def call(self, inputs: TensorLike) -> Any:
        dtype = self.compute_dtype
        if inputs.dtype != dtype:
            inputs = cast(inputs, dtype=dtype.np)
        return inputs * np.asarray(self.scale, dtype.np) + np.asarray(self.offset, dtype.np)


def _kept_axes(value):
    if value is None:
        return ()
    return tuple(value) if isinstance(value, (tuple, list)) else (int(value),)


def _moments(layer, batches):
    """Return mean and variance of all batches in float64, merged as in Chan et al. (1983)."""
    count, mean, variance = 0, 0.0, 0.0
    for batch in batches:
        _check_batch(layer, batch.shape)
        n = math.prod(batch.shape[a] for a in layer._reduce_axis)
        values = batch.astype(np.float64)
        batch_mean = np.mean(values, axis=layer._reduce_axis)
        weight = n / max(count + n, 1)
        shift = batch_mean - mean
        spread = np.var(values, axis=layer._reduce_axis) + shift * shift * (1 - weight)
        mean = mean + shift * weight
        variance = variance * (1 - weight) + spread * weight
        count += n
    return np.asarray(mean), np.asarray(variance)


class Normalization(Layer, takes_lists=True):
    """`(inputs - mean) / sqrt(variance)`, with the mean and variance of a data set.

    Args:
        axis: the axis or axes with one mean and variance per index; None: one for all elements.
        mean, variance: fixed values; if None, `adapt(data)` computes them.
        invert: whether to compute the inverse, `inputs * sqrt(variance) + mean`.

    >>> import numpy as np
    >>> layer = Normalization()
    >>> layer.adapt(np.array([[1.0], [3.0]]))
    >>> layer(np.array([[1.0], [3.0]])).numpy().ravel()
    array([-1.,  1.], dtype=float32)
    """

    axis: Annotated[Any, Resolved("an int, ints or None", _kept_axes)] = -1
    mean: object = None
    variance: object = None
    invert: bool = False
    supports_masking = True

    def __post_init__(self):
        self.input_mean, self.input_variance = self.mean, self.variance
        self.mean = self.variance = self._build_input_shape = None
        shapes = [np.shape(v) for v in (self.input_mean, self.input_variance) if v is not None]
        if len(shapes) == 1:
            raise InvalidArgumentError(
                "Normalization: mean and variance must be given both or not at all, got "
                f"mean={self.input_mean}, variance={self.input_variance}."
            )
        if shapes and (shapes[0] != shapes[1] or len(shapes[0]) > len(self.axis)):
            raise InvalidArgumentError(
                "Normalization: mean and variance must have the same shape, with no more axes than "
                f"axis={self.axis} names; got the shapes {shapes[0]} and {shapes[1]}."
            )

    def build(self, input_shape: ShapeLike) -> None:
        rank = len(input_shape)
        self._build_input_shape = tuple(input_shape)
        kept = tuple(sorted(one_axis(a, rank, f"Normalization layer {self.name!r}")
                            for a in self.axis))  # fmt: skip
        if any(input_shape[a] is None for a in kept):
            raise ShapeError(
                f"Normalization layer {self.name!r}: the sizes along axis={self.axis} must be "
                f"known, got inputs of shape {tuple(input_shape)}."
            )
        self._keep_axis = kept
        self._reduce_axis = tuple(i for i in range(rank) if i not in kept)
        self._broadcast_shape = tuple(n if i in kept else 1 for i, n in enumerate(input_shape))
        if self.input_mean is None:
            shape = tuple(input_shape[a] for a in kept)
            self.adapt_mean = self.add_weight(shape, "zeros", name="mean", trainable=False)
            self.adapt_variance = self.add_weight(shape, "ones", name="variance", trainable=False)
            self.count = self.add_weight((), "zeros", "int32", name="count", trainable=False)
            self.finalize_state()
        else:
            fixed = self.input_mean, self.input_variance
            self.mean, self.variance = (_broadcastable(self, value) for value in fixed)

    def adapt(self, data: TensorLike) -> None:
        """Compute mean and variance from data; they replace those of an earlier `adapt`.

        Args:
            data: an array, a table, or batches: a Dataset, a PyDataset or any iterable of arrays,
                or of tuples whose first item is an array.
        """
        data = whole_of(data)
        if isinstance(data, (np.ndarray, Tensor)):
            batches = iter([np.asarray(data)])
        elif hasattr(data, "__iter__") or hasattr(data, "__getitem__"):
            batches = map(_inputs_of, _batches(data))
        else:
            raise TypeError(
                "Normalization.adapt: `data` must be an array, a tensor, a Dataset, a PyDataset or "
                f"an iterable of batches, got {type(data).__name__}."
            )
        first = next(batches, None)
        if first is None:
            raise InvalidArgumentError("Normalization.adapt: `data` has no batches.")
        if not self.built:
            self.build(first.shape)
        if self.input_mean is not None:
            raise InvalidArgumentError(
                f"Normalization layer {self.name!r} was constructed with mean and variance: "
                "adapt() cannot change them. Leave them out to use adapt()."
            )
        mean, variance = _moments(self, itertools.chain([first], batches))
        self.adapt_mean.assign(mean.astype(self.adapt_mean.dtype.np))
        self.adapt_variance.assign(variance.astype(self.adapt_variance.dtype.np))
        self.finalize_state()

    def finalize_state(self):
        """Set `mean` and `variance` from the statistics that `adapt` stored in the weights."""
        if self.input_mean is None and self._build_input_shape is not None:
            adapted = self.adapt_mean, self.adapt_variance
            self.mean, self.variance = (_shaped(self, value) for value in adapted)

    def call(self, inputs: TensorLike) -> Any:
        dtype = self.compute_dtype
        if inputs.dtype != dtype:
            inputs = cast(inputs, dtype=dtype.np)
        mean, variance = self.mean, self.variance
        # each call reads the variables, because adapt() may change them
        if self.input_mean is None:
            shape = self._broadcast_shape
            mean = reshape(self.adapt_mean.read(), shape=shape)
            variance = reshape(self.adapt_variance.read(), shape=shape)
        deviation = maximum(sqrt(variance), epsilon())
        return inputs * deviation + mean if self.invert else (inputs - mean) / deviation

    def convert_weight(self, weight: Any):
        """Return the value of a variable as a tensor, and any other value unchanged."""
        return weight.read() if isinstance(weight, CoreVariable) else weight

    def compute_output_shape(self, input_shape: ShapeLike) -> Any:
        """Return the input shape."""
        return tuple(input_shape)

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        return {
            **config,
            "axis": self.axis,
            "mean": np.asarray(self.input_mean).tolist(),
            "variance": np.asarray(self.input_variance).tolist(),
        }

    def get_build_config(self):
        """Return the input shape, from which `build_from_config` creates the weights again."""
        shape = self._build_input_shape
        return None if shape is None else {"input_shape": shape}


def _batches(data):
    """Return an iterator over batches; a Dataset of single rows is batched first."""
    spec = getattr(data, "element_spec", None)
    if spec is not None:
        first = spec[0] if isinstance(spec, tuple) else spec
        if len(first.shape) == 1:
            data = data.batch(128)
    if hasattr(data, "__iter__"):
        return iter(data)
    return (data[i] for i in range(len(data)))


def _inputs_of(batch):
    batch = batch[0] if isinstance(batch, tuple) else batch
    if not hasattr(batch, "shape"):
        raise TypeError(
            "Normalization.adapt: expected an iterable of arrays or tensors, got "
            f"{type(batch).__name__}."
        )
    return np.asarray(batch)


def _check_batch(layer, shape):
    built = layer._build_input_shape
    if len(shape) != len(built) or any(shape[a] != built[a] for a in layer._keep_axis):
        raise ShapeError(
            f"Normalization layer {layer.name!r} was built for inputs of shape {built}; adapt() "
            f"got data of shape {tuple(shape)}."
        )


def _shaped(layer, statistic):
    value = np.reshape(statistic.array, layer._broadcast_shape)
    return Tensor(value.astype(layer.compute_dtype.np))


def _broadcastable(layer, value):
    """Return a mean or variance that the user passed, in a shape that broadcasts to the inputs."""
    value = np.asarray(value, layer.compute_dtype.np)
    shape = [1] * len(layer._broadcast_shape)
    for axis, size in zip(layer._keep_axis[::-1], value.shape[::-1]):
        shape[axis] = size
    return Tensor(np.broadcast_to(value.reshape(shape), layer._broadcast_shape).copy())
