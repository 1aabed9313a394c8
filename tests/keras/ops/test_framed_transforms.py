"""stft and istft of keras.ops: frames by their definition, Keras's numbers, inversion, models."""

import numpy as np
import pytest

import framework as tf
from framework import keras

ops = keras.ops
X = np.random.default_rng(0).normal(size=(2, 40)).astype(np.float32)
OWN = np.float32([0.5, 1.0, 1.5, 2.0])
CASES = {  # sequence length, stride, length of the transform, window, center
    "half": (8, 4, 8, "hann", True),
    "three quarters": (8, 2, 8, "hann", True),
    "padded": (6, 3, 8, "hamming", True),
    "odd": (7, 3, 9, "hann", True),
    "not centered": (8, 4, 8, "hann", False),
    "own window": (4, 2, 8, OWN, True),
    "no window": (8, 4, 8, None, True),
}


def window_of(window, length):
    if window is None or not isinstance(window, str):
        return np.ones(length) if window is None else window
    mean = {"hann": 0.5, "hamming": 0.54}[window]
    return mean - (1 - mean) * np.cos(2 * np.pi * np.arange(length) / length)


def expected_stft(x, length, stride, size, window, center):
    x = np.pad(x, ((0, 0), (size // 2, size // 2)), "reflect") if center else x
    weights = np.zeros(size)
    before = (size - length) // 2
    weights[before : before + length] = window_of(window, length)
    if window is None:
        weights[:] = 1
    starts = range(0, x.shape[-1] - size + 1, stride)
    return np.fft.rfft(np.stack([x[:, i : i + size] * weights for i in starts], 1))


@pytest.mark.parametrize("name", CASES)
def test_frames_and_their_inverse(name):
    arguments = CASES[name]
    real, imaginary = ops.stft(X, *arguments)
    expected = expected_stft(X, *arguments)
    np.testing.assert_allclose(real.numpy() + 1j * imaginary.numpy(), expected, atol=1e-5)
    back = ops.istft((real, imaginary), *arguments[:3], None, *arguments[3:]).numpy()
    covered = slice(1, 39) if name == "not centered" else slice(None)
    scale = arguments[2] / arguments[1] if name == "no window" else 1  # as in Keras
    size = back.shape[-1]
    np.testing.assert_allclose(back[:, covered], scale * X[:, :size][:, covered], atol=1e-5)
    short = ops.istft((real, imaginary), *arguments[:3], 21, *arguments[3:])
    np.testing.assert_array_equal(short.numpy(), back[:, :21])


LOSS = 0.897006
GRADIENT = [
    0.4367, 0.24418, -0.62993, 2.22772, 4.47385, -0.64417, -4.64523, -4.57888, 0.0169, -5.36298,
    -3.61846, -3.40929,
]  # fmt: skip


def test_gradients_are_keras_on_jax():
    """The numbers were measured with Keras 3.15 on JAX."""
    x = tf.constant(X[:1, :12])
    with tf.GradientTape() as tape:
        tape.watch(x)
        real, imaginary = ops.stft(x, 6, 3, 8, "hamming")
        y = ops.istft((ops.square(real), imaginary), 6, 3, 8)
        loss = ops.sum(y * np.arange(12, dtype=np.float32)[: y.shape[-1]])
    np.testing.assert_allclose(float(loss), LOSS, rtol=1e-5)
    np.testing.assert_allclose(tape.gradient(loss, x).numpy()[0], GRADIENT, rtol=1e-4, atol=1e-4)


def test_unknown_length_in_a_model():
    x = keras.Input((None,))
    real, imaginary = ops.stft(x, 200, 100, 256)
    assert tuple(real.shape) == (None, None, 129)
    y = ops.istft((real, imaginary), 200, 100, 256)
    model = keras.Model(x, [real, y])
    waves = np.random.default_rng(1).normal(size=(2, 1000)).astype(np.float32)
    found = model.predict(waves, verbose=0)
    expected = expected_stft(waves, 200, 100, 256, "hann", True)
    np.testing.assert_allclose(found[0], expected.real, atol=1e-3)
    np.testing.assert_allclose(found[1], waves, atol=1e-3)
    assert tuple(ops.stft(keras.Input((1000,)), 200, 100, 256)[0].shape) == (None, 11, 129)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ops.stft(X, 8, 0, 8), "`sequence_stride` must be a positive int"),
        (lambda: ops.stft(X, 8, 4, 4), "`fft_length` must be at least"),
        (lambda: ops.stft(X, 8, 4, 8, "boxcar"), "'hann', 'hamming'"),
        (lambda: ops.stft(X, 8, 4, 8, OWN), r"shape \(8,\)"),
        (lambda: ops.istft(X, 8, 4, 8), "pair"),
    ],
)
def test_errors(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_integers_are_refused():
    with pytest.raises(TypeError, match="float32 or float64"):
        ops.stft(np.arange(20), 8, 4, 8)
