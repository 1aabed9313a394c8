"""The measuring process of first_step.py: `first_step_worker.py LIBRARY STARTED`.

STARTED is the clock when the process was asked for. Trains `mlp_small` and answers after one step.
"""

import sys
import time

STARTED = float(sys.argv[2])
ROWS, BATCHES = 64, 16


def by_fit(library):
    """The clock after the imports and after the first batch, and a version."""
    if library == "framework":
        import framework
        from framework import keras

        version = framework.__version__
    else:
        import keras

        version = f"{keras.__version__} on {keras.backend.backend()}"
    import numpy as np

    imported = time.time()

    class First(keras.callbacks.Callback):
        """Keeps when the first batch ended, and ends the run."""

        def on_train_batch_end(self, batch, logs=None):
            self.ended = time.time()
            self.model.stop_training = True

    rng = np.random.default_rng(0)
    x = rng.random((ROWS * BATCHES, 784), np.float32)
    y = rng.integers(0, 10, ROWS * BATCHES)
    model = keras.Sequential(
        [
            keras.layers.Input((784,)),
            keras.layers.Dense(128, activation="relu"),
            keras.layers.Dense(10),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"])
    first = First()
    # on_train_batch_end of a Keras with another backend comes after the whole first step as well
    model.fit(x[:ROWS], y[:ROWS], batch_size=ROWS, verbose=0, callbacks=[first])
    return imported, first.ended, version


def by_torch():
    import numpy as np
    import torch
    from torch import nn

    imported = time.time()
    rng = np.random.default_rng(0)
    x = torch.from_numpy(rng.random((ROWS, 784), np.float32))
    y = torch.from_numpy(rng.integers(0, 10, ROWS))
    model = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
    optimizer = torch.optim.Adam(model.parameters())
    optimizer.zero_grad()
    loss = nn.CrossEntropyLoss()(model(x), y)
    loss.backward()
    optimizer.step()
    loss.item()
    return imported, time.time(), torch.__version__


if __name__ == "__main__":
    imported, ended, version = by_torch() if sys.argv[1] == "torch" else by_fit(sys.argv[1])
    import measure  # what it loads must not count

    measure.answer({"imported": imported - STARTED, "seconds": ended - STARTED, "version": version})
