"""Resizing of single images of a dataset: TensorFlow's methods, without antialiasing."""

import functools

import numpy as np

from framework.data.images import centre
from framework.kernels.resizing import METHODS as _KERNELS


def _mitchell(x):
    """Return Mitchell's and Netravali's cubic (1988) with B = C = 1/3."""
    near = ((7 * x - 12) * x * x + 16 / 3) / 6
    far = (((-7 / 3 * x + 12) * x - 20) * x + 32 / 3) / 6
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def _gaussian(x):
    """Return a Gaussian of standard deviation 1/2, cut at three deviations."""
    return np.where(x < 1.5, np.exp(-2 * x * x), 0)


_RADII = {
    "bilinear": 1, "bicubic": 2, "lanczos3": 3, "lanczos5": 5, "gaussian": 1.5, "mitchellcubic": 2
}  # fmt: skip
METHODS = ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian",
           "mitchellcubic")  # fmt: skip


def resized(image, size, method):
    """Return an image of shape (height, width, channels) in another size.

    The result is float32, with "nearest" of the image's dtype.
    """
    for axis, n in enumerate(size):
        rows, weights = _taps(image.shape[axis], int(n), method)
        image = _sampled(image, rows, weights, axis)
    return image


def _sampled(image, rows, weights, axis):
    """Return the weighted sums of rows (axis 0) or columns (axis 1)."""
    if weights is None:
        return np.take(image, rows[0], axis)
    shape = (-1, 1, 1) if axis == 0 else (-1, 1)
    total = None
    for taken, weight in zip(rows, weights):
        part = np.take(image, taken, axis) * weight.reshape(shape)
        total = part if total is None else np.add(total, part, out=total)
    return total


@functools.lru_cache(256)  # images of a folder often have few sizes
def _taps(n, size, method):
    """Return (taps, size) row numbers and their weights, which sum to 1; None for one tap of 1."""
    scale = n / size
    if method == "nearest":
        return np.minimum(((np.arange(size) + 0.5) * scale).astype(int), n - 1)[None], None
    if method == "area":
        edges = np.arange(size + 1) * scale
        first, count = np.floor(edges[:-1]).astype(int), int(np.ceil(scale)) + 1
        rows = first + np.arange(count)[:, None]
        weights = np.maximum(np.minimum(rows + 1, edges[1:]) - np.maximum(rows, edges[:-1]), 0)
    else:
        radius = _RADII[method]
        centres = (np.arange(size) + 0.5) * scale - 0.5
        count = int(np.ceil(2 * radius)) + 1
        rows = np.ceil(centres - radius).astype(int) + np.arange(count)[:, None]
        weights = _kernel(method)(np.abs(rows - centres))
    weights = np.where((rows < 0) | (rows >= n), 0, weights)
    kept = weights.any(axis=1)
    rows, weights = np.clip(rows[kept], 0, n - 1), weights[kept]
    return rows, (weights / weights.sum(axis=0)).astype(np.float32)


def _kernel(method):
    return {"gaussian": _gaussian, "mitchellcubic": _mitchell}.get(method) or _KERNELS[method]


def cropped(image, size):
    """Return the largest centred part of an image in the proportions of `size`."""
    left, top, right, bottom = centre(*image.shape[:2], *size)
    return image[top:bottom, left:right]


def padded(image, size):
    """Return the image with black margins that give it the proportions of `size`."""
    height, width = image.shape[:2]
    new_height = max(height, width * size[0] // size[1])
    new_width = max(width, height * size[1] // size[0])
    top, left = (new_height - height) // 2, (new_width - width) // 2
    margins = ((top, new_height - height - top), (left, new_width - width - left), (0, 0))
    return np.pad(image, margins)
