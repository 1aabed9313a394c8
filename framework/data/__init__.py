"""Input pipelines: `Dataset` with tf.data's methods, and the batches that `fit` trains on."""

from framework.data.dataset import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Dataset
from framework.data.structure import DatasetSpec

__all__ = ["AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset", "DatasetSpec"]
