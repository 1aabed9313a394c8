from framework.metrics.accuracy import *
from framework.metrics.accuracy import accuracy_for as accuracy_for
from framework.metrics.auc import *
from framework.metrics.base import (
    Metric as Metric, deserialize as deserialize, get as get, metrics as metrics,
    serialize as serialize,
)  # fmt: skip
from framework.metrics.confusion import *
from framework.metrics.correlation import *
from framework.metrics.errors import *
from framework.metrics.fscores import *
from framework.metrics.overlap import *
from framework.metrics.reduction import (
    Mean as Mean, MeanMetricWrapper as MeanMetricWrapper, Sum as Sum,
)  # fmt: skip
