"""Functions for images in keras.preprocessing.image that are not in keras.ops.image."""

from typing import Any

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.errors import SignatureError
from framework.core.operations import operation
from framework.keras.ops.image_resizing import resize
from framework.ops.casting import widened


@operation
def smart_resize(
    x: TensorLike, size: Any, interpolation: str = "bilinear", data_format: str = "channels_last",
    **kwargs: Any,
) -> Any:  # fmt: skip
    """Return the largest centered crop of images with the aspect ratio of `size`, resized to it.

    Args:
        x: (batch, height, width, channels), or one image of rank 3.
        size: the new (height, width).
        interpolation: "bilinear", "nearest", "bicubic", "lanczos3", "lanczos5" or "area".
        data_format: "channels_last" or "channels_first".
        **kwargs: not accepted.

    Returns:
        Floats, or with "nearest" the dtype of `x`; a NumPy array if `x` is one, else a tensor.

    Raises:
        ValueError: an argument is unknown, or the rank is wrong.

    >>> smart_resize(np.arange(8.0).reshape(2, 4, 1), (1, 1)).ravel()
    array([3.5])
    """
    if kwargs:
        raise SignatureError(f"smart_resize: unexpected arguments {', '.join(kwargs)}.")
    given = tensor(x)
    if interpolation != "nearest":
        given = widened(given)
        given = given if given.dtype.is_floating else cast(given, dtype=np.dtype(np.float32))
    y = resize(given, size, interpolation, crop_to_aspect_ratio=True, data_format=data_format)
    return y.numpy() if isinstance(x, np.ndarray) else y
