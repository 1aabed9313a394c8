"""Without Numba, large products with their epilogues become one parallel node."""

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.kernels import blocks, gelu, matmul, rows, threads, tier
from framework.ops import contraction
from tests.plan_calls import plan_calls

pytestmark = pytest.mark.skipif(
    matmul.blas.controls() is None, reason="only OpenBLAS is shared among these threads"
)
layers = keras.layers


@pytest.fixture(autouse=True)
def small_products(change):
    tier.set_tier("numpy")
    threads.set_count(2)
    for limit in ("ALONE", "PAYS", "SHARED"):
        change(matmul, **{limit: 1 << 12})
    change(contraction, LEAST=1 << 12)  # of eager calls of the same ops
    yield
    threads.set_count(None)
    tier.set_tier(None)


def run(body, *arrays):
    """Check that plan and eager call give equal results; return them and the plan's calls."""
    function = tf.function(body)
    args = [tf.constant(a, tf.float32) for a in arrays]
    expected = [y.numpy() for y in function(*args)]
    with plan_calls() as calls:
        for _ in range(3):
            calls.clear()
            found = [y.numpy() for y in function(*args)]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)
    return calls


def normal(*shape):
    return np.random.default_rng(len(shape) + shape[0]).normal(size=shape)


def steps_of(call):
    """Return the tasks of one call of `several`: (factor, factor, result, epilogue), others."""
    steps = [step for lane in call.arguments[0] for step in lane]
    products = [step for step in steps if isinstance(step, tuple)]
    return products, [step for step in steps if not isinstance(step, tuple)]


def counts(calls):
    """Return the number of products in each call of `several`, and of single products."""
    return [len(steps_of(call)[0]) for call in calls["large_dots"]], len(calls["large_dot"])


def followers(calls):
    """Return the names of the ufuncs in a product's epilogue."""
    products = [step for call in calls["large_dots"] for step in steps_of(call)[0]]
    return [ufunc.__name__ for *_, following in products for ufunc, _ in following]


@pytest.mark.parametrize("heads", [1, 2])
def test_a_block_of_a_transformer(heads, change):
    def steps():
        keras.utils.set_random_seed(4)
        x = inputs = layers.Input((6, 20))
        y = layers.LayerNormalization()(x)
        x = x + layers.MultiHeadAttention(heads, 20 // heads)(y, y)
        y = layers.Dense(36, activation="gelu")(layers.LayerNormalization()(x))
        x = layers.Dense(3)(x + layers.Dense(20)(y))
        net = keras.Model(inputs, x)
        step = net.training_step(loss="mse", optimizer=keras.optimizers.Adam(0.01))
        losses = []
        with plan_calls() as calls:
            for _ in range(4):
                calls.clear()
                losses.append(float(step(normal(33, 6, 20), normal(32, 6, 3)[:1])))
        return [losses, *net.get_weights()], calls

    found, calls = steps()
    several, alone = counts(calls)
    assert max(several) >= 4
    assert alone <= 3
    assert "multiply" in followers(calls)  # by the derivative of GELU
    change(matmul, shares=lambda _: False)
    expected, calls = steps()
    assert "large_dots" not in calls
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("shape", [(33, 6, 20), (32, 8, 32)])  # threads' rows and kernels' differ,
@pytest.mark.parametrize("name", ["float32", "float64"])  # and are the same
def test_normalization_and_gelu_join_the_rows_of_products(shape, name, change):
    change(blocks, LEAST=1 << 12)

    def steps():
        keras.utils.set_random_seed(4)
        width = shape[2]
        x = inputs = layers.Input(shape[1:])
        for _ in range(2):
            y = layers.LayerNormalization()(x)
            y = layers.Dense(2 * width, activation="gelu")(y)
            x = x + layers.Dense(width)(y)
        net = keras.Model(inputs, layers.LayerNormalization()(x))
        step = net.training_step(loss="mse", optimizer=keras.optimizers.Adam(0.01))
        losses = []
        with plan_calls() as calls:
            for _ in range(4):
                calls.clear()
                losses.append(float(step(normal(*shape), normal(*shape) ** 2)))
        return [losses, *net.get_weights()], calls

    keras.config.set_floatx(name)
    try:
        found, calls = steps()
        assert len(calls["layer_norm_by_rows"]) == 3
        assert len(calls["layer_norm_back_by_rows"]) >= 1
        assert len(calls["with_slope_by_rows"]) == (2 if name == "float32" else 0)
        by_rows = next(rows for call in calls["large_dots"] if (rows := steps_of(call)[1]))
        assert len(by_rows) == (3 + 2 if name == "float32" else 1)  # of the forward pass
        change(matmul, shares=lambda _: False)
        expected, calls = steps()
        assert "large_dots" not in calls
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b)
    finally:
        keras.config.set_floatx("float32")


def test_a_product_joins_the_rows_of_another():
    calls = run(lambda a, b: (tf.matmul(tf.matmul(a, b), b),), normal(40, 33), normal(33, 33))
    assert counts(calls) == ([2], 0)


def test_products_that_need_all_rows_start_a_new_call():
    def body(a, b):
        first = tf.matmul(a, b)
        return tf.matmul(a, first), tf.matmul(first, first, True)

    assert counts(run(body, normal(34, 34), normal(34, 34))) == ([2], 1)
    wide = run(lambda a, b: (tf.matmul(tf.matmul(a, b), b),), normal(30, 33), normal(33, 33))
    assert counts(wide) == ([], 2)


def test_products_are_pending_until_they_are_read():
    def body(a, b, c):
        first = tf.matmul(a, b)
        again = tf.exp(c)  # does not need it
        second = tf.matmul(a, again)
        shaped = tf.reshape(first, (2, -1, 33))
        return shaped, second, tf.reduce_sum(shaped, 0) + 1

    calls = run(body, normal(40, 33), normal(33, 33), normal(33, 35))
    assert counts(calls) == ([2], 0)


@pytest.mark.parametrize("turned", [(False, True), (True, False), (True, True)])
def test_transposed_factors_and_epilogues(turned):
    def body(a, b, row, whole):
        y = tf.matmul(a, b, *turned) + row
        y = tf.reshape(y, (4, 10, 35)) * whole
        return (row + y,)

    a, b = normal(40, 33), normal(33, 35)
    a, b = (x.T if t else x for x, t in zip((a, b), turned, strict=True))
    calls = run(body, a, b, normal(35), normal(4, 10, 35))
    assert len(calls["large_dots"]) == 1
    assert sorted(followers(calls)) == ["add", "add", "multiply"]


def test_nodes_that_cannot_be_epilogues():
    def body(a, b, row, column):
        by_heads = tf.reshape(tf.matmul(a, b), (40, 5, 7)) + row  # a row of another length
        kept = tf.matmul(a, b * 2)
        beside = kept + 1, kept * kept
        return by_heads, tf.matmul(a, b * 3) + column, tf.matmul(a, b * 4) - b[0], *beside

    calls = run(body, normal(40, 33), normal(33, 35), normal(7), normal(40, 1))
    assert followers(calls) == []


@pytest.mark.parametrize("shape", [(65, 40, 33), (33, 40, 65), (31, 4000, 3), (16, 17, 16)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_kernel(shape, dtype):
    m, k, n = shape
    a, b = normal(m, k).astype(dtype), normal(k, n).astype(dtype)
    row, whole = normal(n).astype(dtype), normal(1, m, n).astype(dtype)
    out, other = np.empty((1, m, n), dtype), np.empty((k, k), dtype)
    steps = ((np.add, row), (np.multiply, whole))
    matmul.several((((a, b, out, steps),), ((a.T, a, other, ()),)))
    np.testing.assert_array_equal(out, (matmul.dot(a, b) + row) * whole)
    np.testing.assert_array_equal(other, matmul.dot(a.T, a))


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("shape", [(64, 32), (65, 20)])
def test_a_chain_of_tasks(count, shape, change):
    change(blocks, LEAST=1 << 12)
    threads.set_count(count)
    m, n = shape
    x, w = normal(m, n).astype("float32"), normal(n, n).astype("float32")
    gamma, g = normal(n).astype("float32"), normal(m, n).astype("float32") ** 2
    first, y, made, slope, last, d = np.empty((6, m, n), "float32")
    mean, rstd, d_gamma, d_beta = (np.empty(k, "float32") for k in (m, m, n, n))
    matmul.several((
        (
            (x, w, first, ((np.add, gamma),)),
            rows.layer_norm_by_rows(first, gamma, gamma, y, mean, rstd, epsilon=1e-3),
            gelu.with_slope_by_rows(y, made, slope, approximate=False),
            (made, w, last, ((np.add, first),)),
        ),
        ((x.T, g, np.empty((n, n), "float32"), ()),),
    ))  # fmt: skip
    expected = [matmul.dot(x, w) + gamma]
    normed, (a, b) = rows.layer_norm(expected[0], gamma, gamma, epsilon=1e-3)
    expected += [normed, a, b, *gelu.with_slope(normed, approximate=False)[:1]]
    expected.append(matmul.dot(expected[-1], w) + expected[0])
    for found, array in zip((first, y, mean, rstd, made, last), expected, strict=True):
        np.testing.assert_array_equal(found, array)
    by_rows = rows.layer_norm_back_by_rows
    matmul.several((
        (
            (g, w, last, ()),
            by_rows(last, x, gamma, mean, rstd, d, d_gamma, d_beta, needed=(True,) * 3),
        ),
    ))  # fmt: skip
    last = matmul.dot(g, w)
    expected = rows.layer_norm_back(last, x, gamma, mean, rstd, needed=(True,) * 3)
    for found, array in zip((d, d_gamma, d_beta), expected, strict=True):
        np.testing.assert_array_equal(found, array)
