"""Training holds no garbage: nothing waits for the cycle collector."""

import gc

import numpy as np
import pytest

import framework as tf
from framework import keras

WARM_UP, STEPS = 500, 10_000


def resident_megabytes():
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def make():
    model = keras.Sequential([keras.layers.Dense(4, activation="relu"), keras.layers.Dense(1)])
    x = np.ones((8, 3), "float32")
    return model, x, x[:, :1]


def by_training_step():
    model, x, y = make()
    step = model.training_step(loss="mse", optimizer="adam")

    def run(steps):
        for _ in range(steps):
            step(x, y)

    return run


def by_tape():
    model, x, y = make()
    optimizer = keras.optimizers.Adam()

    def run(steps):
        for _ in range(steps):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    return run


def by_fit():
    model, x, y = make()
    model.compile("adam", "mse")

    def run(steps):
        rows = np.repeat(x, steps, 0)
        model.fit(rows, np.repeat(y, steps, 0), batch_size=8, verbose=0)

    return run


@pytest.mark.parametrize("way", [by_training_step, by_tape, by_fit])
def test_memory_is_flat_with_the_collector_off(way):
    try:
        open("/proc/self/status").close()
    except OSError:
        pytest.skip("resident memory is read from /proc, which this system does not have")
    run = way()
    gc.collect()
    gc.disable()
    try:
        run(WARM_UP)
        before = resident_megabytes()
        run(STEPS)
        assert resident_megabytes() - before < 3
    finally:
        gc.enable()
