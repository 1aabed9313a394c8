"""Filters of images, and structural similarity, composed of filters along each axis."""

import numpy as np

from framework.ops.elementwise import divide
from framework.ops.movement import gather, stack
from framework.ops.resampling import filter_axis

# The Sobel filter takes a difference along one axis and a weighted mean along the other.
_SOBEL = (-1, 0, 1), (1, 2, 1)


def gaussian(size, sigma):
    """Return `size` weights of a Gaussian around their center; their sum is 1."""
    distance = np.arange(size) - (size - 1) / 2
    weights = np.exp(-0.5 * (distance / sigma) ** 2)
    return weights / weights.sum()


def filtered(x, rows, columns, padding):
    """Return images (batch, height, width, channels) filtered along both axes.

    Args:
        rows, columns: the weights of neighbors along the height and along the width.
        padding: "SAME", which adds zeros, or "VALID".
    """
    for axis, weights in ((1, rows), (2, columns)):
        last = len(weights) - 1
        before, after = (last // 2, last - last // 2) if padding == "SAME" else (0, 0)
        shares = tuple(float(w) for w in weights)
        x = filter_axis(x, axis=axis, weights=shares, before=before, after=after)
    return x


def sobel(x):
    """Return (batch, height, width, channels, 2): the vertical and the horizontal derivative.

    Beyond the edges, the image is mirrored at the centers of its outer pixels.
    """
    for axis in (1, 2):
        x = gather(x, np.pad(np.arange(x.shape[axis]), 1, mode="reflect"), axis=axis)
    slopes = filtered(x, *_SOBEL, "VALID"), filtered(x, *_SOBEL[::-1], "VALID")
    return stack(*slopes, axis=len(x.shape))


def similarity(x, y, *, max_val, filter_size, filter_sigma, k1, k2):
    """Return the maps of luminance and of contrast and structure, whose product is SSIM.

    Wang, Bovik, Sheikh and Simoncelli 2004, "Image quality assessment: from error visibility to
    structural similarity".

    Args:
        x, y: (batch, height, width, channels), floats.
        max_val: the difference between white and black.
        filter_size, filter_sigma: the window, a Gaussian.
        k1, k2: constants that prevent division by numbers near 0.
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
