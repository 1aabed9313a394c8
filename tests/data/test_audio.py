"""Sounds of a folder, and WAV files of every width."""

import struct
import wave

import numpy as np
import pytest

from framework import keras
from framework.core.errors import DamagedFileError
from framework.data.audio import read_wav

RNG = np.random.default_rng(5)


def write(path, integers, width, rate=8000, channels=1):
    """Write a WAV file by the standard library."""
    low = 2 ** (8 * width - 1)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        shift = low if width == 1 else 0  # bytes have no sign
        file.writeframes(
            b"".join(int(i + shift).to_bytes(width, "little", signed=width > 1) for i in integers)
        )
    return path


@pytest.mark.parametrize("width", [1, 2, 3, 4])
@pytest.mark.parametrize("channels", [1, 2])
def test_integers_of_every_width(width, channels, tmp_path):
    low = 2 ** (8 * width - 1)
    integers = [-low, low - 1, 0, 1, -1, low // 3]
    samples, rate = read_wav(write(tmp_path / "a.wav", integers, width, 11025, channels))
    assert (rate, samples.dtype, samples.shape) == (11025, np.float32, (6 // channels, channels))
    np.testing.assert_array_equal(samples.ravel(), np.float32(np.array(integers) / low))


def chunk(name, body):
    return name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)


def riff(*chunks):
    body = b"WAVE" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def form(kind=1, channels=1, rate=8000, bits=16, more=b""):
    size = channels * bits // 8
    return chunk(
        b"fmt ", struct.pack("<HHIIHH", kind, channels, rate, rate * size, size, bits) + more
    )


SAMPLES = np.float32([0.5, -0.25])
EXTENSIBLE = (
    struct.pack("<HHIH", 22, 16, 4, 1) + b"\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"
)
FILES = {
    "floats": riff(form(3, bits=32), chunk(b"data", SAMPLES.tobytes())),
    "wide floats": riff(form(3, bits=64), chunk(b"data", SAMPLES.astype("f8").tobytes())),
    "other chunks": riff(chunk(b"LIST", b"abc"), form(), chunk(b"fact", b"1234"),
                         chunk(b"data", np.int16(SAMPLES * 2**15).tobytes()), chunk(b"id3 ", b"x")),
    "extensible": riff(form(0xFFFE, more=EXTENSIBLE),
                       chunk(b"data", np.int16(SAMPLES * 2**15).tobytes())),
    "an unfinished sample": riff(form(),
                                 chunk(b"data", np.int16(SAMPLES * 2**15).tobytes() + b"1")),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_other_wav_files(name, tmp_path):
    (tmp_path / "a.wav").write_bytes(FILES[name])
    np.testing.assert_array_equal(read_wav(tmp_path / "a.wav")[0][:, 0], SAMPLES)


BROKEN = {
    "empty": b"",
    "another file": b"RIFF\0\0\0\0AVI " + bytes(50),
    "no samples": riff(form()),
    "no format": riff(chunk(b"data", b"1234")),
    "a short format": riff(chunk(b"fmt ", b"1234"), chunk(b"data", b"1234")),
    "another format": riff(form(2, bits=4), chunk(b"data", b"1234")),
    "no channels": riff(form(channels=0), chunk(b"data", b"1234")),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_wav_files(name, tmp_path):
    (tmp_path / "a.wav").write_bytes(BROKEN[name])
    with pytest.raises(DamagedFileError, match=r"a\.wav"):
        read_wav(tmp_path / "a.wav")


@pytest.fixture
def folder(tmp_path):
    for label, lengths in (("bark", (5, 9)), ("meow", (7, 3))):
        (tmp_path / label).mkdir()
        for i, n in enumerate(lengths):
            write(tmp_path / label / f"{i}.wav", range(100, 100 + n), 2)
    return tmp_path


def load(folder, **arguments):
    return keras.utils.audio_dataset_from_directory(folder, verbose=False, **arguments)


def test_sounds_end_in_zeros(folder):
    data = load(folder, batch_size=2, shuffle=False)
    assert data.class_names == ["bark", "meow"]
    batches = [(x.numpy(), y.numpy()) for x, y in data]
    assert [x.shape for x, _ in batches] == [(2, 9, 1), (2, 7, 1)]
    assert [y.tolist() for _, y in batches] == [[0, 0], [1, 1]]
    np.testing.assert_array_equal(batches[0][0][0, :5, 0] * 2**15, range(100, 105))
    assert not batches[0][0][0, 5:].any()


def test_one_length_for_all(folder):
    data = load(folder, output_sequence_length=6, label_mode="categorical", shuffle=False)
    x, y = next(iter(data))
    assert (x.shape, x.dtype, y.shape) == ((4, 6, 1), "float32", (4, 2))
    np.testing.assert_array_equal(x[1, :, 0] * 2**15, range(100, 106))
    np.testing.assert_array_equal(x[3, :, 0] * 2**15, [100, 101, 102, 0, 0, 0])


def test_single_sounds_and_parts(folder):
    sounds = [x.shape for x in load(folder, label_mode=None, batch_size=None, shuffle=False)]
    assert sounds == [(5, 1), (9, 1), (7, 1), (3, 1)]
    first, second = load(folder, validation_split=0.25, subset="both", seed=1)
    assert (len(first.file_paths), len(second.file_paths)) == (3, 1)


def test_another_rate(folder):
    pytest.importorskip("scipy")
    x, _ = next(iter(load(folder, sampling_rate=16000, shuffle=False)))
    assert x.shape == (4, 18, 1)
    np.testing.assert_allclose(x[1, 4:14:2, 0] * 2**15, range(102, 107), rtol=0.1)


@pytest.mark.parametrize(
    "arguments",
    [{"ragged": True}, {"sampling_rate": 0}, {"sampling_rate": 8000.0},
     {"output_sequence_length": -1}, {"labels": [1]}],
)  # fmt: skip
def test_mistakes(arguments, folder):
    with pytest.raises(ValueError, match="audio_dataset_from_directory"):
        load(folder, **arguments)
