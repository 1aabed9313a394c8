"""Colours of pixels, composed of ops: the channels are the last axis.

At ties the derivatives are TensorFlow's: red counts as the largest before green before blue, and
blue as the smallest before green before red.
"""

import numpy as np

from framework.ops.contraction import matmul
from framework.ops.elementwise import (
    absolute,
    clip,
    divide,
    equal,
    greater,
    masked,
    maximum,
    minimum,
    select,
)  # fmt: skip
from framework.ops.movement import getitem, stack
from framework.ops.reduction import np_dtype

LUMA = (0.2989, 0.5870, 0.1140)
"""How much red, green and blue contribute to the brightness, in TensorFlow's four digits."""


def channels(x):
    """Return the slices of the last axis."""
    return [getitem(x, index=(Ellipsis, i)) for i in range(x.shape[-1])]


def rgb_to_hsv(x):
    """Return hue (0 to below 1: red, 1/3 green, 2/3 blue), saturation and value.

    Args:
        x: floats (..., 3): red, green, blue.
    """
    red, green, blue = channels(x)
    value = maximum(maximum(red, green), blue)
    spread = value - minimum(blue, minimum(green, red))
    colored, one = greater(spread, 0.0), np.ones((), np_dtype(x))
    saturation = masked(
        divide(spread, select(greater(value, 0.0), value, one)), greater(value, 0.0)
    )
    sixth = divide(one, 6 * select(colored, spread, one))
    hue = select(
        equal(red, value), sixth * (green - blue),
        select(
            equal(green, value), sixth * (blue - red) + 2 / 6, sixth * (red - green) + 4 / 6
        ),
    )  # fmt: skip
    hue = masked(hue, colored)
    hue = select(greater(0.0, hue), hue + 1, hue)
    return stack(hue, saturation, value, axis=len(x.shape) - 1)


def hsv_to_rgb(x):
    """Return red, green and blue; the inverse of `rgb_to_hsv`."""
    hue, saturation, value = channels(x)
    hue = hue * 6
    shares = absolute(hue - 3) - 1, 2 - absolute(hue - 2), 2 - absolute(hue - 4)
    rest = 1 - saturation
    parts = [(rest + saturation * clip(share, 0.0, 1.0)) * value for share in shares]
    return stack(*parts, axis=len(x.shape) - 1)


def mixed(x, matrix):
    """Return pixels whose channels are the products of the old ones and a matrix.

    Args:
        x: floats (..., channels).
        matrix: (channels, new channels).
    """
    return matmul(x, np.asarray(matrix, np_dtype(x)))
