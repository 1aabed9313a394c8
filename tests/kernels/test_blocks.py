"""Blocks of large arrays, on one thread and on several."""

import numpy as np
import pytest

import framework as tf
from framework.kernels import attention, blocks, erf, gelu, norm, rows, threads, tier
from tests.plan_calls import plan_calls

SIZES = (1, 100, blocks.ALONE, blocks.ALONE + 1, 500_000, 600_001)


@pytest.fixture
def few(change):
    """Share even little work among threads."""
    change(blocks, LEAST=1)
    change(attention, _SHARED=1)
    change(threads, _count=2)


@pytest.mark.parametrize("ufuncs", [1, 40])
@pytest.mark.parametrize("elements", SIZES)
def test_every_element_is_in_one_block(elements, ufuncs, change):
    change(threads, _count=2)
    seen = np.zeros(elements, int)
    scratch = len(blocks.take((np.dtype("float32"),))[0])

    def work(start, stop):
        assert stop - start <= blocks.size(elements, ufuncs) <= scratch
        seen[start:stop] += 1

    blocks.run(work, elements, ufuncs)
    assert (seen == 1).all()


def test_no_block_is_longer_than_scratch():
    (scratch,) = blocks.take((np.dtype("float32"),))
    for elements in range(blocks.LEAST, 3 * blocks.LEAST, 9973):
        assert blocks.size(elements, 1) <= len(scratch)
        assert blocks.size(elements // 40, 40) <= len(scratch)


def test_scratch_has_one_owner_and_is_reused():
    kinds = np.dtype("float64"), np.dtype("bool")
    first, second = blocks.take(kinds), blocks.take(kinds)
    assert len({id(a) for a in [*first, *second]}) == 4
    for taken in first, second:
        assert tuple(a.dtype for a in taken) == kinds
        assert all(a.ctypes.data % 64 == 0 for a in taken)
    blocks.give(kinds, first)
    assert blocks.take(kinds) is first


def test_a_plan_on_two_threads_has_the_bits_of_eager_steps(few):
    tier.set_tier("numpy")
    x = np.random.default_rng(0).standard_normal(400_003).astype("float32")
    x[:3] = np.nan, np.inf, -np.inf

    def several(x):
        y = tf.nn.relu(x * 2 - 1)
        return tf.sqrt(y + 1) / (tf.maximum(x, 0.5) + y)

    for function in (several, tf.nn.relu, lambda x: tf.maximum(x, 1.0), lambda x: x + 1):
        compiled = tf.function(lambda x, f=function: f(x))
        with plan_calls() as calls:
            for _ in range(3):
                found = compiled(x).numpy()
        np.testing.assert_array_equal(found, function(tf.constant(x)).numpy())
        assert "by_blocks" in calls
    tier.set_tier(None)


@pytest.mark.parametrize("approximate", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gelu_has_the_same_bits_on_any_number_of_threads(dtype, approximate, few, change):
    change(gelu, _FAST=np.inf)
    x, g = np.random.default_rng(0).standard_normal((2, 3, 100_001)).astype(dtype)
    found = []
    for count in (1, 2):
        change(threads, _count=count)
        found += [gelu.gelu(x, approximate=approximate)]
        found += [gelu.gelu_back(g, x, approximate=approximate)]
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_array_equal(found[1], found[3])
    some = slice(1000)
    few_of_it = gelu.gelu_back(g[0, some], x[0, some], approximate=approximate)
    np.testing.assert_allclose(found[1][0, some], few_of_it, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("sizes", [(6, 40, 3), (1, 700, 2), (1, 3000, 1)])
def test_attention_has_the_same_bits_on_any_number_of_threads(sizes, few, change):
    change(attention, _FAST=np.inf)
    change(attention, _BLOCK=1 << 14)
    batch, length, heads = sizes
    q, k, v, g = np.random.default_rng(0).standard_normal((4, batch, length, heads, 8), "float32")
    found = []
    for count in (1, 2):
        change(threads, _count=count)
        out, saved = attention.forward(q, k, v, None, None, scale=0.3, causal=False)
        arrays = g, q, k, v, None, None, out, *saved
        needed = True, True, True, False
        made = attention.backward(*arrays, scale=0.3, causal=False, needed=needed)
        found.append((out, *saved, *made))
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)


def test_polynomials_of_numbers_and_arrays():
    for x in (np.array(0.5), np.linspace(-1, 1, 7, dtype="float32")):
        np.testing.assert_allclose(erf.polynomial((3, 2, 1), x), 3 * x * x + 2 * x + 1, rtol=1e-6)


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_normalisation_has_the_same_bits_on_any_number_of_threads(name, few, change):
    change(rows, _FAST=np.inf)
    x, g = np.random.default_rng(0).standard_normal((2, 4001, 70), "float32")
    vectors = np.random.default_rng(1).standard_normal((2, 70), "float32")
    vectors = vectors if name == "layer_norm" else vectors[:1]
    forward, back = getattr(rows, name), getattr(rows, f"{name}_back")
    found = []
    for count in (1, 2):
        change(threads, _count=count)
        y, saved = forward(x, *vectors, epsilon=1e-3)
        needed = (True,) * (1 + len(vectors))
        found.append((y, *saved, *back(g, x, vectors[0], *saved, needed=needed)))
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("shape", [(8, 50, 60, 12), (4001, 70), (3, 7, 30_001)])
def test_batch_norm_has_the_same_bits_on_any_number_of_threads(shape, relu, few, change):
    change(norm, _FAST=np.inf)
    axis = 1 if len(shape) == 3 else len(shape) - 1
    x, g = np.random.default_rng(0).standard_normal((2, *shape), "float32")
    gamma, beta, zero = np.random.default_rng(1).standard_normal((3, shape[axis]), "float32")
    found = []
    for count in (1, 2):
        change(threads, _count=count)
        made, saved = norm.batch_norm(x, gamma, beta, axis=axis, epsilon=1e-3, relu=relu)
        cut = beta if relu else None
        back = norm.batch_norm_back(
            g, zero, zero, x, gamma, *saved, cut, axis=axis, needed=(True, True, True)
        )
        found.append((*made, *saved, *back))
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("shape", [(0, 3), (5, 0), (0, 4, 4, 3)])
def test_batch_norm_without_elements(shape):
    x, v = np.zeros(shape, "float32"), np.ones(shape[-1], "float32")
    (y, mean, variance), saved = norm.batch_norm(x, v, v, axis=len(shape) - 1, epsilon=1e-3)
    assert y.shape == shape
    assert np.isnan([mean, variance]).all()
    back = norm.batch_norm_back(
        x, v, v, x, v, *saved, axis=len(shape) - 1, needed=(True, True, True)
    )
    assert [d.shape for d in back] == [shape, v.shape, v.shape]
