"""Samples of every loss: arguments, data, formula, and the numbers of Keras."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass
class Sample:
    """A call of a loss.

    `formula` gives the loss of each sample from the data (y_true, y_pred), in NumPy. `keras` has
    what Keras 3.15 on JAX gives in float32: the reduced loss and that of each sample.
    """

    arguments: dict
    data: tuple
    formula: Callable
    keras: tuple | None = None


WAVE = np.sin(np.arange(1, 61) * 1.7)  # fixed numbers between -1 and 1, of no particular order

REAL = (WAVE[:12].reshape(4, 3), WAVE[12:24].reshape(4, 3) * 2)
POSITIVE = (np.abs(REAL[0]) + 0.1, np.abs(REAL[1]) + 0.2)
SIGNS = (np.sign(WAVE[:12]).reshape(4, 3), WAVE[12:24].reshape(4, 3))
ZERO_ONE = ((WAVE[:12] > 0).reshape(4, 3).astype(float), WAVE[12:24].reshape(4, 3))
PROBABILITIES = np.exp(REAL[1]) / np.exp(REAL[1]).sum(-1, keepdims=True)
CLASSES = np.array([2, 0, 1, 1])
ONE_HOT = np.eye(3)[CLASSES]


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def binary(y, p):
    return -(y * np.log(p) + (1 - y) * np.log(1 - p)).mean(-1)


def smooth(y, amount):
    return y * (1 - amount) + amount / y.shape[-1]


def unit(x):
    return x / np.sqrt((x * x).sum(-1, keepdims=True))


def huber(d):
    def formula(y, p):
        error = np.abs(y - p)
        return np.where(error < d, error**2 / 2, d * error - d * d / 2).mean(-1)

    return formula


SAMPLES = {
    "MeanSquaredError": [
        Sample(
            {},
            REAL,
            lambda y, p: ((y - p) ** 2).mean(-1),
            keras=(2.3482668, [2.337858, 2.01719, 3.2123051, 1.8257139]),
        ),
    ],
    "MeanAbsoluteError": [
        Sample(
            {},
            REAL,
            lambda y, p: np.abs(y - p).mean(-1),
            keras=(1.3768749, [1.5136417, 1.3303473, 1.5266236, 1.1368868]),
        ),
    ],
    "MeanAbsolutePercentageError": [
        Sample(
            {},
            POSITIVE,
            lambda y, p: 100 * (np.abs(y - p) / np.abs(y)).mean(-1),
            keras=(193.12637, [191.72879, 129.80058, 160.3035, 290.67264]),
        ),
    ],
    "MeanSquaredLogarithmicError": [
        Sample(
            {},
            POSITIVE,
            lambda y, p: ((np.log(1 + y) - np.log(1 + p)) ** 2).mean(-1),
            keras=(0.27586442, [0.2873475, 0.19448543, 0.24423921, 0.37738562]),
        ),
    ],
    "Huber": [
        Sample(
            {"delta": 1.0},
            REAL,
            huber(1.0),
            keras=(0.92277873, [1.0136417, 0.84020114, 1.1335561, 0.70371568]),
        ),
        Sample(
            {"delta": 0.3},
            REAL,
            huber(0.3),
            keras=(0.36848748, [0.40909252, 0.35410416, 0.4146871, 0.29606605]),
        ),
    ],
    "LogCosh": [
        Sample(
            {},
            REAL,
            lambda y, p: np.log(np.cosh(y - p)).mean(-1),
            keras=(0.81207561, [0.87236917, 0.73550963, 1.0130502, 0.62737346]),
        ),
    ],
    "Poisson": [
        Sample(
            {},
            POSITIVE,
            lambda y, p: (p - y * np.log(p + 1e-7)).mean(-1),
            keras=(1.4081788, [1.4165528, 1.2998933, 1.3514261, 1.5648434]),
        ),
    ],
    "CosineSimilarity": [
        Sample(
            {},
            REAL,
            lambda y, p: -(unit(y) * unit(p)).sum(-1),
            keras=(-0.011676759, [0.1333856, -0.31714025, 0.26037967, -0.12333205]),
        ),
    ],
    "KLDivergence": [
        Sample(
            {},
            (smooth(ONE_HOT, 0.2), PROBABILITIES),
            lambda y, p: (y * np.log(y / p)).sum(-1),
            keras=(0.20706467, [0.13469693, 0.014008868, 0.66227442, 0.017278504]),
        ),
    ],
    "Hinge": [
        Sample(
            {},
            SIGNS,
            lambda y, p: np.maximum(1 - y * p, 0).mean(-1),
            keras=(1.0231707, [0.83196557, 0.65933454, 1.3846372, 1.2167451]),
        ),
        Sample(
            {},
            ZERO_ONE,
            lambda y, p: np.maximum(1 - (2 * y - 1) * p, 0).mean(-1),
            keras=(1.0231707, [0.83196557, 0.65933454, 1.3846372, 1.2167451]),
        ),
    ],
    "SquaredHinge": [
        Sample(
            {},
            SIGNS,
            lambda y, p: (np.maximum(1 - y * p, 0) ** 2).mean(-1),
            keras=(1.5044305, [1.0256368, 0.86753625, 2.3377604, 1.7867887]),
        ),
    ],
    "CategoricalHinge": [
        Sample(
            {},
            (ONE_HOT, REAL[1]),
            lambda y, p: np.maximum(((1 - y) * p).max(-1) - (y * p).sum(-1) + 1, 0),
            keras=(0.4425934, [0.2818833, 0.0, 1.4884903, 0.0]),
        ),
    ],
    "BinaryCrossentropy": [
        Sample(
            {},
            (ZERO_ONE[0], sigmoid(REAL[1])),
            binary,
            keras=(0.92249477, [0.68560719, 0.60323101, 1.3357527, 1.0653882]),
        ),
        Sample(
            {"from_logits": True},
            (ZERO_ONE[0], REAL[1]),
            lambda y, p: binary(y, sigmoid(p)),
            keras=(0.92249483, [0.68560731, 0.60323101, 1.3357527, 1.0653882]),
        ),
        Sample(
            {"from_logits": True, "label_smoothing": 0.1},
            (ZERO_ONE[0], REAL[1]),
            lambda y, p: binary(y * 0.9 + 0.05, sigmoid(p)),
            keras=(0.9201777, [0.7024107, 0.63729757, 1.2972889, 1.0437136]),
        ),
    ],
    "CategoricalCrossentropy": [
        Sample(
            {},
            (ONE_HOT, PROBABILITIES),
            lambda y, p: -(y * np.log(p)).sum(-1),
            keras=(0.41579944, [0.37998411, 0.089430347, 0.98810124, 0.20568207]),
        ),
        Sample(
            {},
            (ONE_HOT, PROBABILITIES * 3),
            lambda y, p: -(y * np.log(p / 3)).sum(-1),
            keras=(0.41579938, [0.37998402, 0.08943028, 0.98810112, 0.20568207]),
        ),
        Sample(
            {"from_logits": True},
            (ONE_HOT, REAL[1]),
            lambda y, p: -(y * np.log(softmax(p))).sum(-1),
            keras=(0.41579947, [0.37998408, 0.08943034, 0.98810124, 0.20568213]),
        ),
        Sample(
            {"from_logits": True, "label_smoothing": 0.3},
            (ONE_HOT, REAL[1]),
            lambda y, p: -(smooth(y, 0.3) * np.log(softmax(p))).sum(-1),
            keras=(0.83033842, [0.73969442, 0.7039392, 1.2270021, 0.65071791]),
        ),
    ],
    "SparseCategoricalCrossentropy": [
        Sample(
            {},
            (CLASSES, PROBABILITIES),
            lambda y, p: -np.log(p[np.arange(4), y]),
            keras=(0.41579944, [0.37998411, 0.089430347, 0.98810124, 0.20568207]),
        ),
        Sample(
            {},
            (CLASSES, PROBABILITIES * 3),
            lambda y, p: -np.log(p[np.arange(4), y] / 3),
            keras=(0.41579938, [0.37998402, 0.08943028, 0.98810112, 0.20568207]),
        ),
        Sample(
            {"from_logits": True},
            (CLASSES, REAL[1]),
            lambda y, p: -np.log(softmax(p)[np.arange(4), y]),
            keras=(0.41579947, [0.37998408, 0.08943034, 0.98810124, 0.20568213]),
        ),
        Sample(
            {"from_logits": True, "ignore_class": 1},
            (CLASSES, REAL[1]),
            lambda y, p: -np.log(softmax(p)[np.arange(4), y]) * (y != 1),
            keras=(0.23470721, [0.37998408, 0.08943034, 0.0, 0.0]),
        ),
    ],
}
