"""tf.image: decode and encode image files with Pillow (the extra `image`).

>>> import framework as tf
>>> x = tf.constant([[[1], [2]], [[3], [4]]], tf.uint8)
>>> tf.image.decode_png(tf.image.encode_png(x)).numpy().ravel()
array([1, 2, 3, 4], dtype=uint8)
"""

from typing import Any

import numpy as np

from framework.core import dtypes, random
from framework.core.argument_types import DTypeLike, TensorLike
from framework.core.conversion import tensor
from framework.core.dtypes import as_dtype, int32
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.op import Op, no_derivative
from framework.core.operations import always, operation
from framework.core.tensor import Tensor
from framework.data import image_files as _files
from framework.data import png_files
from framework.functions.image_geometry import cut
from framework.functions.image_layout import converted
from framework.functions.sampling import once, source_of

_STILL = ("JPEG", "PNG", "GIF")

# ---- ops -----------------------------------------------------------------------------------------


def _decode(contents, *, what, channels, dtype, kinds, ratio, frames):
    """Decode a file's images.

    `frames` is "all", "one" (more raise an error), "first", or "as found": all images of GIF and
    WebP files, the only image of others.
    """
    found, kind = _files.decoded(
        contents.item(), what=what, channels=channels, dtype=np.dtype(dtype).type, kinds=kinds,
        ratio=ratio,
    )  # fmt: skip
    moving = kind in ("GIF", "WEBP")
    if frames == "all" or (frames == "as found" and moving):
        return found
    if frames == "one" and len(found) > 1:
        raise InvalidArgumentError(
            f"{what}: expected one image, got a {kind} file with {len(found)} images. Use "
            f"decode_gif or "
            "decode_image."
        )
    return found[0]


def _decode_infer(contents, *, channels, dtype, frames, **_):
    shape = (None, None, channels or None)
    return ((None, *shape) if frames in ("all", "as found") else shape), np.dtype(dtype)


# listed=False: these ops are not in the table of all ops, because they have no derivative and need
# Pillow
_decoded = Op(
    "decode_image", _decode, no_derivative, inputs=("contents",), infer=_decode_infer, raises=True,
    listed=False, sized_by_values=True, fresh=True,
)  # fmt: skip


def _each(function, image):
    """Apply an encoder to each of the images (..., height, width, channels)."""
    files = np.empty(image.shape[:-3], object)
    for place in np.ndindex(files.shape):
        files[place] = function(image[place])
    return files


def _write_infer(image, **_):
    return tuple(image.shape[:-3]), np.dtype(object)


_png = Op(
    "encode_png",
    lambda image, *, compression: _each(lambda x: png_files.written(x, compression), image),
    no_derivative, inputs=("image",), infer=_write_infer, listed=False, fresh=True,
)  # fmt: skip
_jpeg = Op(
    "encode_jpeg", lambda image, **options: _each(lambda x: _files.jpeg_of(x, **options), image),
    no_derivative, inputs=("image",), infer=_write_infer, listed=False, fresh=True,
)  # fmt: skip
_jpeg_quality = Op(
    "encode_jpeg_variable_quality",
    lambda image, quality: _each(
        lambda x: _files.jpeg_of(x, quality=int(quality), **_PLAIN), image
    ),
    no_derivative, no_derivative, infer=lambda image, quality: _write_infer(image), listed=False,
    inputs=("image", "quality"), fresh=True,
)  # fmt: skip
_PLAIN = {
    "what": "adjust_jpeg_quality", "progressive": False, "optimize": False,
    "chroma_downsampling": True, "density": (300, 300), "xmp": b"",
}  # fmt: skip
_starts_as_jpeg = Op(
    "is_jpeg", lambda contents: _each_string(contents, lambda s: s[:3] == b"\xff\xd8\xff"),
    no_derivative, infer=lambda contents: (tuple(contents.shape), np.dtype(bool)), listed=False,
    inputs=("contents",), fresh=True,
)  # fmt: skip


def _each_string(contents, holds):
    flat = [holds(s) for s in np.asarray(contents, object).ravel()]
    return np.array(flat, bool).reshape(np.shape(contents))


def _content(contents, what):
    x = tensor(contents)
    if x.dtype != "string" or x.ndim:
        raise ShapeError(
            f"{what}: `contents` must be the bytes of one file, got {x.dtype} of shape "
            f"{tuple(x.shape)}."
        )
    return x


def _read(contents, what, channels, *, frames, kinds=_STILL, dtype="uint8", ratio=1):
    channels = 0 if channels is None else int(channels)
    return _decoded(
        _content(contents, what), what=what, channels=channels, dtype=dtype, kinds=kinds,
        ratio=ratio, frames=frames,
    )  # fmt: skip


# ---- decoding ------------------------------------------------------------------------------------


@operation
def decode_image(
    contents: TensorLike, channels: Any = None, dtype: DTypeLike = dtypes.uint8,
    name: str | None = None, expand_animations: bool = True,
) -> Tensor:  # fmt: skip
    """Return the pixels of a JPEG, PNG, GIF, BMP or WebP file.

    Args:
        contents: bytes.
        channels: 1, 3 or 4; None or 0 for the number in the file.
        dtype: the dtype of the pixels; floats are from 0 to 1.
        expand_animations: False for the first image of GIF and WebP files, (height, width,
            channels).

    Returns:
        (height, width, channels); of GIF and WebP files (images, height, width, channels).

    Raises:
        ValueError: the file is invalid or of another format, or cannot have these channels.
        ImportError: Pillow is not installed.
    """
    dtype = as_dtype(dtype)
    worked = dtype if dtype in ("uint8", "uint16", "float32") else dtypes.uint16
    frames = "as found" if expand_animations else "first"
    found = _read(
        contents, "decode_image", channels, frames=frames, kinds=tuple(_files.STARTS),
        dtype=worked.name,
    )  # fmt: skip
    return converted(found, dtype)


@operation
def decode_png(
    contents: TensorLike, channels: Any = 0, dtype: DTypeLike = dtypes.uint8,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the pixels (height, width, channels) of a PNG file, or of a JPEG or still GIF file.

    Args:
        contents: bytes.
        channels: 1, 3 or 4; 0 for the number in the file.
        dtype: uint8 or uint16.

    Raises:
        ValueError: the file is invalid or of another format, or an argument is invalid.
    """
    dtype = as_dtype(dtype)
    if dtype not in ("uint8", "uint16"):
        raise InvalidArgumentError(f"decode_png: `dtype` must be uint8 or uint16, got {dtype}.")
    return _read(contents, "decode_png", channels, frames="one", dtype=dtype.name)


@operation
def decode_jpeg(
    contents: TensorLike, channels: Any = 0, ratio: Any = 1, fancy_upscaling: bool = True,
    try_recover_truncated: bool = False, acceptable_fraction: Any = 1, dct_method: str = "",
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the pixels (height, width, channels) of a JPEG file, or of a PNG or still GIF file.

    Pillow decodes with exact cosine transforms ("INTEGER_ACCURATE"). TensorFlow's default is less
    exact; pixels differ by a few units.

    Args:
        contents: bytes.
        channels: 1 or 3; 0 for the number in the file.
        ratio: 1, 2, 4 or 8: the factor by which to reduce the image.
        fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method: ignored.

    Raises:
        ValueError: the file is invalid or of another format, or an argument is invalid.
    """
    if ratio not in (1, 2, 4, 8):
        raise InvalidArgumentError(f"decode_jpeg: `ratio` must be 1, 2, 4 or 8, got {ratio!r}.")
    return _read(contents, "decode_jpeg", channels, frames="one", ratio=int(ratio))


@operation
def decode_and_crop_jpeg(
    contents: TensorLike, crop_window: Any, channels: Any = 0, ratio: Any = 1,
    fancy_upscaling: bool = True, try_recover_truncated: bool = False,
    acceptable_fraction: Any = 1, dct_method: str = "", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return a part of a JPEG file's image.

    Args:
        contents: bytes.
        crop_window: (first row, first column, height, width).
        channels, ratio: as in `decode_jpeg`; the other arguments are ignored.
    """
    x = decode_jpeg(contents, channels, ratio)
    top, left, height, width = (int(n) for n in crop_window)
    if (
        min(top, left) < 0
        or min(height, width) < 1
        or (top + height > x.shape[0] or left + width > x.shape[1])
    ):
        raise InvalidArgumentError(
            f"decode_and_crop_jpeg: `crop_window` must lie in {x.shape[0]} x {x.shape[1]} pixels, "
            f"got {height} x {width} from row {top}, column {left}."
        )
    return cut(x, top, left, height, width)


@operation
def decode_gif(contents: TensorLike, name: str | None = None) -> Tensor:
    """Return the pixels (images, height, width, 3) of a GIF file, or of a PNG or JPEG file."""
    found = _read(contents, "decode_gif", 0, frames="all")
    if found.shape[-1] == 3:
        return found
    return _read(contents, "decode_gif", 3, frames="all")


@operation
def decode_bmp(contents: TensorLike, channels: Any = 0, name: str | None = None) -> Tensor:
    """Return the pixels (height, width, channels) of a BMP file; `channels` is 0, 3 or 4."""
    return _read(contents, "decode_bmp", channels, frames="one", kinds=("BMP",))


@operation
def decode_webp(
    contents: TensorLike, channels: Any = 0, dtype: DTypeLike = dtypes.uint8,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the pixels (images, height, width, channels) of a WebP file.

    For a PNG or JPEG file, the shape is (height, width, channels).

    Args:
        contents: bytes.
        channels: 3 or 4; 0 for the number in the file.
        dtype: uint8.
    """
    if as_dtype(dtype) != "uint8":
        raise InvalidArgumentError(f"decode_webp: `dtype` must be uint8, got {as_dtype(dtype)}.")
    return _read(
        contents, "decode_webp", channels, frames="as found", kinds=("WEBP", "PNG", "JPEG")
    )


def decode_jxl(
    contents: TensorLike, channels: Any = 0, dtype: DTypeLike = dtypes.uint8,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the pixels (height, width, channels) of a JPEG XL file.

    Pillow reads such files with the package pillow-jxl-plugin. PNG and JPEG files are read too.

    Args:
        contents: bytes.
        channels: 1, 3 or 4; 0 for the number in the file.
        dtype: uint8.

    Raises:
        InvalidArgumentError: the bytes are not such a file.
        ImportError: Pillow or the plugin is not installed.
    """
    if as_dtype(dtype) != "uint8":
        raise InvalidArgumentError(f"decode_jxl: `dtype` must be uint8, got {as_dtype(dtype)}.")
    data = np.asarray(tensor(contents)).item()
    if data[:2] == b"\xff\x0a" or data[4:12] == b"JXL \r\n\x87\n":
        try:
            import pillow_jxl  # noqa: F401 # pyright: ignore[reportMissingImports]
        except ImportError:
            raise ImportError(
                "decode_jxl needs the package pillow-jxl-plugin: pip install pillow-jxl-plugin. "
                "Or save the image as PNG or WebP and use decode_image."
            ) from None
    return _read(contents, "decode_jxl", channels, frames="one", kinds=("JXL", "PNG", "JPEG"))


@operation
def is_jpeg(contents: TensorLike, name: str | None = None) -> Tensor:
    """Return whether bytes begin like a JPEG file.

    >>> import framework as tf
    >>> tf.image.is_jpeg(b"text").numpy()
    np.False_
    """
    return _starts_as_jpeg(tensor(contents))


@operation
def extract_jpeg_shape(
    contents: TensorLike, output_type: DTypeLike = dtypes.int32, name: str | None = None
) -> Tensor:
    """Return the shape (height, width, channels) of a JPEG file's image.

    Args:
        contents: bytes.
        output_type: int32 or int64.
    """
    found = _read(contents, "extract_jpeg_shape", 0, frames="one", kinds=("JPEG",))
    return tensor(np.array(found.shape), as_dtype(output_type))


# ---- encoding ------------------------------------------------------------------------------------


@operation
def encode_png(image: TensorLike, compression: Any = -1, name: str | None = None) -> Tensor:
    """Return the bytes of a PNG file.

    Args:
        image: uint8 or uint16 (..., height, width, channels) with 1 to 4 channels: gray, gray and
            alpha, RGB, RGB and alpha.
        compression: 0 (none) to 9 (smallest), or -1 for a compromise.

    Returns:
        A string for each image.

    Raises:
        ValueError: the dtype, the shape or `compression` is invalid.
    """
    x = tensor(image)
    if x.dtype not in ("uint8", "uint16"):
        raise InvalidArgumentError(f"encode_png: expected uint8 or uint16, got {x.dtype}.")
    if x.ndim < 3 or not 1 <= x.shape[-1] <= 4 or 0 in x.shape[-3:]:
        raise ShapeError(
            "encode_png: expected shape (..., height, width, 1 to 4 channels), got "
            f"{tuple(x.shape)}."
        )
    if not -1 <= int(compression) <= 9:
        raise InvalidArgumentError(
            f"encode_png: `compression` must be from -1 to 9, got {compression!r}."
        )
    return _png(x, compression=int(compression))


@operation
def encode_jpeg(
    image: TensorLike, format: str = "", quality: Any = 95, progressive: bool = False,
    optimize_size: bool = False, chroma_downsampling: bool = True, density_unit: str = "in",
    x_density: Any = 300, y_density: Any = 300, xmp_metadata: Any = "", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the bytes of a JPEG file.

    Args:
        image: uint8 (height, width, channels) with 1 or 3 channels.
        format: "grayscale" or "rgb"; "" to choose by the channels.
        quality: 0 to 100.
        progressive: True for a progressive JPEG, which becomes sharper while it loads.
        optimize_size: True to spend more time for a smaller file.
        chroma_downsampling: False to store the color of every pixel.
        density_unit: "in" or "cm".
        x_density, y_density: pixels per unit.
        xmp_metadata: bytes.

    Raises:
        ValueError: an argument is invalid.
        ImportError: Pillow is not installed.
    """
    x = tensor(image)
    count = {"": (1, 3), "grayscale": (1,), "rgb": (3,)}.get(format)
    if count is None or density_unit not in ("in", "cm"):
        raise InvalidArgumentError(
            "encode_jpeg: `format` must be '', 'grayscale' or 'rgb', and `density_unit` 'in' or "
            f"'cm', got {format!r} and {density_unit!r}."
        )
    if x.dtype != "uint8" or x.ndim != 3 or x.shape[-1] not in count or 0 in x.shape:
        raise ShapeError(
            f"encode_jpeg: expected uint8 of shape (height, width, {' or '.join(map(str, count))})"
            f", got {x.dtype} of shape {tuple(x.shape)}."
        )
    unit = 2.54 if density_unit == "cm" else 1
    return _jpeg(
        x, what="encode_jpeg", quality=_quality(quality, "encode_jpeg"),
        progressive=bool(progressive), optimize=bool(optimize_size),
        chroma_downsampling=bool(chroma_downsampling),
        density=(int(x_density * unit), int(y_density * unit)),
        xmp=xmp_metadata.encode() if isinstance(xmp_metadata, str) else bytes(xmp_metadata),
    )  # fmt: skip


def _quality(value, what):
    if not 0 <= int(value) <= 100:
        raise InvalidArgumentError(f"{what}: quality must be from 0 to 100, got {value!r}.")
    return int(value)


@operation
def adjust_jpeg_quality(
    image: TensorLike, jpeg_quality: Any, dct_method: str = "", name: str | None = None
) -> Tensor:
    """Encode images as JPEG with this quality, and decode them again.

    Args:
        image: (height, width, 1 or 3 channels); floats are from 0 to 1.
        jpeg_quality: 0 to 100.
        dct_method: ignored.

    Raises:
        ValueError: the shape or the quality is invalid.
        ImportError: Pillow is not installed.
    """
    x = tensor(image)
    if x.ndim != 3 or x.shape[-1] not in (1, 3):
        raise ShapeError(
            f"adjust_jpeg_quality: expected shape (height, width, 1 or 3), got {tuple(x.shape)}."
        )
    if isinstance(jpeg_quality, int):
        jpeg_quality = _quality(jpeg_quality, "adjust_jpeg_quality")
    contents = _jpeg_quality(converted(x, dtypes.uint8, True), tensor(jpeg_quality))
    channels = int(x.shape[-1])
    pixels = _read(contents, "adjust_jpeg_quality", channels, frames="one", kinds=("JPEG",))
    return converted(pixels, x.dtype, True)


def _random_quality(image, low, high, source, what):
    if not 0 <= low < high <= 100:
        raise InvalidArgumentError(
            f"{what}: expected 0 <= `min_jpeg_quality` < `max_jpeg_quality` <= 100, got {low!r} "
            f"and {high!r}."
        )
    return adjust_jpeg_quality(image, random.draw(source, "integers", (), int32, low, high))


@always
def random_jpeg_quality(
    image: TensorLike, min_jpeg_quality: Any, max_jpeg_quality: Any, seed: Any = None
) -> Tensor:
    """Apply `adjust_jpeg_quality` with a random quality.

    Args:
        image: (height, width, 1 or 3 channels).
        min_jpeg_quality, max_jpeg_quality: 0 to 100.
        seed: an int that seeds a separate generator; None for the global generator.
    """
    what = "random_jpeg_quality"
    return _random_quality(image, min_jpeg_quality, max_jpeg_quality, source_of(seed), what)


@always
def stateless_random_jpeg_quality(
    image: TensorLike, min_jpeg_quality: Any, max_jpeg_quality: Any, seed: Any
) -> Tensor:
    """Like `random_jpeg_quality`; `seed`, two integers, determines the result."""
    what = "stateless_random_jpeg_quality"
    return _random_quality(image, min_jpeg_quality, max_jpeg_quality, once(seed, what), what)
