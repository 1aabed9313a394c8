"""The table of programs, and data that several of them use."""

from functools import cache

import numpy as np

from framework.datasets import digits

PROGRAMS = {}
"""Name -> (program, the largest share of the baseline's error that it may leave)."""


def program(share):
    """Register a program that returns its error and that of a baseline that learns nothing."""

    def register(function):
        PROGRAMS[function.__name__] = function, share
        return function

    return register


@cache
def images(rows):
    """Return images of digits (rows, 8, 8, 1) from 0 to 1 and their labels, in a fixed order."""
    (x, y), _ = digits.load_data()
    order = np.random.default_rng(0).permutation(len(x))[:rows]
    x = np.asarray(x, "float32")[order].reshape(rows, 8, 8, 1)
    return x / x.max(), np.asarray(y, "int32")[order]


def error_rate(model, x, y):
    """Return the share of rows that the model gets wrong, and that of the best constant."""
    wrong = np.mean(np.asarray(model.predict(x, verbose=0)).argmax(-1) != y)
    return wrong, 1 - np.bincount(y).max() / len(y)
