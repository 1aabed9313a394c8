"""Spectrograms: Keras's numbers, by TensorFlow's convolutions and transforms."""

import numpy as np
import pytest

from framework import keras, layers

TIMES = np.arange(300)
WAVES = np.float32(np.sin(TIMES * 0.7) + np.cos(TIMES * 0.31))
X = WAVES[:40].reshape(1, 20, 2)
MODES = {  # elements 0, 1, 3, 6 and -3 of the outputs
    "log": [0.56346, 0.52366, -0.74166, 0.53472, 0.43548],
    "magnitude": [1.75674, 1.68819, 0.47632, 1.70698, 1.5457],
    "psd": [3.08615, 5.69998, 0.45376, 5.82754, 4.77839],
    "real": [1.75674, -1.64642, -0.46474, -1.43138, 1.28452],
    "imag": [0.0, -0.37322, -0.1044, -0.93001, 0.85976],
    "stft": [1.75674, -1.64642, -0.46474, -0.37322, 0.85976],
}
MEL = [
    ({}, [17.3518, 20.6756, 17.2403, -11.5234]),
    ({"power_to_db": False, "mag_exp": 1.0}, [7.9342, 14.7803, 8.781, 0.2318]),
    (
        {"sequence_length": 20, "window": "hamming", "max_freq": 4000.0},
        [11.4157, 16.7939, 19.5714, 14.0598],
    ),
    ({"top_db": 5.0, "ref_power": 2.0}, [14.3415, 17.6653, 14.23, 13.9232]),
]


@pytest.mark.parametrize("mode", MODES)
def test_modes_of_keras(mode):
    settings = {"mode": mode, "frame_length": 8, "frame_step": 6, "padding": "same"}
    y = layers.STFTSpectrogram(**settings)(X).numpy()
    assert y.shape == (1, 4, 20 if mode == "stft" else 10)
    np.testing.assert_allclose(y.ravel()[[0, 1, 3, 6, -3]], MODES[mode], atol=2e-5)
    wide = layers.STFTSpectrogram(**settings, expand_dims=True)(X).numpy()
    np.testing.assert_array_equal(wide.transpose(0, 1, 3, 2).reshape(y.shape), y)
    first = layers.STFTSpectrogram(**settings, data_format="channels_first")
    np.testing.assert_allclose(first(X.transpose(0, 2, 1)), y.transpose(0, 2, 1), atol=1e-6)


def test_angles():
    settings = {"frame_length": 8, "expand_dims": True}
    angle = layers.STFTSpectrogram("angle", **settings)(X).numpy()
    parts = [layers.STFTSpectrogram(m, **settings)(X).numpy() for m in ("imag", "real")]
    np.testing.assert_allclose(angle, np.arctan2(*parts), atol=1e-6)


@pytest.mark.parametrize(("settings", "expected"), MEL)
def test_mel_bands_of_keras(settings, expected):
    layer = layers.MelSpectrogram(
        fft_length=32, sequence_stride=16, num_mel_bins=4, min_freq=0.0, **settings
    )
    y = layer(WAVES.reshape(2, 150)).numpy()
    assert y.shape == (2, 4, 10)
    np.testing.assert_allclose(y[1, :, 3], expected, rtol=1e-4, atol=1e-3)
    if not settings.get("power_to_db", True):  # decibels are relative to the largest of the batch
        np.testing.assert_allclose(layer(WAVES[150:])[:, 3], expected, rtol=1e-4)


def test_a_model_of_signals_of_any_length():
    given = keras.Input((None, 1))
    model = keras.Model(given, layers.STFTSpectrogram("magnitude", frame_length=16)(given))
    assert tuple(model.output_shape) == (None, None, 9)
    assert model.predict(WAVES.reshape(2, 150, 1), verbose=0).shape == (2, 17, 9)
    given = keras.Input((None,))
    model = keras.Model(given, layers.MelSpectrogram()(given))
    assert tuple(model.output_shape) == (None, 128, None)
    assert model.predict(np.tile(WAVES, (2, 10)), verbose=0).shape == (2, 128, 6)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: layers.STFTSpectrogram(frame_length=8, frame_step=9), "`frame_step`"),
        (lambda: layers.STFTSpectrogram(frame_length=8, fft_length=4), "`fft_length`"),
        (lambda: layers.STFTSpectrogram("power"), "mode"),
        (lambda: layers.STFTSpectrogram(window="nothing"), "window"),
        (lambda: layers.MelSpectrogram(256, sequence_length=300), "`fft_length`"),
        (lambda: layers.MelSpectrogram(window="boxcar")(WAVES), "`window`"),
        (lambda: layers.MelSpectrogram(64, window=np.ones(3))(WAVES), "window of shape"),
    ],
)
def test_errors(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()


def test_a_length_that_is_no_power_of_two_warns():
    with pytest.warns(UserWarning, match="power of two"):
        layers.STFTSpectrogram(frame_length=8, fft_length=12)
