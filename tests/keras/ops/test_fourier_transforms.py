"""Fourier transforms of keras.ops: NumPy's values, slopes by each number, pairs, lengths, plans."""

import numpy as np
import pytest

import framework as tf
from framework import keras

ops = keras.ops
RNG = np.random.default_rng(3)
A, B = np.float32(RNG.normal(size=(2, 2, 4, 5)))
Z = A + 1j * B
TRANSFORMS = {
    "fft": np.fft.fft,
    "fft2": np.fft.fft2,
    "ifft2": np.fft.ifft2,
    "irfft": np.fft.irfft,
}


def joined(y):
    return y[0].numpy() + 1j * y[1].numpy() if isinstance(y, tuple) else y.numpy()


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pairs(name, dtype):
    f = getattr(ops, name)
    x = (tf.constant(A, dtype), tf.Variable(B, dtype=dtype))
    y = f(x)
    assert {part.dtype for part in (y if isinstance(y, tuple) else [y])} == {tf.as_dtype(dtype)}
    np.testing.assert_allclose(joined(y), TRANSFORMS[name](Z), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(joined(tf.function(f)(x)), joined(y), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("length", [None, 3, 4, 8, 9])
def test_lengths(length):
    y = joined(ops.rfft(A, length))
    np.testing.assert_allclose(y, np.fft.rfft(A, length), rtol=1e-5, atol=1e-5)
    back = ops.irfft((A, B), length).numpy()
    np.testing.assert_allclose(back, np.fft.irfft(Z, length), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["fft", "fft2", "ifft2", "irfft", "rfft"])
@pytest.mark.parametrize("size", [4, 5])
def test_slopes(name, size):
    """The transforms are linear, so the slope by each number is the output for its unit pair."""
    parts = 1 if name == "rfft" else 2
    shape = (parts, 2, size)
    units = np.eye(np.prod(shape)).reshape(-1, *shape)

    def weighted(x):
        y = getattr(ops, name)(x[0] if parts == 1 else (x[0], x[1]))
        y = tf.concat(y, -1) if isinstance(y, tuple) else y
        return tf.reduce_sum(y * np.arange(1.0, np.prod(y.shape) + 1).reshape(y.shape) ** 0.5)

    x = tf.constant(RNG.normal(size=shape))
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = weighted(x)
    expected = np.reshape([weighted(tf.constant(u)).numpy() for u in units], shape)
    np.testing.assert_allclose(tape.gradient(total, x).numpy(), expected, atol=1e-10)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ops.fft(A), "pair"),
        (lambda: ops.fft((A, B[:1])), "same shape"),
        (lambda: ops.fft2((A[0, 0], B[0, 0])), "rank 2"),
        (lambda: ops.rfft(Z), "real numbers"),
        (lambda: ops.rfft(A, 0), "at least 1"),
        (lambda: ops.irfft((A[..., :1], B[..., :1])), "at least 1"),
    ],
)
def test_errors(call, words):
    with pytest.raises(ValueError, match=words):
        call()
