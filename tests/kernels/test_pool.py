"""Pooling has the same bits in Numba and NumPy: odd sizes, padding, ties, NaN, two threads."""

import numpy as np
import pytest

import framework as tf
from framework.kernels import pool, share, threads, tier
from framework.ops import pool as ops

pytest.importorskip("numba")
_rng = np.random.default_rng(8)

# spatial sizes and channels, size, strides, padding, dilations
WINDOWS = {
    "pairs": ((6, 8, 5), (2, 2), (2, 2), ((0, 0), (0, 0)), (1, 1)),
    "pairs, odd edges": ((7, 9, 17), (2, 2), (2, 2), ((0, 0), (0, 0)), (1, 1)),
    "pairs, one odd edge": ((6, 5, 64), (2, 2), (2, 2), "VALID", (1, 1)),
    "pairs, same": ((7, 9, 16), (2, 2), (2, 2), "SAME", (1, 1)),
    "overlapping": ((7, 9, 3), (3, 2), (2, 1), ((1, 1), (0, 1)), (1, 1)),
    "apart": ((9, 8, 4), (2, 2), (3, 3), ((0, 0), (0, 0)), (1, 1)),
    "dilated": ((9, 8, 4), (2, 3), (1, 2), "SAME", (2, 2)),
    "steps": ((11, 6), (3,), (2,), "SAME", (1,)),
    "volumes": ((4, 5, 6, 3), (2, 3, 2), (2, 2, 1), "SAME", (1, 1, 1)),
    "of one cell": ((4, 5, 3), (1, 1), (1, 1), ((0, 0), (0, 0)), (1, 1)),
    "large": ((20, 20, 2), (15, 16), (4, 4), "SAME", (1, 1)),
}
CONTENTS = {
    "distinct": lambda x: x,
    "ties": lambda x: np.round(x).astype("float32"),
    "infinities": lambda x: np.where(x > 1, np.inf, -np.inf).astype("float32"),
    "NaN": lambda x: np.where(x > 1.5, np.nan, x).astype("float32"),
}


@pytest.fixture(params=[1, 2])
def forms(request, change):
    """Return a function that gives a call's results in NumPy and in Numba."""
    change(pool, _FAST=1)
    change(pool, _SHARED=1)
    change(pool, _BLOCK=1)
    change(share, _LEAST=0)
    change(threads, count=lambda: request.param)

    def both(call):
        found = []
        for name in ("numpy", "numba"):
            tier.set_tier(name)
            found.append(call())
        return found

    yield both
    tier.set_tier(None)


def case(name, batch=3):
    shape, size, strides, padding, dilations = WINDOWS[name]
    padding = ((0, 0),) * len(size) if padding == "VALID" else padding
    window = {"size": size, "strides": strides, "padding": padding, "dilations": dilations}
    return _rng.normal(size=(batch, *shape)).astype("float32"), window


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("name", WINDOWS)
def test_max_pooling_and_its_gradient(forms, name, content):
    x, window = case(name)
    x = CONTENTS[content](x)
    (plain, saved), (fast, (chosen,)) = forms(lambda: pool.max_pool(x, **window))
    np.testing.assert_array_equal(fast, plain)
    real = ~np.isnan(fast)  # beside NaN any pixel may receive the gradient
    for own in (pool.max_cell(x, **window), *saved):
        np.testing.assert_array_equal(chosen[real], own[real])
    g = _rng.normal(size=fast.shape).astype("float32")
    sizes = x.shape[1:-1]
    plain, fast = forms(lambda: pool.cell_put(g, chosen, sizes=sizes, **window))
    np.testing.assert_allclose(fast, plain, rtol=1e-6, atol=1e-6)  # sums in another order
    assert fast.dtype == np.float32


@pytest.mark.parametrize("name", WINDOWS)
def test_window_sums_and_their_gradient(forms, name):
    x, window = case(name)
    plain, fast = forms(lambda: pool.window_sum(x, **window))
    np.testing.assert_allclose(fast, plain, rtol=1e-5, atol=1e-5)
    sizes = x.shape[1:-1]
    plain, fast = forms(lambda: pool.window_spread(plain, sizes=sizes, **window))
    np.testing.assert_allclose(fast, plain, rtol=1e-5, atol=1e-5)


def test_memory_in_any_layout(forms):
    x, window = case("overlapping")
    for layout in (x[:, ::-1], np.asfortranarray(x), x[:1].repeat(3, 0)[:, :, :, ::-1]):
        (plain, _), (fast, _) = forms(lambda a=layout: pool.max_pool(a, **window))
        np.testing.assert_array_equal(fast, plain)


def test_gradients_of_a_tape(forms):
    x, window = case("pairs, odd edges")

    def gradients():
        t = tf.constant(np.round(x))
        with tf.GradientTape() as outer:
            outer.watch(t)
            with tf.GradientTape() as tape:
                tape.watch(t)
                y = ops.max_pool(t * t, **window)
            first = tape.gradient(y, t)
        return first.numpy(), outer.gradient(first, t).numpy()

    for plain, fast in zip(*forms(gradients), strict=True):
        np.testing.assert_array_equal(fast, plain)


def test_empty_batch():
    x, window = case("pairs", batch=0)
    assert pool.max_pool(x, **window)[0].shape == (0, 3, 4, 5)


@pytest.mark.parametrize("size", [(32768,), (40000,), (300, 200)])
def test_a_window_of_many_pixels(size):
    x = _rng.permutation(np.prod(size)).astype("float32").reshape(1, *size, 1)
    window = {"size": size, "strides": (1,) * len(size), "dilations": (1,) * len(size)}
    window["padding"] = ((0, 0),) * len(size)
    assert pool.max_cell(x, **window).item() == x.argmax()
    assert pool.max_index(x, **window).item() == x.argmax()
    t = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(t)
        y = ops.max_pool(t, **window)
    np.testing.assert_array_equal(tape.gradient(y, t), x == x.max())


def test_padding_never_wins_among_booleans():
    x = np.zeros((1, 3, 3, 1), bool)
    _, window = case("overlapping")
    y, _ = pool.max_pool(x, **window)
    assert not y.any()
