"""Scratch memory belongs to its caller while it holds it, also if a finalizer runs a kernel."""

import gc

import numpy as np
import pytest

pytest.importorskip("numba")

from framework.kernels import conv, threads, tier
from framework.kernels.fast import scratch


def address(array):
    return array.ctypes.data


def test_memory_is_kept_for_the_next_call():
    first = address(scratch.take("kept", 100))
    assert first % 64 == 0
    assert address(scratch.take("kept", 50)) == first
    assert scratch.take("kept", 200).size == 200
    assert address(scratch.take("other", 200)) != address(scratch.take("kept", 200))


def test_memory_in_use_is_not_shared():
    held = scratch.take("held", 100)
    assert not np.shares_memory(held, scratch.take("held", 100))
    row = scratch.take("held", 100).reshape(10, 10)[3]
    assert not np.shares_memory(row, scratch.take("held", 100))


def test_large_memory_is_freed(change):
    change(scratch, _LARGEST=10)
    scratch.take("large", 11)
    assert "large" not in scratch._kept.__dict__


@pytest.fixture
def one_thread():
    tier.set_tier("numba")
    threads.set_count(1)
    yield
    gc.enable()
    conv.set_conv_algorithm()
    threads.set_count()
    tier.set_tier()


@pytest.mark.parametrize("algorithm", ["direct", "winograd4", "im2col"])
def test_a_finalizer_that_computes_within_a_kernel(one_thread, algorithm, change):
    once = {"strides": (1, 1), "dilations": (1, 1), "padding": "SAME", "groups": 1}
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 8, 30, 24)).astype("float32")
    w, other = rng.normal(size=(2, 3, 3, 24, 32)).astype("float32")
    conv.set_conv_algorithm(algorithm)
    expected, take, inside = conv.conv(x, w, **once), scratch.take, []

    def disturbed(name, size):
        found = take(name, size)
        if not inside:  # as a finalizer during garbage collection
            inside.append(name)
            conv.conv(x, other, **once)
            inside.clear()
        return found

    change(scratch, take=disturbed)
    np.testing.assert_array_equal(conv.conv(x, w, **once), expected)
