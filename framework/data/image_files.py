"""Decode and encode image files with Pillow (the extra `image`)."""

import io
import struct

import numpy as np

from framework.core.errors import InvalidArgumentError
from framework.data import png_files
from framework.data.images import pillow

STARTS = {
    "JPEG": b"\xff\xd8\xff", "PNG": b"\x89PNG", "GIF": b"GIF8", "BMP": b"BM", "WEBP": b"RIFF",
}  # fmt: skip
_MODES = {1: "L", 3: "RGB", 4: "RGBA"}
_ALLOWED = {"JPEG": (0, 1, 3), "PNG": (0, 1, 3, 4), "GIF": (0, 3), "BMP": (0, 3, 4),
            "WEBP": (0, 3, 4)}  # fmt: skip
_NATIVE = {"1": "L", "L": "L", "LA": "LA", "RGBA": "RGBA", "PA": "RGBA"}


def kind_of(contents, what):
    """Return the format of a file: "JPEG", "PNG", "GIF", "BMP" or "WEBP"."""
    for kind, start in STARTS.items():
        if contents.startswith(start) and (kind != "WEBP" or contents[8:12] == b"WEBP"):
            return kind
    raise InvalidArgumentError(
        f"{what}: expected a JPEG, PNG, GIF, BMP or WebP file, got {len(contents)} bytes that "
        f"begin with {contents[:8]!r}."
    )


def decoded(contents, *, what, channels=0, dtype=np.uint8, kinds=tuple(STARTS), ratio=1):
    """Return an image file's frames, (frames, height, width, channels), and its format.

    Args:
        contents: bytes.
        what: the caller's name, for messages.
        channels: 1, 3 or 4; 0 for the number in the file.
        dtype: uint8, uint16, or float32 for values from 0 to 1.
        kinds: the formats that the caller reads.
        ratio: the factor by which to reduce a JPEG image: 1, 2, 4 or 8.
    """
    kind = kind_of(contents, what)
    if kind not in kinds:
        raise InvalidArgumentError(
            f"{what}: expected a file in the format {' or '.join(kinds)}, got {kind}. Use "
            "decode_image."
        )
    if channels not in _ALLOWED[kind]:
        raise InvalidArgumentError(
            f"{what}: `channels` of {kind} must be one of {_ALLOWED[kind]}, got {channels}."
        )
    image = pillow(what)
    try:
        deep = dtype != np.uint8 or channels == 1
        if deep and kind == "PNG" and png_files.has_deep_colors(contents):
            frames = [_with_channels(png_files.read(contents), channels)]
        elif kind == "BMP" and contents[28:30] == b"\x20\0":
            frames = [_with_channels(_bmp_with_alpha(contents), channels)]
        else:
            with image.open(io.BytesIO(contents)) as source:
                frames = _frames(source, kind, channels, ratio)
    except (OSError, SyntaxError, ValueError, struct.error, image.DecompressionBombError) as error:
        raise InvalidArgumentError(f"{what}: invalid {kind} file: {error}.") from None
    return _in_dtype(np.stack(frames), dtype, 257 if kind == "PNG" else 256), kind


def _frames(source, kind, channels, ratio):
    if kind == "JPEG":
        sizes = [max(n // ratio, 1) for n in source.size]
        source.draft("L" if channels == 1 else None, sizes if ratio > 1 else None)
    count = getattr(source, "n_frames", 1) if kind in ("GIF", "WEBP") else 1
    frames = []
    for i in range(count):
        if count > 1:
            source.seek(i)
        frames.append(_pixels(source, 3 if kind == "GIF" else channels))
    return frames


def _pixels(source, channels):
    if source.mode.startswith("I"):  # Pillow's modes of 16-bit grayscale images
        return _with_channels(np.asarray(source).astype(np.uint16)[:, :, None], channels)
    mode = _MODES.get(channels) or _NATIVE.get(source.mode, "RGB")
    if channels == 1 and source.format == "PNG" and source.mode not in ("1", "L", "LA"):
        return _gray(np.asarray(source.convert("RGB")))
    if not channels and source.mode == "P" and "transparency" in source.info:
        mode = "RGBA"
    pixels = np.asarray(source if source.mode == mode else source.convert(mode))
    return pixels[:, :, None] if pixels.ndim == 2 else pixels


def _bmp_with_alpha(contents):
    """Return the pixels of a 32-bit BMP file; Pillow would drop the alpha channel."""
    start, _, width, height = struct.unpack("<IIii", contents[10:26])
    pixels = np.frombuffer(contents, np.uint8, abs(height) * width * 4, start)
    pixels = pixels.reshape(abs(height), width, 4)[:, :, [2, 1, 0, 3]]
    return pixels[::-1] if height > 0 else pixels


def _with_channels(pixels, channels):
    """Return pixels with 1, 3 or 4 channels (0: unchanged); gray is computed as in libpng."""
    have = pixels.shape[-1]
    if channels in (0, have):
        return pixels
    color = pixels[..., :1] if have < 3 else pixels[..., :3]
    if channels == 1:
        return color if have < 3 else _gray(color)
    color = np.broadcast_to(color, (*color.shape[:2], 3))
    largest = np.iinfo(pixels.dtype).max
    alpha = pixels[..., -1:] if have in (2, 4) else np.full_like(pixels[..., :1], largest)
    return color if channels == 3 else np.concatenate([color, alpha], axis=-1)


def _gray(color):
    """Return 0.299 red + 0.587 green + 0.114 blue with libpng's rounding: 15-bit fixed point."""
    total = color.astype(np.uint32) @ np.array([9797, 19234, 3737], np.uint32)
    half = 1 << 14 if color.dtype == np.uint16 else 0
    return ((total + np.uint32(half)) >> 15)[..., None].astype(color.dtype)


def _in_dtype(pixels, dtype, factor):
    """Return pixels in another dtype; `factor` scales 8-bit values to 16 bits."""
    if dtype == np.float32:
        return np.float32(pixels) / np.float32(np.iinfo(pixels.dtype).max)
    if pixels.dtype == dtype:
        return pixels
    return np.uint8(pixels >> 8) if dtype == np.uint8 else np.uint16(pixels) * np.uint16(factor)


def jpeg_of(pixels, *, what, quality, progressive, optimize, chroma_downsampling, density, xmp):
    """Encode a uint8 image of shape (height, width, 1 or 3) as JPEG; return the bytes."""
    squeezed = pixels[:, :, 0] if pixels.shape[2] == 1 else pixels
    options = {"xmp": xmp} if xmp else {}
    stream = io.BytesIO()
    pillow(what).fromarray(squeezed).save(
        stream, "JPEG", quality=max(quality, 1), progressive=progressive, optimize=optimize,
        subsampling=2 if chroma_downsampling else 0, dpi=density, **options,
    )  # fmt: skip
    return stream.getvalue()
