"""SpectralNormalization: divide a layer's kernel by its largest singular value."""

import math
from typing import Annotated, Any

from framework.core.argument_types import ShapeLike, TensorLike
from framework.core.cast import cast
from framework.core.configurable import Resolved
from framework.core.errors import InvalidArgumentError
from framework.initializers import TruncatedNormal
from framework.layers.input_spec import InputSpec
from framework.layers.nested import LayerField
from framework.layers.recurrent.time_distributed import Wrapper
from framework.ops.contraction import matmul
from framework.ops.elementwise import equal, select, sqrt, square
from framework.ops.movement import reshape, transpose
from framework.ops.reduction import reduce_all, reduce_sum

__all__ = ["SpectralNormalization"]


def _positive(value):
    if isinstance(value, bool) or not hasattr(value, "__index__") or value < 1:
        raise InvalidArgumentError("power_iterations should be greater than zero")
    return int(value)


class SpectralNormalization(Wrapper):
    """Divide a layer's kernel by its largest singular value at each call in training.

    Power iteration estimates the value (Miyato et al. 2018, arXiv:1802.05957). A kernel of zeros
    does not change.

    Args:
        layer: a layer with a `kernel` or `embeddings`.
        power_iterations: the number of iterations per call.

    >>> import numpy as np
    >>> from framework import keras
    >>> SpectralNormalization(keras.layers.Dense(4))(np.ones((2, 3)), training=True).shape
    TensorShape([2, 4])
    """

    layer: LayerField
    power_iterations: Annotated[int, Resolved("a positive integer", _positive)] = 1

    def build(self, input_shape: ShapeLike) -> None:
        super().build(input_shape)
        self.input_spec = InputSpec(min_ndim=1, axes={-1: input_shape[-1]})
        self.kernel = getattr(self.layer, "kernel", getattr(self.layer, "embeddings", None))
        if self.kernel is None:
            raise InvalidArgumentError(
                f"SpectralNormalization layer {self.name!r}: {type(self.layer).__name__} object "
                "has no attribute 'kernel' nor 'embeddings'."
            )
        self.vector_u = self.add_weight(
            (1, self.kernel.shape[-1]), TruncatedNormal(stddev=0.02), trainable=False,
            name="vector_u", dtype=self.kernel.dtype,
        )  # fmt: skip

    def call(self, inputs: TensorLike, training: bool = False) -> Any:
        if training:
            vector, kernel = self.normalized_weights()
            self.vector_u.assign(vector)
            self.kernel.assign(kernel)
        output = self.layer(inputs)
        if inputs.dtype.is_floating and output.dtype != inputs.dtype:
            output = cast(output, dtype=inputs.dtype.np)
        return output

    def normalized_weights(self):
        """Return power iteration's next vector, and the kernel divided by the singular value."""
        whole, u = self.kernel._as_operand(), self.vector_u._as_operand()
        shape = tuple(whole.shape)
        weights = reshape(whole, shape=(math.prod(shape[:-1]), shape[-1]))
        v = before = u
        for _ in range(self.power_iterations):
            v = _unit(matmul(u, transpose(weights, perm=(1, 0))))
            u = _unit(matmul(v, weights))
        sigma = matmul(matmul(v, weights), transpose(u, perm=(1, 0)))
        zero = reduce_all(equal(whole, 0), axis=tuple(range(len(shape))), keepdims=False)
        sigma = select(zero, 1, reshape(sigma, shape=()))
        return select(zero, before, u), whole / sigma


def _unit(x):
    """Return `x` divided by its L2 norm; zeros do not change."""
    length = sqrt(reduce_sum(square(x), axis=(0, 1), keepdims=False))
    return x / select(equal(length, 0), 1, length)
