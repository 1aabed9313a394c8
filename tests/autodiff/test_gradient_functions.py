"""gradients_function and its kin."""

import math

import numpy as np
import pytest

import framework as tf
from framework.autodiff.gradient_functions import (
    gradients_function,
    implicit_grad,
    implicit_value_and_gradients,
    make_vjp,
    val_and_grad_function,
    value_and_gradients_function,
)
from tests.autodiff.values import values


def power(x, y):
    output = 1
    for _ in range(int(y)):
        output = tf.multiply(output, x)
    return output


def test_the_tutorials_functions():
    def f(x):
        return tf.square(tf.sin(x))

    (slope,) = gradients_function(f)(math.pi / 2)
    assert abs(slope.numpy()) < 1e-7
    assert values(gradients_function(power)(3.0, 2)[0]) == 6.0
    assert values(gradients_function(power)(4.0, 3)[0]) == 48.0
    assert values(power(4.0, 3)) == 64.0


def test_integers_get_none():
    assert values(gradients_function(power)(3.0, 2)) == [6.0, None]


def grad(f):
    return lambda x: gradients_function(f)(x)[0]


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_nesting_gives_every_order(order):
    """sin²: its derivatives are sin 2x and those of it."""
    x = tf.linspace(tf.constant(-2 * math.pi, tf.float64), 2 * math.pi, 100)
    f = lambda x: tf.square(tf.sin(x))
    for _ in range(order):
        f = grad(f)
    expected = 2.0 ** (order - 1) * np.sin(2 * x.numpy() + (order - 1) * math.pi / 2)
    np.testing.assert_allclose(f(x), expected, atol=1e-12)


def product(x, y, z):
    return x * y * y * z


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        (None, [45.0, 60.0, 18.0]), ([0], [45.0]), ([2, 0], [18.0, 45.0]), (["y"], [60.0]),
        (("z", "x"), [18.0, 45.0]), ("y", [60.0]), (1, [60.0]), ([], []),
    ],
)  # fmt: skip
def test_params(params, expected):
    assert values(gradients_function(product, params)(2.0, 3.0, 5.0)) == expected


def test_other_arguments_arrive_as_they_are():
    seen = []

    def f(x, y):
        seen.append((type(x), type(y)))
        return x * y

    gradients_function(f, ["x"])(2.0, 3.0)
    gradients_function(f)(2.0, np.ones(2, np.float32))
    assert seen == [(tf.Tensor, float), (tf.Tensor, tf.Tensor)]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (["q"], "has no parameter 'q'; it takes x, y, z"), ([3], "no argument number 3"),
        (["x", 1], "must be all strings or all integers"), ([1.5], "must be all strings or all"),
    ],
)  # fmt: skip
def test_params_that_do_not_fit(params, message):
    with pytest.raises(ValueError, match=message):
        gradients_function(product, params)(2.0, 3.0, 5.0)


def test_the_same_tensor_for_two_arguments():
    x = tf.constant(3.0)
    assert values(gradients_function(lambda a, b: a * a * b)(x, x)) == [18.0, 9.0]


def test_variables_as_arguments():
    v = tf.Variable(3.0)
    assert values(gradients_function(lambda x: x * x)(v)) == [6.0]


def test_value_and_gradients():
    assert val_and_grad_function is value_and_gradients_function
    value, grads = value_and_gradients_function(product)(2.0, 3.0, 5.0)
    assert values(value) == 90.0
    assert values(grads) == [45.0, 60.0, 18.0]
    _, grads = value_and_gradients_function(lambda x: x * x)(
        tf.constant([1.0, 2.0]), dy=[1.0, 10.0]
    )
    assert values(grads) == [[2.0, 40.0]]


def test_make_vjp():
    value, vjp = make_vjp(lambda x, y: [x * y, x])(3.0, 5.0)
    assert values(value) == [15.0, 3.0]
    assert values(vjp()) == [6.0, 3.0]
    assert values(vjp([10.0, 1.0])) == [51.0, 30.0]
    _, vjp = make_vjp(lambda x: x, persistent=False)(3.0)
    assert values(vjp(dy=4.0)) == [4.0]
    with pytest.raises(RuntimeError, match="non-persistent"):
        vjp()
    value, vjp = make_vjp(lambda x: {"number": 3.0, "x": x})(2.0)
    assert values(value) == {"number": 3.0, "x": 2.0}
    assert values(vjp()) == [1.0]


def test_implicit_gradients():
    w, b = tf.Variable(3.0), tf.Variable(1.0)

    def loss(x, scale=1.0):
        return (b + w * w * x) * scale

    pairs = implicit_grad(loss)(2.0, scale=10.0)
    assert [variable is v for (_, variable), v in zip(pairs, [w, b], strict=True)] == [True, True]
    assert values([g for g, _ in pairs]) == [120.0, 10.0]
    value, again = implicit_value_and_gradients(loss)(2.0, scale=10.0)
    assert values(value) == 190.0
    assert values([g for g, _ in again]) == [120.0, 10.0]


def test_a_variable_as_argument_of_an_own_gradient_is_listed_once():
    x_captured = tf.Variable(3.0)

    @tf.custom_gradient
    def f(x):
        return x * x, lambda dr: 2 * dr * x + 1

    ((g, variable),) = implicit_grad(lambda: f(x_captured))()
    assert variable is x_captured
    assert values(g) == 7.0


@pytest.mark.parametrize("make", [gradients_function, make_vjp, implicit_grad])
def test_a_function_that_returns_none(make):
    def forgetful(x):
        pass

    with pytest.raises(ValueError, match="did you forget to return a value from forgetful"):
        make(forgetful)(1.0)


def test_no_variables():
    with pytest.raises(ValueError, match="No trainable variables were accessed"):
        implicit_grad(lambda x: x)(tf.constant(1.0))


def test_names_are_kept():
    assert gradients_function(power).__name__ == "power"
