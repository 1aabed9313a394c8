"""Epochs of all kinds of data end where Keras 3.15 ends them (`keras_epochs.json`).

The file has, for each call, the losses that Keras on TensorFlow gives, the number of its warnings
that data ran out, and its hooks in order: S params["steps"], E and X epochs, b and e training
batches, T, U, t, u those of evaluation. Left out of it: Keras's warning at the end of data of
unknown length without a number of steps, its hook for a batch that does not exist, and the epochs
after a generator's end, which repeat the generator's first two batches there.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import framework as tf
from framework import keras

TABLE = json.loads(Path(__file__).with_name("keras_epochs.json").read_text("utf-8"))
BATCHES, SIZE = 5, 2
X = np.arange(BATCHES * SIZE * 3).reshape(-1, 3).astype("float32") / 30
Y = X[:, :1] * 2


def batch(i):
    rows = slice(i % BATCHES * SIZE, i % BATCHES * SIZE + SIZE)
    return X[rows], Y[rows]


def generator(endless=False):
    i = 0
    while endless or i < BATCHES:
        yield batch(i)
        i += 1


class Indexed(keras.utils.PyDataset):
    def __init__(self, endless=False):
        super().__init__()
        self.endless = endless

    @property
    def num_batches(self):
        return None if self.endless else BATCHES

    def __getitem__(self, i):
        return batch(i)


def dataset():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(SIZE)


SOURCES = {
    "arrays": lambda: (X, Y),
    "known": lambda: (dataset(),),
    "unknown": lambda: (dataset().filter(lambda x, y: True),),
    "repeat": lambda: (dataset().repeat(),),
    "gen": lambda: (generator(),),
    "geninf": lambda: (generator(True),),
    "py": lambda: (Indexed(),),
    "pyinf": lambda: (Indexed(True),),
}


class Told(keras.callbacks.Callback):
    """Keeps the hooks in order."""

    def __init__(self):
        super().__init__()
        self.hooks = []

    def on_train_begin(self, logs=None):
        self.hooks.append(f"S{self.params['steps']}")

    def on_test_begin(self, logs=None):
        self.hooks.append("T")

    def on_test_end(self, logs=None):
        self.hooks.append("U")


def _note(letter):
    return lambda self, number, logs=None: self.hooks.append(f"{letter}{number}")


for hook, letter in {
    "epoch_begin": "E", "epoch_end": "X", "train_batch_begin": "b", "train_batch_end": "e",
    "test_batch_begin": "t", "test_batch_end": "u",
}.items():  # fmt: skip
    setattr(Told, f"on_{hook}", _note(letter))


def run(method, source, steps, group=1):
    """Return the losses and the hooks of a call."""
    model = keras.Sequential([keras.layers.Dense(1, kernel_initializer="ones")])
    model.compile("sgd", "mse", steps_per_execution=group)
    data, told = SOURCES[source](), Told()
    size = {"batch_size": SIZE} if source == "arrays" else {}
    options = {"verbose": 0, "callbacks": [told]}
    if method == "evaluate":
        return round(model.evaluate(*data, steps=steps, **size, **options), 4), told.hooks
    if method == "fit":
        history = model.fit(
            *data, epochs=3, steps_per_epoch=steps, shuffle=False, **size, **options
        ).history["loss"]
    else:
        size = {f"validation_{name}": value for name, value in size.items()}
        history = model.fit(
            X, Y, batch_size=5, epochs=2, shuffle=False, validation_steps=steps,
            validation_data=data if source == "arrays" else data[0], **size, **options,
        ).history["val_loss"]  # fmt: skip
    return [round(value, 4) for value in history], told.hooks


@pytest.mark.parametrize("call", TABLE)
def test_epochs_end_as_in_keras(call):
    losses, times, hooks = TABLE[call]
    method, source, *settings = call.split()
    settings = [eval(text.partition("=")[2]) for text in settings]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found, told = run(method, source, *settings)
    assert found == pytest.approx(losses, abs=2e-4)
    assert " ".join(told) == hooks
    assert sum("Your input ran out of data" in str(w.message) for w in caught) == times


def test_a_generator_that_ended_ends_training():
    with pytest.warns(UserWarning, match="ran out of data.*after 0 steps in epoch 2 of 3, so fit"):
        losses, told = run("fit", "gen", None)
    assert len(losses) == 1
    assert told[-1] == "E1"
