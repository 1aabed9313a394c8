"""Samples of every loss: arguments, data, formula, and the numbers of Keras."""

import itertools
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


def focal(y, p, gamma=2.0):
    """The terms of a binary focal cross-entropy."""
    missed = y * (1 - p) + (1 - y) * p
    return -(missed**gamma) * (y * np.log(p) + (1 - y) * np.log(1 - p))


def categorical_focal(y, p, alpha=0.25, gamma=2.0):
    return -(alpha * (1 - p) ** gamma * y * np.log(p)).sum(-1)


def generalized(q):
    return lambda y, p: (1 - p[np.arange(len(y)), y] ** q) / q


def tversky(alpha, beta, epsilon=1e-7):
    def formula(y, p):
        axes = tuple(range(1, y.ndim))
        both = (y * p).sum(axes)
        missed, wrong = (y * (1 - p)).sum(axes), ((1 - y) * p).sum(axes)
        return 1 - both / (both + alpha * missed + beta * wrong + epsilon)

    return formula


def circle(gamma, margin=0.4, with_itself=False):
    def formula(y, p):
        losses = []
        for i, row in enumerate(p):
            similarity = p @ row
            same = (y == y[i]) & (with_itself | (np.arange(len(y)) != i))
            near, far = similarity[same], similarity[y != y[i]]
            pulls = np.exp(-gamma * (1 + margin - near) * (near - (1 - margin))).sum()
            pushes = np.exp(gamma * np.maximum(far + margin, 0) * (far - margin)).sum()
            losses.append(np.log1p(pulls * pushes))
        return np.array(losses)

    return formula


def every_alignment(y, logits):
    """The CTC loss by its definition: the sum over all sequences of classes."""
    losses = []
    for labels, p in zip(y, softmax(logits), strict=True):
        total = 0.0
        for path in itertools.product(range(p.shape[1]), repeat=len(p)):
            kept = [c for i, c in enumerate(path) if c and (i == 0 or c != path[i - 1])]
            total += (kept == [c for c in labels if c]) * p[range(len(p)), path].prod()
        losses.append(-np.log(total))
    return np.array(losses)


EMBEDDINGS = (np.array([0, 1, 0, 1]), unit(WAVE[:20].reshape(4, 5)))
SEQUENCES = (np.array([[1, 2], [2, 2], [1, 0], [0, 0]]), WAVE[:48].reshape(4, 4, 3) * 2)
MASKS = ((WAVE[:24] > 0).reshape(4, 3, 2).astype(float), sigmoid(WAVE[24:48] * 2).reshape(4, 3, 2))

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
    "BinaryFocalCrossentropy": [
        Sample(
            {},
            (ZERO_ONE[0], sigmoid(REAL[1])),
            lambda y, p: focal(y, p).mean(-1),
            keras=(0.50758779, [0.25134468, 0.28360248, 0.88686621, 0.60853779]),
        ),
        Sample(
            {"from_logits": True, "gamma": 0.5, "label_smoothing": 0.2},
            (ZERO_ONE[0], REAL[1]),
            lambda y, x: focal(y * 0.8 + 0.1, sigmoid(x), 0.5).mean(-1),
            keras=(0.72319639, [0.51983041, 0.4834851, 1.0640285, 0.8254416]),
        ),
        Sample(
            {"apply_class_balancing": True, "alpha": 0.3, "axis": 1},
            (ZERO_ONE[0], sigmoid(REAL[1])),
            lambda y, p: (np.where(y == 1, 0.3, 0.7) * focal(y, p)).mean(-1),
            keras=(0.26465297, [0.14287695, 0.086077988, 0.42372131, 0.4059357]),
        ),
    ],
    "CategoricalFocalCrossentropy": [
        Sample(
            {},
            (ONE_HOT, PROBABILITIES),
            categorical_focal,
            keras=(0.027192373, [0.0094935922, 0.00016362328, 0.097335093, 0.0017771875]),
        ),
        Sample(
            {"from_logits": True, "gamma": 1.5, "alpha": 0.5, "label_smoothing": 0.3},
            (ONE_HOT, REAL[1]),
            lambda y, x: categorical_focal(smooth(y, 0.3), softmax(x), 0.5, 1.5),
            keras=(0.27868199, [0.20949584, 0.29715496, 0.38996345, 0.21811378]),
        ),
        Sample(
            {"alpha": [0.1, 0.2, 0.7]},
            (ONE_HOT, PROBABILITIES),
            lambda y, p: categorical_focal(y, p, np.array([0.1, 0.2, 0.7])),
            keras=(0.026484333, [0.02658206, 6.5449312e-05, 0.077868074, 0.0014217499]),
        ),
    ],
    "CategoricalGeneralizedCrossEntropy": [
        Sample(
            {"q": 0.5},
            (CLASSES, PROBABILITIES),
            generalized(0.5),
            keras=(0.35217211, [0.34606862, 0.087460399, 0.77970016, 0.19545925]),
        ),
        Sample(
            {"q": 0.9},
            (CLASSES, PROBABILITIES),
            generalized(0.9),
            keras=(0.31250513, [0.32182404, 0.085925996, 0.65450341, 0.18776703]),
        ),
    ],
    "Dice": [
        Sample(
            {"axis": (1, 2)},
            MASKS,
            tversky(0.5, 0.5, 5e-8),
            keras=(0.7801218, [0.80545431, 0.80313003, 0.82178879, 0.69011414]),
        ),
        Sample(
            {"axis": 1},
            ZERO_ONE,
            tversky(0.5, 0.5, 5e-8),
            keras=(1.1689342, [1.7798095, 0.6248126, 1.318115, 0.95299983]),
        ),
    ],
    "Tversky": [
        Sample(
            {"axis": [1, 2]},
            MASKS,
            tversky(0.5, 0.5),
            keras=(0.7801218, [0.80545431, 0.80313003, 0.82178879, 0.69011414]),
        ),
        Sample(
            {"axis": -1, "alpha": 0.2, "beta": 0.9},
            (MASKS[0][:, 0], MASKS[1][:, 0]),
            tversky(0.2, 0.9),
            keras=(0.78202945, [0.85740459, 0.84736019, 1, 0.42335296]),
        ),
    ],
    "Circle": [
        Sample(
            {},
            EMBEDDINGS,
            circle(80.0),
            keras=(154.79303, [161.58681, 147.99925, 104.00226, 205.5838]),
        ),
        Sample(
            {"gamma": 2.0, "margin": 0.25},
            EMBEDDINGS,
            circle(2.0, 0.25),
            keras=(4.6014628, [4.6149831, 4.5810962, 3.5014911, 5.7082801]),
        ),
        Sample(
            {"gamma": 2.0, "remove_diagonal": False},
            EMBEDDINGS,
            circle(2.0, 0.4, True),
            keras=(4.3645926, [4.3159423, 4.4061785, 3.3644874, 5.3717613]),
        ),
    ],
    "CTC": [
        Sample(
            {},
            SEQUENCES,
            every_alignment,
            keras=(4.222002, [0.28736606, 2.9618909, 3.9859319, 9.6528187]),
        )
    ],
}
