"""Calls of metrics of counts and sums, and what Keras 3.15 on JAX gives in float32.

A row: the metric, its arguments, the name of the data, and the results after the data and after the
same with `WEIGHTS`.
"""

import numpy as np

WAVE = np.sin(np.arange(1, 61) * 1.7).astype("float32")

_Y = (WAVE[:24] > 0).reshape(8, 3).astype("float32")
_P = ((WAVE[24:48].reshape(8, 3) + 2 * _Y) / 4 + 0.25).astype("float32")
_CLASSES = np.array([0, 1, 2, 2, 1, 0, 1, 2])
_BEST = np.array([0, 1, 1, 2, 0, 0, 2, 2])
_REAL = (WAVE[:24].reshape(8, 3), (WAVE[:24] + WAVE[30:54] / 2).reshape(8, 3))
DATA = {
    "values": (_Y, _P),
    "column": (_Y[:, 0], _P[:, 0]),
    "zeros": (_Y * 0, _P),
    "ones": (_Y * 0 + 1, _P),
    "logits": (_Y, np.log(_P / (1 - _P))),
    "classes": (_CLASSES, _BEST),
    "one-hot": (np.eye(3, dtype="float32")[_CLASSES], _P),
    "real": _REAL,
}
WEIGHTS = np.array([1, 2, 0, 3, 1, 4, 2, 1])

_LIMITS = {
    "SensitivityAtSpecificity": "specificity", "SpecificityAtSensitivity": "sensitivity",
    "PrecisionAtRecall": "recall", "RecallAtPrecision": "precision",
}  # fmt: skip


def calls():
    """Yield (metric, arguments, name of the data)."""
    counts = ("TruePositives", "FalsePositives", "TrueNegatives", "FalseNegatives")
    for name in (*counts, "Precision", "Recall"):
        for data in ("values", "column", "zeros", "ones"):
            yield name, {}, data
        yield name, {"thresholds": [0.7, 0.2, 0.45]}, "values"
    for name in ("Precision", "Recall"):
        yield name, {"top_k": 2}, "values"
        yield name, {"class_id": 1}, "values"
        yield name, {"top_k": 1, "class_id": 2, "thresholds": 0.6}, "values"
    for name, limit in _LIMITS.items():
        for data in ("values", "column", "zeros", "ones"):
            yield name, {limit: 0.6}, data
        yield name, {limit: 0.8, "num_thresholds": 7, "class_id": 1}, "values"
        yield name, {limit: 0.3, "num_thresholds": 1}, "values"
    for curve in ("ROC", "PR", "PRGAIN"):
        for method in ("interpolation", "majoring", "minoring"):
            chosen = {"curve": curve, "summation_method": method, "num_thresholds": 9}
            yield "AUC", chosen, "values"
            yield "AUC", {**chosen, "multi_label": True}, "values"
    weights = {"label_weights": [0.5, 1.0, 3.0]}
    yield "AUC", {}, "zeros"
    yield "AUC", {"thresholds": [0.3, 0.8, 0.4]}, "column"
    yield "AUC", weights, "values"
    yield "AUC", {**weights, "multi_label": True, "num_labels": 3}, "values"
    yield "AUC", {"from_logits": True}, "logits"
    for average in (None, "micro", "macro", "weighted"):
        yield "F1Score", {"average": average, "threshold": 0.5}, "values"
        yield "FBetaScore", {"average": average, "beta": 2.0}, "one-hot"
    yield "F1Score", {}, "zeros"
    for data in ("classes",):
        yield "IoU", {"num_classes": 3, "target_class_ids": [0, 2]}, data
        yield "IoU", {"num_classes": 3, "target_class_ids": [1], "ignore_class": 0}, data
        yield "MeanIoU", {"num_classes": 3}, data
        yield "MeanIoU", {"num_classes": 5, "ignore_class": 2, "dtype": "float32"}, data
    yield "OneHotIoU", {"num_classes": 3, "target_class_ids": [1, 2]}, "one-hot"
    yield "OneHotMeanIoU", {"num_classes": 3}, "one-hot"
    yield "BinaryIoU", {}, "column"
    yield "BinaryIoU", {"target_class_ids": [1], "threshold": 0.3}, "column"
    for aggregation in (None, "uniform_average", "variance_weighted_average"):
        yield "R2Score", {"class_aggregation": aggregation}, "real"
    for name in ("PearsonCorrelation", "ConcordanceCorrelation"):
        yield name, {}, "real"


# by call, in the order above: after the data, and after the same with weights
NUMBERS = [
    (12.0, 19.0),
    (4.0, 9.0),
    (0.0, 0.0),
    (12.0, 19.0),
    ([1.0, 12.0, 12.0], [1.0, 19.0, 19.0]),
    (0.0, 0.0),
    (0.0, 0.0),
    (12.0, 19.0),
    (0.0, 0.0),
    ([0.0, 12.0, 4.0], [0.0, 23.0, 7.0]),
    (12.0, 23.0),
    (4.0, 5.0),
    (12.0, 23.0),
    (0.0, 0.0),
    ([12.0, 0.0, 8.0], [23.0, 0.0, 16.0]),
    (0.0, 0.0),
    (0.0, 0.0),
    (0.0, 0.0),
    (12.0, 23.0),
    ([11.0, 0.0, 0.0], [18.0, 0.0, 0.0]),
    (1.0, 1.0),
    (1.0, 1.0),
    (0.0, 0.0),
    (1.0, 1.0),
    ([1.0, 0.5, 0.75], [1.0, 0.45238096, 0.73076922]),
    (1.0, 1.0),
    (1.0, 1.0),
    (0.0, 0.0),
    (0.5, 0.45238096),
    ([0.083333336, 1.0, 1.0], [0.052631579, 1.0, 1.0]),
    (0.75, 0.6785714),
    (1.0, 1.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (0.75, 0.40000001),
    (1.0, 1.0),
    (1.0, 1.0),
    (0.0, 0.0),
    (0.0, 0.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (0.0, 0.0),
    (0.0, 0.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (0.0, 0.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (0.0, 0.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (0.66666663, 0.78947365),
    (0.33333334, 0.45925927),
    (1.0, 1.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (1.0, 1.0),
    (0.0, 0.0),
    (0.75, 0.69999999),
    (1.0, 1.0),
    (1.0, 1.0),
    (1.0, 1.0),
    ([1.0, 1.0, 1.0], [1.0, 1.0, 1.0]),
    ([0.90909094, 0.38461539, 0.9375], [0.92592591, 0.45454547, 0.95238101]),
    (1.0, 1.0),
    (0.75, 0.78571427),
    (1.0, 1.0),
    (0.74373549, 0.77761745),
    (1.0, 1.0),
    (0.72306597, 0.76513433),
    ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
    (0.58333337, 0.75),
    (0.24999997, 0.39999995),
    (0.47222224, 0.63333338),
    (0.33333334, 0.41111112),
    (0.54166669, 0.60000002),
    (0.58333331, 0.6380952),
    (1.0, 1.0),
    (0.57142854, 0.69230765),
    ([0.74074614, 0.73670053, 0.73285681], [0.7436012, 0.68510616, 0.77708822]),
    (0.73676789, 0.7352652),
    (0.73680693, 0.74137306),
    (0.96896011, 0.97589165),
    (0.90673178, 0.9146226),
]
ROWS = [(*row, *numbers) for row, numbers in zip(calls(), NUMBERS, strict=True)]
