"""Masking: mask the steps of a sequence whose features all equal one value."""

from typing import Any

from framework.core.argument_types import TensorLike
from framework.core.conversion import tensor
from framework.layers.base import Layer
from framework.ops.elementwise import not_equal, select
from framework.ops.movement import expand_axes
from framework.ops.reduction import reduce_any

__all__ = ["Masking"]


class Masking(Layer, builds_at_init=True, makes_masks=True):
    """Mask steps in which all features equal `mask_value`, and set them to 0.

    Later layers skip these steps: the outputs carry the mask.

    Args:
        mask_value: a number.

    Shapes: `(batch, steps, features)` does not change; the mask is `(batch, steps)`, True for
    steps in use.

    >>> import numpy as np
    >>> x = np.array([[[1.0, 2.0], [0.0, 0.0], [0.0, 3.0]]])
    >>> Masking().compute_mask(x).numpy()
    array([[ True, False,  True]])
    """

    mask_value: object = 0.0

    def compute_mask(self, inputs: TensorLike, mask: TensorLike = None):
        x = tensor(inputs)
        return reduce_any(not_equal(x, self.mask_value), axis=(x.ndim - 1,), keepdims=False)

    def call(self, inputs: TensorLike) -> Any:
        mask = self.compute_mask(inputs)
        outputs = select(expand_axes(mask, (mask.ndim,)), inputs, 0)
        outputs._keras_mask = mask
        return outputs
