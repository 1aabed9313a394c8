"""tf.audio: decode and encode WAV files."""

import struct
from typing import Any, NamedTuple

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.op import Op, no_derivative
from framework.core.operations import operation
from framework.core.tensor import Tensor
from framework.data.audio import samples_of

__all__ = ["decode_wav", "encode_wav"]

_SCALE = 2.0**15  # converts floats from -1 to 1 to 16-bit samples


class DecodeWav(NamedTuple):
    """The sound that `decode_wav` returns."""

    audio: Any
    sample_rate: Any


def _decode(contents, *, channels, samples):
    sound, rate = samples_of(contents.item(), "decode_wav: contents")
    if channels >= 0:
        given = min(channels, sound.shape[1])
        sound = np.pad(sound[:, :given], ((0, 0), (0, channels - given)), "edge")
    if samples >= 0:
        sound = sound[:samples]
        sound = np.pad(sound, ((0, samples - len(sound)), (0, 0)))
    return np.ascontiguousarray(sound), np.asarray(rate, np.int32)


def _decode_infer(contents, *, channels, samples):
    shape = tuple(None if n < 0 else n for n in (samples, channels))
    return (shape, np.dtype(np.float32)), ((), np.dtype(np.int32))


def _encode(audio, sample_rate):
    # in float64 the product and the sum are exact, so that halves are rounded away from zero
    scaled = audio.astype(np.float32).astype(np.float64) * _SCALE
    rounded = np.copysign(np.floor(np.abs(scaled) + 0.5), scaled)
    whole = np.nan_to_num(rounded, nan=0).clip(-_SCALE, _SCALE - 1).astype("<i2")
    rate, channels = int(sample_rate), audio.shape[1]
    size, width = whole.nbytes, 2 * channels
    head = struct.pack(
        "<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + size, b"WAVE", b"fmt ", 16, 1, channels, rate,
        rate * width, width, 16, b"data", size,
    )  # fmt: skip
    file = np.empty((), object)
    file[()] = head + whole.tobytes()
    return file


# listed=False: these ops are not in the table of all ops, because they have no derivative
_decoded = Op(
    "decode_wav", _decode, no_derivative, inputs=("contents",), outputs=2, infer=_decode_infer,
    raises=True, listed=False, sized_by_values=True, fresh=True,
)  # fmt: skip
_encoded = Op(
    "encode_wav", _encode, no_derivative, no_derivative, inputs=("audio", "sample_rate"),
    infer=lambda audio, sample_rate: ((), np.dtype(object)), listed=False, fresh=True,
)  # fmt: skip


@operation
def decode_wav(
    contents: TensorLike, desired_channels: int = -1, desired_samples: int = -1,
    name: str | None = None,
) -> DecodeWav:  # fmt: skip
    """Return the samples of a WAV file and their rate.

    Args:
        contents: the bytes of a file whose samples are integers of 8, 16, 24 or 32 bits, or floats
            of 32 or 64 bits. TensorFlow reads integers of 16 bits only.
        desired_channels: the number of channels to return: the last channel of the file is
            repeated, or further channels are dropped; -1 for the channels of the file.
        desired_samples: the number of samples to return: zeros are added at the end, or further
            samples are dropped; -1 for the samples of the file.

    Returns:
        A named tuple: `audio`, float32 of shape (samples, channels), where integer samples are
        scaled to [-1, 1); and `sample_rate` in Hz, int32 of shape ().

    Raises:
        DamagedFileError: the bytes are not such a file, or are truncated before the samples.

    >>> file = encode_wav([[0.5], [-0.25]], 8000)
    >>> audio, rate = decode_wav(file, desired_samples=3)
    >>> audio.numpy().ravel().tolist(), rate.item()
    ([0.5, -0.25, 0.0], 8000)
    """
    x = tensor(contents)
    if x.dtype != "string" or x.ndim:
        raise ShapeError(
            f"decode_wav: contents: expected the bytes of one file, got {x.dtype} of shape "
            f"{tuple(x.shape)}."
        )
    wanted = {"desired_channels": desired_channels, "desired_samples": desired_samples}
    for argument, value in wanted.items():
        if int(value) < -1:
            raise InvalidArgumentError(
                f"decode_wav: {argument}: expected an int >= 0, or -1 for all, got {value!r}."
            )
    found = _decoded(x, channels=int(desired_channels), samples=int(desired_samples))
    return DecodeWav(*found)


@operation
def encode_wav(audio: TensorLike, sample_rate: TensorLike, name: str | None = None) -> Tensor:
    """Return samples as a WAV file of 16-bit integers, a string tensor of shape ().

    Args:
        audio: floats from -1 to 1 of shape (samples, channels); other values are clipped.
        sample_rate: the rate in Hz.

    Raises:
        InvalidArgumentError: the shape or the rate is wrong.

    >>> encode_wav([[0.5], [-0.25]], 8000).item()[-4:].hex()
    '004000e0'
    """
    x, rate = tensor(audio), tensor(sample_rate)
    if x.ndim != 2 or x.shape[1] == 0:
        raise ShapeError(
            "encode_wav: audio must be 2-dimensional (samples, channels) with at least one "
            f"channel, got shape {tuple(x.shape)}."
        )
    if rate.ndim or not 0 < int(rate) < 2**32:
        raise InvalidArgumentError(
            f"encode_wav: sample_rate must be in (0, 2^32), got: {sample_rate!r}."
        )
    return _encoded(x, rate)
