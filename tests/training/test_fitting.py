"""The modules that a plain `fit` runs through."""

import sys

import numpy as np

from framework import keras
from framework.training import fitting

PATH = {"fitting.py", "epochs.py", "training_step.py", "batch_plans.py", "compilation.py"}


def test_a_plain_fit_runs_through_five_modules():
    """Of those in `training/`, once the first batch has matched metrics to the outputs."""
    x, y = np.ones((64, 4), "float32"), np.arange(64) % 3
    model = keras.Sequential([keras.layers.Dense(3, activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, batch_size=16, verbose=0)
    folder = fitting.__file__.removesuffix("fitting.py")
    entered = set()

    def note(frame, event, arg):
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(folder):
            entered.add(name.removeprefix(folder))

    sys.setprofile(note)
    try:
        model.fit(x, y, batch_size=16, epochs=2, verbose=0)
    finally:
        sys.setprofile(None)
    assert {name for name in entered if not name.startswith("callbacks")} == PATH
    assert all(f"`{name}`" in fitting.__doc__ for name in PATH)
