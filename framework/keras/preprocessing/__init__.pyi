from framework.data.sequences import (
    timeseries_dataset_from_array as timeseries_dataset_from_array,
)  # fmt: skip
from framework.keras.preprocessing import sequence as sequence
