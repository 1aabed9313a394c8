"""The article "tf.GradientTape Explained for Keras Users".

Its programs are lost; these are written anew from its text and give the numbers it describes.
"""

import re

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.keras.datasets import mnist
from framework.keras.layers import Dense, Flatten

ONCE = "A non-persistent GradientTape can only"


# ---- the basics ----------------------------------------------------------------------------------


def test_introduction():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x**3
    dy_dx = tape.gradient(y, x)

    assert dy_dx.numpy() == 27.0


def test_introduction_with_several_variables():
    x = tf.constant(3.0)
    y = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        z = x**3 * y

    assert [g.numpy() for g in tape.gradient(z, [x, y])] == [54.0, 27.0]
    dz_dx, dz_dy = tape.gradient(z, (x, y))
    assert (dz_dx.numpy(), dz_dy.numpy()) == (54.0, 27.0)


def test_automatically_watching_variables():
    x = tf.Variable(3.0, trainable=True)
    with tf.GradientTape() as tape:
        y = x**3

    assert tape.gradient(y, x).numpy() == 27.0


@pytest.mark.parametrize("make", [tf.constant, lambda x: tf.Variable(x, trainable=False)])
def test_what_is_not_watched_raises_an_error(make):
    """It is the None that has no `.numpy()`."""
    x = make(3.0)
    with tf.GradientTape() as tape:
        y = x**3

    with pytest.raises(AttributeError, match="NoneType"):
        tape.gradient(y, x).numpy()


def test_watch_accessed_variables():
    x = tf.Variable(3.0)
    z = tf.Variable(2.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(x)
        y = x**3 * z
    dy_dx, dy_dz = tape.gradient(y, [x, z])

    assert dy_dx.numpy() == 54.0
    assert dy_dz is None


def test_higher_order_derivatives():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape_2:
        with tf.GradientTape() as tape_1:
            y = x**3
        dy_dx = tape_1.gradient(y, x)
    d2y_dx2 = tape_2.gradient(dy_dx, x)

    assert dy_dx.numpy() == 27.0
    assert d2y_dx2.numpy() == 18.0


def test_a_second_gradient_raises_an_error(capsys):
    a = tf.Variable(6.0)
    b = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = a**2
        z = b**3

    print(tape.gradient(y, a).numpy())
    with pytest.raises(RuntimeError, match=ONCE):
        print(tape.gradient(z, b).numpy())
    assert capsys.readouterr().out == "12.0\n"


def test_persistent(capsys):
    a = tf.Variable(6.0)
    b = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        y = a**2
        z = b**3

    print(tape.gradient(y, a).numpy())
    print(tape.gradient(z, b).numpy())
    assert capsys.readouterr().out == "12.0\n12.0\n"


def test_stop_recording():
    """Gradients in the middle of a function, and at its end: the same ones."""
    x = tf.Variable(3.0)

    with tf.GradientTape(persistent=True) as tape:
        y = x**2
        with tape.stop_recording():
            dy_dx = tape.gradient(y, x)
        z = y**2
        with tape.stop_recording():
            dz_dx = tape.gradient(z, x)
            unseen = 2.0 * x
    assert (dy_dx.numpy(), dz_dx.numpy()) == (6.0, 108.0)
    assert tape.gradient(unseen, x) is None

    with tf.GradientTape(persistent=True) as tape:
        y = x**2
        z = y**2
    assert (tape.gradient(y, x).numpy(), tape.gradient(z, x).numpy()) == (6.0, 108.0)


def test_other_methods():
    a = tf.Variable(1.0)
    b = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = b * a
        assert [v is w for v, w in zip(tape.watched_variables(), (a, b), strict=True)]
        tape.reset()
        assert tape.watched_variables() == ()
        z = 3.0 * b
    assert [v is b for v in tape.watched_variables()] == [True]
    assert tape.gradient([y, z], b).numpy() == 3.0


# ---- advanced uses -------------------------------------------------------------------------------


def test_linear_regression(capsys):
    random = np.random.default_rng(0)

    # Some points on the line, and the variables to estimate
    x = tf.constant(random.uniform(-1.0, 1.0, 200).astype(np.float32))
    y = 10.0 * x + 5.0
    a = tf.Variable(random.random(), dtype=tf.float32)
    b = tf.Variable(random.random(), dtype=tf.float32)
    learning_rate = 0.001

    def loss(real_y, pred_y):
        return tf.reduce_mean(tf.square(real_y - pred_y))

    def step(real_x, real_y):
        with tf.GradientTape() as tape:
            pred_y = a * real_x + b
            regression_loss = loss(real_y, pred_y)
        a_gradient, b_gradient = tape.gradient(regression_loss, (a, b))
        a.assign_sub(learning_rate * a_gradient)
        b.assign_sub(learning_rate * b_gradient)

    for _ in range(100000):
        step(x, y)
    print(f"y ≈ {a.numpy()}x + {b.numpy()}")

    estimated = re.fullmatch(r"y ≈ (\S+)x \+ (\S+)\n", capsys.readouterr().out).groups()
    assert [float(e) for e in estimated] == pytest.approx([10.0, 5.0], abs=0.02)


def test_polynomial_regression(capsys):
    random = np.random.default_rng(0)

    x = tf.constant(random.uniform(-1.0, 1.0, 200).astype(np.float32))
    y = 6.0 * x**2 + 8.0 * x + 2.0
    a, b, c = (tf.Variable(random.random(), dtype=tf.float32) for _ in range(3))
    learning_rate = 0.01

    def loss(real_y, pred_y):
        return tf.reduce_mean(tf.square(real_y - pred_y))

    def step(real_x, real_y):
        with tf.GradientTape() as tape:
            pred_y = a * real_x**2 + b * real_x + c
            regression_loss = loss(real_y, pred_y)
        gradients = tape.gradient(regression_loss, (a, b, c))
        for variable, gradient in zip((a, b, c), gradients):
            variable.assign_sub(learning_rate * gradient)

    for _ in range(10000):
        step(x, y)
    print(f"y ≈ {a.numpy()}x^2 + {b.numpy()}x + {c.numpy()}")

    estimated = re.fullmatch(r"y ≈ (\S+)x\^2 \+ (\S+)x \+ (\S+)\n", capsys.readouterr().out)
    assert [float(e) for e in estimated.groups()] == pytest.approx([6.0, 8.0, 2.0], abs=0.02)


@pytest.mark.mnist
def test_classifying_mnist(capsys):
    """With dense layers, which stay a little under the article's 0.99."""
    keras.utils.set_random_seed(0)

    # Load, pre-process, and set the hyperparameters
    (x_train, y_train), (x_test, y_test) = mnist.load_data()
    x_train = (x_train / 255.0).astype(np.float32)
    x_test = (x_test / 255.0).astype(np.float32)
    batch_size = 128
    epochs = 5
    optimizer = keras.optimizers.Adam(learning_rate=0.001)
    loss_fn = keras.losses.SparseCategoricalCrossentropy()

    model = keras.Sequential(
        [Flatten(), Dense(256, activation="relu"), Dense(10, activation="softmax")]
    )
    model.build((None, 28, 28))

    def step(real_x, real_y):
        with tf.GradientTape() as tape:
            pred_y = model(real_x, training=True)
            loss = loss_fn(real_y, pred_y)
        variables = model.trainable_variables
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables))

    for epoch in range(epochs):
        order = np.random.permutation(len(x_train))
        for start in range(0, len(x_train), batch_size):
            rows = order[start : start + batch_size]
            step(x_train[rows], y_train[rows])

    accuracy = keras.metrics.SparseCategoricalAccuracy()
    accuracy.update_state(y_test, model(x_test, training=False))
    print(f"Accuracy: {accuracy.result().numpy()}")

    printed = float(capsys.readouterr().out.removeprefix("Accuracy: "))
    assert printed >= 0.97
    assert printed == pytest.approx(np.mean(model(x_test).numpy().argmax(axis=1) == y_test))
