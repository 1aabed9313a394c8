"""Dropout inside recurrent cells: one mask for all steps of a sequence."""

import threading
from typing import Annotated, Any

import numpy as np

from framework.core import random
from framework.core.configurable import Resolved
from framework.core.errors import InvalidArgumentError
from framework.core.random import SeedGenerator
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Tensor
from framework.ops.random import dropout


def _fraction(value):
    if isinstance(value, (str, bool)) or not hasattr(value, "__float__"):
        raise InvalidArgumentError("expected a float between 0 and 1")
    return min(1.0, max(0.0, float(value)))


Fraction = Annotated[float, Resolved("a number in [0, 1]", _fraction)]


class DropoutRNNCell:
    """A mixin for cells with the fields `dropout`, `recurrent_dropout` and `seed`.

    A mask is drawn at the first step and used for all steps until it is reset: `RNN` resets masks
    around each sequence. Each thread has its own masks.
    """

    # the number of dropout masks if they are a list; None for a single mask
    dropout_mask_count = None

    def get_dropout_mask(self, step_input: Any):
        """Return the mask of the inputs, of 0 and 1 / (1 - rate); None without dropout."""
        return _mask(self, "inputs", step_input, self.dropout)

    def get_recurrent_dropout_mask(self, step_input: Any):
        """Return the mask of the state; None without recurrent dropout."""
        return _mask(self, "state", step_input, self.recurrent_dropout)

    def reset_dropout_mask(self):
        """Discard the mask of the inputs."""
        self._framework.dropout_masks.pop(("inputs", threading.get_ident()), None)

    def reset_recurrent_dropout_mask(self):
        """Discard the mask of the state."""
        self._framework.dropout_masks.pop(("state", threading.get_ident()), None)


def _mask(layer, kind, like, rate):
    if not rate:
        return None
    key = kind, threading.get_ident()
    known = layer._framework.dropout_masks
    if key not in known:
        count = layer.dropout_mask_count
        masks = [_drawn(layer, like, rate) for _ in range(count or 1)]
        known[key] = masks if count else masks[0]
    return known[key]


def make_generator(layer):
    layer.seed_generator = SeedGenerator(layer.seed)
    layer._framework.dropout_masks = {}


def _drawn(layer, like, rate):
    dtype = "float64" if like.dtype == "float64" else "float32"
    noise = random.draw(layer.seed_generator, "uniform", tuple(like.shape), dtype)
    if isinstance(like, KerasTensor):
        return KerasTensor(like.shape, like.dtype)
    return dropout(Tensor(np.ones(like.shape, like.dtype)), noise, rate=rate)
