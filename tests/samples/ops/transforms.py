"""Samples and references of Fourier transforms; complex cotangents come in second orders."""

import numpy as np

from tests.samples.ops.arguments import Sample, real

none = np.zeros((0, 4))


def own(*shape):
    return np.random.default_rng(shape).normal(size=shape)


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
    "frame": [
        row(own(2, 7), length=3, step=2),
        row(own(2, 7), length=3, step=2, count=2),
        row(own(2, 5), length=2, step=3, count=2),
        row(own(2), length=3, step=1),
        row(none, length=2, step=1),
    ],
    "overlap_add": [
        row(own(2, 4, 3), step=2),
        row(own(2, 4, 3), step=2, size=11),
        row(own(2, 3, 2), step=3),
        row(np.zeros((2, 0, 3)), step=2, size=4),
    ],
    "reflect": [
        row(own(2, 5), width=2),
        row(own(3), width=0),
        row(own(2, 4), width=3),
        row(none, width=1),
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


def _frame(x, length, step, count=None):
    count = max(0, (x.shape[-1] - length) // step + 1) if count is None else count
    found = [x[..., i * step : i * step + length] for i in range(count)]
    return np.stack(found, -2) if found else np.zeros((*x.shape[:-1], 0, length))


def _overlap_add(x, step, size=None):
    count, length = x.shape[-2:]
    total = np.zeros((*x.shape[:-2], (count - 1) * step + length if size is None else size))
    for i in range(count):
        total[..., i * step : i * step + length] += x[..., i, :]
    return total


REFERENCES = {
    "frame": _frame,
    "overlap_add": _overlap_add,
    "reflect": lambda x, width: np.concatenate(
        [x[..., width:0:-1], x, x[..., ::-1][..., 1 : width + 1]], -1
    ),
    "fft": lambda x, axes: _transformed(x, axes, -1),
    "ifft": lambda x, axes: _transformed(x, axes, 1) / np.prod([x.shape[a] for a in axes]),
    "rfft": lambda x, length: _transformed(x, (-1,), -1)[..., : length // 2 + 1],
    "irfft": _irfft,
}
