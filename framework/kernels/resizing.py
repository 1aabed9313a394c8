"""Interpolation weights for upsampling along one axis."""

import numpy as np


def _triangle(x):
    return np.maximum(1 - x, 0)


def _cubic(x):
    """Return Keys' kernel (Cubic convolution interpolation, 1981) with a = -0.5."""
    near = (1.5 * x - 2.5) * x * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def _lanczos(radius):
    return lambda x: np.where(x < radius, np.sinc(x) * np.sinc(x / radius), 0)


METHODS = {
    "bilinear": _triangle, "bicubic": _cubic, "lanczos3": _lanczos(3), "lanczos5": _lanczos(5)
}  # fmt: skip


def weights(n, factor, method):
    """Return (n * factor, n) weights: each new pixel is a weighted mean of the old ones near it."""
    centres = (np.arange(n * factor) + 0.5) / factor - 0.5
    matrix = METHODS[method](np.abs(centres[:, None] - np.arange(n)))
    return matrix / matrix.sum(axis=1, keepdims=True)
