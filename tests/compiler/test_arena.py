"""Buffer assignment in the arena of a plan, and how much memory it needs."""

import ctypes
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.compiler import arena
from framework.compiler.ir import Value
from framework.core import buffers
from framework.kernels import tier
from tests.changed import changed


def random_pieces(seed, number=60, steps=40):
    rng = np.random.default_rng(seed)
    first = np.sort(rng.integers(0, steps, number))
    last = np.minimum(first + rng.geometric(0.2, number), steps)
    return (64 * rng.integers(1, 100, number)).tolist(), first.tolist(), last.tolist()


@pytest.mark.parametrize("seed", range(8))
def test_blocks_that_are_live_together_do_not_overlap(seed):
    sizes, first, last = random_pieces(seed)
    offsets = arena.packed(sizes, first, last)
    pieces = list(zip(offsets, sizes, first, last, strict=True))
    for i, (at, size, begin, end) in enumerate(pieces):
        assert at >= 0
        for other, other_size, other_begin, other_end in pieces[:i]:
            if begin <= other_end and other_begin <= end:
                assert at + size <= other or other + other_size <= at
    least = max(
        sum(n for n, a, b in zip(sizes, first, last, strict=True) if a <= t <= b) for t in range(41)
    )
    assert max(at + size for at, size, *_ in pieces) <= 1.25 * least


def test_a_chain_needs_two_blocks():
    assert arena.packed([64] * 6, range(6), range(1, 7)) == [0, 64, 0, 64, 0, 64]


def test_small_long_lived_blocks_do_not_split_a_large_gap():
    sizes = [1024, 64, 1024, 64, 1024]
    offsets = arena.packed(sizes, first=[0, 1, 2, 3, 4], last=[1, 9, 3, 9, 5])
    assert max(np.add(offsets, sizes)) == 1024 + 2 * 64


@pytest.mark.parametrize(("nbytes", "expected"), [(1 << 24, 1), (1 << 23, 0)])
def test_only_a_large_arena_returns_freed_memory_first(nbytes, expected):
    made, calls = arena.Arena(), []
    made.take(0, Value(np.empty(nbytes, np.uint8)))
    with changed(arena, return_freed_memory=lambda: calls.append(1)):
        made.make()
    assert len(calls) == expected


def test_freed_arrays_between_others_go_back_to_the_operating_system():
    status = Path("/proc/self/status")
    if not status.exists() or not hasattr(ctypes.CDLL(None), "malloc_trim"):
        pytest.skip("the C library is not glibc")

    def resident():
        lines = status.read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024

    arrays = [np.ones(1 << 18, np.uint8) for _ in range(400)]
    kept = arrays[::10]
    del arrays
    before = resident()
    buffers.return_freed_memory()
    assert resident() < before - 60
    assert len(kept) == 40


def test_an_arena_without_blocks():
    assert arena.packed([], [], []) == []
    assert arena.Arena().make() == []
    assert arena.Arena().nbytes == 0


def test_arrays_are_aligned_to_cache_lines():
    made = arena.Arena()
    for root, size in enumerate((3, 17, 40)):
        slot = made.take(root, Value(np.zeros(size, "f")))
        made.name(slot, (size,), np.dtype("f"))
    arrays = made.make()
    assert [a.shape for a in arrays] == [(3,), (17,), (40,)]
    assert all(a.ctypes.data % 64 == 0 for a in arrays)
    for i, a in enumerate(arrays):
        a[:] = i
    assert [a.tolist() for a in arrays] == [[0.0] * 3, [1.0] * 17, [2.0] * 40]


def test_a_plan_needs_little_more_than_the_values_saved_by_a_tape(change):
    change(tier, _tier="numpy")  # loops over many rows save twice as much
    rng = np.random.default_rng(0)
    layers, rows, width = 6, 2048, 64
    kernels = [tf.Variable(rng.normal(size=(width, width)).astype("f") / 8) for _ in range(layers)]
    biases = [tf.Variable(np.zeros(width, "f")) for _ in range(layers)]
    x = tf.constant(rng.normal(size=(rows, width)).astype("f"))

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            for kernel, bias in zip(kernels, biases, strict=True):
                x = tf.nn.gelu(x @ kernel + bias)
            loss = tf.reduce_mean(x * x)
        gradients = tape.gradient(loss, [*kernels, *biases])
        for v, g in zip([*kernels, *biases], gradients, strict=True):
            v.assign_sub(0.01 * g)
        return loss

    for _ in range(4):
        step(x)
    ((entry,),) = step._plan_cache.plans.values()
    # What gelu reads in each layer (without Numba its slope instead, which lies elsewhere), and the
    # cotangent; what becomes of it takes the last layer's place, and so do the kernels' gradients.
    assert f"Its arena takes {entry.plan.nbytes[0] / 1e6:.1f} MB." in step.explain()
    assert entry.plan.nbytes[0] <= (layers + 1.5) * 4 * rows * width


def _recurrent():
    layers = [keras.layers.LSTM(64, return_sequences=True), keras.layers.LSTM(64)]
    return keras.Sequential([*layers, keras.layers.Dense(1)]), (64, 50, 32)


def _with_gelu():
    layers = [keras.layers.Dense(128, activation="gelu") for _ in range(4)]
    return keras.Sequential([*layers, keras.layers.Dense(1)]), (2048, 128)


@pytest.mark.parametrize(("make", "working"), [(_with_gelu, 0.02), (_recurrent, 0.4)])
def test_memory_allocated_by_ops_is_counted(make, working):
    tier.set_tier("numpy")
    model, shape = make()
    x = np.random.default_rng(0).normal(size=shape).astype("f")
    y = x.reshape(len(x), -1)[:, :1]
    step = model.training_step(loss="mse", optimizer="sgd")
    for _ in range(4):
        step(x, y)
    tracemalloc.start()
    try:
        step(x, y)  # persistent memory is allocated
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        step(x, y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        tier.set_tier()
    ((entry,),) = step._plans.plan_cache.plans.values()
    _, allocated = entry.plan.nbytes
    assert allocated > 1e6
    # Kernels have temporary memory, such as gradients of gates.
    assert allocated <= peak - before <= (1 + working) * allocated + 1e5
    told = f"New arrays that ops return or save take {allocated / 1e6:.1f} MB."
    assert told in step.explain()


def test_peak_of_live_bytes():
    assert arena.peak([]) == 0
    assert arena.peak([(5, 0, 2), (7, 2, 3), (6, 3, 3)]) == 13
    assert arena.peak([(5, 0, 2), (7, 3, 4)]) == 7
