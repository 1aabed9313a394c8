"""Random ops. The noise is an input, drawn by `core.random.draw`."""

import numpy as np

from framework.core.op import Op, no_derivative
from framework.ops.elementwise import gated, multiply


def _scale(rate):
    return 1 / (1 - rate) if rate < 1 else 0.0


def _dropout(x, noise, *, rate):
    kept = np.greater_equal(noise, rate)
    # Multiply by the mask, because `np.where` takes ten times as long with an irregular mask.
    return x * np.multiply(kept, _scale(rate), dtype=x.dtype), (kept,)


def _dropout_vjp(g, saved, rate):
    return multiply(gated(g, saved[0]), _scale(rate))


# `dropout` returns x / (1 - rate) where noise >= rate, else 0. The noise is uniform on [0, 1).
dropout = Op(
    "dropout", _dropout, _dropout_vjp, no_derivative, saves=True, broadcasts=True,
    infer=lambda x, _noise, *, rate: (x.shape, x.dtype),
)  # fmt: skip
