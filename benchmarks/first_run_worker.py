"""The measuring process of first_run.py: `first_run_worker.py LIBRARY STARTED`.

STARTED is the clock when the process was asked for. Trains a small convolutional network for one
epoch of 2,048 images of 28 × 28 and answers when it is done.
"""

import sys
import time

STARTED = float(sys.argv[2])
ROWS, SIZE = 2048, 32


def data():
    import numpy as np

    rng = np.random.default_rng(0)
    return rng.random((ROWS, 28, 28, 1), np.float32), rng.integers(0, 10, ROWS)


def by_fit(library):
    """The version, after one epoch of fit."""
    if library == "framework":
        import framework
        from framework import keras

        version = framework.__version__
    else:
        import keras

        version = f"{keras.__version__} on {keras.backend.backend()}"
    layers = keras.layers
    x, y = data()
    model = keras.Sequential(
        [
            layers.Input((28, 28, 1)),
            layers.Conv2D(32, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Conv2D(64, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Flatten(),
            layers.Dense(10),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"])
    model.fit(x, y, batch_size=SIZE, verbose=0)
    return version


def by_torch():
    """The version, after one epoch of a plain loop."""
    import torch
    from torch import nn

    x, y = data()
    x, y = torch.from_numpy(x).permute(0, 3, 1, 2).contiguous(), torch.from_numpy(y)
    model = nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(1600, 10),
    )  # fmt: skip
    optimizer, loss = torch.optim.Adam(model.parameters()), nn.CrossEntropyLoss()
    order = torch.randperm(ROWS)
    right = 0
    for start in range(0, ROWS, SIZE):
        rows = order[start : start + SIZE]
        optimizer.zero_grad(set_to_none=True)
        outputs = model(x[rows])
        value = loss(outputs, y[rows])
        value.backward()
        optimizer.step()
        right += (outputs.argmax(1) == y[rows]).sum().item()
    return torch.__version__


def main():
    """Train, and answer with the seconds since the process was asked for."""
    library = sys.argv[1]
    version = by_torch() if library == "torch" else by_fit(library)
    seconds = time.time() - STARTED
    import measure

    measure.answer({"seconds": seconds, "version": version})


main()
