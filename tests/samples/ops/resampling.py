"""Samples and references of the ops that resize one axis of images."""

import numpy as np

from tests.samples.ops.arguments import Sample

_rng = np.random.default_rng(5)


def _lanczos(x, radius):
    return np.where(x < radius, np.sinc(x) * np.sinc(x / radius), 0)


def _keys(x):
    near, far = 1.5 * x**3 - 2.5 * x**2 + 1, -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2
    return np.where(x < 1, near, np.where(x < 2, far, 0))


KERNELS = {
    "bilinear": lambda x: np.maximum(1 - x, 0),
    "bicubic": _keys,
    "lanczos3": lambda x: _lanczos(x, 3),
    "lanczos5": lambda x: _lanczos(x, 5),
    "gaussian": lambda x: np.where(x < 1.5, np.exp(-2 * x**2), 0),
    "area": None,
    "nearest": None,
}


def weights(n, size, method, antialias):
    """The (size, n) matrix, pixel by pixel."""
    matrix = np.zeros((size, n))
    scale = n / size
    stretch = max(scale, 1) if antialias else 1
    for i, j in np.ndindex(size, n):
        if method == "nearest":
            matrix[i, j] = j == np.floor((i + 0.5) * scale)
        elif method == "area":
            matrix[i, j] = max(min(j + 1, (i + 1) * scale) - max(j, i * scale), 0)
        else:
            matrix[i, j] = KERNELS[method](abs((i + 0.5) * scale - 0.5 - j) / stretch)
    return matrix / matrix.sum(axis=1, keepdims=True)


def _along(x, axis, matrix):
    return np.moveaxis(np.tensordot(matrix, np.moveaxis(x, axis, 0), 1), 0, axis)


_CALLS = [
    ((2, 5, 3), 1, 8, "bilinear", False), ((2, 5, 3), 1, 3, "bicubic", True),
    ((2, 5, 3), 1, 4, "lanczos3", False), ((2, 5, 3), 1, 2, "area", False),
    ((2, 7), 1, 3, "gaussian", False), ((2, 7), 1, 11, "lanczos5", True),
    ((1, 2, 5, 2), 2, 2, "nearest", False), ((1, 2, 5, 2), 2, 3, "lanczos3", True),
    ((2, 6, 20), 1, 2, "bilinear", True), ((0, 6), 1, 2, "bicubic", False),
]  # fmt: skip


def _sample(shape, axis, size, method, antialias, back):
    sampling = (shape[axis], size, method, antialias)
    given = (*shape[:axis], sampling[back], *shape[axis + 1 :])
    return Sample((_rng.normal(size=given),), {"axis": axis, "sampling": sampling})


_FILTERS = [
    ((2, 5, 3), 1, (0.5, 0.25, 0.2), 1, 1), ((2, 3, 6), 2, (1, 0, -1), 0, 0),
    ((2, 7), 1, (0.3, 2.0, 0.1, 0.7), 1, 2), ((2, 2, 1), 1, (1.5, 0.5, 0.3), 2, 2),
    ((0, 4), 1, (1.0, 2.0), 0, 1),
]  # fmt: skip


def _filtered(x, axis, weights, before, after):
    widths = [(before, after) if a == axis else (0, 0) for a in range(x.ndim)]
    wide = np.moveaxis(np.pad(x, widths), axis, -1)
    windows = np.lib.stride_tricks.sliding_window_view(wide, len(weights), axis=-1)
    return np.moveaxis(windows @ np.array(weights, float), -1, axis)


def _filter_sample(shape, axis, weights, before, after):
    attrs = {"axis": axis, "weights": weights, "before": before, "after": after}
    return Sample((_rng.normal(size=shape),), attrs)


SAMPLES = {
    "filter_axis": [_filter_sample(*f) for f in _FILTERS],
    "resample": [_sample(*c, back=0) for c in _CALLS],
    "resample_back": [_sample(*c, back=1) for c in _CALLS],
}
REFERENCES = {
    "filter_axis": _filtered,
    "resample": lambda x, axis, sampling: _along(x, axis, weights(*sampling)),
    "resample_back": lambda x, axis, sampling: _along(x, axis, weights(*sampling).T),
}
