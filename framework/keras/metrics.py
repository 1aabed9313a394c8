"""keras.metrics: metrics, as classes and as functions."""

from typing import TYPE_CHECKING

from framework.core.lazy import lazy as _lazy, table as _table

_NAMES = _table({
    "framework.metrics.accuracy": """
        Accuracy BinaryAccuracy CategoricalAccuracy SparseCategoricalAccuracy
        SparseTopKCategoricalAccuracy TopKCategoricalAccuracy binary_accuracy categorical_accuracy
        sparse_categorical_accuracy sparse_top_k_categorical_accuracy top_k_categorical_accuracy""",
    "framework.metrics.base": "Metric deserialize get serialize",
    "framework.metrics.errors": """
        BinaryCrossentropy CategoricalCrossentropy CategoricalHinge CosineSimilarity Hinge
        KLDivergence LogCoshError MeanAbsoluteError MeanAbsolutePercentageError MeanSquaredError
        MeanSquaredLogarithmicError Poisson RootMeanSquaredError SparseCategoricalCrossentropy
        SquaredHinge binary_crossentropy=BinaryCrossentropy
        categorical_crossentropy=CategoricalCrossentropy categorical_hinge=CategoricalHinge
        hinge=Hinge kl_divergence=KLDivergence mean_absolute_error=MeanAbsoluteError
        mean_absolute_percentage_error=MeanAbsolutePercentageError
        mean_squared_error=MeanSquaredError
        mean_squared_logarithmic_error=MeanSquaredLogarithmicError poisson=Poisson
        sparse_categorical_crossentropy=SparseCategoricalCrossentropy squared_hinge=SquaredHinge""",
    "framework.metrics.reduction": "Mean MeanMetricWrapper Sum",
})  # fmt: skip

__getattr__, __dir__ = _lazy(__name__, _NAMES)

if TYPE_CHECKING:
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
        BinaryCrossentropy as BinaryCrossentropy, BinaryCrossentropy as binary_crossentropy,
        CategoricalCrossentropy as CategoricalCrossentropy,
        CategoricalCrossentropy as categorical_crossentropy, CategoricalHinge as CategoricalHinge,
        CategoricalHinge as categorical_hinge, CosineSimilarity as CosineSimilarity, Hinge as Hinge,
        Hinge as hinge, KLDivergence as KLDivergence, KLDivergence as kl_divergence,
        LogCoshError as LogCoshError, MeanAbsoluteError as MeanAbsoluteError,
        MeanAbsoluteError as mean_absolute_error,
        MeanAbsolutePercentageError as MeanAbsolutePercentageError,
        MeanAbsolutePercentageError as mean_absolute_percentage_error,
        MeanSquaredError as MeanSquaredError, MeanSquaredError as mean_squared_error,
        MeanSquaredLogarithmicError as MeanSquaredLogarithmicError,
        MeanSquaredLogarithmicError as mean_squared_logarithmic_error, Poisson as Poisson,
        Poisson as poisson, RootMeanSquaredError as RootMeanSquaredError,
        SparseCategoricalCrossentropy as SparseCategoricalCrossentropy,
        SparseCategoricalCrossentropy as sparse_categorical_crossentropy,
        SquaredHinge as SquaredHinge, SquaredHinge as squared_hinge,
    )  # fmt: skip
    from framework.metrics.reduction import (
        Mean as Mean, MeanMetricWrapper as MeanMetricWrapper, Sum as Sum,
    )  # fmt: skip
