"""Masking: the steps of a sequence that hold one value only are masked."""

from framework.core.doors import tensor
from framework.layers.base import Layer
from framework.ops.elementwise import not_equal, select
from framework.ops.movement import expand_axes
from framework.ops.reduction import reduce_any


class Masking(Layer, builds_at_init=True, makes_masks=True):
    """Masks steps in which all features equal `mask_value`, and sets them to 0.

    Layers that follow skip them: the mask goes with the outputs.

    Args:
        mask_value: a number.

    Shapes: `(batch, steps, features)` stays; the mask is `(batch, steps)`, True for steps in use.

    >>> import numpy as np
    >>> x = np.array([[[1.0, 2.0], [0.0, 0.0], [0.0, 3.0]]])
    >>> Masking().compute_mask(x).numpy()
    array([[ True, False,  True]])
    """

    mask_value: object = 0.0

    def compute_mask(self, inputs, mask=None):
        x = tensor(inputs)
        return reduce_any(not_equal(x, self.mask_value), axis=(x.ndim - 1,), keepdims=False)

    def call(self, inputs):
        mask = self.compute_mask(inputs)
        outputs = select(expand_axes(mask, (mask.ndim,)), inputs, 0)
        outputs._keras_mask = mask
        return outputs
