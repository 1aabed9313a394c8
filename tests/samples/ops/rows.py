"""Samples and references of softmax and cross entropy, which compute along rows."""

import numpy as np
from scipy import special

from tests.samples.ops.arguments import call, integers, real


def rows(**more):
    return [call(real(3, 4), axis=1, **more), call(real(2, 3, 2), axis=1, **more),
            call(real(3, 2, 2), axis=0, **more), call(real(0, 3), axis=1, **more)]  # fmt: skip


SAMPLES = {
    "softmax": rows(), "log_softmax": rows(), "sparsemax": rows(),
    "softmax_cross_entropy": [
        call(real(3, 4), real(3, 4, low=0.1, high=1)), call(real(2, 3, 2), real(2, 3, 2)),
        call(real(4), real(4)), call(real(0, 3), real(0, 3)),
    ],
    "cross_entropy_back": [call(real(3), real(3, 4), real(3, 4), real(3, 1)),
                           call(real(0), real(0, 4), real(0, 4), real(0, 1))],
    "sparse_softmax_cross_entropy": [
        call(real(3, 4), integers(3, below=4)), call(real(2, 3, 4), integers(2, 3, below=4)),
        call(real(4), np.array(2)), call(real(0, 3), np.zeros(0, int)),
    ],
    "sparse_cross_entropy_back": [call(real(3), integers(3, below=4), real(3, 4), real(3)),
                                  call(real(0), integers(0, below=4), real(0, 4), real(0))],
}  # fmt: skip


def _cross_entropy_back(g, labels, e, total):
    return g[:, None] * (e / total * labels.sum(-1, keepdims=True) - labels)


def _cross_entropy(logits, labels):
    return -np.sum(labels * special.log_softmax(logits, axis=-1), axis=-1)


def _sparse_cross_entropy_back(g, labels, e, total):
    return g[:, None] * (e / total[:, None] - np.eye(e.shape[1])[labels])


def _sparse_cross_entropy(logits, labels):
    return _cross_entropy(logits, np.eye(logits.shape[-1])[labels])


def _sparsemax(x, axis):
    def row(z):
        low, high = z.min() - 1, z.max()
        for _ in range(100):  # bisection for the threshold at which the row sums to 1
            middle = (low + high) / 2
            low, high = (middle, high) if np.maximum(z - middle, 0).sum() > 1 else (low, middle)
        return np.maximum(z - low, 0)

    return np.apply_along_axis(row, axis, x) if x.size else x


REFERENCES = {
    "cross_entropy_back": _cross_entropy_back,
    "log_softmax": special.log_softmax,
    "softmax": special.softmax,
    "softmax_cross_entropy": _cross_entropy,
    "sparse_cross_entropy_back": _sparse_cross_entropy_back,
    "sparse_softmax_cross_entropy": _sparse_cross_entropy,
    "sparsemax": _sparsemax,
}  # fmt: skip
