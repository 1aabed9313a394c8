"""Datasets of the sounds in a folder, and a reader of WAV files."""

import math
import struct
from pathlib import Path
from typing import Any

import numpy as np

from framework.core.errors import DamagedFileError, InvalidArgumentError
from framework.data.directories import _datasets, _index, _one_of

SOUNDS = (".wav",)
# the format codes in the header of a WAV file, for integer and for float samples
_INTEGERS, _FLOATS, _EXTENSIBLE = 1, 3, 0xFFFE


def audio_dataset_from_directory(
    directory: Any, labels: Any = "inferred", label_mode: Any = "int", class_names: Any = None,
    batch_size: Any = 32, sampling_rate: Any = None, output_sequence_length: Any = None,
    ragged: bool = False, shuffle: bool = True, seed: Any = None, validation_split: Any = None,
    subset: Any = None, follow_links: bool = False, verbose: bool = True,
) -> Any:  # fmt: skip
    """Return a dataset of the sounds (.wav files) in a folder.

    Args:
        directory: a folder; with inferred labels, it has one subfolder for each class.
        labels: "inferred" from the subfolders, a list with one int for each file in the order of
            sorted paths, or None.
        label_mode: "int" (int32), "categorical" (one-hot float32), "binary" (float32 of shape
            (batch, 1)), or None for sounds alone.
        class_names: the subfolders to use, in the order of their labels; by default all, sorted.
        batch_size: the number of sounds in a batch; None for single sounds.
        sampling_rate: the rate in Hz to which all sounds are converted; needs SciPy. By default
            each sound keeps its rate.
        output_sequence_length: the number of samples of each sound to keep; shorter sounds are
            padded with zeros. By default the length of the longest sound in the batch.
        ragged: must be False: sounds of different lengths are padded.
        shuffle: True for a new order of all sounds in each epoch; False for sorted paths.
        seed: the seed of the order. With equal seeds, training and validation get the same files as
            in Keras.
        validation_split: the fraction of the sounds for validation.
        subset: "training", "validation", or "both" for the two datasets.
        follow_links: True to visit subfolders that are links.
        verbose: True to print how many files were found.

    Returns:
        A Dataset of (sounds, labels): float32 from -1 to 1 of shape (batch, samples, channels). It
        has the attributes `class_names` and `file_paths`.

    Raises:
        ValueError: an argument is unknown, or there are no sounds.
    """
    name = "audio_dataset_from_directory"
    _one_of(name, "ragged", ragged, (False,))
    for argument, value in (
        ("sampling_rate", sampling_rate), ("output_sequence_length", output_sequence_length)
    ):  # fmt: skip
        if value is not None and (not isinstance(value, int) or value < 1):
            raise InvalidArgumentError(
                f"{name}: {argument}: expected a positive int or None, got {value!r}."
            )

    def load(path):
        samples, rate = read_wav(path)
        if sampling_rate is not None:
            samples = _resampled(samples, rate, sampling_rate)
        if output_sequence_length is not None:
            samples = _padded(samples[:output_sequence_length], output_sequence_length)
        return samples

    found = _index(name, directory, SOUNDS, labels, label_mode, class_names, follow_links, verbose)
    return _datasets(
        name, found, load, batch_size, shuffle, seed, validation_split, subset, _stacked
    )


def _padded(samples, length, channels=None):
    missing = (0, length - len(samples)), (0, (channels or samples.shape[1]) - samples.shape[1])
    return np.pad(samples, missing)


def _stacked(sounds):
    """Return sounds of different lengths as one array, padded with zeros at the end."""
    length, channels = (max(s.shape[axis] for s in sounds) for axis in (0, 1))
    return np.stack([_padded(s, length, channels) for s in sounds])


def _resampled(samples, rate, wanted):
    if rate == wanted:
        return samples
    try:
        from scipy.signal import resample_poly
    except ImportError:
        raise ImportError(
            "audio_dataset_from_directory: sampling_rate needs SciPy: pip install scipy"
        ) from None
    divisor = math.gcd(rate, wanted)
    return resample_poly(samples, wanted // divisor, rate // divisor).astype(np.float32)


# ---- WAV files -----------------------------------------------------------------------------------


def read_wav(path):
    """Return the samples of a WAV file and their sampling rate.

    Args:
        path: a WAV file whose samples are ints of 8, 16, 24 or 32 bits, or floats of 32 or 64.

    Returns:
        float32 of shape (samples, channels), with integers scaled to the range from -1 to 1; and
        the sampling rate in Hz.

    Raises:
        DamagedFileError: the file is not such a WAV file, or it ends before its samples.
    """
    return samples_of(Path(path).read_bytes(), path)


def samples_of(data, path):
    """Return the same as `read_wav`, given a file's bytes; error messages name `path`."""
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise DamagedFileError(
            f"{path}: expected a WAV file, got one that begins with {data[:12].hex()!r}."
        )
    form = samples = None
    at = 12
    while at + 8 <= len(data) and samples is None:
        name, size = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "little")
        body = data[at + 8 : at + 8 + size]
        if name == b"fmt ":
            form = _form(body, path)
        elif name == b"data":
            samples = body
        at += 8 + size + size % 2
    if form is None or samples is None:
        raise DamagedFileError(f"{path}: the WAV file has no format chunk or no data chunk.")
    kind, channels, rate, width = form
    whole = len(samples) // (width * channels) * width * channels
    return _numbers(samples[:whole], kind, width).reshape(-1, channels), rate


def _form(body, path):
    """Return (format code, channels, sampling rate, bytes per sample) from the "fmt " chunk."""
    if len(body) < 16:
        raise DamagedFileError(f"{path}: the WAV file's format chunk is truncated.")
    kind, channels, rate, _, _, bits = struct.unpack("<HHIIHH", body[:16])
    if kind == _EXTENSIBLE and len(body) >= 26:
        kind = int.from_bytes(body[24:26], "little")
    known = {_INTEGERS: (8, 16, 24, 32), _FLOATS: (32, 64)}
    if bits not in known.get(kind, ()) or not channels or not rate:
        raise DamagedFileError(
            f"{path}: expected a WAV file whose samples are ints of 8 to 32 bits or floats, "
            f"got format code {kind}, {bits} bits, {channels} channels, {rate} Hz."
        )
    return kind, channels, rate, bits // 8


def _numbers(data, kind, width):
    if kind == _FLOATS:
        return np.frombuffer(data, f"<f{width}").astype(np.float32)
    if width == 1:  # in WAV files, 8-bit samples are unsigned and wider samples are signed
        return ((np.frombuffer(data, np.uint8).astype(np.float32) - 128) / 128).astype(np.float32)
    if width == 3:
        wide = np.zeros((len(data) // 3, 4), np.uint8)
        wide[:, 1:] = np.frombuffer(data, np.uint8).reshape(-1, 3)
        data, width = wide.tobytes(), 4
    scale = np.float32(2.0 ** (1 - 8 * width))
    return np.frombuffer(data, f"<i{width}").astype(np.float32) * scale
