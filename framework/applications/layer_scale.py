"""LayerScale: a trained factor per channel, small at first (Touvron et al. 2021)."""

from typing import Any

from framework.core.argument_types import ShapeLike, TensorLike
from framework.initializers import Constant
from framework.layers.base import Layer


class LayerScale(Layer):
    """Multiplies each channel by a weight (arXiv:2103.17239, equation 4).

    Args:
        init_values: the first value of the weights.
        projection_dim: the number of channels.

    >>> import numpy as np
    >>> LayerScale(0.5, 2)(np.array([[2.0, 4.0]])).numpy()
    array([[1., 2.]], dtype=float32)
    """

    init_values: float
    projection_dim: int

    def build(self, input_shape: ShapeLike) -> None:
        self.gamma = self.add_weight(
            shape=(self.projection_dim,), initializer=Constant(self.init_values), name="gamma"
        )

    def call(self, x: TensorLike) -> Any:
        return x * self.gamma
