"""Weights as gray images for TensorBoard, in the layout of Keras's callback."""

import numpy as np


def weight_images(array):
    """Return a weight as images (k, height, width, channels) in [0, 1]; None if not possible.

    Axes of size 1 are dropped. A vector becomes a column, a matrix one image, wider than high. Of
    three axes, the last one indexes the images; of four axes, it must be the color channels.

    >>> weight_images(np.zeros((5, 2))).shape, weight_images(np.zeros((3, 3, 1, 8))).shape
    ((1, 2, 5, 1), (8, 3, 3, 1))
    """
    array = np.squeeze(array).astype(np.float64)
    if not array.size or not array.ndim:
        return None
    if array.ndim == 1:
        array = array.reshape(1, -1, 1, 1)
    elif array.ndim == 2:
        array = (array.T if array.shape[0] > array.shape[1] else array)[None, :, :, None]
    elif array.ndim == 3:
        array = np.moveaxis(array, 2, 0)[..., None]
    elif array.ndim != 4 or array.shape[3] not in (1, 3, 4):
        return None
    finite = array[np.isfinite(array)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    return (array - low) / (high - low if high > low else 1.0)
