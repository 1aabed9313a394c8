"""Training that can be killed at any moment, written with each of the three APIs.

Each function trains the same kind of network on images: shuffled batches, augmentation, dropout,
batch normalization, Adam with a schedule, averages of the weights, accumulated gradients and a loss
scale. With a folder it saves there and continues from there; it returns a digest of all that the
run ends with.
"""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

import framework as tf
from framework import keras

ROWS, BATCH, EVERY = 360, 20, 2


def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(ROWS, 6, 6, 1)).astype("float32"), rng.integers(0, 10, ROWS)


def model() -> Any:
    keras.utils.set_random_seed(11)
    keras.config.set_dtype_policy("mixed_float16")
    return keras.Sequential([
        keras.Input((6, 6, 1)), keras.layers.RandomFlip(), keras.layers.RandomTranslation(0.2, 0.2),
        keras.layers.Flatten(), keras.layers.Dense(64, "relu"), keras.layers.Dropout(0.3),
        keras.layers.BatchNormalization(), keras.layers.Dense(10, "softmax", dtype="float32"),
    ])  # fmt: skip


def optimizer(epochs: int, **options: Any) -> Any:
    rate = keras.optimizers.schedules.CosineDecay(0.01, epochs * 6)
    adam = keras.optimizers.Adam(rate, use_ema=True, ema_overwrite_frequency=7, **options)
    return keras.optimizers.LossScaleOptimizer(adam, 2.0**17, dynamic_growth_steps=5)


def digest(made: Any, optimizer: Any, *more: Any) -> str:
    seen = hashlib.sha256(repr(more).encode())
    for variable in (*made.variables, *optimizer.variables):
        seen.update(variable.numpy().tobytes())
    seen.update(tf.random.uniform([4]).numpy().tobytes())
    return seen.hexdigest()


def by_fit(folder: Path | None, epochs: int) -> str:
    """Train with `fit(resume=...)`."""
    made, (x, y) = model(), data()
    made.compile(
        optimizer(epochs), "sparse_categorical_crossentropy", metrics=["accuracy"], accumulate=3
    )
    options = {} if folder is None else {"resume": folder, "save_every": EVERY}
    history = made.fit(
        x, y, epochs=epochs, batch_size=BATCH, verbose=0, validation_split=0.1, **options
    )
    return digest(made, made.optimizer, history.history, history.epoch)


def batches(first: int, epochs: int) -> Any:
    """Yield (number, x, y) of shuffled batches from a number on; an epoch has its own order."""
    x, y = data()
    each = ROWS // BATCH
    for number in range(first, epochs * each):
        order = np.random.default_rng(number // each).permutation(ROWS)
        rows = order[number % each * BATCH :][:BATCH]
        yield number, x[rows], y[rows]


def by_step(folder: Path | None, epochs: int) -> str:
    """Train with `model.training_step`; the position in the data is in the names of its files."""
    made = model()
    step = made.training_step(
        "sparse_categorical_crossentropy", optimizer(epochs), ["accuracy"], accumulate=3
    )
    files = [] if folder is None else sorted(folder.glob("step-*"))
    first = 0
    if files:
        step.load(files[-1])
        first = int(files[-1].name.removeprefix("step-"))
    for number, x, y in batches(first, epochs):
        step(x, y)
        if folder is not None and number % EVERY == 0:
            folder.mkdir(exist_ok=True)
            step.save(folder / f"step-{number + 1:06}")
            for old in sorted(folder.glob("step-*"))[:-2]:
                old.unlink()
    return digest(made, step.optimizer, step.results())


def by_tape(folder: Path | None, epochs: int) -> str:
    """Train with a tape and a `CheckpointManager`."""
    made = model()
    scaled = optimizer(epochs, gradient_accumulation_steps=3)
    loss_of = keras.losses.SparseCategoricalCrossentropy()
    done = tf.Variable(0)
    generator = tf.random.get_global_generator()
    checkpoint = tf.train.Checkpoint(model=made, optimizer=scaled, done=done, random=generator)
    manager = None
    if folder is not None:
        manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
        manager.restore_or_initialize()

    @tf.function
    def train(x: Any, y: Any) -> None:
        with tf.GradientTape() as tape:
            loss = scaled.scale_loss(loss_of(y, made(x, training=True)))
        gradients = tape.gradient(loss, made.trainable_variables)
        scaled.apply_gradients(zip(gradients, made.trainable_variables))

    for number, x, y in batches(int(done), epochs):
        train(x, y)
        done.assign(number + 1)
        if manager is not None and number % EVERY == 0:
            manager.save()
    return digest(made, scaled, int(done))


TRAINERS = {"fit": by_fit, "training step": by_step, "tape": by_tape}
