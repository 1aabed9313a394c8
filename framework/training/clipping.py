"""Clip: the clipping of one step, before whatever the optimizer does itself."""

import numpy as np

from framework.core.errors import InvalidArgumentError
from framework.core.recorders import replaying, thread
from framework.core.tensor import Tensor
from framework.ops.slices import coalesced, sliced
from framework.optimizers import clipping as formulas


class Clip:
    """Gradient clipping, the optimizers' own formulas.

    Args:
        clipnorm: each gradient is scaled down to at most this L2 norm.
        clipvalue: each gradient's elements are clipped to [-clipvalue, clipvalue].
        global_clipnorm: all gradients together are scaled down to at most this L2 norm.

    Raises:
        ValueError: more than one is given, or one is no number > 0.
    """

    def __init__(self, clipnorm=None, clipvalue=None, global_clipnorm=None):
        given = {
            "clipnorm": clipnorm, "clipvalue": clipvalue, "global_clipnorm": global_clipnorm,
        }  # fmt: skip
        given = {name: value for name, value in given.items() if value is not None}
        for name, value in given.items():
            if isinstance(value, (str, bool)) or not hasattr(value, "__float__") or not value > 0:
                raise InvalidArgumentError(
                    f"training_step: {name} must be a number > 0 or None, got {value!r}."
                )
        if len(given) > 1:
            raise InvalidArgumentError(
                f"training_step: only one of {' and '.join(given)} can be given."
            )
        self.kind, self.limit = next(iter(given.items()), (None, None))

    def __bool__(self):
        return self.kind is not None

    def __call__(self, gradients):
        """The clipped gradients; None stays None."""
        # As arrays it is faster; a replay computes it by ops.
        form = _tensor if thread.stack and replaying() else _array
        arrays = [None if g is None else form(g) for g in gradients]
        if self.kind == "global_clipnorm":
            clipped = iter(
                formulas.by_global_norm([a for a in arrays if a is not None], self.limit)
            )
            arrays = [None if a is None else next(clipped) for a in arrays]
        else:
            clip = formulas.by_norm if self.kind == "clipnorm" else formulas.by_value
            arrays = [None if a is None else clip(a, self.limit) for a in arrays]
        return [
            None if g is None else _like(g, a if type(a) is Tensor else Tensor(np.asarray(a)))
            for g, a in zip(gradients, arrays, strict=True)
        ]


def _tensor(gradient):
    """The numbers of a gradient: of IndexedSlices one row for each index."""
    return coalesced(gradient).values if hasattr(gradient, "_as_tensor") else gradient


def _array(gradient):
    gradient = _tensor(gradient)
    return gradient.array if isinstance(gradient, Tensor) else gradient


def _like(gradient, clipped):
    if not hasattr(gradient, "_as_tensor"):
        return clipped
    slices = coalesced(gradient)
    return sliced(clipped, slices.indices, slices.dense_shape)
