"""Samples and references of Fourier transforms; complex cotangents come in second orders."""

import numpy as np

from tests.samples.ops.arguments import Sample, real

none = np.zeros((0, 4))


def row(*args, other_floats="", **attrs):
    return Sample(args, attrs, any_batch=False, other_floats=other_floats)


SAMPLES = {
    "fft": [row(real(2, 5), axes=(1,)), row(real(2, 4, 3), axes=(1, 2)), row(none, axes=(1,))],
    "ifft": [row(real(2, 5), axes=(1,)), row(real(2, 4, 3), axes=(1, 2)), row(none, axes=(1,))],
    "rfft": [
        row(real(2, 6), length=6),
        row(real(2, 5), length=5),
        row(real(1), length=1),
        row(none, length=4),
    ],
    "irfft": [
        row(real(2, 4), length=6),
        row(real(2, 3), length=5),
        row(real(1), length=1),
        row(none, length=6),
    ],
}


def _waves(n, sign):
    return np.exp(sign * 2j * np.pi * np.outer(np.arange(n), np.arange(n)) / n)


def _transformed(x, axes, sign):
    for axis in axes:
        x = np.moveaxis(np.moveaxis(x, axis, -1) @ _waves(x.shape[axis], sign), -1, axis)
    return x


def _irfft(x, length):
    whole = np.zeros((*x.shape[:-1], length), complex)
    whole[..., : x.shape[-1]] = x
    for k in range(1, (length + 1) // 2):
        whole[..., length - k] = np.conj(x[..., k])
    return _transformed(whole, (-1,), 1).real / length


REFERENCES = {
    "fft": lambda x, axes: _transformed(x, axes, -1),
    "ifft": lambda x, axes: _transformed(x, axes, 1) / np.prod([x.shape[a] for a in axes]),
    "rfft": lambda x, length: _transformed(x, (-1,), -1)[..., : length // 2 + 1],
    "irfft": _irfft,
}
