from framework.losses.classification import (
    kl_divergence as KLD, binary_crossentropy as binary_crossentropy,
    categorical_crossentropy as categorical_crossentropy, categorical_hinge as categorical_hinge,
    hinge as hinge, kl_divergence as kl_divergence, kl_divergence as kld,
    kl_divergence as kullback_leibler_divergence,
    sparse_categorical_crossentropy as sparse_categorical_crossentropy,
    squared_hinge as squared_hinge,
)  # fmt: skip
from framework.losses.regression import (
    mean_absolute_error as MAE, mean_absolute_percentage_error as MAPE, mean_squared_error as MSE,
    mean_squared_logarithmic_error as MSLE, huber as huber, log_cosh as log_cosh,
    log_cosh as logcosh, mean_absolute_error as mae, mean_absolute_percentage_error as mape,
    mean_absolute_error as mean_absolute_error,
    mean_absolute_percentage_error as mean_absolute_percentage_error,
    mean_squared_error as mean_squared_error,
    mean_squared_logarithmic_error as mean_squared_logarithmic_error, mean_squared_error as mse,
    mean_squared_logarithmic_error as msle, poisson as poisson,
)  # fmt: skip
from framework.metrics.accuracy import (
    Accuracy as Accuracy, BinaryAccuracy as BinaryAccuracy,
    CategoricalAccuracy as CategoricalAccuracy,
    SparseCategoricalAccuracy as SparseCategoricalAccuracy,
    SparseTopKCategoricalAccuracy as SparseTopKCategoricalAccuracy,
    TopKCategoricalAccuracy as TopKCategoricalAccuracy, binary_accuracy as binary_accuracy,
    categorical_accuracy as categorical_accuracy,
    sparse_categorical_accuracy as sparse_categorical_accuracy,
    sparse_top_k_categorical_accuracy as sparse_top_k_categorical_accuracy,
    top_k_categorical_accuracy as top_k_categorical_accuracy,
)  # fmt: skip
from framework.metrics.base import (
    Metric as Metric, deserialize as deserialize, get as get, serialize as serialize,
)  # fmt: skip
from framework.metrics.errors import (
    BinaryCrossentropy as BinaryCrossentropy, CategoricalCrossentropy as CategoricalCrossentropy,
    CategoricalHinge as CategoricalHinge, CosineSimilarity as CosineSimilarity, Hinge as Hinge,
    KLDivergence as KLDivergence, LogCoshError as LogCoshError,
    MeanAbsoluteError as MeanAbsoluteError,
    MeanAbsolutePercentageError as MeanAbsolutePercentageError,
    MeanSquaredError as MeanSquaredError,
    MeanSquaredLogarithmicError as MeanSquaredLogarithmicError, Poisson as Poisson,
    RootMeanSquaredError as RootMeanSquaredError,
    SparseCategoricalCrossentropy as SparseCategoricalCrossentropy, SquaredHinge as SquaredHinge,
)  # fmt: skip
from framework.metrics.reduction import (
    Mean as Mean, MeanMetricWrapper as MeanMetricWrapper, Sum as Sum,
)  # fmt: skip
