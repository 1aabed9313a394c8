"""The article "Introduction to GradientTape in TensorFlow": derivatives as they are printed.

Its text lost the `watch` of its constants; without it TensorFlow gives None, and so do we.
"""

import pytest

import framework as tf
from framework import GradientTape

ONCE = "A non-persistent GradientTape can only be used to compute one set of gradients"


def test_a_tensor_of_ones():
    x = tf.ones((2, 3))
    y = tf.reduce_sum(x)

    assert repr(x) == (
        "<tf.Tensor: shape=(2, 3), dtype=float32, numpy=\n"
        "array([[1., 1., 1.],\n"
        "       [1., 1., 1.]], dtype=float32)>"
    )
    assert y.numpy() == 6.0


def test_the_square_of_a_sum(capsys):
    x = tf.ones((2, 3))
    with tf.GradientTape() as t:
        t.watch(x)  # keep track of the x
        y = tf.reduce_sum(x)  # sum up the elements in x which is 6
        z = tf.square(y)  # square of y
    dz_dx = t.gradient(z, x)  # taking the differential z with respect to x
    print(dz_dx)

    assert capsys.readouterr().out == (
        "tf.Tensor(\n[[12. 12. 12.]\n [12. 12. 12.]], shape=(2, 3), dtype=float32)\n"
    )


def test_a_polynomial(capsys):
    x = tf.constant(2.0)
    with GradientTape() as t:
        t.watch(x)
        y = 2 * (x**3) + 5 * (x**2) + 3 * x
    dy_dx = t.gradient(y, x)
    print(dy_dx)

    assert capsys.readouterr().out == "tf.Tensor(47.0, shape=(), dtype=float32)\n"


def test_two_tapes_and_a_tape_used_again(capsys):
    x = tf.constant(2.0)
    with GradientTape() as t:
        t.watch(x)
        y = 2 * (x**3) + 5 * (x**2) + 3 * x
    dy_dx = t.gradient(y, x)

    x = tf.Variable(2.0)
    with tf.GradientTape() as t1:
        with tf.GradientTape() as t2:
            y = 2 * (x**3) + 5 * (x**2) + 3 * x
        dy_dx = t2.gradient(y, x)
    d2y_dx2 = t1.gradient(dy_dx, x)
    print(dy_dx)
    print(d2y_dx2)

    assert capsys.readouterr().out == (
        "tf.Tensor(47.0, shape=(), dtype=float32)\ntf.Tensor(34.0, shape=(), dtype=float32)\n"
    )

    z = tf.reduce_sum(dy_dx)
    with pytest.raises(RuntimeError) as error:
        dz_dx = t.gradient(z, x)
    assert str(error.value).startswith(f"{ONCE} (or jacobians)")


def test_a_persistent_tape(capsys):
    x = tf.constant(2.0)
    with GradientTape(persistent=True) as t:
        t.watch(x)
        y = 2 * (x**3) + 5 * (x**2) + 3 * x
        z = y * y * y * y
    dy_dx = t.gradient(y, x)
    print(dy_dx)
    dz_dy = t.gradient(z, y)

    assert capsys.readouterr().out == "tf.Tensor(47.0, shape=(), dtype=float32)\n"
    assert dz_dy.numpy() == 4 * 42.0**3


@pytest.mark.parametrize("tape", [tf.GradientTape, GradientTape])
def test_an_unwatched_constant_gives_none(tape, capsys):
    """The same programs as they were scraped, with nothing watched."""
    x = tf.ones((2, 3))
    with tape() as t:
        y = tf.reduce_sum(x)
        z = tf.square(y)
    dz_dx = t.gradient(z, x)
    print(dz_dx)
    assert dz_dx is None

    x = tf.constant(2.0)
    with tape(persistent=True) as t:
        y = 2 * (x**3) + 5 * (x**2) + 3 * x
        z = y * y * y * y
    print(t.gradient(y, x))
    print(t.gradient(z, y))
    assert capsys.readouterr().out == "None\nNone\nNone\n"
