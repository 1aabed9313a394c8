"""Filters of images and their similarity, composed of convolutions; channels are the last axis."""

import numpy as np

from framework.ops.conv import depthwise
from framework.ops.elementwise import divide
from framework.ops.movement import gather, reshape
from framework.ops.reduction import np_dtype

SOBEL = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]])
"""The vertical slope; its transpose is the horizontal one."""


def gaussian(size, sigma):
    """Return `size` weights of a Gaussian around their centre; their sum is 1."""
    distance = np.arange(size) - (size - 1) / 2
    weights = np.exp(-0.5 * (distance / sigma) ** 2)
    return weights / weights.sum()


def filtered(x, rows, columns, padding):
    """Return images (batch, height, width, channels) filtered along both axes.

    Args:
        rows, columns: the weights of neighbours along the height and along the width.
        padding: "SAME", which adds zeros, or "VALID".
    """
    channels = x.shape[-1]
    for weights, shape in ((rows, (-1, 1, 1, 1)), (columns, (1, -1, 1, 1))):
        kernel = np.asarray(weights, np_dtype(x)).reshape(shape)
        x = _filtered(x, np.tile(kernel, (1, 1, channels, 1)), padding)
    return x


def _filtered(x, kernel, padding):
    padding = padding if padding == "SAME" else ((0, 0), (0, 0))
    return depthwise(x, kernel, strides=(1, 1), padding=padding, dilations=(1, 1))


def sobel(x):
    """Return (batch, height, width, channels, 2): the vertical and the horizontal slope.

    The outer pixels are mirrored at their centres.
    """
    channels = x.shape[-1]
    for axis in (1, 2):
        x = gather(x, np.pad(np.arange(x.shape[axis]), 1, mode="reflect"), axis=axis)
    kernel = np.stack([SOBEL, SOBEL.T], axis=-1).astype(np_dtype(x))
    y = _filtered(x, np.tile(kernel[:, :, None], (1, 1, channels, 1)), "VALID")
    return reshape(y, shape=(*y.shape[:3], channels, 2))


def similarity(x, y, *, max_val, filter_size, filter_sigma, k1, k2):
    """Return the maps of luminance and of contrast and structure, whose product is SSIM.

    Wang, Bovik, Sheikh and Simoncelli 2004, "Image quality assessment: from error visibility to
    structural similarity".

    Args:
        x, y: (batch, height, width, channels), floats.
        max_val: the difference of white and black.
        filter_size, filter_sigma: the window, a Gaussian.
        k1, k2: constants that keep divisors away from 0.
    """
    weights = gaussian(filter_size, filter_sigma)

    def mean(z):
        return filtered(z, weights, weights, "VALID")

    c1, c2 = (k1 * max_val) ** 2, (k2 * max_val) ** 2
    mean_x, mean_y = mean(x), mean(y)
    product, squares = mean_x * mean_y, mean_x * mean_x + mean_y * mean_y
    luminance = divide(2 * product + c1, squares + c1)
    covariance, variances = mean(x * y) - product, mean(x * x + y * y) - squares
    return luminance, divide(2 * covariance + c2, variances + c2)
