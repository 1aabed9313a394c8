"""Clip: gradient clipping by a `TrainingStep`, before the optimizer's own clipping."""

import numpy as np

from framework.core.errors import InvalidArgumentError
from framework.core.recorders import replaying, thread
from framework.core.tensor import Tensor
from framework.ops.slices import coalesced, sliced
from framework.optimizers import clipping as formulas


class Clip:
    """Gradient clipping with the optimizers' formulas.

    Args:
        clipnorm: scale each gradient to an L2 norm of at most this.
        clipvalue: clip each gradient's elements to [-clipvalue, clipvalue].
        global_clipnorm: scale all gradients to a joint L2 norm of at most this.

    Raises:
        ValueError: more than one argument is given, or one is not a number > 0.
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
            raise InvalidArgumentError(f"training_step: pass only one of {' and '.join(given)}.")
        self.kind, self.limit = next(iter(given.items()), (None, None))

    def __bool__(self):
        return self.kind is not None

    def __call__(self, gradients):
        """Return the clipped gradients; None stays None."""
        # Arrays are clipped by NumPy, which is faster than ops; only ops can be traced.
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
    """Return the gradient as a tensor; for IndexedSlices, one row of values per distinct index."""
    return coalesced(gradient).values if hasattr(gradient, "_as_tensor") else gradient


def _array(gradient):
    gradient = _tensor(gradient)
    return gradient.array if isinstance(gradient, Tensor) else gradient


def _like(gradient, clipped):
    if not hasattr(gradient, "_as_tensor"):
        return clipped
    slices = coalesced(gradient)
    return sliced(clipped, slices.indices, slices.dense_shape)
