"""Metrics: values accumulated over batches in variables."""

from framework.metrics import accuracy, errors
from framework.metrics.accuracy import *
from framework.metrics.accuracy import accuracy_for
from framework.metrics.base import Metric, deserialize, get, metrics, serialize
from framework.metrics.errors import *
from framework.metrics.reduction import Mean, MeanMetricWrapper, Sum

__all__ = [
    "Mean", "MeanMetricWrapper", "Metric", "Sum", "accuracy_for", "deserialize", "get", "metrics",
    "serialize",
]  # fmt: skip
__all__ += accuracy.__all__
__all__ += errors.__all__
