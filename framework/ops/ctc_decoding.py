"""Decoding of class scores to label sequences (connectionist temporal classification).

Decoding merges repeated classes, then removes the blanks (Graves et al. 2006).
"""

import math

import numpy as np

from framework.core.numpy_warnings import no_warnings
from framework.core.op import Op, no_derivative


@no_warnings
def _greedy(x, lengths, *, blank, merges):
    batch, time = x.shape[:2]
    inside = np.arange(time) < lengths.reshape(-1, 1)
    chosen = np.where(inside, x.argmax(-1) if x.size else 0, blank)
    kept = chosen != blank
    if merges and time:
        kept[:, 1:] &= chosen[:, 1:] != chosen[:, :-1]
    paths = np.full((1, batch, time), -1, np.int32)
    for row in range(batch):
        path = chosen[row, kept[row]]
        paths[0, row, : len(path)] = path
    return paths


greedy_search = Op(
    "greedy_search", _greedy, no_derivative,
    infer=lambda x, lengths, **_: ((1, *x.shape[:2]), np.dtype(np.int32)),
)  # fmt: skip


@no_warnings
def _beam(x, lengths, *, blank, width, best):
    batch, time = x.shape[:2]
    paths = np.full((best, batch, time), -1, np.int32)
    scores = np.full((batch, best), -np.inf, x.dtype)
    for row in range(batch):
        logs = x[row, : int(lengths.reshape(-1)[row])].astype(np.float64)
        logs = logs - np.logaddexp.reduce(logs, axis=-1, keepdims=True)
        for i, (path, score) in enumerate(_best_paths(logs, blank, width)[:best]):
            paths[i, row, : len(path)] = path
            scores[row, i] = score
    return paths, scores


def _best_paths(logs, blank, width):
    """Return [(label sequence, log-probability), ...] of the most likely ones, best first."""
    # {prefix: (log-probability of its paths that end in a blank, of those that end in a class)}
    beams = {(): (0.0, -math.inf)}
    for step in logs.tolist():
        grown = {}
        for path, (ended, open_) in beams.items():
            both = _added(ended, open_)
            _grow(grown, path, 0, both + step[blank])
            for label, log in enumerate(step):
                if label == blank:
                    continue
                # A repeated label extends the last class, or starts a new one after a blank.
                if path and path[-1] == label:
                    _grow(grown, path, 1, open_ + log)
                    _grow(grown, (*path, label), 1, ended + log)
                else:
                    _grow(grown, (*path, label), 1, both + log)
        beams = dict(sorted(grown.items(), key=_by_score)[:width])
    return [(path, _added(*logs)) for path, logs in sorted(beams.items(), key=_by_score)]


def _by_score(item):
    return -_added(*item[1]), item[0]


def _added(a, b):
    """Return log(exp(a) + exp(b))."""
    if a < b:
        a, b = b, a
    return a if b == -math.inf else a + math.log1p(math.exp(b - a))


def _grow(beams, path, which, log):
    if log == -math.inf:
        return
    old = list(beams.get(path, (-math.inf, -math.inf)))
    old[which] = _added(old[which], log)
    beams[path] = tuple(old)


beam_search = Op(
    "beam_search", _beam, no_derivative, outputs=2,
    infer=lambda x, lengths, *, best, **_: [
        ((best, *x.shape[:2]), np.dtype(np.int32)), ((x.shape[0], best), x.dtype)
    ],
)  # fmt: skip
