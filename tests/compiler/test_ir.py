"""The IR: values that depend on constants only, such as shapes, can be read without guards."""

import numpy as np
import pytest

import framework as tf
from tests.autodiff.values import values

X = tf.constant(np.arange(12.0, dtype=np.float32).reshape(4, 3))


def halved(x):
    n = tf.shape(x)[0]
    return tf.reshape(x, [n, -1])[: n // 2]


READ = {
    "a size in a shape": lambda x: tf.reshape(x, [tf.shape(x)[0], -1]),
    "sizes": lambda x: tf.reshape(x, [tf.shape(x)[1], tf.shape(x)[0]]),
    "computed sizes": lambda x: tf.reshape(x, [tf.size(x) // 2, 2]),
    "a shape put together": lambda x: tf.reshape(x, tf.concat([tf.shape(x)[:1], [3, 1]], 0)),
    "stacked": lambda x: x + tf.zeros(tf.stack([tf.shape(x)[0], 1])),
    "range": lambda x: x[:, 0] + tf.cast(tf.range(tf.shape(x)[0]), tf.float32),
    "tile": lambda x: tf.tile(x, [tf.shape(x)[1], 1]),
    "slices": halved,
    "a draw": lambda x: x + 0.0 * tf.random.normal((tf.shape(x)[0], 3)),
    "numpy": lambda x: x * tf.reduce_max(tf.range(3)).numpy(),
    "print": lambda x: x * len(str(tf.constant(2) + 3)),
    "a variable just assigned": lambda x: x * STATE.assign(tf.constant(2.0) * 3.0).numpy(),
}
STATE = tf.Variable(0.0)


@pytest.mark.parametrize("name", READ)
def test_values_that_depend_on_constants_are_read_without_guards(name):
    f = tf.function(READ[name])
    for n in range(4):
        assert values(f(X + n)) == values(f.python_function(X + n))
    assert "1 plan." in f.explain()


def test_constants_that_change_are_noticed():
    calls = []

    def f(x):
        calls.append(1)
        return x * (tf.constant(len(calls)) * 2).numpy()

    f = tf.function(f)
    assert [float(f(tf.constant(1.0))) for _ in range(6)] == [2, 4, 6, 8, 10, 12]


def test_a_size_among_the_arguments_is_compared():
    f = tf.function(lambda x, n: tf.reshape(x, [n, -1]))
    for n in (2, 3, 2, 3, 4, 2):
        assert f(X, tf.constant(n)).shape == (n, 12 // n)
    assert "3 plans" in f.explain() or "2 plans" in f.explain()


# ---- paused recorders ----------------------------------------------------------------------------

ROW = np.array([1.0, 2.0], "float32")


def computing(x):
    with tf.init_scope():
        y = x * 2.0
    return y + x


def reading(x):
    with tf.init_scope():
        n = float(tf.reduce_sum(x * 1.0))
    return x * n


def assigning(x, held=[]):  # noqa: B006
    with tf.init_scope():
        if not held:
            held.append(tf.Variable(x))
        held[0].assign(x)
    return held[0] + x


@pytest.mark.parametrize("body", [computing, reading, assigning])
def test_traced_tensors_read_while_recorders_are_paused(body):
    f = tf.function(body)
    for x in (ROW, ROW, ROW, ROW * 2, ROW * 3):  # the first traces are equal
        expected = np.asarray(body(tf.constant(x)))
        assert np.asarray(f(tf.constant(x))).tolist() == expected.tolist()
    assert "reads a traced tensor while recorders are paused at " in f.explain()
    assert "test_ir.py:" in f.explain()


def test_tables_built_while_recorders_are_paused():
    made = []

    @tf.function
    def f(x):
        with tf.init_scope():
            table = tf.range(2.0) * 3.0
            made.append(table)
        return x + table

    for n in range(5):
        assert np.asarray(f(tf.constant(ROW * n))).tolist() == [n, 2 * n + 3.0]
    assert len(made) == 2
    assert "1 plan" in f.explain()
