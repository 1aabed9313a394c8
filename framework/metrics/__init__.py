"""Metrics: values accumulated over batches in variables."""

from framework.metrics import accuracy, auc, confusion, correlation, errors, fscores, overlap
from framework.metrics.accuracy import *
from framework.metrics.accuracy import accuracy_for
from framework.metrics.auc import *
from framework.metrics.base import Metric, deserialize, get, metrics, serialize
from framework.metrics.confusion import *
from framework.metrics.correlation import *
from framework.metrics.errors import *
from framework.metrics.fscores import *
from framework.metrics.overlap import *
from framework.metrics.reduction import Mean, MeanMetricWrapper, Sum

__all__ = [
    "Mean", "MeanMetricWrapper", "Metric", "Sum", "accuracy_for", "deserialize", "get", "metrics",
    "serialize",
]  # fmt: skip
__all__ += accuracy.__all__
__all__ += auc.__all__
__all__ += confusion.__all__
__all__ += correlation.__all__
__all__ += errors.__all__
__all__ += fscores.__all__
__all__ += overlap.__all__
