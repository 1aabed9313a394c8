"""The content of a summary: an array in the format that TensorBoard expects, and its metadata.

Each function returns a `Content`. The formats are those of TensorBoard's plugins for TensorFlow 2:
every summary is a tensor, and its metadata name the plugin that shows it.
"""

import struct
import warnings
from typing import Any, NamedTuple

import numpy as np

from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.data.png_files import written as png
from framework.training.summaries.event_file import messages

BUCKETS = 30  # the default number of histogram buckets in TensorBoard


class Content(NamedTuple):
    """The array of a summary, and its `SummaryMetadata` or None."""

    array: np.ndarray
    metadata: Any


def scalar(data, description=None):
    """Return the content of one number."""
    array = _numbers(data, "scalar")
    if array.shape != ():
        raise ShapeError(f"tf.summary.scalar: data: expected shape (), got {array.shape}.")
    return Content(array.astype(np.float32), _metadata("scalar", description))


def histogram(data, buckets=None, description=None):
    """Return the content of a histogram: rows (left edge, right edge, count) of `buckets`."""
    array = _numbers(data, "histogram").astype(np.float64).reshape(-1)
    buckets = BUCKETS if buckets is None else _count(buckets, "histogram", "buckets")
    return Content(_rows(array, buckets), _metadata("histogram", description))


def _rows(array, buckets):
    finite = array[np.isfinite(array)]
    if finite.size < array.size:
        warnings.warn(
            f"tf.summary.histogram: {array.size - finite.size} of {array.size} elements are NaN or "
            "infinite and are not counted.",
            stacklevel=2,
        )
    rows = np.zeros((buckets, 3))
    if not finite.size or not buckets:
        return rows
    low, high = finite.min(), finite.max()
    if low == high:  # if all values are equal, the last bucket counts them
        rows[:, :2], rows[-1, 2] = low, finite.size
        return rows
    # Numbers are halved before subtraction, because the difference of two large ones can overflow.
    half, width = low / 2, high / 2 / buckets - low / 2 / buckets
    places = np.minimum(((finite / 2 - half) / width).astype(np.int64), buckets - 1)
    edges = 2 * (half + width * np.arange(buckets + 1))
    edges[-1] = high
    rows[:, 0], rows[:, 1] = edges[:-1], edges[1:]
    rows[:, 2] = np.bincount(places, minlength=buckets)
    return rows


def image(data, max_outputs=3, description=None):
    """Return the content of images (k, height, width, 1 to 4 channels)."""
    array = _numbers(data, "image")
    if array.ndim != 4 or array.shape[3] not in (1, 2, 3, 4) or 0 in array.shape[1:]:
        raise ShapeError(
            "tf.summary.image: data: expected shape (images, height, width, channels) with 1 to 4 "
            f"channels, got {array.shape}."
        )
    most = _count(max_outputs, "image", "max_outputs")
    _, height, width, _ = array.shape
    files = [png(_bytes_of_colors(pixels)) for pixels in array[:most]]
    texts = [str(width).encode(), str(height).encode(), *files]
    return Content(_strings(texts), _metadata("image", description))


def _bytes_of_colors(pixels):
    """Return pixels as uint8: floats are in [0, 1], other integers are scaled to 0 to 255."""
    if pixels.dtype == np.uint8:
        return pixels
    if pixels.dtype.kind == "f":
        whole = np.floor(np.nan_to_num(pixels.astype(np.float64)) * 255.5)
        return np.clip(whole, 0, 255).astype(np.uint8)
    if pixels.dtype.itemsize > 1:
        pixels = pixels // ((int(np.iinfo(pixels.dtype).max) + 1) // 256)
    else:
        pixels = pixels.astype(np.int16) * 2  # int8 has values only up to 127
    return np.clip(pixels, 0, 255).astype(np.uint8)


def audio(data, sample_rate, max_outputs=3, encoding=None, description=None):
    """Return the content of sounds (k, samples, channels) in [-1, 1], as 16-bit WAV files."""
    if encoding not in (None, "wav"):
        raise InvalidArgumentError(
            f"tf.summary.audio: encoding: expected None or 'wav', got {encoding!r}."
        )
    array = _numbers(data, "audio")
    if array.ndim != 3 or array.dtype.kind != "f":
        raise ShapeError(
            "tf.summary.audio: data: expected floats of shape (sounds, samples, channels), got "
            f"{array.dtype} of shape {array.shape}."
        )
    most = _count(max_outputs, "audio", "max_outputs")
    rate = int(_numbers(sample_rate, "audio"))
    files = [text for sound in array[:most] for text in (_wav(sound, rate), b"")]
    metadata = messages("plugins.audio.metadata")
    wav = metadata.Encoding.Value("WAV")
    return Content(
        _strings(files).reshape(-1, 2), metadata.create_summary_metadata(None, description, wav)
    )


def _wav(sound, rate):
    """Return a WAV file of samples (n, channels) in [-1, 1]."""
    channels = sound.shape[1]
    scaled = np.nan_to_num(sound.astype(np.float64)) * 2**15
    # halves are rounded away from zero
    rounded = np.copysign(np.floor(np.abs(scaled) + 0.5), scaled)
    samples = np.clip(rounded, -(2**15), 2**15 - 1).astype("<i2").tobytes()
    form = struct.pack("<HHIIHH", 1, channels, rate, rate * channels * 2, channels * 2, 16)
    head = struct.pack("<4sI4s4sI", b"RIFF", 36 + len(samples), b"WAVE", b"fmt ", len(form))
    return head + form + struct.pack("<4sI", b"data", len(samples)) + samples


def text(data, description=None):
    """Return the content of strings, which TensorBoard shows as Markdown."""
    array = np.asarray(data, object) if isinstance(data, (str, bytes)) else _array(data)
    if array.dtype.kind not in "OSU":
        raise DTypeError(f"tf.summary.text: data: expected strings, got {array.dtype}.")
    return Content(_strings(array), _metadata("text", description))


def tensor(data, metadata=None):
    """Return the content of any tensor; the caller passes a `SummaryMetadata` or its bytes."""
    kind = messages("compat.proto.summary_pb2").SummaryMetadata
    array = _array(data)
    if array.dtype.kind in "OSU":
        array = _strings(array)
    if isinstance(metadata, bytes):
        metadata = kind.FromString(metadata)
    elif metadata is not None and not hasattr(metadata, "SerializeToString"):
        raise DTypeError(
            "tf.summary.write: metadata: expected a SummaryMetadata of TensorBoard, or its bytes, "
            f"got {type(metadata).__name__}."
        )
    elif metadata is not None:
        metadata = kind.FromString(metadata.SerializeToString())
    return Content(array, metadata)


def plugin_metadata(plugin, content=b""):
    """Return metadata with the name of a plugin."""
    kind = messages("compat.proto.summary_pb2").SummaryMetadata
    return kind(plugin_data=kind.PluginData(plugin_name=plugin, content=content))


def _metadata(plugin, description):
    if description is not None and not isinstance(description, str):
        raise DTypeError(
            f"tf.summary.{plugin}: description: expected a string, got {description!r}."
        )
    return messages(f"plugins.{plugin}.metadata").create_summary_metadata(None, description)


def _array(data):
    """Return the array of a tensor, variable, number or nest of them."""
    if isinstance(data, (list, tuple)):
        data = [_array(part) for part in data]
    return np.asarray(data)


def _numbers(data, plugin):
    array = _array(data)
    if array.dtype.kind not in "fiub" and array.dtype.name != "bfloat16":
        raise DTypeError(f"tf.summary.{plugin}: data: expected numbers, got {array.dtype}.")
    return array.astype(np.float32) if array.dtype.kind not in "fiu" else array


def _count(value, plugin, name):
    array = _array(value)
    if array.shape != () or array.dtype.kind not in "iu" or array < 0:
        raise InvalidArgumentError(
            f"tf.summary.{plugin}: {name}: expected an int >= 0, got {value!r}."
        )
    return int(array)


def _strings(values):
    """Return an array of bytes objects."""
    found = np.asarray(values, object)
    encoded = [v.encode() if isinstance(v, str) else bytes(v) for v in found.reshape(-1)]
    array = np.empty(len(encoded), object)
    array[:] = encoded
    return array.reshape(found.shape)
