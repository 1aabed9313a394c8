"""tf.audio: WAV files in tensors, in traces, datasets and saved models."""

import numpy as np
import pytest

import framework as tf
from framework.core.errors import DamagedFileError

SOUND = np.float32([[0.5, -0.25], [0.75, 0.0], [-1.0, 0.125]])
FILE = tf.audio.encode_wav(SOUND, 16000)


@pytest.mark.parametrize(
    ("channels", "samples", "expected"),
    [
        (-1, -1, SOUND),
        (1, 2, SOUND[:2, :1]),
        (3, -1, SOUND[:, [0, 1, 1]]),
        (-1, 5, np.pad(SOUND, ((0, 2), (0, 0)))),
        (0, 0, np.zeros((0, 0))),
    ],
)
def test_wanted_channels_and_samples(channels, samples, expected):
    found = tf.audio.decode_wav(FILE, desired_channels=channels, desired_samples=samples)
    np.testing.assert_array_equal(found.audio, expected)
    assert (found.audio.dtype, found.sample_rate.dtype) == (tf.float32, tf.int32)
    assert found.sample_rate.numpy() == 16000


def test_all_samples_of_16_bits_round_trip():
    integers = np.arange(-(2**15), 2**15)
    file = tf.audio.encode_wav(integers[:, None] / 2**15, 8000)
    found = tf.audio.decode_wav(file).audio.numpy()[:, 0] * 2**15
    np.testing.assert_array_equal(found, integers)


def test_halves_are_rounded_away_from_zero():
    file = tf.audio.encode_wav(np.array([[0.5], [-0.5], [1.5], [np.nan]]) / 2**15, 8000)
    np.testing.assert_array_equal(np.frombuffer(file.item()[44:], "<i2"), [1, -1, 2, 0])


def test_decoding_in_a_trace_and_in_a_dataset():
    @tf.function
    def first(contents):
        audio, rate = tf.audio.decode_wav(contents, 1, 2)
        return tf.squeeze(audio, -1) * 2.0, rate

    for _ in range(4):
        np.testing.assert_array_equal(first(FILE)[0], SOUND[:2, 0] * 2)
    other = tf.audio.encode_wav(-SOUND, 8000)
    np.testing.assert_array_equal(first(other)[0], np.clip(-SOUND[:2, 0] * 2, -2, 2))
    assert first(other)[1].numpy() == 8000
    made = tf.data.Dataset.from_tensor_slices([FILE.item(), other.item()]).map(first)
    assert made.element_spec[0].shape == (2,)
    np.testing.assert_array_equal([x for x, _ in made], [SOUND[:2, 0] * 2, -SOUND[:2, 0] * 2])


def test_bad_arguments():
    with pytest.raises(DamagedFileError, match="decode_wav: contents: expected a WAV file, got"):
        tf.audio.decode_wav(b"text")
    with pytest.raises(tf.errors.InvalidArgumentError, match="the bytes of one file, got string"):
        tf.audio.decode_wav([b"text"])
    with pytest.raises(tf.errors.InvalidArgumentError, match="desired_samples: expected an int"):
        tf.audio.decode_wav(FILE, 1, -2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be 2-dimensional"):
        tf.audio.encode_wav([0.5], 8000)
    with pytest.raises(tf.errors.InvalidArgumentError, match="sample_rate must be in"):
        tf.audio.encode_wav([[0.5]], 0)


def test_a_function_of_a_file_name_is_left_out_of_a_saved_model(tmp_path):
    made = tf.Module()

    @tf.function
    def louder(x):
        if x.dtype == tf.string:
            x = tf.audio.decode_wav(tf.io.read_file(x), 2).audio
        return x * 2.0

    made.louder = louder
    louder.get_concrete_function(tf.TensorSpec((), tf.string))
    louder.get_concrete_function(tf.TensorSpec((None, 2)))
    with pytest.warns(UserWarning, match="saved without 1 of its signatures: read_file"):
        tf.saved_model.save(made, tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    np.testing.assert_array_equal(loaded.louder(SOUND), SOUND * 2)
