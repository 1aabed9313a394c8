"""Samples of the CTC loss, and references that visit every alignment."""

import itertools

import numpy as np

from framework.ops import ctc
from tests.samples.ops.arguments import call, real


def _alignments(log_probs, labels, blank):
    """(sequence of classes, its probability) of every sequence that reads `labels`."""
    steps, classes = log_probs.shape
    for path in itertools.product(range(classes), repeat=steps):
        merged = [c for c, before in zip(path, (None, *path), strict=False) if c != before]
        if [c for c in merged if c != blank] == list(labels):
            yield path, np.exp(log_probs[range(steps), path].sum())


def _loss(log_probs, labels, label_length, length, *, blank):
    rows = zip(log_probs, labels, label_length, length, strict=True)
    found = [sum(p for _, p in _alignments(x[:t], y[:n], blank)) for x, y, n, t in rows]
    return -np.log(np.array(found, float))


def _back(g, log_probs, labels, label_length, length, _, *, blank):
    """-g times the probability of each class at each step, given the labels."""
    found = np.zeros(log_probs.shape)
    for row, (x, y, n, t) in enumerate(zip(log_probs, labels, label_length, length, strict=True)):
        paths = list(_alignments(x[:t], y[:n], blank))
        for path, probability in paths:
            found[row, range(t), path] -= g[row] * probability / sum(p for _, p in paths)
    return found


REFERENCES = {"ctc_loss": _loss, "ctc_back": _back}

_LABELS = np.array([[1, 2], [2, 2], [1, 0]])


def _arguments(batch, steps, classes, labels=_LABELS, label_length=(2, 2, 1), length=(4, 4, 3)):
    counts = (np.array(n[:batch], np.int64) for n in (label_length, length))
    return real(batch, steps, classes, low=-3.0, high=-0.2), labels[:batch], *counts


_CALLS = [
    (_arguments(3, 4, 3), 0),
    (_arguments(2, 3, 4, _LABELS[:, ::-1] + 1, (1, 0), (3, 2)), 1),
    (_arguments(2, 2, 3, _LABELS[:, :0], (0, 0), (2, 1)), 2),
    (_arguments(0, 4, 3), 0),
]


def _joint(arguments, blank):
    alphas = ctc.ctc_loss.forward(*arguments, blank=blank)[1]
    g = real(len(arguments[0]))
    return call(g, *arguments, *alphas, blank=blank, any_batch=False, other_floats="float32")


SAMPLES = {
    "ctc_loss": [
        call(*arguments, blank=blank, any_batch=(0, 1, 2, 3)) for arguments, blank in _CALLS
    ],
    "ctc_back": [_joint(*each) for each in _CALLS],
}
