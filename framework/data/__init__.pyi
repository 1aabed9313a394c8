from framework.data.dataset import (
    AUTOTUNE as AUTOTUNE, Dataset as Dataset, INFINITE_CARDINALITY as INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY,
)  # fmt: skip
from framework.data.structure import DatasetSpec as DatasetSpec
