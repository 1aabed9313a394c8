"""Samples of the metrics: arguments, data of six samples, and the value of each sample."""

import numpy as np

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


# class name -> [(its arguments, (y_true, y_pred), the value of each sample)]
SAMPLES = {
    "Accuracy": [({}, (CLASSES, [2, 0, 0, 1, 1, 2]), [1, 1, 0, 1, 0, 1])],
    "BinaryAccuracy": [
        ({}, (ZERO_ONE, sigmoid(P)), ((P > 0) == ZERO_ONE).mean(-1)),
        ({"threshold": 0.7}, (ZERO_ONE, sigmoid(P)), ((sigmoid(P) > 0.7) == ZERO_ONE).mean(-1)),
    ],
    "CategoricalAccuracy": [({}, (ONE_HOT, P), RIGHT)],
    "SparseCategoricalAccuracy": [({}, (CLASSES, P), RIGHT), ({}, (CLASSES[:, None], P), RIGHT)],
    "TopKCategoricalAccuracy": [({"k": 2}, (ONE_HOT, P), in_top(2))],
    "SparseTopKCategoricalAccuracy": [
        ({"k": 1}, (CLASSES, P), in_top(1)),
        ({"k": 2}, (CLASSES, P), in_top(2)),
        (
            {"k": 2, "from_sorted_ids": True}, (CLASSES, np.argsort(-P, axis=-1).astype("float32")),
            in_top(2),
        ),
    ],
    "MeanSquaredError": [({}, (Y, P), ((Y - P) ** 2).mean(-1))],
    "MeanAbsoluteError": [({}, (Y, P), np.abs(Y - P).mean(-1))],
    "MeanAbsolutePercentageError": [
        ({}, POSITIVE, 100 * (np.abs(POSITIVE[0] - POSITIVE[1]) / POSITIVE[0]).mean(-1))
    ],
    "MeanSquaredLogarithmicError": [
        ({}, POSITIVE, ((np.log1p(POSITIVE[0]) - np.log1p(POSITIVE[1])) ** 2).mean(-1))
    ],
    "LogCoshError": [({}, (Y, P), np.log(np.cosh(Y - P)).mean(-1))],
    "CosineSimilarity": [
        ({}, (Y, P), (Y * P).sum(-1) / np.sqrt((Y * Y).sum(-1) * (P * P).sum(-1)))
    ],
    "Poisson": [
        ({}, POSITIVE, (POSITIVE[1] - POSITIVE[0] * np.log(POSITIVE[1] + 1e-7)).mean(-1))
    ],
    "KLDivergence": [
        ({}, (ONE_HOT, PROBABILITIES), -np.log(PROBABILITIES[np.arange(6), CLASSES]))
    ],
    "Hinge": [({}, (SIGNS, P), np.maximum(1 - SIGNS * P, 0).mean(-1))],
    "SquaredHinge": [({}, (ZERO_ONE, P), (np.maximum(1 - SIGNS * P, 0) ** 2).mean(-1))],
    "CategoricalHinge": [
        (
            {}, (ONE_HOT, P),
            np.maximum(((1 - ONE_HOT) * P).max(-1) - (ONE_HOT * P).sum(-1) + 1, 0),
        )
    ],
    "BinaryCrossentropy": [
        ({}, (ZERO_ONE, sigmoid(P)), binary(ZERO_ONE, sigmoid(P))),
        (
            {"from_logits": True, "label_smoothing": 0.1}, (ZERO_ONE, P),
            binary(ZERO_ONE * 0.9 + 0.05, sigmoid(P)),
        ),
    ],
    "CategoricalCrossentropy": [
        ({}, (ONE_HOT, PROBABILITIES), -np.log(PROBABILITIES[np.arange(6), CLASSES])),
        (
            {"from_logits": True, "label_smoothing": 0.3}, (ONE_HOT, P),
            -((ONE_HOT * 0.7 + 0.1) * np.log(PROBABILITIES)).sum(-1),
        ),
    ],
    "SparseCategoricalCrossentropy": [
        ({}, (CLASSES, PROBABILITIES), -np.log(PROBABILITIES[np.arange(6), CLASSES])),
        (
            {"from_logits": True}, (CLASSES[:, None], P),
            -np.log(PROBABILITIES[np.arange(6), CLASSES]),
        ),
    ],
}  # fmt: skip

CASES = [(name, *case) for name, cases in SAMPLES.items() for case in cases]
IDS = [f"{name}-{i}" for name, cases in SAMPLES.items() for i in range(len(cases))]

# values and weights of every fitting rank, for Mean and Sum
VALUES = {"number": 3.0, "row": WAVE[:4], "table": WAVE[:12].reshape(4, 3)}
VALUES["block"] = WAVE[:24].reshape(4, 3, 2)
VALUE_WEIGHTS = {
    "none": None,
    "number": 0.5,
    "samples": np.abs(WAVE[30:34]),
    "samples_1": np.abs(WAVE[30:34])[:, None],
    "table": np.abs(WAVE[30:42]).reshape(4, 3),
}
