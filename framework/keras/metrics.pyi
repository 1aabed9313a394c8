from framework.losses.classification import (
    binary_crossentropy as binary_crossentropy,
    categorical_crossentropy as categorical_crossentropy, categorical_hinge as categorical_hinge,
    hinge as hinge, kl_divergence as kl_divergence,
    sparse_categorical_crossentropy as sparse_categorical_crossentropy,
    squared_hinge as squared_hinge,
)  # fmt: skip
from framework.losses.focal import (
    binary_focal_crossentropy as binary_focal_crossentropy,
    categorical_focal_crossentropy as categorical_focal_crossentropy,
)  # fmt: skip
from framework.losses.regression import (
    huber as huber, log_cosh as log_cosh, mean_absolute_error as mean_absolute_error,
    mean_absolute_percentage_error as mean_absolute_percentage_error,
    mean_squared_error as mean_squared_error,
    mean_squared_logarithmic_error as mean_squared_logarithmic_error, poisson as poisson,
)  # fmt: skip
from framework.metrics.accuracy import *
from framework.metrics.auc import *
from framework.metrics.base import (
    Metric as Metric, deserialize as deserialize, get as get, serialize as serialize,
)  # fmt: skip
from framework.metrics.confusion import *
from framework.metrics.correlation import *
from framework.metrics.errors import *
from framework.metrics.fscores import *
from framework.metrics.overlap import *
from framework.metrics.reduction import (
    Mean as Mean, MeanMetricWrapper as MeanMetricWrapper, Sum as Sum,
)  # fmt: skip

KLD = kl_divergence
MAE = mean_absolute_error
MAPE = mean_absolute_percentage_error
MSE = mean_squared_error
MSLE = mean_squared_logarithmic_error
kld = kl_divergence
kullback_leibler_divergence = kl_divergence
logcosh = log_cosh
mae = mean_absolute_error
mape = mean_absolute_percentage_error
mse = mean_squared_error
msle = mean_squared_logarithmic_error
