"""Samples and references of ops on random numbers."""

import numpy as np

from tests.samples.ops.arguments import call, real

SAMPLES = {
    "dropout": [
        call(real(3, 4), real(3, 4, low=0, high=1), rate=0.4),
        call(real(2, 3), real(2, 3, low=0), rate=0.0),
        call(real(2, 3), real(2, 3, low=0, high=1), rate=1),
        call(real(3, 4), real(3, 1, low=0, high=1), rate=0.4),
        call(real(0, 2), real(0, 2), rate=0.5),
        call(real(), real(), rate=0.5),
    ],
}  # fmt: skip


def _dropout(x, noise, rate):
    return np.where(noise >= rate, x, 0) * (1 / (1 - rate) if rate < 1 else 0)


REFERENCES = {
    "dropout": _dropout,
}  # fmt: skip
