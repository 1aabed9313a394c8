"""What training that diverges meets is silent: infinities and NaNs are results, not warnings."""

import numpy as np
import pytest

import framework as tf
from framework import keras

HUGE = np.full((4, 4), 1e30, "float32")


@pytest.mark.parametrize(
    "run",
    [
        lambda x: tf.matmul(x, x),
        lambda x: tf.square(x),
        lambda x: tf.reduce_sum(tf.fill((40,), 1e38)),
        lambda x: tf.reduce_mean(tf.fill((40,), 1e38)),
        lambda x: tf.exp(x),
        lambda x: x / tf.zeros((4, 4)),
        lambda x: tf.math.log(-x),
    ],
)
def test_an_op_is_silent(run):
    run(tf.constant(HUGE))


def test_a_diverging_loop_on_the_tape_is_silent():
    model = keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(1)])
    optimizer = keras.optimizers.SGD(1e20)
    x, y = np.ones((8, 3), "float32"), np.ones((8, 1), "float32")
    for _ in range(5):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - y))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    assert not np.isfinite(loss.numpy())
