"""A notebook of TensorFlow 1.x, "Automatic differentiation and gradient tape": contrib.eager."""

from math import pi

import numpy as np
import pytest

import framework as tf


def test_derivatives_of_a_function():
    tf.enable_eager_execution()

    tfe = tf.contrib.eager  # Shorthand for some symbols

    def f(x):
        return tf.square(tf.sin(x))

    assert f(pi / 2).numpy() == 1.0

    # grad_f will return a list of derivatives of f
    # with respect to its arguments. Since f() has a single argument,
    # grad_f will return a list with a single element.
    grad_f = tfe.gradients_function(f)
    assert tf.abs(grad_f(pi / 2)[0]).numpy() < 1e-7


def test_plot_to_the_third_derivative(monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    shown = []
    monkeypatch.setattr(pyplot, "show", lambda: shown.append(pyplot.gca()))
    pyplot.figure()
    tfe = tf.contrib.eager

    def f(x):
        return tf.square(tf.sin(x))

    def grad(f):
        return lambda x: tfe.gradients_function(f)(x)[0]

    x = tf.lin_space(-2 * pi, 2 * pi, 100)  # 100 points between -2π and +2π

    import matplotlib.pyplot as plt

    plt.plot(x, f(x), label="f")
    plt.plot(x, grad(f)(x), label="first derivative")
    plt.plot(x, grad(grad(f))(x), label="second derivative")
    plt.plot(x, grad(grad(grad(f)))(x), label="third derivative")
    plt.legend()
    plt.show()

    (axes,) = shown
    points = np.linspace(-2 * np.pi, 2 * np.pi, 100)
    analytic = {
        "f": np.sin(points) ** 2,
        "first derivative": np.sin(2 * points),
        "second derivative": 2 * np.cos(2 * points),
        "third derivative": -4 * np.sin(2 * points),
    }
    drawn = {line.get_label(): line.get_xydata() for line in axes.get_lines()}
    assert list(drawn) == list(analytic)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == list(analytic)
    for label, expected in analytic.items():
        np.testing.assert_allclose(drawn[label][:, 0], points, atol=1e-5, err_msg=label)
        np.testing.assert_allclose(drawn[label][:, 1], expected, atol=1e-5, err_msg=label)
    plt.close()


def test_python_control_flow():
    tfe = tf.contrib.eager

    def f(x, y):
        output = 1
        # Must use range(int(y)) instead of range(y) in Python 3 when
        # using TensorFlow 1.10 and earlier. Can use range(y) in 1.11+
        for i in range(int(y)):
            output = tf.multiply(output, x)
        return output

    def g(x, y):
        # Return the gradient of `f` with respect to it's first parameter
        return tfe.gradients_function(f)(x, y)[0]

    assert f(3.0, 2).numpy() == 9.0  # f(x, 2) is essentially x * x
    assert g(3.0, 2).numpy() == 6.0  # And its gradient will be 2 * x
    assert f(4.0, 3).numpy() == 64.0  # f(x, 3) is essentially x * x * x
    assert g(4.0, 3).numpy() == 48.0  # And its gradient will be 3 * x * x


def test_python_control_flow_over_a_range_of_a_tensor():
    """What the comment in the program says about `range(y)`."""
    tfe = tf.contrib.eager

    def f(x, y):
        output = 1
        for i in range(y):
            output = tf.multiply(output, x)
        return output

    assert tfe.gradients_function(f)(4.0, 3)[0].numpy() == 48.0


def test_gradient_with_respect_to_an_intermediate_value():
    x = tf.ones((2, 2))

    # a single t.gradient() call when the bug is resolved.
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = tf.reduce_sum(x)
        z = tf.multiply(y, y)

    # Use the same tape to compute the derivative of z with respect to the
    # intermediate value y.
    dz_dy = t.gradient(z, y)
    assert dz_dy.numpy() == 8.0

    # Derivative of z with respect to the original input tensor x
    dz_dx = t.gradient(z, x)
    for i in [0, 1]:
        for j in [0, 1]:
            assert dz_dx[i][j].numpy() == 8.0


def test_higher_order_gradients_with_tapes():
    """With `t.watch(x)` put in, which TensorFlow needs since its tapes watch each for itself."""
    x = tf.constant(1.0)  # Convert the Python 1.0 to a Tensor object

    with tf.GradientTape() as t:
        t.watch(x)
        with tf.GradientTape() as t2:
            t2.watch(x)
            y = x * x * x
        # Compute the gradient inside the 't' context manager
        # which means the gradient computation is differentiable as well.
        dy_dx = t2.gradient(y, x)
    d2y_dx2 = t.gradient(dy_dx, x)

    assert dy_dx.numpy() == 3.0
    assert d2y_dx2.numpy() == 6.0


def test_higher_order_gradients_where_the_inner_tape_watches_alone():
    """The program as printed: what the inner tape watches, the outer one does not."""
    x = tf.constant(1.0)  # Convert the Python 1.0 to a Tensor object

    with tf.GradientTape() as t:
        with tf.GradientTape() as t2:
            t2.watch(x)
            y = x * x * x
        dy_dx = t2.gradient(y, x)
    d2y_dx2 = t.gradient(dy_dx, x)

    assert dy_dx.numpy() == 3.0
    assert d2y_dx2 is None
