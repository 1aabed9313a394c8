from framework.losses.base import (
    Loss as Loss, Reduction as Reduction, deserialize as deserialize, get as get,
    serialize as serialize,
)  # fmt: skip
from framework.losses.classification import *
from framework.losses.focal import *
from framework.losses.overlap import *
from framework.losses.regression import *
from framework.losses.sequence import *
from framework.losses.similarity import *

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
