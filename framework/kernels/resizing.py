"""Weights by which the cells along an axis make those of a longer one."""

import numpy as np


def _triangle(x):
    return np.maximum(1 - x, 0)


def _cubic(x):
    """Keys' kernel (Cubic convolution interpolation, 1981) with a = -0.5."""
    near = (1.5 * x - 2.5) * x * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def _lanczos(radius):
    return lambda x: np.where(x < radius, np.sinc(x) * np.sinc(x / radius), 0)


METHODS = {
    "bilinear": _triangle, "bicubic": _cubic, "lanczos3": _lanczos(3), "lanczos5": _lanczos(5)
}  # fmt: skip


def weights(n, factor, method):
    """A matrix (n * factor, n): each new cell as a mean of old ones around its centre."""
    centres = (np.arange(n * factor) + 0.5) / factor - 0.5
    found = METHODS[method](np.abs(centres[:, None] - np.arange(n)))
    return found / found.sum(axis=1, keepdims=True)
