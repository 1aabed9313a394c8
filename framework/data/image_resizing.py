"""Resize single images of a dataset by TensorFlow's methods, without antialiasing."""

import numpy as np

from framework.data.images import centre
from framework.ops import resampling

METHODS = ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian",
           "mitchellcubic")  # fmt: skip


def resized(image, size, method):
    """Return an image of shape (height, width, channels) in another size.

    The result is float32; with "nearest" it has the image's dtype.
    """
    pixels = image if method == "nearest" else image.astype(np.float32, copy=False)
    return resampling.resized(pixels, size, (0, 1), method)


def cropped(image, size):
    """Return the largest centered part of an image with the aspect ratio of `size`."""
    left, top, right, bottom = centre(*image.shape[:2], *size)
    return image[top:bottom, left:right]


def padded(image, size):
    """Return the image with black margins that give it the aspect ratio of `size`."""
    height, width = image.shape[:2]
    new_height = max(height, width * size[0] // size[1])
    new_width = max(width, height * size[1] // size[0])
    top, left = (new_height - height) // 2, (new_width - width) // 2
    margins = ((top, new_height - height - top), (left, new_width - width - left), (0, 0))
    return np.pad(image, margins)
