"""Layers that bring data into the range that networks like."""

import numpy as np

from framework.core.configurable import Resolved, serialize_value
from framework.core.doors import cast
from framework.layers.base import Layer


def _numbers(value):
    return value if isinstance(value, (int, float, dict)) else np.asarray(value).tolist()


Numbers = Resolved("a number or a list of numbers", _numbers, serialize=serialize_value)


class Rescaling(Layer):
    """`inputs * scale + offset`, as floats.

    >>> import numpy as np
    >>> Rescaling(1 / 255)(np.array([[0, 255]], "uint8")).numpy()
    array([[0., 1.]], dtype=float32)
    """

    scale: Numbers
    offset: Numbers = 0.0
    supports_masking = True
    _builds_at_init = True

    def call(self, inputs):
        dtype = self.compute_dtype
        if inputs.dtype != dtype:
            inputs = cast(inputs, dtype=dtype.np)
        return inputs * np.asarray(self.scale, dtype.np) + np.asarray(self.offset, dtype.np)
