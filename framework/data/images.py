"""Convert images between arrays, files and Pillow (needs Pillow: the extra `image`)."""

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from framework.core.argument_types import DTypeLike, TensorLike
from framework.core.dtypes import as_dtype, floatx
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.program_settings import data_format_of
from framework.data.structure import array_in

MODES = {"grayscale": ("L", "I;16", "I"), "rgb": ("RGB",), "rgba": ("RGBA",)}
"""Pillow's modes for each `color_mode`; an image of another mode is converted to the first."""

_METHODS = {
    "nearest": "NEAREST", "bilinear": "BILINEAR", "bicubic": "BICUBIC", "hamming": "HAMMING",
    "box": "BOX", "lanczos": "LANCZOS",
}  # fmt: skip


def array_to_img(
    x: TensorLike, data_format: Any = None, scale: bool = True, dtype: DTypeLike = None
) -> Any:
    """Return an array as a Pillow image.

    Args:
        x: an array of shape (height, width, channels), with 1, 3 or 4 channels.
        data_format: "channels_last", also for None, or "channels_first" for an `x` of shape
            (channels, height, width).
        scale: True to map the smallest value to 0 and the largest to 255; False for values from 0
            to 255, which are truncated to integers.
        dtype: the dtype in which values are scaled; floatx by default.

    Raises:
        ValueError: the shape is wrong.
        ImportError: Pillow is not installed.

    >>> array_to_img(np.ones((4, 6, 3))).size  # width and height
    (6, 4)
    """
    image = pillow("array_to_img")
    pixels = array_in(x, "x").astype(as_dtype(dtype or floatx()).np)
    if pixels.ndim != 3:
        raise ShapeError(
            f"array_to_img: x: expected an array of rank 3, one image, got shape {pixels.shape}."
        )
    if _is_first("array_to_img", data_format):
        pixels = pixels.transpose(1, 2, 0)
    channels = pixels.shape[2]
    if channels not in (1, 3, 4):
        raise ShapeError(f"array_to_img: x: expected 1, 3 or 4 channels, got {channels}.")
    if scale and pixels.size:
        pixels = pixels - pixels.min()
        largest = pixels.max()
        pixels = pixels / (largest or 1) * 255
    _check_range(pixels, 255 if channels > 1 else 2**31 - 1)
    if channels == 1:
        # Pillow stores gray values above 255 in its 32-bit mode "I".
        deep = pixels.size and pixels.max() > 255
        pixels = pixels[:, :, 0].astype(np.int32 if deep else np.uint8)
    return image.fromarray(pixels if channels == 1 else pixels.astype(np.uint8))


def _check_range(pixels, largest):
    """Raise an error for values outside the pixel range, which NumPy would wrap around."""
    low, high = (pixels.min(), pixels.max()) if pixels.size else (0, 0)
    if not (low >= 0 and high < largest + 1):
        raise InvalidArgumentError(
            f"array_to_img: x: expected values from 0 to {largest}, got {low} to {high}. Pass "
            "scale=True, or clip them first."
        )


def img_to_array(img: Any, data_format: Any = None, dtype: DTypeLike = None) -> Any:
    """Return a Pillow image as an array of shape (height, width, channels).

    Args:
        img: a Pillow image, or an array of rank 2 or 3.
        data_format: "channels_first" for shape (channels, height, width).
        dtype: the dtype of the array; floatx by default.

    Raises:
        ValueError: the rank of `img` is wrong.

    >>> img_to_array(np.ones((4, 6))).shape
    (4, 6, 1)
    """
    first = _is_first("img_to_array", data_format)
    pixels = np.asarray(img, as_dtype(dtype or floatx()).np)
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    if pixels.ndim != 3:
        raise ShapeError(
            f"img_to_array: img: expected an image of rank 2 or 3, got shape {pixels.shape}."
        )
    return pixels.transpose(2, 0, 1) if first else pixels


def load_img(
    path: Any, color_mode: str = "rgb", target_size: Any = None, interpolation: str = "nearest",
    keep_aspect_ratio: bool = False,
) -> Any:  # fmt: skip
    """Return the image in a file as a Pillow image.

    Args:
        path: a path, or a BytesIO with the file's content.
        color_mode: "rgb", "rgba" or "grayscale"; the latter keeps depths of 16 and 32 bits.
        target_size: (height, width); None to keep the size.
        interpolation: "nearest", "bilinear", "bicubic", "lanczos", "box" or "hamming".
        keep_aspect_ratio: True to crop the center in the target's aspect ratio before resizing.

    Raises:
        ValueError: an argument is unknown.
        ImportError: Pillow is not installed.
    """
    image = pillow("load_img")
    if color_mode not in MODES:
        raise InvalidArgumentError(
            f"load_img: color_mode: expected 'grayscale', 'rgb' or 'rgba', got {color_mode!r}."
        )
    if interpolation not in _METHODS:
        raise InvalidArgumentError(
            f"load_img: interpolation: expected one of {', '.join(map(repr, _METHODS))}, got "
            f"{interpolation!r}."
        )
    with image.open(_opened(path)) as source:
        source.load()
        modes = MODES[color_mode]
        img = source.copy() if source.mode in modes else source.convert(modes[0])
    if target_size is None:
        return img
    height, width = target_size
    if img.size == (width, height):
        return img
    method = getattr(image.Resampling, _METHODS[interpolation])
    box = centre(img.size[1], img.size[0], height, width) if keep_aspect_ratio else None
    return img.resize((width, height), method, box=box)


def _opened(path):
    """Return the bytes of a file as a stream for Pillow. The file itself is closed again."""
    if isinstance(path, io.BytesIO):
        return path
    if not isinstance(path, (str, bytes, Path)):
        raise DTypeError(f"load_img: path must be a path or a BytesIO, got {path!r}.")
    return io.BytesIO(Path(path.decode() if isinstance(path, bytes) else path).read_bytes())


def centre(height, width, target_height, target_width):
    """Return (left, top, right, bottom) of the largest centered crop in the target's ratio."""
    part_height = max(min(height, width * target_height // target_width), 1)
    part_width = max(min(width, height * target_width // target_height), 1)
    top, left = (height - part_height) // 2, (width - part_width) // 2
    return left, top, left + part_width, top + part_height


def save_img(
    path: Any, x: TensorLike, data_format: Any = None, file_format: Any = None,
    scale: bool = True, **kwargs: Any,
) -> None:  # fmt: skip
    """Write an array to an image file.

    Args:
        path: a path, or a file object.
        x: an array of shape (height, width, channels), with 1, 3 or 4 channels.
        data_format: "channels_first" for an `x` of shape (channels, height, width).
        file_format: Pillow's name of the format, such as "png"; by default, the path's suffix.
        scale: True to map the smallest value to 0 and the largest to 255, as in `array_to_img`.
        **kwargs: options of Pillow's `Image.save`.

    Raises:
        ValueError: the shape or the format is unknown.
        ImportError: Pillow is not installed.
    """
    if file_format is None and isinstance(path, (str, Path)):
        file_format = Path(path).suffix[1:] or None
    if file_format is not None:
        file_format = "jpeg" if file_format.lower() == "jpg" else file_format.lower()
    img = array_to_img(x, data_format=data_format, scale=scale)
    if img.mode == "RGBA" and file_format == "jpeg":
        warnings.warn(
            "save_img: a JPEG file has no alpha channel, so it is dropped. Use PNG to keep it.",
            stacklevel=2,
        )
        img = img.convert("RGB")
    img.save(path, format=file_format, **kwargs)


def _is_first(function, data_format):
    return data_format_of(data_format, f"{function}: ") == "channels_first"


def pillow(function):
    """Return the module `PIL.Image`, or raise an ImportError that names the function."""
    try:
        from PIL import Image
    except ImportError:
        raise ImportError(
            f"{function} needs Pillow. Install it: pip install pillow, or framework[image]."
        ) from None
    return Image
