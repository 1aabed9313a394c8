"""custom_gradient: what is differentiated and recorded of it, and what is made of it."""

import gc
import weakref

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.core import recorders
from framework.core.op import table
from tests.autodiff.values import grad_of, values


@tf.custom_gradient
def doubled(x):
    return x, lambda dy: 2 * dy


# ---- what is not differentiated ------------------------------------------------------------------


def test_the_ops_inside_are_not_differentiated():
    f = tf.custom_gradient(lambda a, b: (a * b, lambda dy: (dy * a, dy * b)))  # swapped
    assert values(grad_of(f, tf.constant(3.0), tf.constant(5.0))) == [3.0, 5.0]


def test_a_captured_tensor_gets_nothing():
    x, captured = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([x, captured])
        f = tf.custom_gradient(lambda a: (a * captured, lambda dy: dy))
        y = f(x)
    assert values(tape.gradient(y, [x, captured])) == [1.0, None]


def test_backward_functions_without_a_connected_input_never_run():
    def f(x):
        def grad(dy):
            raise AssertionError("this must not run")

        return x * captured, grad

    x, captured = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, captured])
        stopped = tf.custom_gradient(f)(tf.stop_gradient(x))
        beside = tf.custom_gradient(f)(x)
        y = stopped + x * 3.0
        z = beside + captured
    assert values(tape.gradient(y, x)) == 3.0
    assert values(tape.gradient(z, captured)) == 1.0


def test_a_tape_inside():
    @tf.custom_gradient
    def f(x):
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3
        slope = inner.gradient(y, x)
        return y, lambda dy: dy * slope

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        first = tape.gradient(y, x)
    assert values(first) == 12.0
    assert values(outer.gradient(first, x)) == 12.0  # slope was recorded: 6 x


# ---- higher order --------------------------------------------------------------------------------


def log1pexp(x):
    e = tf.exp(x)
    return tf.math.log(1.0 + e), lambda dy: dy * (1.0 - 1.0 / (1.0 + e))


@pytest.mark.parametrize("at", [0.0, 0.7, 100.0])
def test_higher_orders_are_the_derivatives_of_grad_fn(at):
    """log(1 + exp(x)): the intermediate value that grad_fn uses was recorded."""
    f = tf.custom_gradient(log1pexp)
    x = tf.constant(at, tf.float64)
    found = []
    with tf.GradientTape() as third:
        third.watch(x)
        with tf.GradientTape() as second:
            second.watch(x)
            with tf.GradientTape() as first:
                first.watch(x)
                y = f(x)
            found.append(first.gradient(y, x))
        found.append(second.gradient(found[-1], x))
    found.append(third.gradient(found[-1], x))
    s = 1 / (1 + np.exp(-at))
    expected = [s, s * (1 - s), s * (1 - s) * (1 - 2 * s)]
    np.testing.assert_allclose([g.numpy() for g in found], expected, rtol=1e-9, atol=1e-40)


def test_an_own_gradient_inside_grad_fn_sets_the_second_derivative():
    @tf.custom_gradient
    def minus_one(dy, x):
        return -1.1 * dy, lambda ddy: (-1.1 * ddy, -2.1 * ddy * dy)

    @tf.custom_gradient
    def f(x):
        return x + 10.0, lambda dy: minus_one(dy, x)

    c = tf.constant(1.0, tf.float64)
    with tf.GradientTape() as outer:
        outer.watch(c)
        with tf.GradientTape() as inner:
            inner.watch(c)
            d = f(c) ** 4
        first = inner.gradient(d, c)
    assert first.numpy() == pytest.approx(4 * 11.0**3 * -1.1)
    expected = 12 * 11.0**2 * 1.21 + 4 * 11.0**3 * -2.1
    assert outer.gradient(first, c).numpy() == pytest.approx(expected)


def test_output_gradients_reach_an_own_gradient_inside():
    @tf.custom_gradient
    def first_order(x, dz):
        return 2.1, lambda _: (2.2, 3.1)

    @tf.custom_gradient
    def f(x):
        return x * 1.0, lambda dz: first_order(x, dz)

    c, upstream = tf.constant(1.0), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch([c, upstream])
        with tf.GradientTape() as inner:
            inner.watch(c)
            y = f(c)
        first = inner.gradient(y, c, output_gradients=upstream)
    assert values(first) == pytest.approx(2.1)
    assert values(outer.gradient(first, [c, upstream])) == pytest.approx([2.2, 3.1])


# ---- on the hook ---------------------------------------------------------------------------------


class Seen(recorders.Recorder):
    replays = True

    def __init__(self):
        self.ops = []

    def op(self, op, args, attrs, outputs, saved):
        self.ops.append((op, args, attrs, outputs))

    def __enter__(self):
        recorders.push(self)
        return self

    def __exit__(self, *_):
        recorders.remove(self)


def test_recorders_see_an_op_that_hands_on_what_was_computed():
    def squared(x):
        return x * x, lambda dy: dy * 10.0

    f, x = tf.custom_gradient(squared), tf.constant(3.0)
    with Seen() as seen, tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
        tape.gradient(y, x)
    assert [op.name for op, *_ in seen.ops] == ["multiply", "squared", "multiply"]
    (_, _, _, (product,)), (op, args, attrs, outputs), (_, (_, ten), _, _) = seen.ops
    assert args[0] is x
    assert args[1] is product
    assert outputs[0] is y
    (again,) = op.forward(*(a.array for a in args), **attrs)
    assert again == 9.0
    assert float(ten) == 10.0
    assert op.name not in table


def test_the_op_is_made_once():
    x = tf.constant(3.0)
    with Seen() as seen:
        for _ in range(3):
            doubled(x)
    assert len({id(op) for op, *_ in seen.ops}) == 1


def test_a_call_forms_no_reference_cycle():
    gc.collect()
    gc.disable()
    try:
        x = tf.constant([1.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = doubled(x)
        references = [weakref.ref(y), weakref.ref(tape)]
        del y, tape
        assert [r() for r in references] == [None, None]
    finally:
        gc.enable()


# ---- stop_gradient, grad_pass_through ------------------------------------------------------------


def test_stop_gradient():
    x = tf.constant(3.0)
    assert values(tf.stop_gradient(x)) == 3.0
    assert grad_of(tf.stop_gradient, x) == [None]
    assert values(grad_of(tf.stop_gradient, x, unconnected_gradients="zero")) == [0.0]
    assert values(grad_of(lambda x: tf.stop_gradient(x) * x, x)) == [3.0]
    assert values(tf.stop_gradient(tf.constant([1, 2]))) == [1, 2]
    assert values(tf.stop_gradient(tf.Variable(2.0))) == 2.0
    assert values(tf.stop_gradient([1.0, 2.0])) == [1.0, 2.0]


def test_grad_pass_through_of_an_assignment():
    x, z = tf.Variable(1.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.grad_pass_through(x.assign)(z**2)
    assert float(x) == 9.0
    assert values(tape.gradient(y, [z, x])) == [6.0, None]


def test_grad_pass_through_of_a_rounding_that_reads_a_variable():
    scale, x = tf.Variable(2.0), tf.constant([1.2, 2.6])

    @tf.grad_pass_through
    def rounded(x):
        return tf.round(x * scale) / scale

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = rounded(x) * 3.0
    np.testing.assert_allclose(y, [3.0, 7.5])
    assert values(tape.gradient(y, [x, scale])) == [[3.0, 3.0], None]
    assert rounded.__name__ == "rounded"


# ---- on KerasTensors -----------------------------------------------------------------------------


def test_a_functional_model_calls_the_function_anew():
    calls = []

    @tf.custom_gradient
    def reversed_gradient(x, pair):
        calls.append(type(x))
        return {"a": x * 2.0, "b": (pair[0], pair[1] + 1.0)}, lambda da, *db: (-da, None, None)

    inputs = keras.Input((3,))
    hidden = keras.layers.Dense(2, use_bias=False, kernel_initializer="ones")(inputs)
    found = reversed_gradient(hidden, [hidden, hidden])
    assert tuple(found["b"][1].shape) == (None, 2)
    model = keras.Model(inputs, [found["a"], found["b"][1]])
    with tf.GradientTape() as tape:
        a, b = model(tf.ones([1, 3]))
        y = tf.reduce_sum(a) + tf.reduce_sum(b)
    assert values([a, b]) == [[[6.0, 6.0]], [[4.0, 4.0]]]
    assert values(tape.gradient(y, model.trainable_variables)) == [[[-1.0, -1.0]] * 3]
    assert calls[-1] is tf.Tensor
