"""Read-only arrays cause no further compilations."""

import sys

import numpy as np
import pytest

from framework.kernels import attention, conv, gelu, norm, pool, recurrent, rows
from framework.kernels.contiguous import contiguous, flattened

pytest.importorskip("numba")


def real(*shape):
    return np.random.default_rng(len(shape)).normal(size=shape).astype("float32")


def fixed(a):
    a = a.copy()
    a.flags.writeable = False
    return a


ONCE = {"strides": (1, 1), "dilations": (1, 1), "padding": ((0, 0), (0, 0))}
TWOS = {**ONCE, "size": (3, 3)}
BOTH = {"inputs": True, "weights": True}
VECTOR, SQUARE, IMAGES = real(64), real(64, 64), real(4, 12, 12, 16)
SEQUENCES, STATE, KERNEL = real(32, 9, 64), real(32, 64), real(64, 256)
MASK = np.ones((9, 32), bool)
CALLS = {
    "softmax": (lambda x: rows.softmax(x, axis=1), SQUARE),
    "softmax_back": (lambda g, p: rows.softmax_back(g, p, axis=1), SQUARE, SQUARE),
    "layer_norm": (lambda x: rows.layer_norm(x, VECTOR, VECTOR, epsilon=1.0), SQUARE),
    "layer_norm_back": (
        lambda g, x: rows.layer_norm_back(g, x, VECTOR, VECTOR, VECTOR, needed=(True,) * 3),
        SQUARE, SQUARE,
    ),
    "rms_norm": (lambda x: rows.rms_norm(x, VECTOR, epsilon=1.0), SQUARE),
    "rms_norm_back": (
        lambda g, x: rows.rms_norm_back(g, x, VECTOR, VECTOR, needed=(True, True)),
        SQUARE, SQUARE,
    ),
    "gelu": (lambda x: gelu.gelu(x, approximate=False), SQUARE),
    "gelu_back": (lambda g, x: gelu.gelu_back(g, x, approximate=True), SQUARE, SQUARE),
    "batch_norm": (
        lambda x: norm.batch_norm(x, VECTOR, VECTOR, axis=1, epsilon=1.0), SQUARE
    ),
    "max_pool": (lambda x: pool.max_pool(x, **TWOS), IMAGES),
    "window_sum": (lambda x: pool.window_sum(x, **TWOS), IMAGES),
    "window_spread": (
        lambda g: pool.window_spread(g, sizes=(14, 14), **TWOS), IMAGES
    ),
    "lstm": (
        lambda x, h, w, m: recurrent.lstm(x, h, h, w, w, None, m),
        SEQUENCES, STATE, KERNEL, MASK,
    ),
    "lstm_back": (
        lambda g, w, m: recurrent.lstm_back(
            g, STATE, STATE, w, w, m, *recurrent.lstm(SEQUENCES, STATE, STATE, w, w, None, m),
            **BOTH,
        ),
        real(9, 32, 64), KERNEL, MASK,
    ),
    "attention": (
        lambda q, m: attention.forward(q, q, q, None, m, scale=1.0, causal=False),
        real(2, 16, 4, 16), np.ones((2, 1, 16, 16), bool),
    ),
    "conv": (lambda x, w: conv.conv(x, w, groups=1, **ONCE), IMAGES, real(3, 3, 16, 16)),
}  # fmt: skip


def signatures():
    """Return the number of signatures that each kernel is compiled for."""
    modules = [m for name, m in sys.modules.items() if name.startswith("framework.kernels.fast.")]
    kernels = [k for m in modules for k in vars(m).values() if hasattr(k, "signatures")]
    return {id(k): len(k.signatures) for k in kernels}


@pytest.mark.parametrize("name", CALLS)
def test_read_only_arrays_compile_no_further_kernels(name, numba_tier):
    call, *arrays = CALLS[name]
    call(*arrays)
    before = signatures()
    assert sum(before.values())
    call(*map(fixed, arrays))
    assert signatures() == before


def test_contiguous_writable_arrays_are_not_copied():
    x = real(3, 4)
    assert contiguous(x) is x
    assert np.shares_memory(flattened(x), x)
    for other in (x.T, fixed(x), x[:, ::2], np.broadcast_to(x[0], (1, 4))):
        found = contiguous(other)
        assert found.flags.c_contiguous
        assert found.flags.writeable
        np.testing.assert_array_equal(found, other)
