"""Losses with their options and reductions, by name, by object and by function."""

import numpy as np

from parity.scenarios.problems import (
    Fit,
    binary,
    classes,
    compiled,
    head,
    mlp,
    one_hot,
    positive,
    regression,
    row_weights,
    seeded,
    sgd,
    shares,
    signs,
)


def _wide(rows=32):
    return regression(rows, 2)


def _unit_vectors(keras):
    model = mlp(keras, 3)
    return seeded(keras.Sequential([*model.layers, keras.layers.UnitNormalization()]))


def _words():
    """Words of up to three of four letters, 0 behind them."""
    x, y = _wide()
    letters = (np.abs(x[:, :3] * 10).astype(int) % 4) + 1
    return x, np.where(np.arange(3) <= (y[:, :1] > 1) + 1, letters, 0)


def _frames(keras):
    model = mlp(keras, 40)
    return seeded(keras.Sequential([*model.layers, keras.layers.Reshape((8, 5))]))


# A row: the loss, its options, the data and the model.
ROWS = [
    ("MeanSquaredError", {}, _wide, head(2)),
    ("MeanAbsoluteError", {}, _wide, head(2)),
    ("MeanAbsolutePercentageError", {}, positive, head(1)),
    ("MeanSquaredLogarithmicError", {}, positive, head(1, "softplus")),
    ("Huber", {}, _wide, head(2)),
    ("Huber", {"delta": 0.2}, _wide, head(2)),
    ("LogCosh", {}, _wide, head(2)),
    ("Poisson", {}, positive, head(1, "softplus")),
    ("CosineSimilarity", {}, _wide, head(2)),
    ("CosineSimilarity", {"axis": 0}, _wide, head(2)),
    ("KLDivergence", {}, shares, head(3, "softmax")),
    ("Hinge", {}, signs, head(1)),
    ("SquaredHinge", {}, signs, head(1, "tanh")),
    ("CategoricalHinge", {}, one_hot, head(3)),
    ("BinaryCrossentropy", {}, binary, head(1, "sigmoid")),
    ("BinaryCrossentropy", {"from_logits": True}, binary, head(1)),
    ("BinaryCrossentropy", {"from_logits": True, "label_smoothing": 0.2}, binary, head(1)),
    ("CategoricalCrossentropy", {}, one_hot, head(3, "softmax")),
    ("CategoricalCrossentropy", {"from_logits": True}, one_hot, head(3)),
    ("CategoricalCrossentropy", {"label_smoothing": 0.1}, one_hot, head(3, "softmax")),
    ("SparseCategoricalCrossentropy", {}, classes, head(3, "softmax")),
    ("SparseCategoricalCrossentropy", {"from_logits": True}, classes, head(3)),
    ("SparseCategoricalCrossentropy", {"from_logits": True, "ignore_class": 1}, classes, head(3)),
    ("BinaryFocalCrossentropy", {}, binary, head(1, "sigmoid")),
    ("BinaryFocalCrossentropy", {"gamma": 0.5, "from_logits": True}, binary, head(1)),
    (
        "BinaryFocalCrossentropy", {"apply_class_balancing": True, "alpha": 0.4}, binary,
        head(1, "sigmoid"),
    ),
    ("BinaryFocalCrossentropy", {"label_smoothing": 0.2}, binary, head(1, "sigmoid")),
    ("CategoricalFocalCrossentropy", {}, one_hot, head(3, "softmax")),
    ("CategoricalFocalCrossentropy", {"from_logits": True, "gamma": 1.5}, one_hot, head(3)),
    ("CategoricalFocalCrossentropy", {"label_smoothing": 0.1}, one_hot, head(3, "softmax")),
    ("CategoricalGeneralizedCrossEntropy", {}, classes, head(3, "softmax")),
    ("CategoricalGeneralizedCrossEntropy", {"q": 0.9}, classes, head(3, "softmax")),
    ("Dice", {}, one_hot, head(3, "softmax")),
    ("Dice", {"axis": -1}, one_hot, head(3, "softmax")),
    ("Dice", {"axis": 0}, one_hot, head(3, "softmax")),
    ("Tversky", {}, one_hot, head(3, "sigmoid")),
    ("Tversky", {"alpha": 0.3, "beta": 0.8, "axis": -1}, one_hot, head(3, "sigmoid")),
    ("Circle", {"gamma": 4.0}, classes, _unit_vectors),
    ("Circle", {"gamma": 2.0, "margin": 0.25, "remove_diagonal": False}, classes, _unit_vectors),
    ("CTC", {}, _words, _frames),
]  # fmt: skip

# Losses that are sums need smaller rates.
REDUCTIONS = {"sum": 0.005, "mean": 0.1, "sum_over_batch_size": 0.1, "mean_with_sample_weight": 0.1}

REDUCED = [
    ("MeanSquaredError", {}, _wide, head(2)),
    ("SparseCategoricalCrossentropy", {"from_logits": True}, classes, head(3)),
]

WEIGHTED = [
    ("BinaryFocalCrossentropy", {}, binary, head(1, "sigmoid")),
    ("CategoricalFocalCrossentropy", {}, one_hot, head(3, "softmax")),
    ("CategoricalGeneralizedCrossEntropy", {}, classes, head(3, "softmax")),
    ("Dice", {"axis": -1}, one_hot, head(3, "softmax")),
    ("Tversky", {"axis": -1}, one_hot, head(3, "softmax")),
    ("Circle", {"gamma": 4.0}, classes, _unit_vectors),
    ("CTC", {}, _words, _frames),
]

NAMES = {
    "binary_focal_crossentropy": (binary, head(1, "sigmoid")),
    "categorical_focal_crossentropy": (one_hot, head(3, "softmax")),
    "dice": (one_hot, head(3, "softmax")), "tversky": (one_hot, head(3, "softmax")),
    "ctc": (_words, _frames),
    "mse": (regression, mlp), "mae": (regression, mlp), "huber": (regression, mlp),
    "binary_crossentropy": (binary, head(1, "sigmoid")),
    "sparse_categorical_crossentropy": (classes, head(3, "softmax")),
    "kl_divergence": (shares, head(3, "softmax")),
}  # fmt: skip


def scenarios():
    for name, options, data, model in ROWS:
        title = " ".join([name, *(f"{k}={v}" for k, v in options.items())])
        rate = 0.001 if "Percentage" in name else 0.1
        yield title, Fit(_compile(name, options, rate), data, model)
    for name, options, data, model in WEIGHTED:
        weighted = {"sample_weight": row_weights()}
        yield f"{name} weighted", Fit(_compile(name, options, 0.1), data, model, weighted)
    for name, options, data, model in REDUCED:
        for reduction, rate in REDUCTIONS.items():
            made = _compile(name, {**options, "reduction": reduction}, rate)
            yield f"{name} {reduction}", Fit(made, data, model)
            weighted = {"sample_weight": row_weights()}
            yield f"{name} {reduction} weighted", Fit(made, data, model, weighted)
    for name, (data, model) in NAMES.items():
        yield f"by name {name}", Fit(compiled(loss=name), data, model)
    yield "own function", Fit(_own_function, _wide, head(2))
    yield (
        "own function, a value for each row, weighted",
        Fit(_own_function, _wide, head(2), {"sample_weight": row_weights()}),
    )
    yield "own class", Fit(_own_class, _wide, head(2))
    yield "tails that are uneven", Fit(compiled(), lambda: _wide(29), head(2), batch_size=8)
    yield (
        "sum over uneven tails",
        Fit(_compile("MeanSquaredError", {"reduction": "sum"}, 0.005), lambda: _wide(29), head(2)),
    )


def _compile(name, options, rate):
    return compiled(
        loss=lambda keras: getattr(keras.losses, name)(**options),
        optimizer=lambda keras: sgd(keras, rate),
    )


def _own_function(keras):
    def loss(y_true, y_pred):
        return keras.ops.mean(keras.ops.abs(y_true - y_pred) ** 1.5, axis=-1)

    return {"optimizer": sgd(keras), "loss": loss}


def _own_class(keras):
    class Pinball(keras.losses.Loss):
        def call(self, y_true, y_pred):
            apart = y_true - y_pred
            return keras.ops.mean(keras.ops.maximum(0.7 * apart, -0.3 * apart), axis=-1)

    return {"optimizer": sgd(keras), "loss": Pinball()}
