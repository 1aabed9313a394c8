"""tf.signal with all arguments, and its gradients; tests/surface/signal.py has each function once.

Cosine transforms are SciPy's; the sums of gradients were measured with TensorFlow.
"""

import numpy as np
import pytest
import scipy.fft
import scipy.fftpack

import framework as tf

signal = tf.signal
RNG = np.random.default_rng(4)
X = RNG.normal(size=(2, 10))
CUBE = RNG.normal(size=(2, 3, 4, 5))
TYPES = [(t, norm) for t in (1, 2, 3, 4) for norm in (None, "ortho") if t > 1 or norm is None]


@pytest.mark.parametrize(("type_", "norm"), TYPES)
def test_cosine_transforms(type_, norm):
    expected = scipy.fftpack.dct(X, type_, norm=norm)
    np.testing.assert_allclose(signal.dct(X, type_, norm=norm), expected, atol=1e-12)
    inverse = scipy.fftpack.idct(X, type_, norm=norm)
    np.testing.assert_allclose(signal.idct(X, type_, norm=norm), inverse, atol=1e-12)
    for n in (4, 13):
        expected = scipy.fftpack.dct(X, type_, n, norm=norm)
        np.testing.assert_allclose(signal.dct(X, type_, n=n, norm=norm), expected, atol=1e-12)
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(signal.dct(x, type_, norm=norm) * X[:, ::-1])
    units = scipy.fftpack.dct(np.eye(10), type_, norm=norm)
    np.testing.assert_allclose(tape.gradient(y, x), X[:, ::-1] @ units.T, atol=1e-12)


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("length", [None, (4, 5, 6), (2, 3, 3)])
def test_lengths_of_real_transforms(rank, length):
    axes = tuple(range(-rank, 0))
    name = "" if rank == 1 else f"{rank}d"
    length = None if length is None else length[:rank]
    found = getattr(signal, f"rfft{name}")(CUBE, length)
    np.testing.assert_allclose(found, np.fft.rfftn(CUBE, length, axes), atol=1e-12)
    z = CUBE + 1j * CUBE[::-1]
    found = getattr(signal, f"irfft{name}")(z, length)
    np.testing.assert_allclose(found, scipy.fft.irfftn(z, length, axes), atol=1e-12)


@pytest.mark.parametrize("shape", [(0, 3, 4), (2, 0, 4), (2, 3, 0)])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_transforms_without_elements(rank, shape):
    """The shapes are TensorFlow's."""
    name, half = "" if rank == 1 else f"{rank}d", (*shape[:2], 3 if shape[2] else 0)
    z, x = tf.zeros(shape, "complex64"), tf.zeros(shape)
    assert getattr(signal, f"fft{name}")(z).shape == shape
    assert getattr(signal, f"ifft{name}")(z).shape == shape
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = getattr(signal, f"rfft{name}")(x)
    assert (y.shape, y.dtype) == (half, "complex64")
    assert tape.gradient(y, x).shape == shape
    back = getattr(signal, f"irfft{name}")(z)
    assert (back.shape, back.dtype) == ((*shape[:2], 6 if shape[2] else 0), "float32")


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("pad_end", [False, True])
def test_frames_along_an_axis(axis, pad_end):
    x = np.moveaxis(RNG.normal(size=(2, 3, 7)), -1, axis)
    y = np.asarray(signal.frame(x, 3, 2, pad_end, 9.0, axis))
    rows = np.moveaxis(x, axis, -1)
    rows = np.concatenate([rows, np.full((2, 3, 2), 9.0)], -1) if pad_end else rows
    expected = np.stack([rows[..., i : i + 3] for i in range(0, rows.shape[-1] - 2, 2)], -2)
    at = axis % 3
    np.testing.assert_array_equal(np.moveaxis(y, (at, at + 1), (-2, -1)), expected)
    assert signal.frame(X, 11, 1).shape == (2, 0, 11)


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5])
def test_short_time_transforms_are_inverted(step):
    frames = signal.stft(X, 4, step, pad_end=True)
    back = signal.inverse_stft(frames, 4, step, window_fn=signal.inverse_stft_window_fn(step))
    inside = slice(4, -4) if step < 3 else slice(4, 4)  # where windows of 4 overlap fully
    np.testing.assert_allclose(back[:, :10][:, inside], X[:, inside], atol=1e-12)
    assert frames.shape == (2, -(-10 // step), 3)


@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("window", ["vorbis", "kaiser_bessel_derived", None])
def test_modified_cosine_transforms_are_inverted(window, norm):
    window = window and getattr(signal, f"{window}_window")
    x = tf.constant(np.tile(X, 2))
    lapped = signal.mdct(x, 8, window, norm=norm)
    assert lapped.shape == (2, 4, 4)
    back = signal.inverse_mdct(lapped, window, norm)
    np.testing.assert_allclose(back[:, 4:-4], x[:, 4:-4], atol=1e-6)


WINDOWS = {  # TensorFlow's numbers
    "hann, odd": (lambda: signal.hann_window(5), [0, 0.5, 1, 0.5, 0]),
    "hann, symmetric": (lambda: signal.hann_window(4, periodic=False), [0, 0.75, 0.75, 0]),
    "hann of one": (lambda: signal.hann_window(1), [1]),
    "hamming": (lambda: signal.hamming_window(2), [0.08, 1]),
    "kaiser of one": (lambda: signal.kaiser_window(1), [1]),
    "kaiser, narrow": (lambda: signal.kaiser_window(3, 4.0), [0.08848052, 1, 0.08848052]),
    "kaiser of float64": (lambda: signal.kaiser_window(2, 4.0, tf.float64), [0.08848053] * 2),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name):
    call, expected = WINDOWS[name]
    np.testing.assert_allclose(call(), expected, atol=1e-6)
    assert call().dtype == ("float64" if "float64" in name else "float32")


def test_a_plan_and_a_model_have_the_numbers_of_a_call():
    x = np.float32(np.tile(X, 3))
    expected = signal.stft(x, 8, 4)
    np.testing.assert_allclose(tf.function(lambda v: signal.stft(v, 8, 4))(x), expected, atol=1e-5)
    given = tf.keras.Input((None,))
    model = tf.keras.Model(given, tf.abs(signal.stft(given, 8, 4)))
    np.testing.assert_allclose(model(x), np.abs(expected), atol=1e-5)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: signal.fft(X), "complex numbers"),
        (lambda: signal.fft2d(tf.constant([1j])), "rank 2"),
        (lambda: signal.rfft([1, 2]), "float32 or float64"),
        (lambda: signal.rfft(X, 4), "1 positive ints"),
        (lambda: signal.irfft(tf.constant([1j])), "two frequencies"),
        (lambda: signal.frame(X, 0, 1), "positive int"),
        (lambda: signal.overlap_and_add([1.0], 1), "rank 2"),
        (lambda: signal.mdct(X, 6), "multiple of 4"),
        (lambda: signal.dct(X, 5), "`type`"),
        (lambda: signal.dct(X, axis=0), "`axis`"),
        (lambda: signal.dct(X, 1, norm="ortho"), "`norm`"),
        (lambda: signal.dct(X, n=0), "`n`"),
        (lambda: signal.hann_window(-1), "window_length"),
        (lambda: signal.hann_window(3, dtype=tf.int32), "`dtype`"),
        (lambda: signal.linear_to_mel_weight_matrix(upper_edge_hertz=4001.0), "upper_edge_hertz"),
        (lambda: signal.mfccs_from_log_mel_spectrograms(np.zeros((2, 0))), "one band"),
    ],
)
def test_errors(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()
