"""Losses: subclasses compute one value per sample; the base class masks, weights and reduces."""

from framework.losses.base import (
    Loss,
    LossFunctionWrapper,
    as_loss,
    deserialize,
    get,
    losses,
    serialize,
)
from framework.losses.classification import (
    BinaryCrossentropy,
    CategoricalCrossentropy,
    CategoricalHinge,
    Hinge,
    KLDivergence,
    SparseCategoricalCrossentropy,
    SquaredHinge,
    binary_crossentropy,
    categorical_crossentropy,
    categorical_hinge,
    hinge,
    kl_divergence,
    sparse_categorical_crossentropy,
    squared_hinge,
)
from framework.losses.regression import (
    CosineSimilarity,
    Huber,
    LogCosh,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    MeanSquaredLogarithmicError,
    Poisson,
    cosine_similarity,
    huber,
    log_cosh,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_error,
    mean_squared_logarithmic_error,
    poisson,
)

__all__ = [
    "BinaryCrossentropy", "CategoricalCrossentropy", "CategoricalHinge", "CosineSimilarity",
    "Hinge", "Huber", "KLDivergence", "LogCosh", "Loss", "LossFunctionWrapper",
    "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredError",
    "MeanSquaredLogarithmicError", "Poisson", "SparseCategoricalCrossentropy", "SquaredHinge",
    "as_loss", "binary_crossentropy", "categorical_crossentropy", "categorical_hinge",
    "cosine_similarity", "deserialize", "get", "hinge", "huber", "kl_divergence", "log_cosh",
    "losses", "mean_absolute_error", "mean_absolute_percentage_error", "mean_squared_error",
    "mean_squared_logarithmic_error", "poisson", "serialize", "sparse_categorical_crossentropy",
    "squared_hinge",
]  # fmt: skip
