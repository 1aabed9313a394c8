"""Samples and references of CTC decoding: all paths of short sequences, one by one."""

import itertools

import numpy as np
from scipy import special

from tests.samples.ops.arguments import fixed_size, real

_X, _LENGTHS = real(2, 4, 3), np.array([4, 2])
_NONE = (np.zeros((0, 4, 3)), np.zeros(0, int))


def _merged(classes, blank):
    kept = [c for i, c in enumerate(classes) if not i or c != classes[i - 1]]
    return tuple(c for c in kept if c != blank)


def _padded(paths, best, time):
    rows = np.full((best, len(paths), time), -1)
    for row, found in enumerate(paths):
        for i, path in enumerate(found):
            rows[i, row, : len(path)] = path
    return rows


def greedy(x, lengths, blank, merges):
    chosen = [x[i, :n].argmax(-1).tolist() for i, n in enumerate(lengths)]
    drop = _merged if merges else lambda c, blank: tuple(k for k in c if k != blank)
    return _padded([[drop(c, blank)] for c in chosen], 1, x.shape[1])


def beams(x, lengths, blank, width, best):
    """The probabilities of all paths; only for a `width` that keeps every prefix."""
    paths, scores = [], []
    for row, n in enumerate(lengths):
        logs, total = special.log_softmax(x[row], -1), {}
        for classes in itertools.product(range(x.shape[2]), repeat=n):
            path = _merged(classes, blank)
            total[path] = total.get(path, 0) + np.exp(
                sum(logs[t, c] for t, c in enumerate(classes))
            )
        order = sorted(total, key=lambda path: (-total[path], path))[:best]
        paths.append(order)
        scores.append([np.log(total[path]) for path in order])
    return _padded(paths, best, x.shape[1]), np.reshape(scores, (-1, best))


SAMPLES = {
    "greedy_search": [
        *(fixed_size(_X, _LENGTHS, blank=b, merges=m) for b, m in ((0, True), (2, False))),
        fixed_size(*_NONE, blank=0, merges=True),
    ],
    "beam_search": [
        fixed_size(_X, _LENGTHS, blank=0, width=200, best=2),
        fixed_size(*_NONE, blank=0, width=5, best=1),
    ],
}
REFERENCES = {"greedy_search": greedy, "beam_search": beams}
