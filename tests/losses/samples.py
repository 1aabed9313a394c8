"""Samples of the losses: arguments, data, and each formula in NumPy."""

import numpy as np

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


# class name -> [(its arguments, (y_true, y_pred), the loss of each sample)]
SAMPLES = {
    "MeanSquaredError": [({}, REAL, lambda y, p: ((y - p) ** 2).mean(-1))],
    "MeanAbsoluteError": [({}, REAL, lambda y, p: np.abs(y - p).mean(-1))],
    "MeanAbsolutePercentageError": [
        ({}, POSITIVE, lambda y, p: 100 * (np.abs(y - p) / np.abs(y)).mean(-1))
    ],
    "MeanSquaredLogarithmicError": [
        ({}, POSITIVE, lambda y, p: ((np.log(1 + y) - np.log(1 + p)) ** 2).mean(-1))
    ],
    "Huber": [
        (
            {"delta": delta}, REAL,
            lambda y, p, d=delta: np.where(
                np.abs(y - p) < d, (y - p) ** 2 / 2, d * np.abs(y - p) - d * d / 2
            ).mean(-1),
        )
        for delta in (1.0, 0.3)
    ],
    "LogCosh": [({}, REAL, lambda y, p: np.log(np.cosh(y - p)).mean(-1))],
    "Poisson": [({}, POSITIVE, lambda y, p: (p - y * np.log(p + 1e-7)).mean(-1))],
    "CosineSimilarity": [({}, REAL, lambda y, p: -(unit(y) * unit(p)).sum(-1))],
    "KLDivergence": [
        ({}, (smooth(ONE_HOT, 0.2), PROBABILITIES), lambda y, p: (y * np.log(y / p)).sum(-1))
    ],
    "Hinge": [
        ({}, SIGNS, lambda y, p: np.maximum(1 - y * p, 0).mean(-1)),
        ({}, ZERO_ONE, lambda y, p: np.maximum(1 - (2 * y - 1) * p, 0).mean(-1)),
    ],
    "SquaredHinge": [({}, SIGNS, lambda y, p: (np.maximum(1 - y * p, 0) ** 2).mean(-1))],
    "CategoricalHinge": [
        (
            {}, (ONE_HOT, REAL[1]),
            lambda y, p: np.maximum(((1 - y) * p).max(-1) - (y * p).sum(-1) + 1, 0),
        )
    ],
    "BinaryCrossentropy": [
        ({}, (ZERO_ONE[0], sigmoid(REAL[1])), binary),
        ({"from_logits": True}, (ZERO_ONE[0], REAL[1]), lambda y, p: binary(y, sigmoid(p))),
        (
            {"from_logits": True, "label_smoothing": 0.1}, (ZERO_ONE[0], REAL[1]),
            lambda y, p: binary(y * 0.9 + 0.05, sigmoid(p)),
        ),
    ],
    "CategoricalCrossentropy": [
        ({}, (ONE_HOT, PROBABILITIES), lambda y, p: -(y * np.log(p)).sum(-1)),
        ({}, (ONE_HOT, PROBABILITIES * 3), lambda y, p: -(y * np.log(p / 3)).sum(-1)),
        (
            {"from_logits": True}, (ONE_HOT, REAL[1]),
            lambda y, p: -(y * np.log(softmax(p))).sum(-1),
        ),
        (
            {"from_logits": True, "label_smoothing": 0.3}, (ONE_HOT, REAL[1]),
            lambda y, p: -(smooth(y, 0.3) * np.log(softmax(p))).sum(-1),
        ),
    ],
    "SparseCategoricalCrossentropy": [
        ({}, (CLASSES, PROBABILITIES), lambda y, p: -np.log(p[np.arange(4), y])),
        ({}, (CLASSES, PROBABILITIES * 3), lambda y, p: -np.log(p[np.arange(4), y] / 3)),
        (
            {"from_logits": True}, (CLASSES, REAL[1]),
            lambda y, p: -np.log(softmax(p)[np.arange(4), y]),
        ),
        (
            {"from_logits": True, "ignore_class": 1}, (CLASSES, REAL[1]),
            lambda y, p: -np.log(softmax(p)[np.arange(4), y]) * (y != 1),
        ),
    ],
}  # fmt: skip

CASES = [(name, *case) for name, cases in SAMPLES.items() for case in cases]
IDS = [f"{name}-{i}" for name, cases in SAMPLES.items() for i in range(len(cases))]

# For the reductions: a loss of values (2, 3), with every kind of weight and mask.
DEEP = (WAVE[:24].reshape(2, 3, 4), WAVE[24:48].reshape(2, 3, 4) * 2)
DEEP_WEIGHTS = {
    "none": None,
    "number": 0.5,
    "samples": np.array([[0.25], [2.0]]),
    "values": np.abs(WAVE[:6]).reshape(2, 3),
    "values_1": np.abs(WAVE[:6]).reshape(2, 3, 1),
}
DEEP_MASKS = {
    "none": None,
    "some": np.array([[True, False, True], [False, True, True]]),
    "all": np.ones((2, 3), bool),
    "nothing": np.zeros((2, 3), bool),
}
REDUCTIONS = ("sum_over_batch_size", "sum", "mean", "mean_with_sample_weight", "none")
