"""Training holds no garbage: nothing waits for the cycle collector."""

import gc
from pathlib import Path

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.kernels import tier

STATUS = Path("/proc/self/status")
WARM_UP, STEPS = 500, 10_000


@pytest.fixture(autouse=True)
def _without_numba():
    """A plan that goes over to Numba in the middle of a run loads it: 100 MB, once."""
    tier.set_tier("numpy")
    yield
    tier.set_tier(None)


def resident_megabytes():
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith("VmRSS"))
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


def by_accumulating():
    model, x, y = make()
    step = model.training_step(loss="mse", optimizer="adam", accumulate=3, clipnorm=1.0)

    def run(steps):
        for _ in range(steps):
            step(x, y)

    return run


def by_parts():
    model, x, y = make()
    step = model.training_step(loss="mse", optimizer="adam")

    def run(steps):
        for _ in range(steps):
            step.apply(step.gradients(x, y)[1])

    return run


class Look(keras.callbacks.Callback):
    needs = frozenset({"gradients", "outputs", "rates"})

    def on_train_batch_end(self, batch, logs=None):
        _ = self.step.gradients, self.step.outputs, self.step.rates


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


def by_watched_fit():
    model, x, y = make()
    model.compile("adam", "mse")

    def run(steps):
        rows = np.repeat(x, steps, 0)
        model.fit(rows, np.repeat(y, steps, 0), batch_size=8, verbose=0, callbacks=[Look()])

    return run


def by_train_on_batch():
    model, x, y = make()
    model.compile("adam", "mse", metrics=["mae"])

    def run(steps):
        for _ in range(steps):
            model.train_on_batch(x, y)

    return run


WAYS = [
    by_training_step, by_accumulating, by_parts, by_tape, by_fit, by_watched_fit, by_train_on_batch,
]  # fmt: skip


@pytest.mark.skipif(not STATUS.exists(), reason="resident memory is read from Linux's /proc")
@pytest.mark.parametrize("way", WAYS)
def test_memory_is_flat_with_the_collector_off(way):
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


@pytest.mark.skipif(not STATUS.exists(), reason="resident memory is read from Linux's /proc")
def test_memory_is_flat_over_models_built_fitted_and_dropped():
    def run(models):
        for _ in range(models):
            model, x, y = make()
            model.compile("adam", "mse", metrics=["mae"], accumulate=2)
            model.fit(np.repeat(x, 4, 0), np.repeat(y, 4, 0), validation_split=0.5, verbose=0)
            del model
        gc.collect()

    run(40)
    before = resident_megabytes()
    run(200)
    assert resident_megabytes() - before < 3
