"""Conversions of pixel colors, composed of ops; the channels are the last axis.

At ties the derivatives are TensorFlow's: among equal largest channels, red takes precedence over
green, and green over blue; among equal smallest channels, blue over green, and green over red.
"""

import numpy as np

from framework.ops.contraction import matmul
from framework.ops.elementwise import (
    absolute,
    clip,
    divide,
    equal,
    floor_mod,
    greater,
    masked,
    maximum,
    minimum,
    select,
)  # fmt: skip
from framework.ops.movement import getitem, stack
from framework.ops.reduction import np_dtype

LUMA = (0.2989, 0.5870, 0.1140)
"""The weights of red, green and blue in the luminance, with four digits as in TensorFlow."""


def channels(x):
    """Return the channels of an image, the slices of its last axis."""
    return [getitem(x, index=(Ellipsis, i)) for i in range(x.shape[-1])]


YIQ = ((0.299, 0.59590059, 0.2115), (0.587, -0.27455667, -0.52273617),
       (0.114, -0.32134392, 0.31119955))  # fmt: skip
RGB_OF_YIQ = ((1, 1, 1), (0.95598634, -0.27201283, -1.10674021),
              (0.6208248, -0.64720424, 1.70423049))  # fmt: skip
YUV = ((0.299, -0.14714119, 0.61497538), (0.587, -0.28886916, -0.51496512),
       (0.114, 0.43601035, -0.10001026))  # fmt: skip
RGB_OF_YUV = ((1, 1, 1), (0, -0.394642334, 2.03206185), (1.13988303, -0.58062185, 0))


def rgb_to_hsv(x):
    """Return hue (0 to below 1: red, 1/3 green, 2/3 blue), saturation and value.

    Args:
        x: floats (..., 3): red, green, blue.
    """
    hue, least, value = _hue_and_range(x)
    return stack(hue, _saturation(least, value), value, axis=len(x.shape) - 1)


def _hue_and_range(x):
    """Return the hue, and the smallest and the largest of red, green and blue."""
    red, green, blue = channels(x)
    value = maximum(maximum(red, green), blue)
    least = minimum(blue, minimum(green, red))
    spread, one = value - least, np.ones((), np_dtype(x))
    colored = greater(spread, 0.0)
    sixth = divide(one, 6 * select(colored, spread, one))
    hue = select(
        equal(red, value), sixth * (green - blue),
        select(
            equal(green, value), sixth * (blue - red) + 2 / 6, sixth * (red - green) + 4 / 6
        ),
    )  # fmt: skip
    hue = masked(hue, colored)
    return select(greater(0.0, hue), hue + 1, hue), least, value


def _saturation(least, value):
    positive = greater(value, 0.0)
    return masked(divide(value - least, select(positive, value, np_dtype(value).type(1))), positive)


def hsv_to_rgb(x):
    """Return red, green and blue; the inverse of `rgb_to_hsv`."""
    hue, saturation, value = channels(x)
    rest = 1 - saturation
    parts = [(rest + saturation * share) * value for share in _shares(hue)]
    return stack(*parts, axis=len(x.shape) - 1)


def _shares(hue):
    """Return where red, green and blue lie between their minimum (0) and maximum (1)."""
    hue = hue * 6
    shares = absolute(hue - 3) - 1, 2 - absolute(hue - 2), 2 - absolute(hue - 4)
    return [clip(share, 0.0, 1.0) for share in shares]


def turned(x, delta):
    """Return red, green and blue (..., 3) with the hue increased by `delta` turns."""
    hue, least, value = _hue_and_range(x)
    spread = value - least
    parts = [least + spread * share for share in _shares(floor_mod(hue + delta, 1.0))]
    return stack(*parts, axis=len(x.shape) - 1)


def saturated(x, factor):
    """Return red, green and blue (..., 3) with the saturation multiplied and limited to 0 to 1."""
    hue, least, value = _hue_and_range(x)
    saturation = clip(_saturation(least, value) * factor, 0.0, 1.0)
    return hsv_to_rgb(stack(hue, saturation, value, axis=len(x.shape) - 1))


def mixed(x, matrix):
    """Return pixels with linearly mixed channels: the product of `x` and a matrix.

    Args:
        x: floats (..., channels).
        matrix: (channels, new channels).
    """
    return matmul(x, np.asarray(matrix, np_dtype(x)))
