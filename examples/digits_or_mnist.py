"""The images that the examples train on: MNIST where its file is found, else the 8x8 digits."""

import os

from framework.datasets import digits, mnist

SMALL = bool(os.environ.get("FRAMEWORK_SMALL"))
"""Set by the tests: a few hundred rows and an epoch or two, to see that a script runs."""


def load():
    """(x_train, y_train), (x_test, y_test), the name of the data; images are floats in [0, 1]."""
    try:
        (x_train, y_train), (x_test, y_test) = mnist.load_data()
        name, highest = "MNIST", 255.0
    except FileNotFoundError:
        print("mnist.npz was not found: training on the 1,797 digits that come with the package.")
        (x_train, y_train), (x_test, y_test) = digits.load_data()
        name, highest = "digits", 16.0
    x_train, x_test = x_train.astype("float32") / highest, x_test.astype("float32") / highest
    if SMALL:
        x_train, y_train, x_test, y_test = x_train[:512], y_train[:512], x_test[:256], y_test[:256]
    return (x_train, y_train), (x_test, y_test), name


def epochs_for(name):
    """Enough epochs for the data: MNIST has forty times as many rows as the digits."""
    if SMALL:
        return 2
    return 5 if name == "MNIST" else 40
