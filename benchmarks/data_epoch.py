"""An epoch of MNIST from files of bytes to the test accuracy: `python data_epoch.py PEER FOLDER`.

PEER is ours, keras (on the backend of KERAS_BACKEND) or torch. Twice in the process: the time of
the first epoch includes the library's import, all of it or in parts when they are needed, and what
is compiled; the next has a new model.
"""

import sys
import time
from pathlib import Path

import measure
import numpy as np

BATCH, WIDTH = 64, 128


def loaded(folder):
    """Return the training and test images and labels."""
    return [np.load(folder / f"{name}.npy") for name in ("mnist_x", "mnist_y", "test_x", "test_y")]


def by_keras(keras, folder):
    """Train and evaluate with Keras's API, which is ours, too; return the accuracy."""
    x, y, x_test, y_test = loaded(folder)
    model = keras.Sequential([
        keras.layers.Input((28, 28)), keras.layers.Rescaling(1 / 255), keras.layers.Flatten(),
        keras.layers.Dense(WIDTH, "relu"), keras.layers.Dense(10),
    ])  # fmt: skip
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"])
    model.fit(x, y, batch_size=BATCH, epochs=1, verbose=0)
    return model.evaluate(x_test, y_test, batch_size=1024, verbose=0)[1]


def by_torch(torch, folder):
    """Train and evaluate by a loop of torch; batches are indexed by a permutation."""
    x, y, x_test, y_test = map(torch.from_numpy, loaded(folder))
    net = torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(784, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, 10)
    )
    loss, optimizer = torch.nn.CrossEntropyLoss(), torch.optim.Adam(net.parameters())
    for rows in torch.randperm(len(x)).split(BATCH):
        optimizer.zero_grad()
        loss(net(x[rows].float() / 255), y[rows].long()).backward()
        optimizer.step()
    with torch.no_grad():
        found = net(x_test.float() / 255).argmax(1)
    return (found == y_test).float().mean().item()


def epoch(peer, folder):
    """Import the library, train a new model for an epoch, and return the test accuracy."""
    if peer == "torch":
        import torch

        return by_torch(torch, folder)
    if peer == "keras":
        import keras
    else:
        from framework import keras
    return by_keras(keras, folder)


def main():
    peer, folder = sys.argv[1], Path(sys.argv[2])
    found = {}
    for which in ("first", "next"):
        begin, cpu = time.perf_counter(), time.process_time()
        found["accuracy"] = epoch(peer, folder)
        found[which] = time.perf_counter() - begin
        found[f"{which}_cpu"] = time.process_time() - cpu
    measure.answer(found)


if __name__ == "__main__":
    main()
