"""Samples of every metric: arguments, data, value of each sample, and the numbers of Keras."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Sample:
    """An update of a metric.

    `values` has the metric of each of the six samples of the data (y_true, y_pred). `keras` has
    the result of Keras 3.15 on JAX in float32: after the data, after the same with `WEIGHTS`, and
    after both.
    """

    arguments: dict
    data: tuple
    values: np.ndarray
    keras: tuple | None = None


WAVE = np.sin(np.arange(1, 61) * 1.7)  # fixed numbers between -1 and 1, of no particular order

Y, P = WAVE[:18].reshape(6, 3), WAVE[18:36].reshape(6, 3) * 2
POSITIVE = (np.abs(Y) + 0.1, np.abs(P) + 0.2)
SIGNS = np.sign(Y)
ZERO_ONE = (Y > 0).astype(float)
CLASSES = np.array([2, 0, 1, 1, 0, 2])
ONE_HOT = np.eye(3)[CLASSES]
PROBABILITIES = np.exp(P) / np.exp(P).sum(-1, keepdims=True)
RIGHT = P.argmax(-1) == CLASSES
WEIGHTS = np.array([0.5, 2.0, 0.0, 1.0, 3.0, 0.25])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def binary(y, p):
    return -(y * np.log(p) + (1 - y) * np.log(1 - p)).mean(-1)


def in_top(k):
    score = P[np.arange(6), CLASSES]
    return (score[:, None] < P).sum(-1) < k


SAMPLES = {
    "Accuracy": [
        Sample(
            {},
            (CLASSES, [2, 0, 0, 1, 1, 2]),
            [1, 1, 0, 1, 0, 1],
            keras=(0.66666669, 0.55555558, 0.60784316),
        ),
    ],
    "BinaryAccuracy": [
        Sample(
            {},
            (ZERO_ONE, sigmoid(P)),
            ((P > 0) == ZERO_ONE).mean(-1),
            keras=(0.66666669, 0.46913582, 0.56209153),
        ),
        Sample(
            {"threshold": 0.7},
            (ZERO_ONE, sigmoid(P)),
            ((sigmoid(P) > 0.7) == ZERO_ONE).mean(-1),
            keras=(0.72222215, 0.58024693, 0.64705884),
        ),
    ],
    "CategoricalAccuracy": [
        Sample({}, (ONE_HOT, P), RIGHT, keras=(0.16666667, 0.44444445, 0.3137255)),
    ],
    "SparseCategoricalAccuracy": [
        Sample({}, (CLASSES, P), RIGHT, keras=(0.16666667, 0.44444445, 0.3137255)),
        Sample({}, (CLASSES[:, None], P), RIGHT, keras=(0.16666667, 0.44444445, 0.3137255)),
    ],
    "TopKCategoricalAccuracy": [
        Sample({"k": 2}, (ONE_HOT, P), in_top(2), keras=(0.33333334, 0.44444445, 0.39215687)),
    ],
    "SparseTopKCategoricalAccuracy": [
        Sample({"k": 1}, (CLASSES, P), in_top(1), keras=(0.16666667, 0.44444445, 0.3137255)),
        Sample({"k": 2}, (CLASSES, P), in_top(2), keras=(0.33333334, 0.44444445, 0.39215687)),
        Sample(
            {"k": 2, "from_sorted_ids": True},
            (CLASSES, np.argsort(-P, axis=-1).astype("float32")),
            in_top(2),
            keras=(0.33333334, 0.44444445, 0.39215687),
        ),
    ],
    "MeanSquaredError": [
        Sample({}, (Y, P), ((Y - P) ** 2).mean(-1), keras=(1.1209637, 1.1322718, 1.1269504)),
    ],
    "MeanAbsoluteError": [
        Sample({}, (Y, P), np.abs(Y - P).mean(-1), keras=(0.97529274, 0.99573249, 0.98611373)),
    ],
    "MeanAbsolutePercentageError": [
        Sample(
            {},
            POSITIVE,
            100 * (np.abs(POSITIVE[0] - POSITIVE[1]) / POSITIVE[0]).mean(-1),
            keras=(167.53584, 193.68831, 181.38129),
        ),
    ],
    "MeanSquaredLogarithmicError": [
        Sample(
            {},
            POSITIVE,
            ((np.log1p(POSITIVE[0]) - np.log1p(POSITIVE[1])) ** 2).mean(-1),
            keras=(0.211816, 0.2046842, 0.20804036),
        ),
    ],
    "LogCoshError": [
        Sample(
            {}, (Y, P), np.log(np.cosh(Y - P)).mean(-1), keras=(0.45816508, 0.46583062, 0.46222332)
        ),
    ],
    "CosineSimilarity": [
        Sample(
            {},
            (Y, P),
            (Y * P).sum(-1) / np.sqrt((Y * Y).sum(-1) * (P * P).sum(-1)),
            keras=(0.69097513, 0.57355291, 0.62881041),
        ),
    ],
    "Poisson": [
        Sample(
            {},
            POSITIVE,
            (POSITIVE[1] - POSITIVE[0] * np.log(POSITIVE[1] + 1e-7)).mean(-1),
            keras=(1.2784568, 1.2292535, 1.252408),
        ),
    ],
    "KLDivergence": [
        Sample(
            {},
            (ONE_HOT, PROBABILITIES),
            -np.log(PROBABILITIES[np.arange(6), CLASSES]),
            keras=(2.6167128, 1.7898811, 2.1789784),
        ),
    ],
    "Hinge": [
        Sample(
            {},
            (SIGNS, P),
            np.maximum(1 - SIGNS * P, 0).mean(-1),
            keras=(0.60695863, 0.95302314, 0.79016924),
        ),
    ],
    "SquaredHinge": [
        Sample(
            {},
            (ZERO_ONE, P),
            (np.maximum(1 - SIGNS * P, 0) ** 2).mean(-1),
            keras=(1.0519267, 1.7932348, 1.444384),
        ),
    ],
    "CategoricalHinge": [
        Sample(
            {},
            (ONE_HOT, P),
            np.maximum(((1 - ONE_HOT) * P).max(-1) - (ONE_HOT * P).sum(-1) + 1, 0),
            keras=(3.2092669, 2.1500678, 2.6485145),
        ),
    ],
    "BinaryCrossentropy": [
        Sample(
            {},
            (ZERO_ONE, sigmoid(P)),
            binary(ZERO_ONE, sigmoid(P)),
            keras=(0.5115425, 0.71451426, 0.61899811),
        ),
        Sample(
            {"from_logits": True, "label_smoothing": 0.1},
            (ZERO_ONE, P),
            binary(ZERO_ONE * 0.9 + 0.05, sigmoid(P)),
            keras=(0.55276591, 0.73194963, 0.64762789),
        ),
    ],
    "CategoricalCrossentropy": [
        Sample(
            {},
            (ONE_HOT, PROBABILITIES),
            -np.log(PROBABILITIES[np.arange(6), CLASSES]),
            keras=(2.6167157, 1.7898837, 2.1789811),
        ),
        Sample(
            {"from_logits": True, "label_smoothing": 0.3},
            (ONE_HOT, P),
            -((ONE_HOT * 0.7 + 0.1) * np.log(PROBABILITIES)).sum(-1),
            keras=(2.3943667, 1.7981644, 2.0787303),
        ),
    ],
    "SparseCategoricalCrossentropy": [
        Sample(
            {},
            (CLASSES, PROBABILITIES),
            -np.log(PROBABILITIES[np.arange(6), CLASSES]),
            keras=(2.6167157, 1.7898837, 2.1789811),
        ),
        Sample(
            {"from_logits": True},
            (CLASSES[:, None], P),
            -np.log(PROBABILITIES[np.arange(6), CLASSES]),
            keras=(2.6167157, 1.7898841, 2.1789813),
        ),
    ],
}
