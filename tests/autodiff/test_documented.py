"""What TensorFlow's reference pages show of the tape and its companions, with their numbers."""

import numpy as np
import pytest

import framework as tf

Tape = tf.GradientTape


def test_gradient_tape():
    x = tf.constant(3.0)
    with Tape() as g:
        g.watch(x)
        with Tape() as gg:
            gg.watch(x)
            y = x * x
        slope = gg.gradient(y, x)
    assert float(slope) == 6.0
    assert float(g.gradient(slope, x)) == 2.0

    with Tape(persistent=True) as g:
        g.watch(x)
        y = x * x
        z = y * y
    assert float(g.gradient(z, x)) == 108.0  # 4 x³
    assert float(g.gradient(y, x)) == 6.0


def test_not_all_variables_are_watched():
    a, b = tf.Variable(6.0, trainable=True), tf.Variable(2.0, trainable=True)
    with Tape(watch_accessed_variables=False) as tape:
        tape.watch(a)
        y, z = a**2, b**3
    by_a, by_b = tape.gradient([y, z], [a, b])
    assert float(by_a) == 12.0
    assert by_b is None


def test_a_list_of_parameters():
    dense = tf.keras.layers.Dense(3)
    x = tf.ones([4, 2])
    with Tape() as tape:
        loss = tf.reduce_mean(dense(x) ** 2)
    found = tape.gradient(loss, dense.trainable_variables)
    assert [tuple(g.shape) for g in found] == [(2, 3), (3,)]


def test_reset_and_stop_recording_within_a_step():
    w = tf.Variable(1.5)
    with Tape() as t:
        loss = w * w
    with Tape() as t:
        loss = loss + w * w
    whole = t.gradient(loss, w)
    with Tape() as t:
        loss = w * w
        t.reset()
        loss = loss + w * w
    assert float(t.gradient(loss, w)) == float(whole) == 3.0

    with Tape(persistent=True) as t:
        loss = w * w
        with t.stop_recording():
            w.assign_sub(t.gradient(loss, w))
    assert float(w) == -1.5


def test_jacobian_and_batch_jacobian():
    with Tape() as g:
        x = tf.constant([1.0, 2.0])
        g.watch(x)
        y = x * x
    np.testing.assert_array_equal(g.jacobian(y, x), [[2.0, 0.0], [0.0, 4.0]])
    with Tape() as g:
        x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        g.watch(x)
        y = x * x
    np.testing.assert_array_equal(g.batch_jacobian(y, x), [[[2, 0], [0, 4]], [[6, 0], [0, 8]]])


@pytest.mark.parametrize("stable", [False, True])
def test_log1pexp(stable):
    def plain(x):
        return tf.math.log(1 + tf.exp(x))

    @tf.custom_gradient
    def exact(x):
        e = tf.exp(x)
        return tf.math.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))

    x = tf.constant(100.0)
    with Tape() as tape:
        tape.watch(x)
        y = (exact if stable else plain)(x)
    found = float(tape.gradient(y, x))
    assert found == 1.0 if stable else np.isnan(found)


def test_a_function_of_two_arguments():
    @tf.custom_gradient
    def bar(x, y):
        def grad(upstream):
            return upstream * y, upstream * x

        return x * y, grad

    x, y = tf.constant(2.0), tf.constant(3.0)
    with Tape(persistent=True) as tape:
        tape.watch([x, y])
        z = bar(x, y)
        a = bar(z, z)  # x² y²
    assert [float(g) for g in tape.gradient(z, [x, y])] == [3.0, 2.0]
    assert [float(g) for g in tape.gradient(a, [x, y])] == [36.0, 24.0]


def test_nested_custom_gradients_are_of_the_first_order_in_dy():
    seen = []

    @tf.custom_gradient
    def op_with_fused_backprop(x):
        @tf.custom_gradient
        def first(x):
            return 2.0 * x, lambda ddy: seen.append("second") or 2.0 * ddy

        return x * x, lambda dy: dy * first(x)

    x = tf.constant(3.0)
    with Tape() as outer:
        outer.watch(x)
        with Tape() as inner:
            inner.watch(x)
            y = op_with_fused_backprop(x)
        slope = inner.gradient(y, x)
    assert float(slope) == 6.0
    assert float(outer.gradient(slope, x)) == 2.0
    assert seen == ["second"]


def test_a_custom_gradient_that_uses_a_variable():
    weights = tf.Variable(tf.ones([2]))

    @tf.custom_gradient
    def linear_poly(x):
        poly = weights[1] * x + weights[0]

        def grad_fn(dpoly, variables):
            by_x = dpoly * weights[1]
            by_weights = tf.stack([tf.reduce_sum(dpoly), tf.reduce_sum(dpoly * x)])
            assert variables[0] is weights
            return by_x, [by_weights]

        return poly, grad_fn

    x = tf.constant([1.0, 2.0, 3.0])
    with Tape(persistent=True) as tape:
        tape.watch(x)
        poly = linear_poly(x)
    np.testing.assert_array_equal(poly, [2.0, 3.0, 4.0])
    np.testing.assert_array_equal(tape.gradient(poly, x), [1.0, 1.0, 1.0])
    np.testing.assert_array_equal(tape.gradient(poly, weights), [3.0, 6.0])


def test_recompute_grad_of_layers():
    first, second = tf.keras.layers.Dense(4, "tanh"), tf.keras.layers.Dense(1)
    x = tf.constant(np.random.default_rng(0).normal(size=(5, 3)), tf.float32)
    block = lambda x: second(first(x))
    block(x)
    variables = [*first.trainable_variables, *second.trainable_variables]

    def gradients(function):
        with Tape() as tape:
            loss = tf.reduce_sum(function(x) ** 2)
        return tape.gradient(loss, variables)

    for a, b in zip(gradients(block), gradients(tf.recompute_grad(block)), strict=True):
        np.testing.assert_array_equal(a, b)


def test_forward_accumulator():
    x = tf.constant([[2.0, 3.0], [1.0, 4.0]])
    targets = tf.constant([[1.0], [-1.0]])
    dense = tf.keras.layers.Dense(1)
    dense.build([None, 2])
    total = 0.0
    for tangent in ([[1.0], [0.0]], [[0.0], [1.0]]):
        with tf.autodiff.ForwardAccumulator(dense.kernel, tf.constant(tangent)) as acc:
            loss = tf.reduce_sum((dense(x) - targets) ** 2.0)
        total += float(acc.jvp(loss))
    with Tape() as tape:
        loss = tf.reduce_sum((dense(x) - targets) ** 2.0)
    by_kernel = tape.gradient(loss, dense.kernel)
    np.testing.assert_allclose(total, np.sum(by_kernel), rtol=1e-5)


def test_forward_accumulators_and_tapes_nest():
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
        with Tape() as tape:
            tape.watch(x)
            y = x**3.0
        slope = tape.gradient(y, x)
    assert float(acc.jvp(slope)) == 12.0  # forward over backward
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as outer:
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as inner:
            y = x**3.0
        assert float(outer.jvp(inner.jvp(y))) == 12.0
    assert inner.jvp(outer.jvp(y)) is None


def test_unconnected_gradients():
    x, z = tf.ones([1, 2]), tf.ones([3, 1])
    for option, expected in (("none", None), (tf.UnconnectedGradients.ZERO, [[0.0, 0.0]])):
        with Tape() as g:
            g.watch([x, z])
            y = tf.reduce_sum(z)
        found = g.gradient(y, x, unconnected_gradients=option)
        assert found is expected or found.numpy().tolist() == expected


def test_stop_gradient_in_a_custom_softmax():
    """The expectation step: probabilities taken as given."""
    logits = tf.constant([1.0, 2.0, 3.0])
    with Tape() as tape:
        tape.watch(logits)
        shifted = logits - tf.stop_gradient(tf.reduce_max(logits))
        top = tf.exp(shifted)
        p = top / tf.reduce_sum(top)
    found = tape.gradient(p, logits, output_gradients=[1.0, 0.0, 0.0])
    s = np.exp([1.0, 2.0, 3.0]) / np.exp([1.0, 2.0, 3.0]).sum()
    np.testing.assert_allclose(found, s[0] * (np.eye(3)[0] - s), rtol=1e-5)
