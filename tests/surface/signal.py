"""Values of TensorFlow's functions of signals and sounds, against NumPy and SciPy."""

import numpy as np
import scipy.fftpack

import framework as tf

RNG = np.random.default_rng(11)
X = RNG.normal(size=(2, 12)).astype(np.float32)
CUBE = RNG.normal(size=(2, 3, 4)).astype(np.float32)
Z = (CUBE + 1j * RNG.normal(size=(2, 3, 4))).astype(np.complex64)
WINDOW = 0.5 - 0.5 * np.cos(np.arange(4) * np.pi / 2)
FRAMES = np.stack([X[:, i : i + 4] for i in range(0, 9, 2)], 1)


def overlapped(frames, step):
    count, length = frames.shape[-2:]
    total = np.zeros((*frames.shape[:-2], (count - 1) * step + length))
    for i in range(count):
        total[..., i * step : i * step + length] += frames[..., i, :]
    return total


def lapped(frames):
    """The modified cosine transform by its definition."""
    n = frames.shape[-1] // 2
    k, t = np.arange(n)[:, None] + 0.5, np.arange(2 * n) + 0.5 + n / 2
    return 2 * frames @ np.cos(np.pi / n * k * t).T


VORBIS = np.sin(np.pi / 2 * np.sin(np.pi / 4 * (np.arange(4) + 0.5)) ** 2)
KAISER = np.kaiser(5, 12.0)
DERIVED = np.sqrt(np.cumsum(np.kaiser(4, 12.0))[:3] / np.kaiser(4, 12.0).sum())

WAV = (
    b"RIFF0\0\0\0WAVEfmt \x10\0\0\0\1\0\2\0\x40\x1f\0\0\0\x7d\0\0\4\0\x10\0data"
    b"\x0c\0\0\0\0\x40\0\xe0\xff\x7f\0\x80\xcd\x0c\xab\x2a"
)
SOUND = np.array([[16384, -8192], [32767, -32768], [3277, 10923]]) / 32768

VALUES = {
    "audio.decode_wav": (
        lambda f: tuple(f(WAV, 3, 4)),
        (np.pad(SOUND[:, [0, 1, 1]], ((0, 1), (0, 0))), 8000),
    ),
    "audio.encode_wav": (
        lambda f: f([[0.5, -0.25], [2.0, -3.0], [0.1, 0.333333]], 8000).item() == WAV,
        True,
    ),
    "signal.dct": (lambda f: f(X), scipy.fftpack.dct(X)),
    "signal.fft": (lambda f: f(Z), np.fft.fft(Z)),
    "signal.fft2d": (lambda f: f(Z), np.fft.fft2(Z)),
    "signal.fft3d": (lambda f: f(Z), np.fft.fftn(Z)),
    "signal.fftshift": (lambda f: f(X, axes=1), np.fft.fftshift(X, 1)),
    "signal.frame": (lambda f: f(X, 4, 2), FRAMES),
    "signal.hamming_window": (lambda f: f(4), 0.08 + 0.92 * WINDOW),
    "signal.hann_window": (lambda f: f(4), WINDOW),
    "signal.idct": (lambda f: f(X), scipy.fftpack.idct(X)),
    "signal.ifft": (lambda f: f(Z), np.fft.ifft(Z)),
    "signal.ifft2d": (lambda f: f(Z), np.fft.ifft2(Z)),
    "signal.ifft3d": (lambda f: f(Z), np.fft.ifftn(Z)),
    "signal.ifftshift": (lambda f: f(X[:, :11], axes=1), np.fft.ifftshift(X[:, :11], 1)),
    "signal.inverse_mdct": (lambda f: f(tf.signal.mdct(X, 4))[:, 2:-2], X[:, 2:-2]),
    "signal.inverse_stft": (
        lambda f: f(tf.complex(FRAMES[..., :3], 0.0), 4, 2),
        overlapped(np.fft.irfft(FRAMES[..., :3]) * WINDOW, 2),
    ),
    "signal.inverse_stft_window_fn": (
        lambda f: f(2)(4, tf.float32),
        WINDOW / (WINDOW**2 + np.roll(WINDOW, 2) ** 2),
    ),
    "signal.irfft": (lambda f: f(Z), np.fft.irfft(Z)),
    "signal.irfft2d": (lambda f: f(Z), np.fft.irfft2(Z)),
    "signal.irfft3d": (lambda f: f(Z), np.fft.irfftn(Z)),
    "signal.kaiser_bessel_derived_window": (lambda f: f(6), np.r_[DERIVED, DERIVED[::-1]]),
    "signal.kaiser_window": (lambda f: f(5), KAISER),
    "signal.linear_to_mel_weight_matrix": (  # TensorFlow's numbers
        lambda f: f(3, 5, 8000, 100.0, 3900.0)[1:4],
        [[0.27630496, 0.72369504, 0], [0, 0.21839587, 0.78160411], [0, 0, 0.49788126]],
    ),
    "signal.mdct": (lambda f: f(X, 4), lapped(FRAMES * VORBIS)),
    "signal.mfccs_from_log_mel_spectrograms": (lambda f: f(X), scipy.fftpack.dct(X) / np.sqrt(24)),
    "signal.overlap_and_add": (lambda f: f(FRAMES, 3), overlapped(FRAMES, 3)),
    "signal.rfft": (lambda f: f(X), np.fft.rfft(X)),
    "signal.rfft2d": (lambda f: f(CUBE), np.fft.rfft2(CUBE)),
    "signal.rfft3d": (lambda f: f(CUBE), np.fft.rfftn(CUBE)),
    "signal.stft": (lambda f: f(X, 4, 2), np.fft.rfft(FRAMES * WINDOW)),
    "signal.vorbis_window": (lambda f: f(4), VORBIS),
}
