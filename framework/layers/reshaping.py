"""Layers that move elements: Flatten, Reshape, Permute, RepeatVector."""

import math
from collections.abc import Sequence
from typing import Annotated, Any

from framework.core.argument_types import TensorLike
from framework.core.configurable import Resolved
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.tensor import Tensor
from framework.layers.arguments import DataFormat
from framework.layers.base import Layer
from framework.layers.core import PositiveInt
from framework.layers.input_spec import InputSpec
from framework.ops.movement import concat, expand_axes, reshape, transpose

__all__ = ["Flatten", "Permute", "RepeatVector", "Reshape"]


def _known_product(sizes):
    return None if None in sizes else math.prod(sizes)


class Flatten(Layer):
    """Flatten all axes except the batch.

    Args:
        data_format: for "channels_first" inputs, the channels are moved last before flattening.

    Shapes: `(batch, a, b, ...)` gives `(batch, a * b * ...)`, `(batch,)` gives `(batch, 1)`.

    >>> import numpy as np
    >>> Flatten()(np.ones((2, 3, 4))).shape
    TensorShape([2, 12])
    """

    data_format: DataFormat = None

    def __post_init__(self):
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: TensorLike) -> Any:
        rank = inputs.ndim
        if self.data_format == "channels_first" and rank > 2:
            inputs = transpose(inputs, perm=(0, *range(2, rank), 1))
        shape = inputs.array.shape if type(inputs) is Tensor else inputs.shape
        if rank == 2:
            return inputs
        return reshape(inputs, shape=(shape[0], _known_product(shape[1:])))


def _target(value):
    value = tuple(value)
    if value.count(-1) > 1 or any(n is None or n < -1 for n in value):
        raise InvalidArgumentError("expected a tuple of sizes, at most one of them -1")
    return value


class Reshape(Layer, builds_at_init=True):
    """Reshape each sample.

    Args:
        target_shape: a shape without the batch; one size may be -1, which is inferred.

    >>> import numpy as np
    >>> Reshape((3, -1))(np.ones((2, 12))).shape
    TensorShape([2, 3, 4])
    """

    target_shape: Annotated[Sequence[int | None], Resolved("a shape", _target)]

    def call(self, inputs: TensorLike) -> Any:
        shape = tuple(inputs.shape)
        return reshape(inputs, shape=(shape[0], *_sizes(self, shape)))


def _dims(value):
    value = tuple(value)
    if sorted(value) != list(range(1, len(value) + 1)):
        raise InvalidArgumentError(
            f"expected a permutation of 1 to {len(value)} (without 0, the batch axis)"
        )
    return value


class Permute(Layer):
    """Permute the axes of each sample.

    Args:
        dims: a permutation of 1, 2, ..., without the batch axis.
    """

    dims: Annotated[Sequence[int], Resolved("a permutation", _dims)]

    def __post_init__(self):
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def call(self, inputs: TensorLike) -> Any:
        return transpose(inputs, perm=(0, *self.dims))


class RepeatVector(Layer):
    """Repeat each row `n` times: `(batch, size)` gives `(batch, n, size)`."""

    n: PositiveInt

    def __post_init__(self):
        self.input_spec = InputSpec(ndim=2)

    def call(self, inputs: TensorLike) -> Any:
        return concat(*[expand_axes(inputs, (1,))] * self.n, axis=1)


def _sizes(layer, shape):
    total, target = _known_product(shape[1:]), layer.target_shape
    if total is None:
        return tuple(None if n == -1 else n for n in target)
    known = math.prod(n for n in target if n != -1)
    if (known and total % known) if -1 in target else total != known:
        raise ShapeError(
            "The total size of the tensor must be unchanged. Received: "
            f"input_shape={shape[1:]}, target_shape={target} (layer {layer.name!r})."
        )
    return tuple((total // known if known else 0) if n == -1 else n for n in target)
