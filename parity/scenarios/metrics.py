"""Metrics in compile: running values over uneven batches, with and without weights."""

import numpy as np

from parity.scenarios.problems import (
    Fit,
    binary,
    classes,
    compiled,
    head,
    one_hot,
    positive,
    regression,
    row_weights,
    shares,
    signs,
)

ERRORS = [
    "MeanSquaredError", "RootMeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError",
    "MeanSquaredLogarithmicError", "LogCoshError", "Poisson", "CosineSimilarity",
]  # fmt: skip

# title: (names of metrics or (name, options), data, model, loss)
ROWS = {
    "errors": (ERRORS, lambda: positive(29, 2), head(2, "softplus"), "mse"),
    "binary": (
        ["BinaryAccuracy", ("BinaryAccuracy", {"threshold": 0.3}), "BinaryCrossentropy"],
        lambda: binary(29), head(1, "sigmoid"), "binary_crossentropy",
    ),
    "one-hot": (
        [
            "CategoricalAccuracy", "CategoricalCrossentropy", "CategoricalHinge",
            ("TopKCategoricalAccuracy", {"k": 2}), "KLDivergence",
        ],
        lambda: one_hot(29), head(3, "softmax"), "categorical_crossentropy",
    ),
    "classes": (
        [
            "SparseCategoricalAccuracy", "SparseCategoricalCrossentropy",
            ("SparseTopKCategoricalAccuracy", {"k": 2}),
        ],
        lambda: classes(29), head(3, "softmax"), "sparse_categorical_crossentropy",
    ),
    "signs": (["Hinge", "SquaredHinge"], lambda: signs(29), head(1, "tanh"), "hinge"),
    "counts": (
        [
            "TruePositives", "FalsePositives", "TrueNegatives", "FalseNegatives", "Precision",
            ("Recall", {"thresholds": [0.3, 0.7]}),
            ("SensitivityAtSpecificity", {"specificity": 0.6}),
            ("SpecificityAtSensitivity", {"sensitivity": 0.6}),
            ("PrecisionAtRecall", {"recall": 0.6}), ("RecallAtPrecision", {"precision": 0.6}),
            "BinaryIoU",
        ],
        lambda: binary(29), head(1, "sigmoid"), "binary_crossentropy",
    ),
    "areas": (
        [
            "AUC", ("AUC", {"curve": "PR"}), ("AUC", {"curve": "PRGAIN", "num_thresholds": 20}),
            ("AUC", {"thresholds": [0.2, 0.3, 0.6], "summation_method": "majoring"}),
        ],
        lambda: binary(29), head(1, "sigmoid"), "binary_crossentropy",
    ),
    "counts of classes": (
        [
            ("AUC", {"multi_label": True}), ("Precision", {"class_id": 1}),
            ("Recall", {"top_k": 2}),
            ("F1Score", {"average": "macro"}), ("FBetaScore", {"beta": 2.0, "average": "micro"}),
            "PearsonCorrelation", "ConcordanceCorrelation", ("OneHotMeanIoU", {"num_classes": 3}),
            ("OneHotIoU", {"num_classes": 3, "target_class_ids": [1]}),
        ],
        lambda: one_hot(29), head(3, "softmax"), "categorical_crossentropy",
    ),
    "outputs": (["R2Score"], lambda: positive(29, 2), head(2, "softplus"), "mse"),
    "shares": (["KLDivergence"], lambda: shares(29), head(3, "softmax"), "kl_divergence"),
}  # fmt: skip

WORDS = {
    "accuracy of classes": (
        ["accuracy"], classes, head(3, "softmax"), "sparse_categorical_crossentropy",
    ),
    "acc of one-hot": (["acc"], one_hot, head(3, "softmax"), "categorical_crossentropy"),
    "accuracy of binary": (["accuracy"], binary, head(1, "sigmoid"), "binary_crossentropy"),
    "areas by name": (["AUC", "precision", "Recall"], binary, head(1, "sigmoid"), "mse"),
    "mae and mse": (["mae", "mse", "mean_squared_error"], regression, head(1), "mse"),
}  # fmt: skip


def scenarios():
    for title, (metrics, data, model, loss) in ROWS.items():
        for argument in ("metrics", "weighted_metrics"):
            made = compiled(loss=loss, **{argument: _maker(metrics)})
            yield f"{argument} {title}", Fit(made, data, model)
            yield (
                f"{argument} {title}, weighted rows",
                Fit(made, data, model, {"sample_weight": row_weights(29)}),
            )
    for title, (metrics, data, model, loss) in WORDS.items():
        yield title, Fit(compiled(loss=loss, metrics=metrics), data, model)
    yield "own function", Fit(compiled(metrics=_own_function))
    yield "own class", Fit(compiled(metrics=_own_class))
    yield (
        "validated",
        Fit(compiled(metrics=["mae"], weighted_metrics=["mae"]), fit={"validation_split": 0.3}),
    )


def _maker(rows):
    def made(keras):
        pairs = [(row, {}) if isinstance(row, str) else row for row in rows]
        return [
            getattr(keras.metrics, name)(**options, name=f"m{number}")
            for number, (name, options) in enumerate(pairs)
        ]

    return made


def _own_function(keras):
    def biggest(y_true, y_pred):
        return keras.ops.max(keras.ops.abs(y_true - y_pred), axis=-1)

    return [biggest]


def _own_class(keras):
    class Bias(keras.metrics.Metric):
        def __init__(self, name="bias", **options):
            super().__init__(name=name, **options)
            self.total = self.add_weight(name="total", initializer="zeros")
            self.count = self.add_weight(name="count", initializer="zeros")

        def update_state(self, y_true, y_pred, sample_weight=None):
            self.total.assign_add(keras.ops.sum(y_true - y_pred))
            self.count.assign_add(float(np.prod(y_true.shape)))

        def result(self):
            return self.total / self.count

    return [Bias()]
