"""Tiled products: equal bits, and no memory for the product."""

import numpy as np
import pytest

import framework as tf
from framework.kernels import threads, tier

pytest.importorskip("numba")

SHAPES = [
    # rows, depth, columns: multiples of blocks; with remainders; columns in two parts
    (512, 64, 512), (645, 33, 420), (300, 40, 1100), (9000, 24, 32),
]  # fmt: skip


@pytest.fixture(autouse=True, params=[1, 3])
def _tier(request):
    tier.set_tier("numba")
    threads.set_count(request.param)
    yield
    threads.set_count(None)
    tier.set_tier(None)


def arrays(*shapes):
    rng = np.random.default_rng(0)
    return [tf.constant(rng.standard_normal(shape, "f")) for shape in shapes]


def momentum(v, m, x, g):
    """Return a function that updates a variable and its momentum in place."""
    m.assign(m + (tf.matmul(x, g, transpose_a=True) - m) * 0.5)
    v.assign(v - m * tf.reduce_max(g))
    return tf.reduce_sum(g)


def compared(body, variables, *inputs):
    """Check that some calls have the bits of eager ops, and return the compiled function."""
    compiled = tf.function(lambda *inputs: body(*variables[0], *inputs))
    for _ in range(5):
        found = tf.nest.flatten(compiled(*inputs))
        expected = tf.nest.flatten(body(*variables[1], *inputs))
        for a, b in zip((*found, *variables[0]), (*expected, *variables[1]), strict=True):
            np.testing.assert_array_equal(a.numpy(), b.numpy())
    return compiled


def arena(compiled):
    """Return the bytes of the only plan's arena."""
    ((entry,),) = compiled._plan_cache.plans.values()
    return entry.plan.nbytes[0]


def pairs(*shapes):
    return [[tf.Variable(a) for a in arrays(*shapes)] for _ in range(2)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_an_update_has_the_bits_of_its_ops(shape):
    m, depth, n = shape
    compiled = compared(momentum, pairs((m, n), (m, n)), *arrays((depth, m), (depth, n)))
    assert arena(compiled) == 0  # not the product's 4 * m * n


def test_factors_are_not_overwritten():
    def body(v, x):
        v.assign(v + tf.matmul(v, x, transpose_a=True) * 1e-3)
        return tf.reduce_sum(x)

    compiled = compared(body, pairs((520, 520)), *arrays((520, 520)))
    assert arena(compiled) == 0


def read_twice(x, g):
    y = tf.matmul(x, g, transpose_a=True)
    return tf.nn.relu(y) * 0.5, tf.reduce_sum(y[0])


def returned(x, g):
    y = tf.matmul(x, g, transpose_a=True)
    return y, tf.nn.relu(y) * 0.5


def summed(x, g):
    return tf.reduce_sum(tf.square(tf.matmul(x, g, transpose_a=True)) * 0.5, axis=0)


def with_a_row(x, g):
    return tf.nn.relu(tf.matmul(x, g, transpose_a=True) + g[0]) * 0.5


def as_it_lies(x, g):
    return tf.nn.relu(tf.matmul(tf.transpose(x), g)) * 0.5


PRODUCT = 4 * 512 * 600  # bytes


@pytest.mark.parametrize(
    ("body", "place"),
    [(read_twice, PRODUCT), (returned, 0), (summed, PRODUCT), (with_a_row, PRODUCT),
     (as_it_lies, PRODUCT)],
)  # fmt: skip
def test_products_with_other_readers_have_memory(body, place):
    x, g = arrays((64, 512), (64, 600))
    compiled = tf.function(body)
    for _ in range(5):
        found = tf.nest.flatten(compiled(x, g))
    for a, b in zip(found, tf.nest.flatten(body(x, g)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)
    assert arena(compiled) == place  # a result has memory of its own


def test_returned_values_are_new_arrays():
    x, g = arrays((64, 512), (64, 600))
    compiled = tf.function(lambda x, g: tf.nn.relu(tf.matmul(x, g, transpose_a=True)) * 0.5)
    found = [compiled(x, g * k).numpy() for k in (1.0, 1.0, 1.0, 1.0, 2.0)]
    assert arena(compiled) == 0
    np.testing.assert_array_equal(found[3] * 2, found[4])
